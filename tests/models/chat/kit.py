"""What the chat tests share: a schema, requests, a clock that does not wait, a client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, Field

from screentest.core import BadOption, CallIntent, CallStatus, NoValue, Reason
from screentest.models.chat.calls import CallSettings
from screentest.models.chat.costs import MemoryLedger, Price, Prices
from screentest.models.chat.faults import Retries
from screentest.models.chat.messages import ChatRequest, Sampling, Text
from screentest.models.chat.openai import OpenAIChat
from screentest.models.chat.wire import Endpoint, dialect_for
from screentest.testing.chat_server import FakeChatServer, Script

KEY = "sk-test-0123456789abcdefSECRET"
GOOD = '{"score": 4, "reason": "fine"}'


class Rating(BaseModel):
    score: int = Field(ge=1, le=5)
    reason: str


class FakeClock:
    """Sleeping takes no time; the clock just moves on by as much."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def rating(number: int = 0, **more: Any) -> ChatRequest:
    """A request for a Rating."""
    return ChatRequest((Text(f"Rate film {number}."),), schema=Rating, **more)


def plain(number: int = 0, **more: Any) -> ChatRequest:
    """A request for any text."""
    return ChatRequest((Text(f"Does film {number} show a dog?"),), **more)


def prices(model: str = "judge", *, given: str = "10", got: str = "30") -> Prices:
    """Per million tokens."""
    return Prices({model: Price(Decimal(given), Decimal(got))})


def chat_at(
    url: str,
    *,
    model: str = "judge",
    clock: FakeClock | None = None,
    sampling: dict[str, Any] | None = None,
    dialect: str = "auto",
    structured: str = "auto",
    max_attempts: int = 4,
    concurrency: int = 8,
    timeout: float = 120.0,
    extra: dict[str, Any] | None = None,
) -> OpenAIChat:
    """A client for that address."""
    endpoint = Endpoint.of(url)
    settings = CallSettings(
        model=model,
        endpoint=endpoint,
        dialect=dialect_for(dialect, endpoint.host, model),
        structured=structured,
        retries=Retries(max_attempts=max_attempts),
        concurrency=concurrency,
        timeout=timeout,
        extra=extra or {},
    )
    return OpenAIChat(settings, sampling=sampling, clock=clock or FakeClock(), seed=1)


@contextmanager
def serving(script: Script, **options: Any) -> Iterator[tuple[FakeChatServer, OpenAIChat]]:
    """A fake server and a client of it."""
    with FakeChatServer(script) as server, chat_at(server.url, **options) as chat:
        yield server, chat


class CappedLedger(MemoryLedger):
    """A ledger with a cap, as a run has one on the disk."""

    def __init__(self, cap: Decimal) -> None:
        super().__init__()
        self.cap = cap

    @property
    def committed(self) -> Decimal:
        """Money that was spent, and at most will be by calls under way."""
        return sum(map(self._cost, self.intents), Decimal(0))

    def intend(self, intent: CallIntent) -> str:
        if intent.max_cost is None:
            raise BadOption(f"a cost cap is set, but {intent.model!r} has no price")
        if self.committed + intent.max_cost > self.cap:
            raise NoValue(Reason.OVER_BUDGET, "over the cap", advice="Raise it.")
        return super().intend(intent)

    def _cost(self, call: str) -> Decimal:
        receipt = self.receipts.get(call)
        cost = receipt.cost if receipt is not None else None
        # A call whose fate is unknown counts as the most it could have cost.
        return cost if cost is not None else self.intents[call].max_cost or Decimal(0)


def ledger_of(chat: OpenAIChat, cap: str | None = None, listed: Prices | None = None) -> Any:
    """A fresh ledger, attached."""
    ledger = MemoryLedger() if cap is None else CappedLedger(Decimal(cap))
    chat.attach(ledger, listed)
    return ledger


def statuses(ledger: MemoryLedger) -> list[CallStatus]:
    """Of all calls, in order."""
    return [ledger.receipts[call].status for call in ledger.intents]


def short(**more: Any) -> Sampling:
    """Few tokens, so that what a call can cost at most is easy to reckon."""
    return Sampling(max_tokens=100, **more)


# Settings that the models' makers recommend, as papers use them.
QWEN3 = Sampling(temperature=0.6, top_p=0.95, top_k=20, min_p=0.0, repetition_penalty=1.2)
QWEN3_VL = Sampling(temperature=0.7, top_p=0.8, top_k=20, min_p=0.0, max_tokens=8192)
