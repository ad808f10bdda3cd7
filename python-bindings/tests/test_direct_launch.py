# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`CompiledKernel.run` on a driver that keeps what it is asked to launch."""

import struct

import fake_gpu
import pytest
from fake_gpu import DEVICE_MEMORY, CudaArray, PointerArray, Tensor
from launching import gpu  # noqa: F401, a fixture

import tile
import tile.language as tl
from tile.compiler.kernel import CompiledKernel

pytestmark = pytest.mark.compiled


def _nothing(x, out, n, half, wide: tl.int64, flag, N: tl.constexpr, M: tl.constexpr = 3):
    pass


SIGNATURE = {"x": "*fp32", "out": "*fp16", "n": "i32", "half": "fp16", "wide": "i64", "flag": "i1",
             "N": "constexpr"}


def compiled():
    source = tile.ASTSource(tile.jit(_nothing), dict(SIGNATURE), {"N": 64})
    return tile.compile(source, target=tile.GPUTarget("cuda", 90, 32), options={"num_warps": 2})


def launches(driver, function):
    before = driver.fake_num_launches()
    function()
    return [fake_gpu.Launch.from_buffer_copy(driver.fake_launch(i).contents)
            for i in range(before, driver.fake_num_launches())]


@pytest.mark.parametrize("array", [PointerArray, CudaArray, Tensor])
def test_run(gpu, array):
    kernel, seen = compiled(), []
    call = lambda grid, out: kernel.run(*grid, 0x55, None, kernel.metadata, "facts", seen.append, None,
                                        array(64), out, 6, 1.5, 2**40, True, 64, 3)
    launch, = launches(gpu, lambda: call((7, 5, 2), array(128)))
    assert launch.grid == (7, 5, 2) and launch.block == (64, 1, 1) and launch.stream == 0x55
    assert launch.parameters == struct.pack("<QQieq?", DEVICE_MEMORY + 64, DEVICE_MEMORY + 128, 6, 1.5,
                                            2**40, True)
    # An address will do; an empty grid launches nothing.
    again, = launches(gpu, lambda: call((7, 5, 2), DEVICE_MEMORY + 128))
    assert again.same_as(launch) and seen == ["facts", "facts"]
    assert launches(gpu, lambda: call((7, 0, 2), array(128))) == []


def test_registers_without_ptxas(gpu, monkeypatch):
    kernel = compiled()

    def no_ptxas(self):
        raise tile.CompilationError("ptxas was found in none of the folders")

    monkeypatch.setattr(CompiledKernel, "_assemble", no_ptxas)
    with pytest.raises(tile.CompilationError, match="ptxas"):
        kernel.n_regs
    kernel._init_handles()
    loaded = kernel.loaded_on(0)
    assert (kernel.n_regs, kernel.n_spills) == (loaded.registers, loaded.local_bytes)
