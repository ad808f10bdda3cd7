# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples and the code of the tutorial run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tile

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(p.name for p in (ROOT / "examples").glob("*.py") if p.name != "common.py")


def run(*command):
    paths = [str(Path(p).parent) for p in tile.__path__]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_all_examples_are_there():
    assert {"dropout.py", "fused_relu.py", "layer_norm.py", "matmul.py", "softmax.py",
            "vector_add.py"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    output = run(str(ROOT / "examples" / name))
    assert "passed" in output and "FAILED" not in output


# An autotuned kernel as it is written for Triton; only the imports are others.
AUTOTUNED = """
import numpy as np
import tile as triton
import tile.language as tl

@triton.autotune(
    configs=[
        triton.Config(kwargs={'BLOCK_SIZE': 128}, num_warps=4),
        triton.Config(kwargs={'BLOCK_SIZE': 64}, num_warps=8),
    ],
    key=['M'],
)
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, M, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < M
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)

for M in (1, 300, 300, 1025):
    x, y = np.arange(M, dtype=np.float32), np.full(M, 0.5, np.float32)
    output = np.zeros(M, np.float32)
    grid = lambda meta: (triton.cdiv(M, meta['BLOCK_SIZE']), )
    add_kernel[grid](x, y, output, M)
    assert (output == x + y).all()
assert add_kernel.best_config.kwargs['BLOCK_SIZE'] in (64, 128) and len(add_kernel.cache) == 3
"""


def test_autotuned_kernel_with_other_imports(tmp_path):
    program = tmp_path / "add.py"
    program.write_text(AUTOTUNED)
    run(str(program))


def test_tutorial(tmp_path):
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) > 4
    # The blocks build on one another.
    program = tmp_path / "tutorial.py"
    program.write_text("\n".join(blocks))
    run(str(program))
