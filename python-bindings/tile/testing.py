# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring and comparing."""

from __future__ import annotations

import csv
import os
import statistics
import subprocess
import sys
import time

from . import _C
from .runtime import emulator

# Written before each measured call, so that it finds no data in the L2 cache.
_FLUSH_BYTES = 256 * 1024 * 1024


def require_torch(what: str):
    """torch, or an ImportError that says what needs it."""
    try:
        import torch
    except ImportError:
        raise ImportError(f"{what} needs torch") from None
    return torch


def _quantile(times, q: float) -> float:
    if not 0 <= q <= 1:
        raise ValueError(f"a quantile must be between 0 and 1, got {q}")
    times = sorted(times)
    position = q * (len(times) - 1)
    low = int(position)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (position - low)


_MODES = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median, "all": list}


def _check_mode(return_mode):
    if return_mode not in _MODES:
        raise ValueError(f"return_mode must be one of {', '.join(_MODES)}, got {return_mode!r}")


def _summarize_statistics(times, quantiles, return_mode):
    _check_mode(return_mode)
    if quantiles is not None:
        quantiles = quantiles if hasattr(quantiles, "__iter__") else [quantiles]
        result = [_quantile(times, q) for q in quantiles]
        return result[0] if len(result) == 1 else result
    return _MODES[return_mode](times)


def nvsmi(attrs) -> list[int]:
    """What nvidia-smi reports of the first GPU, such as ["clocks.max.sm"]."""
    command = ["nvidia-smi", "-i", "0", "--query-gpu=" + ",".join(attrs),
               "--format=csv,noheader,nounits"]
    return [int(value) for value in subprocess.check_output(command, text=True).split(",")]


def _clear_gradients(tensors):
    for tensor in tensors or ():
        tensor.grad = None


