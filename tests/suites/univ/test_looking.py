"""Which frames a judge is shown: the released code's rates, sizes and steps."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from screentest.core import Item, Size, Span
from screentest.run.session import Settings, Tools
from screentest.suites.univ.pieces import shown
from screentest.video.probe import probe
from tests.suites.univ.scripted import answering, inspection, kind_of, marks, measured

# By length in seconds: frames a second and the most pixels of the short side, as the released
# code has them.
RELEASED = [
    ("5", "4", 480),
    ("10", "4", 480),
    ("14.99", "4", 480),
    ("15", "2", 480),
    ("89.9", "2", 480),
    ("90", "1", 480),
    ("179.9", "1", 480),
    ("180", "1", 360),
    ("299", "1", 360),
    ("300", "1/2", 360),
    ("3600", "1/2", 360),
]


@pytest.mark.parametrize(("length", "rate", "side"), RELEASED)
def test_rates_and_sizes_by_length(length: str, rate: str, side: int, sample: Path) -> None:
    info = probe(sample / "frenchgp_1906_214x160.mp4")
    span = Span(Fraction(0), Fraction(length))
    assert shown().rate_of(span.duration) == Fraction(rate)
    assert shown().size(info, span) == Size(short_side=side)
    # What was asked for is never more than asked for.
    slow = shown(Fraction(1, 4), 120)
    assert slow.rate_of(span.duration) == Fraction(1, 4)
    assert slow.size(info, span) == Size(short_side=120)


def test_steps_are_whole_frames_and_labels_are_their_times(item: Item) -> None:
    """24 frames a second, four wanted: every sixth, at 0, 6/24, 12/24 …"""
    with answering(inspect=inspection(), score=marks()) as server:
        measured("univ_t2v", item, server)
        (asked,) = [one for one in server.asked if kind_of(one) == "inspect"]
    labels = re.findall(r"\[(\d+\.\d\d) second\]", "\n".join(asked.texts))
    assert labels == [f"{n / 4:.2f}" for n in range(8)]


@pytest.mark.parametrize("name", ["mdn_flower.mp4", "sam2_dog.mp4"])
def test_a_rate_that_does_not_divide(name: str, shared_data: Path) -> None:
    """29.97 frames a second: the step is int(7.49…) = 7, and so on to the last frame."""
    film = shared_data / "video" / "singleshot" / name
    info = probe(film)
    assert info.rate == Fraction(30000, 1001)
    moments = shown().moments(info, info.span)
    frames = [int((moment - info.span.start) * info.rate) for moment in moments]
    count = round(info.span.duration * info.rate)
    assert frames == list(range(0, count, 7))
    pictures = shown().show(Tools(Settings()), film, Span(Fraction(0), Fraction(1)))
    assert len(pictures.parts) == 2 * len(range(0, 30, 7))


def test_a_long_film_has_no_more_than_the_limit(shared_data: Path) -> None:
    """Ten minutes at one in two seconds would be 298 pictures; at 100, they are spread evenly."""
    info = probe(shared_data / "video" / "multishot" / "bbb_full_512x288.mp4")
    every = shown().moments(info, info.span)
    assert len(every) == pytest.approx(float(info.span.duration) / 2, abs=1)
    few = shown(most=100).moments(info, info.span)
    assert len(few) == 100
    gaps = {float(after - before) for before, after in pairwise(few)}
    assert max(gaps) - min(gaps) <= float(1 / info.rate) + 1e-9
