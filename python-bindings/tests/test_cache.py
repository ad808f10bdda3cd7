# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache on disk: hits, faults, races, and the command line."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.runtime import cache

pytestmark = pytest.mark.compiled

PROGRAM = """
import sys
import numpy as np
import tile
import tile.language as tl

@tile.jit
def triple(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 3)

for n in (32, 64, 128):
    x = np.ones(n, np.float32)
    kernel = triple[(1, )](x, n)
    assert (x == 3).all()
print(kernel.from_disk)
"""


@tile.jit
def double(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 2)


def launch(n=32):
    """Launches a kernel that this process has not compiled yet; whether it was on disk."""
    x = np.ones(n, np.float32)
    kernel = tile.jit(double.fn)[(1, )](x, n)
    assert (x == 2).all()
    return kernel.from_disk


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tile.knobs, "cache_dir", str(tmp_path / "cache"))
    return tmp_path / "cache"


def only_entry(folder) -> Path:
    (path, ) = folder.glob("??/*.tile")
    return path


def test_hits():
    assert [launch(), launch(), launch(64), launch(64)] == [False, True, False, True]


def test_options_and_chip_are_part_of_the_key():
    kernels = {tile.compile(double, signature="*fp32", constexprs={"N": 32}, target=chip, num_warps=w,
                            ).asm["ptx"] for chip in ("sm_80", "sm_90a") for w in (1, 2)}
    assert len(kernels) == 4 and len(cache.entries()) == 4


@pytest.mark.emulator  # on a GPU, cubins are entries too
@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: data[:len(data) // 2], lambda data: data[:-1] + b"?",
    lambda data: data.replace(b"mul", b"add"), lambda data: b"null\n", lambda data: b"\xff" + data,
])
def test_corrupt_entries_are_rebuilt(folder, damage):
    assert not launch()
    path = only_entry(folder)
    path.write_bytes(damage(path.read_bytes()))
    assert not launch()
    assert launch()


@pytest.mark.emulator
def test_an_entry_at_another_address_is_not_used(folder):
    """As a broken file system or a careless copy may leave it."""
    assert not launch() and not launch(64)
    first, second = folder.glob("??/*.tile")
    second.write_bytes(first.read_bytes())
    assert len(cache.entries()) == 1
    assert [launch(), launch(64)].count(False) == 1
    assert launch() and launch(64)


@pytest.mark.emulator
def test_entries_of_another_format_are_not_used(folder):
    assert not launch()
    path = only_entry(folder)
    path.write_bytes(path.read_bytes().replace(b"tile 2 ", b"tile 1 ", 1))
    assert not launch()


@pytest.mark.emulator
def test_folder_in_place_of_an_entry(folder):
    assert not launch()
    path = only_entry(folder)
    path.unlink()
    path.mkdir()
    assert not launch() and not launch()
    assert cache.clear() == (0, 1)


