# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hooks, listeners and settings of `knobs`, and kernels that are compiled for debugging."""

import contextlib
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tile
import tile.language as tl
from tile import knobs
from tile.compiler import ASTSource, GPUTarget
from tile.runtime.background import active_mode
from tile.runtime.cache import FileCacheManager
from tile.runtime.jit import MockTensor

pytestmark = [pytest.mark.compiled, pytest.mark.emulator]


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    """Undoes what a test does to the groups of knobs. All is about the emulator."""
    monkeypatch.setattr(type(tile.runtime.driver.default), "is_active", staticmethod(lambda: False))
    groups = [group for group in vars(knobs).values() if isinstance(group, knobs.Group)]
    with contextlib.ExitStack() as stack:
        for group in groups:
            stack.enter_context(group.scope())
        yield
    for name in ("launch_enter_hook", "launch_exit_hook", "kernel_load_start_hook", "kernel_load_end_hook"):
        getattr(knobs.runtime, name).calls.clear()


def doubling(**options):

    def double(x, n, BLOCK: tl.constexpr = 4):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i) * 2, mask=i < n)

    return tile.jit(**options)(double)


def ones():
    return np.ones(4, np.float32)


def test_launch_hooks():
    seen = []

    def describe(grid, metadata, args):
        seen.append("described")
        return {"grid": grid, "warps": metadata.num_warps, "n": args["n"]}

    def enter(metadata):
        seen.append("enter")
        if len(seen) < 3:
            assert metadata.get()["grid"] == (1, 2) and metadata["warps"] == 4 and metadata["n"] == 3
            assert metadata.get("name") == "double" and set(metadata) >= {"function", "stream", "name"}

    kernel = doubling(launch_metadata=describe)
    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(lambda metadata: seen.append("first added"))
    knobs.runtime.launch_exit_hook.add(lambda metadata: seen.append("last added"))
    kernel[(1, 2)](ones(), 3)
    # The facts of the kernel's own are asked for by hooks alone, and once.
    assert seen == ["enter", "described", "last added", "first added"]
    kernel[(1, 2)](ones(), 3)
    assert seen[4:] == ["enter", "last added", "first added"]
    knobs.runtime.launch_enter_hook.remove(enter)
    knobs.runtime.launch_exit_hook = None
    kernel[(1, )](ones(), 3)
    assert len(seen) == 7


def test_load_hooks():
    seen = []
    knobs.runtime.kernel_load_start_hook = lambda *args: seen.append(("start", *args))
    knobs.runtime.kernel_load_end_hook = lambda *args: seen.append(("end", *args))
    kernel = doubling()
    for _ in range(2):
        compiled = kernel[(1, )](ones(), 3)
    start, end = seen
    assert start == ("start", None, None, "double", {}, compiled.hash)
    assert end[0] == "end" and end[1] is not None and end[3:] == start[3:]


