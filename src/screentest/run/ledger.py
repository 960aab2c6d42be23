"""The call ledger: an intent before and a receipt after every paid call.

An intent without a receipt is a call of which nobody knows what became: it may be billed, so
it counts as its most against the cap. Nothing is ever called that is not written down first.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Final

from screentest.core.calls import NO_VALUE, CallIntent, CallReceipt
from screentest.core.errors import BadOption, NoValue, RunError
from screentest.core.outcome import Reason
from screentest.run.database import explained
from screentest.run.records import SqlRow, SqlValue, from_row, insert, now, select
from screentest.run.writer import Writer, cleared

_UNITS: Final = Decimal(10) ** 12  # money is kept in trillionths, so that sums are exact


@dataclass(frozen=True, slots=True)
class Call:
    """One paid call as the ledger knows it."""

    id: str
    intent: CallIntent
    intended: str
    receipt: CallReceipt | None
    """None: unknown, maybe billed."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What the calls of a run came to."""

    calls: int = 0
    answered: int = 0
    unknown: int = 0
    """Intents without a receipt, maybe billed."""
    unpriced: int = 0
    """Calls that count for nothing since their price is not known."""
    tokens_in: int = 0
    tokens_out: int = 0
    images: int = 0
    cost: Decimal = Decimal(0)
    """By the receipts."""
    at_risk: Decimal = Decimal(0)
    """The most that calls of unknown cost may add."""


class Ledger:
    """The ledger of a run, in the process that writes it. A LedgerClient."""

    def __init__(
        self, writer: Writer, folder: Path, start: int, max_cost: Decimal | None = None
    ) -> None:
        self._writer = writer
        self._folder = folder
        self._start = start
        self._cap = max_cost
        self.asks_again = False
        """Whether answers of earlier starts that held no value are not recalled."""
        self._writer.do(_prepare_budget)

    def recall(self, request: str) -> CallReceipt | None:
        """Return the latest answer to this very request, where one was paid for already."""
        return self._writer.do(lambda db: self._recall(db, request))

    def intend(self, intent: CallIntent) -> str:
        """Write the intent down and return its id; refuses what could go over the cap."""
        call = uuid.uuid4().hex
        self._writer.do(lambda db: self._intend(db, call, intent))
        return call

    def settle(self, call: str, receipt: CallReceipt) -> None:
        """Write down what came of a call, the raw answer included."""
        self._writer.do(lambda db: _settle(db, call, receipt), vital=True)

    def reserve(self, max_cost: Decimal | None) -> None:
        """Raise if a call of this cost could go over the cap; ``intend`` asks the same."""
        self._writer.do(lambda db: self._reserve(db, max_cost))

    @property
    def committed(self) -> Decimal:
        """The money spent and still at risk: costs by receipt, else the most of each call."""
        return _money(self._writer.do(_committed))

    def _recall(self, connection: sqlite3.Connection, request: str) -> CallReceipt | None:
        newest = "WHERE request = ? ORDER BY id DESC LIMIT 1"
        for answer in select(connection, "answers", self._folder, newest, [request]):
            whose = [answer["call"]]
            for row in select(connection, "receipts", self._folder, "WHERE call = ?", whose):
                if self.asks_again and str(row["detail"]).startswith(NO_VALUE):
                    query = "SELECT count(*) FROM calls WHERE call = ? AND start < ?"
                    if connection.execute(query, (*whose, self._start)).fetchone()[0]:
                        return None
                return _receipt(row, answer["body"])
        return None

    def _intend(self, connection: sqlite3.Connection, call: str, intent: CallIntent) -> None:
        self._reserve(connection, intent.max_cost)
        most = _units(intent.max_cost)
        row: SqlRow = {
            **asdict(intent),
            "call": call,
            "model": cleared(intent.model),
            "purpose": cleared(intent.purpose),
            "max_cost": most,
            "start": self._start,
            "intended": now(),
        }
        insert(connection, "calls", row)
        _commit_more(connection, most or 0)

    def _reserve(self, connection: sqlite3.Connection, max_cost: Decimal | None) -> None:
        if self._cap is None:
            return
        if max_cost is None:
            raise RunError(
                "a cost cap is set, but the price of this model is not known",
                advice="Add the model to your price file, or leave the cap away.",
            )
        committed = _money(_committed(connection))
        if committed + max_cost > self._cap:
            raise NoValue(
                Reason.OVER_BUDGET,
                f"the call could cost {max_cost:f}; of the cap of {self._cap:f}, "
                f"{committed:f} is spent or promised",
                advice="Raise the cap and start the same command again: it goes on from here.",
            )


