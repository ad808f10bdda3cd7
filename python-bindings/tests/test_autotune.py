# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@tile.autotune`, `@tile.heuristics` and `tile.testing`."""

import io
import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.runtime import cache

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tile.knobs, "cache_dir", str(tmp_path / "cache"))
    return tmp_path / "cache"


def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


def config(block, **options):
    return tile.Config({"BLOCK": block}, **options)


# The last one cannot be compiled.
TOO_LARGE = 1 << 21
CONFIGS = [config(64, num_warps=2), config(128, num_warps=4), config(TOO_LARGE)]


def make_tuned(configs=None, key=("n", ), **options):
    return tile.autotune(configs or CONFIGS, key=list(key), **options)(tile.jit(scale))


def launch(tuned, n=100, dtype=np.float32, **kwargs):
    """Launches it and checks the result; the block that was chosen."""
    x, out = np.arange(n).astype(dtype), np.zeros(n, dtype)
    tuned[lambda meta: (tile.cdiv(n, meta["BLOCK"]), )](x, out, n, 2.0, **kwargs)
    np.testing.assert_array_equal(out, x * 2)
    return tuned.best_config.kwargs["BLOCK"]


def fastest(block):
    """A do_bench that finds this block to be the fastest."""
    times = {64: 2.0, 128: 3.0, 256: 4.0, block: 1.0}

    def do_bench(once, quantiles):
        once()
        return [times[block_of_launch[-1]]] * len(quantiles)

    return do_bench


# What the kernels of the last launches were tuned with: config hooks note it.
block_of_launch = []


def note(args):
    block_of_launch.append(args["BLOCK"])


NOTED = [config(block, pre_hook=note) for block in (64, 128, 256)]


def test_the_fastest_is_kept():
    for block in (64, 128, 256):
        tuned = make_tuned(NOTED, do_bench=fastest(block))
        assert launch(tuned) == block
        assert tuned.configs_timings[tuned.best_config] == 1.0 and len(tuned.configs_timings) == 3
        # Each new key is measured, and no old one.
        del block_of_launch[:]
        launch(tuned), launch(tuned)
        assert block_of_launch == [block] * 2 and len(tuned.cache) == 1
        launch(tuned, 200)
        # Hooks are called before each compile, too.
        assert len(block_of_launch) == 2 + 2 * 3 + 1 and len(tuned.cache) == 2
        launch(tuned, 200, np.float64)
        assert len(tuned.cache) == 3


def test_keys_of_equal_numbers_differ():
    tuned = make_tuned(CONFIGS[:2], key=["factor"])
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    for factor in (1, 1.0, True):
        tuned[(1, )](x, out, 64, factor)
    assert len(tuned.cache) == 3


def test_a_config_that_does_not_compile_is_skipped():
    tuned = make_tuned()
    assert launch(tuned) in (64, 128)
    assert [str(c.kwargs) for c in tuned.failures] == [f"{{'BLOCK': {TOO_LARGE}}}"]
    assert "tiles can have at most 1048576" in str(next(iter(tuned.failures.values())))
    assert tuned.configs_timings[CONFIGS[2]] == float("inf")
    assert tuned.bench_time > 0


def sorts(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.max(tl.sort(tl.load(x_ptr + tl.arange(0, BLOCK) % 64)), 0))


def test_configs_that_need_too_much_are_skipped():
    tuned = tile.autotune([config(65536), config(64)], key=[])(tile.jit(sorts))
    x, out = np.arange(64, dtype=np.float32), np.zeros(1, np.float32)
    tuned[(1, )](x, out)
    assert out[0] == 63 and tuned.best_config.kwargs == {"BLOCK": 64}
    ((tried, error), ) = tuned.failures.items()
    assert tried.kwargs == {"BLOCK": 65536}
    assert isinstance(error, tile.OutOfResources) and error.name == "shared memory"


