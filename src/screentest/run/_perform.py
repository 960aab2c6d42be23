"""Carrying out one task, in whichever process: whatever the function does, outcomes come back."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from screentest.core import (
    BadOption,
    Failure,
    LedgerClient,
    NoValue,
    Outcome,
    Reason,
    UserError,
)
from screentest.core.errors import STOPPING
from screentest.run.noting import NotingLedger
from screentest.run.records import Encoded, Outcomes, RecordKey, decode, encode
from screentest.run.tasks import Function, Job, load

_LONGEST_DETAIL: Final = 20_000


@dataclass(frozen=True, slots=True)
class Performance:
    """What a task came to."""

    outcomes: tuple[Encoded, ...]
    requests: tuple[tuple[str, ...], ...]
    """The model calls that each record rests on."""
    elapsed: float


def perform(
    function: str | Function, keys: Sequence[RecordKey], payload: Any, ledger: LedgerClient
) -> Performance:
    """Call the function; what it raises becomes the outcome, except what stops the run."""
    noting = NotingLedger(ledger, keys)
    began = time.perf_counter()
    try:
        results = load(function)(Job(tuple(keys), payload, noting))
        outcomes = tuple(_encoded(results, key) for key in keys)
    except STOPPING:
        raise
    except NoValue as error:
        outcomes = failed(keys, error.failure)
    except BadOption as error:
        outcomes = failed(keys, Failure(Reason.CRASHED, error.message, error.advice))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a metric may raise anything
        outcomes = failed(keys, _crash(error))
    elapsed = time.perf_counter() - began
    return Performance(outcomes, tuple(noting.requests(key) for key in keys), elapsed)


def _encoded(results: Mapping[RecordKey, Outcomes], key: RecordKey) -> Encoded:
    """One record's outcomes; what cannot be written down and read again fails that record alone."""
    try:
        encoded = encode(results[key])
        decode(encoded.text)  # a record that nobody can read would spoil the run for all others
        return encoded
    except (AttributeError, KeyError, TypeError, ValueError, UserError) as error:
        return failed([key], _crash(error))[0]


def failed_to_load(keys: Sequence[RecordKey], error: Exception) -> Performance:
    """What a task came to whose function or payload could not even be brought here."""
    return Performance(failed(keys, _crash(error)), ((),) * len(keys), 0.0)


def failed(keys: Sequence[RecordKey], failure: Failure) -> tuple[Encoded, ...]:
    """The same failure for every record, under the name of its evaluator."""
    return tuple(encode({key.evaluator: Outcome(failure=failure)}) for key in keys)


def _crash(error: BaseException) -> Failure:
    # Our own frames say nothing about the fault; those of the function do.
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], RecordKey):
        text = f"the function returned nothing for {error.args[0]}\n{text}"
    if len(text) > _LONGEST_DETAIL:
        text = text[: _LONGEST_DETAIL // 2] + "\n…\n" + text[-_LONGEST_DETAIL // 2 :]
    return Failure(
        Reason.CRASHED, text.rstrip(), "This is a fault in the metric or judge, not in the video."
    )
