#!/usr/bin/env python3
"""Memory-bound kernels in Python, one source compiled by `tile` and by Triton.

usage: python_kernels.py [--quick] [--rounds 5]

Needs a GPU, torch and Triton. Both compilers get the same configurations (rows of a
program, warps), each result is compared with a float64 reference, and then all run in
turn, in equal windows. Two ways of timing, since a call on 4096 x 1024 lasts hardly longer
than a launch:

- "cold": one call between two events, with the L2 cache overwritten before it (do_bench).
  The mean without the tenth of the calls at either end, since events resolve about half a
  microsecond;
- "stream": a CUDA graph of calls on buffers that together are larger than the L2 cache,
  as in a network that runs kernel after kernel.

"+pdl", for short workloads, is programmatic dependent launch: `tile` with launch_pdl=True and the same source;
Triton with launch_pdl=True and, since its compiler does not insert them, griddepcontrol
instructions by hand at the same place.

The last table has the best configuration of each provider, and Triton's with one row a
program and its default of four warps.
"""

import argparse
import importlib.util
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
if importlib.util.find_spec("tile") is None:
    build = pathlib.Path(os.environ.get("TILE_BUILD_DIR", ROOT / "build"))
    sys.path[:0] = [str(ROOT / "python-bindings"), str(build / "python")]

SOURCE = '''
import {module} as compiler
import {module}.language as tl


@compiler.jit
def vector_add(out, x, y, n, BLOCK: tl.constexpr, WAIT: tl.constexpr = False):
    if WAIT:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@compiler.jit
def softmax(out, x, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr,
            WAIT: tl.constexpr = False):
    if WAIT:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    offset = row[:, None] * columns + column[None, :]
    v = tl.load(x + offset, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=1)[:, None])
    tl.store(out + offset, e / tl.sum(e, axis=1)[:, None], mask=mask)


@compiler.jit
def layer_norm(out, x, weight, bias, mean, rstd, rows, columns, eps, ROWS: tl.constexpr,
               BLOCK: tl.constexpr, WAIT: tl.constexpr = False):
    if WAIT:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    mask = (row < rows)[:, None] & inside[None, :]
    offset = row[:, None] * columns + column[None, :]
    v = tl.load(x + offset, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
    mu = tl.sum(v, axis=1) / columns
    d = tl.where(mask, v - mu[:, None], 0.0)
    r = tl.rsqrt(tl.sum(d * d, axis=1) / columns + eps)
    y = d * r[:, None] * w[None, :] + b[None, :]
    tl.store(out + offset, y.to(tl.float16), mask=mask)
    tl.store(mean + row, mu, mask=row < rows)
    tl.store(rstd + row, r, mask=row < rows)
'''

# Bytes of a workload whose launch is a noticeable part of its time.
SHORT_BYTES = 100 << 20
# Bytes that the buffers of a graph hold together: several times the L2 cache.
ROTATION_BYTES = 600 << 20


def load(module, folder):
    """The kernels of `module`, "tile" or "triton"."""
    path = pathlib.Path(folder) / f"kernels_{module}.py"
    path.write_text(SOURCE.format(module=module))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    return kernels


def power_of_two(n):
    return 1 << (n - 1).bit_length()


