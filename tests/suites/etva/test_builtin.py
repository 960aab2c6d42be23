"""Answers without a chat model: only what can be seen, the rest is not applicable."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import Frame, Item, Outcomes, Reason, Span
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.models import ModelChoice
from screentest.models.backends.flow import DisFlow
from screentest.models.roles import Detection
from screentest.run.session import Settings, Tools
from screentest.suites.etva.answers import ShownScene
from screentest.suites.etva.builtin import BuiltinAnswerer
from screentest.suites.etva.questions import PromptQuestion, QuestionSet
from screentest.suites.etva.rules.writer import write_by_rules
from tests.models.pulled import pulled

HEIGHT, WIDTH = 90, 160


class Boxes:
    """A detector that knows two names and finds them where it is told."""

    def __init__(self, found: Mapping[str, Sequence[tuple[float, float, float, float]]]) -> None:
        self._found = found
        self.identity: Mapping[str, str] = {}

    def knows(self, phrases: Sequence[str]) -> list[bool]:
        return [phrase in ("cup", "cups", "dog") for phrase in phrases]

    def detect(self, image: np.ndarray, phrases: Sequence[str]) -> list[Detection]:
        return [
            Detection(phrase, 0.9, box) for phrase in phrases for box in self._found.get(phrase, ())
        ]


def frames(count: int = 4) -> list[Frame]:
    image = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    image[20:60, 10:50] = (200, 20, 30)
    return [Frame(Fraction(n), n, image) for n in range(count)]


def answers(written: QuestionSet, detector: Boxes) -> dict[str, str]:
    answerer = BuiltinAnswerer(detector, DisFlow(), lambda moments, size: iter(()))
    scene = ShownScene(written, Span(Fraction(0), Fraction(4)), lambda: iter(frames()))
    told = {}
    for one in answerer.answer(scene, written.questions):
        failure = one.answer.failure
        told[one.question.text] = failure.reason.value if failure else str(one.answer.unwrap())
    return told


# Questions as the rules write them.
DOG = "Is there a dog shown in the video?"
WOMAN, ELEPHANT = DOG.replace("dog", "woman"), DOG.replace("a dog", "an elephant")
CUPS_DOG_AND_SPHINX = {
    "Are there any cups shown in the video?": "True",
    DOG: "True",
    "Are there exactly two cups in the video?": "True",
    "Are the cups red?": "True",
    "Is the dog blue?": "False",  # its box is white
    "Are the cups on the left of the dog?": "True",
    # A sphinx is nothing the detector was taught: not finding one says nothing.
    "Is there a sphinx shown in the video?": "not_applicable",
    "Is the sphinx wooden?": "not_applicable",
}
LEFT, RIGHT = (10.0, 20.0, 50.0, 60.0), (100.0, 20.0, 140.0, 60.0)


def test_things_counts_colours_and_sides() -> None:
    written = write_by_rules("Two red cups on the left of a blue dog beside a wooden sphinx.")
    told = answers(written, Boxes({"cups": [LEFT, LEFT], "dog": [RIGHT]}))
    assert told == {**told, **CUPS_DOG_AND_SPHINX}


def test_what_is_not_there_has_neither_count_nor_colour() -> None:
    written = write_by_rules("Two red cups on the right of a dog.")
    told = answers(written, Boxes({"dog": [LEFT]}))
    assert set(told.values()) == {"True", "False"}
    assert [text for text, said in told.items() if said == "True"] == [DOG]


def test_sides_are_told_apart() -> None:
    written = write_by_rules("A cup on the right of a dog.")
    question = "Is the cup on the right of the dog?"
    assert answers(written, Boxes({"cup": [LEFT], "dog": [RIGHT]}))[question] == "False"
    assert answers(written, Boxes({"cup": [RIGHT], "dog": [LEFT]}))[question] == "True"


def test_questions_without_a_graph_cannot_be_looked_up() -> None:
    written = write_by_rules("A red cup.")
    bare = QuestionSet(written.prompt, tuple(_bare(one) for one in written.questions))
    assert set(answers(bare, Boxes({"cup": [LEFT]})).values()) == {"not_applicable"}


def _bare(question: PromptQuestion) -> PromptQuestion:
    return replace(question, element="", needs=())


def score(item: Item, *models: str) -> Outcomes:
    tools = Tools(Settings(models=tuple(map(ModelChoice.parse, models))))
    return measure(item, {"m": resolve("etva_builtin").metric}, tools)["m"]


_CENTRED = ":d=1:x='iw/2-(iw/zoom/2)':y='ih/2-(ih/zoom/2)':s=320x180:fps=24"
# ffmpeg moves a window over a photograph: what the camera does is known from outside.
MOVES = {
    "pan right": "crop=320:180:x='t*60':y=100",
    "pan left": "crop=320:180:x='400-t*60':y=100",
    "tilt down": "crop=320:180:x=100:y='t*40'",
    "tilt up": "crop=320:180:x=100:y='250-t*40'",
    "zoom in": "zoompan=z='1+on*0.01'" + _CENTRED,
    "zoom out": "zoompan=z='2-on*0.01'" + _CENTRED,
}


@pytest.fixture(scope="module")
def moving(sample: Path, ffmpeg: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("moving")
    photograph = sorted((sample / "backgrounds").glob("*.jpg"))[0]
    made = {}
    for name, filter_ in MOVES.items():
        made[name] = folder / f"{name.replace(' ', '_')}.mp4"
        command = [ffmpeg, "-v", "error", "-loop", "1", "-framerate", "24", "-i", str(photograph)]
        command += [
            "-vf",
            filter_,
            "-t",
            "1.5",
            "-preset",
            "ultrafast",
            "-pix_fmt",
            "yuv420p",
            str(made[name]),
        ]
        subprocess.run(command, check=True)
    return made


def test_camera_movements_are_told_from_their_opposites(moving: dict[str, Path]) -> None:
    prompt = "A lake, " + ", ".join(f"camera {name}" for name in MOVES)
    for name, film in moving.items():
        outcomes = score(Item("x", film, prompt), "detection=saliency")
        scenes: Any = outcomes["score"].unwrap().details["scenes"]
        said = [one["answer"] for one in scenes[0]["questions"] if one["category"] == "camera"]
        assert said == ["yes" if asked == name else "no" for asked in MOVES], name


def test_without_a_detector_that_reads_things_are_not_applicable(sample: Path) -> None:
    item = Item("x", sample / "frenchgp_1906_214x160.mp4", "A red car on a road.")
    outcomes = score(item, "detection=saliency")
    failure = outcomes["score"].failure
    assert failure is not None
    assert failure.reason is Reason.NOT_APPLICABLE
    assert outcomes["coverage"].unwrap().value == 0.0


def test_a_real_dog(shared_data: Path) -> None:
    pulled("efficientdet-lite0")
    # Seen by eye: a woman plays with a dog; there is no elephant.
    film = shared_data / "video" / "singleshot" / "sam2_dog.mp4"
    outcomes = score(
        Item("dog", film, "A woman and a dog. An elephant sings."), "detection=efficientdet"
    )
    scenes: Any = outcomes["score"].unwrap().details["scenes"]
    told = {one["question"]: one["answer"] for one in scenes[0]["questions"]}
    assert [told[question] for question in (WOMAN, DOG, ELEPHANT)] == ["yes", "yes", "no"]
    assert told["Is the elephant singing?"] is None
    assert outcomes["coverage"].unwrap().value == pytest.approx(3 / 4)
