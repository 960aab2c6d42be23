"""Recorded answers instead of a model: no network, no cost, the same every time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from screentest.core import (
    BadOption,
    DecodeError,
    NoValue,
    Outcome,
    Reason,
    attempt,
    from_json,
    register,
)
from screentest.models.chat.conclusion import conclude
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.chat.recorder import Recorded


class ReplayChat:
    """Answers from a recording; replies are read anew by today's rules."""

    def __init__(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BadOption(
                f"the recording {path} cannot be read: {error.strerror}",
                advice="Make one: --model chat=openai:NAME,record=FILE.",
            ) from None
        self._path = path
        self._digest = hashlib.sha256(content).hexdigest()
        self._recorded = {line.key: line for line in _lines(content, path)}

    @property
    def identity(self) -> Mapping[str, str]:
        """The hash of the recording, and the models that spoke in it."""
        spoke = {line.reply.model for line in self._recorded.values() if line.reply is not None}
        models = " ".join(sorted(name for name in spoke if name))
        return {"recording": self._digest[:16], **({"served": models} if models else {})}

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        """One outcome per request, in their order."""
        return [attempt(partial(self._answer, request)) for request in requests]

    def _answer(self, request: ChatRequest) -> ChatAnswer:
        line = self._recorded.get(request.key)
        if line is None:
            what = f" for {request.use}" if request.use else ""
            raise NoValue(
                Reason.MISSING_MODEL,
                f"{self._path.name} holds no answer to this request{what} ({request.key[:12]})",
                advice="Record it: --model chat=openai:NAME,record=FILE.",
            )
        if line.failure is not None:
            failed = line.failure
            raise NoValue(failed.reason, failed.detail, advice=failed.advice)
        if line.reply is None:
            raise NoValue(Reason.UNPARSABLE, f"the recorded line of {request.key[:12]} is empty")
        return conclude(request, line.reply)


def _lines(content: bytes, path: Path) -> list[Recorded]:
    *whole, torn = content.split(b"\n")
    del torn  # what a kill cut off; a whole recording ends with a line break
    lines = []
    for number, line in enumerate(whole, start=1):
        if line.strip():
            try:
                lines.append(from_json(Recorded, line))
            except DecodeError as error:
                raise BadOption(f"{path}, line {number}: {error.message}") from None
    return lines


@register(
    "chat",
    "replay",
    version=1,
    summary="recorded answers from a file",
    neutral=("model",),  # where the file lies; what it holds is its identity
)
def replay_chat(*, model: str) -> ReplayChat:
    """Answers from the recording at the path ``model``."""
    return ReplayChat(Path(model))
