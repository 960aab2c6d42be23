"""What a process needs to ask endpoints: connections, one event loop."""

from __future__ import annotations

import asyncio
import os
import random
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, TypeVar

from screentest._util.collect import grouped
from screentest.core import LedgerClient, NoValue, Outcome, ServiceError
from screentest.models.chat.calls import Caller, CallLedger, CallSettings
from screentest.models.chat.costs import Price
from screentest.models.chat.faults import Clock
from screentest.models.chat.limiter import Limiter
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.chat.wire import Secret


class Session:
    """Open connections to one endpoint. Make and use it in one event loop."""

    def __init__(
        self, settings: CallSettings, secret: Secret, clock: Clock, rng: random.Random
    ) -> None:
        from screentest.models.chat.client import ChatClient

        self.loop = asyncio.get_running_loop()
        self._settings = settings
        self._client = ChatClient(settings.endpoint, secret, settings.concurrency, settings.timeout)
        self._threads = ThreadPoolExecutor(settings.concurrency, "screentest-ledger")
        limiter = Limiter(settings.concurrency, clock, rng)
        self._caller = Caller(settings, self._client, secret, limiter, clock, rng)

    async def ask_all(
        self,
        requests: Sequence[ChatRequest],
        ledger: LedgerClient,
        price: Price | None,
        note: Callable[[ChatAnswer], None],
    ) -> list[Outcome[ChatAnswer]]:
        """One outcome per request, in their order; ``note`` hears of every answer."""
        call_ledger = CallLedger(ledger, price, self._threads)
        outcomes: dict[int, Outcome[ChatAnswer]] = {}
        # One worker takes all that are equal: of several, all but one would only wait.
        equal = grouped((request.key, number) for number, request in enumerate(requests))
        queue = iter(equal.values())
        workers = [
            asyncio.create_task(self._work(requests, queue, call_ledger, outcomes, note))
            for _ in range(min(len(equal), self._settings.concurrency))
        ]
        try:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            # Where one failed, nobody starts anew, but a call under way may be paid for
            # already: it is finished and written down.
            deque(queue, maxlen=0)
            for worker in workers:
                if worker not in self._caller.sending:
                    worker.cancel()
            ends = await asyncio.gather(*workers, return_exceptions=True)
        except asyncio.CancelledError:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            raise
        errors = [end for end in ends if isinstance(end, Exception)]
        if errors:
            # One clear message: what stops the run goes before what followed from it.
            raise min(errors, key=lambda error: not isinstance(error, ServiceError))
        return [outcomes[number] for number in range(len(requests))]

    async def close(self) -> None:
        await self._client.close()
        self._threads.shutdown(wait=False)

    async def _work(
        self,
        requests: Sequence[ChatRequest],
        queue: Iterator[list[int]],
        call_ledger: CallLedger,
        outcomes: dict[int, Outcome[ChatAnswer]],
        note: Callable[[ChatAnswer], None],
    ) -> None:
        for number in chain.from_iterable(queue):
            try:
                answer = await self._caller.answer(requests[number], call_ledger)
            except NoValue as error:
                outcomes[number] = Outcome(failure=error.failure)
            else:
                note(answer)
                outcomes[number] = Outcome.of(answer)


T = TypeVar("T")

_TIDYING = 10.0
_lock = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of ``work``, done in the event loop of this process.

    One event loop per process, in a thread of its own, so that plain code can ask async code.

    A process that was forked gets its own on first use. Ctrl-C in the asking thread cancels what it
    asked for, waits until that has tidied up, and goes on as Ctrl-C.
    """
    loop = event_loop()
    if threading.current_thread().name == _name():
        work.close()
        raise RuntimeError("the event loop cannot wait for itself; await instead")
    tidied = threading.Event()

    async def watched() -> T:
        try:
            return await work
        finally:
            tidied.set()

    result = asyncio.run_coroutine_threadsafe(watched(), loop)
    try:
        return result.result()
    except BaseException:
        if result.cancel():  # interrupted while waiting
            tidied.wait(_TIDYING)
        raise


def event_loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process, and start it where it does not run."""
    global _running
    with _lock:
        if _running is None or _running[0] != os.getpid() or _running[1].is_closed():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name=_name(), daemon=True).start()
            _running = os.getpid(), loop
        return _running[1]


def _name() -> str:
    return f"screentest-chat-{os.getpid()}"


def _new_lock() -> None:
    # The lock could have been held by a thread that does not exist after a fork.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)