def test_compile_hooks():
    before, after = [], []
    knobs.runtime.jit_cache_hook = lambda **facts: before.append(facts)
    knobs.runtime.jit_post_compile_hook = lambda **facts: after.append(facts)
    kernel = doubling()
    kernel.warmup(tl.float32, 32, grid=(1, ), num_warps=2)
    kernel.warmup(tl.float32, 16, grid=(1, ), num_warps=2)
    (facts, ), (facts_after, ) = before, after
    compiled = facts["compile"]
    assert facts["is_manual_warmup"] and not facts["already_compiled"]
    assert facts["fn"].jit_function is kernel and facts["fn"].name == kernel.__qualname__
    assert compiled["key"] in kernel.device_caches["emulator"][0]
    assert compiled["signature"] == {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    assert compiled["constants"] == {(2, ): 4} and compiled["num_warps"] == 2
    assert compiled["configs"] == [{(0, ): [["tt.divisibility", 16]], (1, ): [["tt.divisibility", 16]]}]
    assert compiled["specialization_data"] == facts_after["compile"]["specialization_data"] != ""
    # A hook may refuse a compile; nothing is launched then.
    knobs.runtime.jit_cache_hook = lambda **facts: True
    x = ones()
    assert kernel[(1, )](x, 3) is None and x.sum() == 4 and len(after) == 1


def test_listener_of_compiles(tmp_path, monkeypatch):
    monkeypatch.setattr(knobs, "cache_dir", str(tmp_path))
    seen = []
    knobs.compilation.listener = lambda **facts: seen.append(facts)
    kernel = doubling()
    for _ in range(2):
        kernel[(1, )](ones(), 3)
        kernel.device_caches.clear()
    first, second = seen
    assert not first["cache_hit"] and second["cache_hit"]
    assert first["src"].fn is kernel and isinstance(first["metadata"]["target"], GPUTarget)
    assert first["times"].ir_initialization > 0 and first["times"].total_lowering > 0
    assert second["times"].lowering_stages == [] and second["times"].total > 0
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        kernel[(1, )](ones(), 3)
    assert not seen[2]["cache_hit"] and not knobs.always_compile


def test_listener_of_autotuning(tmp_path, monkeypatch):
    monkeypatch.setattr(knobs, "cache_dir", str(tmp_path))
    seen = []
    knobs.autotuning.listener = lambda **facts: seen.append(facts)
    kernel = doubling()
    tuned = tile.autotune([tile.Config({"BLOCK": 4}), tile.Config({"BLOCK": 2})], key=["n"], cache_results=True)
    tuned = tuned(kernel)
    tuned[(1, )](ones(), 3)
    tuned[(1, )](ones(), 3)
    tuned.cache.clear()
    tuned[(1, )](ones(), 3)
    measured, loaded = seen
    assert measured["fn"] is kernel and measured["best_config"] in measured["configs_timings"]
    assert measured["duration"] > 0 and not measured["cache_hit"]
    assert loaded["duration"] is None and loaded["cache_hit"]


def test_settings_in_groups():
    knobs.autotuning.print = True
    assert knobs.print_autotuning and knobs.autotuning.knobs["print"]
    del knobs.autotuning.print
    assert not knobs.print_autotuning
    knobs.compilation.disable_line_info = True
    assert not knobs.line_info
    knobs.compilation.reset()
    assert knobs.line_info
    knobs.nvidia.ptxas = "/nowhere/ptxas"
    assert knobs.ptxas == "/nowhere/ptxas"
    with pytest.raises(NotImplementedError, match="knobs.cache.manager_class: it is not supported"):
        knobs.cache.manager_class = FileCacheManager
    knobs.cache.manager_class = None
    with pytest.raises(AttributeError, match="knobs.runtime has no launch_hook; there are debug, "):
        knobs.runtime.launch_hook = print
    with pytest.raises(TypeError, match="knobs.runtime.launch_exit_hook: it is a function or None, got 3"):
        knobs.runtime.launch_exit_hook = 3
    knobs.runtime.launch_enter_hook.add(print)
    knobs.runtime.reset()
    assert not knobs.runtime.launch_enter_hook


# Debugging ----------------------------------------------------------------------------------


def asserting(**options):

    def kernel(x, limit):
        value = tl.load(x)
        tl.device_assert(value < limit, "too large")
        tl.store(x, value + 1)

    return tile.jit(**options)(kernel)


@pytest.mark.parametrize("decorator, option, setting, checks", [
    (None, None, False, True), (None, False, False, False), (False, None, False, False),
    (False, True, False, True), (True, None, False, True), (True, False, False, False),
    (True, False, True, True), (False, False, True, True)])
def test_assertions_are_checked_for_debugging(decorator, option, setting, checks):
    """By @tile.jit, by the launch, or everywhere; on host arrays also if nobody says anything."""
    kernel = asserting(debug=decorator)
    knobs.runtime.debug = setting
    options = {} if option is None else {"debug": option}
    x = np.array([7], np.int32)
    if checks:
        with pytest.raises(tile.EmulatorError, match="too large"):
            kernel[(1, )](x, 3, **options)
    else:
        kernel[(1, )](x, 3, **options)
    assert x[0] == (7 if checks else 8)


def test_code_for_gpus_has_no_assertions_unless_for_debugging():
    signature = {"x": "*i32", "limit": "i32"}
    assert "__assertfail" not in tile.compile(asserting(), signature, target="sm_80").asm["ptx"]
    for kernel, options in ((asserting(debug=True), {}), (asserting(), {"debug": True})):
        assert "__assertfail" in tile.compile(kernel, signature, target="sm_80", **options).asm["ptx"]


_LEAST, _GREATEST = -2**31, 2**31 - 1


@pytest.mark.parametrize("operator, x, y, dtype, fits", [
    ("+", _GREATEST, 1, np.int32, False), ("+", _LEAST, -1, np.int32, False), ("+", _LEAST, 2, np.int32, True),
    ("-", _LEAST, 1, np.int32, False), ("-", _LEAST, -1, np.int32, True), ("-", 3, 4, np.uint32, False),
    ("*", 2**30, 2, np.int32, False), ("*", 2**32 - 1, 2**32 - 1, np.uint32, False),
    ("*", 2**16, 2**16 - 1, np.uint32, True), ("+", 2**15 - 1, 1, np.int16, False),
    ("*", 2**63 - 1, 2, np.int64, True)])
def test_overflow_is_checked_for_debugging(operator, x, y, dtype, fits):
    kernel = {"+": _add, "-": _subtract, "*": _multiply}[operator]
    x, y, out = np.array([x], dtype), np.array([y], dtype), np.zeros(1, dtype)
    with np.errstate(over="ignore"):
        expected = eval(f"x {operator} y", {"x": x, "y": y})
    kernel[(1, )](x, y, out)
    assert out == expected
    out[:] = 0
    kernel[(1, )](x, y, out, debug=True, sanitize_overflow=False)
    assert out == expected
    if fits:
        kernel[(1, )](x, y, out, debug=True)
        return
    name = {"+": "add", "-": "sub", "*": "mul"}[operator]
    message = f"{np.dtype(dtype).name} overflow detected for operation {name}"
    with pytest.raises(tile.EmulatorError, match=message):
        kernel[(1, )](x, y, out, debug=True)


@tile.jit
def _add(x, y, out):
    tl.store(out, tl.load(x) + tl.load(y))


@tile.jit
def _subtract(x, y, out):
    tl.store(out, tl.load(x) - tl.load(y))


@tile.jit
def _multiply(x, y, out):
    tl.store(out, tl.load(x) * tl.load(y))


@tile.jit
def _in_regions(x, out):
    i = tl.arange(0, 4)
    value = tl.load(x + i)
    tl.store(out + i, tl.map_elementwise(_plus_three, value) + tl.reduce(value, 0, _sum))


@tile.jit
def _plus_three(value):
    return value + 3


@tile.jit
def _sum(a, b):
    return a + b


def test_functions_of_elements_are_not_checked_for_overflow():
    x, out = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    _in_regions[(1, )](x, out, debug=True)
    assert out.tolist() == [9, 10, 11, 12]


@tile.jit
def _expects_zero(x):
    i = tl.arange(0, 4)
    tl.store(x + i, tl.expect_zero(tl.load(x + i), i < 2))


def test_expected_zeros_are_checked():
    _expects_zero[(1, )](np.array([1, 2, 0, 0], np.int32))
    with pytest.raises(tile.EmulatorError, match="x must be zero where cond is false"):
        _expects_zero[(1, )](np.array([1, 2, 3, 0], np.int32))


# What programs for Triton call ---------------------------------------------------------------


def test_sources_for_compile(tmp_path):
    kernel = doubling(repr=lambda known: f"double_{known.constants['BLOCK']}_{known.signature['x'][1:]}")
    source = ASTSource(kernel, {"x": "*fp16", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 8}, None)
    first = tile.compile(src=source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 2})
    second = tile.compile(source, GPUTarget("cuda", 80, 32), {"num_warps": 2})
    assert first.name == first.metadata.name == "double_8_fp16" and ".entry double_8_fp16(" in first.asm["ptx"]
    assert first.metadata.target == GPUTarget("cuda", 80, 32) and first.asm["ptx"] == second.asm["ptx"]
    path = tmp_path / "double.tile"
    path.write_text(first.asm["tile"])
    assert tile.compile(path, target="sm_80").name == "double_8_fp16"
    with pytest.raises(NotImplementedError, match="double.ttir: this compiler reads kernels in Python"):
        tile.compile(str(tmp_path / "double.ttir"))


