"""Control flow, grids, helper functions and barriers."""

import numpy as np

from . import formats
from .elementwise import SHAPES, wrap
from .formats import decode
from .kernel import Output, ptr, type_of
from .reductions import region

TILES = [s for s in SHAPES if s]


def ints(rng, shape):
    return rng.integers(-100, 100, shape).astype(np.int32)


def loop(shape, trips):
    """Tiles, a scalar and pointers carried through a loop, with a reduction in it."""
    def check(k, rng):
        a = ints(rng, shape)
        total = a.size
        data = ints(rng, (total * (trips + 1),))
        base = k.buffer("i32", data, rng)
        x = k.input(rng, "i32", a)
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        p = k.pointers(base, "i32", shape, strides)
        step = k.constant(shape, "i32", total)
        zero, one, n = k.constant((), "i32", 0), k.constant((), "i32", 1), k.scalar("i32", trips)
        flat = (total,)
        body = region(["i32"], "%s = arith.addi %l0, %r0 : i32", ["%s"])
        tag = k.fresh()[1:]
        r = k.multi([(shape, "i32"), ((), "i32"), (shape, ptr("i32"))],
                    f"scf.for %i{tag} = {zero} to {n} step {one} iter_args(%t{tag} = {x}, %s{tag} = {zero}, %p{tag} = {p}) "
                    f"-> ({x.type}, i32, {p.type}) : i32 {{\n"
                    f"  %d{tag} = tile.load %p{tag} : {p.type}\n"
                    f"  %u{tag} = arith.addi %t{tag}, %d{tag} : {x.type}\n"
                    f"  %f{tag} = tile.reshape %u{tag} : {x.type} -> {type_of(flat, 'i32')}\n"
                    f"  %r{tag} = tile.reduce(%f{tag}) axis 0 : ({type_of(flat, 'i32')}) -> i32 {body}\n"
                    f"  %q{tag} = arith.xori %s{tag}, %r{tag} : i32\n"
                    f"  %b{tag} = tile.splat %i{tag} : {x.type}\n"
                    f"  %v{tag} = arith.addi %u{tag}, %b{tag} : {x.type}\n"
                    f"  %n{tag} = tile.addptr %p{tag}, {step} : {p.type}, {step.type}\n"
                    f"  scf.yield %v{tag}, %q{tag}, %n{tag} : {x.type}, i32, {p.type}\n}}")
        t, s = a.astype(np.int64), 0
        for i in range(trips):
            t = t + data[i * total:(i + 1) * total].reshape(shape)
            s ^= int(t.sum())
            t = t + i
        k.output(rng, r[0], t)
        k.output(rng, r[1], np.asarray(s))
        y = k(shape, "i32", f"tile.load {r[2]} : {p.type}")
        k.output(rng, y, data[trips * total:].reshape(shape))
    return check


def branch(shape, scalar):
    """scf.if with tiles in other layouts on each side; nested."""
    def check(k, rng):
        a, b = ints(rng, shape), ints(rng, shape)
        x, y = k.input(rng, "i32", a), k.input(rng, "i32", b)
        number = int(rng.integers(0, 3))
        n = k.scalar("i32", number)
        one, two = k.constant((), "i32", 1), k.constant((), "i32", 2)
        first = k((), "i1", f"arith.cmpi eq, {n}, {one} : i32")
        second = k((), "i1", f"arith.cmpi eq, {n}, {two} : i32")
        tag, T = k.fresh()[1:], x.type
        order = list(range(len(shape)))[::-1]
        turned = type_of([shape[i] for i in order], "i32")
        z = k.same(x, f"scf.if {first} -> ({T}) {{\n  %a{tag} = arith.addi {x}, {y} : {T}\n  scf.yield %a{tag} : {T}\n}} else {{\n"
                      f"  %b{tag} = scf.if {second} -> ({T}) {{\n"
                      f"    %c{tag} = tile.trans {x} {order} : {T} -> {turned}\n    %d{tag} = arith.muli %c{tag}, %c{tag} : {turned}\n"
                      f"    %e{tag} = tile.trans %d{tag} {order} : {turned} -> {T}\n    scf.yield %e{tag} : {T}\n"
                      f"  }} else {{\n    scf.yield {y} : {T}\n  }}\n  scf.yield %b{tag} : {T}\n}}")
        k.output(rng, z, [b, a + b, a * a][number])
    return check


