# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of the package: the only file that reads the environment.

Attributes may be assigned at run time. None of them changes the code that a given
kernel, with given options and target, is compiled to, except `line_info`.

The groups at the end (`knobs.runtime`, `knobs.compilation`, ...) have hooks and listeners, and
the same settings under the names of Triton's groups.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import types
from contextlib import contextmanager
from pathlib import Path

from . import _C


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "on", "true", "yes")


def _count(name: str) -> int:
    text = os.environ.get(name, "") or "0"
    if not text.isdecimal() or int(text) > 65536:
        raise ValueError(f"the environment's {name} must be a number from 0 to 65536, got {text!r}")
    return int(text)


def _chip(name: str) -> str:
    chip = os.environ.get(name) or "sm_90a"
    if chip not in _C.chips():
        raise ValueError(f"the environment's {name} must be one of {', '.join(_C.chips())}, got {chip!r}")
    return chip


def _toolkit_roots() -> list[str]:
    """Folders that may hold ptxas and libdevice."""
    roots = [os.environ.get("TILE_CUDA_HOME"), os.environ.get("CUDA_HOME"),
             os.environ.get("CUDA_PATH"), sys.prefix, "/usr/local/cuda"]
    return [root for root in roots if root and Path(root).exists()]


def _cache_dir() -> str:
    """The folder of compiled code: TILE_CACHE_DIR, or `tile` in the user's cache folder as the
    XDG Base Directory Specification defines it, which ignores relative paths. Empty for a
    user without a home."""
    chosen = os.environ.get("TILE_CACHE_DIR")
    if chosen:
        try:
            return os.path.abspath(os.path.expanduser(chosen))
        except OSError:  # the current folder was removed
            return ""
    for base in (os.environ.get("XDG_CACHE_HOME", ""),
                 os.path.join(os.path.expanduser("~"), ".cache")):
        if os.path.isabs(base):
            return os.path.join(base, "tile")
    return ""


cache_dir: str = _cache_dir()
# Whether compiled code is kept on disk.
use_cache: bool = bool(cache_dir) and not _flag("TILE_NO_CACHE")
# The chip that host arrays (the emulator) are compiled for.
emulator_chip: str = _chip("TILE_EMULATOR_CHIP")
# Path of ptxas; empty: searched in `toolkit_roots` and on PATH.
ptxas: str = os.environ.get("TILE_PTXAS", "")
toolkit_roots: list[str] = _toolkit_roots()
# Host threads of the emulator; 0: as many as there are cores.
emulator_threads: int = _count("TILE_EMULATOR_THREADS")
# Put source lines into the code; the emulator names them in its reports.
line_info: bool = not _flag("TILE_NO_LINE_INFO")
# Where reproducers of internal errors go.
dump_dir: str = os.environ.get("TILE_DUMP_DIR", "")
# Kernels are run by Python, line by line: for debuggers.
interpret: bool = _flag("TILE_INTERPRET")
# All kernels are compiled with their assertions and checks for integer overflow, even where a
# launch or @tile.jit says `debug=False`.
debug: bool = _flag("TILE_DEBUG")
# Compile kernels even if their code is on disk.
always_compile: bool = _flag("TILE_ALWAYS_COMPILE")
# Kernels may use global variables that are not tl.constexpr; a change makes their next launch an error.
allow_non_constexpr_globals: bool = _flag("TILE_ALLOW_NON_CONSTEXPR_GLOBALS")
# Keep the choices of all autotuners on disk.
cache_autotuning: bool = _flag("TILE_CACHE_AUTOTUNING")
# Report the winner of each autotuning run.
print_autotuning: bool = _flag("TILE_PRINT_AUTOTUNING")
# Show the progress of autotuning on a terminal, if the package rich is installed.
progress: bool = not _flag("TILE_NO_PROGRESS")


def find_ptxas():
    """Path of ptxas (empty if there is none: the compiler says where it looked), and what
    tells one version from another: size and time of the file."""
    candidates = [ptxas] if ptxas else [
        *(str(path) for root in toolkit_roots for path in (
            Path(root) / "bin/ptxas", *Path(root).glob("lib/python3*/site-packages/nvidia/*/bin/ptxas"))),
        shutil.which("ptxas") or ""]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            status = os.stat(candidate)
            return candidate, status.st_size, status.st_mtime_ns
    return ptxas, 0, 0


# Hooks, and the groups ----------------------------------------------------------------------


