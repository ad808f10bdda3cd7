#!/usr/bin/env python3
"""Runs the examples of docs/emulator.md as a reader does, and looks for what the page
says that they print.

    documentation.py docs/emulator.md FOLDER
"""

import pathlib
import re
import subprocess
import sys


def indented(text, after):
    """The first indented block behind a phrase, without its indentation."""
    lines = text[text.index(after):].split("\n")[1:]
    begin = next(i for i, line in enumerate(lines) if line.startswith("    "))
    block = []
    for line in lines[begin:]:
        if line and not line.startswith("    "):
            break
        block.append(line[4:])
    return "\n".join(block)


def run(command, folder, code, expected):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    text = done.stdout + done.stderr
    missing = [line for line in expected if line not in text]
    if done.returncode != code or missing:
        sys.exit(f"{command}: exit code {done.returncode}, expected {code}; "
                 f"not printed: {missing}\n{text}")


def main():
    page, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    race = indented(page, "Save this as `race.ptx`")
    (folder / "race.ptx").write_text(race)
    (folder / "fixed.ptx").write_text(
        race.replace("st.shared.u32 [%r3], %r1;", "st.shared.u32 [%r3], %r1; bar.sync 0;"))
    (folder / "overlap.mlir").write_text(indented(page, "`overlap.mlir`: each program"))
    (folder / "overlap.py").write_text(re.search(r"```python\n(.*?)```", page, re.S).group(1))

    said = indented(page, "says (the warps meet").replace("…", "").split("\n")
    options = ["--block=64", "--arg=i32[64]:zero", "--check=race"]
    run(["tile-run", "race.ptx", *options], folder, 2, [line.strip() for line in said])
    run(["tile-run", "fixed.ptx", *options], folder, 0, [])
    # Which blocks are found first depends on the host threads.
    options = ["--grid=4", "--arg=i32[4x128]:zero", "--check=race", "--threads=1"]
    run(["tile-run", "overlap.mlir", *options], folder, 2,
        ["a write of global memory is not ordered with a write", "from overlap.mlir:11",
         "('argument 0' + 384 bytes)"])
    if "--python" in sys.argv:
        run([sys.executable, "overlap.py"], folder, 1,
            ["EmulatorError", "a write of global memory is not ordered with a write"])


if __name__ == "__main__":
    main()
