"""Languages: what workers read, from a file; a text that a file leaves out stays English.

>>> read_language("en").text("choice.left")
'Left is better'
>>> read_language("ja").text("page.progress", done=3, left=9)
'3 件完了、残り 9 件'
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any, Final

from pydantic import BaseModel
from sqlalchemy import insert, select

from screentest.annotate.schema import texts, translations
from screentest.annotate.store import Database
from screentest.core import BadOption, Failure, Outcome, Progress, Silent, UserError, all_aspects
from screentest.models.ask import Query, send
from screentest.models.ask.templates import Prompts, Slot, Trusted
from screentest.models.chat.messages import ChatRequest, Sampling
from screentest.models.roles import Chat

_PACKAGE = "screentest.annotate"


@dataclass(frozen=True, slots=True)
class Language:
    """All texts of the app in one language."""

    code: str
    name: str
    texts: Mapping[str, str]

    def text(self, key: str, **values: object) -> str:
        return self.texts[key].format(**values) if values else self.texts[key]

    def under(self, prefix: str) -> dict[str, str]:
        """Return the texts of one table, for a script."""
        return {key: text for key, text in self.texts.items() if key.startswith(f"{prefix}.")}


def shipped() -> list[str]:
    """Return the languages that come with screentest."""
    folder = files(_PACKAGE) / "languages"
    names = [file.name.removesuffix(".toml") for file in folder.iterdir()]
    return sorted(name for name in names if not name.startswith("_"))


def read_language(given: str, prompts: Prompts | None = None) -> Language:
    """Return a shipped language by its code, or one in a file of yours.

    What aspects mean is, in English, what judges are told of them. Where a folder of templates
    says something else, that replaces the shipped texts of every language.
    """
    ours, theirs = _aspects(Prompts()), _aspects(prompts or Prompts())
    english = {**theirs, **_flat(_shipped("en"))}
    if given in shipped():
        selected = _shipped(given)
    elif given.endswith(".toml"):
        selected = _read(Path(given))
    else:
        raise BadOption(
            f"there is no language {given!r}",
            advice=f"Give one of {', '.join(shipped())}, or a .toml file.",
        )
    texts = _flat(selected)
    if given in shipped():
        texts = {key: text for key, text in texts.items() if ours.get(key) == theirs.get(key)}
    strange = sorted(texts.keys() - english.keys())
    if strange:
        raise UserError(
            f"{given} has texts that the app does not know: {', '.join(strange)}",
            advice="Copy the names from the English file.",
        )
    for key, text in texts.items():
        wrong = _values(text) - _values(english[key])
        if wrong:
            raise UserError(f"{given}, {key}: there is no value {{{wrong.pop()}}}")
    return Language(texts.get("code", given), texts.get("name", given), {**english, **texts})


def _aspects(prompts: Prompts) -> dict[str, str]:
    """Return what aspects mean, and their names: aspects of plugins have no file."""
    texts: dict[str, str] = {}
    for aspect in all_aspects():
        texts[f"aspect.{aspect}.name"] = aspect.title.capitalize()
        texts[f"aspect.{aspect}.text"] = prompts.definition(aspect)
    return texts


def _shipped(code: str) -> Mapping[str, Any]:
    return tomllib.loads((files(_PACKAGE) / "languages" / f"{code}.toml").read_text("utf-8"))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    result: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            result |= _flat(value, f"{prefix}{name}.")
        else:
            result[prefix + name] = str(value).strip()
    return result


def _values(text: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        raise UserError(f"braces that do not match in {text!r}") from None


TEMPLATE: Final = "annotate/translate"
_AT_ONCE: Final = 32


class TranslationAnswer(BaseModel):
    """What the model is to answer."""

    translation: str


TRANSLATE: Final = Query(TEMPLATE, TranslationAnswer)


@dataclass(frozen=True, slots=True)
class Translated:
    """What became of the passages."""

    added: int
    known: int
    failures: Sequence[Failure]


def passage_hash(passage: str) -> str:
    """Return how a passage is known: its translation is kept once, whichever units show it."""
    return hashlib.sha256(passage.encode("utf-8", "replace")).hexdigest()


def passages_of(database: Database) -> list[str]:
    """Return every passage that workers read, once."""
    result: dict[str, None] = {}
    with database.read() as connection:
        for row in connection.execute(select(texts.c.prompt, texts.c.clips)):
            passages = [clip[0] for clip in row.clips] or [row.prompt]
            result |= dict.fromkeys(passage for passage in passages if passage.strip())
    return list(result)


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
    """Translate what is not translated yet. A passage that fails is left as it is.

    A script is translated caption by caption: captions repeat between units, fit any model, and
    stay beside the clip they belong to. What is translated once is kept in the store.
    """
    templates = prompts or Prompts()
    everything = passages_of(database)
    with database.read() as connection:
        available = set(
            connection.execute(
                select(translations.c.text).where(translations.c.language == code)
            ).scalars()
        )
    missing = [passage for passage in everything if passage_hash(passage) not in available]
    failures: list[Failure] = []
    with progress or Silent() as watched:
        watched.begin("translating", len(missing), "passage")
        for place in range(0, len(missing), _AT_ONCE):
            batch = missing[place : place + _AT_ONCE]
            answers = send(chat, [request_for(passage, language, templates) for passage in batch])
            failures += _keep(database, batch, answers, code, model)
            watched.advance(len(batch))
    return Translated(len(missing) - len(failures), len(everything) - len(missing), failures)


def request_for(passage: str, language: str, prompts: Prompts) -> ChatRequest:
    """Return what is asked about one passage."""
    room = Sampling(temperature=0.0, max_tokens=min(32_000, 500 + 3 * len(passage)))
    slots: dict[str, Slot] = {"passage": passage, "language": Trusted(language)}
    return TRANSLATE.request(prompts, slots, sampling=room)


def _keep(
    database: Database,
    passages: Sequence[str],
    answers: Sequence[Outcome[TranslationAnswer]],
    code: str,
    model: str,
) -> list[Failure]:
    failures = []
    with database.write() as connection:
        for passage, outcome in zip(passages, answers, strict=True):
            if outcome.failure is not None:
                failures.append(outcome.failure)
                continue
            connection.execute(
                insert(translations).values(
                    text=passage_hash(passage),
                    language=code,
                    body=outcome.unwrap().translation.replace("\x00", ""),
                    model=model,
                )
            )
    return failures
