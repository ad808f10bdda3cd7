# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compilation of one kernel: signature, IR, code."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import re
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from .. import _C, knobs
from ..errors import CompilationError, Frame, InternalCompilerError, from_diagnostics
from ..language import types as ty
from ..language.elementwise import flatten_tuple
from ..language.tensor import tensor
from ..language.semantic import to_tensor
from ..language.types import state
from ..runtime import cache
from .constants import typed
from .frontend import FunctionCompiler
from .function import value_at


# Options of Triton that change nothing here. Of `extern_libs` libdevice is the only one that kernels
# can call, and it is built in.
IGNORED_OPTIONS = {"extern_libs", "clc", "waves_per_eu",
                   "matrix_instr_nonkdim", "warp_size", "generate_native_code", "enable_reflect_ftz",
                   "num_consumer_groups", "num_buffers_warp_spec"}


@dataclass(frozen=True)
class Options:
    """How a kernel is compiled; the fields are Triton's.

    `num_ctas` other than 1 is not supported yet. `maxnreg` limits the registers of a
    thread (24 to 255; None or 0: no limit). `enable_fp_fusion` lets `a * b + c` round once.
    `launch_pdl` (programmatic dependent launch, sm_90 and newer): the kernel starts while the
    one before it on the stream ends, and waits for its results before it accesses memory.
    `launch_cooperative_grid`: the blocks of a launch run at the same time, so that they may wait
    for each other; the driver refuses a grid of which that is not possible.
    `debug` compiles the kernel's assertions and, with `sanitize_overflow`, checks that sums,
    differences and products of its integers fit.
    """

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    enable_fp_fusion: bool = True
    debug: bool = False
    launch_pdl: bool = False
    launch_cooperative_grid: bool = False
    sanitize_overflow: bool = True

    def __post_init__(self):
        for name in ("enable_fp_fusion", "debug", "launch_pdl", "launch_cooperative_grid", "sanitize_overflow"):
            value = ty.unwrap(getattr(self, name))
            if value is None:
                value = type(self).__dataclass_fields__[name].default
            # Of NumPy, too.
            if getattr(value, "shape", ()) or value not in (True, False):
                raise TypeError(f"{name} must be True or False, got {value!r}")
            object.__setattr__(self, name, bool(value))
        object.__setattr__(self, "sanitize_overflow", self.debug and self.sanitize_overflow)
        for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
            value = getattr(self, name)
            if name == "maxnreg" and value is None:
                continue
            try:
                # Of NumPy, too.
                object.__setattr__(self, name, operator.index(value))
            except TypeError:
                raise TypeError(f"{name} must be an integer, got {value!r}") from None

    def check(self):
        if self.num_warps not in (1, 2, 4, 8, 16, 32):
            raise ValueError(f"num_warps must be a power of two from 1 to 32, got {self.num_warps}")
        if self.num_ctas != 1:
            raise ValueError(f"num_ctas other than 1 is not supported yet, got {self.num_ctas}")
        if not 0 <= self.num_stages < 2**31:
            raise ValueError(f"num_stages must be a number from 0 to {2**31 - 1}, got {self.num_stages}")
        # With a warning that nobody sees ptxas takes smaller numbers for 24, and ignores larger ones.
        if self.maxnreg and not 24 <= self.maxnreg <= 255:
            raise ValueError("maxnreg must be a number of registers from 24 to 255, or 0 or None for no "
                             f"limit, got {self.maxnreg}")

    def native(self, chip: str):
        """The options of the compiler's C++ side."""
        options = _C.CompileOptions()
        options.chip = chip
        options.num_warps = self.num_warps
        options.num_stages = max(1, self.num_stages)
        options.num_ctas = self.num_ctas
        options.max_registers = self.maxnreg or 0
        options.programmatic_launch = self.launch_pdl
        options.fp_fusion = self.enable_fp_fusion
        options.line_info = knobs.line_info
        options.toolkit_roots = knobs.toolkit_roots
        return options