def while_loop(shape):
    """Halve until all are zero: the condition is a reduction."""
    def check(k, rng):
        a = np.abs(ints(rng, shape)) + 1
        x = k.input(rng, "i32", a)
        zero, ones = k.constant((), "i32", 0), k.constant(shape, "i32", 1)
        flat, T, tag = type_of((a.size,), "i32"), x.type, k.fresh()[1:]
        body = region(["i32"], "%s = arith.ori %l0, %r0 : i32", ["%s"])
        r = k.multi([(shape, "i32"), (shape, "i32")],
                    f"scf.while (%t{tag} = {x}, %c{tag} = {x}) : ({T}, {T}) -> ({T}, {T}) {{\n"
                    f"  %f{tag} = tile.reshape %t{tag} : {T} -> {flat}\n"
                    f"  %o{tag} = tile.reduce(%f{tag}) axis 0 : ({flat}) -> i32 {body}\n"
                    f"  %m{tag} = arith.cmpi ne, %o{tag}, {zero} : i32\n"
                    f"  scf.condition(%m{tag}) %t{tag}, %c{tag} : {T}, {T}\n}} do {{\n"
                    f"^bb0(%u{tag}: {T}, %d{tag}: {T}):\n"
                    f"  %h{tag} = arith.shrui %u{tag}, {ones} : {T}\n  %e{tag} = arith.addi %d{tag}, %h{tag} : {T}\n"
                    f"  scf.yield %h{tag}, %e{tag} : {T}, {T}\n}}")
        t, c = a.astype(np.int64), a.astype(np.int64)
        while t.any():
            t = t >> 1
            c = c + t
        k.output(rng, r[0], t)
        k.output(rng, r[1], c)
    return check


def helpers(shape):
    """Helper functions with tiles, several results, and nested calls."""
    def check(k, rng):
        T = type_of(shape, "i32")
        suffix = f"{k.name}_{len(k.helpers)}_{k.count}"
        k.helpers.append(f"  func.func private @inner_{suffix}(%x: {T}, %s: i32) -> {T} {{\n    %b = tile.splat %s : {T}\n"
                         f"    %y = arith.muli %x, %b : {T}\n    return %y : {T}\n  }}\n")
        k.helpers.append(f"  func.func private @outer_{suffix}(%x: {T}, %y: {T}) -> ({T}, {T}) {{\n    %c = arith.constant 3 : i32\n"
                         f"    %a = func.call @inner_{suffix}(%x, %c) : ({T}, i32) -> {T}\n    %z = arith.subi %a, %y : {T}\n"
                         f"    return %z, %a : {T}, {T}\n  }}\n")
        a, b = ints(rng, shape), ints(rng, shape)
        x, y = k.input(rng, "i32", a), k.input(rng, "i32", b)
        r = k.multi([(shape, "i32")] * 2, f"func.call @outer_{suffix}({x}, {y}) : ({T}, {T}) -> ({T}, {T})")
        k.output(rng, r[0], 3 * a - b)
        k.output(rng, r[1], 3 * a)
        q = k.multi([(shape, "i32")] * 2, f"func.call @outer_{suffix}({y}, {r[0]}) : ({T}, {T}) -> ({T}, {T})")
        k.output(rng, q[0], 3 * b - (3 * a - b))
    return check


def exchange(shape):
    """A store, a barrier, and a load of what other threads stored."""
    def check(k, rng):
        a = ints(rng, shape)
        x = k.input(rng, "i32", a)
        base = k.buffer("i32", np.zeros(a.size, np.int32), rng)
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        p = k.pointers(base, "i32", shape, strides)
        k.do(f"tile.store {p}, {x} : {p.type}")
        k.do("tile.barrier")
        flat = (a.size,)
        index = rng.permutation(a.size).astype(np.int32)
        i = k.input(rng, "i32", index)
        bases = k.splat(base, flat)
        q = k.same(bases, f"tile.addptr {bases}, {i} : {bases.type}, {i.type}")
        y = k(flat, "i32", f"tile.load {q} : {q.type}")
        k.output(rng, y, a.reshape(-1)[index])
    return check


def scalar_program(rounds):
    """Scalars only: Collatz steps, through a loop with a branch."""
    def check(k, rng):
        number = int(rng.integers(1, 1000))
        x = k.scalar("i32", number)
        zero, one, three, n = (k.constant((), "i32", v) for v in (0, 1, 3, rounds))
        tag = k.fresh()[1:]
        z = k((), "i32", f"scf.for %i{tag} = {zero} to {n} step {one} iter_args(%x{tag} = {x}) -> (i32) : i32 {{\n"
                         f"  %o{tag} = arith.andi %x{tag}, {one} : i32\n  %b{tag} = arith.cmpi eq, %o{tag}, {one} : i32\n"
                         f"  %y{tag} = scf.if %b{tag} -> (i32) {{\n    %m{tag} = arith.muli %x{tag}, {three} : i32\n"
                         f"    %p{tag} = arith.addi %m{tag}, {one} : i32\n    scf.yield %p{tag} : i32\n  }} else {{\n"
                         f"    %h{tag} = arith.shrsi %x{tag}, {one} : i32\n    scf.yield %h{tag} : i32\n  }}\n"
                         f"  scf.yield %y{tag} : i32\n}}")
        want = number
        for _ in range(rounds):
            want = 3 * want + 1 if want % 2 else want >> 1
        k.output(rng, z, wrap(np.asarray(want), "i32"))
    return check


