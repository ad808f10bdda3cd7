# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring and comparing."""

from __future__ import annotations

import statistics
import time

# Written before each measured call, so that it finds no data in the L2 cache.
_FLUSH_BYTES = 256 * 1024 * 1024


def uses_gpu(values) -> bool:
    """Whether one of the values is an array on a GPU."""
    from .runtime.arguments import CUDA, as_array
    for value in values:
        if isinstance(value, (int, float, str, bool, type(None))) or callable(value):
            continue
        array = as_array(value)
        if array is not None and array.device == CUDA:
            return True
    return False


def _quantile(times, q: float) -> float:
    times = sorted(times)
    position = q * (len(times) - 1)
    low = int(position)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (position - low)


def _summarise(times, quantiles, return_mode):
    if quantiles is not None:
        result = [_quantile(times, q) for q in quantiles]
        return result[0] if len(result) == 1 else result
    if return_mode == "all":
        return times
    functions = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}
    if return_mode not in functions:
        raise ValueError(f"return_mode must be one of {', '.join(functions)} or all, got {return_mode!r}")
    return functions[return_mode](times)


def _bench_host(fn, warmup, rep, quantiles, return_mode):
    """Times on the host, for kernels in the emulator."""
    end = time.perf_counter() + warmup / 1e3
    fn()
    while time.perf_counter() < end:
        fn()
    times, end = [], time.perf_counter() + rep / 1e3
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        fn()
        times.append((time.perf_counter() - begin) * 1e3)
    return _summarise(times, quantiles, return_mode)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The run time of `fn` in ms; `warmup` and `rep` are in ms too. On a GPU (with torch) the
    L2 cache is cleared before each call; otherwise the host's clock counts."""
    try:
        import torch
        on_gpu = torch.cuda.is_available()
    except ImportError:
        on_gpu = False
    if not on_gpu:
        return _bench_host(fn, warmup, rep, quantiles, return_mode)
    fn()
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
        for tensor in grad_to_none or ():
            tensor.grad = None
        cache.zero_()
        begin.record()
        fn()
        end.record()
    torch.cuda.synchronize()
    return _summarise([b.elapsed_time(e) for b, e in pairs], quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The run time of `fn` in ms without launch costs: calls in a CUDA graph."""
    import torch
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
                for tensor in grad_to_none or ():
                    tensor.grad = None
                fn()
        times = []
        for _ in range(10):
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) / count)
    return _summarise(times, quantiles, return_mode)


def _to_numpy(value):
    import numpy
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if value.is_floating_point() else value).numpy()
    return numpy.asarray(value)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Raises AssertionError unless both arrays agree; NaN equals NaN."""
    import numpy
    numpy.testing.assert_allclose(_to_numpy(x).astype("float64"), _to_numpy(y).astype("float64"),
                                  atol=1e-2 if atol is None else atol, rtol=0 if rtol is None else rtol,
                                  err_msg=err_msg)


class Benchmark:
    """A plot of `perf_report`: `x_names` take `x_vals`, and there is a line for each of
    `line_vals`."""

    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="",
                 ylabel="", x_log=False, y_log=False, styles=None):
        self.x_names, self.x_vals = x_names, x_vals
        self.line_arg, self.line_vals, self.line_names = line_arg, line_vals, line_names
        self.plot_name, self.args = plot_name, args
        self.xlabel, self.ylabel, self.x_log, self.y_log, self.styles = xlabel, ylabel, x_log, y_log, styles


class Mark:
    """A function with its benchmarks; `run` measures them."""

    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks

    def rows(self, bench, **kwargs):
        """One row for each x: the x values, then a number for each line."""
        rows = []
        for x in bench.x_vals:
            xs = list(x) if isinstance(x, (tuple, list)) else [x] * len(bench.x_names)
            row = list(xs)
            for line in bench.line_vals:
                value = self.fn(**dict(zip(bench.x_names, xs)), **{bench.line_arg: line}, **bench.args,
                                **kwargs)
                row.append(value[0] if isinstance(value, (tuple, list)) else value)
            rows.append(row)
        return rows

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Measures; prints a table, and saves it and a plot (matplotlib) below `save_path`."""
        is_list = isinstance(self.benchmarks, (list, tuple))
        results = []
        for bench in self.benchmarks if is_list else [self.benchmarks]:
            rows = self.rows(bench, **kwargs)
            if print_data or not save_path:
                _print_table(bench, rows)
            if save_path:
                _save(bench, rows, save_path, show_plots)
            results.append(rows)
        return (results if is_list else results[0]) if return_df else None


def _header(bench):
    return [*bench.x_names, *bench.line_names]


def _print_table(bench, rows):
    cells = [_header(bench)] + [[f"{c:.6g}" if isinstance(c, float) else str(c) for c in row]
                                for row in rows]
    widths = [max(len(str(row[i])) for row in cells) for i in range(len(cells[0]))]
    print(f"{bench.plot_name}:")
    for row in cells:
        print("  " + "  ".join(str(c).rjust(w) for c, w in zip(row, widths)))


def _save(bench, rows, folder, show):
    import csv
    import os
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{bench.plot_name}.csv"), "w", newline="") as file:
        csv.writer(file).writerows([_header(bench), *rows])
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    figure, axes = plt.subplots()
    first = len(bench.x_names)
    for i, name in enumerate(bench.line_names):
        style = bench.styles[i] if bench.styles else (None, "-")
        axes.plot([row[0] for row in rows], [row[first + i] for row in rows], label=name,
                  color=style[0], ls=style[1])
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    figure.savefig(os.path.join(folder, f"{bench.plot_name}.png"))
    if show:
        plt.show()
    plt.close(figure)


def perf_report(benchmarks):
    """Makes a function a set of benchmarks: `function.run(print_data=True)`."""
    return lambda fn: Mark(fn, benchmarks)
