"""Writes kernels: the text of a gpu.func, its arguments and what it must give."""

import numpy as np

from . import formats


class Value:
    """An SSA value: its name, shape (() is a scalar) and element type."""

    def __init__(self, name, shape, elem):
        self.name, self.shape, self.elem = name, tuple(shape), elem
        self.type = type_of(shape, elem)

    def __str__(self):
        return self.name


def type_of(shape, elem):
    return f"tensor<{'x'.join(map(str, shape))}x{elem}>" if len(shape) else elem


def ptr(elem):
    return f"!tile.ptr<{elem}>"


class Output:
    def __init__(self, check, arg, elem, expected, ulps, absolute, where):
        self.check, self.arg, self.elem, self.expected = check, arg, elem, expected
        self.ulps, self.absolute, self.where = ulps, absolute, where

    def problem(self, bits):
        """What is wrong with the bits of the buffer, or None."""
        bits = bits.reshape(-1)[self.where].reshape(self.expected.shape)
        if not formats.is_float(self.elem):
            bad = bits != self.expected
            got, want = bits, self.expected
        else:
            got = formats.decode(bits, self.elem)
            want = np.asarray(self.expected, np.longdouble)
            with np.errstate(all="ignore"):
                unit = formats.ulp(want.astype(np.float64), self.elem)
                near = np.abs(got - want) <= self.ulps * unit + self.absolute
                # Beyond the largest number, infinity is near the largest one.
                beyond = np.isinf(got) & (np.abs(want) + self.ulps * unit > formats.largest(self.elem)) & (
                    np.sign(got) == np.sign(want)) & (self.ulps > 0)
            same = (got == want) & ((np.signbit(got) == np.signbit(want)) | (self.ulps > 0))
            bad = ~(same | near & np.isfinite(got) & ((self.ulps + self.absolute) > 0) | beyond | np.isnan(got) & np.isnan(want))
        if not bad.any():
            return None
        at = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
        return (f"{np.count_nonzero(bad)} of {bad.size} wrong, first at {at}: "
                f"{got[at]!r} instead of {want[at]!r}")


