#!/usr/bin/env python3
"""Compiles random kernels in several ways, runs them and compares them with NumPy.

    python layout_fuzz.py [--seed=N] [--count=N] [--warps=1,2,4,8] [--jobs=N]
                          [--chip=sm_80] [--keep=FOLDER] [--tile-opt=PATH] [--tile-run=PATH]

A kernel is a random program on tiles of integers: element-wise arithmetic, shape ops,
reductions, scans, gathers, histograms, atomics, loops and branches. Integers wrap around
and every program is free of undefined values, so that NumPy's result is the only right
one. Each kernel is compiled with the layouts that the conversion to tile_gpu picks, with
these after tile-gpu-coalesce and tile-gpu-optimize-reductions, and by the product
pipeline. The results run in the emulator, with its checks for races and for reads of
uninitialised memory.

Kernel number i has the seed N + i, which also picks its number of warps: `--seed=N+i
--count=1` repeats one that failed, and `--keep` keeps its files. Prints the seed, a line
for each failure and a summary; exits non-zero if a kernel fails.
"""

import argparse
import concurrent.futures
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np

LOWER = ("tile-gpu-allocate-shared-memory,tile-gpu-insert-barriers,tile-gpu-distribute,"
         "tile-nv-set-launch-bounds,cse,convert-scf-to-cf,"
         "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1},reconcile-unrealized-casts")
# The passes of each way to compile; None is the product pipeline, which tile-run runs.
PIPELINES = {
    "default": f"convert-tile-to-tile-gpu{{num-warps=%d}},{LOWER}",
    "coalesced": "convert-tile-to-tile-gpu{num-warps=%d},tile-gpu-coalesce,"
                 f"tile-gpu-optimize-reductions,{LOWER}",
    "product": None,
}

DTYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
ELEMENTS = ("i8", "i16", "i32", "i64")
BINARY = {"addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and,
          "ori": np.bitwise_or, "xori": np.bitwise_xor, "minsi": np.minimum, "maxsi": np.maximum}
COMBINE = ("addi", "muli", "xori", "minsi", "maxsi")
COMPARE = {"eq": np.equal, "ne": np.not_equal, "slt": np.less, "sge": np.greater_equal}

INPUT_SIZE = 4096   # elements of each input buffer
MAX_LOADED = 2048   # elements of the largest tile that is loaded
MAX_ELEMENTS = 4096  # elements of the largest tile
MAX_DEPTH = 2       # nested loops and branches
GRID = 2            # blocks


