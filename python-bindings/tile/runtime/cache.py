# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code on disk, addressed by the hash of all that it was made from.

An entry is one file: a line with the format and the hash of the rest, a line of JSON that
describes the entry, then the payload. It is written under another name, flushed, and moved
into place, so that readers on any file system see all of it or nothing; of several writers
the last one wins, with equal content. What cannot be read, does not match its hash or lies
at another address counts as absent; what cannot be written is not cached. Nothing here
raises.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from pathlib import Path

from .. import _C, knobs
from .file_cache import FileCacheManager, get_cache_manager  # noqa: F401, programs import them from here

_FORMAT = 2
_MAGIC = f"tile {_FORMAT} "
_SUFFIX = ".tile"
_TEMPORARY = ".new-"


def key_of(*parts) -> str:
    """The address of something that `parts` and this compiler determine."""
    digest = hashlib.sha256()
    for part in (f"{_FORMAT}", _C.build_id(), *parts):
        data = part if isinstance(part, bytes) else str(part).encode()
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def triton_key() -> str:
    """Changes with the compiler; caches of other compilers, such as PyTorch Inductor, have it in
    their keys."""
    return f"{_FORMAT}-{_C.build_id()}"


def default_cache_dir() -> str:
    """The folder of compiled code."""
    return knobs.cache_dir


def folder() -> Path:
    return Path(knobs.cache_dir)


def _path(key: str) -> Path:
    return folder() / key[:2] / (key + _SUFFIX)


def load(key: str) -> bytes | None:
    """The payload of an entry, or None."""
    if not knobs.use_cache:
        return None
    found = _read(_path(key))
    return None if found is None else found[1]


def _read(path: Path):
    """(description, payload) of a whole and intact entry, or None."""
    try:
        if not path.is_file():  # a pipe would never end
            return None
        first, _, rest = path.read_bytes().partition(b"\n")
        if first.decode("ascii") != _MAGIC + hashlib.sha256(rest).hexdigest():
            return None
        header, _, payload = rest.partition(b"\n")
        description = json.loads(header)
        return (description, payload) if description["key"] == path.stem else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(key: str, payload: bytes, description: dict) -> bool:
    """Writes an entry; False if that is impossible (a full or read-only disk, say)."""
    if not knobs.use_cache:
        return False
    header = {"key": key, "time": time.time(), "compiler": _C.build_id(), **description}
    rest = json.dumps(header).encode() + b"\n" + payload
    path, temporary = _path(key), None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        name = path.parent / f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"
        # Of mode 0666 less the umask: others may read a folder that is shared.
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        temporary = name
        with os.fdopen(handle, "wb") as file:
            file.write((_MAGIC + hashlib.sha256(rest).hexdigest() + "\n").encode() + rest)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        return True
    except OSError:
        if temporary is not None:
            _remove(temporary)
        return False


def _remove(path: Path) -> bool:
    try:
        path.unlink()
        return True
    except OSError:
        return False


def entries():
    """(path, size, description) of all intact entries, oldest first."""
    result = []
    for path in folder().glob(f"??/*{_SUFFIX}"):
        found = _read(path)
        if found is not None:
            size = len(found[1])
            result.append((path, size, found[0]))
    return sorted(result, key=lambda entry: (entry[2]["time"], entry[0].name))


def clear(kernel: str | None = None) -> tuple[int, int]:
    """Removes all entries, broken ones and remains of killed writers too, or those of a kernel;
    how many were removed, and how many could not be."""
    if kernel is not None:
        paths = [path for path, _, about in entries() if about.get("kernel") == kernel]
    else:
        paths = [*folder().glob(f"??/*{_SUFFIX}"), *folder().glob(f"??/{_TEMPORARY}*")]
    removed = sum(_remove(path) for path in paths)
    return removed, sum(path.exists() for path in paths)


# Why kernels were compiled ------------------------------------------------------------------


def _facts(about: dict) -> dict:
    """What a compiled kernel was made from, by the names that users know."""
    facts = {f"argument {name}": value for name, value in about.get("arguments", {}).items()}
    facts["chip"] = about.get("chip")
    options = about.get("options")
    facts.update(options if isinstance(options, dict) else {"options": options})
    facts["its source"] = about.get("source")
    facts["its line"] = about.get("line")
    facts["the compiler"] = about.get("compiler")
    return facts


# Facts whose values are hashes: they say that something changed, not how.
_OPAQUE = ("its source", "the compiler")


def _change(name: str, before, after) -> str:
    if name in _OPAQUE:
        return f"{name} has changed"
    if name not in before:
        return f"{name} is new: {after[name]}"
    if name not in after:
        return f"{name} is gone, was {before[name]}"
    return f"{name}: {before[name]} -> {after[name]}"


def _differences(before: dict, after: dict) -> list[str]:
    names = [*after, *(name for name in before if name not in after)]
    missing = object()
    return [name for name in names if before.get(name, missing) != after.get(name, missing)]


def explain(kernel: str | None = None):
    """For each compiled kernel, oldest first: its path and description, the path of the earlier
    compile of that kernel which was most alike (None for the first), and what differs from it.
    Of equally alike ones the latest counts."""
    earlier: dict[tuple, list] = {}
    for path, _, about in entries():
        name = about.get("kernel", "?")
        if about.get("kind") != "ptx" or kernel not in (None, name):
            continue
        facts = _facts(about)
        others = earlier.setdefault((name, about.get("file")), [])
        nearest, changes = None, []
        if others:
            other, before = min(reversed(others), key=lambda o: len(_differences(o[1], facts)))
            nearest = other
            changes = [_change(n, before, facts) for n in _differences(before, facts)]
        yield path, about, nearest, changes
        others.append((path, facts))
