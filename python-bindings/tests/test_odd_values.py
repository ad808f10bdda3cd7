# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options and settings of the wrong kind: errors that name them, what they must be and what they are."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.runtime.driver import stream_handle
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = [pytest.mark.compiled, pytest.mark.emulator]


@tile.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


class Stream:

    def __init__(self, **attributes):
        vars(self).update(attributes)


class StreamOfProtocol:

    def __cuda_stream__(self):
        return 0, 23


@pytest.mark.parametrize("stream", ["abc", 1.5, -1, 2**64, [], Stream(), Stream(ptr="x")])
def test_streams_that_are_none(stream):
    x = np.zeros(4, np.float32)
    compiled = fill.warmup(x, 4, grid=(1, ))
    for launch in (fill[(1, )], compiled[(1, )]):
        with pytest.raises(TypeError, match="stream must be the handle of a CUDA stream, .* got "):
            launch(x, 4, stream=stream)
    assert not x.any()


def test_streams():
    handles = map(stream_handle, (None, 0, 2**64 - 1, np.int64(7), Stream(cuda_stream=21), Stream(ptr=22),
                                  StreamOfProtocol()))
    assert list(handles) == [None, 0, 2**64 - 1, 7, 21, 22, 23]


@pytest.mark.parametrize("name, values, message", [
    ("emulator_chip", ["sm_1", "", 90, None, ["sm_90a"]], "must be one of sm_75, sm_80, .*, got "),
    ("emulator_threads", ["2", -1, 1.5, None, 2**40], "must be a number from 0 to 65536, got "),
    ("line_info", ["x", None, 3, [], np.zeros(2)], "must be True or False, got "),
    ("debug", ["0", None], "must be True or False, got "),
    ("cache_dir", [3, None], "must be a path, or an empty string for none, got "),
    ("ptxas", [3, None], "must be a path, or an empty string for none, got "),
    ("toolkit_roots", ["/usr", None, [3]], "must be a list of folders, got "),
])
def test_settings(name, values, message, monkeypatch):
    before = getattr(tile.knobs, name)
    for value in values:
        with pytest.raises((TypeError, ValueError), match=f"knobs.{name} {message}"):
            setattr(tile.knobs, name, value)
    assert getattr(tile.knobs, name) == before
    monkeypatch.setattr(tile.knobs, name, before)


def test_settings_of_other_types(monkeypatch, tmp_path):
    monkeypatch.setattr(tile.knobs, "cache_dir", tmp_path)
    monkeypatch.setattr(tile.knobs, "toolkit_roots", [Path("/usr")])
    monkeypatch.setattr(tile.knobs, "line_info", np.True_)
    assert (tile.knobs.cache_dir, tile.knobs.toolkit_roots) == (str(tmp_path), ["/usr"])
    assert tile.knobs.line_info is True


def test_chip_of_the_environment():
    run = subprocess.run([sys.executable, "-c", "import tile"], capture_output=True, text=True, timeout=60, env={
        **os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "TILE_EMULATOR_CHIP": "sm_1"})
    assert "ValueError: the environment's TILE_EMULATOR_CHIP must be one of sm_75" in run.stderr


def test_targets():
    for target in ("sm_1", 90, tile.GPUTarget("cuda", 7)):
        with pytest.raises(ValueError, match="unknown target|no chip sm_7"):
            tile.compile(fill, {"x": "*fp32"}, {"BLOCK": 4}, target=target)


@pytest.mark.parametrize("options, message", [
    ({"do_not_specialize": "x"}, "do_not_specialize must be a list of parameters, by name or position, got 'x'"),
    ({"do_not_specialize_on_alignment": 3}, "must be a list of parameters, by name or position, got 3"),
    ({"repr": "name"}, "repr of fill must be a function, got 'name'"),
    ({"launch_metadata": 3}, "launch_metadata of fill must be a function, got 3"),
    ({"debug": "x"}, "debug of fill must be True or False, got 'x'"),
])
def test_options_of_kernels(options, message):
    with pytest.raises(TypeError, match=message):
        tile.jit(fill.fn, **options)


