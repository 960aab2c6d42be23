"""The tree of exceptions, drawn in one place.

    ScreentestError
    ├── UserError             the user can fix it: printed without a traceback
    │   ├── UnknownName       no such metric, judge, detector…
    │   ├── BadOption         an invalid option or argument
    │   ├── ManifestError     a manifest row that cannot be read
    │   ├── ServiceError      a model's service turns every call away: key, name, quota
    │   └── RunError          a run folder that cannot be used
    │       ├── RunBusy       another process is writing to it
    │       ├── RunTooNew     a later version of screentest wrote it
    │       └── RunDamaged    the database or a record fails its check
    ├── StorageError          the disk is full, read-only or failing
    └── NoValue               why one measurement has no value; becomes an Outcome
        ├── MissingPackage    a UserError, too: a package of an extra is not installed
        └── VideoError        the video is the reason

``Stopped`` is a KeyboardInterrupt: a signal ended a job that can be gone on with.
Each error says what happened and, in ``advice``, what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

if TYPE_CHECKING:
    from screentest.core.outcome import Failure, Reason


R = TypeVar("R")


class ScreentestError(Exception):
    """Everything that screentest raises on purpose."""

    exit_code = 1

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message}\n{self.advice}" if self.advice else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders by pickle, which would call the kind with the message
        # alone: its fields come back as they were.
        return (type(self).__new__, (type(self), self.message), self.__dict__)


class UserError(ScreentestError):
    """The user can fix this; the command line prints it without a traceback."""

    exit_code = 2


class UnknownName(UserError):
    """Nothing is registered under that name."""


class BadOption(UserError):
    """An option that is invalid, alone or together with another; ``param`` is the name of one."""

    def __init__(self, message: str, *, advice: str = "", param: str = "") -> None:
        super().__init__(message, advice=advice)
        self.param = param

    @classmethod
    def of(cls, param: str, value: object, must: str, *, advice: str = "") -> Self:
        """Return the error for the ``value`` of a parameter that is not what it must be."""
        shown = repr(value) if isinstance(value, str) else str(value)
        message = f"invalid `{param}` {shown:.60}: must be {must}"
        return cls(message, advice=advice, param=param)


class ManifestError(UserError):
    """A manifest that cannot be read as one."""


class ServiceError(UserError):
    """A model's service turns every call away, so that asking on is pointless."""


class RunError(UserError):
    """A run folder that cannot be used as asked."""


class RunBusy(RunError):
    """Another process holds the run."""


class RunTooNew(RunError):
    """The run was written by a later version."""


class RunDamaged(RunError):
    """The run's database, or a record in it, fails its integrity check."""


class StorageError(ScreentestError):
    """Writing failed: the disk is full, read-only or broken. What was written stays."""

    exit_code = 74  # EX_IOERR


class NoValue(ScreentestError):
    """Raised where a value cannot be had; the engine turns it into a failed Outcome."""

    def __init__(self, reason: Reason, detail: str, *, advice: str = "", answer: str = "") -> None:
        super().__init__(detail, advice=advice)
        self.reason = reason
        self.answer = answer

    @property
    def failure(self) -> Failure:
        """The same as a value that can be stored."""
        from screentest.core.outcome import Failure

        return Failure(self.reason, self.message, self.advice, self.answer)


class MissingPackage(NoValue, UserError):
    """A package of an extra is not installed; the advice is the command that installs it."""


class VideoError(NoValue):
    """The video file is why there is no value."""


STOPPING: Final = (RunError, ServiceError, StorageError, UnknownName)
"""Errors that every further item would meet too: they end a run, which can be resumed.

BadOption is not one of them: what an item brings along, such as a script beyond the end of its
video, can raise it, and one bad item must not stop the others.
"""


class Stopped(KeyboardInterrupt):
    """A signal stopped the job; the same call again goes on. ``result`` is what there is."""

    def __init__(self, result: Any, exit_code: int) -> None:
        super().__init__("stopped; the same call again goes on")
        self.result = result
        self.exit_code = exit_code

    @classmethod
    def unless_done(cls, result: R, exit_code: int) -> R:
        """Return the result of a job that came to its end; raises where a signal ended it."""
        if exit_code:
            raise cls(result, exit_code)
        return result
