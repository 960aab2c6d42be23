"""Operators on time, order and place in a whole build; and which operators a build takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from screentest.core import BadOption, Frame, Image
from screentest.core.registry import build
from screentest.models import Models
from screentest.run.engine import InlineEngine
from screentest.sample import sample_videos
from screentest.testbeds import timeline
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.captions.facts import Placed
from screentest.testbeds.catalogue import OperatorSet, choose_operators, operators
from screentest.testbeds.contract import Film, Look, Rng, Unfit
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.orders import other_film, shown_instead
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.sources import Extractor
from screentest.testbeds.testbed import Testbed, draw_evenly
from screentest.testbeds.timeline import FrameStore, retimed, with_later
from screentest.testbeds.verify import verify_testbed
from screentest.testing.films import write_film
from screentest.video.survey import survey
from tests.testbeds.stage import ALL, QUICK

OPERATORS = (
    *("slowed", "sped_up", "reversed_motion"),
    *("cut_short", "ended_early", "neighbour_repeated"),
    *("upside_down", "two_swapped", "clip_moved", "clip_repeated", "played_backwards"),
)
FACTS = replace(ALL, spatial_relationship=(Placed("left", "thing"),))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Testbed]:
    folder = tmp_path_factory.mktemp("families")
    options = BuildOptions(
        degradations=OPERATORS, clips=(3,), long_side=96, rate=Fraction(4), encoder=QUICK
    )
    reader = Extractor("stand_in", lambda caption: FACTS)
    item = sample_videos()[2].item
    done = build_testbed([item], folder, options, extractor=reader, engine=InlineEngine())
    return folder, done.testbed


def test_all_are_made_and_stand_the_check(built: tuple[Path, Testbed]) -> None:
    folder, testbed = built
    assert [skip.failure for skip in testbed.skips] == []
    assert [pair.name for pair in testbed.pairs] == list(OPERATORS)
    assert {pair.operator_set for pair in testbed.pairs} == {OperatorSet.FAMILY}
    assert verify_testbed(folder).findings == ()


def test_what_was_done_to_which_clip_is_listed(built: tuple[Path, Testbed]) -> None:
    testbed = built[1]
    touched = {pair.name: pair.touched for pair in testbed.pairs}
    whole = testbed.sources[0].intact[0].duration
    lengths = {pair.name: pair.changed.duration for pair in testbed.pairs}
    for one in touched["cut_short"]:
        assert one.degraded is not None
        assert one.degraded.duration < one.intact.duration / 4
    assert [one.clip for one in touched["ended_early"]] == [2, 3, 4]
    assert all(one.degraded is None for one in touched["ended_early"])
    # The one that is shown again stands before the last of the three.
    (again,) = touched["clip_repeated"]
    assert again.degraded is not None
    assert again.degraded.duration > again.intact.duration
    assert lengths["clip_repeated"] > whole
    assert [one.clip - touched["two_swapped"][0].clip for one in touched["two_swapped"]] == [0, 2]
    assert len(touched["clip_moved"]) == len(touched["played_backwards"]) == 3
    assert lengths["clip_moved"] == lengths["two_swapped"] == lengths["slowed"] == whole
    assert lengths["sped_up"] < whole


def test_pairs_are_drawn_evenly_over_aspects_and_their_operators(
    built: tuple[Path, Testbed],
) -> None:
    drawn = draw_evenly(built[1], 2, 7, per_aspect=True)
    aspects = [pair.aspect for pair in drawn]
    assert {aspects.count(aspect) for aspect in aspects} == {1, 2}  # one operator of place
    assert len({pair.name for pair in drawn}) == len(drawn)


def test_operators_are_chosen_by_set_name_and_aspect() -> None:
    paper, every = choose_operators("paper"), choose_operators("all")
    assert len(paper) == 10
    assert set(every) == {one.name for one in operators() if one.set is not OperatorSet.PLUGIN}
    assert set(choose_operators("family")) == set(every) - set(paper)
    assert choose_operators("family", "temporal_flow") == tuple(
        one.name
        for one in operators()
        if one.aspect == "temporal_flow" and one.set is OperatorSet.FAMILY
    )
    named = choose_operators(["paper", "technical_quality:low=128"], "technical_quality")
    assert named == ("technical_quality:low=128",)
    with pytest.raises(BadOption, match="degrades color"):
        choose_operators("slowed", "color")


def test_every_aspect_has_a_family_of_four() -> None:
    found = operators()
    for aspect in {one.aspect for one in found if one.set is OperatorSet.PAPER}:
        family = [one for one in found if one.aspect is aspect and one.set is OperatorSet.FAMILY]
        assert len(family) >= 4


def numbered(count: int) -> Iterator[Frame]:
    for number in range(count):
        yield Frame(Fraction(number), number, np.full((6, 4), 10 * number, np.uint8))


def first(images: Iterator[Image]) -> list[int]:
    return [int(image[0, 0]) // 10 for image in images]


@pytest.mark.parametrize("held", [0, 2**20])
def test_frames_are_shown_in_any_order_from_memory_or_disk(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "_HELD", held)
    shown = [4, 3, 3, 0, 1, 4]
    assert first(iter(retimed(shown)(numbered(6)))) == shown


def test_only_what_will_be_shown_is_held() -> None:
    shown = [0, 0, 2, 2, 4]
    with FrameStore(numbered(6), shown) as store:
        for place, number in enumerate(shown):
            store.picture(place, number)
            assert len(store._held) <= 1


def test_at_the_end_of_a_clip_the_other_picture_is_one_before() -> None:
    pairs = [(int(a[0, 0]) // 10, int(b[0, 0]) // 10) for a, b in with_later(numbered(4), 2)]
    assert pairs == [(0, 2), (1, 3), (2, 0), (3, 1)]


def test_parameters_that_no_call_would_fill_are_refused() -> None:
    def late(count: int, severity: float, number: int) -> list[int]:
        return list(range(count))

    def shuffled(count: int, severity: float, rate: float) -> list[int]:
        return list(range(count))

    with pytest.raises(ValueError, match=r"late: .*\bnumber\b.* rate, rng"):
        degradation(aspect="dynamics_degree")(late)
    with pytest.raises(ValueError, match=r"shuffled: .*\brate\b.* rng"):
        degradation(aspect="temporal_flow", of="clips")(shuffled)


def test_another_film_from_within_its_last_frame() -> None:
    film = sample_videos()[2].item.video
    table = survey(film)
    start = (table.times[-1] + table.end) / 2
    frames = [Frame(Fraction(0), 0, np.zeros((8, 8, 3), np.uint8))]
    (shown,) = shown_instead(film, start)(iter(frames))
    assert shown.shape == (8, 8, 3)


def test_other_films_need_names_of_their_own(tmp_path: Path) -> None:
    for name in ("a.mp4", "a.mkv"):
        (tmp_path / name).touch()
    with pytest.raises(BadOption, match="have one name"):
        other_film(folder=str(tmp_path))


def test_a_title_is_not_shown_instead(tmp_path: Path, film: Film) -> None:
    title = np.zeros((48, 64, 3), np.uint8)
    title[20:28, 10:54:3] = 255
    scene = np.random.default_rng(1).integers(40, 255, (48, 64, 3)).astype(np.uint8)
    write_film(tmp_path / "half.mkv", [*[title] * 24, *[scene] * 24])
    operator = other_film(folder=str(tmp_path))
    clip, look = film.clips[0], Look(film, Models())
    starts = [
        float(operator.settle(clip, look, Rng.of(seed), Rng.of(seed))["from"]) for seed in range(6)
    ]
    assert min(starts) > 2.5  # it begins after three seconds; a sixth of a second is not looked at
    assert len(set(starts)) > 1
    write_film(tmp_path / "half.mkv", [title] * 16)
    with pytest.raises(Unfit, match="no passage"):
        other_film(folder=str(tmp_path)).settle(clip, look, Rng.of(1), Rng.of(1))
    # None of the packaged ones is a title, either.
    for spans in other_film()._films.values():
        assert spans
    assert sum(map(len, other_film()._films.values())) < 21


def test_a_picture_on_its_side_has_no_black_bars() -> None:
    bright = np.full((54, 64), 180, np.uint8)
    bright[:18, :32] = 90  # at the upper left
    turned = build("degradation", "quarter_turn").thing.call(bright)
    luma = turned[:36]
    assert turned.shape == bright.shape
    assert luma.min() >= 85
    # Narrower by the square of the shape: left is above, above is at the right.
    assert luma[9, 36] < 100 < luma[9, 28]
    assert luma[27, 36] > 170
