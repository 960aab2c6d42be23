"""What a process needs to ask endpoints: connections, one event loop, estimates before asking."""

from __future__ import annotations

import asyncio
import os
import random
import threading
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, TypeVar

from screentest._util.collect import grouped
from screentest.core import LedgerClient, NoValue, Outcome, ServiceError
from screentest.models.chat.calls import Caller, CallLedger, CallSettings, call_body, call_digest
from screentest.models.chat.costs import Price, estimate_input_tokens
from screentest.models.chat.faults import Clock
from screentest.models.chat.limiter import Limiter
from screentest.models.chat.messages import ChatAnswer, ChatRequest, Text, Usage
from screentest.models.chat.videos import pictures_sent
from screentest.models.chat.wire import Secret


class Session:
    """Open connections to one endpoint. Make and use it in one event loop."""

    def __init__(
        self,
        settings: CallSettings,
        secret: Secret,
        clock: Clock,
        rng: random.Random,
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


_PREVIEW = 300


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """An estimate for a list of requests, were none of them to fail or need repair."""

    host: str
    url: str
    model: str
    calls: int
    images: int
    image_bytes: int
    """Of the encoded pictures."""
    sent_bytes: int
    """Of all bodies, exactly."""
    input_tokens: int
    """About; every model counts in its own way."""
    most_output_tokens: int
    """No answer may be longer, so this is a bound."""
    most_cost: Decimal | None
    """At the estimated input and the longest answers; None without a price."""
    uses: Mapping[str, int]
    """Calls by use."""
    preview: str
    """The beginning of the first request's text."""


def estimate(
    requests: Iterable[ChatRequest], settings: CallSettings, price: Price | None = None
) -> CallEstimate:
    """Add up what ``requests`` would take at the endpoint of ``settings``.

    Nothing is sent. What would leave the machine is made for real, so its size is exact.
    """
    images = image_bytes = sent = tokens = longest = 0
    cost = Decimal(0)
    uses: Counter[str] = Counter()
    preview = ""
    seen: set[str] = set()
    for request in requests:
        digest = call_digest(settings, request)
        if digest in seen:
            continue  # asked once
        seen.add(digest)
        uses[request.use] += 1
        pictures = pictures_sent(request, settings.video)
        images += len(pictures)
        image_bytes += sum(len(picture.data) for picture in pictures)
        sent += len(call_body(settings, request, enforced=settings.structured != "instructed"))
        here = estimate_input_tokens(request, instructed=settings.structured != "schema")
        tokens += here
        longest += request.sampling.max_tokens
        if price is not None:
            cost += price.cost(Usage(here, request.sampling.max_tokens), len(pictures)) or 0
        preview = preview or _text(request)
    return CallEstimate(
        host=settings.endpoint.host,
        url=settings.endpoint.url,
        model=settings.model,
        calls=len(seen),
        images=images,
        image_bytes=image_bytes,
        sent_bytes=sent,
        input_tokens=tokens,
        most_output_tokens=longest,
        most_cost=cost if price is not None else None,
        uses=uses,
        preview=preview,
    )


def _text(request: ChatRequest) -> str:
    text = " ".join(part.text for part in request.parts if isinstance(part, Text))
    flat = " ".join(text.split())
    return flat if len(flat) <= _PREVIEW else f"{flat[:_PREVIEW]}…"