def fail(number):

    def failing(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return failing


@pytest.mark.emulator
@pytest.mark.parametrize("module, name", [
    (Path, "mkdir"), (os, "open"), (os, "fsync"), (os, "replace")])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
def test_disk_errors(folder, monkeypatch, module, name, number):
    """Entries that are there are still found; nothing is left of one that cannot be written."""
    assert not launch()
    with monkeypatch.context() as patch:
        patch.setattr(module, name, fail(number))
        assert launch() and not launch(64) and not launch(64)
    assert only_entry(folder) and not list(folder.glob("??/.new-*"))
    assert not launch(64) and launch(64)


@pytest.mark.parametrize("mask, mode", [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_other_users_may_read_what_the_umask_lets_them(folder, mask, mode):
    before = os.umask(mask)
    try:
        launch()
    finally:
        os.umask(before)
    # On a GPU the cubin has an entry of its own.
    assert {path.stat().st_mode & 0o777 for path in folder.glob("??/*.tile")} == {mode}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk(folder, monkeypatch):
    """The write itself fails, as the kernel reports it."""
    real = os.fdopen

    def full(handle, mode):
        os.close(handle)
        return open("/dev/full", mode)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", full)
        assert not launch() and not launch()
    assert os.fdopen is real and list(folder.glob("??/*")) == []
    assert not launch() and launch()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(folder):
    assert not launch()
    for path in (folder, *folder.iterdir()):
        path.chmod(0o555)
    try:
        assert launch() and not launch(64) and not launch(64)
    finally:
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755)


@pytest.mark.emulator
@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_unreadable_entry(folder):
    assert not launch()
    only_entry(folder).chmod(0)
    assert not launch() and launch()


def test_limit_of_file_sizes(folder, tmp_path):
    """A process that may write a few bytes only keeps nothing, and works."""
    program = tmp_path / "program.py"
    program.write_text("import resource\n"
                       "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n" + PROGRAM)
    done = subprocess.run([sys.executable, str(program)], env=environment(folder), capture_output=True,
                          text=True)
    assert done.stdout == "False\n", done.stderr
    assert not [path for path in folder.glob("??/*")]


def test_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tile.knobs, "cache_dir", str(tmp_path / "file" / "cache"))
    assert not launch() and not launch()


def test_no_cache(folder, monkeypatch):
    monkeypatch.setattr(tile.knobs, "use_cache", False)
    assert not launch() and not launch() and not folder.exists()


def environment(folder):
    return {**os.environ, "TILE_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}


def test_processes_at_once(folder, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program)]
    running = [subprocess.Popen(command, env=environment(folder), stdout=subprocess.PIPE, text=True)
               for _ in range(3)]
    assert all(process.wait() == 0 for process in running)
    for process in running:
        process.stdout.close()
    assert subprocess.run(command, env=environment(folder), capture_output=True, text=True,
                          check=True).stdout == "True\n"
    assert len(list(folder.glob("??/*.tile"))) == 3 and not list(folder.glob("??/.new-*"))


WRITER = """
import sys
from tile.runtime import cache
key = cache.key_of("race")
for i in range(150):
    assert cache.store(key, sys.argv[1].encode() * (1000 + 100 * i), {"kind": "test", "kernel": sys.argv[1]})
"""


def test_readers_see_whole_entries_while_others_write(folder):
    """Two processes replace one entry all the time."""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, letter], env=environment(folder))
               for letter in "ab"]
    key, seen = cache.key_of("race"), set()
    while any(writer.poll() is None for writer in writers):
        payload = cache.load(key)
        assert payload is not None or not seen, "an entry has vanished"
        if payload is not None:
            assert len(set(payload)) == 1 and len(payload) % 100 == 0
            seen.add(payload[:1])
    assert all(writer.returncode == 0 for writer in writers)
    assert cache.load(key) is not None and len(cache.entries()) == 1 and not list(folder.glob("??/.new-*"))


