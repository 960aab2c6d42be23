"""The things that a prompt names, looked for by a detector and a classifier that are scripted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import Clip, Image, Item, NoValue, Outcome, Reason, Score, Script
from screentest.english.things import named_things
from screentest.metrics.alignment.matched import clip_aligned, named_colours
from screentest.metrics.alignment.objects import prompt_objects
from screentest.models.roles import Detection
from screentest.run.session import Settings, Tools
from screentest.testing.films import texture, write_film

HEIGHT, WIDTH = 96, 160
RED, BLUE = (200, 20, 20), (20, 20, 200)


class Boxes:
    """Finds a red thing, which it calls a dog, and a blue one: a car. It knows buses, too."""

    def knows(self, phrases: Sequence[str]) -> list[bool]:
        return [self._named(one) is not None for one in phrases]

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        found = []
        for left in range(0, WIDTH, 20):
            pixel = tuple(image[HEIGHT // 2, left + 10].tolist())
            kind = {RED: "dog", BLUE: "car"}.get(pixel)
            if kind is not None and kind == self._named(phrases[0]):
                found.append(Detection(phrases[0], 0.9, (left, 40, left + 20, 60)))
        return found

    def _named(self, phrase: str) -> str | None:
        words = phrase.lower().rstrip("s").split()
        return next((one for one in ("dog", "car", "bu", "buse") if one in words), None)


class Names:
    """Calls every picture a volcano, almost."""

    names = ("volcano", "castle")

    def probabilities(self, image: Image) -> Any:
        return np.array([0.9, 0.01], np.float32)


class Scripted(Tools):
    """Tools with these two models."""

    def __init__(self, labels: bool = True) -> None:
        super().__init__(Settings())
        self._labels = labels

    def role(self, name: str) -> Any:
        if name == "detection":
            return Boxes() if self._labels else super().role(name)
        return Names() if name == "labels" and self._labels else super().role(name)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two red dogs on the left, a blue car on the right."""
    picture = np.full((HEIGHT, WIDTH, 3), 128, np.uint8)
    picture[40:60, 0:40], picture[40:60, 140:160] = RED, BLUE
    return write_film(tmp_path_factory.mktemp("film") / "film.mkv", [picture] * 8)


def found(film: Path, prompt: str, **options: Any) -> Mapping[str, Outcome[Score]]:
    return prompt_objects(Item("one", film, prompt), Scripted(), **options)


def values(film: Path, prompt: str) -> dict[str, float]:
    outcomes = found(film, prompt)
    return {name: round(one.unwrap().value, 2) for name, one in outcomes.items() if one.ok}


@pytest.mark.parametrize(
    ("true", "false", "output"),
    [
        ("A dog beside a car.", "A dog beside a bus.", "there"),
        ("A volcano and a car.", "A castle and a car.", "there"),
        ("Two dogs.", "Five dogs.", "number"),
        ("A red dog.", "A green dog.", "colour"),
        ("A dog on the left.", "A dog on the right.", "side"),
        ("A car to the right of a dog.", "A car to the left of a dog.", "side"),
    ],
)
def test_what_the_prompt_says_is_held_against_the_picture(
    film: Path, true: str, false: str, output: str
) -> None:
    right, wrong = values(film, true), values(film, false)
    assert right[output] > wrong[output] + 0.3
    assert right["prompt_objects"] > wrong["prompt_objects"]


def test_what_is_not_known_lowers_coverage_and_below_half_there_is_no_score(film: Path) -> None:
    half = values(film, "A dog and a trombone.")
    assert half["coverage"] == 0.5
    assert half["there"] == 0.9
    unknown = "A dog, a trombone, an oboe and a teapot."
    few = found(film, unknown)
    assert few["prompt_objects"].failure is not None
    assert few["prompt_objects"].failure.reason is Reason.LOW_COVERAGE
    assert few["coverage"].unwrap().value == 0.25
    assert found(film, unknown, floor=0.2)["there"].ok


def test_without_a_model_that_reads_words_it_says_how_to_get_one(film: Path) -> None:
    with pytest.raises(NoValue) as lost:
        prompt_objects(Item("one", film, "A dog."), Scripted(labels=False))
    assert lost.value.failure.reason is Reason.MISSING_MODEL
    assert "--models light" in lost.value.failure.advice


def test_a_prompt_without_things_is_not_applicable(film: Path) -> None:
    with pytest.raises(NoValue) as lost:
        found(film, "Slowly and gently, as time goes by.")
    assert lost.value.reason is Reason.NOT_APPLICABLE


def test_what_is_absent_or_compared_is_not_looked_for() -> None:
    names = [one.name for one in named_things("A street without cars, white like a swan, no dogs.")]
    assert names == ["street"]


def test_a_prompt_is_a_script_of_one_caption(tmp_path: Path) -> None:
    red = np.full((64, 96, 3), (200, 20, 20), np.uint8)
    shots = [red] * 8 + [texture(1, 64, 96)] * 8
    path = write_film(tmp_path / "film.mkv", shots)
    tools, prompt = Tools(Settings()), "A red wall."
    plain = named_colours(Item("one", path, prompt), tools)
    assert plain.value > 0.9
    script = Script((Clip(prompt),))
    assert named_colours(Item("one", path, script=script), tools).value == plain.value
    aligned = clip_aligned(Item("one", path, prompt), tools)
    assert aligned["clip_aligned"].ok
    assert aligned["standing_out"].failure is not None
    assert aligned["standing_out"].failure.reason is Reason.NOT_APPLICABLE
