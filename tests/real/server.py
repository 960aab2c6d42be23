"""A real model behind a real server, and what each call to it took."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from screentest.core import Outcome, Reason, registry
from screentest.models.ask.templates import Prompts
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.roles import Chat
from tests.real.weights import folder

ADDRESS = "SCREENTEST_REAL_URL"
MOST_TOKENS = 600
"""Of one answer: a small model that has lost its way would write for minutes."""


@dataclass(frozen=True, slots=True)
class Served:
    """A model that is served."""

    model: str
    url: str
    process: int

    def of_a_core(self) -> float:
        """Seconds of a core that the server has used; 0 where the system does not say."""
        try:
            fields = Path(f"/proc/{self.process}/stat").read_text(encoding="utf-8")
        except OSError:
            return 0.0
        user, system = fields.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    @property
    def options(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "base_url": f"{self.url}/v1",
            "concurrency": 1,
            "timeout": 1800,
            "sampling": {"max_tokens": MOST_TOKENS},
        }


@contextmanager
def serving(name: str) -> Iterator[Served]:
    """Start a server for a file of weights; it ends with its input.

    Where ADDRESS names a server that runs already, elsewhere perhaps, that one is asked.
    """
    if os.environ.get(ADDRESS):
        yield Served(name, os.environ[ADDRESS].rstrip("/"), 0)
        return
    # On a busy machine threads wait for each other: then one does more than two.
    threads = os.environ.get("SCREENTEST_REAL_THREADS", "2")
    weights = folder() / name
    if not weights.exists() or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip(f"{name} or xllamacpp is not there: make test-real")
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("serve.py"), weights, threads],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, f"{name} was not served"
        yield Served(name, address, process.pid)


@dataclass(frozen=True, slots=True)
class Call:
    """What became of one question."""

    use: str
    mode: str
    reason: Reason | None
    """None: it was answered."""
    repairs: int
    tokens_in: int
    tokens_out: int
    seconds: float
    of_a_core: float
    """What the server took of it, however busy the machine was with other things."""


@dataclass(slots=True)
class Meter:
    """A chat model that notes what each question took."""

    chat: Chat
    served: Served
    mode: str = ""
    calls: list[Call] = field(default_factory=list)

    @property
    def identity(self) -> Any:
        return self.chat.identity

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        return [self._ask(request) for request in requests]

    def _ask(self, request: ChatRequest) -> Outcome[ChatAnswer]:
        start, used = time.monotonic(), self.served.of_a_core()
        (outcome,) = self.chat.ask([request])
        took, used = time.monotonic() - start, self.served.of_a_core() - used
        answer = outcome.value
        usage = answer.usage if answer is not None else None
        self.calls.append(
            Call(
                request.use,
                self.mode,
                None if outcome.failure is None else outcome.failure.reason,
                answer.repairs if answer is not None else 1,
                (usage.input_tokens or 0) if usage else 0,
                (usage.output_tokens or 0) if usage else 0,
                took,
                used,
            )
        )
        return outcome


@contextmanager
def metered(served: Served, structured: str, record: Path | None = None) -> Iterator[Meter]:
    """Ask a served model, with the schema enforced (``auto``) or in words (``instructed``)."""
    options = served.options | ({} if record is None else {"record": str(record)})
    built = registry.build("chat", "openai", structured=structured, **options)
    with built.thing as chat:
        yield Meter(chat, served, structured)


@dataclass(frozen=True, slots=True)
class TextOnly:
    """As much of a run's resources as steps without pictures need."""

    chat: Chat
    prompts: Prompts = field(default_factory=Prompts)

    def role(self, name: str) -> Chat:
        return self.chat
