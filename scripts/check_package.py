#!/usr/bin/env python3
"""Checks an installed package `tile` without importing it: its size, and what its extension
module needs of the machine.

    check_package.py FOLDER      the folder `tile` of the package
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

# In bytes, of all files.
SIZE_LIMIT = 60 * 10**6
# Parts of the C and C++ run time, zlib and zstd: every Linux has them.
ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
           "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libgcc_s.so.1", "libstdc++.so.6",
           "libz.so.1", "libzstd.so.1"}


def needed(library: Path) -> set[str]:
    """The shared libraries that a library names."""
    readelf = shutil.which("readelf") or shutil.which("llvm-readelf-22") or "llvm-readelf"
    listing = subprocess.run([readelf, "-d", library], capture_output=True, text=True,
                             check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", listing))


def problems(package: Path) -> list[str]:
    """What is wrong with a package."""
    result = []
    extensions = list(package.glob("_C.*so"))
    if len(extensions) != 1:
        return [f"{package} has {len(extensions)} extension modules"]
    size = sum(path.stat().st_size for path in package.rglob("*") if "__pycache__" not in path.parts)
    if size > SIZE_LIMIT:
        result.append(f"{package} has {size / 1e6:.1f} MB, more than {SIZE_LIMIT / 1e6:.0f}")
    unexpected = needed(extensions[0]) - ALLOWED
    if unexpected:
        result.append(f"{extensions[0].name} needs {', '.join(sorted(unexpected))}")
    return result


def main():
    found = problems(Path(sys.argv[1]))
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