def test_stand_ins_for_arrays():
    torch = pytest.importorskip("torch")
    kernel = doubling()
    compiled = kernel[(1, )](ones(), 3)
    for array in (tl.float32, torch.float32, MockTensor(torch.float32), MockTensor(tl.float32, [4]),
                  MockTensor.wrap_dtype(torch.float32)):
        assert kernel.warmup(array, 3, grid=(1, )) is compiled


def test_files_of_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(knobs, "cache_dir", str(tmp_path))
    manager = FileCacheManager("some-key")
    assert manager.get_file("a.txt") is None and manager.get_group("both") is None
    paths = {"a.txt": manager.put("text", "a.txt", binary=False), "b": manager.put(b"\0", "b")}
    manager.put_group("both", paths)
    assert FileCacheManager("some-key").get_group("both") == paths
    with open(paths["a.txt"]) as file:
        assert file.read() == "text"
    tmp_path.joinpath("files/some-key/b").unlink()
    assert manager.get_group("both") is None
    with pytest.raises(ValueError, match="a key consists of letters"):
        FileCacheManager("../x")


def test_keys_of_sources_follow_what_is_called():
    names = {"tl": tl, "STEP": tl.constexpr(1), "inner": _add}

    def made():
        return tile.jit(types.FunctionType(_uses_others.__code__, names, "_uses_others"))

    key = made().cache_key
    assert key == made().cache_key
    names["STEP"] = tl.constexpr(2)
    other = made().cache_key
    names["inner"] = _subtract
    assert len({key, other, made().cache_key}) == 3