def test_wrong_options_are_failures_of_a_config():
    tuned = make_tuned([config(64, num_warps=3), config(64), config(64, num_ctas=7)])
    launch(tuned)
    assert tuned.best_config == config(64)
    assert sorted(c.num_warps for c in tuned.failures) == [3, 4]


@pytest.mark.emulator
def test_a_config_that_fails_at_run_time_is_skipped():

    @tile.autotune([config(128), config(64)], key=[])
    @tile.jit
    def fill(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    x = np.zeros(64, np.float32)
    fill[(1, )](x)
    assert (x == 1).all() and fill.best_config == config(64)
    (error, ) = fill.failures.values()
    assert isinstance(error, tile.EmulatorError)


def test_without_a_working_config():
    tuned = make_tuned([config(TOO_LARGE), config(2 * TOO_LARGE)])
    with pytest.raises(tile.errors.TileError, match=f"no config of scale works(.*\n)*.*BLOCK: {2 * TOO_LARGE}"):
        launch(tuned)
    assert len(tuned.failures) == 2 and not tuned.cache


def test_one_config_is_not_measured():
    calls = []
    tuned = make_tuned([config(64)], do_bench=lambda *args, **kwargs: calls.append(1))
    assert launch(tuned) == 64 and not calls
    with pytest.raises(tile.CompilationError):
        launch(make_tuned([config(TOO_LARGE)]))


def test_no_configs_are_the_defaults():

    @tile.autotune([], key=[])
    @tile.jit
    def fill(x):
        tl.store(x, 5.0)

    x = np.zeros(1, np.float32)
    kernel = fill[(1, )](x)
    assert x[0] == 5 and kernel.metadata.num_warps == 4


# Arrays and hooks ---------------------------------------------------------------------------


def accumulate(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(x + i, 1.0, mask=i < n)


def accumulated(x, **options):
    tuned = tile.autotune([config(32), config(64)], key=["n"], **options)(tile.jit(accumulate))
    tuned[lambda meta: (tile.cdiv(100, meta["BLOCK"]), )](x, 100)
    return x


def test_restore_value():
    np.testing.assert_array_equal(accumulated(np.full(100, 7, np.float32), restore_value=["x"]), 8)


def test_reset_to_zero():
    """The launch after the measurements starts from zeros, too."""
    np.testing.assert_array_equal(accumulated(np.full(100, 7, np.float32), reset_to_zero=["x"]), 1)


def test_hooks():
    calls = []

    def pre(args, reset_only=False):
        assert args["n"] == 100 and ("BLOCK" in args or reset_only)
        calls.append("reset" if reset_only else "pre")

    def post(args, exception):
        assert exception is None or isinstance(exception, tile.EmulatorError)
        calls.append("failed" if exception else "post")

    launch(make_tuned(CONFIGS[:2], pre_hook=pre, post_hook=post,
                      do_bench=lambda once, quantiles: once() or 1))
    assert calls == ["pre", "post"] * 2 + ["reset"]


def test_hooks_of_configs():
    """They see arguments by name and meta-parameters, before the compiler and each launch."""
    seen = []

    def hook(args):
        assert set(args) >= {"x_ptr", "out_ptr", "n", "factor", "BLOCK", "num_warps"}
        seen.append(args["BLOCK"])

    tuned = make_tuned([config(64, pre_hook=hook), config(128)],
                       do_bench=lambda once, quantiles: once() or len(seen))
    launch(tuned)
    assert seen in ([64, 64, 64], [64, 64])
    launch(make_tuned([config(64, pre_hook=hook)]))
    assert seen[-1] == 64


# Pruning ------------------------------------------------------------------------------------


def blocks(tuned):
    return [c.kwargs["BLOCK"] for c in tuned.configs_timings]


def test_early_prune():
    seen = {}

    def prune(configs, args, **kwargs):
        seen.update(args=args, kwargs=kwargs)
        return [c for c in configs if c.kwargs["BLOCK"] >= kwargs["factor"]]

    tuned = make_tuned(NOTED, prune_configs_by={"early_config_prune": prune})
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    tuned[(1, )](x, out, n=64, factor=100)
    assert blocks(tuned) == [128, 256]
    assert set(seen["args"]) == {"x_ptr", "out_ptr", "n", "factor"} and set(seen["kwargs"]) == {"n", "factor"}


def test_early_prune_to_one_and_to_none():
    tuned = make_tuned(NOTED, prune_configs_by={
        "early_config_prune": lambda configs, args, **kw: configs[2:]})
    assert launch(tuned) == 256 and not tuned.configs_timings
    tuned = make_tuned(NOTED, prune_configs_by={"early_config_prune": lambda configs, args, **kw: []})
    with pytest.raises(tile.errors.TileError, match="early_config_prune of scale has left no config"):
        launch(tuned)


@pytest.mark.parametrize("top_k, expected", [
    (2, [256, 128]), (0.7, [256, 128]), (1.0, [64, 128, 256]), (5, [64, 128, 256])])
def test_perf_model(top_k, expected):
    tuned = make_tuned(NOTED, prune_configs_by={
        "perf_model": lambda BLOCK, num_warps, n, **rest: n / BLOCK, "top_k": top_k})
    launch(tuned)
    assert blocks(tuned) == expected


def test_wrong_pruning():
    with pytest.raises(ValueError, match="early_config_prune, perf_model and top_k, got model"):
        make_tuned(prune_configs_by={"model": None})
    for top_k in (1.5, 0, -1):
        with pytest.raises(TypeError, match="top_k must be a number of configs"):
            launch(make_tuned(prune_configs_by={"perf_model": lambda **args: 0, "top_k": top_k}))


# The disk -----------------------------------------------------------------------------------


def test_results_on_disk():
    measured = []

    def measure(once, quantiles):
        measured.append(1)
        return 10 - len(measured)

    def tune(n, **options):
        tuned = make_tuned(do_bench=measure, **options)
        return launch(tuned, n), len(measured), len(tuned.configs_timings)

    assert tune(40) == (128, 2, 3) and tune(40) == (128, 4, 3)  # not kept
    kept = {"cache_results": True}
    assert [tune(40, **kept), tune(40, **kept), tune(56, **kept)] == [(128, 6, 3), (128, 6, 3), (128, 8, 3)]
    # Other configs are another question.
    assert tune(40, configs=CONFIGS[:2], **kept)[1] == 10


def test_results_of_all_autotuners_on_disk(monkeypatch):
    monkeypatch.setattr(tile.knobs, "cache_autotuning", True)
    launch(make_tuned(do_bench=fastest(64), configs=NOTED))
    assert launch(make_tuned(do_bench=None, configs=NOTED)) == 64
    assert [about["config"] for _, _, about in cache.entries() if about["kind"] == "tuned"] == [
        str(NOTED[0])]


def test_damaged_results_are_measured_again(folder):
    launch(make_tuned(cache_results=True))
    (path, ) = (path for path, _, about in cache.entries() if about["kind"] == "tuned")
    path.write_bytes(path.read_bytes()[:-3])
    tuned = make_tuned(cache_results=True)
    launch(tuned)
    assert tuned.bench_time > 0


# What is reported ---------------------------------------------------------------------------


def test_report(monkeypatch, capsys):
    monkeypatch.setattr(tile.knobs, "print_autotuning", True)
    launch(make_tuned())
    out = capsys.readouterr().out
    assert re.search(r"autotuning of scale took [0-9.]+ s; best: BLOCK: (64|128), num_warps: ", out)
    assert re.search(r"BLOCK: 64, .*: [0-9.]+ ms\n", out)
    assert re.search(rf"BLOCK: {TOO_LARGE}, .*: failed: .*tiles can have at most 1048576: use smaller blocks\n", out)


PROGRAM = """
import sys
sys.path[:] = %r
import numpy as np, tile, test_autotune
test_autotune.launch(test_autotune.make_tuned())
print("done")
"""


def stderr_on_a_terminal(**environment):
    """What a tuning process writes there."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", PROGRAM % sys.path], stdout=subprocess.PIPE,
                               stderr=follower,
                               env={**os.environ, "TERM": "xterm", "TILE_NO_CACHE": "1", **environment})
    os.close(follower)
    written = b""
    while True:
        try:
            data = os.read(leader, 4096)
        except OSError:  # the process is gone
            break
        if not data:
            break
        written += data
    os.close(leader)
    assert process.communicate()[0] == b"done\n" and process.returncode == 0, written
    return written.decode()


def test_progress_bar():
    pytest.importorskip("rich")
    assert "tuning scale" in stderr_on_a_terminal()
    assert stderr_on_a_terminal(TILE_NO_PROGRESS="1") == ""


def test_no_progress_bar_without_rich_or_terminal(monkeypatch, capsys):
    launch(make_tuned())
    assert capsys.readouterr().err == ""

    class Terminal(io.StringIO):

        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setitem(sys.modules, "rich", None)
    launch(make_tuned())
    assert terminal.getvalue() == ""


# Mistakes, and other decorators -------------------------------------------------------------


def test_mistakes():
    with pytest.raises(NotImplementedError, match="ir_override"):
        config(64, ir_override="kernel.ttgir")
    for what in ("reset_to_zero", "restore_value"):
        with pytest.raises(ValueError, match=f"the autotuner's {what} m is no parameter of scale"):
            make_tuned(**{what: ["m"]})
    with pytest.raises(TypeError, match="write it above @tile.jit"):
        tile.autotune(CONFIGS, key=[])(scale)
    with pytest.raises(TypeError, match="write it above @tile.jit"):
        tile.heuristics({})(scale)
    with pytest.raises(ValueError, match="the autotuner of scale sets BLOCK: do not pass it"):
        launch(make_tuned(), BLOCK=64)
    with pytest.raises(ValueError, match="the autotuner of scale sets num_warps: do not pass it"):
        launch(make_tuned(configs=CONFIGS[:1]), num_warps=8)
    with pytest.raises(TypeError, match="configs are tile.Config"):
        make_tuned(configs=[{"BLOCK": 64}])
    with pytest.raises(TypeError, match="heuristic for BLOCK must be a function of the arguments, got 64"):
        tile.heuristics({"BLOCK": 64})(tile.jit(scale))
    with pytest.raises(ValueError, match="heuristics for M: scale has no such parameter"):
        tile.heuristics({"M": len})(tile.jit(scale))
    with pytest.raises(TypeError, match="missing the argument 'out_ptr'"):
        make_tuned()[(1, )](np.ones(4, np.float32))


def test_configs_compare():
    assert config(64) == config(64) != config(64, num_warps=8) and hash(config(64)) == hash(config(64))
    assert config(64, maxnreg=32) != config(64) and config(64, pre_hook=note) != config(64)
    assert len({tile.Config({"SHAPE": [1, 2]}), tile.Config({"SHAPE": [1, 2]})}) == 1
    assert str(config(64, maxnreg=32)) == "BLOCK: 64, num_warps: 4, num_stages: 3, num_ctas: 1, maxnreg: 32"


def test_warmup_compiles_all_configs():
    tuned = make_tuned(CONFIGS[:2])
    kernels = tuned.warmup(tl.float32, tl.float32, 100, 2.0, grid=(1, ))
    assert [k.metadata.num_warps for k in kernels] == [2, 4]


def test_heuristics():
    kernel = tile.heuristics({"BLOCK": lambda args: tile.next_power_of_2(args["n"])})(tile.jit(scale))
    x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
    kernel[(1, )](x, out, 100, 3.0)
    np.testing.assert_array_equal(out, 3)
    assert kernel.warmup(x, out, 100, 3.0).arguments[-1].value == 128
    kernel = tile.heuristics({"num_warps": lambda args: args["n"] // 50})(tile.jit(scale))
    assert kernel.warmup(x, out, 100, 3.0, BLOCK=128).metadata.num_warps == 2


def even_scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + i, tl.load(x_ptr + i) * factor)
    else:
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


@pytest.mark.parametrize("n", [256, 100])
def test_autotune_above_heuristics(n):
    """As Triton's users write it: heuristics see the meta-parameters of the config."""
    even = []

    def is_even(args):
        even.append(args["n"] % args["BLOCK"] == 0)
        return even[-1]

    tuned = tile.autotune([config(64), config(128)], key=["n"])(
        tile.heuristics({"EVEN": is_even})(tile.jit(even_scale)))
    launch(tuned, n)
    assert set(even) == {n == 256}
    assert tuned.base_fn.__name__ == tuned.__name__ == "even_scale" and tuned.src.startswith("def even")


def test_heuristics_above_autotune():
    """They do not see the config, which is not chosen yet."""
    kernel = tile.heuristics({"EVEN": lambda args: "BLOCK" in args})(
        tile.autotune([config(64), config(128)], key=["n"])(tile.jit(even_scale)))
    x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
    kernel[lambda meta: (tile.cdiv(100, meta["BLOCK"]), )](x, out, 100, 3.0)
    np.testing.assert_array_equal(out, 3)


def test_later_heuristics_see_earlier_ones():
    kernel = tile.heuristics({"BLOCK": lambda args: 128, "EVEN": lambda args: args["BLOCK"] == args["n"]})(
        tile.jit(even_scale))
    assert kernel.warmup(tl.float32, tl.float32, 128, 3.0).arguments[-1].value is True


# tile.testing -------------------------------------------------------------------------------


def test_do_bench_on_host_arrays():
    kernel, calls = tile.jit(scale), []
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)

    def once():
        calls.append(1)
        kernel[(1, )](x, out, 64, 2.0, BLOCK=64)

    time = tile.testing.do_bench(once, warmup=1, rep=5)
    assert 0 < time < 1e3 and len(calls) >= 2
    times = tile.testing.do_bench(once, warmup=1, rep=5, return_mode="all")
    assert len(times) >= 1 and min(times) > 0
    low, middle, high = tile.testing.do_bench(once, warmup=1, rep=5, quantiles=[0, 0.5, 1])
    assert low <= middle <= high
    assert tile.testing.do_bench(once, warmup=0, rep=0, quantiles=[0.5]) > 0
    for mode in ("min", "max", "mean", "median"):
        assert tile.testing.do_bench(once, warmup=0, rep=0, return_mode=mode) > 0
    with pytest.raises(ValueError, match="return_mode must be one of min, max, mean, median, all"):
        tile.testing.do_bench(once, return_mode="sum")


def test_do_bench_drops_gradients():

    class Tensor:
        grad = 1

    tensor, seen = Tensor(), []

    def once():
        seen.append(tensor.grad)
        tensor.grad = 1

    tile.testing.bench_host(once, warmup=1, rep=1, grad_to_none=[tensor])
    assert seen and set(seen) == {None}


def test_do_bench_cudagraph():
    try:
        import torch
    except ImportError:
        with pytest.raises(ImportError, match="do_bench_cudagraph needs torch"):
            tile.testing.do_bench_cudagraph(lambda: None)
        return
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="do_bench_cudagraph needs a GPU"):
            tile.testing.do_bench_cudagraph(lambda: None)
        return
    kernel = tile.jit(scale)
    x, out = (torch.ones(1 << 20, device="cuda") for _ in range(2))

    def once():
        kernel.run(x, out, 1 << 20, 2.0, BLOCK=1024, grid=(1024, ))

    once()
    low, high = tile.testing.do_bench_cudagraph(once, quantiles=[0, 1])
    assert 1e-4 < low <= high < 10
    assert (out == 2).all()


