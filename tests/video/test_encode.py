"""Encoder settings: what cannot be is refused, and all that matters is in the signature."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from screentest.core import BadOption
from screentest.video.edit.encode import EncoderSettings


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("crf", 60), ("preset", "quick"), ("b_frames", -1), ("gop", 0), ("threads", 0)],
)
def test_settings_that_cannot_be(field: str, wrong: object) -> None:
    with pytest.raises(BadOption):
        EncoderSettings(**{field: wrong})  # type: ignore[arg-type]


def test_every_setting_is_in_the_signature() -> None:
    others = EncoderSettings(crf=1, preset="slow", b_frames=1, b_pyramid=False, gop=9, threads=1)
    plain = EncoderSettings()
    for field in fields(EncoderSettings):
        changed = replace(plain, **{field.name: getattr(others, field.name)})
        assert changed.signature != plain.signature
