# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles of several kernels at once: `with tile.AsyncCompileMode(executor):`."""

from __future__ import annotations

import threading
from contextvars import ContextVar

# The mode that the current thread or task is in, or None.
active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("async_compile_mode", default=None)


def _itself(kernel):
    return kernel


class FutureKernel:
    """A kernel that is being compiled; its attributes are those of the compiled one, for which
    whoever asks waits."""

    def __init__(self, future, finish, forget):
        self._future, self._finish, self._forget = future, finish, forget
        self._kernel = None
        # `finish` may ask for the kernel, too.
        self._lock = threading.RLock()

    def result(self):
        """The compiled kernel. Raises what its compile has raised."""
        with self._lock:
            if self._kernel is None:
                try:
                    self._kernel = self._future.result()
                except Exception:
                    self._forget(self)
                    raise
                self._finish(self._kernel)
        return self._kernel

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.result(), name)

    def __getitem__(self, grid):
        return self.result()[grid]

    def __reduce__(self):
        """A pickle is one of the compiled kernel."""
        return _itself, (self.result(), )


class AsyncCompileMode:
    """In its `with` block `kernel.warmup(...)` lets the threads of `executor` compile, and returns
    at once; launches wait for their kernel, the end of the block for all. An error of a compile is
    raised there unless `ignore_errors` is set."""

    def __init__(self, executor, *, ignore_errors: bool = False):
        self.executor, self.ignore_errors = executor, ignore_errors
        self._kernels = []

    def submit(self, compile_, finish, forget) -> FutureKernel:
        """`compile_()` returns the kernel, `finish(kernel)` is called when it is asked for first,
        and `forget(future_kernel)` if there is none."""
        kernel = FutureKernel(self.executor.submit(compile_), finish, forget)
        self._kernels.append(kernel)
        return kernel

    def __enter__(self):
        if active_mode.get() is not None:
            raise RuntimeError("an AsyncCompileMode is active already")
        self._token = active_mode.set(self)
        return self

    def __exit__(self, kind, error, traceback):
        active_mode.reset(self._token)
        kernels, self._kernels = self._kernels, []
        first = None
        for kernel in kernels:
            try:
                kernel.result()
            except Exception as failure:
                first = first or failure
        if first is not None and error is None and not self.ignore_errors:
            raise first