class HookChain:
    """Functions that are called with the same arguments, in the order in which they were added,
    or in the reversed one. A function is in it once."""

    def __init__(self, reversed: bool = False):
        self._calls = []
        self.reversed = reversed

    @property
    def calls(self) -> list:
        """The functions."""
        return self._calls

    def add(self, function):
        if not callable(function):
            raise TypeError(f"a hook is a function, got {function!r}")
        if function not in self._calls:
            self._calls.append(function)

    def remove(self, function):
        if function in self._calls:
            self._calls.remove(function)

    def __bool__(self):
        return bool(self._calls)

    def __call__(self, *args, **kwargs):
        for function in list(self._calls)[::-1 if self.reversed else 1]:
            function(*args, **kwargs)


# Called after an assignment that known launches may depend on.
_watchers = []


def watch(function):
    """`function()` is called after each assignment to `debug` or in a group."""
    _watchers.append(function)


_FLAGS = ("use_cache", "line_info", "interpret", "debug", "always_compile", "allow_non_constexpr_globals",
          "cache_autotuning", "print_autotuning", "progress")
_PATHS = ("cache_dir", "ptxas", "dump_dir")


def _checked(name: str, value):
    """The value that a setting gets by an assignment."""
    wanted = None
    if name in _FLAGS:
        # Of NumPy, too.
        if getattr(value, "shape", ()) or value not in (True, False):
            wanted = "True or False"
        else:
            value = bool(value)
    elif name in _PATHS:
        if not isinstance(value, (str, os.PathLike)):
            wanted = "a path, or an empty string for none"
        else:
            value = os.fspath(value)
    elif name == "toolkit_roots":
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, (str, os.PathLike)) for v in value):
            wanted = "a list of folders"
        elif any(not isinstance(v, str) for v in value):
            value = [os.fspath(v) for v in value]
    elif name == "emulator_threads":
        if type(value) is not int or not 0 <= value <= 65536:
            wanted = "a number from 0 to 65536"
    elif name == "emulator_chip":
        if value not in _C.chips():
            wanted = f"one of {', '.join(_C.chips())}"
    if wanted is not None:
        error = ValueError if name.startswith("emulator_") and isinstance(value, (str, int)) else TypeError
        raise error(f"knobs.{name} must be {wanted}, got {value!r}")
    return value


class _Module(types.ModuleType):

    def __setattr__(self, name, value):
        if name not in globals() and not name.startswith("_"):
            close = difflib.get_close_matches(name, globals(), n=1)
            raise AttributeError(f"tile.knobs has no {name}" + (f"; did you mean {close[0]!r}?" if close else ""))
        super().__setattr__(name, _checked(name, value))
        if name == "debug":
            for function in _watchers:
                function()


sys.modules[__name__].__class__ = _Module


class _Alias:
    """Another name of a variable of this module."""

    def __init__(self, variable: str, negated: bool = False):
        self.variable, self.negated = variable, negated
        self.default = self.get()

    def get(self):
        value = globals()[self.variable]
        return not value if self.negated else value

    def set(self, value):
        setattr(sys.modules[__name__], self.variable, not value if self.negated else value)


class _Value:
    """A hook or listener: None or a function."""

    default = value = None

    def get(self):
        return self.value

    def set(self, value):
        if value is not None and not callable(value):
            raise TypeError(f"it is a function or None, got {value!r}")
        self.value = value


class _Hooks(_Value):
    """A chain of hooks. A function that is assigned becomes the only one, None removes all."""

    def __init__(self, reversed: bool = False):
        self.reversed = reversed
        self.set(None)

    def set(self, value):
        super().set(value)
        if not isinstance(value, HookChain):
            self.value = HookChain(self.reversed)
            if value is not None:
                self.value.add(value)

    def save(self):
        """The chain and what is in it, for functions are added to it and removed from it."""
        return self.value, list(self.value.calls)

    def restore(self, saved):
        """The chain that `save` was called for, as it was."""
        chain, calls = saved
        chain.calls[:] = calls
        return chain


class _Fixed:
    """A setting of Triton that does not exist here: what to do instead."""

    def __init__(self, default, reason: str):
        self.default, self.reason = default, reason

    def get(self):
        return self.default

    def set(self, value):
        if value != self.default:
            raise NotImplementedError(f"it is not supported: {self.reason}")


