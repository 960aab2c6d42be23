"""Stopping: asked once, what is in flight is finished; asked twice, everything ends now."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from types import FrameType
from typing import Final

_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not on every system
_STDERR: Final = 2
_WORDS: Final = "\r\nStopping when what is under way is done; once more to stop at once.\r\n"


class Stop:
    """Whether to stop, and how soon. Engines wait on ``wake`` beside whatever else they await."""

    def __init__(self) -> None:
        self._times = 0
        self.signal: int | None = None
        """The first signal that asked for it; None where nobody did, or not by a signal."""
        self.wake, self._bell = Pipe(duplex=False)

    @property
    def requested(self) -> bool:
        """Begin nothing new."""
        return self._times > 0

    @property
    def now(self) -> bool:
        """Do not wait for what is in flight either."""
        return self._times > 1

    def request(self, by: int | None = None) -> None:
        """Ask once more."""
        self._times += 1
        if self.signal is None:
            self.signal = by
        self._bell.send_bytes(b"!")

    def close(self) -> None:
        """Give back the pipe."""
        self.wake.close()
        self._bell.close()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Meanwhile Ctrl-C and its like ask to stop instead of ending the process."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may decide about signals
            return
        before = {}
        try:
            for name in _NAMES:
                if hasattr(signal, name):
                    number = getattr(signal, name)
                    if signal.getsignal(number) is not signal.SIG_IGN:  # nohup stays nohup
                        before[number] = signal.signal(number, self._heard)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.request(number)
        if not self.now and os.isatty(_STDERR):
            # Straight to the terminal: a print here could break into one that is under way.
            with suppress(OSError):
                os.write(_STDERR, _WORDS.encode())