def row_configs(module, columns, vector):
    """(rows of a program, warps, width of the tile). `tile` takes any multiple of what the
    warps of a row access at once as the width, Triton powers of two."""
    widest = power_of_two(columns)
    for rows, warps in ((1, 1), (1, 2), (1, 4), (1, 8), (1, 16), (2, 2), (2, 4), (4, 4), (8, 8)):
        access = vector * 32 * max(1, warps // rows)
        width = min(widest, -(-columns // access) * access) if module.startswith("tile") else widest
        if access <= width and vector <= width * rows // (32 * warps) <= 128:
            yield rows, warps, width


class Workload:
    """Sets of buffers, the float64 reference of one, and calls by configuration.

    `reference(buffers)` is the result's buffer, what must be in it, and the relative and
    absolute tolerance; `configs(module, kernels, options)` yields whether a configuration is the default
    one, its name, and a function of buffers that launches it.
    """

    def __init__(self, name, make, one_bytes, reference, configs):
        self.name, self.bytes, self.reference, self.configs = name, one_bytes, reference, configs
        self.buffers = [make() for _ in range(max(1, min(64, ROTATION_BYTES // one_bytes)))]


def vector_add(torch, n):
    def configs(module, kernels, options):
        for block, warps in ((1024, 4), (1024, 8), (2048, 4), (2048, 8), (4096, 8)):
            yield (1 if (block, warps) == (1024, 4) else 0, f"b{block} w{warps}",
                   lambda b, block=block, warps=warps: kernels.vector_add[(-(-n // block), )](
                       b[0], b[1], b[2], n, BLOCK=block, num_warps=warps, **options))

    return Workload(f"vector add fp32 {n}", lambda: tuple(torch.randn(n, device="cuda") for _ in range(3)),
                    12 * n, lambda b: (b[0], b[1].double() + b[2].double(), 1e-6, 1e-6), configs)


def softmax(torch, rows, columns):
    def configs(module, kernels, options):
        for r, warps, width in row_configs(module, columns, 4):
            yield (r == 1 and warps == 4, f"r{r} w{warps} c{width}",
                   lambda b, r=r, warps=warps, width=width: kernels.softmax[(-(-rows // r), )](
                       b[0], b[1], rows, columns, ROWS=r, BLOCK=width, num_warps=warps, **options))

    return Workload(f"softmax fp32 {rows}x{columns}",
                    lambda: tuple(torch.randn(rows, columns, device="cuda") for _ in range(2)),
                    8 * rows * columns, lambda b: (b[0], torch.softmax(b[1].double(), -1), 1e-5, 1e-7),
                    configs)


def layer_norm(torch, rows, columns):
    half = {"device": "cuda", "dtype": torch.float16}
    weight, bias = torch.randn(columns, **half), torch.randn(columns, **half)
    mean, rstd = torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")

    def reference(b):
        return b[0], torch.nn.functional.layer_norm(b[1].double(), (columns, ), weight.double(),
                                                    bias.double(), 1e-5), 2e-3, 2e-3

    def configs(module, kernels, options):
        for r, warps, width in row_configs(module, columns, 8):
            yield (r == 1 and warps == 4, f"r{r} w{warps} c{width}",
                   lambda b, r=r, warps=warps, width=width: kernels.layer_norm[(-(-rows // r), )](
                       b[0], b[1], weight, bias, mean, rstd, rows, columns, 1e-5, ROWS=r,
                       BLOCK=width, num_warps=warps, **options))

    return Workload(f"layer norm fp16 {rows}x{columns}",
                    lambda: tuple(torch.randn(rows, columns, **half) for _ in range(2)),
                    4 * rows * columns, reference, configs)


def verify(work, name, call):
    buffers = work.buffers[0]
    result, reference, rtol, atol = work.reference(buffers)
    result.fill_(float("nan"))
    call(buffers)
    error = (result.double() - reference).abs()
    if not bool((error <= atol + rtol * reference.abs()).all()):
        raise SystemExit(f"{work.name}, {name}: wrong result, worst error {error.max().item():.3g}")


def graph_of(torch, work, call):
    """A graph that runs the kernel once on each buffer."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call(work.buffers[0])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for buffers in work.buffers:
                call(buffers)
    return graph


def replay_time(torch, graph, calls, window_ms=40):
    """Milliseconds of one call in the graph."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    count = max(1, int(window_ms / max(begin.elapsed_time(end), 1e-3)))
    begin.record()
    for _ in range(count):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / count / calls


def measure(torch, work, modules, rounds):
    """{"cold"|"stream": {(module, default, configuration): GB/s}}"""
    from triton.testing import do_bench
    calls = {}
    for module, (kernels, options) in modules.items():
        if options and work.bytes > SHORT_BYTES:
            continue
        for default, name, call in work.configs(module, kernels, options):
            verify(work, f"{module} {name}", call)
            calls[module, bool(default), name] = call
    graphs = {key: graph_of(torch, work, call) for key, call in calls.items()}
    times = {"cold": {key: [] for key in calls}, "stream": {key: [] for key in calls}}
    for _ in range(rounds):
        for key, call in calls.items():
            cold = sorted(do_bench(lambda: call(work.buffers[0]), warmup=10, rep=40, return_mode="all"))
            tenth = len(cold) // 10
            times["cold"][key].append(statistics.mean(cold[tenth:len(cold) - tenth]))
            times["stream"][key].append(replay_time(torch, graphs[key], len(work.buffers)))
    return {way: {key: work.bytes / statistics.median(t) * 1e-6 for key, t in by_key.items()}
            for way, by_key in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="only the rows of 1024")
    arguments = parser.parse_args()
    import torch
    import triton

    import tile
    torch.manual_seed(0)
    workloads = [(softmax, 4096, 1024), (layer_norm, 4096, 1024)]
    if not arguments.quick:
        workloads += [(vector_add, 1 << 28), (softmax, 4096, 4096), (softmax, 4096, 12672),
                      (softmax, 32768, 2048), (layer_norm, 4096, 8192), (layer_norm, 8192, 5120)]
    table = []
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = (load(module, folder) for module in ("tile", "triton"))
        modules = {"tile": (ours, {}), "tile+pdl": (ours, {"launch_pdl": True}), "triton": (theirs, {}),
                   "triton+pdl": (theirs, {"launch_pdl": True, "WAIT": True})}
        for make, *sizes in workloads:
            work = make(torch, *sizes)
            rates = measure(torch, work, modules, arguments.rounds)
            for way, by_key in rates.items():
                for (module, default, name), rate in by_key.items():
                    print(f"{work.name:<28} {way:<7} {module:<10} {name:<16} {rate:8.0f} GB/s", flush=True)
                best = {module: max((r for (m, _, _), r in by_key.items() if m == module), default=0)
                        for module in modules}
                best["default"] = max((r for (m, d, _), r in by_key.items() if m == "triton" and d),
                                      default=0)
                table.append((work.name, way, best))
            del work
            torch.cuda.empty_cache()
    print(f"\n{torch.cuda.get_device_name()}, torch {torch.__version__}, Triton {triton.__version__}, "
          f"tile {tile.__version__}; GB/s")
    columns = list(table[0][2])
    ratios = [("tile", "triton"), ("tile", "default"), ("tile+pdl", "triton"), ("tile+pdl", "triton+pdl")]
    print(f"{'workload':<28} {'timing':<7}", *(f"{column:>10}" for column in columns),
          *(f"{f'{a}/{b}':>20}" for a, b in ratios))
    for name, way, best in table:
        print(f"{name:<28} {way:<7}", *(f"{best[column]:10.0f}" for column in columns),
              *(f"{best[a] / best[b]:20.3f}" if best[a] and best[b] else f"{'-':>20}" for a, b in ratios))


if __name__ == "__main__":
    main()
