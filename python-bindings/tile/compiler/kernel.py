# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels, and compilation without a device."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from types import SimpleNamespace

from .. import _C, knobs
from ..errors import from_diagnostics
from ..language import types as ty
from ..language.types import unwrap
from ..runtime import cache
from ..runtime.driver import chip_of_device, driver
from .session import Argument, Options, build, generate


@dataclass(frozen=True)
class GPUTarget:
    """A target as Triton names it: `GPUTarget("cuda", 90, 32)` is sm_90a."""

    backend: str
    arch: int
    warp_size: int = 32

    @property
    def chip(self) -> str:
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


class Assembly:
    """The texts of a kernel by stage, made when they are asked for: `tile`, `tile_gpu`,
    `nvvm`, `llir`, `ptx`, `cubin`. `ttir` and `ttgir` are other names of the first two."""

    _ALIASES = {"ttir": "tile", "ttgir": "tile_gpu"}
    STAGES = ("tile", "tile_gpu", "nvvm", "llir", "ptx", "cubin")

    def __init__(self, kernel, tile: str, ptx: str):
        self._kernel = kernel
        self._made = {"tile": tile, "ptx": ptx}

    def keys(self):
        return self.STAGES

    def __contains__(self, key):
        return self._ALIASES.get(key, key) in self.STAGES

    def __iter__(self):
        return iter(self.STAGES)

    def __getitem__(self, key):
        key = self._ALIASES.get(key, key)
        if key not in self.STAGES:
            raise KeyError(f"{key!r}; there are {', '.join(self.STAGES)}")
        if key not in self._made:
            self._made[key] = self._kernel._make_stage(key, self._made)
        return self._made[key]

    def get(self, key, default=None):
        return self[key] if key in self else default


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
        self.asm = Assembly(self, code.tile, code.ptx)
        self.from_disk = code.from_disk
        self.hash = hashlib.sha256(
            f"{code.ptx}{chip}{options}".encode()).hexdigest()
        self.metadata = SimpleNamespace(
            name=self.name, hash=self.hash, shared=shared, num_warps=options.num_warps,
            num_stages=options.num_stages, num_ctas=options.num_ctas, maxnreg=options.maxnreg,
            target=chip, ptx_version=description["ptx_version"], parameters=kernel["parameters"])
        self._resources = None
        self._emulated = None
        self._loaded = {}
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
            self._resources = json.loads(resources)
            return cubin
        result = _C.assemble(self.asm["ptx"], ptxas[0], self.options.native(self.chip))
        if not result.ok:
            raise from_diagnostics(result.diagnostics, self.name)
        self._resources = json.loads(result.metadata)[0]
        cache.store(key, json.dumps(self._resources).encode() + b"\n" + result.bytes,
                    {"kind": "cubin", "kernel": self.name, "chip": self.chip})
        return result.bytes

    def _resource(self, name: str) -> int:
        self.asm["cubin"]
        return self._resources[name]

    @property
    def n_regs(self) -> int:
        """Registers of a thread; needs ptxas."""
        return self._resource("registers")

    @property
    def n_spills(self) -> int:
        """Bytes that a thread spills; needs ptxas."""
        return self._resource("spill_store_bytes")

    @property
    def n_max_threads(self) -> int:
        return self.num_threads

    def emulated(self):
        """The kernel, loaded in the emulator."""
        if self._emulated is None:
            self._emulated = _C.EmulatorKernel(self.asm["ptx"], self.name, self._parameters,
                                               self.num_threads, self.dynamic_shared)
        return self._emulated

    def loaded(self, device: int):
        """The kernel, loaded on a GPU. A driver that has no ptxas at hand compiles PTX itself."""
        if device not in self._loaded:
            image = self._image()
            self._loaded[device] = _C.CudaKernel(image, self.name, self._parameters,
                                                 self.num_threads, self.dynamic_shared)
        return self._loaded[device]

    def loaded_on(self, device: int):
        """The kernel as `loaded` made it, or None."""
        return self._loaded.get(device)

    # As programs for Triton use compiled kernels -------------------------------------------

    def _init_handles(self):
        """Loads the kernel on the current GPU, if there is one that it was compiled for."""
        if driver.default.is_active():
            device = driver.default.get_current_device()
            if chip_of_device(device) == self.chip:
                self.loaded(device)

    @property
    def function(self):
        """The handle (CUfunction) on the current GPU; None without one."""
        self._init_handles()
        loaded = self.loaded_on(driver.default.get_current_device())
        return None if loaded is None else loaded.function

    def launch_metadata(self, grid, stream, *args) -> dict:
        """What a profiler wants to know of a launch: name, function, stream, and what the
        `launch_metadata` function of the kernel adds."""
        result = {"name": self.name, "function": self.function, "stream": stream}
        describe = getattr(self.kernel_function, "launch_metadata", None)
        if describe is not None:
            names = self.kernel_function.arg_names
            result.update(describe(grid, self.metadata, dict(zip(names, args))))
        return result

    @property
    def specialization_data(self) -> str:
        """Text for `preload` of the kernel in another process."""
        if self.keys is None:
            raise ValueError(f"{self.name} was compiled without arguments to launch it with")
        from ..runtime import specialization
        return specialization.serialize(self.kernel_function.__qualname__, self.keys, self.chip,
                                        self.options)

    def __getitem__(self, grid):
        """`kernel[grid](*args)` launches a kernel that `warmup` compiled."""
        if self.kernel_function is None:
            raise TypeError(f"{self.name} was compiled without arguments to launch it with")
        return lambda *args, stream=None: self.kernel_function.launch_compiled(self, grid, args, stream)

    def _image(self) -> bytes:
        try:
            return self.asm["cubin"]
        except Exception as error:
            if "ptxas was found in none" not in str(error):
                raise
            return self.asm["ptx"].encode() + b"\0"


