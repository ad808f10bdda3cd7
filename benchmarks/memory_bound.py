"""Vector add, softmax and layer norm against Triton and torch, on one GPU.

Each kernel's result is first compared with a float64 reference. Then all providers
are timed in turn, in equal windows (see gpu.compare), and the ratio of ours to the
best Triton configuration is printed.

    python benchmarks/memory_bound.py [--tile-translate build/bin/tile-translate]
"""

import argparse
import os

import torch
import triton
import triton.language as tl

import gpu


@triton.jit
def add_triton(x, y, out, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    tl.store(out + index, tl.load(x + index, mask) + tl.load(y + index, mask), mask)


@triton.jit
def softmax_triton(out, x, stride_out, stride_x, rows, cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        col = tl.arange(0, BLOCK)
        value = tl.load(x + row * stride_x + col, col < cols, other=-float("inf"))
        e = tl.exp(value - tl.max(value, 0))
        tl.store(out + row * stride_out + col, e / tl.sum(e, 0), col < cols)


@triton.jit
def layer_norm_triton(x, out, weight, bias, mean, rstd, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < cols
    a = tl.load(x + row * cols + col, mask, other=0.0).to(tl.float32)
    mu = tl.sum(a, 0) / cols
    d = tl.where(mask, a - mu, 0.0)
    r = tl.rsqrt(tl.sum(d * d, 0) / cols + eps)
    tl.store(mean + row, mu)
    tl.store(rstd + row, r)
    w = tl.load(weight + col, mask).to(tl.float32)
    b = tl.load(bias + col, mask).to(tl.float32)
    tl.store(out + row * cols + col, (d * r * w + b).to(tl.float16), mask)


def tile_configs(cols, vector):
    """(rows of a tile, warps, columns of a tile): the columns are the least multiple
    of what the warps of a row access at once that covers `cols`; a tile's extents
    need not be powers of two."""
    for rows, warps in ((1, 1), (2, 2), (4, 4), (8, 8), (1, 4), (2, 4), (1, 8), (2, 8), (1, 16)):
        access = vector * 32 * max(1, warps // rows)
        width = triton.cdiv(cols, access) * access
        # Elements of a thread: enough to pay for its addresses, not so many that
        # they leave no register.
        if vector <= width * rows // (32 * warps) <= 128:
            yield rows, warps, width


def verify(name, result, reference, rtol, atol):
    error = (result.double() - reference).abs()
    bound = atol + rtol * reference.abs()
    if not bool((error <= bound).all()):
        raise SystemExit(f"{name}: wrong result, worst error {error.max().item():.3g}")


def vector_add(translate, n=1 << 28):
    with open(os.path.join(gpu.ROOT, "examples", "vector_add.mlir")) as file:
        source = file.read()
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.full_like(x, float("nan"))
    providers = {"torch": lambda: torch.add(x, y, out=out)}
    for block in (1024, 2048):
        text = source.replace("1024", str(block))
        for warps in (4, 8):
            if block // (32 * warps) < 4:
                continue
            kernel = gpu.Kernel(text, "vector_add", translate, warps)
            call = kernel.bind((triton.cdiv(n, block),), x, y, out, n)
            out.fill_(float("nan"))
            call()
            verify("vector_add", out, x.double() + y.double(), 1e-6, 1e-6)
            providers[f"tile b{block} w{warps}"] = call
    for block in (1024, 2048, 4096):
        providers[f"triton b{block}"] = lambda b=block: add_triton[(triton.cdiv(n, b),)](
            x, y, out, n, BLOCK=b, num_warps=4 if b < 4096 else 8)
    return gpu.compare(f"vector add {n}", 3 * n * 4e-9, "GB/s", providers)


def softmax(translate, rows, cols):
    x = torch.randn(rows, cols, device="cuda")
    out = torch.empty_like(x)
    reference = torch.softmax(x.double(), -1)
    width = triton.next_power_of_2(cols)
    providers = {"torch": lambda: torch.softmax(x, -1)}
    for tile_rows, warps, columns in tile_configs(cols, 4):
        source = gpu.row_kernel("softmax.mlir", tile_rows, columns)
        kernel = gpu.Kernel(source, "softmax", translate, warps)
        call = kernel.bind((triton.cdiv(rows, tile_rows),), x, out, rows, cols)
        out.fill_(float("nan"))
        call()
        verify(f"softmax {rows}x{cols} r{tile_rows} w{warps}", out, reference, 1e-5, 1e-7)
        providers[f"tile r{tile_rows} w{warps}"] = call
    for warps in (4, 8, 16):
        for grid in (rows, 132 * 8):
            providers[f"triton w{warps} g{grid}"] = lambda w=warps, g=grid: softmax_triton[(min(g, rows),)](
                out, x, cols, cols, rows, cols, BLOCK=width, num_warps=w)
    return gpu.compare(f"softmax {rows}x{cols}", 2 * x.numel() * 4e-9, "GB/s", providers)


def layer_norm(translate, rows, cols):
    x = torch.randn(rows, cols, device="cuda", dtype=torch.float16)
    weight = torch.randn(cols, device="cuda", dtype=torch.float16)
    bias = torch.randn(cols, device="cuda", dtype=torch.float16)
    out = torch.empty_like(x)
    mean = torch.empty(rows, device="cuda")
    rstd = torch.empty(rows, device="cuda")
    reference = torch.nn.functional.layer_norm(x.double(), (cols,), weight.double(), bias.double(), 1e-5)
    width = triton.next_power_of_2(cols)
    providers = {"torch": lambda: torch.nn.functional.layer_norm(x, (cols,), weight, bias, 1e-5)}
    for tile_rows, warps, columns in tile_configs(cols, 8):
        source = gpu.row_kernel("layer_norm.mlir", tile_rows, columns)
        kernel = gpu.Kernel(source, "layer_norm", translate, warps)
        call = kernel.bind((triton.cdiv(rows, tile_rows),), x, weight, bias, out, mean, rstd, rows, cols, 1e-5)
        out.fill_(float("nan"))
        call()
        verify(f"layer_norm {rows}x{cols} r{tile_rows} w{warps}", out, reference, 2e-3, 2e-3)
        providers[f"tile r{tile_rows} w{warps}"] = call
    for warps in (4, 8, 16):
        providers[f"triton w{warps}"] = lambda w=warps: layer_norm_triton[(rows,)](
            x, out, weight, bias, mean, rstd, cols, 1e-5, BLOCK=width, num_warps=w)
    return gpu.compare(f"layer norm {rows}x{cols}", 2 * x.numel() * 2e-9, "GB/s", providers)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tile-translate", default=os.path.join(gpu.ROOT, "build", "bin", "tile-translate"))
    parser.add_argument("--quick", action="store_true", help="only the two figures that are tracked")
    translate = parser.parse_args().tile_translate
    quick = parser.parse_args().quick
    torch.manual_seed(0)
    table = [("vector add 2^28", vector_add(translate))]
    for rows, cols in ((4096, 4096),) if quick else ((4096, 1024), (4096, 4096), (4096, 12672), (32768, 2048)):
        table.append((f"softmax {rows}x{cols}", softmax(translate, rows, cols)))
    for rows, cols in () if quick else ((4096, 1024), (4096, 8192), (8192, 5120)):
        table.append((f"layer norm {rows}x{cols}", layer_norm(translate, rows, cols)))
    print(f"\n{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}; GB/s")
    print(f"{'workload':24s} {'tile':>8s} {'triton':>8s} {'torch':>8s} {'tile/triton':>12s}")
    for name, rates in table:
        ours, theirs = gpu.best(rates, "tile"), gpu.best(rates, "triton")
        print(f"{name:24s} {ours:8.0f} {theirs:8.0f} {rates['torch']:8.0f} {ours / theirs:12.3f}")


if __name__ == "__main__":
    main()
