#!/usr/bin/env python3
"""Reduces by combinations that do not commute, in random layouts whose axis lies in order.

    python reduce_orders.py [--seed=N] [--count=N] [--chip=sm_80] [--only=NAME] [--keep=FOLDER]
                            [--tile-opt=PATH] [--tile-run=PATH]

The bits of a thread's registers, of the lanes and of the warps go along the reduced axis
in this order; which bits, and what the others do (rows, copies), is random. Elements are
then combined in the order of the axis, so the result must be exactly that of a loop over
it. Every thread stores the result of each element that it holds, so that one that differs
between the holders of a row is seen. Runs in the emulator with its checks for races and
for reads of uninitialised memory. Prints the seed and the failures; exits non-zero if
there is one.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

PASSES = ("tile-gpu-allocate-shared-memory,tile-gpu-insert-barriers,tile-gpu-distribute,"
          "tile-nv-set-launch-bounds,cse,convert-scf-to-cf,"
          "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1},reconcile-unrealized-casts")
MAX_REGISTER_BITS = 5
DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}


def integers(element, low, high):
    return lambda rng, count: rng.integers(low, high, count).astype(DTYPES[element])


def numbers_and_nans(element):
    def make(rng, count):
        values = rng.standard_normal(count).astype(DTYPES[element])
        return np.where(rng.random(count) < 0.97, np.nan, values).astype(DTYPES[element])
    return make


def affine(l, r):
    return l[0] * r[0], l[1] * r[0] + r[1]


def digits(l, r):
    return l[0] * r[1] + r[0], l[1] * r[1]


def product(l, r):
    return (l[0] * r[0] + l[1] * r[2], l[0] * r[1] + l[1] * r[3],
            l[2] * r[0] + l[3] * r[2], l[2] * r[1] + l[3] * r[3])


def first_number(l, r):
    return (np.where(np.isnan(l[0]), r[0], l[0]), )


def first_maximum(l, r):
    keep = l[0] >= r[0]
    return np.where(keep, l[0], r[0]), np.where(keep, l[1], r[1]), np.where(keep, l[2], r[2])


def sums(l, r):
    return l[0] + r[0], l[1] + r[1]


def matrix_body():
    lines, names = [], []
    for i, (a, b, c, d) in enumerate(((0, 0, 1, 2), (0, 1, 1, 3), (2, 0, 3, 2), (2, 1, 3, 3))):
        lines += [f"%m{i} = arith.muli %l{a}, %r{b} : i32", f"%n{i} = arith.muli %l{c}, %r{d} : i32",
                  f"%s{i} = arith.addi %m{i}, %n{i} : i32"]
        names.append(f"%s{i}")
    return lines, names


# Name: element types, inputs, the lines of the region and what it yields, the same on arrays.
COMBINATIONS = {
    "affine": (["i32"] * 2, [integers("i32", -9, 10)] * 2,
               (["%a = arith.muli %l0, %r0 : i32", "%b = arith.muli %l1, %r0 : i32",
                 "%c = arith.addi %b, %r1 : i32"], ["%a", "%c"]), affine),
    "digits": (["i64"] * 2, [integers("i64", 0, 10), lambda rng, count: np.full(count, 10, np.int64)],
               (["%a = arith.muli %l0, %r1 : i64", "%b = arith.addi %a, %r0 : i64",
                 "%c = arith.muli %l1, %r1 : i64"], ["%b", "%c"]), digits),
    "matrices": (["i32"] * 4, [integers("i32", -3, 4)] * 4, matrix_body(), product),
    "first": (["i16"], [integers("i16", -99, 99)], ([], ["%l0"]), lambda l, r: (l[0], )),
    "last": (["f64"], [numbers_and_nans("f64")], ([], ["%r0"]), lambda l, r: (r[0], )),
    "first number": (["f32"], [numbers_and_nans("f32")],
                     (["%n = arith.cmpf uno, %l0, %l0 : f32", "%s = arith.select %n, %r0, %l0 : f32"], ["%s"]),
                     first_number),
    "first maximum": (["i8", "i64", "f32"],
                      [integers("i8", -4, 5), integers("i64", -2**40, 2**40), numbers_and_nans("f32")],
                      (["%k = arith.cmpi sge, %l0, %r0 : i8", "%a = arith.select %k, %l0, %r0 : i8",
                        "%b = arith.select %k, %l1, %r1 : i64", "%c = arith.select %k, %l2, %r2 : f32"],
                       ["%a", "%b", "%c"]), first_maximum),
    # Commutes, and is known to: no lane needs what another has.
    "sums": (["i32", "i16"], [integers("i32", -2**31, 2**31), integers("i16", -99, 99)],
             (["%a = arith.addi %r0, %l0 : i32", "%b = arith.addi %l1, %r1 : i16"], ["%a", "%b"]), sums),
}


def fold(function, columns, axis):
    """Combines the elements along an axis one after the other."""
    columns = [np.moveaxis(c, axis, 0) for c in columns]
    total = tuple(c[0] for c in columns)
    with np.errstate(over="ignore"):
        for i in range(1, len(columns[0])):
            total = function(total, tuple(c[i] for c in columns))
    return [np.asarray(t, c.dtype) for t, c in zip(total, columns)]


class Tile:
    """A random layout of a tile whose extents are powers of two."""

    def __init__(self, rng):
        self.pick(rng)
        while len(self.bases["register"]) > MAX_REGISTER_BITS:
            self.pick(rng)

    def pick(self, rng):
        self.warps = rng.choice([0, 1, 2, 3, 3, 4, 4])
        self.axis_bits = rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9])
        self.row_bits = rng.choice([0, 0, 1, 2, 3, 5])
        self.is_vector = self.row_bits == 0 and rng.random() < 0.7
        self.axis = 0 if self.is_vector else rng.randrange(2)
        left = self.axis_bits
        on_warps = rng.choice([0, *[min(self.warps, left)] * 3, rng.randint(0, min(self.warps, left))])
        on_lanes = rng.choice([min(5, left - on_warps), rng.randint(0, min(5, left - on_warps))])
        in_thread = left - on_warps - on_lanes
        kinds = {"register": ["a"] * in_thread, "lane": ["a"] * on_lanes + ["-"] * (5 - on_lanes),
                 "warp": ["a"] * on_warps + ["-"] * (self.warps - on_warps)}
        rows = self.row_bits
        for name in ("lane", "warp"):
            rng.shuffle(kinds[name])
            for i, kind in enumerate(kinds[name]):
                if kind == "-" and rows and rng.random() < 0.7:
                    kinds[name][i], rows = "r", rows - 1
        kinds["register"] += ["r"] * rows
        rng.shuffle(kinds["register"])
        # Coordinates (row, position along the axis), each from its lowest bit.
        bits, self.bases = {"a": 0, "r": 0}, {}
        for name, list_ in kinds.items():
            self.bases[name] = []
            for kind in list_:
                self.bases[name].append({"a": (0, 1 << bits["a"]), "r": (1 << bits["r"], 0), "-": (0, 0)}[kind])
                if kind != "-":
                    bits[kind] += 1
        self.rows, self.length = 1 << self.row_bits, 1 << self.axis_bits
        self.shape = ((self.length, ) if self.is_vector else
                      (self.length, self.rows) if self.axis == 0 else (self.rows, self.length))

    def layout(self, coordinates, keep_zero_registers=True):
        """The layout with a function of (row, position) as bases."""
        def text(name):
            bases = [coordinates(*b) for b in self.bases[name]]
            if name == "register" and not keep_zero_registers:
                bases = [b for b in bases if any(b)]
            return ", ".join(str(list(b)) for b in bases)
        return "#tile_gpu.layout<{" + ", ".join(f"{n} = [{text(n)}]" for n in ("register", "lane", "warp")) + "}>"

    def ordered(self, row, at):
        return (at, ) if self.is_vector else (at, row) if self.axis == 0 else (row, at)

    def flat(self, row, at):
        return (at * self.rows + row if self.axis == 0 else row * self.length + at, )

    def expanded(self, row, at):
        return self.ordered(row, 0)


def tensor(shape, element, layout):
    return f"tensor<{'x'.join(map(str, shape))}x{element}, {layout}>"


def kernel(tile, combination, chip):
    elements, _, (body, yielded), _ = combination
    count = tile.rows * tile.length
    layouts = {"flat": tile.layout(tile.flat), "tile": tile.layout(tile.ordered),
               "row": tile.layout(lambda row, at: (row, ), False), "rows": tile.layout(tile.expanded, False)}
    parameters = [f"%{side}{i}: !tile.ptr<{e}>" for side in "xy" for i, e in enumerate(elements)]
    lines = [f"#{name} = {text}" for name, text in layouts.items()]
    lines += [f'gpu.module @m [#nvvm.target<chip = "{chip}">] {{',
              f"gpu.func @k({', '.join(parameters)}) kernel attributes "
              f"{{known_block_size = array<i32: {32 << tile.warps}, 1, 1>}} {{",
              f"%i = tile.arange 0, {count} : {tensor([count], 'i32', '#flat')}"]
    for i, e in enumerate(elements):
        pointer, wide = tensor([count], f"!tile.ptr<{e}>", "#flat"), tensor([count], e, "#flat")
        for side in "xy":
            lines += [f"%{side}s{i} = tile.splat %{side}{i} : {pointer}",
                      f"%{side}p{i} = tile.addptr %{side}s{i}, %i : {pointer}, {tensor([count], 'i32', '#flat')}"]
        lines += [f"%f{i} = tile.load %xp{i} : {pointer}",
                  f"%t{i} = tile.reshape %f{i} : {wide} -> {tensor(tile.shape, e, '#tile')}"]
    sources = [tensor(tile.shape, e, "#tile") for e in elements]
    results = [e if tile.is_vector else tensor([tile.rows], e, "#row") for e in elements]
    arguments = [f"%{side}{i}: {e}" for side in "lr" for i, e in enumerate(elements)]
    operands = ", ".join(f"%t{i}" for i in range(len(elements)))
    lines += [f"%z:{len(elements)} = tile.reduce({operands}) axis {tile.axis} : "
              f"({', '.join(sources)}) -> ({', '.join(results)}) {{",
              f"^bb0({', '.join(arguments)}):", *body,
              f"tile.yield {', '.join(yielded)} : {', '.join(elements)}", "}"]
    for i, e in enumerate(elements):
        pointer, wide = tensor([count], f"!tile.ptr<{e}>", "#flat"), tensor([count], e, "#flat")
        if tile.is_vector:
            lines.append(f"%o{i} = tile.splat %z#{i} : {wide}")
        else:
            shape = tuple(1 if d == tile.axis else n for d, n in enumerate(tile.shape))
            lines += [f"%e{i} = tile.expand_dims %z#{i} {tile.axis} : {results[i]} -> {tensor(shape, e, '#rows')}",
                      f"%b{i} = tile.broadcast %e{i} : {tensor(shape, e, '#rows')} -> {sources[i]}",
                      f"%o{i} = tile.reshape %b{i} : {sources[i]} -> {wide}"]
        lines.append(f"tile.store %yp{i}, %o{i} : {pointer}")
    return "\n".join([*lines, "gpu.return", "}", "}", ""])


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        return f"{os.path.basename(command[0])} failed ({done.returncode}): {(done.stdout + done.stderr)[:1500]}"
    return None


def check(seed, options, folder):
    """What is wrong with kernel number `seed`, or None, and what kind it is."""
    rng = random.Random(seed)
    tile = Tile(rng)
    name = options.only or rng.choice([*COMBINATIONS, *["matrices"] * 4])
    elements, inputs, _, function = COMBINATIONS[name]
    source, compiled = os.path.join(folder, "kernel.mlir"), os.path.join(folder, "compiled.mlir")
    with open(source, "w") as file:
        file.write(kernel(tile, COMBINATIONS[name], options.chip))
    numbers = np.random.default_rng(seed)
    columns = [make(numbers, tile.rows * tile.length).reshape(tile.shape) for make in inputs]
    arguments, outputs = [], []
    for i, column in enumerate(columns):
        np.save(os.path.join(folder, f"x{i}.npy"), column.ravel())
        arguments.append(f"--arg={os.path.join(folder, f'x{i}.npy')}")
    for i, column in enumerate(columns):
        path = os.path.join(folder, f"y{i}.npy")
        np.save(path, np.zeros(column.size, column.dtype))
        arguments.append(f"--arg={path}")
        outputs.append(f"--out={len(columns) + i}:{path}")
    title = f"{name}, {tile.shape} along {tile.axis}, {1 << tile.warps} warps"
    problem = call([options.tile_opt, source, "-o", compiled,
                    f"--pass-pipeline=builtin.module(gpu.module({PASSES}))"])
    problem = problem or call([options.tile_run, compiled, "--kernel=k", "--grid=1", "--check=race,uninit",
                               "--threads=1", *arguments, *outputs])
    if problem:
        return title, problem
    for i, want in enumerate(fold(function, columns, tile.axis)):
        got = np.load(os.path.join(folder, f"y{i}.npy")).reshape(tile.shape)
        want = np.broadcast_to(want if tile.is_vector else np.expand_dims(want, tile.axis), tile.shape)
        bad = got.view(f"i{got.itemsize}") != want.copy().view(f"i{got.itemsize}")
        if bad.any():
            at = tuple(int(n) for n in np.argwhere(bad)[0])
            return title, f"result {i}: {bad.sum()} of {bad.size} wrong, first at {at}: {got[at]} instead of {want[at]}"
    return title, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="of the first kernel")
    parser.add_argument("--count", type=int, default=100, help="number of kernels (100)")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--only", default="", choices=["", *COMBINATIONS], help="combine in this way only")
    parser.add_argument("--keep", default="", help="work in this folder, and leave the last kernel in it")
    parser.add_argument("--tile-opt", default="tile-opt")
    parser.add_argument("--tile-run", default="tile-run")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(2**31)
    print(f"seed {first}, {options.count} kernels", flush=True)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + options.count):
            title, problem = check(seed, options, options.keep or folder)
            if problem:
                print(f"seed {seed}, {title}: {problem}", flush=True)
            failures += problem is not None
    print(f"{failures} of {options.count} kernels failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