def _uses_others(x):
    inner(x, x + STEP, x)  # noqa: F821


def test_peaks_of_the_device():
    """Of the device that the emulator describes, an H200."""
    if tile._C.cuda_device_count():
        pytest.skip("there is a GPU")
    assert tile.testing.get_dram_gbps() == pytest.approx(4917, rel=1e-3)
    assert tile.testing.get_max_tensorcore_tflops(tl.bfloat16, 1.83e6) == pytest.approx(989, rel=1e-2)
    assert tile.testing.get_max_tensorcore_tflops(tl.float8e5, 1.83e6) == pytest.approx(1979, rel=1e-2)
    assert tile.testing.get_max_simd_tflops(tl.float32, 1.98e6) == pytest.approx(67, rel=1e-2)
    with pytest.raises(RuntimeError, match="no peak for fp64"):
        tile.testing.get_max_tensorcore_tflops(tl.float64, 1e6)


def test_compiles_in_the_background():
    kernels = [doubling(), doubling()]
    x = ones()
    with ThreadPoolExecutor(2) as pool, tile.AsyncCompileMode(pool):
        futures = [kernel.warmup(x, 3, BLOCK=block, grid=(1, )) for kernel in kernels for block in (2, 4, 8)]
        assert kernels[0].warmup(x, 3, BLOCK=2, grid=(1, )) is futures[0]
        assert kernels[0][(1, )](x, 3, BLOCK=4) is futures[1].result() and x.tolist() == [2, 2, 2, 1]
        assert futures[0].name == "double"
    assert all(len(kernel.device_caches["emulator"][0]) == 3 for kernel in kernels)
    assert all(type(kernel) is tile.CompiledKernel for kernel in kernels[1].device_caches["emulator"][0].values())


