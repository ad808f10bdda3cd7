# -*- Python -*-
"""lit configuration: every test of the project, GoogleTest programs included."""

import glob
import os
import shutil
import sys

import lit.formats
import lit.llvm
from lit.llvm.subst import ToolSubst

config.name = "TileDialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".ptx"]
config.excludes = ["lit.cfg.py", "lit.site.cfg.py", "Inputs"]
config.test_source_root = os.path.join(config.tile_source_dir, "test")
config.test_exec_root = os.path.join(config.tile_build_dir, "test")

bin_dir = os.path.join(config.tile_build_dir, "bin")
lib_dir = os.path.join(config.tile_build_dir, "lib")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools_dir, os.environ.get("PATH", "")])
# A captured name that is not $global does not leak over CHECK-LABEL.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"

config.substitutions += [
    ("%mlir_opt", os.path.join(config.llvm_tools_dir, "mlir-opt")),
    ("%plugin", os.path.join(lib_dir, "libTileDialectPlugin.so")),
    ("%examples", os.path.join(config.tile_source_dir, "examples")),
    ("%source_dir", config.tile_source_dir),
    ("%build_dir", config.tile_build_dir),
    ("%cxx", config.cxx_compiler),
]

# Python with NumPy: the project's own environment where scripts/setup.sh made
# one.
python = os.path.join(config.tile_source_dir, ".venv", "bin", "python3")
if not os.path.exists(python):
    python = sys.executable
config.substitutions.append(("%python", python))


def find_ptxas():
    candidates = [shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas"]
    candidates += glob.glob(os.path.join(
        config.tile_source_dir, ".venv", "lib", "python3*", "site-packages",
        "nvidia", "*", "bin", "ptxas"))
    return next((p for p in candidates if p and os.path.exists(p)), None)


ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

# The folder with nvvm/libdevice and bin/ptxas, as `--toolkit=` takes it.
environment = os.path.join(config.tile_source_dir, ".venv")
pip_toolkits = glob.glob(os.path.join(
    environment, "lib", "python3*", "site-packages", "nvidia", "*", "nvvm"))
toolkit = "/usr/local/cuda" if os.path.isdir("/usr/local/cuda/nvvm") else (
    environment if pip_toolkits else None)
if toolkit:
    config.available_features.add("libdevice")
    config.substitutions.append(("%toolkit", toolkit))
if config.sanitize:
    config.available_features.add("sanitizer")