def make_report(**options):

    @tile.testing.perf_report(tile.testing.Benchmark(
        ["n"], [16, 32], "provider", ["a", "b"], ["A", "B"], "times", {"shift": 1.0}, **options))
    def benchmark(n, provider, shift, unit=1.0):
        value = (n * (1.0 if provider == "a" else 2.5) + shift) * unit
        return value, value - 0.5, value + 0.5

    return benchmark


def rows_of(frame):
    return frame.values.tolist() if hasattr(frame, "values") else frame


def test_perf_report(tmp_path, capsys):
    frame = make_report().run(print_data=True, save_path=str(tmp_path / "new"), return_df=True)
    assert rows_of(frame) == [[16, 17.0, 41.0], [32, 33.0, 81.0]]
    assert capsys.readouterr().out == "times:\n   n   A   B\n  16  17  41\n  32  33  81\n"
    assert (tmp_path / "new" / "times.csv").read_text().splitlines() == [
        "n,A,B", "16,17.000000,41.000000", "32,33.000000,81.000000"]


def test_perf_report_options(capsys, tmp_path):
    report = make_report()
    assert report(16, "a", 0.0)[0] == 16
    assert report.run(unit=2.0) is None
    assert "16  34   82\n" in capsys.readouterr().out
    rows = rows_of(report.run(diff_col=True, return_df=True, save_path=str(tmp_path), save_precision=1))
    assert rows[0][3] == 24.0 and capsys.readouterr().out == ""
    assert "16,17.0,41.0,24.0" in (tmp_path / "times.csv").read_text()