def test_errors_of_compiles_in_the_background():

    @tile.jit
    def kernel(x: tl.constexpr):
        tl.static_assert(x == 2, "two")

    with pytest.raises(tile.CompileTimeAssertionFailure, match="two"):
        with ThreadPoolExecutor(1) as pool, tile.AsyncCompileMode(pool):
            kernel.warmup(1, grid=(1, ))
    with ThreadPoolExecutor(1) as pool, tile.AsyncCompileMode(pool, ignore_errors=True):
        kernel.warmup(1, grid=(1, ))
    assert active_mode.get() is None and not kernel.device_caches["emulator"][0]


def test_stages_of_compiled_kernels():
    kernel = tile.compile(doubling(), {"x": "*fp32", "n": "i32"}, {"BLOCK": 64}, target="sm_80")
    assert list(kernel.asm) == list(kernel.asm.keys()) == ["tile", "tile_gpu", "nvvm", "llir", "ptx", "cubin"]
    assert "sass" in kernel.asm and "amdgcn" not in kernel.asm and kernel.asm.get("amdgcn") is None
    assert kernel.asm["ttir"] is kernel.asm["tile"]
    if not knobs.find_ptxas()[0] or not knobs.nvidia.cuobjdump:
        pytest.skip("there is no ptxas, or no cuobjdump")
    assert "STG.E" in kernel.asm["sass"]
    assert dict(kernel.asm.items())["ptx"] == kernel.asm["ptx"]


def test_launchers_of_programs():

    class Launcher(tile.KernelInterface[int]):

        def __init__(self, kernel):
            self.kernel, self.launches = kernel, []

        def run(self, *args, grid, warmup, **kwargs):
            self.launches.append((grid, warmup))
            return self.kernel.run(*args, grid=grid, warmup=warmup, **kwargs)

    launcher, x = Launcher(doubling()), ones()
    launcher[(1, )](x, 3, BLOCK=4)
    assert launcher.launches == [((1, ), False)] and x.tolist() == [2, 2, 2, 1]
    # Tuned as kernels are, if it has the kernel as `fn`.
    launcher.fn = launcher.kernel
    tuned = tile.autotune([tile.Config({"BLOCK": 2}), tile.Config({"BLOCK": 4})], key=["n"],
                          do_bench=lambda launch, quantiles: launch() or -len(launcher.launches))(launcher)
    tuned[(1, )](ones(), 3)
    assert tuned.best_config.kwargs == {"BLOCK": 4} and tuned.base_fn is launcher.kernel
    assert launcher.launches[1:] == [((1, ), True), ((1, ), False)] * 2 + [((1, ), False)]


@tile.jit
def _checked(value):
    tl.device_assert(value < 3, "in a helper")
    return value


@tile.jit
def _calls_checked(x):
    tl.store(x, _checked(tl.load(x)))


def test_assertions_in_functions_that_are_inlined():
    """Their messages are not at the place of the call, which the lines of the code need."""
    _calls_checked[(1, )](np.array([2], np.int32))
    with pytest.raises(tile.EmulatorError, match="in a helper"):
        _calls_checked[(1, )](np.array([3], np.int32))


def test_types_in_place_of_arrays_are_for_warmup():
    kernel = doubling()
    warm = kernel.warmup(tl.float32, 3, grid=(1, ))
    for stand_in in (tl.float32, MockTensor(tl.float32)):
        with pytest.raises(TypeError, match="double is launched with a type in place of an array"):
            kernel[(1, )](stand_in, 3)
        with pytest.raises(TypeError, match="double is launched with a type"):
            warm[(1, )](stand_in, 3)
    with pytest.raises(TypeError, match="has no option no_such; there are num_warps, "):
        tile.compile(kernel, {"x": "*fp32", "n": "i32"}, {"BLOCK": 4}, no_such=1)
