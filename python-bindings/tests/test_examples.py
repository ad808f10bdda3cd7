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


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    output = run(str(ROOT / "examples" / name))
    assert "passed" in output and "FAILED" not in output


def test_tutorial(tmp_path):
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) > 4
    # The blocks build on one another.
    program = tmp_path / "tutorial.py"
    program.write_text("\n".join(blocks))
    run(str(program))
