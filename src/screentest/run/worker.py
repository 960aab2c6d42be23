"""What a worker of a run does: take a task, do it, say what came of it, until the run ends.

In whichever process, whatever the function of a task does, outcomes come back.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

from screentest._util.machine import processors
from screentest._util.workers import keep_from_children, serve
from screentest.core.calls import LedgerClient
from screentest.core.errors import STOPPING, BadOption, NoValue, UserError
from screentest.core.outcome import Failure, Outcome, Reason
from screentest.run.channel import NotingLedger, RemoteLedger, as_bytes, error_message
from screentest.run.records import Encoded, RecordKey, RecordOutcomes, encode
from screentest.run.tasks import Function, Job

_LONGEST_DETAIL: Final = 20_000


@dataclass(frozen=True, slots=True)
class Performance:
    """What a task came to."""

    outcomes: tuple[Encoded, ...]
    requests: tuple[tuple[str, ...], ...]
    """The model calls that each record rests on."""
    elapsed: float


def perform(
    function: Function, keys: Sequence[RecordKey], payload: Any, ledger: LedgerClient
) -> Performance:
    """Call the function; what it raises becomes the outcome, except what stops the run."""
    noting = NotingLedger(ledger, keys)
    began = time.perf_counter()
    try:
        results = function(Job(tuple(keys), payload, noting))
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


def _encoded(results: Mapping[RecordKey, RecordOutcomes], key: RecordKey) -> Encoded:
    """Encode one record; what cannot be written and read again fails that record alone."""
    try:
        return encode(results[key])
    except (AttributeError, KeyError, TypeError, ValueError, UserError) as error:
        return failed([key], _crash(error))[0]


def failed_to_load(keys: Sequence[RecordKey], error: Exception) -> Performance:
    """Return the failure of a task whose function or payload could not be brought here."""
    return Performance(failed(keys, _crash(error)), ((),) * len(keys), 0.0)


def failed(keys: Sequence[RecordKey], failure: Failure) -> tuple[Encoded, ...]:
    """Return the same failure for every record, under the name of its evaluator."""
    return tuple(encode({key.evaluator: Outcome(failure=failure)}) for key in keys)


def _crash(error: BaseException) -> Failure:
    # Our own frames say nothing about the fault; those of the function do.
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], RecordKey):
        text = f"the function returned nothing for {error.args[0]}\n{text}"
    if len(text) > _LONGEST_DETAIL:
        text = text[: _LONGEST_DETAIL // 2] + "\n…\n" + text[-_LONGEST_DETAIL // 2 :]
    advice = "This is a fault in the metric, judge or operator, not in the video."
    return Failure(Reason.CRASHED, text.rstrip(), advice)


# Each worker's part of the processors: libraries left to themselves take all of them each.

OURS: Final = "SCREENTEST_THREADS"
_LIBRARIES: Final = (
    "OMP_NUM_THREADS",  # torch, onnxruntime's helpers and most of what is compiled
    "OPENBLAS_NUM_THREADS",  # numpy and scipy
    "MKL_NUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
)


def shares(
    workers: int, cores: int | None = None, given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of each of so many workers. Variables of the user's stay.

    >>> shares(3, cores=8, given={"OMP_NUM_THREADS": "4"})["SCREENTEST_THREADS"]
    '2'
    >>> shares(3, cores=8, given={"OMP_NUM_THREADS": "4"})["OMP_NUM_THREADS"]
    '4'
    >>> shares(3, cores=8, given={"SCREENTEST_THREADS": "5"})["OMP_NUM_THREADS"]
    '5'
    """
    environment = os.environ if given is None else given
    part = str(max(1, (processors() if cores is None else cores) // workers))
    ours = environment.get(OURS) or part
    # A number that is none is refused where models are loaded; libraries would misread it.
    default = ours if ours.isdigit() and int(ours) else part
    return {OURS: ours, **{name: environment.get(name) or default for name in _LIBRARIES}}


def take(share: Mapping[str, str]) -> None:
    """Keep to this share, in a worker that has loaded few libraries yet."""
    os.environ.update(share)
    wanted = share.get("OPENCV_FOR_THREADS_NUM", "")
    # A script that is started again in each worker may have loaded it; it reads its variable once.
    if "cv2" in sys.modules and wanted.isdigit():
        sys.modules["cv2"].setNumThreads(int(wanted))


def live(
    tasks: Connection,
    ledger_pipe: Connection,
    threads: Mapping[str, str],
    plugins: Sequence[str] = (),
) -> None:
    """Work until the pipe closes. Runs in the worker.

    ``plugins`` are modules of the user's that registered metrics or judges in the parent.
    """
    take(threads)
    keep_from_children(ledger_pipe)
    for name in plugins:
        with suppress(Exception):  # whoever needs what it registers will say that it is not there
            importlib.import_module(name)
    ledger = RemoteLedger(lambda: ledger_pipe)
    serve(tasks, lambda parcel: as_bytes(do(parcel, ledger)))


def do(parcel: bytes, ledger: LedgerClient) -> dict[str, object]:
    """Unpack and carry out a task; what came of it as plain data."""
    # The keys come first and are ours: they can be read even where the rest cannot.
    keys, work = pickle.loads(parcel)  # noqa: S301 - from the process that started this one
    try:
        try:
            function, payload = pickle.loads(work)  # noqa: S301 - likewise
        except Exception as error:  # noqa: BLE001 - unpickling imports untrusted modules
            done = failed_to_load(keys, error)
        else:
            done = perform(function, keys, payload, ledger)
    except STOPPING as error:
        return {"kind": "stop", "error": error_message(error)}
    return {
        "kind": "done",
        "outcomes": [[outcome.text, list(outcome.reasons)] for outcome in done.outcomes],
        "requests": done.requests,
        "elapsed": done.elapsed,
    }
