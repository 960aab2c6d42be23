"""Task: a piece of work that makes one or more records, wherever and whenever it runs.

The function of a task gets a Job and returns the outcomes of each key it was asked for. It
may be called in any process, in any order, again after a crash, and for some of the keys only.
Stop tells an engine to begin no more, or to end at once.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from types import FrameType
from typing import Any, Final, Protocol, TypeAlias

from screentest.core import LedgerClient, Reason
from screentest.run.channel import NotingLedger
from screentest.run.inputs import Stamp
from screentest.run.records import Encoded, RecordKey, RecordOutcomes

# Stopping: asked once, what is in flight is finished; asked twice, everything ends now.

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
        self._times += 1
        if self.signal is None:
            self.signal = by
        self._bell.send_bytes(b"!")

    def close(self) -> None:
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


@dataclass(frozen=True, slots=True)
class Job:
    """What the function of a task is given."""

    keys: tuple[RecordKey, ...]
    """The records that are wanted: all of the task's, or those that are still missing."""
    payload: Any
    ledger: LedgerClient
    """For paid calls."""

    def noting(self, *keys: RecordKey) -> AbstractContextManager[None]:
        """Meanwhile paid calls are made for these records only, whichever thread makes them.

        A call outside of any such block is one that all records of the task rest on. Do what
        they share, such as a caption that is asked for once and remembered, outside.
        """
        if isinstance(self.ledger, NotingLedger):
            return self.ledger.noting(*keys)
        return nullcontext()


TaskResults: TypeAlias = Mapping[RecordKey, RecordOutcomes]
Function: TypeAlias = Callable[[Job], TaskResults]


@dataclass(frozen=True, slots=True)
class Task:
    """A function, what it is given, and the records it makes.

    Metrics that share one decode of a video are one task with a key for each.
    """

    keys: tuple[RecordKey, ...]
    function: Function
    """At the top level of a module: workers get it by name."""
    payload: Any = None
    """Anything that pickles."""
    timeout: float | None = None
    """Seconds it may take, loading of models included; None leaves it to the engine."""
    files: tuple[Stamp, ...] = ()
    """Files that must not change while it runs; if one does, the result is not kept."""
    on_death: Reason = Reason.CRASHED
    """The reason given where it keeps killing its process."""
    separable: bool = False
    """Whether its records are tried one by one where together they end their process."""

    def __post_init__(self) -> None:
        if not self.keys:
            raise ValueError("a task makes at least one record")

    def only(self, keys: Sequence[RecordKey]) -> Task:
        """Return the same task for some of its records."""
        return replace(self, keys=tuple(keys))

    def parts(self, timeout: float | None) -> list[Task]:
        """Return a task for each record that may be tried alone; they share the time limit."""
        if not self.separable or len(self.keys) == 1:
            return []
        limit = self.timeout or timeout
        share = limit and limit / len(self.keys)
        return [replace(self, keys=(key,), timeout=share) for key in self.keys]


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a task: outcomes in the order of its keys, ready to be written."""

    task: Task
    outcomes: tuple[Encoded, ...]
    requests: tuple[tuple[str, ...], ...] = ()
    """The model calls that each record rests on, in the order of the keys; empty for none."""
    elapsed: float = 0.0
    attempts: int = 1


Ends: TypeAlias = Generator[Sequence[Finished], None, None]
"""What ended, as it ends; what ended at the same moment comes together and is written so."""


class Engine(Protocol):
    """Something that carries out tasks. Which one, and with how many workers, changes no result."""

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """Return the ends of tasks, as they come. After ``stop.requested`` no further task is
        begun."""
