# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Specialisation, launches, compilation without a device, tuning."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tile
import tile.language as tl


@tile.jit
def scale(x, out, n, factor, BLOCK: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


def fresh(kernel=scale, **options):
    return tile.jit(kernel.fn, **options)


@pytest.mark.emulator  # arrays that are moved to a GPU are aligned there
def test_specialisation():
    kernel = fresh()
    x, out = np.ones(256, np.float32), np.zeros(256, np.float32)
    made = []
    for args in [(x, out, 64, 2.0), (x, out, 128, 3.0), (x, out, 65, 2.0), (x, out, 1, 2.0),
                 (x[1:], out, 64, 2.0), (x, out, 2**33, 2.0), (x.astype(np.float16), out, 64, 2.0),
                 (x, out, 64, 2)]:
        kernel[lambda meta: (tile.cdiv(min(args[2], 256), meta["BLOCK"]), )](*args)
        made.append(len(kernel.device_caches["emulator"][0]))
    # Only the second call finds its kernel.
    assert made == [1, 1, 2, 3, 4, 5, 6, 7]


def test_divisibility_reaches_the_code():
    x, out = np.ones(256, np.float32), np.zeros(256, np.float32)
    aligned = fresh().warmup(x, out, 64, 2.0, BLOCK=128, num_warps=1)
    assert "ld.global.v4" in aligned.asm["ptx"] or "ld.global.v4.b32" in aligned.asm["ptx"]
    shifted = fresh().warmup(x[1:], out, 64, 2.0, BLOCK=128, num_warps=1)
    assert "ld.global.v4" not in shifted.asm["ptx"]


def test_do_not_specialize():
    kernel = fresh(do_not_specialize=["n"])
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    for n in (1, 16, 17):
        kernel[(1, )](x, out, n, 2.0)
    (kernels, *_), = kernel.device_caches.values()
    assert len(kernels) == 1
    assert out.sum() == 34


def test_grids_and_keywords():
    x, out = np.arange(200, dtype=np.float32), np.zeros(200, np.float32)
    kernel = scale[lambda meta: (tile.cdiv(200, meta["BLOCK"]), )](x, out=out, n=200, factor=2.0,
                                                                  BLOCK=32, num_warps=2)
    np.testing.assert_array_equal(out, x * 2)
    assert kernel.metadata.num_warps == 2 and kernel.num_threads == 64
    # What other targets or devices need changes nothing.
    scale[(2, )](x, out, 200, 2.0, BLOCK=128, extern_libs={"libdevice": "/somewhere.bc"}, clc=False)
    scale[0, ](x, out, 200, 9.0)  # an empty grid
    np.testing.assert_array_equal(out, x * 2)


def test_empty_arrays():
    empty = np.zeros(0, np.float32)
    scale[(1, )](empty, empty, 0, 2.0)


def test_stages_and_metadata():
    kernel = scale.warmup(tl.float32, tl.float32, 64, 2.0)
    assert "tile.load" in kernel.asm["tile"] and "tile_gpu.layout" in kernel.asm["tile_gpu"]
    assert "define" in kernel.asm["llir"] and "nvvm" in kernel.asm["nvvm"]
    assert ".entry scale" in kernel.asm["ptx"] and kernel.asm["ttir"] == kernel.asm["tile"]
    assert kernel.metadata.name == "scale" and len(kernel.metadata.hash) == 64
    with pytest.raises(KeyError, match="there are tile"):
        kernel.asm["hsaco"]


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", tile.GPUTarget("cuda", 90, 32)])
def test_compile_without_device(target):
    signature = {"x": "*fp16:16", "out": "*fp32", "n": "i32", "factor": "fp32"}
    kernel = tile.compile(scale, signature=signature, constexprs={"BLOCK": 128}, target=target,
                          num_warps=8)
    chip = target if isinstance(target, str) else "sm_90a"
    assert f".target {chip}" in kernel.asm["ptx"]
    same = tile.compile(scale, signature="*fp16:16, *fp32, i32, fp32", constexprs={"BLOCK": 128},
                        target=target, num_warps=8)
    assert same.hash == kernel.hash
    with pytest.raises(ValueError, match="no type and no value for x"):
        tile.compile(scale, signature={}, target=target)
    with pytest.raises(ValueError, match="unknown type 'half'"):
        tile.compile(scale, signature={**signature, "x": "*half"}, target=target)


def has_ptxas():
    try:
        scale.warmup(tl.float32, tl.float32, 64, 2.0).asm["cubin"]
    except tile.CompilationError as error:
        if "ptxas was found in none" in str(error):
            return False
        raise
    return True


def test_cubin():
    if not has_ptxas():
        pytest.skip("no ptxas")
    kernel = scale.warmup(tl.float32, tl.float32, 64, 2.0)
    assert kernel.asm["cubin"].startswith(b"\x7fELF")
    assert kernel.n_regs > 0 and kernel.n_spills == 0


def test_register_limit():
    kernel = scale.warmup(tl.float32, tl.float32, 64, 2.0, maxnreg=32)
    assert ".maxnreg 32" in kernel.asm["ptx"] and kernel.metadata.maxnreg == 32


@tile.constexpr_function
def halves(n):
    return [n // 2**i for i in range(n.bit_length())]


def test_constexpr_functions():

    @tile.jit
    def kernel(out, N: tl.constexpr):
        total = 0
        for n in halves(N):
            total += tl.sum(tl.full((n, ), 1, tl.int32))
        tl.store(out, total)

    out = np.zeros(1, np.int32)
    kernel[(1, )](out, 16)
    assert out[0] == 31


def test_reinterpret():
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.int32)
    scale[(1, )](tile.reinterpret(x, tl.int32), out, 64, 2, BLOCK=64)
    np.testing.assert_array_equal(out, x.view(np.int32) * 2)


def test_global_constants_must_not_change():
    global LIMIT
    LIMIT = tl.constexpr(3)
    kernel = tile.jit(_writes_limit)
    out = np.zeros(1, np.int32)
    kernel[(1, )](out)
    assert out[0] == 3
    LIMIT = tl.constexpr(4)
    with pytest.raises(RuntimeError, match="LIMIT has changed"):
        kernel[(1, )](out)


LIMIT = tl.constexpr(3)


def _writes_limit(out):
    tl.store(out, LIMIT)


def test_host_functions():
    assert [tile.cdiv(x, 4) for x in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [tile.next_power_of_2(n) for n in (0, 1, 2, 3, 64, 65)] == [1, 1, 2, 4, 64, 128]


def test_import_needs_no_numpy():
    code = ("import sys; sys.path[:] = %r; sys.modules['numpy'] = None; import tile; "
            "assert 'torch' not in sys.modules" % sys.path)
    subprocess.run([sys.executable, "-c", code], check=True)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import tile
import tile.language as tl

@tile.jit
def count(out, FIRST: tl.constexpr):
    if tl.program_id(0) >= FIRST:
        while tl.load(out) >= 0:
            tl.atomic_add(out, 1)

def interrupt():
    while out[0] == 0:
        time.sleep(0.01)
    begin.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

out, begin = np.zeros(1, np.int64), []
threading.Thread(target=interrupt, daemon=True).start()
try:
    count[(int(sys.argv[1]),)](out, FIRST=int(sys.argv[2]))
except KeyboardInterrupt:
    assert time.monotonic() - begin[0] < 2
    print("interrupted")
"""


@pytest.mark.emulator
@pytest.mark.parametrize("blocks, first", [(1, 0), (2, 1), (6, 0)])
def test_interrupt(tmp_path, blocks, first):
    """Ctrl-C stops a kernel that loops for ever, whichever host threads run it."""
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    result = subprocess.run([sys.executable, script, str(blocks), str(first)], text=True,
                            capture_output=True, timeout=60,
                            env={**os.environ, "TILE_EMULATOR_THREADS": "2",
                                 "PYTHONPATH": os.pathsep.join(sys.path)})
    assert result.stdout == "interrupted\n", result.stderr


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_programmatic_launch(chip, monkeypatch):
    """`launch_pdl` changes no result, whether or not the chip has it, and tuned kernels take it."""
    monkeypatch.setattr(tile.knobs, "emulator_chip", chip)
    x = np.arange(1000, dtype=np.float32)
    tuned = tile.autotune([tile.Config({"BLOCK": 64}), tile.Config({"BLOCK": 128})], key=["n"])(fresh())
    interpreted = tile.interpret(fresh())
    for kernel in (fresh(), tuned, interpreted):
        out = np.zeros_like(x)
        with tile.emulator.checks("race"):
            kernel[lambda meta: (tile.cdiv(1000, meta["BLOCK"]), )](x, out, 1000, 2.0, launch_pdl=True)
        np.testing.assert_array_equal(out, 2 * x)


def test_programmatic_launch_waits_before_it_accesses_memory():
    signature, constexprs = "*fp32, *fp32, i32, fp32", {"BLOCK": 64}
    kernel = tile.compile(scale, signature, constexprs, "sm_90a", launch_pdl=True)
    ptx = kernel.asm["ptx"]
    places = [ptx.index(text) for text in ("griddepcontrol.wait", "ld.global",
                                           "griddepcontrol.launch_dependents", "st.global")]
    assert kernel.metadata.launch_pdl and places == sorted(places)
    old = tile.compile(scale, signature, constexprs, "sm_89", launch_pdl=True)
    assert not old.metadata.launch_pdl and "griddepcontrol" not in old.asm["ptx"]


@tile.jit
def waits_itself(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.extra.cuda.gdc_launch_dependents()
    factor = tl.load(x + N)
    tl.extra.cuda.gdc_wait()
    tl.store(out + i, tl.load(x + i) * factor)


def test_a_kernel_that_waits_itself():
    kernel = tile.compile(waits_itself, "*fp32, *fp32", {"N": 64}, "sm_90a", launch_pdl=True)
    ptx = kernel.asm["ptx"]
    assert kernel.metadata.launch_pdl and ptx.count("griddepcontrol.") == 2
    assert ptx.index("griddepcontrol.launch_dependents") < ptx.index("ld.global") < ptx.index(
        "griddepcontrol.wait")
