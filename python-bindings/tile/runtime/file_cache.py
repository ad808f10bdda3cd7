# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that programs keep beside the compiled code, by a key of theirs: the cache manager that
programs for Triton use. The compiler's own entries are in `cache`."""

from __future__ import annotations

import json
import os
import re
import secrets
from pathlib import Path

from .. import knobs


class FileCacheManager:
    """The files of one key, below `knobs.cache_dir`; they appear whole or not at all. Raises
    OSError if they cannot be written."""

    def __init__(self, key: str):
        if not re.fullmatch(r"[\w.-]+", key) or key.strip(".") == "":
            raise ValueError(f"a key consists of letters, digits, '_', '-' and '.', got {key!r}")
        if not knobs.cache_dir:
            raise RuntimeError("there is no folder for files: set TILE_CACHE_DIR")
        self.key = key
        self.cache_dir = os.path.join(knobs.cache_dir, "files", key)

    def _path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        return os.path.exists(self._path(filename))

    def get_file(self, filename: str) -> str | None:
        """The path of a file, or None."""
        return self._path(filename) if self.has_file(filename) else None

    def put(self, data, filename: str, binary: bool = True) -> str:
        """Writes bytes or text; the path of the file. Text that is passed as `binary` is too."""
        data = data if isinstance(data, (bytes, bytearray, memoryview)) else str(data).encode()
        path = self._path(filename)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.new-{os.getpid()}-{secrets.token_hex(8)}"
        try:
            Path(temporary).write_bytes(data)
            os.replace(temporary, path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
        return path

    @staticmethod
    def _group_name(filename: str) -> str:
        return f"__group__{filename}"

    def put_group(self, filename: str, group: dict) -> str:
        """Names files, by name and path, that belong together."""
        return self.put(json.dumps({"files": sorted(group)}), self._group_name(filename))

    def get_group(self, filename: str) -> dict | None:
        """The files of a group by name, or None if one of them is not there."""
        try:
            names = json.loads(Path(self._path(self._group_name(filename))).read_bytes())["files"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        found = {name: self.get_file(name) for name in names}
        return None if None in found.values() else found


def get_cache_manager(key: str) -> FileCacheManager:
    """The files of a key."""
    return FileCacheManager(key)
