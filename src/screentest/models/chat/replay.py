"""Recorded answers instead of a model: no network, no cost, the same every time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from screentest.core.codec import DecodeError, from_json, to_json
from screentest.core.errors import BadOption, NoValue, StorageError
from screentest.core.outcome import Failure, Outcome, Reason, attempt
from screentest.core.registry import register
from screentest.models.chat.messages import ChatAnswer, ChatRequest, ModelReply
from screentest.models.chat.parsing import conclude
from screentest.models.roles import Chat

_LASTING = {
    *(Reason.REFUSED, Reason.UNSEEN, Reason.TRUNCATED),
    *(Reason.UNPARSABLE, Reason.TOO_LARGE),
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of a recording."""

    key: str
    use: str = ""
    reply: ModelReply | None = None
    failure: Failure | None = None


class Recorder:
    """A chat model whose answers are also appended to a file. Several processes may share it.

    One JSON line per answer: the request's key, and the reply as it was or the typed reason why the
    model gave none. A service that failed is not recorded: it may answer next time.
    """

    def __init__(self, chat: Chat, path: str | Path) -> None:
        self._chat = chat
        self._path = Path(path)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.open("ab").close()
        except OSError as error:
            raise BadOption(f"cannot record to {self._path}: {error.strerror}") from None

    def __getattr__(self, name: str) -> Any:
        # Whatever else the model can do, such as attach a ledger, it still can.
        if name.startswith("__") or name == "_chat":
            raise AttributeError(name)
        return getattr(self._chat, name)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        close = getattr(self._chat, "close", None)
        if close is not None:
            close()

    @property
    def identity(self) -> Mapping[str, str]:
        """That of the model: recording changes nothing."""
        return self._chat.identity

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        outcomes = self._chat.ask(requests)
        lines = [
            f"{to_json(recorded)}\n"
            for request, outcome in zip(requests, outcomes, strict=True)
            if (recorded := _recorded(request, outcome)) is not None
        ]
        if lines:
            self._append("".join(lines).encode())
        return outcomes

    def _append(self, data: bytes) -> None:
        try:
            # One write to a file opened for appending: lines of several writers do not mix.
            with self._path.open("ab") as file:
                file.write(data)
        except OSError as error:
            raise StorageError(f"cannot record to {self._path}: {error.strerror}") from error


def _recorded(request: ChatRequest, outcome: Outcome[ChatAnswer]) -> Recorded | None:
    if outcome.failure is not None:
        if outcome.failure.reason not in _LASTING:
            return None
        return Recorded(request.key, request.use, failure=outcome.failure)
    answer = outcome.unwrap()
    reply = ModelReply(
        answer.text, model=answer.model, fingerprint=answer.fingerprint, usage=answer.usage
    )
    return Recorded(request.key, request.use, reply=reply)


class ReplayChat:
    """Answers from a recording; replies are read anew by today's rules."""

    def __init__(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BadOption(
                f"cannot read the recording {path}: {error.strerror}",
                advice="Make one: `model=chat=openai:NAME,record=FILE`.",
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
        return [attempt(partial(self._answer, request)) for request in requests]

    def _answer(self, request: ChatRequest) -> ChatAnswer:
        line = self._recorded.get(request.key)
        if line is None:
            what = f" for {request.use}" if request.use else ""
            raise NoValue(
                Reason.MISSING_MODEL,
                f"{self._path.name} holds no answer to this request{what} ({request.key[:12]})",
                advice="Record it: `model=chat=openai:NAME,record=FILE`.",
            )
        if line.failure is not None:
            failed = line.failure
            raise NoValue(failed.reason, failed.detail, advice=failed.advice, answer=failed.answer)
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
    summary="recorded answers from a file",
    neutral=("model",),  # where the file lies; what it holds is its identity
)
def replay_chat(*, model: str) -> ReplayChat:
    """Answers from the recording at the path ``model``."""
    return ReplayChat(Path(model))
