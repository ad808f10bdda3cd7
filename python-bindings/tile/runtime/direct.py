# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of compiled kernels whose arguments are known to fit: those of PyTorch Inductor."""

from __future__ import annotations

from . import emulator
from .arguments import HOST, as_array
from .driver import current_device, driver


def _parts(argument, text: str, pointer: str):
    """Expressions for what a kernel is passed for an argument, whose value is `text`."""
    if argument.is_descriptor:
        rank = len(argument.factory.block_shape)
        return [pointer.format(f"{text}.base"), *(f"{text}.shape[{i}]" for i in range(rank)),
                *(f"{text}.strides[{i}]" for i in range(rank - 1))]
    if argument.elements is not None:
        return [part for i, element in enumerate(argument.elements)
                for part in _parts(element, f"{text}[{i}]", pointer)]
    if argument.is_constexpr:
        return []
    return [pointer.format(text) if argument.type.is_ptr() else text]


def _flattener(arguments, pointer: str):
    """A function from all arguments of a launch to what is passed to the kernel, as code of its
    own, for each launch runs it; `pointer` is what becomes of arrays."""
    parts = [part for i, argument in enumerate(arguments)
             for part in _parts(argument, f"args[{i}]", pointer)]
    return eval(f"lambda args: [{', '.join(parts)}]", {"address": _address})


def _address(value) -> int:
    array = as_array(value)
    return value if array is None else array.address


def _arrays(arguments, values):
    """The arrays among the arguments of a launch."""
    for argument, value in zip(arguments, values):
        if argument.is_descriptor:
            yield as_array(value.base)
        elif argument.elements is not None:
            yield from _arrays(argument.elements, value)
        elif argument.type is not None and argument.type.is_ptr():
            yield as_array(value)


def make_launcher(kernel):
    """The function that `CompiledKernel.run` is."""
    arguments = kernel.arguments
    of_any = _flattener(arguments, "address({})")

    def launch_emulated(grid, stream, args):
        arrays = list(_arrays(arguments, args))
        if any(array is None or array.device != HOST for array in arrays):
            raise TypeError(f"{kernel.name} was compiled for the emulator, which takes arrays in host "
                            "memory")
        emulator.launch(kernel, grid, of_any(args), arrays)

    of_torch = _flattener(arguments, "{}.data_ptr()")
    loaded = {}

    def launch_on_gpu(grid, stream, args):
        device = current_device()
        handle = loaded.get(device)
        if handle is None:
            handle = loaded[device] = kernel.loaded(max(0, device))
        try:
            passed = of_torch(args)
        except AttributeError:  # an array of another library, or an address
            passed = of_any(args)
        handle.launch(grid, passed, stream)

    is_emulated = kernel.is_emulated or not driver.default.is_active()
    launch = launch_emulated if is_emulated else launch_on_gpu

    def run(x, y, z, stream, function, metadata, launch_metadata, enter_hook, exit_hook, *args):
        if launch_metadata is None and (enter_hook or exit_hook):
            launch_metadata = kernel.launch_metadata((x, y, z), stream, *args)
        if enter_hook:
            enter_hook(launch_metadata)
        if x and y and z:
            launch((x, y, z), stream, args)
        if exit_hook:
            exit_hook(launch_metadata)

    return run
