# -*- Python -*-
"""lit configuration of the GoogleTest programs in build/unittests."""

import os

import lit.formats

config.name = "TileDialect-Unit"
config.suffixes = []
config.test_source_root = os.path.join(config.tile_build_dir, "unittests")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
for name in ("HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
