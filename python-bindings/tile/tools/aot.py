# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation ahead of time: a kernel as PTX, cubin, metadata, and C source that launches it
through the driver API."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
import traceback
from pathlib import Path

from .. import _C
from ..compiler.kernel import compile as compile_kernel
from ..errors import CompilationError, TileError
from ..language import types as ty

_C_TYPES = {"ptr": "CUdeviceptr", "i1": "uint8_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t",
            "i64": "int64_t", "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double"}

# The short names of the types of signatures; the language's own names serve as well.
_TYPES = (*(f"{sign}{bits}" for sign in "iu" for bits in (1, 8, 16, 32, 64)),
          *(t.name for t in ty.SCALARS if t.is_floating()))

# Names that a function, in C and in C++, cannot have.
_KEYWORDS = set("""auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while bool catch class delete explicit export friend mutable namespace new operator private protected
public template this throw try typename using virtual asm alignas alignof concept constexpr decltype false
noexcept nullptr requires true typeid wchar_t""".split())
# What parameters of a function of ours cannot be called.
_C_WORDS = _KEYWORDS | set("NULL linux unix arguments attribute config result stream grid_x grid_y grid_z function module image"
                           .split())
_C_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def add_arguments(parser):
    parser.add_argument("kernel", help="FILE.py:NAME of a @tile.jit function")
    parser.add_argument("--signature", required=True,
                        help='types in order, such as "*fp32:16, *fp32:16, i32, 128"; a value of Python (a '
                        "number, None, a string in quotes) is a constexpr; `:16` says that an integer or "
                        "pointer is a multiple of 16, `:1` that an integer is 1")
    parser.add_argument("--chip", default="sm_90a", help="target chip (default: sm_90a)")
    parser.add_argument("--num-warps", type=int, default=4, help="default: 4")
    parser.add_argument("--num-stages", type=int, default=3, help="default: 3")
    parser.add_argument("--maxnreg", type=int, help="limit of the registers of a thread")
    parser.add_argument("--launch-pdl", action="store_true",
                        help="programmatic dependent launch (sm_90 and newer): the kernel starts while the "
                        "one before it on the stream ends")
    parser.add_argument("--name", help="name of the C functions and files (default: the kernel's)")
    parser.add_argument("-o", "--output", type=Path, default=Path("."), help="folder of the files")


