"""Where the playhead has been."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.annotate.sitting import Implausible, Viewing, take_reports
from screentest.core.codec import from_object

moments = st.floats(0, 1000, allow_nan=False)


def played(*stretches: tuple[float, float]) -> Viewing:
    viewing = Viewing()
    for begin, end in stretches:
        viewing = viewing.with_play(begin, end, 1.0)
    return viewing


def test_a_second_is_enough_and_half_of_what_is_shorter() -> None:
    assert played((10, 11)).has_seen(10, 20)
    assert not played((10, 10.9)).has_seen(10, 20)
    assert played((10, 10.3)).has_seen(10, 10.5)
    assert not played((10, 10.2)).has_seen(10, 10.5)


def test_seeking_past_is_not_seeing() -> None:
    assert not played((0, 9.9), (20.1, 30)).has_seen(10, 20)
    assert not Viewing().with_rest(9.99, 60).with_rest(20, 60).has_seen(10, 20)


def test_resting_there_is_seeing_and_dragging_across_is_not() -> None:
    assert Viewing().with_rest(15, 0.5).has_seen(10, 20)
    assert not Viewing().with_rest(15, 0.05).with_rest(16, 0.05).has_seen(10, 20)


def test_bits_add_up() -> None:
    assert played((10, 10.5), (15, 15.5)).has_seen(10, 20)


def test_the_same_stretch_again_takes_time_and_shows_nothing_new() -> None:
    viewing = played((10, 10.5), (10, 10.5), (10, 10.5))
    assert not viewing.has_seen(10, 20)
    assert viewing.spent == pytest.approx(1.5)


def test_the_clock_is_the_servers() -> None:
    claims = [{"from": 0, "to": 30, "rate": 1}]
    with pytest.raises(Implausible):
        take_reports(Viewing(), claims, elapsed=20)
    assert take_reports(Viewing(), claims, elapsed=30).share(60) == pytest.approx(0.5)
    # Split into many reports it is still thirty seconds.
    viewing = Viewing()
    for second in range(21):
        one = [{"from": second, "to": second + 1, "rate": 1}]
        viewing = take_reports(viewing, one, elapsed=20)
    with pytest.raises(Implausible):
        take_reports(viewing, one, elapsed=20)


@pytest.mark.parametrize(
    "report",
    [
        {},
        None,
        7,
        {"from": 0},
        {"from": 2, "to": 1, "rate": 1},
        {"from": -1, "to": 1, "rate": 1},
        {"from": 0, "to": 1, "rate": 0},
        {"from": 0, "to": 1, "rate": 2.1},
        {"from": 0, "to": 1, "rate": -1},
        {"from": 0, "to": math.inf, "rate": 1},
        {"from": math.nan, "to": 1, "rate": 1},
        {"from": "0", "to": 1, "rate": 1},
        {"from": True, "to": 1, "rate": 1},
        {"at": 1, "rest": -1},
        {"at": 1, "rest": math.nan},
        {"at": 1, "rest": 10**400},  # JSON has whole numbers that no float holds
    ],
)
def test_what_cannot_be_is_refused(report: object) -> None:
    with pytest.raises(Implausible):
        take_reports(Viewing(), [report], elapsed=1e9)


@given(st.lists(st.tuples(moments, moments).map(sorted), max_size=30))
def test_merging_loses_nothing_and_invents_nothing(stretches: list[list[float]]) -> None:
    viewing = played(*((begin, end) for begin, end in stretches))
    assert from_object(Viewing, json.loads(json.dumps(asdict(viewing)))) == viewing
    assert list(viewing.played) == sorted(viewing.played)
    for begin, end in stretches:
        assert any(low <= begin and end <= high for low, high in viewing.played)
    shown = sum(high - low for low, high in viewing.played)
    # Neighbours up to 0.05 s apart are one stretch.
    assert shown <= viewing.spent + 0.05 * len(stretches) + 1e-6
    assert 0 <= viewing.share(500) <= 1
