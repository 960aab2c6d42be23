"""From boundaries to a list of shots that covers the whole video."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import (
    BaseConsumer,
    Frame,
    FrameRequest,
    NoValue,
    Reason,
    Shot,
    Span,
    Transition,
    UnknownName,
    build,
    register,
    registry,
)
from screentest.video.detectors import Boundary
from screentest.video.probe import probe
from screentest.video.scan import scan
from screentest.video.shots import find_shots, scanned, shot_list

SPAN = Span(Fraction(1), Fraction(11))

boundaries = st.builds(
    Boundary,
    time=st.fractions(0, 12, max_denominator=30),
    frame=st.integers(0, 300),
    transition=st.sampled_from([Transition.CUT, Transition.FADE, Transition.DISSOLVE]),
)


@given(st.lists(boundaries, max_size=12))
def test_shots_follow_one_another_without_gap(found: list[Boundary]) -> None:
    shots = shot_list(found, SPAN)
    assert shots[0].start == SPAN.start
    assert shots[-1].end == SPAN.end
    assert all(one.end == two.start for one, two in pairwise(shots))
    assert all(shot.span.duration > 0 for shot in shots)
    inside = {one.time for one in found if SPAN.start < one.time < SPAN.end}
    assert [shot.start for shot in shots[1:]] == sorted(inside)


def test_no_boundary_is_one_shot() -> None:
    assert shot_list([], SPAN) == [Shot(SPAN)]


def test_a_boundary_keeps_what_it_says() -> None:
    gradual = Span(Fraction(4), Fraction(6))
    fade = Boundary(Fraction(5), 100, Transition.FADE, gradual, found_by=("abrupt", "gradual"))
    cut = Boundary(Fraction(8), 160)
    assert shot_list([cut, fade], SPAN, found_by="content") == [
        Shot(Span(Fraction(1), Fraction(5))),
        Shot(Span(Fraction(5), Fraction(8)), Transition.FADE, gradual, ("abrupt", "gradual")),
        Shot(Span(Fraction(8), Fraction(11)), Transition.CUT, None, ("content",)),
    ]


def test_a_fade_at_the_first_frame_is_how_the_first_shot_comes_in() -> None:
    gradual = Span(Fraction(1), Fraction(2))
    fade = Boundary(Fraction(1), 0, Transition.FADE, gradual, found_by=("gradual",))
    (shot,) = shot_list([fade], SPAN)
    assert shot == Shot(SPAN, Transition.FADE, gradual, ("gradual",))


def test_a_film_with_every_kind_of_transition(sample: Path) -> None:
    """The captions of the trailer: fades in, cuts at 48 and 110, out of black at 241…"""
    video = sample / "sintel_trailer_30s_640x272.mp4"
    shots = find_shots(video)
    assert shots[0].transition is Transition.FADE
    by_start = {round(shot.start * 24): shot for shot in shots}
    assert by_start[48].transition is Transition.CUT
    assert by_start[48].found_by == ("abrupt",)
    # Fades to black over 86–101 and is black until a cut at 110.
    after_black = by_start[110]
    assert after_black.transition is Transition.FADE
    assert after_black.found_by == ("abrupt", "gradual")
    assert after_black.gradual is not None
    assert after_black.gradual.overlaps(Span(Fraction(86, 24), Fraction(101, 24)))
    assert shots[-1].end == probe(video).span.end


def test_one_scan_serves_the_detector_and_others(sample: Path) -> None:
    video = sample / "real_5shots_640x360.mp4"
    counting, detector = _Counting(), build("detector", "default").thing
    report = scan(video, [counting, detector])
    assert counting.count == 372
    assert shot_list(detector.boundaries, scanned(report)) == find_shots(video)


class _Counting(BaseConsumer):
    wants = FrameRequest()
    count = 0

    def take(self, frame: Frame) -> None:
        self.count += 1


def test_a_detector_with_options_is_named_without_them(sample: Path) -> None:
    shots = find_shots(sample / "real_5shots_640x360.mp4", "scdet:threshold=12")
    assert [shot.found_by for shot in shots] == [(), *[("scdet",)] * 4]


def test_an_unknown_detector(sample: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'adaptive'"):
        find_shots(sample / "real_5shots_640x360.mp4", "adaptiv")


@pytest.fixture
def broken() -> Iterator[str]:
    class Broken(BaseConsumer):
        wants = FrameRequest()
        boundaries: tuple[Boundary, ...] = ()

        def take(self, frame: Frame) -> None:
            raise RuntimeError("this detector has a bug")

    register("detector", "broken_for_a_test")(Broken)
    yield "broken_for_a_test"
    del registry._entries["detector", "broken_for_a_test"]


def test_a_detector_that_fails_gives_no_shots(broken: str, sample: Path) -> None:
    """Rather than one shot, as if nothing had been found."""
    with pytest.raises(NoValue, match="RuntimeError") as caught:
        find_shots(sample / "real_5shots_640x360.mp4", broken)
    assert caught.value.reason is Reason.CRASHED