@dataclass(frozen=True)
class Argument:
    """A parameter of a kernel: a constexpr with its value, a type and what is known of its
    values, or a tuple of such."""

    name: str
    type: ty.dtype | None = None
    divisibility: int = 1
    value: object = None
    elements: tuple | None = None
    factory: type = tuple
    # The number, among the pointers of the kernel, of an earlier one that may be the same memory.
    same_as: int | None = None

    @property
    def is_constexpr(self):
        return self.type is None and self.elements is None

    @property
    def is_descriptor(self):
        return not isinstance(self.factory, type)

    def signature(self):
        """The type as signatures of Triton have it: "*fp32", "i32", "constexpr", "tensordesc<fp32[4]>",
        tuples of these."""
        if self.is_descriptor:
            return self.factory.signature()
        if self.elements is not None:
            return tuple(element.signature() for element in self.elements)
        return "constexpr" if self.type is None else ty.signature_name(self.type)

    def describe(self, pointers=None) -> str:
        """As signatures have it; `pointers` are the names of the kernel's pointers."""
        if self.elements is not None:
            return f"({', '.join(e.describe(pointers) for e in self.elements)})"
        if self.type is None:
            return f"constexpr {self.value!r}"
        name = f"*{self.type.element_ty}" if self.type.is_ptr() else str(self.type)
        hint = f":{self.divisibility}" if self.divisibility > 1 else ""
        return name + hint + (f"={pointers[self.same_as]}" if pointers and self.same_as is not None else "")

    def leaves(self):
        """The arguments that become parameters of the compiled kernel."""
        if self.elements is not None:
            for element in self.elements:
                yield from element.leaves()
        elif self.type is not None:
            yield self

    def bind(self, values):
        """What the front end sees; takes the IR values of the leaves from an iterator."""
        if self.elements is not None:
            parts = [element.bind(values) for element in self.elements]
            return tuple(parts) if self.factory is tuple else self.factory(*parts)
        return self.value if self.type is None else tensor(next(values), self.type)


def pointers_of(arguments) -> list[Argument]:
    """The parameters of a compiled kernel that are pointers."""
    return [leaf for argument in arguments for leaf in argument.leaves() if leaf.type.is_ptr()]


def describe_arguments(arguments) -> dict[str, str]:
    """What a kernel was compiled for, by parameter."""
    names = [pointer.name for pointer in pointers_of(arguments)]
    return {argument.name: argument.describe(names) for argument in arguments}


def _alias_groups(arguments) -> list[int]:
    """For each parameter of a kernel the number of its alias group, or -1 if it has none."""
    pointers = pointers_of(arguments)
    firsts = {pointer.same_as for pointer in pointers}
    groups = iter([number if number in firsts else -1 if pointer.same_as is None else pointer.same_as
                   for number, pointer in enumerate(pointers)])
    return [next(groups) if leaf.type.is_ptr() else -1
            for argument in arguments for leaf in argument.leaves()]


class Session:
    """What all functions of one compilation share."""

    def __init__(self, chip: str = "", debug: bool = False, sanitize_overflow: bool = False):
        self.chip = chip
        # Whether assertions are compiled, and checks of the arithmetic of integers.
        self.debug, self.sanitize_overflow = debug, sanitize_overflow
        self.builder = _C.Builder()
        # Variables that the code depends on, constants and functions, also those of functions that
        # the kernel calls: by the address of their place and their name the place (a dict of
        # globals, a class or the cell of a closure), the name and the value that is compiled in.
        # The first one stays: if another thread changes it, the code is out of date.
        self.used_globals = {}
        # Objects of the program that are no constexprs, by their addresses.
        self.outside = {}
        self.stack: list[FunctionCompiler] = []
        # Lists that must not change any more; see Containers.note_merged.
        self.fixed_containers = []
        # Branches with a `return` that were compiled.
        self.early_returns = 0

    def call(self, function, args, kwargs):
        """Calls a function from within a function of the language."""
        return self.stack[-1].call(function, args, kwargs)

    def result_types(self, function, args):
        """The types that a call would return; compiles it in a kernel that is thrown away."""
        probe = Session(self.chip, self.debug, self.sanitize_overflow)
        probe.used_globals, probe.outside = self.used_globals, self.outside
        top = self.stack[-1]
        with probe.active():
            parameters = probe.builder.start_kernel("probe", "", [a.dtype.to_ir() for a in args],
                                                    [1] * len(args))
            inner = FunctionCompiler(probe, top.function, top.scope, None)
            probe.stack.append(inner)
            values = [tensor(p, a.dtype) for p, a in zip(parameters, args)]
            result = flatten_tuple(probe.call(function, values, {}))
            return [to_tensor(r).dtype for r in result]

    @contextmanager
    def active(self):
        saved = state.builder, state.compiler
        state.builder, state.compiler = self.builder, self
        try:
            yield
        finally:
            state.builder, state.compiler = saved


@dataclass
class Source:
    """The IR of a kernel before any pass, and what it was made from."""

    session: Session
    name: str
    file: str
    arguments: list[Argument] = field(default_factory=list)
    # The kernel's own text, and its first line in the file.
    text: str = ""
    line: int = 0

    def describe(self, chip: str, options: Options) -> dict:
        """What `python -m tile cache` says about the compiled kernel."""
        return {"kind": "ptx", "kernel": self.name, "file": self.file, "chip": chip,
                "options": asdict(options), "arguments": describe_arguments(self.arguments),
                "source": hashlib.sha256(self.text.encode()).hexdigest(), "line": self.line}


