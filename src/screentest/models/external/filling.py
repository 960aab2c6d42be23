"""Registers the backend ``external`` for a role. Each role's folder has a file that calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from screentest.core import register
from screentest.models.external.client import Terms, Worker, split_command
from screentest.models.external.roles import External

Filled = TypeVar("Filled", bound=External)


def fills(kind: type[Filled]) -> Callable[..., Filled]:
    """The factory of ``external`` for the role of ``kind``, registered."""

    @register(
        kind.role,
        "external",
        version=1,
        summary="a worker command of yours, in its own environment, speaking JSON lines",
        # The command stays in the signature: its arguments may change the numbers.
        neutral=("timeout", "start_timeout", "restarts", "device"),
    )
    def external(
        *,
        model: str,
        timeout: float = 600.0,
        start_timeout: float = 600.0,
        restarts: int = 3,
        device: str = "auto",
    ) -> Filled:
        """``model`` is the command; it is started without a shell, on first use."""
        terms = Terms(split_command(model), timeout, start_timeout, restarts, device)
        return kind(Worker.shared(terms))

    return external
