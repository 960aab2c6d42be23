"""Which clips are drawn, and what is said where there are too few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from screentest.core import NoValue, Reason, build
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.contract import Film, Rng
from tests.testbeds.stage import NoDetector, NoMatting, PlainBackends, Stage


def numbers(stage: Stage, name: str, count: int, seed: int = 7) -> list[int]:
    return [one.clip.number for one in stage.draw(name, count, seed=seed)]


def without_facts(stage: Stage, *clips: int) -> Stage:
    changed = tuple(
        replace(clip, facts=CaptionFacts()) if clip.number in clips else clip
        for clip in stage.film.clips
    )
    return Stage(Film(stage.film.video, changed), stage.folder)


def test_the_same_seed_draws_the_same_and_others_differ(stage: Stage) -> None:
    assert numbers(stage, "aesthetics", 2) == numbers(stage, "aesthetics", 2)
    assert len({tuple(numbers(stage, "aesthetics", 2, seed)) for seed in range(20)}) > 5


def test_more_clips_hold_the_fewer(stage: Stage) -> None:
    five = numbers(stage, "aesthetics", 5)
    assert sorted(five) == [0, 1, 2, 3, 4]
    assert numbers(stage, "aesthetics", 3) == five[:3]


def test_only_clips_whose_caption_allows_it_are_drawn(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The captions are made up: nothing in the pictures need be white.
    monkeypatch.setattr("screentest.testbeds.operators.things.coloured", lambda _: lambda *_: True)
    some = without_facts(stage, 0, 2, 4)
    for name in ("background_consistency", "object_integrity", "color", "spatial_relationship"):
        assert sorted(numbers(some, name, 2)) == [1, 3]
        with pytest.raises(NoValue, match="2 of 5 captions") as caught:
            some.draw(name, 3)
        assert caught.value.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("name", "backends"),
    [
        ("background_consistency", PlainBackends(matting=NoMatting())),
        ("object_integrity", PlainBackends(detection=NoDetector())),
        ("color", PlainBackends(detection=NoDetector())),
    ],
)
def test_clips_in_which_a_model_finds_nothing_do_not_count(
    name: str, backends: PlainBackends, stage: Stage
) -> None:
    with pytest.raises(NoValue, match="5 of these clips") as caught:
        stage.draw(name, 1, models=backends)
    assert caught.value.reason is Reason.NOT_APPLICABLE


def test_another_clip_is_drawn_for_one_that_is_unfit(stage: Stage) -> None:
    order = numbers(stage, "background_consistency", 5)
    refused = []

    class Picky(NoMatting):
        """Finds nothing in the first clip it is shown."""

        def matte(self, images: object) -> list[np.ndarray]:
            refused.append(1)
            share = 0.0 if len(refused) == 1 else 1.0
            mask = np.zeros((144, 256), np.float32)
            mask[:70] = share
            return [mask] * 3

    drawn = stage.draw("background_consistency", 2, models=PlainBackends(matting=Picky()))
    assert [one.clip.number for one in drawn] == order[1:3]


def test_a_clip_must_be_left_of_a_film(stage: Stage) -> None:
    assert len(stage.draw("comprehensiveness", 4)) == 4
    with pytest.raises(NoValue, match="1 must be left"):
        stage.draw("comprehensiveness", 5)


def test_shuffled_clips_follow_each_other_and_are_captioned(stage: Stage) -> None:
    for seed in range(8):
        drawn = numbers(stage, "temporal_flow", 3, seed)
        assert drawn == list(range(drawn[0], drawn[0] + 3))
    clips = tuple(
        replace(clip, caption="") if clip.number == 2 else clip for clip in stage.film.clips
    )
    gap = Stage(Film(stage.film.video, clips), stage.folder)
    assert {numbers(gap, "temporal_flow", 2, seed)[0] for seed in range(12)} == {0, 3}
    with pytest.raises(NoValue, match="nowhere do 3"):
        gap.draw("temporal_flow", 3)
    with pytest.raises(NoValue, match="one clip"):
        gap.draw("temporal_flow", 1)


def test_a_film_that_stands_still_cannot_be_stopped(stage: Stage) -> None:
    from screentest.testbeds.contract import Unfit

    class Still:
        models = PlainBackends()

        def pictures(self, clip: object) -> list[np.ndarray]:
            return []

        def steps(self, clip: object) -> list[tuple[np.ndarray, np.ndarray]]:
            still = np.full((40, 40, 3), 9, np.uint8)
            spot = still.copy()
            spot[:2, :2] = 250  # a quarter of a percent
            return [(still, spot)] * 3

    with pytest.raises(Unfit, match="stand still"):
        build("degradation", "dynamics_degree").thing.settle(
            stage.film.clips[0], Still(), Rng.of(1), Rng.of(1)
        )


def test_dice_are_fair_and_independent() -> None:
    # Chi-squared of 6000 throws over 6 sides; 20.5 is the 0.1% point with 5 degrees of freedom.
    throws = np.bincount([Rng.of("seed", n).number(6) for n in range(6000)], minlength=6)
    assert ((throws - 1000) ** 2 / 1000).sum() < 20.5
    assert Rng.of(7, "a", "b").number(10**9) != Rng.of(7, "a,b").number(10**9)
    # Written down once: a testbed must come out the same with any later version.
    assert Rng.of(7, "film", "color").order(6) == [2, 1, 4, 3, 5, 0]
    assert Rng.of(7, "film").bits(4, "n").tolist() == [163, 116, 217, 130]


def least(stage: Stage, name: str, count: int, least: int) -> list[int]:
    return sorted(one.clip.number for one in stage.draw(name, count, least=least))


def test_fewer_clips_are_taken_where_that_is_allowed(stage: Stage) -> None:
    some = without_facts(stage, 0, 2, 4)
    assert least(some, "spatial_relationship", 5, 1) == [1, 3]
    assert least(some, "spatial_relationship", 1, 1) == [
        numbers(some, "spatial_relationship", 1)[0]
    ]
    with pytest.raises(NoValue, match="2 of 5 captions") as few:
        least(some, "spatial_relationship", 5, 3)
    assert few.value.message.startswith("3 clips ")
    assert least(stage, "aesthetics", 9, 2) == [0, 1, 2, 3, 4]
    # One clip must be left, and an order needs two that follow each other.
    assert len(least(stage, "comprehensiveness", 9, 1)) == 4
    assert least(stage, "temporal_flow", 9, 1) == [0, 1, 2, 3, 4]
    silent = tuple(
        replace(clip, caption="") if clip.number == 2 else clip for clip in stage.film.clips
    )
    gap = Stage(Film(stage.film.video, silent), stage.folder)
    assert least(gap, "temporal_flow", 5, 1) in ([0, 1], [3, 4])
