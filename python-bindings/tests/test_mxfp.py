# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tile.tools.mxfp`: microscaling formats on the host."""

import pytest

torch = pytest.importorskip("torch")

from tile.tools.mxfp import MXFP4Tensor, MXScaleTensor  # noqa: E402


def test_e2m1():
    every = MXFP4Tensor(size=16)
    every.data = torch.arange(16, dtype=torch.uint8)
    values = every.to(torch.float32)
    assert values[:8].tolist() == [0, 0.5, 1, 1.5, 2, 3, 4, 6] and (values[8:] == -values[:8]).all()
    assert (MXFP4Tensor(values).data == every.data).all()
    near = torch.tensor([0.25, 0.26, 0.75, -1.25, 1.75, 2.5, 3.5, 5.0, 5.1, 100.0, float("inf"), float("nan")])
    assert MXFP4Tensor(near).to(torch.float32).tolist() == [0, 0.5, 1, -1, 2, 2, 4, 4, 6, 6, 6, 6]


@pytest.mark.parametrize("dim", [0, 1])
def test_packing(dim):
    numbers = MXFP4Tensor(size=(6, 5)).random()
    packed = numbers.to_packed_tensor(dim)
    assert packed.shape == ((3, 5), (6, 3))[dim]
    first = packed[0, 0].item()
    assert first & 15 == numbers.data[0, 0] and first >> 4 == numbers.data.movedim(dim, 0)[1, 0]
    assert (numbers.unpack_packed_tensor(packed, dim, (6, 5)) == numbers.data).all()


def test_e8m0():
    values = torch.tensor([1.0, 2.0, 3.9, 0.75, 2.0**-127, 2.0**127, 0.0, -1.0, float("inf"), float("nan")])
    scales = MXScaleTensor(values)
    assert scales.data.tolist() == [127, 128, 128, 126, 0, 254, 255, 255, 255, 255]
    back = scales.to(torch.float32)
    assert back[:6].tolist() == [1, 2, 2, 0.5, 2.0**-127, 2.0**127] and back[6:].isnan().all()
    some = MXScaleTensor(size=(40, 3)).random(low=0.25, high=4.0).to(torch.float32)
    assert some.min() >= 0.25 and some.max() <= 4


def test_mistakes():
    with pytest.raises(ValueError, match="either data or size"):
        MXFP4Tensor()
    with pytest.raises(TypeError, match="to torch.float32 only"):
        MXScaleTensor(size=2).random().to(torch.float16)
    with pytest.raises(ValueError, match="above high"):
        MXScaleTensor(size=2).random(low=4.0, high=1.0)
