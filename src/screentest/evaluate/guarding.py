"""Guarding: a fault in one metric or judge is a failure of its own, never of those beside it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from screentest.core import BadOption, Failure, NoValue, Outcome, Reason
from screentest.core.errors import STOPPING

T = TypeVar("T")


def guarded(step: Callable[[], T], whose: str) -> T | Failure:
    """What the step of a ``whose`` (metric, judge) gives, or why it gives nothing.

    What every further item would meet too is raised: it ends the run.
    """
    try:
        return step()
    except NoValue as error:
        return error.failure
    except STOPPING:
        raise
    except BadOption as error:
        return Failure(Reason.CRASHED, error.message, error.advice)
    except Exception as error:  # noqa: BLE001 - strangers' metrics and judges raise anything
        told = "".join(traceback.format_exception(error)).strip()
        return Failure(Reason.CRASHED, told, f"This is a fault in the {whose}, not in the video.")


def must_be_outcome(found: Any, kind: type[T]) -> Outcome[T]:
    """``found`` where it is an outcome of that kind; raises TypeError where it is not."""
    if isinstance(found, Outcome) and (found.failure is not None or isinstance(found.value, kind)):
        return found
    given = found.value if isinstance(found, Outcome) else found
    raise TypeError(f"it returned {type(given).__name__}, not an Outcome of a {kind.__name__}")