def grid(elem):
    """Each program writes its position and the extents of the grid: one kernel of its
    own, since all checks of a kernel run in each program."""
    def check(k, rng):
        k.grid = (3, 2, 4)
        pids = [k((), "i32", f"tile.program_id {a} : i32") for a in "xyz"]
        extents = [k((), "i32", f"tile.num_programs {a} : i32") for a in "xyz"]
        def linear(x, y, z):
            m = k((), "i32", f"arith.muli {z}, {extents[1]} : i32")
            m = k((), "i32", f"arith.addi {m}, {y} : i32")
            m = k((), "i32", f"arith.muli {m}, {extents[0]} : i32")
            return k((), "i32", f"arith.addi {m}, {x} : i32")
        index = linear(*pids)
        six = k.constant((), "i32", 5)
        start = k((), "i32", f"arith.muli {index}, {six} : i32")
        memory = np.zeros(5 * 24, np.int32)
        base = k.buffer("i32", memory)
        shape = (5,)
        offsets = k.same(k.index(shape, 0), f"arith.addi {k.index(shape, 0)}, {k.splat(start, shape)} : {type_of(shape, 'i32')}")
        bases = k.splat(base, shape)
        p = k.same(bases, f"tile.addptr {bases}, {offsets} : {bases.type}, {offsets.type}")
        k.do(f"tile.store {p}, {k.splat(index, shape)} : {p.type}")
        k.outputs.append(Output(k.check, int(base.name[2:]), "i32", np.repeat(np.arange(24), 5), 0, 0, np.arange(120)))
    return check


def early_return(shape):
    """cf.cond_br to an early gpu.return: only by itself in a kernel."""
    def check(k, rng):
        k.grid = (4, 1, 1)
        n, limit = int(np.prod(shape)), int(rng.integers(0, 5))
        memory = np.full(4 * n, -1, np.int32)
        pid = k((), "i32", "tile.program_id x : i32")
        bound = k.scalar("i32", limit)
        go = k((), "i1", f"arith.cmpi slt, {pid}, {bound} : i32")
        size = k.constant((), "i32", n)
        start = k((), "i32", f"arith.muli {pid}, {size} : i32")
        base = k.buffer("i32", memory, rng)
        k.do(f"cf.cond_br {go}, ^work, ^done\n^done:\n  gpu.return\n^work:")
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        offsets = k.offsets(shape, strides)
        offsets = k.same(offsets, f"arith.addi {offsets}, {k.splat(start, shape)} : {offsets.type}")
        bases = k.splat(base, shape)
        p = k.same(bases, f"tile.addptr {bases}, {offsets} : {bases.type}, {offsets.type}")
        k.do(f"tile.store {p}, {offsets} : {p.type}")
        want = np.where(np.arange(4 * n) < limit * n, np.arange(4 * n), -1)
        k.outputs.append(Output(k.check, int(base.name[2:]), "i32", want, 0, 0, np.arange(4 * n)))
    return check


def programs(options):
    checks = []
    for j, shape in enumerate(TILES):
        checks.append((f"loop-{shape}", loop(shape, (0, 1, 5)[j % 3])))
        checks.append((f"branch-{shape}", branch(shape, False)))
        if np.prod(shape) <= 1100:
            checks.append((f"while-{shape}", while_loop(shape)))
        if j % 3 == 0:
            checks.append((f"helpers-{shape}", helpers(shape)))
        if j % 2 == 0:
            checks.append((f"exchange-{shape}", exchange(shape)))
    checks += [(f"scalars-{n}", scalar_program(n)) for n in (0, 1, 30)]
    return checks


def grids(options):
    """Checks that must be alone in their kernel."""
    return [("grid", grid("i32"))] + [(f"return-{s}", early_return(s)) for s in ((5,), (128,), (12, 160), (2, 3, 4), (1024,))]


grids.alone = True
GROUPS = {"programs": programs, "grids": grids}
