"""The ledger of a worker: it asks, and the process that writes answers.

A worker that is about to make a paid call waits until its intent is on the disk. Each worker
has a pipe of its own, so that one that dies in the middle of a message harms nobody else's. What
crosses is JSON, never a pickle back: a worker decodes untrusted files, and whatever becomes of it,
what it says is only read as data.

NotingLedger notes which calls each record rests on.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from typing import Any, Final

from screentest import core
from screentest.core.calls import CallIntent, CallReceipt, LedgerClient
from screentest.core.codec import from_json, to_json
from screentest.core.errors import NoValue, ScreentestError, StorageError, UserError
from screentest.core.outcome import Reason
from screentest.run.records import RecordKey

# Which model calls a record rests on: those made for it, and those made for all of its task.


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
        """Return True if its methods wait for a disk."""
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
        """Return the requests a record rests on."""
        return tuple(sorted(self._requests[key]))

    def recall(self, request: str) -> CallReceipt | None:
        answer = self._ledger.recall(request)
        if answer is not None:
            self._note(request)
        return answer

    def intend(self, intent: CallIntent) -> str:
        call = self._ledger.intend(intent)
        self._note(intent.request)
        return call

    def settle(self, call: str, receipt: CallReceipt) -> None:
        self._ledger.settle(call, receipt)

    def _note(self, request: str) -> None:
        with self._lock:
            for key in self._open or self._keys:
                self._requests[key].add(request)


def send(connection: Connection, **message: Any) -> None:
    """Send a message as JSON."""
    connection.send_bytes(as_bytes(message))


def as_bytes(message: Mapping[str, Any]) -> bytes:
    """Return a message as it crosses."""
    return json.dumps(message, allow_nan=False).encode()


def receive(connection: Connection) -> dict[str, Any]:
    """Return the next message; EOFError where the other end is gone."""
    message: dict[str, Any] = json.loads(connection.recv_bytes())
    return message


def error_message(error: ScreentestError) -> dict[str, str]:
    """Return an error of ours as data."""
    message = {"kind": type(error).__name__, "message": error.message, "advice": error.advice}
    if isinstance(error, NoValue):
        message["reason"] = error.reason.value
    return message


def as_error(message: dict[str, str]) -> ScreentestError:
    """Return the error that a message describes, under its own name where core has it."""
    text, advice = message["message"], message["advice"]
    if "reason" in message:
        return NoValue(Reason(message["reason"]), text, advice=advice)
    kind = getattr(core, message["kind"], UserError)
    if not (isinstance(kind, type) and issubclass(kind, ScreentestError)):
        kind = UserError
    made: ScreentestError = kind(text, advice=advice)
    return made


_MOST_AT_ONCE: Final = 16


class RemoteLedger:
    """The ledger as a worker sees it: it asks the process that writes, and waits. A LedgerClient.

    Any number of threads may ask at once; one thread of its own hands out the answers.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        """``connect`` is called by the first question, not before."""
        self._connect = connect
        self._connection: Connection | None = None
        self._sending = threading.Lock()
        self._numbers = count()
        self._waiting: dict[int, Future[Any]] = {}

    def recall(self, request: str) -> CallReceipt | None:
        answer = self._ask("recall", request)
        return None if answer is None else from_json(CallReceipt, answer)

    def intend(self, intent: CallIntent) -> str:
        call: str = self._ask("intend", to_json(intent))
        return call

    def settle(self, call: str, receipt: CallReceipt) -> None:
        self._ask("settle", call, to_json(receipt))

    def _ask(self, what: str, *arguments: str) -> Any:
        answer: Future[Any] = Future()
        with self._sending:
            if self._connection is None:
                self._connection = self._connect()
                listen = partial(self._listen, self._connection)
                threading.Thread(target=listen, daemon=True).start()
            number = next(self._numbers)
            self._waiting[number] = answer
            send(self._connection, number=number, what=what, arguments=arguments)
        return answer.result()

    def _listen(self, connection: Connection) -> None:
        with suppress(EOFError, OSError):
            while True:
                message = receive(connection)
                answer = self._waiting.pop(message["number"])
                if "error" in message:
                    answer.set_exception(as_error(message["error"]))
                else:
                    answer.set_result(message["value"])
        for answer in self._waiting.values():
            answer.set_exception(StorageError("the process that writes the run is gone"))


class LedgerServer:
    """Answers the ledgers of all workers. Questions that come together share one commit."""

    def __init__(self, ledger: LedgerClient) -> None:
        self._ledger = ledger
        self._threads = ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="screentest-ledger")

    def serve(self, connection: Connection) -> None:
        """Answer one worker until it is gone."""
        threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """Answer what was asked, then no more."""
        self._threads.shutdown()

    def _serve(self, connection: Connection) -> None:
        sending = threading.Lock()
        # RuntimeError: the server has closed, and with it the run.
        with suppress(EOFError, OSError, RuntimeError), connection:
            while True:
                self._threads.submit(self._reply, connection, sending, receive(connection))

    def _reply(
        self, connection: Connection, sending: threading.Lock, question: dict[str, Any]
    ) -> None:
        reply: dict[str, Any] = {"number": question["number"]}
        try:
            reply["value"] = self._answer(question["what"], question["arguments"])
        except ScreentestError as error:
            reply["error"] = error_message(error)
        except Exception as error:  # noqa: BLE001 - whoever asked must get an answer, not wait for ever
            reply["error"] = error_message(UserError(f"{type(error).__name__}: {error}"))
        with sending, suppress(OSError):  # the worker died; what it asked is written down
            send(connection, **reply)

    def _answer(self, what: str, arguments: list[str]) -> str | None:
        match what, arguments:
            case "recall", [request]:
                answer = self._ledger.recall(request)
                return None if answer is None else to_json(answer)
            case "intend", [intent]:
                return self._ledger.intend(from_json(CallIntent, intent))
            case "settle", [call, receipt]:
                self._ledger.settle(call, from_json(CallReceipt, receipt))
                return None
            case _:
                raise UserError(f"the ledger does not know {what!r}")
