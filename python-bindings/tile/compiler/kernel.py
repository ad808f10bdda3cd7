# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels, and compilation without a device."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace

from .. import _C, knobs
from ..errors import CompilationError, PTXASError, TileError, from_diagnostics
from ..runtime import cache, hooks
from ..runtime.driver import chip_of_device, driver
from .session import IGNORED_OPTIONS, Code, Options, build, generate, pointers_of
from .signature import arguments_of


@dataclass(frozen=True)
class GPUTarget:
    """A target as Triton names it: `GPUTarget("cuda", 90, 32)` is sm_90a. The backend "cpu" is
    the emulator."""

    backend: str
    arch: int | str | None
    warp_size: int = 32

    @property
    def chip(self) -> str:
        if self.backend == "cpu":
            return knobs.emulator_chip
        if self.backend != "cuda" or self.warp_size != 32:
            raise ValueError(f"only NVIDIA GPUs are supported, got {self}")
        return chip_of_capability(self.arch)


def chip_of_capability(capability: int) -> str:
    """The chip to compile for on a GPU of that compute capability (times ten)."""
    chips = _C.chips()
    for name in (f"sm_{capability}a", f"sm_{capability}"):
        if name in chips:
            return name
    raise ValueError(f"no chip sm_{capability}; known are {', '.join(chips)}")


class Assembly(Mapping):
    """The texts of a kernel by stage, made when they are asked for: `tile`, `tile_gpu`,
    `nvvm`, `llir`, `ptx`, `cubin`. `ttir` and `ttgir` are other names of the first two. Besides
    them there is `sass`, what cuobjdump reads in the cubin."""

    _ALIASES = {"ttir": "tile", "ttgir": "tile_gpu"}
    STAGES = ("tile", "tile_gpu", "nvvm", "llir", "ptx", "cubin")

    def __init__(self, kernel, tile: str, ptx: str):
        self._kernel = kernel
        self._made = {"tile": tile, "ptx": ptx}
        # What ptxas says of the cubin.
        self.resources = None

    def __getstate__(self):
        """In a pickle is the cubin, so that the processes that compile kernels for another one, as
        those of PyTorch Inductor do, assemble them as well; but not if ptxas is missing, say."""
        if not self._kernel.is_emulated:
            try:
                self["cubin"]
            except TileError:
                pass
        return self.__dict__

    def __contains__(self, key):
        return key == "sass" or self._ALIASES.get(key, key) in self.STAGES

    def __iter__(self):
        return iter(self.STAGES)

    def __len__(self):
        return len(self.STAGES)

    def __getitem__(self, key):
        key = self._ALIASES.get(key, key)
        if key not in self:
            raise KeyError(f"{key!r}; there are {', '.join(self.STAGES)}, sass")
        if key not in self._made:
            self._made[key] = disassemble(self["cubin"]) if key == "sass" else (
                self._kernel._make_stage(key, self._made))
        return self._made[key]


