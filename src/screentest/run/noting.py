"""Which model calls a record rests on: those made for it, and those made for all of its task."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from screentest.core import CallIntent, CallReceipt, LedgerClient
from screentest.run.records import RecordKey


class NotingLedger:
    """A ledger that also notes which requests each record of a task rests on. A LedgerClient."""

    def __init__(self, ledger: LedgerClient, keys: Sequence[RecordKey]) -> None:
        self._ledger = ledger
        self._keys = tuple(keys)
        self._requests: dict[RecordKey, set[str]] = {key: set() for key in keys}
        self._open: Counter[RecordKey] = Counter()
        self._lock = threading.Lock()

    @property
    def waits(self) -> bool:
        """Whether its methods wait for a disk."""
        return bool(getattr(self._ledger, "waits", True))

    @contextmanager
    def noting(self, *keys: RecordKey) -> Iterator[None]:
        """Meanwhile calls are made for these records only, whichever thread makes them.

        Where several such blocks are open at once, a call counts for the records of all.
        """
        unknown = set(keys) - set(self._keys)
        if unknown:
            raise ValueError(f"not a record of this task: {min(unknown)}")
        with self._lock:
            self._open.update(keys)
        try:
            yield
        finally:
            with self._lock:
                self._open -= Counter(keys)

    def requests(self, key: RecordKey) -> tuple[str, ...]:
        """The requests a record rests on."""
        return tuple(sorted(self._requests[key]))

    def recall(self, request: str) -> CallReceipt | None:
        """The latest answer to this very request, where one was paid for already."""
        found = self._ledger.recall(request)
        if found is not None:
            self._note(request)
        return found

    def intend(self, intent: CallIntent) -> str:
        """Write the intent down and return its id."""
        call = self._ledger.intend(intent)
        self._note(intent.request)
        return call

    def settle(self, call: str, receipt: CallReceipt) -> None:
        """Write down what came of a call."""
        self._ledger.settle(call, receipt)

    def _note(self, request: str) -> None:
        with self._lock:
            for key in self._open or self._keys:
                self._requests[key].add(request)