@pytest.mark.parametrize("grid", ["abc", b"ab", {1: 2}, {1}, 1.5, (1, "a"), None])
def test_grids(grid):
    with pytest.raises(TypeError, match="a grid has one to three integers, got "):
        fill[grid](np.zeros(4, np.float32), 4)


@tile.jit
def add_twice(x, y, n, BLOCK: tl.constexpr):
    tl.store(x, tl.load(x) + n)


CONFIGS = [tile.Config({"BLOCK": 4}), tile.Config({"BLOCK": 8})]


@pytest.mark.parametrize("option", ["reset_to_zero", "restore_value"])
def test_names_of_autotuners(option):
    with pytest.raises(TypeError, match=f"the autotuner's {option} is a list of names of parameters, got 'x'"):
        tile.autotune(CONFIGS, key=[], **{option: "x"})(add_twice)
    with pytest.raises(ValueError, match=f"the autotuner's {option} z is no parameter of add_twice"):
        tile.autotune(CONFIGS, key=[], **{option: ["z"]})(add_twice)
    x = np.ones(1, np.float32)
    for names, found in ((["n"], "n"), (["x", "n"], "n"), (["y"], "y")):
        kernel = tile.autotune(CONFIGS, key=[], **{option: names})(add_twice)
        with pytest.raises(TypeError, match=f"{option} of add_twice names {found}, which must be an array of "
                           "torch, NumPy or CuPy, got a (int|tuple)"):
            kernel[(1, )](x, (x, ), 3)
    # An argument may be absent.
    kernel = tile.autotune(CONFIGS, key=[], **{option: ["x", "y"]})(add_twice)
    x[0] = 1
    kernel[(1, )](x, None, 3)
    assert x[0] == (3 if option == "reset_to_zero" else 4)


@tile.jit
def keep(out, value):
    tl.store(out, 1.0)


@pytest.mark.skipif(np.longdouble(0).itemsize == 8, reason="a longdouble is a double")
def test_numbers_that_python_does_not_have():
    with pytest.raises(TypeError, match="the argument value of keep is a longdouble: kernels take arrays, numbers"):
        keep[(1, )](np.zeros(1, np.float32), np.longdouble(2))


def test_classes_of_numpy():
    out = np.zeros(1, np.float32)
    keep[(1, )](out, np.float32)
    assert out[0] == 1


def test_tensors_that_are_no_memory():
    torch = pytest.importorskip("torch")
    for tensor, message in ((torch.ones(2).to_sparse(), "the tensor is torch.sparse_coo: kernels take dense ones"),
                            (torch.ones(2, dtype=torch.complex64).conj().imag, r"pass tensor.resolve_neg\(\)")):
        with pytest.raises(TypeError, match=f"the argument value of keep: the tensor is .*{message[14:]}"):
            keep[(1, )](torch.zeros(1), tensor)


def test_kernels_as_objects():
    assert list(inspect.signature(keep).parameters) == ["out", "value"]
    tuned = tile.autotune([tile.Config({})], key=[])(keep)
    for kernel in (keep, tuned, keep[(1, )]):
        with pytest.raises(TypeError, match="is not iterable"):
            iter(kernel)