def refuse_impossible_cap(max_cost: Decimal | None) -> None:
    """Check that a cap is a number, and not below zero."""
    if max_cost is not None and not (max_cost.is_finite() and max_cost >= 0):
        raise BadOption.of("max_cost", max_cost, "a number of 0 or more")


def read_calls(connection: sqlite3.Connection, folder: Path) -> Iterator[Call]:
    """Yield all calls in the order they were intended."""
    with explained(folder):
        bodies = {row["call"]: row["body"] for row in select(connection, "answers", folder)}
        receipts = {row["call"]: row for row in select(connection, "receipts", folder)}
        for row in select(connection, "calls", folder, "ORDER BY id"):
            intent = from_row(CallIntent, row, max_cost=_optional_money(row["max_cost"]))
            call, got = str(row["call"]), receipts.get(row["call"])
            receipt = None if got is None else _receipt(got, bodies.get(call))
            yield Call(call, intent, str(row["intended"]), receipt)


def read_spending(connection: sqlite3.Connection, folder: Path) -> Spending:
    """Sum up the calls."""
    with explained(folder):
        *counts, cost, at_risk = connection.execute(_SPENDING).fetchone()
    return replace(Spending(*counts), cost=_money(cost), at_risk=_money(at_risk))


# A receipt whose intent was lost to damage still counts.
_SPENDING: Final = """
    WITH known AS (
        SELECT calls.call, images, max_cost, receipts.call AS settled, status, cost,
               tokens_in, tokens_out
        FROM calls LEFT JOIN receipts USING (call)
        UNION ALL
        SELECT call, 0, NULL, call, status, cost, tokens_in, tokens_out
        FROM receipts WHERE call NOT IN (SELECT call FROM calls)
    )
    SELECT count(*),
           coalesce(sum(status = 'answered'), 0),
           coalesce(sum(settled IS NULL), 0),
           coalesce(sum(cost IS NULL AND max_cost IS NULL), 0),
           coalesce(sum(tokens_in), 0),
           coalesce(sum(tokens_out), 0),
           coalesce(sum(images), 0),
           coalesce(sum(cost), 0),
           coalesce(sum(max_cost) FILTER (WHERE cost IS NULL), 0)
    FROM known
"""


def _settle(connection: sqlite3.Connection, call: str, receipt: CallReceipt) -> None:
    promised = connection.execute(
        "SELECT max_cost, request FROM calls WHERE call = ?", [call]
    ).fetchone()
    if promised is None:
        raise KeyError(f"no call {call!r} was intended")
    most, request = promised
    cost = _units(receipt.cost)
    row: SqlRow = {
        **asdict(receipt),
        "call": call,
        "status": receipt.status.value,
        "model": cleared(receipt.model),
        "fingerprint": cleared(receipt.fingerprint),
        "cost": cost,
        "latency_us": round(receipt.latency * 1e6),
        "detail": cleared(receipt.detail),
        "received": now(),
    }
    insert(connection, "receipts", row)
    if receipt.answer is not None:
        body = cleared(receipt.answer)
        insert(connection, "answers", {"call": call, "request": request, "body": body})
    if cost is not None:
        _commit_more(connection, cost - (most or 0))


def _receipt(row: SqlRow, answer: SqlValue) -> CallReceipt:
    latency = int(row["latency_us"] or 0) / 1e6
    cost = _optional_money(row["cost"])
    return from_row(CallReceipt, row, cost=cost, latency=latency, answer=answer)


def _prepare_budget(connection: sqlite3.Connection) -> None:
    """Keep the running total in a table of the connection, undone with its change."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS budget (committed INTEGER NOT NULL)")
    connection.execute("DELETE FROM budget")
    *_, cost, at_risk = connection.execute(_SPENDING).fetchone()
    connection.execute("INSERT INTO budget VALUES (?)", [cost + at_risk])


def _committed(connection: sqlite3.Connection) -> int:
    total: int = connection.execute("SELECT committed FROM budget").fetchone()[0]
    return total


def _commit_more(connection: sqlite3.Connection, units: int) -> None:
    connection.execute("UPDATE budget SET committed = committed + ?", [units])


def _units(cost: Decimal | None) -> int | None:
    """Whole trillionths, rounded up: the ledger never says less than was asked for."""
    if cost is None:
        return None
    if not cost.is_finite() or cost < 0:
        raise ValueError(f"invalid cost {cost} of a call: must be a number of 0 or more")
    return int((cost * _UNITS).to_integral_value(ROUND_CEILING))


def _money(units: int) -> Decimal:
    return Decimal(units) / _UNITS


def _optional_money(cell: SqlValue) -> Decimal | None:
    return None if cell is None else _money(int(cell))