def test_clearing_while_others_compile(folder, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    running = [subprocess.Popen([sys.executable, str(program)], env=environment(folder),
                                stdout=subprocess.DEVNULL) for _ in range(2)]
    while any(process.poll() is None for process in running):
        cache.clear()
        cache.entries()
    assert all(process.returncode == 0 for process in running)


# Where it is --------------------------------------------------------------------------------


@pytest.mark.parametrize("variables, expected", [
    ({"TILE_CACHE_DIR": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
    ({"XDG_CACHE_HOME": "/x"}, "/x/tile"),
    ({"XDG_CACHE_HOME": "relative"}, "/home/u/.cache/tile"),  # the specification ignores it
    ({}, "/home/u/.cache/tile"),
    ({"TILE_CACHE_DIR": "here"}, os.path.join(os.getcwd(), "here")),
    ({"TILE_CACHE_DIR": "~/here"}, "/home/u/here"),
])
def test_location(monkeypatch, variables, expected):
    for name in ("TILE_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/u")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert tile.knobs._cache_dir() == expected


def test_a_folder_that_is_gone(tmp_path, monkeypatch):
    monkeypatch.setenv("TILE_CACHE_DIR", "here")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert tile.knobs._cache_dir() == ""


@pytest.mark.parametrize("text", ("-1", "many", "1000000"))
def test_numbers_of_the_environment(monkeypatch, text):
    monkeypatch.setenv("TILE_EMULATOR_THREADS", text)
    with pytest.raises(ValueError, match=f"TILE_EMULATOR_THREADS must be a number .*, got '{text}'"):
        tile.knobs._count("TILE_EMULATOR_THREADS")


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    for name in ("TILE_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert tile.knobs._cache_dir() == ""


# The command line ---------------------------------------------------------------------------


def command_line(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "tile", *arguments], env=environment(folder),
                          capture_output=True, text=True)


@pytest.mark.emulator
def test_command_line_of_the_cache(folder):
    launch(), launch(64)
    listing = command_line(folder, "cache", "ls").stdout
    assert "2 entries" in listing and listing.count("double") == 2
    assert "0 entries" in command_line(folder, "cache", "ls", "another").stdout
    assert "removed 0 entries" in command_line(folder, "cache", "clear", "another").stdout
    assert "removed 2 entries" in command_line(folder, "cache", "clear").stdout
    assert cache.entries() == []
    assert "has no compiled kernel" in command_line(folder, "cache", "why").stdout


def reasons(kernel=None):
    """What `cache why` says about each compile."""
    return [changes if nearest else None for _, _, nearest, changes in cache.explain(kernel)]


@tile.jit
def scaled(x, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * n)


@pytest.mark.emulator
def test_why(folder):
    kernel = tile.jit(scaled.fn)
    floats, ints = np.ones(128, np.float32), np.ones(128, np.int32)
    kernel[(1, )](floats, 3, N=32)
    kernel[(1, )](floats, 3, N=64)
    kernel[(1, )](ints, 3, N=32)
    kernel[(1, )](ints[1:], 3, N=32)
    kernel[(1, )](ints, 1, N=64, num_warps=8)
    assert reasons("scaled") == [
        None, ["argument N: constexpr 32 -> constexpr 64"], ["argument x: *fp32:16 -> *int32:16"],
        ["argument x: *int32:16 -> *int32"],
        # The nearest one is the first with *int32:16.
        ["argument n: int32 -> constexpr 1", "argument N: constexpr 32 -> constexpr 64",
         "num_warps: 4 -> 8"]]
    why = command_line(folder, "cache", "why", "scaled").stdout
    assert why.count("scaled") >= 5 and "first compile" in why
    assert "because of\n    argument N: constexpr 32 -> constexpr 64\n" in why


def test_why_of_chips_and_sources(folder, tmp_path):
    """The same kernel for two chips, then with another body, another line, another helper."""
    program = tmp_path / "kernels.py"
    head = "import tile\nimport tile.language as tl\n"
    helper = "@tile.jit\ndef helper(x):\n    return x + 1\n"
    body = "@tile.jit\ndef kernel(x):\n    tl.store(x, helper(tl.load(x)))\n"
    for text in (head + helper + body, head + helper + body.replace("store(x, ", "store(x, 2 * "),
                 head + helper + "\n" + body, head + helper.replace("+ 1", "+ 3") + body):
        program.write_text(text)
        for chip in ("sm_80", "sm_90a") if text == head + helper + body else ("sm_80", ):
            done = command_line(folder, "compile", f"{program}:kernel", "--signature", "*fp32", "--chip",
                                chip, "-o", str(tmp_path))
            assert done.returncode == 0, done.stderr
    assert reasons("kernel") == [None, ["chip: sm_80 -> sm_90a"], ["its source has changed"],
                                 ["its line: 6 -> 7"], []]
    why = command_line(folder, "cache", "why").stdout
    assert "its source has changed" in why and "a function that it calls" in why


def test_command_line_without_a_cache(folder):
    done = subprocess.run([sys.executable, "-m", "tile", "cache", "ls"], capture_output=True, text=True,
                          env={**environment(folder), "TILE_NO_CACHE": "1"})
    assert done.returncode == 1 and "TILE_NO_CACHE is set" in done.stderr


def test_output_into_a_closed_pipe(folder):
    launch(), launch(64)
    done = subprocess.run(f"{sys.executable} -m tile cache ls | true", shell=True, capture_output=True,
                          text=True, env=environment(folder))
    assert done.stderr == ""
