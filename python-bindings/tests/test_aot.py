# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m tile compile`: the C sources that it writes are compiled, linked with a driver and
run: with the fake one of fake_cuda.c, and with the real one under --device=cuda."""

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import tile
from tile.compiler.kernel import chip_of_capability
from tile.tools import aot

pytestmark = pytest.mark.compiled

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
SOFTMAX = f"{EXAMPLES / 'softmax.py'}:softmax_kernel"
SIGNATURE = "*fp32:16, *fp32:16, i32, i32, i32, i32, 256"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]

KERNELS = '''
import tile
import tile.language as tl


@tile.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask), mask=mask)


@tile.jit
def mixed(out_ptr, int, pair, flag, scale, half, NAME: tl.constexpr, TYPE: tl.constexpr):
    value = int + pair[0] + pair[1] + flag
    tl.static_assert(NAME == "a,b")
    tl.store(out_ptr, (value * scale + half).to(TYPE))


@tile.jit
def large(out_ptr):
    i = tl.arange(0, 128)
    x = i[:, None] * 128 + i[None, :]
    tl.store(out_ptr + x, tl.trans(tl.load(out_ptr + x)))


def plain():
    pass
'''

# Adds 1000 numbers on whatever driver it is linked with; with an argument it checks the sums.
PROGRAM = '''
#include "add.h"
#include <stdio.h>
#define TRY(call) do { CUresult r = (call); if (r) { printf("%s: %d\\n", #call, r); return 1; } } while (0)
enum { N = 1000 };
int main(int argc, char **argv) {
  static float x[N], y[N], out[N];
  CUdevice device;
  CUcontext context;
  CUdeviceptr buffers[3];
  int i;
  (void)argv;
  for (i = 0; i < N; ++i) { x[i] = (float)i; y[i] = 0.5f; }
  TRY(cuInit(0));
  TRY(cuDeviceGet(&device, 0));
  TRY(cuDevicePrimaryCtxRetain(&context, device));
  TRY(cuCtxSetCurrent(context));
  for (i = 0; i < 3; ++i) TRY(cuMemAlloc(&buffers[i], sizeof x));
  TRY(cuMemcpyHtoD(buffers[0], x, sizeof x));
  TRY(cuMemcpyHtoD(buffers[1], y, sizeof y));
  TRY(add(0, 0, 1, 1, buffers[0], buffers[1], buffers[2], N));
  TRY(add(0, 4, 1, 1, buffers[0], buffers[1], buffers[2], N));
  TRY(cuCtxSynchronize());
  TRY(cuMemcpyDtoH(out, buffers[2], sizeof out));
  for (i = 0; argc > 1 && i < N; ++i)
    if (out[i] != x[i] + y[i]) { printf("out[%d] is %f\\n", i, out[i]); return 1; }
  printf("%llx %llx %llx\\n", buffers[0], buffers[1], buffers[2]);
  TRY(add_unload());
  TRY(add_unload());
  return 0;
}
'''


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    path = tmp_path_factory.mktemp("kernels") / "kernels.py"
    path.write_text(KERNELS)
    return path


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory):
    """Compiles C sources: `toolchain(folder, sources, output, *options)`. The folder `lib` of it
    has the fake driver."""
    compiler = shutil.which("cc") or shutil.which("clang-22")
    if compiler is None:
        pytest.skip("no C compiler")
    include = tmp_path_factory.mktemp("include")
    shutil.copy(HERE / "fake_cuda.h", include / "cuda.h")
    library = tmp_path_factory.mktemp("lib")

    def build(sources, output, *options):
        subprocess.run([compiler, *STRICT, "-I", include, *sources, "-o", output, *options], check=True)

    build([HERE / "fake_cuda.c"], library / "libcuda.so.1", "-std=c11", "-shared", "-fPIC",
          "-Wl,-soname,libcuda.so.1")
    build.lib = library
    return build


def compile_to(folder, kernel, signature, *options):
    """Runs the command; it must succeed."""
    done = command(kernel, "--signature", signature, "-o", str(folder), *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "tile", "compile", *arguments], capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def run(program, toolchain, tmp_path, *arguments, **environment):
    """Runs a program with the fake driver; its output and the lines of the log."""
    log = tmp_path / "log"
    log.write_text("")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, env={
        **os.environ, "LD_LIBRARY_PATH": str(toolchain.lib), "FAKE_CUDA_LOG": str(log), **environment})
    return done, log.read_text().splitlines()


@pytest.fixture
def add_program(kernels, toolchain, tmp_path, request):
    """The vector addition as a program."""
    chip = "sm_90a"
    if request.config.getoption("--device") == "cuda":
        major, minor = tile._C.cuda_capability(0)
        chip = chip_of_capability(10 * major + minor)
    compile_to(tmp_path, f"{kernels}:add", "*fp32:16, *fp32:16, *fp32:16, i32, 256", "--chip", chip,
               "--num-warps", "8")
    (tmp_path / "main.c").write_text(PROGRAM)
    toolchain([tmp_path / "main.c", tmp_path / "add.c"], tmp_path / "program", "-I", tmp_path,
              toolchain.lib / "libcuda.so.1")
    return tmp_path / "program"


def test_launch(add_program, toolchain, tmp_path):
    done, log = run(add_program, toolchain, tmp_path, FAKE_CUDA_PARAMETERS="8,8,8,4")
    assert done.returncode == 0, done.stdout
    buffers = [struct.pack("<Q", int(word, 16)).hex() for word in done.stdout.split()]
    has_cubin = (tmp_path / "add.cubin").exists()
    # The launch of an empty grid has loaded the kernel and done nothing else.
    assert log == [f"load {'cubin' if has_cubin else 'ptx'}",
                   "launch add grid 4,1,1 block 256,1,1 shared 0 stream 0 parameters "
                   + " ".join([*buffers, struct.pack("<i", 1000).hex()]),
                   "unload"]


@pytest.mark.parametrize("failure, call", [
    ("cuModuleLoadData=209", "add(0, 0, 1, 1,"), ("cuModuleGetFunction=500", "add(0, 0, 1, 1,"),
    ("cuLaunchKernel=701", "add(0, 4, 1, 1,"),
])
def test_errors_of_the_driver_reach_the_caller(add_program, toolchain, tmp_path, failure, call):
    done, log = run(add_program, toolchain, tmp_path, FAKE_CUDA_FAIL=failure)
    assert done.returncode == 1
    assert done.stdout.startswith(call) and done.stdout.rstrip().endswith(failure.split("=")[1])
    # A kernel that was found to be missing does not leave its module loaded.
    assert log.count("unload") == (failure.startswith("cuModuleGetFunction"))


def test_programmatic_launch(kernels, toolchain, tmp_path):
    compile_to(tmp_path, f"{kernels}:add", "*fp32:16, *fp32:16, *fp32:16, i32, 256", "--launch-pdl")
    (tmp_path / "main.c").write_text(PROGRAM)
    toolchain([tmp_path / "main.c", tmp_path / "add.c"], tmp_path / "program", "-I", tmp_path,
              toolchain.lib / "libcuda.so.1")
    done, log = run(tmp_path / "program", toolchain, tmp_path)
    assert done.returncode == 0, done.stdout
    assert log[1] == "programmatic 1" and log[2].startswith("launch add grid 4,1,1 block 128,1,1 ")
    assert json.loads((tmp_path / "add.json").read_text())["launch_pdl"] is True


def test_cooperative_launch(kernels, toolchain, tmp_path):
    compile_to(tmp_path, f"{kernels}:add", "*fp32:16, *fp32:16, *fp32:16, i32, 256", "--launch-pdl",
               "--launch-cooperative-grid")
    (tmp_path / "main.c").write_text(PROGRAM)
    toolchain([tmp_path / "main.c", tmp_path / "add.c"], tmp_path / "program", "-I", tmp_path,
              toolchain.lib / "libcuda.so.1")
    done, log = run(tmp_path / "program", toolchain, tmp_path)
    assert done.returncode == 0, done.stdout
    assert log[1:3] == ["programmatic 1", "cooperative 1"] and log[3].startswith("launch add grid 4,1,1 ")
    assert json.loads((tmp_path / "add.json").read_text())["launch_cooperative_grid"] is True


def test_launch_on_a_gpu(add_program, request):
    if request.config.getoption("--device") != "cuda":
        pytest.skip("needs --device=cuda")
    done = subprocess.run([add_program, "check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_files(tmp_path):
    written = compile_to(tmp_path / "a" / "b", SOFTMAX, SIGNATURE, "--chip", "sm_80", "--name", "rows_80")
    folder = tmp_path / "a" / "b"
    assert sorted(map(Path, written)) == sorted(folder.iterdir())
    assert ".target sm_80" in (folder / "rows_80.ptx").read_text()
    header = (folder / "rows_80.h").read_text()
    assert "CUdeviceptr out_ptr, CUdeviceptr x_ptr, int32_t x_stride" in header
    assert "Multiples of 16: out_ptr, x_ptr." in header
    about = json.loads((folder / "rows_80.json").read_text())
    assert about["threads"] == 128 and about["target"] == "sm_80" and about["name"] == "softmax_kernel"
    assert about["arguments"]["BLOCK"] == "constexpr 256"
    assert [p["type"] for p in about["parameters"]] == ["ptr"] * 2 + ["i32"] * 4
    if (folder / "rows_80.cubin").exists():
        assert (folder / "rows_80.cubin").read_bytes().startswith(b"\x7fELF")
        assert about["registers"] > 0 and about["spill_bytes"] == 0


def test_pointers_to_the_same_memory(tmp_path):
    signature = SIGNATURE.replace("*fp32:16, *fp32:16", "*fp32, *fp32:16 = out_ptr")
    compile_to(tmp_path, SOFTMAX, signature, "--name", "rows")
    assert ("Multiples of 16: x_ptr. x_ptr may be the same memory as out_ptr. "
            in (tmp_path / "rows.h").read_text())
    about = json.loads((tmp_path / "rows.json").read_text())
    assert about["arguments"]["x_ptr"] == "*fp32:16=out_ptr"


def test_without_ptxas(kernels, toolchain, tmp_path):
    """The C source has the PTX instead of a cubin."""
    kernel = aot.load_kernel(f"{kernels}:add")
    types, constants = aot.parse_signature(kernel, "*fp32, *fp32, *fp32, i32, 64")
    compiled = tile.compile(kernel, signature=types, constexprs=constants, target="sm_80")

    def no_ptxas(stage, made):
        raise tile.CompilationError("ptxas was found in none of these places")

    compiled._make_stage = no_ptxas
    written = aot.write(compiled, "add", tmp_path)
    assert not any(path.suffix == ".cubin" for path in written)
    (tmp_path / "main.c").write_text(PROGRAM)
    toolchain([tmp_path / "main.c", tmp_path / "add.c"], tmp_path / "program", "-I", tmp_path,
              toolchain.lib / "libcuda.so.1")
    done, log = run(tmp_path / "program", toolchain, tmp_path)
    assert done.returncode == 0 and log[0] == "load ptx"


def test_all_kinds_of_parameters(kernels, toolchain, tmp_path):
    """Names that C reserves, bools, floats, and values of constexprs with commas and of types."""
    compile_to(tmp_path, f"{kernels}:mixed", "*fp64, i8, (1, 2), i1, fp64, fp32, 'a,b', fp64")
    header = (tmp_path / "mixed.h").read_text()
    assert "CUdeviceptr out_ptr, int8_t int_, uint8_t flag, double scale, float half)" in header
    toolchain([tmp_path / "mixed.c"], tmp_path / "mixed.o", "-c")


def test_large_shared_memory_is_asked_for(kernels, toolchain, tmp_path):
    compile_to(tmp_path, f"{kernels}:large", "*fp32:16")
    shared = json.loads((tmp_path / "large.json").read_text())["dynamic_shared"]
    assert shared > 48 * 1024
    (tmp_path / "main.c").write_text('''#include "large.h"
int main(void) {
  CUcontext context;
  return cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || large(0, 1, 1, 1, 256);
}''')
    toolchain([tmp_path / "main.c", tmp_path / "large.c"], tmp_path / "program", "-I", tmp_path,
              toolchain.lib / "libcuda.so.1")
    done, log = run(tmp_path / "program", toolchain, tmp_path)
    assert done.returncode == 0
    assert f"attribute large 8={shared}" in log and f"shared {shared} " in log[-1]


def test_the_header_serves_cpp(kernels, toolchain, tmp_path):
    compiler = shutil.which("c++") or shutil.which("clang++-22")
    if compiler is None:
        pytest.skip("no C++ compiler")
    compile_to(tmp_path, f"{kernels}:add", "*fp32, *fp32, *fp32, i32, 64")
    shutil.copy(HERE / "fake_cuda.h", tmp_path / "cuda.h")
    (tmp_path / "main.cpp").write_text('#include "add.h"\nint main() { return add_load(); }\n')
    toolchain([tmp_path / "add.c"], tmp_path / "add.o", "-c")
    subprocess.run([compiler, "-I", tmp_path, tmp_path / "main.cpp", tmp_path / "add.o",
                    toolchain.lib / "libcuda.so.1", "-o", tmp_path / "program"], check=True)


@pytest.mark.parametrize("kernel, signature, options, message", [
    (SOFTMAX, "*fp32", (), "has 7 parameters (out_ptr, x_ptr, "),
    (SOFTMAX, SIGNATURE.replace("fp32", "fp33", 1), (), "out_ptr: '*fp33:16' is neither a value nor a type"),
    (SOFTMAX, SIGNATURE.replace(":16", ":8", 1), (), "out_ptr: '*fp32:8' is neither"),
    (SOFTMAX, SIGNATURE.replace("*fp32:16", "*fp32:1", 1), (), "only an integer can be 1"),
    (SOFTMAX, SIGNATURE.replace("i32", "2.5", 1), (), "the value 2.5 is for a constexpr"),
    (SOFTMAX, SIGNATURE.replace("i32", "i32=x_ptr", 1), (), "x_stride: 'i32=x_ptr' is neither"),
    (SOFTMAX, SIGNATURE.replace(":16", "=x_ptr", 1), (), "out_ptr: 'x_ptr' is no pointer before this one"),
    (SOFTMAX, SIGNATURE.replace("256", "-1"), (), "arange's end must be greater than its start, got 0 and -1"),
    (SOFTMAX.replace("softmax_kernel", "nothing"), "i32", (), "no kernel 'nothing'; it has softmax_kernel"),
    ("softmax", "", (), "expected FILE.py:NAME"),
    ("nowhere.py:kernel", "", (), "there is no file nowhere.py"),
    (SOFTMAX, SIGNATURE, ("--chip", "sm_9"), "unknown chip 'sm_9', expected one of sm_75"),
    (SOFTMAX, SIGNATURE, ("--num-warps", "3"), "num_warps must be a power of two"),
    (SOFTMAX, SIGNATURE, ("--name", "a-b"), "'a-b' cannot be the name of a C function"),
    (SOFTMAX, SIGNATURE, ("--name", "double"), "'double' cannot be the name of a C function"),
    (SOFTMAX, SIGNATURE, ("--num-stages", "99999999999"), "num_stages must be a number from 0 to"),
    (SOFTMAX, SIGNATURE, ("--maxnreg", "256"), "registers from 24 to 255, or 0 or None"),
    (SOFTMAX, SIGNATURE, ("-o", "/proc/none"), "cannot write to /proc/none: "),
])
def test_mistakes(kernel, signature, options, message):
    done = command(kernel, "--signature", signature, *options)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("text, message", [
    ("def f(:", "SyntaxError"), ("x = 1\ny = x / 0", "kernels.py:2: ZeroDivisionError: division by zero"),
    ("import no_such_module", "No module named 'no_such_module'"),
])
def test_files_that_cannot_be_imported(tmp_path, text, message):
    (tmp_path / "kernels.py").write_text(text)
    done = command(f"{tmp_path / 'kernels.py'}:f", "--signature", "")
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr


def test_names_of_options(tmp_path):
    """Those that users of Triton's tool know are other names of ours."""
    file, _, name = SOFTMAX.rpartition(":")
    done = command(file, "-n", name, "-s", SIGNATURE, "-w", "8", "-ns", "2", "-t", "cuda:80:32", "-on", "soft",
                   "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    about = json.loads((tmp_path / "out" / "soft.json").read_text())
    assert (about["chip"], about["num_warps"], about["num_stages"]) == ("sm_80", 8, 2)
    assert "CUresult soft(CUstream stream, " in (tmp_path / "out" / "soft.h").read_text()
    done = command(file, "--kernel-name", name, "--signature", SIGNATURE, "--out-path", str(tmp_path / "here"),
                   "--out-name", "other")
    assert done.returncode == 0 and (tmp_path / "other.c").exists(), done.stderr
    done = command(SOFTMAX, "-s", SIGNATURE, "--out-path", str(tmp_path / "here"))
    assert done.returncode == 0 and (tmp_path / "here.c").exists(), done.stderr


@pytest.mark.parametrize("options, message", [
    (["-g", "n / 1024, 1, 1"], "--grid: the grid is no part of the code, but an argument of the C function"),
    (["-n", "softmax_kernel"], "--kernel-name is for a FILE.py without a name, got "),
    (["-t", "cuda:80"], "--target is as cuda:90:32, and there is no --chip beside it, got 'cuda:80'"),
    (["-t", "cuda:80:32", "--chip", "sm_80"], "--target is as cuda:90:32, and there is no --chip beside it"),
    (["-t", "cuda:7:32"], "no chip sm_7"),
    (["-t", "hip:90:64"], "only NVIDIA GPUs are supported"),
    (["-o", "a", "--out-path", "b"], "there is either --output or --out-path"),
])
def test_options_that_do_not_fit(options, message):
    done = command(SOFTMAX, "--signature", SIGNATURE, *options)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr


def test_descriptors(toolchain, tmp_path):
    """Their parts are parameters of the C function."""
    kernels = tmp_path / "described.py"
    kernels.write_text("import tile\n\n@tile.jit\ndef scaled(matrix, row):\n"
                       "    matrix.store([row, 0], matrix.load([row, 0]) * 2)\n")
    compile_to(tmp_path, f"{kernels}:scaled", "tensordesc<fp32[4, 8]>, i32")
    header = (tmp_path / "scaled.h").read_text()
    assert ("CUdeviceptr matrix_base, int32_t matrix_shape_0, int32_t matrix_shape_1, int64_t matrix_stride_0, "
            "int32_t row);") in header.replace("\n", " ")
    toolchain([tmp_path / "scaled.c"], tmp_path / "scaled.o", "-I", tmp_path, "-c")
