# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation ahead of time: a kernel as PTX, cubin, metadata, and C source that launches it
through the driver API."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import re
import sys
import traceback
from pathlib import Path

from .. import _C
from ..compiler.kernel import GPUTarget
from ..compiler.kernel import compile as compile_kernel
from ..compiler.session import describe_arguments, pointers_of
from ..compiler.signature import split_signature
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
_C_WORDS = _KEYWORDS | set("NULL linux unix arguments attributes config result stream grid_x grid_y grid_z function module image"
                           .split())
_C_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def add_arguments(parser):
    parser.add_argument("kernel", help="FILE.py:NAME of a @tile.jit function")
    parser.add_argument("-n", "--kernel-name", help="NAME, if KERNEL is FILE.py alone")
    parser.add_argument("-s", "--signature", required=True,
                        help='types in order, such as "*fp32:16, *fp32:16, i32, 128"; a value of Python (a '
                        "number, None, a string in quotes) is a constexpr; `:16` says that an integer or "
                        "pointer is a multiple of 16, `:1` that an integer is 1, `=x` after a pointer that it may "
                        "be the same memory as the parameter x before it; tensordesc<fp16[64, 64]> is a "
                        "tensor descriptor with its block shape: pointer, extents, strides but the last")
    parser.add_argument("--chip", help="target chip (default: sm_90a)")
    parser.add_argument("-t", "--target", help="target chip as cuda:90:32")
    parser.add_argument("-w", "--num-warps", type=int, default=4, help="default: 4")
    parser.add_argument("-ns", "--num-stages", type=int, default=3, help="default: 3")
    parser.add_argument("--maxnreg", type=int, help="limit of the registers of a thread")
    parser.add_argument("--launch-pdl", action="store_true",
                        help="programmatic dependent launch (sm_90 and newer): the kernel starts while the "
                        "one before it on the stream ends")
    parser.add_argument("--launch-cooperative-grid", action="store_true",
                        help="all blocks run at the same time, so that they may wait for each other")
    parser.add_argument("-on", "--name", "--out-name",
                        help="name of the C functions and files (default: the kernel's)")
    parser.add_argument("-o", "--output", type=Path, help="folder of the files (default: the current one)")
    parser.add_argument("--out-path", type=Path, help="FOLDER/NAME in place of --output and --name")
    # The launcher that users of other compilers know has the grid in it.
    parser.add_argument("-g", "--grid", help=argparse.SUPPRESS)


def _of_other_names(arguments):
    """Kernel, chip, name and folder, which have several options."""
    if arguments.grid is not None:
        raise ValueError("--grid: the grid is no part of the code, but an argument of the C function, as "
                         "NAME(stream, grid_x, grid_y, grid_z, ...): leave the option out")
    kernel, chip = arguments.kernel, arguments.chip
    if arguments.kernel_name is not None:
        if not kernel.endswith(".py"):
            raise ValueError(f"--kernel-name is for a FILE.py without a name, got {kernel!r}")
        kernel = f"{kernel}:{arguments.kernel_name}"
    if arguments.target is not None:
        parts = arguments.target.split(":")
        if chip is not None or len(parts) != 3 or not all(p.isdecimal() for p in parts[1:]):
            raise ValueError("--target is as cuda:90:32, and there is no --chip beside it, got "
                             f"{arguments.target!r}")
        chip = GPUTarget(parts[0], int(parts[1]), int(parts[2])).chip
    folder, name, path = arguments.output, arguments.name, arguments.out_path
    if path is not None:
        if folder is not None:
            raise ValueError("there is either --output or --out-path")
        folder, name = path.parent, name or path.name
    return kernel, chip or "sm_90a", name, folder or Path(".")


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


def parse_signature(kernel, text: str):
    """Types and constexprs by name from a signature in order."""
    function = kernel.compiled_function()
    names, parts = function.arg_names, split_signature(text)
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
            if part.startswith("tensordesc<"):
                types[name] = part
                continue
            type_, _, other = (piece.strip() for piece in part.partition("="))
            spec, _, hint = (piece.strip() for piece in type_.partition(":"))
            if spec.lstrip("*") not in ty.BY_NAME or hint not in ("", "1", "16") or (
                    other and spec[:1] != "*"):
                raise ValueError(
                    f"{name}: {part!r} is neither a value nor a type with or without a hint, such as "
                    f"*fp32:16, i32, i32:1 or tensordesc<fp16[64, 64]>; types are {', '.join(_TYPES)}") from None
            if hint == "1":
                if spec[:1] not in "iu":
                    raise ValueError(f"{name}: only an integer can be 1, not {spec}") from None
                constants[name] = 1
            elif name in function.constexpr_names:
                constants[name] = ty.type_of_name(spec)  # a dtype is a value, too
            else:
                types[name] = (f"{spec}:{hint}" if hint else spec) + (f"={other}" if other else "")
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

_LAUNCH_WITH_ATTRIBUTES = """\
  CUlaunchAttribute attributes[{number}];
  CUlaunchConfig config = {{grid_x, grid_y, grid_z, {threads}, 1, 1, {shared}, stream, attributes, {number}}};
{attributes}  return cuLaunchKernelEx(&config, function, arguments, 0);
"""

# The kernel starts while the one before it on the stream ends.
_PROGRAMMATIC = """\
  attributes[{i}].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[{i}].value.programmaticStreamSerializationAllowed = 1;
"""

# All blocks run at the same time.
_COOPERATIVE = """\
  attributes[{i}].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[{i}].value.cooperative = 1;
"""


def _launch_of(kernel) -> str:
    """The statements that launch a kernel."""
    attributes = [_PROGRAMMATIC] * kernel.launch_pdl + [_COOPERATIVE] * kernel.options.launch_cooperative_grid
    text = "".join(attribute.format(i=i) for i, attribute in enumerate(attributes))
    return (_LAUNCH_WITH_ATTRIBUTES if attributes else _LAUNCH).format(
        threads=kernel.num_threads, shared=kernel.dynamic_shared, number=len(attributes), attributes=text)


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
    text = f"Multiples of 16: {', '.join(names)}. " if names else ""
    pointers = [name for name, type_ in parameters if type_ == _C_TYPES["ptr"]]
    for name, pointer in zip(pointers, pointers_of(kernel.arguments)):
        if pointer.same_as is not None:
            text += f"{name} may be the same memory as {pointers[pointer.same_as]}. "
    return text


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
        "launch": _launch_of(kernel),
    }
    files[f"{name}.h"] = _HEADER.format(**fields).encode()
    files[f"{name}.c"] = _SOURCE.format(**fields).encode()
    metadata = {**vars(kernel.metadata), "target": kernel.chip, **resources, "threads": kernel.num_threads,
                "dynamic_shared": shared, "arguments": describe_arguments(kernel.arguments)}
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
    path, chip, name, folder = _of_other_names(arguments)
    chips = _C.chips()
    if chip not in chips:
        raise ValueError(f"unknown chip {chip!r}, expected one of {', '.join(chips)}")
    kernel = load_kernel(path)
    types, constants = parse_signature(kernel, arguments.signature)
    compiled = compile_kernel(kernel, signature=types, constexprs=constants, target=chip,
                              num_warps=arguments.num_warps, num_stages=arguments.num_stages,
                              maxnreg=arguments.maxnreg, launch_pdl=arguments.launch_pdl,
                              launch_cooperative_grid=arguments.launch_cooperative_grid)
    for path in write(compiled, name or compiled.name, folder):
        print(path)