@pytest.mark.parametrize("options, message", [
    ({"configs": 3}, "the autotuner's configs is a list of tile.Config"),
    ({"key": "n"}, "the autotuner's key is a list of names of parameters, got 'n'"),
    ({"pre_hook": 3}, "the autotuner's pre_hook must be a function, got 3"),
    ({"do_bench": 3}, "the autotuner's do_bench must be a function, got 3"),
    ({"warmup": "x"}, "the autotuner's warmup must be a time in ms, got 'x'"),
    ({"rep": -1}, "the autotuner's rep must be a time in ms, got -1"),
    ({"prune_configs_by": 3}, "prune_configs_by must be a dict with early_config_prune, perf_model or top_k, got 3"),
    ({"prune_configs_by": {"perf_model": 3}}, "perf_model of prune_configs_by must be a function, got 3"),
    ({"prune_configs_by": {"early_config_prune": lambda *a, **k: [3]}}, "must return configs, got 3"),
])
def test_options_of_autotuners(options, message):
    with pytest.raises(TypeError, match=message):
        kernel = tile.autotune(**{"configs": CONFIGS, "key": ["n"], **options})(add_twice)
        kernel[(1, )](np.ones(1, np.float32), None, 3)


@pytest.mark.parametrize("arguments, message", [
    (((16, ), (1, ), (4.0, )), r"block_shape of a descriptor must be integers, got \(4.0,\)"),
    (((16, ), (1, ), 4), "block_shape of a descriptor must be integers, got 4"),
    ((("x", ), (1, ), (4, )), "shape of a descriptor must be integers, got"),
    (((16, ), (1, ), (4, ), "none"), "the padding of a descriptor is \"zero\" or \"nan\", got 'none'"),
    (((16, ), (1, ), (4, ), "zero", True), "round_f32_to_tf32=True is not supported"),
])
def test_parts_of_descriptors(arguments, message):
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=message):
        TensorDescriptor(np.zeros(16, np.float32), *arguments)


def test_names_of_settings():
    with pytest.raises(AttributeError, match="tile.knobs has no emulator_thread; did you mean 'emulator_threads'"):
        tile.knobs.emulator_thread = 3
    with pytest.raises(TypeError, match="a hook is a function, got 3"):
        fill.add_pre_run_hook(3)


def test_interpreted_kernels():
    """They have the same errors."""
    kernel = tile.interpret(keep)
    out = np.zeros(1, np.float32)
    for options, kind, message in (({"stream": "abc"}, TypeError, "stream must be the handle of a CUDA stream"),
                                   ({"num_warps": "x"}, TypeError, "num_warps must be an integer, got 'x'"),
                                   ({"num_warps": 3}, ValueError, "num_warps must be a power of two"),
                                   ({"debug": "x"}, TypeError, "debug must be True or False, got 'x'"),
                                   ({"ir_override": "x"}, NotImplementedError, "ir_override is not supported")):
        with pytest.raises(kind, match=message):
            kernel[(1, )](out, 3, **options)
    if np.longdouble(0).itemsize > 8:
        with pytest.raises(TypeError, match="the argument value of keep is a longdouble"):
            kernel[(1, )](out, np.longdouble(2))
    with pytest.raises(TypeError, match="is not iterable"):
        iter(kernel)
    kernel[(1, )](out, 3, num_warps=1, stream=0, launch_cooperative_grid=True, debug=None)
    assert out[0] == 1


@tile.jit
def odd_range(out, STAGES: tl.constexpr, UNROLL: tl.constexpr):
    for i in tl.range(0, 4, num_stages=STAGES, loop_unroll_factor=UNROLL):
        tl.store(out, i)


@tile.jit
def odd_assembly(out, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr):
    tl.store(out, tl.inline_asm_elementwise(ASM, CONSTRAINTS, [1.0], tl.float32, True, 1))


@pytest.mark.parametrize("kernel, values, message", [
    (odd_range, ("x", 1), "num_stages of a range must be an integer or a bool, got 'x'"),
    (odd_range, (2, 1.5), "loop_unroll_factor of a range must be an integer or a bool, got 1.5"),
    (odd_assembly, (3, "=r"), "asm must be a string, got int 3"),
    (odd_assembly, ("mov", None), "constraints must be a string, got None"),
])
def test_options_of_functions(kernel, values, message):
    with pytest.raises(tile.CompilationError, match=message):
        kernel[(1, )](np.zeros(1, np.float32), *values)