def load_kernel(path: str):
    """The kernel that FILE.py:NAME names."""
    file, _, name = path.rpartition(":")
    if not file or not name:
        raise ValueError(f"expected FILE.py:NAME, got {path!r}")
    if not Path(file).is_file():
        raise ValueError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None:
        raise ValueError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # As after `import`: what looks up the module of a class or function finds it.
    sys.modules.setdefault(spec.name, module)
    sys.path.insert(0, str(Path(file).resolve().parent))
    try:
        spec.loader.exec_module(module)
    except TileError:
        raise
    except Exception as error:
        # The program is the user's: its traceback says where, ours would not help.
        trace = traceback.extract_tb(error.__traceback__)
        where = next((f"{f.filename}:{f.lineno}" for f in reversed(trace) if f.filename == file), file)
        raise ValueError(f"{where}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    kernel = getattr(module, name, None)
    if not hasattr(kernel, "compiled_function"):
        kernels = [n for n, value in vars(module).items()
                   if hasattr(value, "compiled_function") and value.__module__ == module.__name__]
        raise ValueError(f"{file} has no kernel {name!r}"
                         + (f"; it has {', '.join(kernels)}" if kernels else ""))
    return kernel


def _split(text: str) -> list[str]:
    """The parts between commas that are in no brackets and no quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if character == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def parse_signature(kernel, text: str):
    """Types and constexprs by name from a signature in order."""
    function = kernel.compiled_function()
    names, parts = function.arg_names, _split(text)
    if parts == [""]:
        parts = []
    if len(parts) != len(names):
        raise ValueError(f"the kernel has {len(names)} parameters ({', '.join(names)}), the signature "
                         f"{len(parts)}")
    types, constants = {}, {}
    for name, part in zip(names, parts):
        try:
            constants[name] = ast.literal_eval(part)
        except (ValueError, SyntaxError):
            spec, _, hint = (piece.strip() for piece in part.partition(":"))
            if spec.lstrip("*") not in ty.BY_NAME or hint not in ("", "1", "16"):
                raise ValueError(
                    f"{name}: {part!r} is neither a value nor a type with or without a hint, such as "
                    f"*fp32:16, i32 or i32:1; types are {', '.join(_TYPES)}") from None
            if hint == "1":
                if spec[:1] not in "iu":
                    raise ValueError(f"{name}: only an integer can be 1, not {spec}") from None
                constants[name] = 1
            elif name in function.constexpr_names:
                constants[name] = ty.type_of_name(spec)  # a dtype is a value, too
            else:
                types[name] = f"{spec}:{hint}" if hint else spec
            continue
        if name not in function.constexpr_names and isinstance(constants[name], (float, str)):
            raise ValueError(f"{name}: the value {part} is for a constexpr; give a type")
    missing = [name for name in function.constexpr_names if name not in constants]
    if missing:
        raise ValueError(f"{', '.join(missing)}: constexprs need a value in the signature")
    return types, constants


def _parameters(kernel):
    """(name, C type) of the run-time parameters."""
    names, result = set(), []
    leaves = (leaf for argument in kernel.arguments for leaf in argument.leaves())
    for leaf, parameter in zip(leaves, kernel.metadata.parameters):
        # Elements of tuples are called t[0]; Python's letters are more than those of C.
        name = re.sub("[^A-Za-z0-9_]", "_", leaf.name.replace("]", ""))
        while name in names or name in _C_WORDS:
            name += "_"
        names.add(name)
        result.append((name, _C_TYPES[parameter["type"]]))
    return result


_HEADER = """\
/* {name}: generated by `python -m tile compile`. {description} */
#ifndef TILE_{guard}_H
#define TILE_{guard}_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* Loads the kernel into the current context; the first launch does it, too. Not to be called
   by two threads at once. */
CUresult {name}_load(void);
/* Unloads it: to be called before its context is destroyed or another one is used. */
CUresult {name}_unload(void);
/* Launches it on a grid of blocks, which have {threads} threads. {assumptions}*/
CUresult {name}(CUstream stream, unsigned grid_x, unsigned grid_y, unsigned grid_z{parameters});

#ifdef __cplusplus
}}
#endif
#endif
"""

_SOURCE = """\
/* {name}: generated by `python -m tile compile`. {description} */
#include "{name}.h"

static const unsigned char image[] = {{
{image}
}};

static CUmodule module;
static CUfunction function;

CUresult {name}_load(void) {{
  CUresult result;
  if (function)
    return CUDA_SUCCESS;
  result = cuModuleLoadData(&module, image);
  if (result != CUDA_SUCCESS)
    return result;
  result = cuModuleGetFunction(&function, module, "{kernel}");
{opt_in}  if (result != CUDA_SUCCESS)
    {name}_unload();
  return result;
}}

CUresult {name}_unload(void) {{
  CUresult result = module ? cuModuleUnload(module) : CUDA_SUCCESS;
  module = 0;
  function = 0;
  return result;
}}

CUresult {name}(CUstream stream, unsigned grid_x, unsigned grid_y, unsigned grid_z{parameters}) {{
  void *arguments[] = {{{pointers}}};
  CUresult result = {name}_load();
  if (result != CUDA_SUCCESS || !grid_x || !grid_y || !grid_z)
    return result;
{launch}}}
"""

_LAUNCH = """\
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, {threads}, 1, 1, {shared}, stream, arguments, 0);
"""

# The kernel starts while the one before it on the stream ends.
_LAUNCH_PDL = """\
  CUlaunchAttribute attribute;
  CUlaunchConfig config = {{grid_x, grid_y, grid_z, {threads}, 1, 1, {shared}, stream, &attribute, 1}};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  return cuLaunchKernelEx(&config, function, arguments, 0);