def compile_arguments(function, arguments, chip: str, options: Options) -> CompiledKernel:
    """Compiles a kernel for arguments as the launcher classified them."""
    options.check()
    source = build(function, arguments, chip)
    return CompiledKernel(source, generate(source, chip, options), chip, options)


@dataclass
class ASTSource:
    """A kernel with its signature, for `compile`."""

    fn: object
    signature: dict
    constexprs: dict | None = None
    attrs: dict | None = None


def _argument(name: str, spec, divisible: bool) -> Argument:
    spec = str(spec).strip()
    if ":" in spec:
        spec, hint = spec.split(":")
        if hint.strip() not in ("16", ""):
            raise ValueError(f"the only hint of a signature is 16, got {hint!r} for {name}")
        divisible = divisible or hint.strip() == "16"
    return Argument(name, ty.type_of_name(spec), 16 if divisible else 1)


def _signature_arguments(function, signature, constexprs, attrs):
    """The arguments that `signature` describes; the order is the function's."""
    if isinstance(signature, str):
        specs = [s.strip() for s in signature.split(",")]
        names = [n for n in function.arg_names if n not in function.constexpr_names
                 and n not in constexprs]
        if len(specs) == len(function.arg_names):
            names = function.arg_names
        if len(specs) != len(names):
            raise ValueError(f"{function.name} has {len(names)} run-time parameters, the signature "
                             f"{len(specs)}")
        signature = dict(zip(names, specs))
    divisible = set()
    for key, hints in (attrs or {}).items():
        index = key[0] if isinstance(key, tuple) else key
        if any(h[0] == "tt.divisibility" and h[1] % 16 == 0 for h in hints):
            divisible.add(function.arg_names[index])
    arguments = []
    for parameter in function.params:
        name = parameter.name
        if name in constexprs:
            arguments.append(Argument(name, value=unwrap(constexprs[name])))
        elif name in signature and signature[name] != "constexpr":
            arguments.append(_argument(name, signature[name], name in divisible))
        elif parameter.default is not parameter.empty:
            arguments.append(Argument(name, value=unwrap(parameter.default)))
        else:
            raise ValueError(f"{function.name}: the signature has no type and no value for {name}")
    return arguments


def compile(fn, signature=None, constexprs=None, target=None, options=None, **option_kwargs):
    """Compiles a kernel without a device.

    `signature` maps parameters to types such as `"*fp32:16"` (a pointer that is divisible by
    16) or `"i32"`; a string has them in order. `constexprs` maps names (or positions) to
    values. `target` is a chip (`"sm_90a"`), a GPUTarget, or None for the emulator's chip.
    """
    attrs = None
    if isinstance(fn, ASTSource):
        signature, constexprs, attrs, fn = fn.signature, fn.constexprs, fn.attrs, fn.fn
    function = fn.compiled_function()
    values = {}
    for key, value in (constexprs or {}).items():
        key = key[0] if isinstance(key, tuple) else key
        values[function.arg_names[key] if isinstance(key, int) else key] = value
    chip = target.chip if isinstance(target, GPUTarget) else target or knobs.emulator_chip
    chosen = Options(**{**(options or {}), **option_kwargs})
    arguments = _signature_arguments(function, signature or {}, values, attrs)
    return compile_arguments(function, arguments, chip, chosen)
