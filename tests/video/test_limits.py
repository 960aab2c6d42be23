"""Limits say what is too much, by how much, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction

import pytest

from screentest.core import Reason, VideoError
from screentest.video.limits import DEFAULT_LIMITS, Limits

SMALL = Limits(pixels=100, frames=10, seconds=5, streams=2)

AT_THE_LIMIT: tuple[Callable[[], None], ...] = (
    lambda: SMALL.check_size(10, 10),
    lambda: SMALL.check_frames(10),
    lambda: SMALL.check_duration(Fraction(5)),
    lambda: SMALL.check_streams(2),
)
ABOVE: tuple[Callable[[], None], ...] = (
    lambda: SMALL.check_size(101, 1),
    lambda: SMALL.check_frames(11),
    lambda: SMALL.check_duration(Fraction(5001, 1000)),
    lambda: SMALL.check_streams(3),
)


@pytest.mark.parametrize("check", AT_THE_LIMIT)
def test_what_is_allowed_passes(check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize("check", ABOVE)
def test_what_is_above_is_too_large(check: Callable[[], None]) -> None:
    with pytest.raises(VideoError) as caught:
        check()
    assert caught.value.reason is Reason.TOO_LARGE
    assert caught.value.advice


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_a_limit_is_above_zero(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})


def test_the_defaults_let_long_and_large_films_in() -> None:
    DEFAULT_LIMITS.check_size(7680, 4320)  # 8K
    DEFAULT_LIMITS.check_frames(3 * 3600 * 60)  # three hours at 60 frames a second
    DEFAULT_LIMITS.check_duration(Fraction(3 * 3600))
