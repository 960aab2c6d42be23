"""What can go wrong with one call, and what follows: ask again, give up, or stop the run."""

from __future__ import annotations

from enum import StrEnum

from screentest.core import CallStatus, NoValue, Reason, ServiceError


class FaultKind(StrEnum):
    """What went wrong."""

    RATE_LIMITED = "rate limited"
    OVERLOADED = "server error"
    BROKEN_OFF = "connection broken off"
    UNREACHED = "not reached"
    NO_SUCH_HOST = "host name not found"
    TLS = "no trusted connection"
    TIMED_OUT = "timed out"
    GARBLED = "unreadable response"
    TOO_LONG = "response too long"
    REJECTED = "rejected"
    TOO_LARGE = "request too large for the model"
    FILTERED = "filtered by the service"
    NO_SCHEMAS = "response_format not taken"


_AGAIN = {
    FaultKind.RATE_LIMITED,
    FaultKind.OVERLOADED,
    FaultKind.BROKEN_OFF,
    FaultKind.UNREACHED,
    FaultKind.NO_SUCH_HOST,
    FaultKind.TIMED_OUT,
    FaultKind.GARBLED,
}
_NEVER_SENT = {FaultKind.UNREACHED, FaultKind.NO_SUCH_HOST, FaultKind.TLS}
# The service may have done the work, and bill it, though no answer came through.
_PERHAPS_BILLED = {
    FaultKind.BROKEN_OFF,
    FaultKind.TIMED_OUT,
    FaultKind.GARBLED,
    FaultKind.TOO_LONG,
}
_REASONS = {
    FaultKind.TIMED_OUT: Reason.TIMED_OUT,
    FaultKind.TOO_LONG: Reason.UNPARSABLE,
    FaultKind.TOO_LARGE: Reason.TOO_LARGE,
    FaultKind.FILTERED: Reason.REFUSED,
}
_ADVICE = {
    FaultKind.TIMED_OUT: "Give it longer with timeout=SECONDS.",
    FaultKind.TOO_LARGE: "Send fewer or smaller pictures, or choose a model that reads more.",
    FaultKind.RATE_LIMITED: "Lower concurrency=, or ask the service for a higher limit.",
}


class Fault(Exception):
    """One call that brought no answer. ``status`` is that of HTTP, where there was one."""

    def __init__(
        self,
        kind: FaultKind,
        detail: str,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail
        self.status = status
        self.retry_after = retry_after

    def __str__(self) -> str:
        status = f"HTTP {self.status}: " if self.status is not None else ""
        return f"{self.kind.value}: {status}{self.detail}"

    @property
    def again(self) -> bool:
        """Whether the same call may do better later."""
        return self.kind in _AGAIN

    @property
    def stops_the_run(self) -> bool:
        """Whether every other call would meet the same."""
        return self.kind in (FaultKind.REJECTED, FaultKind.TLS)

    @property
    def call_status(self) -> CallStatus:
        """How it stands in the ledger."""
        if self.kind in _NEVER_SENT:
            return CallStatus.UNREACHED
        return CallStatus.TIMED_OUT if self.kind is FaultKind.TIMED_OUT else CallStatus.FAILED

    @property
    def perhaps_billed(self) -> bool:
        """Whether it may have cost money all the same."""
        return self.kind in _PERHAPS_BILLED

    def no_value(self, attempts: int) -> NoValue:
        """The typed reason, once there is nothing left to try."""
        times = f" ({attempts} attempts)" if attempts > 1 else ""
        reason = _REASONS.get(self.kind, Reason.SERVICE_FAILED)
        return NoValue(reason, f"{self}{times}", advice=_ADVICE.get(self.kind, ""))

    def service_error(self, host: str, model: str) -> ServiceError:
        """The one message for a fault that every call would meet."""
        return ServiceError(f"{host} turns calls to {model!r} away: {self}", advice=self._advice())

    def _advice(self) -> str:
        by_status = {
            401: "Check the key in the environment (OPENAI_API_KEY, or the one key_env= names).",
            403: "This key may not use this model; ask its owner, or choose another model.",
            404: "Check base_url= (it usually ends in /v1) and the model's name.",
            429: "The account's quota is used up. Add credit, then start the same command again.",
        }
        if self.kind is FaultKind.TLS:
            return "Check base_url= and the certificates that this machine trusts."
        if self.kind in _NEVER_SENT:
            return "Is the server running? Check base_url= and the network."
        return by_status.get(
            self.status or 0,
            "The server does not take requests of this form; dialect=plain or "
            "structured=instructed may help. Mend it and start the same command again.",
        )
