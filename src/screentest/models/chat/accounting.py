"""Intents before and receipts after each call, from async code, without ever passing the cap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import ParamSpec, TypeVar

from screentest.core import CallIntent, CallReceipt, LedgerClient, NoValue, Reason
from screentest.models.chat.messages import ChatRequest, Usage
from screentest.models.chat.pricing import Price

P = ParamSpec("P")
T = TypeVar("T")


class Books:
    """A ledger as async code uses it. Lives in one event loop."""

    def __init__(
        self, ledger: LedgerClient, price: Price | None, threads: ThreadPoolExecutor
    ) -> None:
        self._ledger = ledger
        self._price = price
        # A ledger waits for the disk; many who wait together share one write.
        self._threads = threads if getattr(ledger, "waits", True) else None
        self._open_calls = 0
        self._settlements = 0
        self._waiting: list[asyncio.Future[None]] = []

    def most(self, request: ChatRequest, extra_text: str) -> Decimal | None:
        """The most a call can cost; None without a price."""
        if self._price is None:
            return None
        return self._price.most(request, request.sampling.max_tokens, extra_text)

    def cost(self, usage: Usage, images: int) -> Decimal | None:
        """What a call cost; None without a price or a count of tokens."""
        return None if self._price is None else self._price.cost(usage, images)

    async def recall(self, digest: str) -> CallReceipt | None:
        """What was answered and paid for already."""
        return await self._in_thread(self._ledger.recall, digest)

    async def intend(self, intent: CallIntent) -> str:
        """Write the intent down.

        Near the cap it waits for calls under way, which may turn out cheaper than their most,
        before it gives up with NoValue(OVER_BUDGET).
        """
        call = await self._try(intent)
        while call is None:
            call = await self._try(intent)
        return call

    async def settle(self, call: str, receipt: CallReceipt) -> None:
        """Write down what came of it."""
        await self._in_thread(self._ledger.settle, call, receipt)
        self._settled()

    def settle_now(self, call: str, receipt: CallReceipt) -> None:
        """The same where nothing can be awaited any more."""
        self._ledger.settle(call, receipt)
        self._settled()

    async def _try(self, intent: CallIntent) -> str | None:
        seen = self._settlements
        try:
            call = await self._in_thread(self._ledger.intend, intent)
        except NoValue as error:
            if error.reason is not Reason.OVER_BUDGET:
                raise
            if self._settlements == seen:
                if self._open_calls == 0:
                    raise
                await self._next_settlement()
            return None
        self._open_calls += 1
        return call

    async def _next_settlement(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def _settled(self) -> None:
        self._open_calls -= 1
        self._settlements += 1
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._threads is None:
            return work(*args, **kwargs)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: work(*args, **kwargs))