def disassemble(cubin: bytes) -> str:
    """The instructions of a cubin, by cuobjdump of NVIDIA's toolkit."""
    import subprocess  # slow, and rarely needed
    import tempfile
    program = knobs.nvidia.cuobjdump
    if not program:
        raise RuntimeError("sass needs the program cuobjdump, which is neither beside ptxas nor on PATH")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([program, "-sass", file.name], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{program} failed: {done.stderr or done.stdout}")
    return done.stdout


class CompiledKernel:
    """A kernel for one signature and one chip."""

    def __init__(self, source, code, chip: str, options: Options):
        self.name = source.name
        self.chip = chip
        self.options = options
        self.arguments = source.arguments
        description = json.loads(code.metadata)
        kernel = description["kernels"][0]
        self._parameters = [p["type"] for p in kernel["parameters"]]
        self.num_threads = kernel["block_size"][0]
        self.dynamic_shared = kernel["shared_bytes"]["dynamic"]
        shared = kernel["shared_bytes"]["static"] + self.dynamic_shared
        # Not on chips that have no programmatic launch.
        self.launch_pdl = kernel["programmatic_launch"]
        self.asm = Assembly(self, code.tile, code.ptx)
        self.from_disk = code.from_disk
        self.hash = hashlib.sha256(
            f"{code.ptx}{chip}{options}".encode()).hexdigest()
        self.metadata = SimpleNamespace(
            name=self.name, hash=self.hash, shared=shared, num_warps=options.num_warps,
            num_stages=options.num_stages, num_ctas=options.num_ctas, maxnreg=options.maxnreg,
            launch_pdl=self.launch_pdl, launch_cooperative_grid=options.launch_cooperative_grid,
            target=GPUTarget("cuda", int(chip.removeprefix("sm_").rstrip("af"))), chip=chip,
            ptx_version=description["ptx_version"], parameters=kernel["parameters"])
        self._emulated = None
        self._loaded = {}
        self._launcher = None
        # What was compiled, and whether it is for the emulator only, if `compile` made the kernel.
        self.src, self.is_emulated = None, False
        # The JITFunction that was compiled and the key of the arguments, where there is one.
        self.kernel_function = self.keys = None

    def _make_stage(self, stage: str, made):
        if stage == "cubin":
            return self._assemble()
        native = self.options.native(self.chip)
        name = {"tile_gpu": "tile-gpu", "nvvm": "nvvm", "llir": "llvmir"}[stage]
        result = _C.compile_text(made["tile"], name, native)
        if not result.ok:
            raise from_diagnostics(result.diagnostics, self.name)
        return result.output

    def _assemble(self) -> bytes:
        """The cubin, from the disk if this PTX was assembled before."""
        ptxas = knobs.find_ptxas()
        key = cache.key_of("cubin", self.asm["ptx"], self.chip, knobs.line_info, *ptxas)
        found = cache.load(key)
        if found is not None:
            resources, _, cubin = found.partition(b"\n")
            self.asm.resources = json.loads(resources)
            return cubin
        result = _C.assemble(self.asm["ptx"], ptxas[0], self.options.native(self.chip))
        if not result.ok:
            error = from_diagnostics(result.diagnostics, self.name)
            if type(error) is CompilationError and ptxas[0]:
                error = PTXASError(error.message, error.frame, error.end_column, error.callers,
                                   error.notes)
            raise error
        self.asm.resources = json.loads(result.metadata)[0]
        cache.store(key, json.dumps(self.asm.resources).encode() + b"\n" + result.bytes,
                    {"kind": "cubin", "kernel": self.name, "chip": self.chip})
        return result.bytes

    def __getstate__(self):
        """Other processes load the kernel anew."""
        return {**self.__dict__, "_emulated": None, "_loaded": {}, "_launcher": None,
                "kernel_function": None}

    def _resource(self, name: str) -> int:
        if self.is_emulated:
            return 0
        try:
            self.asm["cubin"]
        except CompilationError:
            # A driver that has compiled the PTX itself knows, too.
            loaded = next(iter(self._loaded.values()), None)
            if loaded is None:
                raise
            return loaded.registers if name == "registers" else loaded.local_bytes
        return self.asm.resources[name]

    @property
    def n_regs(self) -> int:
        """Registers of a thread; needs ptxas, or a GPU that the kernel is loaded on."""
        return self._resource("registers")

    @property
    def n_spills(self) -> int:
        """Bytes that a thread spills; needs ptxas, or a GPU that the kernel is loaded on."""
        return self._resource("spill_store_bytes")

    def emulated(self):
        """The kernel, loaded in the emulator."""
        if self._emulated is None:
            self._emulated = hooks.load(self, lambda: _C.EmulatorKernel(
                self.asm["ptx"], self.name, self._parameters, self.num_threads, self.dynamic_shared))
        return self._emulated

    def loaded(self, device: int):
        """The kernel, loaded on a GPU. A driver that has no ptxas at hand compiles PTX itself."""
        if device not in self._loaded:
            self._loaded[device] = hooks.load(self, lambda: _C.CudaKernel(
                self._image(), self.name, self._parameters, self.num_threads, self.dynamic_shared,
                self.launch_pdl, self.options.launch_cooperative_grid), lambda loaded: loaded.function)
        return self._loaded[device]

    def loaded_on(self, device: int):
        """The kernel as `loaded` made it, or None."""
        return self._loaded.get(device)

    # As programs for Triton use compiled kernels -------------------------------------------

    def _init_handles(self):
        """Loads the kernel on the current GPU, if there is one that it was compiled for."""
        if not self.is_emulated and driver.default.is_active():
            device = driver.default.get_current_device()
            if chip_of_device(device) == self.chip:
                self.loaded(device)

    @property
    def function(self):
        """The handle (CUfunction) on the current GPU; None without one."""
        self._init_handles()
        loaded = self.loaded_on(driver.default.get_current_device())
        return None if loaded is None else loaded.function

    @property
    def run(self):
        """`run(x, y, z, stream, function, metadata, launch_metadata, enter_hook, exit_hook, *args)`
        launches the kernel on a grid, without a look at what the arguments are specialised to.
        `args` are all arguments; those that the kernel has as constants are not looked at."""
        if self._launcher is None:
            from ..runtime.direct import make_launcher
            self._launcher = make_launcher(self)
        return self._launcher

    def launch_metadata(self, grid, stream, *args) -> hooks.LaunchMetadata:
        """What a profiler wants to know of a launch: name, function, stream, and what the
        `launch_metadata` function of the kernel adds."""
        result = self.describe_launch(grid, stream, args, None)
        result.add(lambda: {"function": self.function}, ())
        return result

    def describe_launch(self, grid, stream, args, function) -> hooks.LaunchMetadata:
        """As `launch_metadata`, of a launch whose function (None in the emulator) is known."""
        result = hooks.LaunchMetadata({"name": self.name, "stream": stream, "function": function})
        describe = getattr(self.kernel_function, "launch_metadata", None)
        if describe is not None:
            names = self.kernel_function.arg_names
            result.add(describe, (grid, self.metadata, dict(zip(names, args))))
        return result

    @property
    def specialization_data(self) -> str:
        """Text for `preload` of the kernel in another process."""
        if self.keys is None or self.kernel_function is None:
            raise ValueError(f"{self.name} was compiled without arguments to launch it with, or unpickled")
        from ..runtime import specialization
        return specialization.serialize(self.kernel_function.__qualname__, self.keys, self.chip,
                                        self.options)

    def __getitem__(self, grid):
        """`kernel[grid](*args)` launches a kernel that `warmup` compiled."""
        if self.kernel_function is None:
            raise TypeError(f"{self.name} was compiled without arguments to launch it with, or unpickled: "
                            "launch it with run(...)")
        return lambda *args, stream=None: self.kernel_function.launch_compiled(self, grid, args, stream)

    def _image(self) -> bytes:
        try:
            return self.asm["cubin"]
        except Exception as error:
            if "ptxas was found in none" not in str(error):
                raise
            return self.asm["ptx"].encode() + b"\0"


def compile_arguments(function, arguments, chip: str, options: Options, name: str = "",
                      used_globals: dict | None = None) -> CompiledKernel:
    """Compiles a kernel for arguments as the launcher classified them; see `build` for `name`. What
    the code depends on is added to `used_globals`, where the values of earlier compiles stay."""
    options.check()
    start = time.perf_counter()
    source = build(function, arguments, chip, name, options)
    front_end = time.perf_counter() - start
    code = generate(source, chip, options)
    kernel = CompiledKernel(source, code, chip, options)
    if used_globals is not None:
        for key, used in source.session.used_globals.items():
            used_globals.setdefault(key, used)
    kernel.compile_times = hooks.CompileTimes.of_seconds(front_end, *code.times)
    return kernel


def announce(kernel: CompiledKernel, source):
    """Tells the listener of a compile of `source`."""
    if knobs.compilation.listener is not None:
        knobs.compilation.listener(src=source, metadata=dict(vars(kernel.metadata)), metadata_group={},
                                   times=kernel.compile_times, cache_hit=kernel.from_disk)


@dataclass
class ASTSource:
    """A kernel with its signature, for `compile`."""

    fn: object
    signature: dict
    constexprs: dict | None = None
    attrs: dict | None = None

    @classmethod
    def of_arguments(cls, fn, arguments):
        """The source of a launch."""
        pointers, attrs = pointers_of(arguments), {}
        for i, argument in enumerate(arguments):
            hints = [["tt.divisibility", argument.divisibility]] if argument.divisibility > 1 else []
            if argument.same_as is not None:
                hints.append(["tile.same_as", pointers[argument.same_as].name])
            if hints:
                attrs[(i, )] = hints
        return cls(fn, {a.name: a.signature() for a in arguments},
                   {a.name: a.value for a in arguments if a.is_constexpr}, attrs)


def _compile_file(path, chip: str, options: Options) -> CompiledKernel:
    """Compiles the kernel in a file of tile IR, as `kernel.asm["tile"]` has it."""
    path = os.fspath(path)
    if not path.endswith((".tile", ".mlir")):
        raise NotImplementedError(f"{path}: this compiler reads kernels in Python and its own IR (in files "
                                  ".tile or .mlir), not the IR of other compilers")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    result = _C.compile_text(text, "ptx", options.native(chip))
    if not result.ok:
        raise from_diagnostics(result.diagnostics, os.path.basename(path))
    name = json.loads(result.metadata)["kernels"][0]["name"]
    source = SimpleNamespace(name=name, arguments=[])
    return CompiledKernel(source, Code(text, result.output, result.metadata), chip, options)


def compile(src=None, signature=None, constexprs=None, target=None, options=None, *, fn=None,
            **option_kwargs):
    """Compiles a kernel without a device: a @tile.jit function, an ASTSource, or a file of tile IR.

    `signature` maps parameters to types such as `"*fp32:16"` (a pointer that is divisible by
    16), `"*fp32:16=x"` (one that may be the same memory as the parameter x before it) or
    `"i32"`; a string has them in order. `constexprs` maps names (or positions) to
    values. `target` is a chip (`"sm_90a"`), a GPUTarget, or None for the emulator's chip.
    """
    fn, attrs = src if fn is None else fn, None
    if isinstance(fn, ASTSource) and signature is not None:  # as Triton: compile(source, target, options)
        target, options = target or signature, options or constexprs
    if isinstance(fn, ASTSource):
        signature, constexprs, attrs, fn = fn.signature, fn.constexprs, fn.attrs, fn.fn
    chip = target.chip if isinstance(target, GPUTarget) else target or knobs.emulator_chip
    if chip not in _C.chips():
        raise ValueError(f"unknown target {chip!r}, expected one of {', '.join(_C.chips())}, or a GPUTarget")
    if not (options is None or isinstance(options, Mapping)):
        raise TypeError(f"options must be a dict of options by their names, got {options!r}")
    given = {**(options or {}), **option_kwargs}
    if knobs.debug or given.get("debug") is None:
        given["debug"] = bool(knobs.debug or getattr(getattr(fn, "base_fn", fn), "debug", False))
    unknown = [name for name in given if name not in IGNORED_OPTIONS and (
        name not in Options.__dataclass_fields__)]
    if unknown:
        raise TypeError(f"compile() has no option {', '.join(map(str, unknown))}; there are "
                        f"{', '.join(Options.__dataclass_fields__)}")
    chosen = Options(**{name: value for name, value in given.items() if name not in IGNORED_OPTIONS})
    if isinstance(fn, (str, os.PathLike)):
        return _compile_file(fn, chip, chosen)
    if not hasattr(fn, "compiled_function"):
        raise TypeError("tile.compile takes a @tile.jit function, an ASTSource or the path of a file of tile IR, "
                        f"got {fn!r}")
    function = fn.compiled_function()
    arguments = arguments_of(function, signature, constexprs, attrs)
    name_for = getattr(getattr(fn, "base_fn", fn), "_name_for", None)
    kernel = compile_arguments(function, arguments, chip, chosen, name_for(arguments) if name_for else "")
    kernel.src = ASTSource(fn, signature, constexprs, attrs)
    announce(kernel, kernel.src)
    kernel.is_emulated = isinstance(target, GPUTarget) and target.backend == "cpu"
    return kernel
