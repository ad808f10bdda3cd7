# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as it is installed: what a wheel has, from the build tree. scripts/wheel.sh builds
and tests real wheels."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TILE_BUILD_DIR", ROOT / "build"))
PROGRAM = """
import sys
import tile

third_parties = {"numpy", "torch", "cupy", "rich", "matplotlib", "pandas"} & set(sys.modules)
assert not third_parties, third_parties
assert tile.__path__[0] == sys.argv[1], tile.__path__
print(tile.__version__)
"""
KERNEL = """
import tile
import tile.language as tl

@tile.jit
def twice(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 2)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of the package, installed from the build tree."""
    if not (BUILD / "CMakeCache.txt").exists() or not list((BUILD / "python" / "tile").glob("_C.*so")):
        pytest.skip("no build tree")
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", BUILD, "--component", "python", "--strip", "--prefix", prefix],
                   check=True, capture_output=True)
    shutil.copytree(ROOT / "python-bindings" / "tile", prefix / "tile", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    return prefix / "tile"


def run(package, *arguments):
    """Runs Python with the standard library and the package only, and a bare environment."""
    return subprocess.run([sys.executable, "-S", *arguments], capture_output=True, text=True,
                          cwd=package.parent,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(package.parent),
                               "PYTHONPATH": str(package.parent)})


def test_size_and_dependencies(package):
    done = subprocess.run([sys.executable, ROOT / "scripts" / "check_package.py", package],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_nothing_but_the_package_is_installed(package):
    assert [path.name for path in package.parent.iterdir() if path.name not in (".cache", "kernel.py")] == [
        "tile"]
    assert len(list(package.glob("_C.*so"))) == 1


def test_the_check_finds_what_is_wrong(package, tmp_path):
    """A package that is too large, or that needs a library which machines do not have."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import check_package
    finally:
        sys.path.pop(0)
    copy = tmp_path / "tile"
    copy.mkdir()
    assert "has 0 extension modules" in check_package.problems(copy)[0]
    (extension, ) = package.glob("_C.*so")
    shutil.copy(extension, copy)
    assert check_package.problems(copy) == []
    with open(copy / "data", "wb") as file:
        file.truncate(check_package.SIZE_LIMIT)
    assert "more than 60" in check_package.problems(copy)[0]
    (copy / "data").unlink()
    check_package.ALLOWED = check_package.ALLOWED - {"libz.so.1"}
    assert "needs libz.so.1" in check_package.problems(copy)[0]


def test_import_needs_the_standard_library_only(package):
    done = run(package, "-c", PROGRAM, str(package))
    assert done.returncode == 0, done.stderr


def test_command_line(package):
    (package.parent / "kernel.py").write_text(KERNEL)
    done = run(package, "-m", "tile", "compile", "kernel.py:twice", "--signature", "*fp32, 64", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert json.loads((package.parent / "out" / "twice.json").read_text())["threads"] == 128
    shutil.rmtree(package.parent / "out")
    assert "twice" in run(package, "-m", "tile", "cache", "ls").stdout
    assert run(package, "-m", "tile", "--version").stdout.startswith("tile 0.")


def test_only_the_entry_point_is_exported(package):
    """Another LLVM in the process must not meet ours."""
    readelf = shutil.which("readelf") or shutil.which("llvm-readelf-22")
    if readelf is None:
        pytest.skip("no readelf")
    (extension, ) = package.glob("_C.*so")
    symbols = subprocess.run([readelf, "--dyn-syms", "-W", extension], capture_output=True, text=True,
                             check=True).stdout
    exported = {line.split()[7] for line in symbols.splitlines()
                if len(line.split()) > 7 and line.split()[4] in ("GLOBAL", "WEAK")
                and line.split()[6] not in ("UND", "Ndx")}
    assert exported == {"PyInit__C"}, sorted(exported)[:20]


def test_versions_agree(package):
    import tile
    text = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{tile.__version__}"' in text
    assert f"project(TileDialect VERSION {tile.__version__} " in (ROOT / "CMakeLists.txt").read_text()
    assert sysconfig.get_python_version() >= "3.10"


def test_missing_llvm_is_told(tmp_path):
    """What `pip install .` shows where the packages of LLVM are not installed."""
    if shutil.which("cmake") is None or shutil.which("ninja") is None:
        pytest.skip("no cmake or no ninja")
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path,
                           "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON"],
                          capture_output=True, text=True)
    assert done.returncode != 0
    assert "LLVM and MLIR 22.1 are not installed" in done.stderr
    assert "libmlir-22-dev" in done.stderr and "llvm-22-dev" in done.stderr