class Kernel:
    """A kernel under construction. `check` names the check that is being added."""

    def __init__(self, name):
        self.name, self.lines, self.parameters, self.arrays = name, [], [], []
        self.outputs, self.count, self.check, self.helpers = [], 0, "", []
        self.grid = (1, 1, 1)
        # Whether threads write the same element on purpose.
        self.races = False

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def __call__(self, shape, elem, text):
        """`result = text`; operands are written by the caller."""
        value = Value(self.fresh(), shape, elem)
        self.lines.append(f"{value} = {text}")
        return value

    def same(self, value, text):
        return self(value.shape, value.elem, text)

    def do(self, text):
        self.lines.append(text)

    def multi(self, types, text):
        """An op of several results: `types` are (shape, elem)."""
        name = self.fresh()
        self.lines.append(f"{name}:{len(types)} = {text}")
        return [Value(f"{name}#{i}", shape, elem) for i, (shape, elem) in enumerate(types)]

    # Arguments.

    def buffer(self, elem, bits, rng=None, divisibility=None, misalign=None):
        """A pointer argument to `bits`. With `rng` it is aligned and says so, is
        aligned less and says so, or neither."""
        size = max(1, formats.width(elem) // 8)
        if rng is not None and divisibility is None:
            kind = int(rng.integers(0, 5))
            if kind < 2:
                divisibility = 16
            elif kind == 2:
                # Aligned less than an access could use.
                divisibility = int(rng.choice([1, 2, 4, 8, 32]))
                misalign = max(size, divisibility) * int(rng.integers(0, 4))
            else:
                misalign = size * int(rng.integers(0, 8))
        attrs = f" {{tile.divisibility = array<i32: {divisibility}>}}" if divisibility else ""
        value = Value(f"%a{len(self.parameters)}", (), ptr(elem))
        self.parameters.append(f"{value}: {ptr(elem)}{attrs}")
        # LLVM's back end may widen a load to the end of the aligned 16 bytes it is in.
        bits = np.ascontiguousarray(bits).reshape(-1)
        slack = -(bits.nbytes + (misalign or 0)) % 16 // size
        self.arrays.append((np.concatenate([bits, np.zeros(slack, bits.dtype)]), misalign or 0))
        return value

    def scalar(self, elem, number, divisibility=None):
        """An integer argument by value."""
        value = Value(f"%a{len(self.parameters)}", (), elem)
        attrs = f" {{tile.divisibility = array<i32: {divisibility}>}}" if divisibility else ""
        self.parameters.append(f"{value}: {elem}{attrs}")
        self.arrays.append(f"{elem}:{number}")
        return value

    def constant(self, shape, elem, number):
        literal = number if isinstance(number, str) else (repr(float(number)) if formats.is_float(elem) else str(int(number)))
        if elem == "i1":
            literal = {"0": "false", "1": "true"}.get(literal, literal)
        if shape:
            return self(shape, elem, f"arith.constant dense<{literal}> : {type_of(shape, elem)}")
        return self(shape, elem, f"arith.constant {literal}" + ("" if elem == "i1" else f" : {elem}"))

    # Addresses.

    def index(self, shape, axis, elem="i32"):
        """The index along `axis` of each element of a tile."""
        value = self((shape[axis],), "i32", f"tile.arange 0, {shape[axis]} : {type_of((shape[axis],), 'i32')}")
        if elem == "i64":
            value = self(value.shape, "i64", f"arith.extsi {value} : {value.type} to {type_of(value.shape, 'i64')}")
        for i in range(len(shape)):
            if i != axis:
                value = self.expand(value, i)
        return self.broadcast(value, shape)

    def expand(self, value, axis):
        shape = value.shape[:axis] + (1,) + value.shape[axis:]
        return self(shape, value.elem, f"tile.expand_dims {value} {axis} : {value.type} -> {type_of(shape, value.elem)}")

    def broadcast(self, value, shape):
        if value.shape == tuple(shape):
            return value
        return self(shape, value.elem, f"tile.broadcast {value} : {value.type} -> {type_of(shape, value.elem)}")

    def splat(self, value, shape):
        if not shape:
            return value
        return self(shape, value.elem, f"tile.splat {value} : {type_of(shape, value.elem)}")

    def offsets(self, shape, strides, start=0, elem="i32"):
        total = None
        for axis, stride in enumerate(strides):
            part = self.index(shape, axis, elem)
            if stride != 1:
                factor = self.constant(shape, elem, stride)
                part = self.same(part, f"arith.muli {part}, {factor} : {part.type}")
            total = part if total is None else self.same(total, f"arith.addi {total}, {part} : {part.type}")
        if start:
            first = self.constant(shape, elem, start)
            total = self.same(total, f"arith.addi {total}, {first} : {total.type}")
        return total

    def pointers(self, base, elem, shape, strides, start=0, offset_type="i32"):
        if not shape:
            return base
        offsets = self.offsets(shape, strides, start, offset_type)
        bases = self.splat(base, shape)
        return self.same(bases, f"tile.addptr {bases}, {offsets} : {bases.type}, {offsets.type}")

    # Input and output.

    def place(self, rng, shape):
        """Strides, first element and size of a buffer that holds such a tile: rows or
        columns first, with gaps or without."""
        order = list(range(len(shape)))
        kind = int(rng.integers(0, 4))
        if kind == 1:
            order.reverse()
        strides, step = [0] * len(shape), 1
        for axis in reversed(order):
            strides[axis] = step
            step *= shape[axis]
            if kind == 2 and axis == order[-1]:
                step += int(rng.integers(1, 9))
        start = int(rng.integers(0, 5)) if kind == 3 else 0
        return strides, start, start + step

    def input(self, rng, elem, bits, modifiers=""):
        """Loads a tile (or a scalar) of the given bits."""
        bits = np.asarray(bits)
        strides, start, size = self.place(rng, bits.shape)
        memory = np.zeros(size, formats.storage(elem))
        memory[positions(bits.shape, strides, start)] = bits
        base = self.buffer(elem, memory, rng)
        pointers = self.pointers(base, elem, bits.shape, strides, start)
        if not bits.shape and start:
            move = self.constant((), "i32", start)
            pointers = self.same(base, f"tile.addptr {base}, {move} : {base.type}, i32")
        return self(bits.shape, elem, f"tile.load {pointers} {modifiers}: {pointers.type}")

    def output(self, rng, value, expected, ulps=0.0, absolute=0.0, modifiers=""):
        """Stores `value`; the test fails unless it is `expected`: values of
        floating-point types within `ulps` and `absolute`, bits of integers."""
        elem, shape = value.elem, value.shape
        expected = np.asarray(expected)
        assert expected.shape == shape, (self.check, expected.shape, shape)
        strides, start, size = self.place(rng, shape)
        memory = np.full(size * formats.storage(elem).itemsize, 0xA5, np.uint8).view(formats.storage(elem))
        base = self.buffer(elem, memory, rng)
        pointers = self.pointers(base, elem, shape, strides, start)
        if not shape and start:
            move = self.constant((), "i32", start)
            pointers = self.same(base, f"tile.addptr {base}, {move} : {base.type}, i32")
        self.do(f"tile.store {pointers}, {value} {modifiers}: {pointers.type}")
        if not formats.is_float(elem):
            expected = expected.astype(formats.storage(elem))
        where = positions(shape, strides, start)
        self.outputs.append(Output(self.check, len(self.arrays) - 1, elem, expected, ulps, absolute, where))

    def text(self):
        body = "\n".join("    " + line.replace("\n", "\n    ") for line in self.lines)
        return f"  gpu.func @{self.name}({', '.join(self.parameters)}) kernel {{\n{body}\n    gpu.return\n  }}\n"


def positions(shape, strides, start):
    result = np.full(shape, start, np.int64)
    for axis, stride in enumerate(strides):
        result += np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))]) * stride
    return result
