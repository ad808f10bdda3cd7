# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code on disk, addressed by the hash of all that it was made from.

An entry is one file: a line of JSON, which describes it and has the hash of the rest, then
the payload. It is written under another name and moved into place, so that readers on any
file system see all of it or nothing. What cannot be read or does not match its hash counts
as absent; what cannot be written is not cached. Nothing here raises.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path

from .. import _C, knobs

_FORMAT = 1
_SUFFIX = ".tile"


def key_of(*parts) -> str:
    """The address of something that `parts` and this compiler determine."""
    digest = hashlib.sha256()
    for part in (f"{_FORMAT}", _C.build_id(), *parts):
        data = part if isinstance(part, bytes) else str(part).encode()
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


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
        header, _, payload = path.read_bytes().partition(b"\n")
        description = json.loads(header)
        if (description["format"] == _FORMAT
                and description["sha256"] == hashlib.sha256(payload).hexdigest()):
            return description, payload
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def store(key: str, payload: bytes, description: dict) -> bool:
    """Writes an entry; False if that is impossible (a full or read-only disk, say)."""
    if not knobs.use_cache:
        return False
    header = {"format": _FORMAT, "sha256": hashlib.sha256(payload).hexdigest(), "time": time.time(),
              **description}
    path, temporary = _path(key), None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(header).encode() + b"\n" + payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        return True
    except OSError:
        if temporary is not None:
            try:
                os.unlink(temporary)
            except OSError:
                pass
        return False


def entries():
    """(path, size, description) of all intact entries, oldest first."""
    result = []
    for path in sorted(folder().glob(f"??/*{_SUFFIX}")):
        found = _read(path)
        if found is not None:
            result.append((path, path.stat().st_size, found[0]))
    return sorted(result, key=lambda entry: entry[2].get("time", 0))


def clear() -> int:
    """Removes all entries, broken ones too; their number."""
    count = 0
    for path in [*folder().glob(f"??/*{_SUFFIX}"), *folder().glob("??/.new-*")]:
        try:
            path.unlink()
            count += 1
        except OSError:
            pass
    return count
