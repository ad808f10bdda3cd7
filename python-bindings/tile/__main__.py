# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m tile`: the cache on disk, and compilation ahead of time."""

from __future__ import annotations

import argparse
import sys
import time

from . import errors
from .runtime import cache
from .tools import aot


def _age(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def cache_list(arguments):
    entries = cache.entries()
    print(f"{cache.folder()}: {len(entries)} entries, {sum(size for _, size, _ in entries) / 1024:.0f} KiB")
    for path, size, about in entries:
        age = _age(time.time() - about.get("time", 0))
        print(f"  {path.stem[:12]}  {about.get('kind', '?'):<5}  {size / 1024:7.1f} KiB  {age:>6}  "
              f"{about.get('chip', ''):<7}  {about.get('kernel', '?')}")


def _facts(about) -> dict:
    return {**about.get("arguments", {}), "chip": about.get("chip"), "options": about.get("options")}


def cache_why(arguments):
    """For each compile of a kernel: what differs from the compile before."""
    previous = {}
    for path, _, about in cache.entries():
        name = about.get("kernel", "?")
        if about.get("kind") != "ptx" or (arguments.kernel and name != arguments.kernel):
            continue
        facts = _facts(about)
        before = previous.get((name, about.get("file")))
        if before is None:
            print(f"{name} ({about.get('file')}): first compile, {path.stem[:12]}")
            for key, value in facts.items():
                print(f"    {key}: {value}")
        else:
            changed = [f"{key}: {before.get(key)} -> {value}" for key, value in facts.items()
                       if before.get(key) != value]
            print(f"{name}: {path.stem[:12]}, compiled again because of "
                  + ("; ".join(changed) or "a change of its source"))
        previous[(name, about.get("file"))] = facts


def cache_clear(arguments):
    print(f"removed {cache.clear()} entries from {cache.folder()}")


def _parser():
    parser = argparse.ArgumentParser(prog="python -m tile", description=__doc__)
    commands = parser.add_subparsers(required=True)

    cache_parser = commands.add_parser("cache", help="the compiled code on disk")
    cache_commands = cache_parser.add_subparsers(required=True)
    cache_commands.add_parser("ls", help="list it").set_defaults(run=cache_list)
    why = cache_commands.add_parser("why", help="which argument caused each compile")
    why.add_argument("kernel", nargs="?", help="only this kernel")
    why.set_defaults(run=cache_why)
    cache_commands.add_parser("clear", help="remove it").set_defaults(run=cache_clear)

    compile_parser = commands.add_parser("compile", help="compile a kernel ahead of time")
    aot.add_arguments(compile_parser)
    compile_parser.set_defaults(run=aot.main)
    return parser


def main(argv=None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except (errors.TileError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