"""

# More shared memory than this must be asked for.
_OPT_IN = """\
  if (result == CUDA_SUCCESS)
    result = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {shared});
"""


def _hex(data: bytes) -> str:
    rows = (data[i:i + 16] for i in range(0, len(data), 16))
    return ",\n".join("    " + ", ".join(f"0x{byte:02x}" for byte in row) for row in rows)


def _assumptions(kernel, parameters) -> str:
    """The sentence about what the code takes for granted."""
    names = [name for (name, _), parameter in zip(parameters, kernel.metadata.parameters)
             if parameter["divisibility"] > 1]
    return f"Multiples of 16: {', '.join(names)}. " if names else ""


def files_of(kernel, name: str) -> dict[str, bytes]:
    """The files of a compiled kernel by name. Without ptxas there is no cubin, and the C source
    has the PTX, which the driver compiles."""
    files = {f"{name}.ptx": kernel.asm["ptx"].encode()}
    try:
        image = files[f"{name}.cubin"] = kernel.asm["cubin"]
        resources = {"registers": kernel.n_regs, "spill_bytes": kernel.n_spills}
    except CompilationError as error:
        if "ptxas was found in none" not in str(error):
            raise
        image, resources = kernel.asm["ptx"].encode() + b"\0", {}
    parameters = _parameters(kernel)
    # Shared memory that the kernel declares counts as well, but is not for the launcher to give.
    shared = kernel.dynamic_shared
    fields = {
        "name": name, "kernel": kernel.name, "guard": name.upper(), "threads": kernel.num_threads,
        "description": f"For {kernel.chip}.", "shared": shared, "image": _hex(image),
        "parameters": "".join(f", {type_} {parameter}" for parameter, type_ in parameters),
        "pointers": ", ".join(f"&{parameter}" for parameter, _ in parameters) or "0",
        "opt_in": _OPT_IN.format(shared=shared) if shared > 48 * 1024 else "",
        "assumptions": _assumptions(kernel, parameters),
        "launch": (_LAUNCH_PDL if kernel.launch_pdl else _LAUNCH).format(threads=kernel.num_threads,
                                                                         shared=shared),
    }
    files[f"{name}.h"] = _HEADER.format(**fields).encode()
    files[f"{name}.c"] = _SOURCE.format(**fields).encode()
    metadata = {**vars(kernel.metadata), "target": kernel.chip, **resources, "threads": kernel.num_threads,
                "dynamic_shared": shared, "arguments": {a.name: a.describe() for a in kernel.arguments}}
    files[f"{name}.json"] = (json.dumps(metadata, indent=2) + "\n").encode()
    return files


def write(kernel, name: str, folder: Path) -> list[Path]:
    """Writes all files of a compiled kernel; their paths."""
    if not _C_NAME.fullmatch(name) or name in _C_WORDS:
        raise ValueError(f"{name!r} cannot be the name of a C function: choose another with --name")
    files = files_of(kernel, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            (folder / file).write_bytes(data)
    except OSError as error:
        raise ValueError(f"cannot write to {folder}: {error.strerror}") from error
    return [folder / file for file in files]


def main(arguments):
    chips = _C.chips()
    if arguments.chip not in chips:
        raise ValueError(f"unknown chip {arguments.chip!r}, expected one of {', '.join(chips)}")
    kernel = load_kernel(arguments.kernel)
    types, constants = parse_signature(kernel, arguments.signature)
    compiled = compile_kernel(kernel, signature=types, constexprs=constants, target=arguments.chip,
                              num_warps=arguments.num_warps, num_stages=arguments.num_stages,
                              maxnreg=arguments.maxnreg, launch_pdl=arguments.launch_pdl)
    for path in write(compiled, arguments.name or compiled.name, arguments.output):
        print(path)