def test_perf_report_of_several_benchmarks():
    both = [tile.testing.Benchmark(["m", "n"], [(1, 2), 3], "provider", ["a"], ["A"], name, {})
            for name in ("first", "second")]
    frames = tile.testing.perf_report(both)(lambda m, n, provider: float(m * n)).run(return_df=True)
    assert [rows_of(frame) for frame in frames] == [[[1, 2, 2.0], [3, 3, 9.0]]] * 2


def test_perf_report_mistakes():
    with pytest.raises(ValueError, match="times: 1 line_vals, but 2 line_names"):
        tile.testing.Benchmark(["n"], [1], "p", ["a"], ["A", "B"], "times", {})
    wrong = tile.testing.Benchmark(["n", "m"], [(1, 2, 3)], "p", ["a"], ["A"], "times", {})
    with pytest.raises(ValueError, match="has not a value for each of n, m"):
        tile.testing.perf_report(wrong)(lambda **kwargs: 1.0).run()
    one = tile.testing.Benchmark(["n"], [1], "p", ["a"], ["A"], "times", {})
    with pytest.raises(ValueError, match="diff_col needs two lines"):
        tile.testing.perf_report(one)(lambda **kwargs: 1.0).run(diff_col=True)


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    make_report(x_log=True, styles=[("red", "-"), ("blue", "--")]).run(save_path=str(tmp_path))
    assert (tmp_path / "times.png").read_bytes().startswith(b"\x89PNG")


def test_no_plots_without_matplotlib(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    make_report().run(save_path=str(tmp_path))
    assert "times: no plot, for matplotlib is not installed" in capsys.readouterr().err
    assert (tmp_path / "times.csv").exists() and not (tmp_path / "times.png").exists()


def test_assert_close():
    close = tile.testing.assert_close
    close(np.ones(3), np.ones(3) + 0.009)
    close([1.0, float("nan")], np.array([1.0, np.nan], np.float16))
    close(np.float16([60000]), np.float16([-60000]), atol=2e5)
    close(1000.0, 1001.0, rtol=1e-2)
    for x, y in (([1.0], [1.02]), ([1.0], [np.nan]), ([1], [2]), ([1.0], [1.0, 1.0]), (1.0, [1.0])):
        with pytest.raises(AssertionError):
            close(x, y)
    with pytest.raises(AssertionError, match="the second row"):
        close([1.0], [2.0], err_msg="the second row")
    close(np.array([2**62 + 1]), np.array([2**62 + 1]), atol=0)
    with pytest.raises(AssertionError):
        close(np.array([2**62 + 1]), np.array([2**62]), atol=0)
