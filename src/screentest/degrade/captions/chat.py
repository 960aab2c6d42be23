"""Captions read by a chat model, as the paper does with Qwen3-8B, in our own words.

An answer that cannot be read, or none at all, is a failed Outcome with its reason. It is never
an empty list of facts: that would say the caption mentions nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from screentest.core import Outcome, Reason, Signature
from screentest.degrade.captions.cache import AnswerCache
from screentest.degrade.captions.facts import CaptionFacts
from screentest.degrade.captions.schema import CaptionAnswer
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.chat.presets import preset
from screentest.models.roles import Chat
from screentest.prompts import Prompts

TEMPLATE = "slvmeval/caption_facts"
USE = "slvm.extract"
VERSION = 1


class ChatExtractor:
    """Reads captions with a chat model.

    ``model`` is the signature of the model. Equal captions are asked about once; with a
    ``cache`` folder, once for all runs.
    """

    def __init__(
        self,
        chat: Chat,
        model: Signature | str,
        *,
        prompts: Prompts | None = None,
        cache: Path | None = None,
    ) -> None:
        self._chat = chat
        self._prompts = prompts or Prompts()
        self._known: dict[str, CaptionFacts] = {}
        self._cache = AnswerCache(cache, CaptionFacts) if cache is not None else None
        self.signature = Signature.of(
            "caption_chat", version=VERSION, prompts=self._prompts.digest(TEMPLATE), model=model
        )
        """What the facts depend on."""

    def extract(self, captions: Sequence[str]) -> list[Outcome[CaptionFacts]]:
        """One outcome per caption, in their order. An empty caption says nothing, for free."""
        outcomes: dict[str, Outcome[CaptionFacts]] = {}
        asked: list[str] = []
        for caption in dict.fromkeys(captions):
            known = CaptionFacts() if not caption.strip() else self._recall(caption)
            if known is not None:
                outcomes[caption] = Outcome.of(known)
            else:
                asked.append(caption)
        answers = self._chat.ask([self.request(caption) for caption in asked]) if asked else []
        for caption, answer in zip(asked, answers, strict=True):
            outcomes[caption] = self._read(caption, answer)
        return [outcomes[caption] for caption in captions]

    def request(self, caption: str) -> ChatRequest:
        """What is asked about one caption."""
        rendered = self._prompts.render(TEMPLATE, {"caption": caption})
        return ChatRequest(
            rendered.parts, rendered.system, CaptionAnswer, sampling=preset(USE), use=USE
        )

    def _recall(self, caption: str) -> CaptionFacts | None:
        known = self._known.get(caption)
        if known is None and self._cache is not None:
            known = self._cache.get(self.signature, caption)
        return known

    def _read(self, caption: str, outcome: Outcome[ChatAnswer]) -> Outcome[CaptionFacts]:
        if outcome.failure is not None:
            return Outcome(failure=outcome.failure)
        value = outcome.unwrap().value
        if not isinstance(value, CaptionAnswer):
            return Outcome.failed(Reason.UNPARSABLE, "the answer holds no facts")
        facts = value.facts()
        self._known[caption] = facts
        if self._cache is not None:
            self._cache.put(self.signature, caption, facts)
        return Outcome.of(facts)
