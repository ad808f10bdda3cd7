# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache on disk: hits, faults, races, and the command line."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.runtime import cache

PROGRAM = """
import sys
import numpy as np
import tile
import tile.language as tl

@tile.jit
def triple(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 3)

for n in (32, 64, 128):
    x = np.ones(n, np.float32)
    kernel = triple[(1, )](x, n)
    assert (x == 3).all()
print(kernel.from_disk)
"""


@tile.jit
def double(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 2)


def launch(n=32):
    """Launches a kernel that this process has not compiled yet; whether it was on disk."""
    x = np.ones(n, np.float32)
    kernel = tile.jit(double.fn)[(1, )](x, n)
    assert (x == 2).all()
    return kernel.from_disk


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tile.knobs, "cache_dir", str(tmp_path / "cache"))
    return tmp_path / "cache"


def only_entry(folder) -> Path:
    (path, ) = folder.glob("??/*.tile")
    return path


def test_hits():
    assert [launch(), launch(), launch(64), launch(64)] == [False, True, False, True]


def test_options_and_chip_are_part_of_the_key():
    kernels = {tile.compile(double, signature="*fp32", constexprs={"N": 32}, target=chip, num_warps=w,
                            ).asm["ptx"] for chip in ("sm_80", "sm_90a") for w in (1, 2)}
    assert len(kernels) == 4 and len(cache.entries()) == 4


@pytest.mark.emulator  # on a GPU, cubins are entries too
@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: data[:len(data) // 2], lambda data: data[:-1] + b"?",
    lambda data: data.replace(b"mul", b"add"), lambda data: b"null\n", lambda data: b"\xff" + data,
])
def test_corrupt_entries_are_rebuilt(folder, damage):
    assert not launch()
    path = only_entry(folder)
    path.write_bytes(damage(path.read_bytes()))
    assert not launch()
    assert launch()


def test_full_disk(folder, monkeypatch):

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not launch() and not launch()
    assert list(folder.glob("??/*")) == []


def test_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tile.knobs, "cache_dir", str(tmp_path / "file" / "cache"))
    assert not launch() and not launch()


def test_no_cache(folder, monkeypatch):
    monkeypatch.setattr(tile.knobs, "use_cache", False)
    assert not launch() and not launch() and not folder.exists()


def environment(folder):
    return {**os.environ, "TILE_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}


def test_processes_at_once(folder, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program)]
    running = [subprocess.Popen(command, env=environment(folder), stdout=subprocess.PIPE, text=True)
               for _ in range(3)]
    assert all(process.wait() == 0 for process in running)
    for process in running:
        process.stdout.close()
    assert subprocess.run(command, env=environment(folder), capture_output=True, text=True,
                          check=True).stdout == "True\n"
    assert len(list(folder.glob("??/*.tile"))) == 3 and not list(folder.glob("??/.new-*"))


def command_line(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "tile", *arguments], env=environment(folder),
                          capture_output=True, text=True)


@pytest.mark.emulator
def test_command_line_of_the_cache(folder):
    launch(), launch(64)
    listing = command_line(folder, "cache", "ls").stdout
    assert "2 entries" in listing and listing.count("double") == 2
    why = command_line(folder, "cache", "why", "double").stdout
    assert "first compile" in why and "because of N: constexpr 32 -> constexpr 64" in why
    assert "removed 2 entries" in command_line(folder, "cache", "clear").stdout
    assert cache.entries() == []


# Ahead of time ----------------------------------------------------------------------------

EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples" / "softmax.py") + ":softmax_kernel"
SIGNATURE = "*fp32:16, *fp32:16, i32, i32, i32, i32, 256"


def test_compile_ahead_of_time(folder, tmp_path):
    done = command_line(folder, "compile", EXAMPLE, "--signature", SIGNATURE, "--chip", "sm_80", "-o",
                        str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert ".target sm_80" in (tmp_path / "softmax_kernel.ptx").read_text()
    assert "CUdeviceptr out_ptr" in (tmp_path / "softmax_kernel.h").read_text()
    assert '"threads": 128' in (tmp_path / "softmax_kernel.json").read_text()
    compiler = shutil.which("cc") or shutil.which("clang-22")
    if compiler is None:
        pytest.skip("no C compiler")
    # Declarations of the driver API, so that no CUDA toolkit is needed.
    (tmp_path / "cuda.h").write_text(
        "typedef unsigned long long CUdeviceptr; typedef int CUresult; typedef void *CUstream;\n"
        "typedef void *CUmodule; typedef void *CUfunction; enum { CUDA_SUCCESS };\n"
        "enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };\n"
        "CUresult cuModuleLoadData(CUmodule *, const void *); CUresult cuModuleUnload(CUmodule);\n"
        "CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);\n"
        "CUresult cuFuncSetAttribute(CUfunction, int, int);\n"
        "CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,"
        " unsigned, CUstream, void **, void **);\n")
    subprocess.run([compiler, "-Wall", "-Werror", "-I", str(tmp_path), "-c",
                    str(tmp_path / "softmax_kernel.c"), "-o", str(tmp_path / "kernel.o")], check=True)


@pytest.mark.parametrize("arguments, message", [
    ((EXAMPLE, "--signature", "*fp32"), "has 7 parameters"),
    ((EXAMPLE.replace("softmax_kernel", "nothing"), "--signature", "i32"), "has no kernel 'nothing'"),
    ((EXAMPLE, "--signature", SIGNATURE.replace("256", "100")), "must be a power of 2, got 100"),
    (("softmax", "--signature", ""), "expected FILE.py:NAME"),
])
def test_mistakes_ahead_of_time(folder, arguments, message):
    done = command_line(folder, "compile", *arguments)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
