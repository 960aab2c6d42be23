"""Languages, and prompts translated by a chat model."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from string import Formatter

import pytest
from sqlalchemy import select

from screentest.annotate.language import passages_of, read_language, shipped, translate
from screentest.annotate.schema import translations
from screentest.core import BUILTIN_ASPECTS, BadOption, UserError
from screentest.testing.chat_answers import Answer
from tests.annotate.stand import Stand
from tests.models.chat.kit import serving


def test_every_shipped_language_is_complete() -> None:
    english = read_language("en").texts
    for code in shipped():
        own = tomllib.loads(
            (files("screentest.annotate") / "languages" / f"{code}.toml").read_text("utf-8")
        )
        # What aspects mean is in English what judges read, which is not in the file.
        meanings = {key for key in english if key.startswith("aspect.") and key.endswith(".text")}
        assert set(flat(own)) | (meanings if code == "en" else set()) == set(english), code
        for key, text in flat(own).items():
            assert fields(text) == fields(english[key]), (code, key)


def flat(table: dict[str, object], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = str(value)
    return found


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_aspect_is_explained() -> None:
    for code in shipped():
        for aspect in BUILTIN_ASPECTS:
            assert read_language(code).text(f"aspect.{aspect.value}.text")


def test_a_language_of_your_own(tmp_path: Path) -> None:
    path = tmp_path / "de.toml"
    path.write_text('code = "de"\nname = "Deutsch"\n[choice]\nleft = "Links ist besser"\n')
    german = read_language(str(path))
    assert german.text("choice.left") == "Links ist besser"
    assert german.text("choice.right") == "Right is better"
    for wrong in (
        '[choice]\nlinks = "x"',
        '[page]\nprogress = "{gone}"',
        "[",
        '[page]\nprogress="{"',
    ):
        path.write_text(wrong)
        with pytest.raises(UserError):
            read_language(str(path))
    with pytest.raises(BadOption, match="en, ja"):
        read_language("tlh")


def test_translations_stand_below_the_original(stand: Stand) -> None:
    passages = passages_of(stand.database)
    assert len(passages) == 5  # one film, five clips, under two names
    with serving([Answer('{"translation": "訳文"}')]) as (server, chat):
        done = translate(stand.database, chat, code="ja", language="Japanese", model="m")
        again = translate(stand.database, chat, code="ja", language="Japanese", model="m")
    assert len(server.asked) == 5
    assert (done.added, done.known, list(done.failures)) == (5, 0, [])
    assert (again.added, again.known) == (0, 5)
    person = stand.worker()
    page = person.begin()
    assert "訳文" not in page.html
    person.form("/language", code="ja")
    html = person.page().html
    assert html.count('<p class="translated" lang="ja">訳文</p>') == 5
    assert "機械翻訳" in html
    assert "cockatoo" in html


def test_a_passage_that_fails_stays_untranslated(stand: Stand) -> None:
    with serving([Answer("no JSON at all")]) as (_, chat):
        done = translate(stand.database, chat, code="ja", language="Japanese", model="m")
    assert (done.added, len(done.failures)) == (0, 5)
    with stand.database.read() as connection:
        assert connection.execute(select(translations)).all() == []
