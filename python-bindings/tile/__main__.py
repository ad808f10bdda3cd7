# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m tile`: the cache on disk, and compilation ahead of time."""

from __future__ import annotations

import argparse
import os
import sys
import time

from . import __version__, errors, knobs
from .runtime import cache
from .tools import aot


def _age(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _check_cache():
    if not knobs.use_cache:
        raise ValueError("there is no cache: " + (
            "TILE_NO_CACHE is set" if knobs.cache_dir else "no home folder; set TILE_CACHE_DIR"))


def cache_list(arguments):
    entries = [entry for entry in cache.entries()
               if arguments.kernel in (None, entry[2].get("kernel"))]
    print(f"{cache.folder()}: {len(entries)} entries, {sum(size for _, size, _ in entries) / 1024:.0f} KiB")
    for path, size, about in entries:
        age = _age(time.time() - about["time"])
        print(f"  {path.stem[:12]}  {about.get('kind', '?'):<5}  {size / 1024:7.1f} KiB  {age:>6}  "
              f"{about.get('chip') or '':<7}  {about.get('kernel', '?')}")


def cache_why(arguments):
    """For each compile of a kernel: what differs from the most similar one before it."""
    count = 0
    for path, about, nearest, changes in cache.explain(arguments.kernel):
        count += 1
        name = f"{about.get('kernel', '?')} {path.stem[:12]}"
        if nearest is None:
            print(f"{name}: first compile, {about.get('file')}:{about.get('line')}, "
                  f"for {about.get('chip')}")
            for argument, value in about.get("arguments", {}).items():
                print(f"    {argument}: {value}")
        else:
            print(f"{name}: compiled again, compared with {nearest.stem[:12]}, because of")
            for change in changes or ["a function that it calls, or a global variable that it uses"]:
                print(f"    {change}")
    if not count:
        print(f"{cache.folder()} has no compiled kernel"
              + (f" {arguments.kernel}" if arguments.kernel else ""))


def cache_clear(arguments):
    removed, left = cache.clear(arguments.kernel)
    print(f"removed {removed} entries from {cache.folder()}")
    if left:
        raise OSError(f"{left} entries could not be removed")


def _parser():
    parser = argparse.ArgumentParser(prog="python -m tile", description=__doc__)
    parser.add_argument("--version", action="version", version=f"tile {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    cache_parser = commands.add_parser("cache", help="the compiled code on disk")
    cache_commands = cache_parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, text in (("ls", cache_list, "list it"),
                            ("why", cache_why, "which argument caused each compile"),
                            ("clear", cache_clear, "remove it")):
        command = cache_commands.add_parser(name, help=text, description=run.__doc__)
        command.add_argument("kernel", nargs="?", help="only this kernel")
        command.set_defaults(run=run, needs_cache=True)

    compile_parser = commands.add_parser("compile", help="compile a kernel ahead of time",
                                         description=aot.__doc__)
    aot.add_arguments(compile_parser)
    compile_parser.set_defaults(run=aot.main, needs_cache=False)
    return parser


def main(argv=None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        if arguments.needs_cache:
            _check_cache()
        arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output, `head` say, has seen enough. Python would write what is
        # left at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (errors.TileError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