def bench_host(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As `do_bench`, by the clock of the host. Waits for the GPU, if there is one, so that a
    launch is measured with its costs."""
    has_gpu = _C.cuda_device_count() > 0

    def once():
        _clear_gradients(grad_to_none)
        begin = time.perf_counter()
        fn()
        if has_gpu:
            _C.cuda_synchronize()
        return (time.perf_counter() - begin) * 1e3

    end = time.perf_counter() + warmup / 1e3
    if warmup > 0:
        once()
    while time.perf_counter() < end:
        once()
    times, end = [once()], time.perf_counter() + rep / 1e3
    while time.perf_counter() < end:
        times.append(once())
    return _summarize_statistics(times, quantiles, return_mode)


def _runs_in_emulator(fn) -> bool:
    """Whether `fn` launches kernels on host arrays; calls it."""
    before = emulator.num_launches()
    fn()
    return emulator.num_launches() > before


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The run time of `fn` in ms; `warmup` and `rep` are in ms too.

    On a GPU (with torch) the L2 cache is cleared before each call. Without torch, and if `fn`
    launches kernels on host arrays, the host's clock counts. `grad_to_none` are tensors whose
    gradients are dropped before each call. The result is `return_mode` of all times: "mean",
    "median", "min", "max" or "all"; or the `quantiles`, a number or a list of them.
    """
    _check_mode(return_mode)
    try:
        import torch
        on_gpu = torch.cuda.is_available()
    except ImportError:
        on_gpu = False
    if not on_gpu or _runs_in_emulator(fn):
        return bench_host(fn, warmup, rep, grad_to_none, quantiles, return_mode)
    torch.cuda.synchronize()
    cache = torch.empty(_FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def event():
        return torch.cuda.Event(enable_timing=True)

    begin, end = event(), event()
    begin.record()
    for _ in range(5):
        cache.zero_()
        fn()
    end.record()
    torch.cuda.synchronize()
    estimate = max(1e-3, begin.elapsed_time(end) / 5)
    for _ in range(max(1, int(warmup / estimate))):
        fn()
    pairs = [(event(), event()) for _ in range(max(1, int(rep / estimate)))]
    for begin, end in pairs:
        _clear_gradients(grad_to_none)
        cache.zero_()
        begin.record()
        fn()
        end.record()
    torch.cuda.synchronize()
    return _summarize_statistics([b.elapsed_time(e) for b, e in pairs], quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The run time of `fn` in ms without launch costs: calls in a CUDA graph. Needs torch, and
    a GPU; other arguments are as for `do_bench`."""
    _check_mode(return_mode)
    torch = require_torch("do_bench_cudagraph")
    if not torch.cuda.is_available():
        raise RuntimeError("do_bench_cudagraph needs a GPU")
    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(5):
            fn()
        end.record()
        torch.cuda.synchronize()
        count = max(1, int(rep / max(1e-3, begin.elapsed_time(end) / 5)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(count):
                _clear_gradients(grad_to_none)
                fn()
        times = []
        for _ in range(10):
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) / count)
    return _summarize_statistics(times, quantiles, return_mode)


def _to_numpy(value):
    import numpy
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    value = numpy.asarray(value)
    # Halves would overflow in differences; types of ml_dtypes are not NumPy's own.
    return value if value.dtype.kind in "iub" else value.astype("float64")


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Raises AssertionError unless both arrays (of NumPy or torch, or numbers) have one shape and
    agree within `atol` (default: 0.01) plus `rtol` (default: 0) of `y`; NaN equals NaN."""
    import numpy
    x, y = _to_numpy(x), _to_numpy(y)
    if x.shape != y.shape:
        raise AssertionError(f"{err_msg}\nshapes differ: {x.shape} and {y.shape}".lstrip())
    atol, rtol = 1e-2 if atol is None else atol, 0 if rtol is None else rtol
    if x.dtype.kind in "iub" and y.dtype.kind in "iub" and atol < 1 and not rtol:
        # NumPy would compare them as floats.
        numpy.testing.assert_array_equal(x, y, err_msg=err_msg)
    else:
        numpy.testing.assert_allclose(x, y, atol=atol, rtol=rtol, err_msg=err_msg)


class Benchmark:
    """A plot of `perf_report`.

    The arguments `x_names` take each of `x_vals` (a number for all of them, or a tuple), and
    there is a line for each value in `line_vals` of the argument `line_arg`, called as in
    `line_names`, with a (color, line style) of `styles`. `args` are the other arguments.
    """

    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="",
                 ylabel="", x_log=False, y_log=False, styles=None):
        if len(line_vals) != len(line_names):
            raise ValueError(f"{plot_name}: {len(line_vals)} line_vals, but {len(line_names)} line_names")
        self.x_names, self.x_vals = list(x_names), list(x_vals)
        self.line_arg, self.line_vals, self.line_names = line_arg, list(line_vals), list(line_names)
        self.plot_name, self.args = plot_name, args
        self.xlabel, self.ylabel, self.x_log, self.y_log, self.styles = xlabel, ylabel, x_log, y_log, styles

    def points(self):
        """The values of `x_names`, for each of `x_vals`."""
        for x in self.x_vals:
            values = list(x) if isinstance(x, (tuple, list)) else [x] * len(self.x_names)
            if len(values) != len(self.x_names):
                raise ValueError(f"{self.plot_name}: {x} has not a value for each of "
                                 f"{', '.join(self.x_names)}")
            yield values


class Mark:
    """A function with its benchmarks; `run` measures them."""

    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)

    def _measure(self, bench, kwargs):
        """A row for each x: its values, and for each line what the function has returned: a
        number, or a number with the least and the greatest one."""
        return [(xs, [self.fn(**dict(zip(bench.x_names, xs)), **{bench.line_arg: line}, **bench.args,
                              **kwargs) for line in bench.line_vals]) for xs in bench.points()]

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, diff_col=False,
            save_precision=6, **kwargs):
        """Measures all benchmarks, passing `kwargs` on to the function.

        Prints tables with `print_data`, or if nothing else is asked for; shows plots with
        `show_plots`; writes a table (CSV) and a plot of each below `save_path`. Plots need
        matplotlib. `diff_col` adds the difference of two lines. With `return_df` the result is a
        DataFrame for each benchmark, or a list of rows where pandas is not installed.
        """
        is_list = isinstance(self.benchmarks, (list, tuple))
        results = []
        for bench in self.benchmarks if is_list else [self.benchmarks]:
            measured = self._measure(bench, kwargs)
            header = [*bench.x_names, *bench.line_names]
            rows = [xs + [_middle(value) for value in values] for xs, values in measured]
            if diff_col:
                if len(bench.line_vals) != 2:
                    raise ValueError(f"{bench.plot_name}: diff_col needs two lines")
                header.append("Diff")
                rows = [row + [row[-1] - row[-2]] for row in rows]
            if print_data or not (save_path or show_plots or return_df):
                _print_table(bench.plot_name, header, rows)
            if save_path:
                _save_table(bench, header, rows, save_path, save_precision)
            if save_path or show_plots:
                _plot(bench, measured, save_path, show_plots)
            results.append(_frame(header, rows))
        return (results if is_list else results[0]) if return_df else None


