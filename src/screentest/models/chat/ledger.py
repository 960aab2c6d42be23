"""A ledger in memory: for work outside a run, and for tests."""

from __future__ import annotations

from decimal import Decimal
from threading import Lock

from screentest.core import BadOption, CallIntent, CallReceipt, CallStatus, NoValue, Reason


class MemoryLedger:
    """Keeps intents and receipts in lists, and the cost under a cap."""

    waits = False
    """Nothing here waits for a disk, so async code may call it directly."""

    def __init__(self, cap: Decimal | None = None) -> None:
        self.cap = cap
        self.intents: dict[str, CallIntent] = {}
        self.receipts: dict[str, CallReceipt] = {}
        self._answers: dict[str, CallReceipt] = {}
        self._lock = Lock()

    @property
    def committed(self) -> Decimal:
        """What was spent, and at most will be by calls under way."""
        return sum((self._cost(call) for call in self.intents), Decimal(0))

    def recall(self, request: str) -> CallReceipt | None:
        """The latest answer to this very request."""
        return self._answers.get(request)

    def intend(self, intent: CallIntent) -> str:
        """Note the intent; refuse what could go over the cap."""
        with self._lock:
            if self.cap is not None:
                if intent.max_cost is None:
                    raise BadOption(f"a cost cap is set, but {intent.model!r} has no price")
                if self.committed + intent.max_cost > self.cap:
                    raise NoValue(
                        Reason.OVER_BUDGET,
                        f"one more call to {intent.model} could go over the cap of {self.cap}",
                        advice="Raise the cap and start the same command again; it goes on.",
                    )
            call = str(len(self.intents) + 1)
            self.intents[call] = intent
            return call

    def settle(self, call: str, receipt: CallReceipt) -> None:
        """Note what came of it."""
        with self._lock:
            self.receipts[call] = receipt
            if receipt.status is CallStatus.ANSWERED and receipt.answer is not None:
                self._answers[self.intents[call].request] = receipt

    def _cost(self, call: str) -> Decimal:
        receipt = self.receipts.get(call)
        cost = receipt.cost if receipt is not None else None
        # A call whose fate is unknown counts as the most it could have cost.
        return cost if cost is not None else self.intents[call].max_cost or Decimal(0)
