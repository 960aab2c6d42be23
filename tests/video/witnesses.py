"""Witnesses: did anything connect to this port, did anything open this file?"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

_IN_OPEN = 0x20


class FileWatch:
    """Counts how often a file is opened, by any process, as the kernel sees it."""

    def __init__(self, path: Path) -> None:
        if not sys.platform.startswith("linux"):
            pytest.skip("needs inotify")
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK)
        if libc.inotify_add_watch(self._descriptor, os.fsencode(path), _IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)

    def opened(self) -> bool:
        """Whether it was opened since the last question."""
        try:
            return bool(os.read(self._descriptor, 4096))
        except BlockingIOError:
            return False


class PortWatch:
    """A port on this machine that must stay silent."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()

    def called(self) -> bool:
        """Whether anybody connected."""
        try:
            caller, _ = self._listener.accept()
        except BlockingIOError:
            return False
        caller.close()
        return True
