"""Any OpenAI-compatible endpoint: OpenAI itself, vLLM, SGLang, Ollama, `transformers serve`.

Bounded in every direction: attempts, repairs, waits, calls at once, bytes, tokens and money.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

from screentest._util.workers import waiting
from screentest.core import BadOption, DecodeError, LedgerClient, Outcome, from_object, register
from screentest.models.chat.calls import CallSettings
from screentest.models.chat.costs import MemoryLedger, Prices
from screentest.models.chat.faults import Clock, Retries, SystemClock
from screentest.models.chat.messages import ChatAnswer, ChatRequest, Sampling
from screentest.models.chat.replay import Recorder
from screentest.models.chat.session import Session, event_loop, run
from screentest.models.chat.videos import NativeVideo, VideoOption
from screentest.models.chat.wire import Endpoint, dialect_for

logger = logging.getLogger("screentest.chat")


class OpenAIChat:
    """A chat model behind an OpenAI-compatible endpoint.

    Use it from any thread or worker process; connections are made on first use and belong to
    the process that made them. The key is read from the environment then, and kept nowhere.
    """

    def __init__(
        self,
        settings: CallSettings,
        *,
        key_env: str = "OPENAI_API_KEY",
        sampling: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        seed: int | None = None,
    ) -> None:
        self.settings = settings
        self._key_env = key_env
        self._overrides = _checked(sampling or {})
        self._clock = clock or SystemClock()
        self._rng = random.Random(seed)
        self._ledger: LedgerClient = MemoryLedger()
        self._prices = Prices()
        self._session: Session | None = None
        self._served: set[str] = set()
        self._warned: set[str] = set()

    @property
    def identity(self) -> Mapping[str, str]:
        """The endpoint, its dialect, and the names it answered under where they differ."""
        parts = {"endpoint": self.settings.endpoint.label, "dialect": self.settings.dialect.name}
        if self._served:
            parts["served"] = " ".join(sorted(self._served))
        return parts

    @property
    def takes_videos(self) -> bool:
        """Tell whether whole videos are sent, and not frames of them."""
        return self.settings.video is not None

    def attach(self, ledger: LedgerClient, prices: Prices | None = None) -> None:
        """Write calls into ``ledger`` at these prices from now on; connections stay open."""
        self._ledger = ledger
        self._prices = prices or Prices()

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        """One outcome per request, in their order.

        Raises ServiceError where the service turns every call away: a wrong key, an unknown
        model, an empty account. Calls under way are finished and written down first.
        """
        if not requests:
            return []
        asking = self._ask([self.effective(request) for request in requests], self._ledger)
        with waiting(self.settings.concurrency):
            return run(asking)

    def effective(self, request: ChatRequest) -> ChatRequest:
        """Return the request with the sampling that the user set for this backend."""
        if self._overrides:
            request = replace(request, sampling=replace(request.sampling, **self._overrides))
        unsaid = self.settings.dialect.unsaid(request.sampling)
        if unsaid:
            self._warn_once(
                f"{self.settings.model} does not take {', '.join(unsaid)} "
                f"(dialect {self.settings.dialect.name}); its own settings hold"
            )
        return request

    def close(self) -> None:
        """Let go of connections and threads; the next question opens new ones."""
        if self._session is not None and self._session.loop is event_loop():
            run(self._session.close())
        self._session = None

    def __enter__(self) -> OpenAIChat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        # Connections stay in this process; another makes its own. A ledger that keeps a cap or
        # a run must not be lost on the way, so it is attached again where the model arrives.
        if type(self._ledger) is not MemoryLedger:
            raise TypeError("attach the ledger in the process that asks")
        return self.__dict__ | {"_session": None, "_ledger": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _ledger=MemoryLedger())

    async def _ask(
        self, requests: Sequence[ChatRequest], ledger: LedgerClient
    ) -> list[Outcome[ChatAnswer]]:
        settings = self.settings
        if self._session is None or self._session.loop is not asyncio.get_running_loop():
            self._session = Session(
                settings, settings.endpoint.key(self._key_env), self._clock, self._rng
            )
        price = self._prices.of(settings.model)
        return await self._session.ask_all(requests, ledger, price, self._note_served)

    def _note_served(self, answer: ChatAnswer) -> None:
        if not answer.drifted and not answer.fingerprint:
            return
        served = "@".join(filter(None, (answer.model, answer.fingerprint)))
        if served in self._served:
            return
        if answer.drifted:
            self._warn_once(
                f"asked for {self.settings.model!r}, answered by {answer.model!r}: "
                "name that one to pin the version"
            )
        elif self._served:
            self._warn_once(f"{self.settings.model} changed while in use: it is now {served}")
        self._served.add(served)

    def _warn_once(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            logger.warning(message)


def _checked(sampling: Mapping[str, Any]) -> dict[str, Any]:
    names = [field.name for field in fields(Sampling)]
    for unknown in sampling.keys() - set(names):
        raise BadOption(
            f"{unknown!r} is not a sampling setting", advice=f"Settings: {', '.join(names)}."
        )
    try:
        checked = from_object(Sampling, dict(sampling))
    except DecodeError as error:
        raise BadOption(error.message) from None
    return {name: getattr(checked, name) for name in sampling}


@register(
    "chat",
    "openai",
    summary="any OpenAI-compatible endpoint: OpenAI, vLLM, SGLang, Ollama, transformers serve",
    packages=("httpx2", "openai"),
    neutral=(
        *("base_url", "key_env", "concurrency", "timeout", "max_attempts"),
        *("longest_wait", "offline", "record", "video_limit", "video_root", "video_base"),
    ),
)
def openai_chat(
    *,
    model: str,
    base_url: str = "",
    key_env: str = "OPENAI_API_KEY",
    concurrency: int = 64,
    timeout: float = 300.0,
    max_attempts: int = 6,
    longest_wait: float = 120.0,
    dialect: str = "auto",
    structured: Literal["auto", "schema", "instructed"] = "auto",
    sampling: dict[str, Any] | None = None,
    extra: dict[str, Any] | None = None,
    video: VideoOption = "frames",
    video_limit: float = 20.0,
    video_root: str = "",
    video_base: str = "",
    offline: bool = False,
    record: str = "",
) -> OpenAIChat | Recorder:
    """Return a chat model by its name at an endpoint; docs/chat.md explains the options."""
    if not model:
        raise BadOption("no model is named", advice="Write chat=openai:NAME.")
    if concurrency < 1 or max_attempts < 1 or timeout <= 0 or longest_wait <= 0:
        raise BadOption("concurrency, max_attempts, timeout and longest_wait are above zero")
    if taken := {*(extra or {})} & {"model", "messages", "stream", "n", "response_format"}:
        raise BadOption(f"extra= cannot set {taken.pop()}: that is part of every call")
    if record and video != "frames":
        raise BadOption(
            "record= finds answers by the frames that were shown, and video= sends none",
            advice="Record with video=frames; the run's ledger keeps every answer anyway.",
        )
    endpoint = Endpoint.of(base_url, offline=offline)
    settings = CallSettings(
        model=model,
        endpoint=endpoint,
        dialect=dialect_for(dialect, endpoint.host, model),
        structured=structured,
        retries=Retries(max_attempts=max_attempts, longest_wait=longest_wait),
        concurrency=concurrency,
        timeout=timeout,
        video=NativeVideo.of(video, video_limit, video_root, video_base),
        extra=extra or {},
    )
    chat = OpenAIChat(settings, key_env=key_env, sampling=sampling)
    return Recorder(chat, record) if record else chat