def _ptx_name(name: str) -> str:
    """The name of a kernel in PTX, which knows letters and digits of ASCII, _ and $ alone."""
    name = "".join(letter if letter.isascii() else f"_u{ord(letter):x}" for letter in name)
    return re.sub(r"[^A-Za-z0-9_$]|^(?=[0-9])", "_", name)


def build(function, arguments, chip: str, name: str = "", options: Options = Options()) -> Source:
    """The tile IR of a kernel for the given arguments. `name` is that of the kernel in the IR if it
    is not the function's. Raises CompilationError."""
    name = _ptx_name(name or function.name)
    for parameter in function.params:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise CompilationError(f"a kernel cannot have the parameter {parameter}: pass a tuple",
                                   Frame(function.file, function.line_offset + function.tree.lineno,
                                         function.tree.col_offset, function.name))
    session = Session(chip, options.debug, options.sanitize_overflow)
    builder = session.builder
    # What is about the whole kernel is at its `def`.
    line = function.line_offset + function.tree.lineno
    with session.active():
        builder.set_location(function.file, line, function.tree.col_offset + 1)
        runtime = [leaf for a in arguments for leaf in a.leaves()]
        values = builder.start_kernel(name, chip, [a.type.to_ir() for a in runtime],
                                      [a.divisibility for a in runtime], _alias_groups(arguments))
        values = iter(values)
        scope = {a.name: a.bind(values) for a in arguments}
        compiler = FunctionCompiler(session, function, scope)
        compiler.is_kernel = True
        session.stack.append(compiler)
        try:
            compiler.compile_body()
        except RecursionError:
            raise CompilationError("the kernel is nested too deeply for Python's "
                                   f"sys.getrecursionlimit() of {sys.getrecursionlimit()}",
                                   Frame(function.file, line, function.tree.col_offset,
                                         function.name)) from None
        for place, variable, _, *snapshot in session.used_globals.values():
            if snapshot and not snapshot[0].is_forgiven and (
                    typed(ty.unwrap(value_at(place, variable))) != snapshot[0].typed):
                raise CompilationError(f"{variable} has changed while the kernel was compiled: kernels cannot change "
                                       "constants of the program",
                                       Frame(function.file, line, function.tree.col_offset, function.name))
        builder.set_location(function.file, line, function.tree.col_offset + 1)
        builder.finish_kernel()
    return Source(session, name, function.file, list(arguments), function.source,
                  function.line_offset + 1)


@dataclass
class Code:
    """What a kernel was compiled to."""

    tile: str
    ptx: str
    # JSON, as lib/Target/Compiler.h has it.
    metadata: str
    from_disk: bool = False
    # Seconds that compiling and storing have taken.
    times: tuple = (0.0, 0.0)


def generate(source: Source, chip: str, options: Options) -> Code:
    """PTX and metadata of a kernel, from the disk if it was compiled before. Raises
    CompilationError with the user's line if a pass refuses it, and InternalCompilerError with
    a reproducer if the IR is malformed."""
    builder = source.session.builder
    text = builder.print(False)
    # With line numbers in the code, places in the source are part of what it is made from.
    key = cache.key_of(builder.print(True) if knobs.line_info else text, chip, options, knobs.line_info)
    found = None if knobs.always_compile else cache.load(key)
    if found is not None:
        return Code(text, **json.loads(found), from_disk=True)
    start = time.perf_counter()
    result = builder.compile("ptx", options.native(chip))
    if result.ok:
        end = time.perf_counter()
        code = Code(text, result.output, result.metadata)
        cache.store(key, json.dumps({"ptx": code.ptx, "metadata": code.metadata}).encode(),
                    source.describe(chip, options))
        code.times = end - start, time.perf_counter() - end
        return code
    error = from_diagnostics(result.diagnostics, source.name)
    kept = write_reproducer(source.name, text)
    if error.frame is None:
        raise InternalCompilerError(f"{error}\n  {kept}; please report it")
    error.notes.append(kept)
    raise error


def write_reproducer(name: str, text: str) -> str:
    """Writes the IR of a kernel that cannot be compiled to a file; says where it is."""
    folder = knobs.dump_dir or tempfile.gettempdir()
    try:
        os.makedirs(folder, exist_ok=True)
        handle, path = tempfile.mkstemp(prefix=f"tile-{name}-", suffix=".mlir", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        # What is wrong with the kernel matters more.
        return f"the kernel's IR could not be written to {folder}: {error.strerror}"
    return f"the kernel's IR is in {path}"
