from __future__ import annotations

import io
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import BaseModel

from screentest.models.chat.messages import ChatRequest, Picture, Sampling, Text, Usage
from tests.models.chat.kit import Rating


def picture(shade: int = 7) -> Picture:
    buffer = io.BytesIO()
    Image.fromarray(np.full((4, 6, 3), shade, np.uint8)).save(buffer, "PNG")
    return Picture(buffer.getvalue(), "image/png", 6, 4)


BASE = ChatRequest((Text("one"), picture(), Text("two")), "system", Rating, Sampling(seed=1))

CHANGED: dict[str, ChatRequest] = {
    "text": replace(BASE, parts=(Text("One"), picture(), Text("two"))),
    "order": replace(BASE, parts=(picture(), Text("one"), Text("two"))),
    "joined": replace(BASE, parts=(Text("onetwo"), picture())),
    "picture": replace(BASE, parts=(Text("one"), picture(8), Text("two"))),
    "system": replace(BASE, system="System"),
    "schema": replace(BASE, schema=None),
    "repeat": replace(BASE, repeat=1),
}


@pytest.mark.parametrize("name", CHANGED)
def test_key_changes_with_what_can_change_the_answer(name: str) -> None:
    assert CHANGED[name].key != BASE.key


@pytest.mark.parametrize("field", [field.name for field in fields(Sampling)])
def test_key_changes_with_every_sampling_setting(field: str) -> None:
    other: Any = ("stop here",) if field == "stop" else 3
    assert replace(BASE, sampling=replace(BASE.sampling, **{field: other})).key != BASE.key


def test_key_keeps_what_cannot_change_the_answer() -> None:
    assert replace(BASE, use="etva.answer", max_repairs=3).key == BASE.key
    again = ChatRequest((Text("one"), picture(), Text("two")), "system", Rating, Sampling(seed=1))
    assert again.key == BASE.key


def test_key_takes_any_text() -> None:
    assert len(ChatRequest((Text("half a pair \ud800"),)).key) == 64


def test_requests_are_values() -> None:
    assert hash(BASE) == hash(replace(BASE))
    with pytest.raises(FrozenInstanceError):
        BASE.system = "x"  # type: ignore[misc]


def test_a_picture_prints_itself_shortly() -> None:
    assert "6×4" in repr(picture())
    assert len(repr(BASE)) < 600


def test_pixels_are_what_was_encoded() -> None:
    pixels = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    assert (Picture(buffer.getvalue(), "image/png", 6, 4).pixels() == pixels).all()


def test_pixels_of_something_else() -> None:
    with pytest.raises(ValueError, match="is not a picture"):
        Picture(b"<html>", "image/png", 6, 4).pixels()


def test_a_schema_with_a_default_is_refused_before_paying() -> None:
    class Lenient(BaseModel):
        score: int = 5

    with pytest.raises(ValueError, match="score a default"):
        ChatRequest((Text("x"),), schema=Lenient)


@pytest.mark.parametrize("wrong", [{"parts": ()}, {"repeat": -1}, {"max_repairs": -1}])
def test_what_cannot_be_asked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        replace(BASE, **wrong)


def test_no_answer_without_a_limit() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Sampling(max_tokens=0)


def test_usage_adds_up_and_stays_unknown() -> None:
    assert Usage(1, 2) + Usage(3, 4) == Usage(4, 6)
    assert Usage(1, 2) + Usage(None, 4) == Usage(None, 6)