def type_of(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape else element


class Value:
    """An SSA value: a tile, or a scalar if `shape` is empty."""

    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, tuple(shape), element

    def __str__(self):
        return self.name

    @property
    def type(self):
        return type_of(self.shape, self.element)

    @property
    def size(self):
        return math.prod(self.shape)


class Machine:
    """What a block of the reference needs: values, buffers, and where its output is."""

    def __init__(self, values, buffers, offsets):
        self.values, self.buffers, self.offsets = dict(values), buffers, offsets

    def run(self, block):
        for step in block:
            step(self)


def scan_affine(a, b, axis):
    """Scans with (a, b) . (c, d) = (a * c, b * c + d), which does not commute."""
    a, b = np.moveaxis(a, axis, 0).copy(), np.moveaxis(b, axis, 0).copy()
    for i in range(1, len(a)):
        b[i] += b[i - 1] * a[i]
        a[i] *= a[i - 1]
    return np.moveaxis(a, 0, axis), np.moveaxis(b, 0, axis)


def argmax(value, index, axis):
    """The greatest value, and the least of the indices that come with it."""
    best = value.max(axis)
    ties = value == np.expand_dims(best, axis)
    limit = np.iinfo(index.dtype).max
    return best, np.where(ties, index, limit).min(axis).astype(index.dtype)


class Builder:
    """Writes ops as text and, beside each, a step that evaluates it with NumPy."""

    def __init__(self):
        self.lines, self.block, self.indent, self.names = [], [], 4, 0

    def name(self):
        self.names += 1
        return f"%v{self.names}"

    def line(self, text):
        self.lines.append(" " * self.indent + text)

    def op(self, text, types, function, *operands):
        """Adds an op; `types` are the (shape, element) of its results. `function`
        computes their values from those of `operands`."""
        results = [Value(self.name(), *t) for t in types]
        self.line(f"{', '.join(map(str, results))} = {text}")

        def step(machine):
            outcome = function(*(machine.values[o.name] for o in operands))
            for result, value in zip(results, outcome if len(results) > 1 else [outcome]):
                value = np.asarray(value)
                assert value.shape == result.shape and value.dtype == DTYPES[result.element], text
                machine.values[result.name] = value

        self.block.append(step)
        return results if len(results) > 1 else results[0]

    def constant(self, value, shape, element):
        text = f"dense<{value}> : {type_of(shape, element)}" if shape else f"{value} : {element}"
        return self.op(f"arith.constant {text}", [(shape, element)],
                       lambda: np.full(shape, value, DTYPES[element]))

    def splat(self, scalar, shape):
        return self.op(f"tile.splat {scalar} : {type_of(shape, scalar.element)}",
                       [(shape, scalar.element)], lambda v: np.full(shape, v, v.dtype), scalar)

    def binary(self, name, a, b):
        return self.op(f"arith.{name} {a}, {b} : {a.type}", [(a.shape, a.element)], BINARY[name], a, b)

    def compare(self, name, a, b):
        return self.op(f"arith.cmpi {name}, {a}, {b} : {a.type}", [(a.shape, "i1")], COMPARE[name], a, b)

    def cast(self, v, element):
        if v.element == element:
            return v
        name = "extsi" if ELEMENTS.index(element) > ELEMENTS.index(v.element) else "trunci"
        return self.op(f"arith.{name} {v} : {v.type} to {type_of(v.shape, element)}",
                       [(v.shape, element)], lambda a: a.astype(DTYPES[element]), v)

    def remainder(self, v, modulus):
        """v modulo `modulus`, as an unsigned i32: a valid index."""
        v = self.cast(v, "i32")
        m = self.constant(modulus, v.shape, "i32")
        return self.op(f"arith.remui {v}, {m} : {v.type}", [(v.shape, "i32")],
                       lambda a, b: (a.view(np.uint32) % b.view(np.uint32)).astype(np.int32), v, m)

    def arange(self, n):
        return self.op(f"tile.arange 0, {n} : {type_of([n], 'i32')}", [([n], "i32")],
                       lambda: np.arange(n, dtype=np.int32))

    def expand_dims(self, v, axis):
        shape = v.shape[:axis] + (1,) + v.shape[axis:]
        return self.op(f"tile.expand_dims {v} {axis} : {v.type} -> {type_of(shape, v.element)}",
                       [(shape, v.element)], lambda a: np.expand_dims(a, axis), v)

    def broadcast(self, v, shape):
        if v.shape == tuple(shape):
            return v
        return self.op(f"tile.broadcast {v} : {v.type} -> {type_of(shape, v.element)}",
                       [(shape, v.element)], lambda a: np.broadcast_to(a, shape), v)

    def reshape(self, v, shape):
        return self.op(f"tile.reshape {v} : {v.type} -> {type_of(shape, v.element)}",
                       [(shape, v.element)], lambda a: a.reshape(shape), v)

    def trans(self, v, order):
        shape = [v.shape[i] for i in order]
        return self.op(f"tile.trans {v} {order} : {v.type} -> {type_of(shape, v.element)}",
                       [(shape, v.element)], lambda a: a.transpose(order), v)

    def combine(self, head, operands, types, function, body):
        """A reduction or a scan; `body` gives the lines of the region and what it yields."""
        elements = [v.element for v in operands]
        arguments = [self.name() for _ in range(2 * len(operands))]
        lines, yielded = body(*arguments)
        text = [f"{head} : ({', '.join(v.type for v in operands)}) -> "
                f"({', '.join(type_of(*t) for t in types)}) {{",
                f"^bb0({', '.join(f'{a}: {e}' for a, e in zip(arguments, 2 * elements))}):",
                *(f"  {line}" for line in lines),
                f"  tile.yield {', '.join(yielded)} : {', '.join(elements)}", "}"]
        return self.op(f"\n{' ' * self.indent}".join(text), types, function, *operands)

    def combine_one(self, op, v, axis, kind, shape, function):
        result = self.name()
        return self.combine(op, [v], [(shape, v.element)], function,
                            lambda a, b: ([f"{result} = arith.{kind} {a}, {b} : {v.element}"], [result]))

    def reduce(self, v, axis, kind):
        def function(a):
            return BINARY[kind].reduce(a, axis=axis, **({} if kind in ("minsi", "maxsi") else {"dtype": a.dtype}))
        return self.combine_one(f"tile.reduce({v}) axis {axis}", v, axis, kind,
                                v.shape[:axis] + v.shape[axis + 1:], function)

    def scan(self, v, axis, kind, reverse):
        def function(a):
            a = np.flip(a, axis) if reverse else a
            a = BINARY[kind].accumulate(a, axis=axis, dtype=a.dtype)
            return np.flip(a, axis) if reverse else a
        return self.combine_one(f"tile.scan({v}) axis {axis}{' reverse' * reverse}", v, axis, kind,
                                v.shape, function)

    def scan_affine(self, a, b, axis):
        def body(a0, b0, a1, b1):
            n, e = [self.name() for _ in range(3)], a.element
            return [f"{n[0]} = arith.muli {a0}, {a1} : {e}", f"{n[1]} = arith.muli {b0}, {a1} : {e}",
                    f"{n[2]} = arith.addi {n[1]}, {b1} : {e}"], [n[0], n[2]]
        return self.combine(f"tile.scan({a}, {b}) axis {axis}", [a, b], [(a.shape, a.element)] * 2,
                            lambda x, y: scan_affine(x, y, axis), body)

    def argmax(self, value, index, axis):
        def body(v0, i0, v1, i1):
            n = [self.name() for _ in range(7)]
            e, i = value.element, index.element
            return [f"{n[0]} = arith.cmpi sgt, {v0}, {v1} : {e}", f"{n[1]} = arith.cmpi eq, {v0}, {v1} : {e}",
                    f"{n[2]} = arith.cmpi slt, {i0}, {i1} : {i}", f"{n[3]} = arith.andi {n[1]}, {n[2]} : i1",
                    f"{n[4]} = arith.ori {n[0]}, {n[3]} : i1",
                    f"{n[5]} = arith.select {n[4]}, {v0}, {v1} : {e}",
                    f"{n[6]} = arith.select {n[4]}, {i0}, {i1} : {i}"], n[5:7]
        shape = value.shape[:axis] + value.shape[axis + 1:]
        return self.combine(f"tile.reduce({value}, {index}) axis {axis}", [value, index],
                            [(shape, value.element), (shape, index.element)],
                            lambda v, i: argmax(v, i, axis), body)

    def pointers(self, base, index, element):
        p, q = self.name(), self.name()
        kind = type_of(index.shape, f"!tile.ptr<{element}>")
        self.line(f"{p} = tile.splat {base} : {kind}")
        self.line(f"{q} = tile.addptr {p}, {index} : {kind}, {index.type}")
        return f"{q}", kind

    def load(self, element, index, mask, other):
        q, kind = self.pointers(f"%x_{element}", index, element)
        suffix = f" mask {mask} other {other}" if mask else ""
        result = Value(self.name(), index.shape, element)
        self.line(f"{result} = tile.load {q}{suffix} : {kind}")

        def step(m):
            at = m.values[index.name]
            value = m.buffers["x", element][at]
            m.values[result.name] = np.where(m.values[mask.name], value, m.values[other.name]) if mask else value

        self.block.append(step)
        return result

    def store(self, v, index, mask):
        q, kind = self.pointers(f"%out_{v.element}", index, v.element)
        self.line(f"tile.store {q}, {v}{f' mask {mask}' if mask else ''} : {kind}")

        def step(m):
            on = m.values[mask.name] if mask else np.ones(v.shape, bool)
            at = m.values[index.name] + m.offsets[v.element]
            m.buffers["o", v.element][at[on]] = m.values[v.name][on]

        self.block.append(step)

    def atomic(self, kind, v, index):
        """Combines `v` with the output. Gives what was there, which is defined only if
        no two elements have one index."""
        q, pointers = self.pointers(f"%out_{v.element}", index, v.element)
        result = Value(self.name(), v.shape, v.element)
        self.line(f"{result} = tile.atomic_rmw {kind} {q}, {v} : {pointers}")
        ufunc = {"add": np.add, "max": np.maximum, "xor": np.bitwise_xor}[kind]

        def step(m):
            at = m.values[index.name] + m.offsets[v.element]
            memory = m.buffers["o", v.element]
            m.values[result.name] = memory[at]
            ufunc.at(memory, at, m.values[v.name])

        self.block.append(step)
        return result


class Kernel(Builder):
    """A random kernel. It takes an input and an output buffer for each integer type, a
    flag and a number, both unknown to the compiler, and runs in `GRID` blocks, each of
    which writes to its own part of the outputs."""

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)
        self.flag, self.number = self.random.randrange(2), self.random.randrange(4)
        self.scalars = [Value("%pid", (), "i32"), Value("%n", (), "i32")]
        self.tiles = []
        self.depth = 0
        self.used = dict.fromkeys(ELEMENTS, 0)  # elements of a block's part of an output
        for _ in range(2):
            self.tiles.append(self.random_load(self.random_shape(), "i32"))
        for _ in range(self.random.randint(4, 16)):
            self.random_step()
        for v in self.random.sample(self.tiles, min(4, len(self.tiles))):
            self.random_output(v)

    # Operands.

    def chance(self, probability):
        return self.random.random() < probability

    def random_shape(self):
        pick = self.random.choice
        if self.chance(0.2):
            return pick([(1,), (5,), (24,), (160,), (1, 1), (3, 8), (6, 10), (80, 20), (32, 1), (1, 16, 1), (2, 3, 5)])
        return pick([(pick([16, 32, 64, 96, 128, 256]),), (pick([2, 8, 16, 32]), pick([4, 16, 32, 48, 64])),
                     (4, 8, 16)])

    def random_splat(self, shape, element):
        kind = self.random.randrange(3)
        if kind == 0:
            return self.constant(self.random.randint(-5, 9), shape, element)
        scalar = (self.constant(self.random.randint(-5, 9), (), element) if kind == 1
                  else self.cast(self.random.choice(self.scalars), element))
        return self.splat(scalar, shape)

    def random_index(self, shape):
        """A different index for each element, consecutive along a random dimension."""
        order = list(range(len(shape)))
        if self.chance(0.4):
            self.random.shuffle(order)
        total, stride = None, 1
        for axis in reversed(order):
            step = self.arange(shape[axis])
            if stride != 1 or self.chance(0.2):
                step = self.binary("muli", step, self.constant(stride, step.shape, "i32"))
            stride *= shape[axis]
            for d in range(len(shape)):
                if d != axis:
                    step = self.expand_dims(step, d)
            step = self.broadcast(step, shape)
            total = self.binary("addi", total, step) if total else step
        return total

    def random_mask(self, index):
        limit = self.random.choice([3, 16, 64, 100])
        return self.compare("slt", index, self.constant(limit, index.shape, "i32"))

    def random_load(self, shape, element):
        index = self.random_index(shape)
        if self.chance(0.3):
            start = self.splat(self.constant(self.random.choice([1, 4, 16]), (), "i32"), shape)
            index = self.binary("addi", index, start)
        elif self.chance(0.1):
            index = self.remainder(self.binary("muli", index, index), INPUT_SIZE)
        if self.chance(0.5):
            return self.load(element, index, self.random_mask(index), self.constant(7, shape, element))
        return self.load(element, index, None, None)

    def like(self, shape, element):
        """A tile of that type."""
        fitting = [v for v in self.tiles if v.shape == tuple(shape)]
        if fitting and self.chance(0.8):
            return self.cast(self.random.choice(fitting), element)
        if self.chance(0.5) or math.prod(shape) > MAX_LOADED:
            return self.random_splat(shape, element)
        return self.random_load(shape, element)

    # Steps: each takes a tile and gives a list of new ones.

    def step_load(self, v):
        return [self.random_load(self.random_shape(), self.random.choice(ELEMENTS))]

    def step_binary(self, v):
        return [self.binary(self.random.choice(list(BINARY)), v, self.like(v.shape, v.element))]

    def step_cast(self, v):
        return [self.cast(v, self.random.choice(ELEMENTS))]

    def step_select(self, v):
        a, b = self.like(v.shape, v.element), self.like(v.shape, v.element)
        mask = self.compare(self.random.choice(list(COMPARE)), v, a)
        return [self.op(f"arith.select {mask}, {v}, {b} : {mask.type}, {v.type}", [(v.shape, v.element)],
                        np.where, mask, v, b)]

    def step_reduce(self, v):
        axis = self.random.randrange(len(v.shape))
        results = [self.reduce(v, axis, self.random.choice(COMBINE))]
        if self.chance(0.3):
            results += self.argmax(v, self.like(v.shape, "i32"), axis)
        shape = self.random_shape()
        return [r if r.shape else self.splat(r, shape) for r in results]

    def step_scan(self, v):
        axis = self.random.randrange(len(v.shape))
        if self.chance(0.4):
            return self.scan_affine(v, self.like(v.shape, v.element), axis)
        return [self.scan(v, axis, self.random.choice(COMBINE), self.chance(0.3))]

    def step_trans(self, v):
        order = list(range(len(v.shape)))
        self.random.shuffle(order)
        return [self.trans(v, order)] if len(order) > 1 else []

    def step_reshape(self, v):
        shapes = [(v.size,)] + [(a, v.size // a) for a in (2, 4, 8, 16, 32) if v.size % a == 0 and v.size > a]
        shape = self.random.choice(shapes)
        return [self.reshape(v, shape)] if shape != v.shape else []

    def step_broadcast(self, v):
        width = self.random.choice([2, 8, 16, 32])
        if len(v.shape) > 2 or v.size * width > MAX_ELEMENTS:
            return []
        axis = self.random.randrange(len(v.shape) + 1)
        return [self.broadcast(self.expand_dims(v, axis), v.shape[:axis] + (width,) + v.shape[axis:])]

    def step_join_or_split(self, v):
        if self.chance(0.5):
            v = self.random.choice([t for t in self.tiles if t.shape[-1] == 2] or [v])
        if len(v.shape) > 1 and v.shape[-1] == 2:
            return self.op(f"tile.split {v} : {v.type} -> {type_of(v.shape[:-1], v.element)}",
                           [(v.shape[:-1], v.element)] * 2, lambda a: (a[..., 0], a[..., 1]), v)
        if len(v.shape) > 2 or 2 * v.size > MAX_ELEMENTS:
            return []
        other, shape = self.like(v.shape, v.element), v.shape + (2,)
        return [self.op(f"tile.join {v}, {other} : {v.type} -> {type_of(shape, v.element)}",
                        [(shape, v.element)], lambda a, b: np.stack([a, b], -1), v, other)]

    def step_cat(self, v):
        if 2 * v.size > MAX_ELEMENTS:
            return []
        axis, other = self.random.randrange(len(v.shape)), self.like(v.shape, v.element)
        shape = v.shape[:axis] + (2 * v.shape[axis],) + v.shape[axis + 1:]
        return [self.op(f"tile.cat {v}, {other} axis {axis} : {v.type} -> {type_of(shape, v.element)}",
                        [(shape, v.element)], lambda a, b: np.concatenate([a, b], axis), v, other)]

    def step_gather(self, v):
        axis = self.random.randrange(len(v.shape))
        shape = list(v.shape)
        if self.chance(0.5):
            shape[axis] = self.random.choice([1, 8, 32])
        if math.prod(shape) > MAX_ELEMENTS:
            return []
        index = self.remainder(self.like(shape, "i32"), v.shape[axis])
        return [self.op(f"tile.gather {v}[{index}] axis {axis} : {v.type}, {index.type} -> "
                        f"{type_of(shape, v.element)}", [(shape, v.element)],
                        lambda a, i: np.take_along_axis(a, i, axis), v, index)]

    def step_histogram(self, v):
        if len(v.shape) != 1:
            return []
        bins, v = self.random.choice([8, 32, 64]), self.cast(v, "i32")
        return [self.op(f"tile.histogram {v} : {v.type} -> {type_of([bins], 'i32')}", [([bins], "i32")],
                        lambda a: np.bincount(a[(0 <= a) & (a < bins)], minlength=bins).astype(np.int32), v)]

    def step_count(self, v):
        """Adds to a few counters, each from many elements. The counters are only written."""
        v = self.cast(v, self.random.choice(["i32", "i64"]))
        start = self.constant(self.reserve(v.element, 16), v.shape, "i32")
        index = self.binary("addi", self.remainder(self.like(v.shape, "i32"), 16), start)
        self.atomic(self.random.choice(["add", "max", "xor"]), v, index)
        return []

    def random_step(self):
        step = self.random.choice(self.STEPS + (self.NESTING if self.depth < MAX_DEPTH else []))
        self.tiles += step(self, self.random.choice(self.tiles))

    def region(self, steps, tiles, scalars, results):
        """A nested block of some steps, which yields tiles like `results`. Gives its
        steps and what it yields."""
        saved = self.tiles, self.scalars, self.block
        self.tiles, self.scalars, self.block = self.tiles + tiles, self.scalars + scalars, []
        self.indent += 2
        self.depth += 1
        for _ in range(steps):
            self.random_step()
        yielded = [self.like(r.shape, r.element) for r in results]
        self.line(f"scf.yield {', '.join(map(str, yielded))} : {', '.join(r.type for r in results)}")
        self.indent -= 2
        self.depth -= 1
        block = self.block
        self.tiles, self.scalars, self.block = saved
        return block, yielded

    def step_for(self, v):
        """A loop that carries two tiles."""
        initial = [v, self.random.choice(self.tiles)]
        bound = (Value("%n", (), "i32") if self.chance(0.5)
                 else self.constant(self.random.randrange(3), (), "i32"))
        zero, one = self.constant(0, (), "i32"), self.constant(1, (), "i32")
        name = self.name()
        results = [Value(f"{name}#{i}", t.shape, t.element) for i, t in enumerate(initial)]
        carried = [Value(self.name(), t.shape, t.element) for t in initial]
        i = Value(self.name(), (), "i32")
        self.line(f"{name}:2 = scf.for {i} = {zero} to {bound} step {one} iter_args("
                  f"{', '.join(f'{c} = {t}' for c, t in zip(carried, initial))}) -> "
                  f"({', '.join(t.type for t in initial)}) : i32 {{")
        block, yielded = self.region(self.random.randint(1, 5), 3 * carried, [i], results)
        self.line("}")

        def step(m):
            values = [m.values[t.name] for t in initial]
            for number in range(int(m.values[bound.name])):
                m.values[i.name] = np.int32(number)
                m.values.update(zip((c.name for c in carried), values))
                m.run(block)
                values = [m.values[y.name] for y in yielded]
            m.values.update(zip((r.name for r in results), values))

        self.block.append(step)
        return results

    def step_if(self, v):
        result = Value(self.name(), v.shape, v.element)
        self.line(f"{result} = scf.if %flag -> {v.type} {{")
        branches = [self.region(self.random.randrange(4), [], [], [result])]
        self.line("} else {")
        branches.append(self.region(self.random.randrange(4), [], [], [result]))
        self.line("}")

        def step(m):
            block, yielded = branches[0 if m.values["%flag"] else 1]
            m.run(block)
            m.values[result.name] = m.values[yielded[0].name]

        self.block.append(step)
        return [result]

    def step_stream(self, v):
        """A loop that carries pointers and sums up what they point to."""
        e = self.random.choice(ELEMENTS)
        shape = v.shape if v.size <= MAX_LOADED else self.random_shape()
        index, initial = self.random_index(shape), self.like(shape, e)
        mask, other = self.random_mask(index), self.constant(7, shape, e)
        stride = self.constant(self.random.choice([1, 8, 64]), shape, "i32")
        zero, one = self.constant(0, (), "i32"), self.constant(1, (), "i32")
        pointers, kind = self.pointers(f"%x_{e}", index, e)
        result = Value(f"{self.name()}#0", shape, e)
        i, total, here, value, after, there = (self.name() for _ in range(6))
        self.line(f"{result.name[:-2]}:2 = scf.for {i} = {zero} to %n step {one} iter_args({total} = {initial}, "
                  f"{here} = {pointers}) -> ({result.type}, {kind}) : i32 {{")
        self.line(f"  {value} = tile.load {here} mask {mask} other {other} : {kind}")
        self.line(f"  {after} = arith.addi {total}, {value} : {result.type}")
        self.line(f"  {there} = tile.addptr {here}, {stride} : {kind}, {stride.type}")
        self.line(f"  scf.yield {after}, {there} : {result.type}, {kind}")
        self.line("}")

        def step(m):
            at, sum_ = m.values[index.name], m.values[initial.name]
            for number in range(int(m.values["%n"])):
                loaded = m.buffers["x", e][at + number * m.values[stride.name]]
                sum_ = sum_ + np.where(m.values[mask.name], loaded, m.values[other.name])
            m.values[result.name] = sum_

        self.block.append(step)
        return [result]

    STEPS = [step_load, *[step_binary] * 3, step_cast, step_select, *[step_reduce] * 2,
             *[step_scan] * 2, step_trans, step_reshape, step_broadcast, step_join_or_split, step_cat, step_gather,
             step_histogram, step_count, step_stream]
    NESTING = [step_for, step_if]

    # Outputs.

    def reserve(self, element, size):
        """The start of a part of an output that nothing else uses."""
        start = self.used[element]
        # A gap makes the parts that follow, and the next block's, less aligned.
        self.used[element] += size + self.random.choice([0, 0, 0, 1, 3, 4])
        return start

    def random_output(self, v):
        start = self.constant(self.reserve(v.element, v.size), v.shape, "i32")
        index = self.binary("addi", self.random_index(v.shape), start)
        if v.element in ("i32", "i64") and self.chance(0.3):
            old = self.atomic("add", v, index)
            self.random_output(self.binary("subi", v, old))
        else:
            self.store(v, index, self.random_mask(index) if self.chance(0.2) else None)

    def text(self, chip):
        aligned = "{tile.divisibility = array<i32: 16>}"
        parameters = [f"%{b}_{e}: !tile.ptr<{e}> {aligned}" for e in ELEMENTS for b in ("x", "o")]
        lines = [f'gpu.module @m [#nvvm.target<chip = "{chip}">] {{',
                 f"  gpu.func @k({', '.join(parameters)}, %flag: i1, %n: i32) kernel {{",
                 "    %pid = tile.program_id x : i32"]
        for e in ELEMENTS:
            lines += [f"    %size_{e} = arith.constant {self.used[e]} : i32",
                      f"    %start_{e} = arith.muli %pid, %size_{e} : i32",
                      f"    %out_{e} = tile.addptr %o_{e}, %start_{e} : !tile.ptr<{e}>, i32"]
        return "\n".join([*lines, *self.lines, "    gpu.return", "  }", "}", ""])

    def buffers(self, seed):
        """Initial contents of the inputs ("x") and outputs ("o") of each type."""
        rng = np.random.default_rng(seed)
        result = {}
        for e in ELEMENTS:
            result["x", e] = rng.integers(-50, 50, INPUT_SIZE).astype(DTYPES[e])
            result["o", e] = rng.integers(-9, 9, max(GRID * self.used[e], 1)).astype(DTYPES[e])
        return result

    def evaluate(self, buffers):
        """The buffers after the kernel has run."""
        buffers = {k: v.copy() for k, v in buffers.items()}
        with np.errstate(over="ignore"):
            for pid in range(GRID):
                scalars = {"%pid": np.int32(pid), "%n": np.int32(self.number), "%flag": np.bool_(self.flag)}
                Machine(scalars, buffers, {e: pid * self.used[e] for e in ELEMENTS}).run(self.block)
        return buffers


class Failure(Exception):
    pass


def call(command, timeout):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"{os.path.basename(command[0])} took more than {timeout} s") from None
    if done.returncode != 0:
        output = "\n".join((done.stdout + done.stderr).splitlines()[:8])
        raise Failure(f"{os.path.basename(command[0])} failed ({done.returncode}): {output[:2000]}")


def difference(got, expected):
    wrong = np.flatnonzero(got != expected)
    if not wrong.size:
        return None
    return (f"{wrong.size} of {expected.size} elements are wrong, first at {wrong[0]}: "
            f"{got[wrong[0]]} instead of {expected[wrong[0]]}")


def check(kernel, seed, warps, options, folder):
    """Compiles and runs the kernel in each way; gives a description of each failure."""
    source = os.path.join(folder, "kernel.mlir")
    with open(source, "w") as file:
        file.write(kernel.text(options.chip))
    before = kernel.buffers(seed)
    expected = kernel.evaluate(before)
    keys = [(b, e) for e in ELEMENTS for b in ("x", "o")]
    arguments = []
    for b, e in keys:
        path = os.path.join(folder, f"{b}_{e}.npy")
        np.save(path, before[b, e])
        arguments.append(f"--arg={path}")
    arguments += [f"--arg=i1:{kernel.flag}", f"--arg=i32:{kernel.number}"]
    problems = []
    for name, passes in PIPELINES.items():
        compiled, flags = source, [f"--num-warps={warps}"]
        outputs = {(b, e): os.path.join(folder, f"{name}_{e}.npy") for b, e in keys if b == "o"}
        try:
            if passes:
                compiled, flags = os.path.join(folder, f"{name}.mlir"), []
                call([options.tile_opt, source, "-o", compiled,
                      f"--pass-pipeline=builtin.module(gpu.module({passes % warps}))"], options.timeout)
            call([options.tile_run, compiled, "--kernel=k", f"--grid={GRID}", "--check=race,uninit",
                  "--threads=1", f"--seed={seed % 2**32 + 1}", *flags, *arguments,
                  *(f"--out={keys.index(k)}:{path}" for k, path in outputs.items())], options.timeout)
            for key, path in outputs.items():
                problem = difference(np.load(path).ravel(), expected[key])
                if problem:
                    raise Failure(f"output {key[1]}: {problem}")
        except Failure as failure:
            problems.append(f"{name}: {failure}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="of the first kernel")
    parser.add_argument("--count", type=int, default=100, help="number of kernels (100)")
    parser.add_argument("--warps", default="1,2,4,8", help="numbers of warps, taken in turn (1,2,4,8)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="kernels at a time")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one command (60)")
    parser.add_argument("--keep", default="", help="keep the files of kernels that fail in this folder")
    parser.add_argument("--tile-opt", default="tile-opt")
    parser.add_argument("--tile-run", default="tile-run")
    options = parser.parse_args()
    for tool in (options.tile_opt, options.tile_run):
        if not shutil.which(tool):
            parser.error(f"there is no {tool}: put it in PATH or name it by --tile-opt or --tile-run")
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(2**31)
    warps = [int(w) for w in options.warps.split(",")]
    print(f"seed {first}, {options.count} kernels", flush=True)

    def one(seed):
        with tempfile.TemporaryDirectory() as folder:
            problems = check(Kernel(seed), seed, warps[seed % len(warps)], options, folder)
            if problems and options.keep:
                shutil.copytree(folder, os.path.join(options.keep, f"kernel{seed}"), dirs_exist_ok=True)
        return seed, problems

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, problems in pool.map(one, range(first, first + options.count)):
            for problem in problems:
                print(f"seed {seed}, {warps[seed % len(warps)]} warps, {problem}", flush=True)
            failures += bool(problems)
    print(f"{failures} of {options.count} kernels failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
