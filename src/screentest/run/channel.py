"""The ledger of a worker: it asks, and the process that writes answers.

A worker that is about to make a paid call waits until its intent is on the disk. Each worker
has a pipe of its own, so that one that dies in the middle of a message harms nobody else's. What
crosses is JSON, never a pickle back: a worker decodes untrusted files, and whatever becomes of it,
what it says is only read as data.

NotingLedger notes which calls each record rests on.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from functools import cached_property, partial
from itertools import count
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from screentest import core
from screentest.core.calls import CallIntent, CallReceipt, LedgerClient
from screentest.core.codec import from_json, to_json
from screentest.core.errors import NoValue, ScreentestError, StorageError, UserError
from screentest.core.outcome import Reason
from screentest.run.records import RecordKey

if TYPE_CHECKING:
    from screentest.models.chat.calls import CallLedger
    from screentest.models.chat.limiter import Limiter, Place

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

    @property
    def slot(self) -> Any:
        """Whoever gives places at endpoints to all workers; None where this process does."""
        return getattr(self._ledger, "slot", None)

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

    @asynccontextmanager
    async def slot(self, endpoint: str, most: int, request: str) -> AsyncIterator[Place]:
        """Wait for one of the ``most`` places that all workers have at an endpoint."""
        from screentest.models.chat.limiter import Place

        number, granted = self._begin("enter", endpoint, most, request)
        place = Place()
        try:
            place.again = await asyncio.wrap_future(granted)
            yield place
        finally:
            self._begin("leave", number, place.well, place.pause)

    def _ask(self, what: str, *arguments: str) -> Any:
        return self._begin(what, *arguments)[1].result()

    def _begin(self, what: str, *arguments: str | float | None) -> tuple[int, Future[Any]]:
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()  # from now on nobody can cancel it
        with self._sending:
            if self._connection is None:
                self._connection = self._connect()
                listen = partial(self._listen, self._connection)
                threading.Thread(target=listen, daemon=True).start()
            number = next(self._numbers)
            self._waiting[number] = answer
            send(self._connection, number=number, what=what, arguments=arguments)
        return number, answer

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


class _Asker:
    """A worker at the other end of a pipe, and what it holds."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.sending = threading.Lock()
        self.waiting: dict[int, Future[None]] = {}
        """By number, its questions that wait for other workers, and not for the disk."""
        self.places: dict[int, tuple[AbstractAsyncContextManager[Place], Place]] = {}
        """By the number of the question, its places at endpoints."""
        self.calls: set[str] = set()
        """Its calls without a receipt."""

    def send(self, **message: Any) -> None:
        with self.sending, suppress(OSError):  # the worker died; what it asked is written down
            send(self.connection, **message)


class LedgerServer:
    """Answers the ledgers of all workers, and says when each may call an endpoint.

    Questions that come together share one commit. Calls of all workers to an endpoint go through
    one limiter, and never two with the same request at once.
    """

    def __init__(self, ledger: LedgerClient) -> None:
        self._client = ledger
        self._threads = ThreadPoolExecutor(16, thread_name_prefix="screentest-ledger")
        self._limiters: dict[str, Limiter] = {}
        self._askers: set[_Asker] = set()
        self._replies: set[Future[None]] = set()
        self._closed = False
        self.is_stopping: Callable[[], bool] = lambda: False

    @cached_property
    def _ledger(self) -> CallLedger:
        from screentest.models.chat.calls import CallLedger

        return CallLedger(self._client, None, self._threads)

    def serve(self, connection: Connection) -> None:
        """Answer one worker until it is gone."""
        threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """Answer what was asked, then no more."""
        self._closed = True
        for asker in list(self._askers):
            self._forget(asker)
        wait(list(self._replies))
        self._threads.shutdown()

    def _serve(self, connection: Connection) -> None:
        from screentest.models.chat.session import event_loop

        asker = _Asker(connection)
        self._askers.add(asker)
        with suppress(EOFError, OSError), connection:
            while not self._closed:
                question = receive(connection)
                number = question["number"]
                answering = self._reply(asker, number, question)
                reply = asyncio.run_coroutine_threadsafe(answering, event_loop())
                self._replies.add(reply)
                if question["what"] in ("enter", "intend"):
                    asker.waiting[number] = reply
                reply.add_done_callback(partial(self._replied, asker, number))
        self._forget(asker)

    def _replied(self, asker: _Asker, number: int, reply: Future[None]) -> None:
        self._replies.discard(reply)
        asker.waiting.pop(number, None)

    def _forget(self, asker: _Asker) -> None:
        """Give back what a worker held that is gone."""
        from screentest.models.chat.session import run

        async def give_back() -> None:
            for number in list(asker.places):
                await self._leave(asker, number)
            while asker.calls:
                asker.calls.pop()
                self._ledger.ended()

        for reply in list(asker.waiting.values()):
            reply.cancel()
        run(give_back())
        self._askers.discard(asker)

    async def _reply(self, asker: _Asker, number: int, question: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"number": number}
        try:
            what, arguments = question["what"], question["arguments"]
            reply["value"] = await self._answer(asker, number, what, arguments)
        except ScreentestError as error:
            reply["error"] = error_message(error)
        except Exception as error:  # noqa: BLE001 - whoever asked must get an answer, not wait for ever
            reply["error"] = error_message(UserError(f"{type(error).__name__}: {error}"))
        # In a thread: a worker that does not listen must not keep the others waiting.
        await asyncio.get_running_loop().run_in_executor(self._threads, lambda: asker.send(**reply))

    async def _answer(
        self, asker: _Asker, number: int, what: str, arguments: list[Any]
    ) -> str | bool | None:
        match what, arguments:
            case "recall", [request]:
                answer = await self._ledger.recall(request)
                return None if answer is None else to_json(answer)
            case "intend", [_] if self.is_stopping():
                raise core.RunError("the run is stopping")
            case "intend", [intent]:
                call = await self._ledger.intend(from_json(CallIntent, intent))
                asker.calls.add(call)
                return call
            case "settle", [call, receipt]:
                asker.calls.discard(call)
                await self._ledger.settle(call, from_json(CallReceipt, receipt))
                return None
            case "enter", [endpoint, most, request]:
                return await self._enter(asker, number, endpoint, most, request)
            case "leave", [place, well, pause]:
                await self._leave(asker, place, well, pause)
                return None
            case _:
                raise UserError(f"the ledger does not know {what!r}")

    async def _enter(
        self, asker: _Asker, number: int, endpoint: str, most: int, request: str
    ) -> bool:
        """Wait for a place, and return whether somebody else asked the same meanwhile."""
        from screentest.models.chat.faults import SystemClock
        from screentest.models.chat.limiter import Limiter

        if endpoint not in self._limiters:
            self._limiters[endpoint] = Limiter(most, SystemClock(), random.Random())
        limiter = self._limiters[endpoint]
        limiter.most = min(limiter.most, most)
        slot = limiter.slot(request)
        place = await slot.__aenter__()
        asker.places[number] = slot, place
        return place.again

    async def _leave(
        self, asker: _Asker, number: int, well: bool = False, pause: float | None = None
    ) -> None:
        if number not in asker.places:
            if number in asker.waiting:
                asker.waiting[number].cancel()
            return
        slot, place = asker.places.pop(number)
        place.well, place.pause = well, pause
        await slot.__aexit__(None, None, None)
