# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compilers that make kernels, such as PyTorch Inductor, use of the package: compilation by
signature, launches of what was compiled, kernels that travel between processes."""

import importlib
import pickle

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.backends.compiler import GPUTarget
from tile.compiler.compiler import ASTSource, make_backend, triton_key
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled
HOST = GPUTarget("cpu", None, 32)
OPTIONS = {"num_warps": 2, "num_stages": 1, "debug": True, "sanitize_overflow": False,
           "launch_cooperative_grid": False}


@tile.jit
def blend(x, out, weight, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    old = tl.load(out + i, mask=i < n)
    tl.store(out + i, old + weight * (tl.load(x + i, mask=i < n) - old), mask=i < n)


SIGNATURE = {"x": "*fp32", "out": "*fp32", "weight": "fp32", "n": "i32", "BLOCK": "constexpr"}


def compiled(target=HOST):
    attributes = {(0, ): [["tt.divisibility", 16]], (1, ): [["tt.divisibility", 16]]}
    source = ASTSource(blend, dict(SIGNATURE), {"BLOCK": 64}, attributes)
    return tile.compile(source, target=target, options=dict(OPTIONS))


def check_run(kernel):
    x, out = np.full(100, 4, np.float32), np.zeros(100, np.float32)
    kernel.run(2, 1, 1, 0, None, kernel.metadata, None, None, None, x, out, 0.25, 90, 64)
    assert out.tolist() == [1] * 90 + [0] * 10


@pytest.mark.parametrize("module, names", [
    ("tile.backends", "backends"), ("tile.backends.compiler", "BaseBackend GPUTarget"),
    ("tile.backends.nvidia.compiler", "CUDABackend min_dot_size"),
    ("tile.compiler", "CompiledKernel"),
    ("tile.compiler.errors", "CompilationError CompileTimeAssertionFailure"),
    ("tile.runtime.errors", "OutOfResources PTXASError TritonError"),
    ("tile.runtime.autotuner", "Autotuner Config OutOfResources PTXASError"),
    ("tile.runtime.jit", "JITFunction KernelInterface"), ("tile.runtime.cache", "triton_key"),
    ("tile.runtime.interpreter", "InterpretedFunction"), ("tile.language.standard", "_log2")])
def test_names(module, names):
    found = importlib.import_module(module)
    assert [name for name in names.split() if not hasattr(found, name)] == []


@pytest.mark.parametrize("type_, k", [(tl.float8e5, 32), (tl.int8, 32), (tl.bfloat16, 16),
                                      (tl.float32, 8), (tl.float64, 4)])
def test_least_extents_of_a_dot(type_, k):
    least = importlib.import_module("tile.backends.nvidia.compiler").min_dot_size(HOST)
    assert least(type_, type_) == (1, 1, k)
    with pytest.raises(ValueError, match="operands of one width expected"):
        least(type_, tl.int16 if k != 16 else tl.float32)


def test_backends():
    assert {"nvidia", "cpu"} <= tile.backends.backends.keys()
    for backend in tile.backends.backends.values():
        assert isinstance(tile.runtime.driver.active, backend.driver)
    compiler = make_backend(GPUTarget("cuda", 90, 32))
    assert compiler.hash() != make_backend(GPUTarget("cuda", 80, 32)).hash()
    options = compiler.parse_options({"num_warps": 8, "no_such_option": 1})
    assert options.num_warps == 8 and options.num_stages == 3 and "fp8e5" in options.supported_fp8_dtypes
    assert not hasattr(options, "no_such_option")
    with pytest.raises(RuntimeError, match="only NVIDIA"):
        make_backend(GPUTarget("hip", "gfx942", 64))
    assert triton_key() == triton_key() != ""


@pytest.mark.emulator
def test_run():
    kernel = compiled()
    assert kernel.src.fn is blend and kernel.metadata.num_warps == 2
    # Registers are no limit in the emulator.
    assert (kernel.n_regs, kernel.n_spills) == (0, 0)
    check_run(kernel)
    seen = []
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    arguments = (x, out, 1.0, 64, 64)
    kernel.run(1, 1, 1, 0, None, None, "facts", lambda m: seen.append(("enter", m, out.sum())),
               lambda m: seen.append(("exit", m, out.sum())), *arguments)
    assert seen == [("enter", "facts", 0), ("exit", "facts", 64)]
    # Without facts the hooks are told what the kernel knows of itself.
    kernel.run(1, 1, 1, 5, None, None, None, lambda m: seen.append(m.get()["name"]), None, *arguments)
    assert seen[2:] == ["blend"]
    # An empty grid runs no program.
    kernel.run(0, 1, 1, 0, None, None, None, None, None, x * 3, out, 1.0, 64, 64)
    assert out.sum() == 64


@pytest.mark.emulator
def test_kernels_travel_between_processes():
    kernel = compiled()
    check_run(kernel)
    check_run(pickle.loads(pickle.dumps(kernel)))


def test_a_kernel_whose_fields_travel():
    """As PyTorch Inductor does it."""
    kernel = compiled(GPUTarget("cuda", 90, 32))
    fields = {**kernel.__dict__, "metadata": kernel.metadata, "module": None, "function": None, "run": None}
    there = tile.CompiledKernel.__new__(tile.CompiledKernel)
    there.__dict__.update(pickle.loads(pickle.dumps(fields)))
    assert there.src.fn is blend and there.hash == kernel.hash and callable(there.run)
    if tile.knobs.find_ptxas()[0]:
        # What ptxas made is in the pickle.
        assert "cubin" in there.asm._made and there.n_regs == kernel.n_regs > 0 == there.n_spills


def test_a_kernel_without_its_function_travels():
    here = tile.jit(blend.fn)
    parts = here.fn, here.__globals__, here.used_global_vals, here.repr
    here.fn = here.__globals__ = here.used_global_vals = here.repr = None
    there = pickle.loads(pickle.dumps(here))
    here.fn, here.__globals__, here.used_global_vals, here.repr = parts
    assert there.fn is None and there.src == blend.src and there.arg_names == blend.arg_names
    assert [p.num for p in there.params if p.is_constexpr] == [4]
    # With its function a kernel is pickled as functions are, by its name.
    assert pickle.loads(pickle.dumps(blend)) is blend


def test_launcher_classes():

    class Recorder(tile.runtime.jit.KernelInterface):

        def run(self, *args, grid, warmup, **kwargs):
            return args, grid, warmup, kwargs

    assert Recorder()[(3, )](1, key=2) == ((1, ), (3, ), False, {"key": 2})
    assert isinstance(blend, tile.runtime.jit.KernelInterface)


def test_ptx_that_ptxas_refuses():
    kernel = compiled("sm_90a")
    kernel.asm._made["ptx"] = kernel.asm["ptx"].replace("ret;", "no_such_instruction;")
    if not tile.knobs.find_ptxas()[0]:
        pytest.skip("needs ptxas")
    with pytest.raises(tile.errors.PTXASError, match="no_such_instruction"):
        kernel.asm["cubin"]


def doubled(number):
    assert isinstance(number, tl.constexpr)
    return tl.constexpr(2 * number.value)


def unless_none(condition, value):
    return tl.constexpr(None) if isinstance(condition, tl.constexpr) and condition.value is None else value


doubled.__triton_builtin__ = unless_none.__triton_builtin__ = True


@tile.jit
def uses_marked(x, out, N: tl.constexpr):
    i = tl.arange(0, doubled(N))
    mask = i < 2 * N - 1
    value = tl.load(x + i, mask, other=unless_none(mask, 7.0))
    tl.store(out + i, value + tl.load(x + i, None, other=unless_none(None, 7.0)), unless_none(None, mask))


def test_python_functions_that_are_marked_as_language():
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    uses_marked[(1, )](x, out, N=8)
    assert out.tolist() == [2.0 * n for n in range(15)] + [22]


@tile.constexpr_function
def larger_half(number):
    return number - number // 2


@tile.jit
def uses_constexpr_function(out, N: tl.constexpr):
    i = tl.arange(0, larger_half(N))
    tl.store(out + i, i)


def test_sources_begin_at_the_function():
    """So that their readers can write other decorators above them."""
    assert blend.src.startswith("def blend(x, out, weight") and "@" not in blend.src
    assert larger_half.src == "def larger_half(number):\n    return number - number // 2\n"
    assert isinstance(larger_half, tile.runtime.jit.ConstexprFunction) and larger_half(tl.constexpr(5)) == 3
    out = np.full(4, -1, np.int32)
    uses_constexpr_function[(1, )](out, N=5)
    assert out.tolist() == [0, 1, 2, -1]


def test_libdevice_of_a_toolkit(monkeypatch):
    monkeypatch.setattr(tile.knobs, "toolkit_roots", ["/first", "/second"])
    with tile.knobs.nvidia.scope():
        tile.knobs.nvidia.libdevice_path = "/second/nvvm/libdevice/libdevice.10.bc"
        assert tile.knobs.toolkit_roots == ["/second", "/first"]
        with pytest.raises(NotImplementedError, match="of a CUDA toolkit"):
            tile.knobs.nvidia.libdevice_path = "/elsewhere/mine.bc"
    assert tile.knobs.nvidia.libdevice_path is None and tile.knobs.toolkit_roots == ["/first", "/second"]
    assert tl.core._unwrap_if_constexpr(tl.constexpr(3)) == 3


@tile.jit
def copy_block(source, target, row):
    tl.static_assert(source.block_shape[1] == 8)
    target.store([row, 0], source.load([row, 0]) + 1.0)


@pytest.mark.emulator
@pytest.mark.parametrize("signature", [
    {"source": "tensordesc<fp32[4,8]>", "target": "tensordesc<fp32[4, 8]>", "row": "i32"},
    "tensordesc<fp32[4, 8]>, tensordesc<fp32[4,8]>, i32"])
def test_descriptors_in_signatures(signature):
    kernel = tile.compile(copy_block, signature, target=HOST)
    x, y = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros((8, 8), np.float32)
    arguments = [TensorDescriptor.from_tensor(array, [4, 8]) for array in (x, y)]
    kernel.run(1, 1, 1, 0, None, kernel.metadata, None, None, None, *arguments, 4)
    np.testing.assert_array_equal(y[4:], x[4:] + 1)
    assert not y[:4].any()
    launched = copy_block.warmup(*arguments, 4, grid=(1, ))
    y[:] = 0
    launched.run(1, 1, 1, 0, None, None, None, None, None, *arguments, 4)
    assert y[4:].all() and [a.signature() for a in launched.arguments] == [
        "tensordesc<fp32[4, 8]>", "tensordesc<fp32[4, 8]>", "i32"]


@pytest.mark.parametrize("text", ["tensordesc<fp32>", "tensordesc<[4]>", "tensordesc<fp32[]>",
                                  "tensordesc<fp32[4, 0]>", "tensordesc<fp32[4]", "tensordesc<f99[4]>"])
def test_descriptors_that_are_wrong(text):
    with pytest.raises(ValueError, match="source: a tensor descriptor has a type and a block shape, as in "
                       r"tensordesc<fp16\[64, 64\]>, got 'tensordesc"):
        tile.compile(copy_block, {"source": text, "target": text, "row": "i32"}, target=HOST)


@tile.jit
def add_pair(pair, out, SCALES):
    tl.store(out, tl.load(pair[0]) * SCALES[0] + pair[1] * SCALES[1])


def test_tuples_in_signatures():
    """As hooks are told of a launch that has them."""
    x, out = np.full(1, 3, np.int32), np.zeros(1, np.int32)
    signature = {"pair": ("*i32", "i32"), "out": "*i32", "SCALES": ("constexpr", "i32")}
    source = ASTSource(add_pair, signature, {(2, 0): 10}, {(0, 0): [["tt.divisibility", 16]]})
    kernel = tile.compile(source, target=HOST)
    assert [a.describe() for a in kernel.arguments] == ["(*int32:16, int32)", "*int32", "(constexpr 10, int32)"]
    kernel.run(1, 1, 1, 0, None, kernel.metadata, None, None, None, (x, 4), out, (None, 100))
    assert out[0] == 430
    launched = add_pair.warmup((x, 4), out, (tl.constexpr(10), 100), grid=(1, ))
    assert [a.signature() for a in launched.arguments] == list(signature.values())


@pytest.mark.parametrize("arguments, kind, message", [
    ((copy_block, 3), TypeError, "a signature is a dict of types by the names of parameters, or text .* got 3"),
    ((copy_block, {"x": "i32"}), ValueError, "the signature has 'x', which is no parameter of copy_block"),
    ((copy_block, {"source": 3}), ValueError, "the signature has no type and no value for source"),
    ((copy_block, {"source": "i33"}), ValueError, "source: unknown type 'i33'"),
    ((copy_block, {"source": "*fp32:16:16"}), ValueError, "the only hint of a signature is 16, got '16:16'"),
    ((copy_block, {}, {"x": 3}), ValueError, "constexprs has 'x', which is no parameter of copy_block"),
    ((copy_block, {}, {7: 3}), ValueError, "constexprs has 7, which is no parameter of copy_block"),
    ((copy_block, {}, [3]), TypeError, "constexprs must be a dict by names or positions"),
    ((ASTSource(copy_block, {}, {}, {(9, ): []}), ), ValueError, r"attrs has \(9,\), which is no parameter"),
    ((ASTSource(copy_block, {}, {}, {0: 3}), ), TypeError, "attrs map positions to lists of hints"),
    ((copy_block, {}, {}, None, "x"), TypeError, "options must be a dict of options by their names, got 'x'"),
    ((3, ), TypeError, "tile.compile takes a @tile.jit function, an ASTSource or the path of a file of tile IR"),
])
def test_wrong_arguments_of_compile(arguments, kind, message):
    with pytest.raises(kind, match=message):
        tile.compile(*arguments)
