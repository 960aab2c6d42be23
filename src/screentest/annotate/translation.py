"""Translation: prompts in the workers' language, by a chat model, shown beside the original.

A script is translated caption by caption: captions repeat between units, fit any model, and
stay beside the clip they belong to. What is translated once is kept in the store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel
from sqlalchemy import insert, select

from screentest.annotate.store.database import Database
from screentest.annotate.store.schema import texts, translations
from screentest.core import Failure, Outcome, Progress, Silent
from screentest.models.chat.messages import ChatAnswer, ChatRequest, Sampling
from screentest.models.roles import Chat
from screentest.prompts import Prompts
from screentest.prompts.values import Slot, Trusted

TEMPLATE: Final = "annotate/translate"
_AT_ONCE: Final = 32


class TranslationAnswer(BaseModel):
    """What the model is to answer."""

    translation: str


@dataclass(frozen=True, slots=True)
class Translated:
    """What became of the passages."""

    added: int
    known: int
    failures: Sequence[Failure]


def passage_hash(passage: str) -> str:
    """How a passage is known: its translation is kept once, whichever units show it."""
    return hashlib.sha256(passage.encode("utf-8", "replace")).hexdigest()


def passages_of(database: Database) -> list[str]:
    """Every passage that workers read, once."""
    found: dict[str, None] = {}
    with database.read() as connection:
        for row in connection.execute(select(texts.c.prompt, texts.c.clips)):
            passages = [clip[0] for clip in row.clips] or [row.prompt]
            found |= dict.fromkeys(passage for passage in passages if passage.strip())
    return list(found)


def translate(
    database: Database,
    chat: Chat,
    *,
    code: str,
    language: str,
    model: str,
    prompts: Prompts | None = None,
    progress: Progress | None = None,
) -> Translated:
    """Translate what is not translated yet. A passage that fails is left as it is."""
    templates = prompts or Prompts()
    everything = passages_of(database)
    with database.read() as connection:
        known = set(
            connection.execute(
                select(translations.c.text).where(translations.c.language == code)
            ).scalars()
        )
    missing = [passage for passage in everything if passage_hash(passage) not in known]
    failures: list[Failure] = []
    with progress or Silent() as watched:
        watched.begin("translating", len(missing), "passage")
        for place in range(0, len(missing), _AT_ONCE):
            batch = missing[place : place + _AT_ONCE]
            answers = chat.ask([request_for(passage, language, templates) for passage in batch])
            failures += _keep(database, batch, answers, code, model)
            watched.advance(len(batch))
    return Translated(len(missing) - len(failures), len(everything) - len(missing), failures)


def request_for(passage: str, language: str, prompts: Prompts) -> ChatRequest:
    """What is asked about one passage."""
    slots: dict[str, Slot] = {"passage": passage, "language": Trusted(language)}
    rendered = prompts.render(TEMPLATE, slots)
    room = Sampling(temperature=0.0, max_tokens=min(32_000, 500 + 3 * len(passage)))
    return ChatRequest(
        rendered.parts,
        rendered.system,
        TranslationAnswer,
        sampling=room,
        use="annotate.translate",
    )


def _keep(
    database: Database,
    passages: Sequence[str],
    answers: Sequence[Outcome[ChatAnswer]],
    code: str,
    model: str,
) -> list[Failure]:
    failures = []
    with database.write() as connection:
        for passage, outcome in zip(passages, answers, strict=True):
            if outcome.failure is not None:
                failures.append(outcome.failure)
                continue
            value = outcome.unwrap().value
            assert isinstance(value, TranslationAnswer)
            connection.execute(
                insert(translations).values(
                    text=passage_hash(passage),
                    language=code,
                    body=value.translation.replace("\x00", ""),
                    model=model,
                )
            )
    return failures
