"""What one event loop needs to ask one endpoint: connections, a limiter, the books."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from screentest.core import LedgerClient, NoValue, Outcome, ServiceError
from screentest.models.chat.accounting import Books
from screentest.models.chat.calling import Caller, Settings
from screentest.models.chat.endpoint import Secret
from screentest.models.chat.limiter import Limiter
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.chat.pricing import Price
from screentest.models.chat.retry import Clock


class Session:
    """Open connections to one endpoint. Make and use it in one event loop."""

    def __init__(
        self,
        settings: Settings,
        secret: Secret,
        clock: Clock,
        dice: random.Random,
    ) -> None:
        from screentest.models.chat._client import Client

        self.loop = asyncio.get_running_loop()
        self._most = settings.concurrency
        self._client = Client(settings.endpoint, secret, settings.concurrency, settings.timeout)
        self._threads = ThreadPoolExecutor(settings.concurrency, "screentest-ledger")
        limiter = Limiter(settings.concurrency, clock, dice)
        self._caller = Caller(settings, self._client, secret, limiter, clock, dice)

    async def ask_all(
        self,
        requests: Sequence[ChatRequest],
        ledger: LedgerClient,
        price: Price | None,
        note: Callable[[ChatAnswer], None],
    ) -> list[Outcome[ChatAnswer]]:
        """One outcome per request, in their order; ``note`` hears of every answer."""
        books = Books(ledger, price, self._threads)
        outcomes: dict[int, Outcome[ChatAnswer]] = {}
        queue = iter(enumerate(requests))
        workers = [
            asyncio.create_task(self._work(queue, books, outcomes, note))
            for _ in range(min(len(requests), self._most))
        ]
        try:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            # Where one failed, nobody starts anew, but a call under way may be paid for
            # already: it is finished and written down.
            deque(queue, maxlen=0)
            _cancel(worker for worker in workers if worker not in self._caller.sending)
            ends = await asyncio.gather(*workers, return_exceptions=True)
        except asyncio.CancelledError:
            _cancel(workers)
            await asyncio.gather(*workers, return_exceptions=True)
            raise
        errors = [end for end in ends if isinstance(end, Exception)]
        if errors:
            # One clear message: what stops the run goes before what followed from it.
            raise min(errors, key=lambda error: not isinstance(error, ServiceError))
        return [outcomes[number] for number in range(len(requests))]

    async def close(self) -> None:
        """Let go of connections and threads."""
        await self._client.close()
        self._threads.shutdown(wait=False)

    async def _work(
        self,
        queue: Iterator[tuple[int, ChatRequest]],
        books: Books,
        outcomes: dict[int, Outcome[ChatAnswer]],
        note: Callable[[ChatAnswer], None],
    ) -> None:
        for number, request in queue:
            try:
                answer = await self._caller.answer(request, books)
            except NoValue as error:
                outcomes[number] = Outcome(failure=error.failure)
            else:
                note(answer)
                outcomes[number] = Outcome.of(answer)


def _cancel(workers: Iterable[asyncio.Task[None]]) -> None:
    for worker in workers:
        worker.cancel()