def _middle(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def _frame(header, rows):
    """A DataFrame; where pandas is not installed, the rows."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows, columns=header)


def _print_table(name, header, rows):
    cells = [header] + [[f"{c:.6g}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(len(str(row[i])) for row in cells) for i in range(len(header))]
    print(f"{name}:")
    for row in cells:
        print("  " + "  ".join(str(c).rjust(w) for c, w in zip(row, widths)))


def _save_table(bench, header, rows, folder, precision):
    os.makedirs(folder, exist_ok=True)
    rows = [[f"{c:.{precision}f}" if isinstance(c, float) else c for c in row] for row in rows]
    with open(os.path.join(folder, f"{bench.plot_name}.csv"), "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _plot(bench, measured, folder, show):
    try:
        import matplotlib
        if not show:
            matplotlib.use("Agg")  # needs no display
        import matplotlib.pyplot as plt
    except ImportError:
        print(f"{bench.plot_name}: no plot, for matplotlib is not installed", file=sys.stderr)
        return
    figure, axes = plt.subplots()
    xs = [row[0][0] for row in measured]
    for i, name in enumerate(bench.line_names):
        values = [row[1][i] for row in measured]
        color, style = bench.styles[i] if bench.styles else (None, "-")
        line, = axes.plot(xs, [_middle(value) for value in values], label=name, color=color, ls=style)
        if all(isinstance(value, (tuple, list)) and len(value) == 3 for value in values):
            # In either order: of times the second quantile is the least, of rates the greatest.
            axes.fill_between(xs, [min(v[1:]) for v in values], [max(v[1:]) for v in values], alpha=0.15,
                              color=line.get_color())
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if folder:
        figure.savefig(os.path.join(folder, f"{bench.plot_name}.png"))
    if show:
        plt.show()
    plt.close(figure)


def perf_report(benchmarks):
    """Makes a function a set of benchmarks, of one `Benchmark` or a list: see `Mark.run`."""
    return lambda fn: Mark(fn, benchmarks)


# Operations that a multiprocessor does in a cycle: of tensor cores on fp16 and bf16, then of the
# other units on fp32 and on fp16 (as NVIDIA's white papers on the A100 and the H100 say).
_OPERATIONS = {80: (2048, 128, 512), 90: (4096, 256, 512)}


def _device_properties(device):
    from .runtime import driver
    active = driver.active
    return active.utils.get_device_properties(active.get_current_device() if device is None else device)


def get_dram_gbps(device=None) -> float:
    """The peak bandwidth of a GPU's memory in GB/s."""
    properties = _device_properties(device)
    # Two transfers in a cycle.
    return properties["mem_clock_rate"] * properties["mem_bus_width"] * 2 / 8e6


def _peak_tflops(kind: int, clock_rate, device):
    """The peak of one of `_OPERATIONS` at a clock rate in kHz."""
    from .runtime import driver
    capability = driver.active.get_current_target().arch
    if capability not in _OPERATIONS:
        raise RuntimeError(f"the peak of sm_{capability} is not known; it is of sm_80 and sm_90")
    multiprocessors = _device_properties(device)["multiprocessor_count"]
    return multiprocessors * clock_rate * _OPERATIONS[capability][kind] * 1e-9


def _bits(dtype) -> int:
    """The size of a dtype of torch or `tl`."""
    return dtype.itemsize * 8 if hasattr(dtype, "itemsize") else dtype.primitive_bitwidth


def get_max_tensorcore_tflops(dtype, clock_rate, device=None) -> float:
    """The peak of a GPU's tensor cores in TFLOPS for a dtype of torch or `tl` of 8, 16 or 32 bits
    (tf32), without sparsity, at a clock rate in kHz."""
    if _bits(dtype) not in (8, 16, 32):
        raise RuntimeError(f"tensor cores have no peak for {dtype}")
    return _peak_tflops(0, clock_rate, device) * 16 / _bits(dtype)


def get_max_simd_tflops(dtype, clock_rate, device=None) -> float:
    """The peak of a GPU without tensor cores in TFLOPS for fp32 or a type of 16 bits, at a clock
    rate in kHz."""
    if _bits(dtype) not in (16, 32):
        raise RuntimeError(f"the peak for {dtype} is not known")
    return _peak_tflops(1 if _bits(dtype) == 32 else 2, clock_rate, device)