class _Program(str):
    """The path of a program; empty if there is none."""

    @property
    def path(self) -> str:
        return str(self)

    @property
    def version(self) -> str:
        """As "13.0"; raises RuntimeError if the program does not say it."""
        import subprocess  # slow, and rarely needed
        try:
            text = subprocess.run([self, "--version"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise RuntimeError(f"the version of {str(self)!r} cannot be found: {error}") from None
        _, _, rest = text.partition("release ")
        return rest.partition(",")[0]


class _Ptxas:
    """What is assigned, or else what was found."""

    default = None

    def get(self):
        return _Program(find_ptxas()[0])

    def save(self):
        return ptxas

    def set(self, value):
        sys.modules[__name__].ptxas = os.environ.get("TILE_PTXAS", "") if value is None else str(value)


class _BesidePtxas:
    """Another program of the toolkit that ptxas is in, or one on PATH."""

    default = None

    def __init__(self, name: str):
        self.name = name

    def get(self):
        path = os.path.join(os.path.dirname(find_ptxas()[0]), self.name)
        is_there = os.path.isabs(path) and os.access(path, os.X_OK)
        return _Program(path if is_there else shutil.which(self.name) or "")

    def save(self):
        return None

    def set(self, value):
        if value is not None:
            raise NotImplementedError(f"{self.name} is searched beside ptxas")


class _Libdevice(_Value):
    """The bitcode of libdevice. PyTorch Inductor assigns the one of the CUDA toolkit."""

    # `toolkit_roots` before an assignment and after it.
    before = after = None

    def set(self, value):
        global toolkit_roots
        if value is not None:
            parts = Path(value).parts
            if parts[-3:] != ("nvvm", "libdevice", "libdevice.10.bc"):
                raise NotImplementedError("it must be nvvm/libdevice/libdevice.10.bc of a CUDA toolkit")
        if self.value is not None and toolkit_roots is self.after:
            toolkit_roots = self.before
        if value is not None:
            root = str(Path(*parts[:-3]))
            self.before = toolkit_roots
            toolkit_roots = self.after = [root, *(other for other in toolkit_roots if other != root)]
        self.value = value


class Group:
    """Settings under the names of one of Triton's groups."""

    def __init__(self, name: str, **settings):
        super().__setattr__("_name", name)
        super().__setattr__("_settings", settings)

    def _setting(self, name: str):
        if name not in self._settings:
            raise AttributeError(f"knobs.{self._name} has no {name}; there are {', '.join(self._settings)}")
        return self._settings[name]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._setting(name).get()

    def __setattr__(self, name, value):
        try:
            self._setting(name).set(value)
        except (NotImplementedError, TypeError) as error:
            raise type(error)(f"knobs.{self._name}.{name}: {error}") from None
        for function in _watchers:
            function()

    def __delattr__(self, name):
        setattr(self, name, self._setting(name).default)

    def __dir__(self):
        return [*super().__dir__(), *self._settings]

    @property
    def knobs(self) -> dict:
        """All settings by name."""
        return {name: setting.get() for name, setting in self._settings.items()}

    def reset(self):
        """Gives all settings the values that they had at first."""
        for name in self._settings:
            delattr(self, name)
        return self

    @contextmanager
    def scope(self):
        """What is assigned in the block is undone after it."""
        before = {name: getattr(setting, "save", setting.get)() for name, setting in self._settings.items()}
        try:
            yield
        finally:
            for name, value in before.items():
                setting = self._settings[name]
                if isinstance(setting, _Hooks):
                    value = setting.restore(value)
                setattr(self, name, value)


_STAGES = "the stages of this compiler are others; kernel.asm has their texts"
_PTXAS = "ptxas is called by the compiler"
runtime = Group("runtime", debug=_Alias("debug"), interpret=_Alias("interpret"), launch_enter_hook=_Hooks(),
                launch_exit_hook=_Hooks(reversed=True), kernel_load_start_hook=_Hooks(),
                kernel_load_end_hook=_Hooks(reversed=True), jit_cache_hook=_Value(),
                jit_post_compile_hook=_Value(), add_stages_inspection_hook=_Fixed(None, _STAGES))
compilation = Group("compilation", always_compile=_Alias("always_compile"), listener=_Value(),
                    disable_line_info=_Alias("line_info", negated=True),
                    allow_non_constexpr_globals=_Alias("allow_non_constexpr_globals"),
                    dump_ir=_Fixed(False, _STAGES), override=_Fixed(False, _STAGES),
                    enable_asan=_Fixed(False, "tile.emulator.checks and compute-sanitizer check accesses"),
                    instrumentation_mode=_Fixed("", "tile.emulator.checks checks kernels"))
autotuning = Group("autotuning", cache=_Alias("cache_autotuning"), print=_Alias("print_autotuning"),
                   listener=_Value())
cache = Group("cache", dir=_Alias("cache_dir"), dump_dir=_Alias("dump_dir"),
              manager_class=_Fixed(None, "code is kept in files below knobs.cache_dir"))
language = Group("language", default_fp_fusion=_Fixed(True, "pass enable_fp_fusion=False to the launch"),
                 fp32_default=_Fixed(None, "pass input_precision=... to tl.dot"))
nvidia = Group("nvidia", ptxas=_Ptxas(), cuobjdump=_BesidePtxas("cuobjdump"), libdevice_path=_Libdevice(),
               ptxas_options=_Fixed(None, _PTXAS), disable_ptxas_opt=_Fixed(False, _PTXAS))
