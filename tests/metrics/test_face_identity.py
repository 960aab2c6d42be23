"""Identity across shots: the main faces of all pairs of shots, and reasons where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import Item, NoValue, Reason, Score, Shot, Span, build
from screentest.metrics.temporal.shots import face_identity
from screentest.sample import sample_folder
from tests.models.pulled import pulled

ITEM = Item("film", Path("film.mp4"))


@dataclass
class Film:
    """Shots of one second each; ``faces`` has the rows of faces in the pictures of each."""

    faces: list[list[list[float]]]

    def shots(self, video: Path) -> list[Shot]:
        spans = [Span(Fraction(n), Fraction(n + 1)) for n in range(len(self.faces))]
        return [Shot(span) for span in spans]

    def frames(self, video: Path, moments: list[Fraction], request: Any) -> list[Any]:
        @dataclass
        class Frame:
            image: int

        return [Frame(int(moment)) for moment in moments]

    def role(self, name: str) -> Film:
        assert name == "faces"
        return self

    def identities(self, images: list[int]) -> list[np.ndarray]:
        return [np.array(self.faces[image], np.float32).reshape(-1, 2) for image in images]


def measured(*faces: list[list[float]]) -> Score:
    score: Score = face_identity(ITEM, Film(list(faces)))
    return score


def test_the_mean_of_all_pairs() -> None:
    """By hand: cosines 1, 0 and 0 of three pairs; the second face of a picture does not count."""
    one, other = [1.0, 0.0], [0.0, 1.0]
    score = measured([one, other], [], [one], [other])
    assert score.value == pytest.approx(1 / 3)
    assert [point.value for point in score.curve] == pytest.approx([0.5, 0.5, 0.0])
    assert [point.span.start for point in score.curve] == [0, 2, 3]
    assert dict(score.details) == {"shots": 4, "measured": 3}


@pytest.mark.parametrize("faces", [[[], []], [[[1.0, 0.0]], []]])
def test_too_few_faces_are_a_reason(faces: list[Any]) -> None:
    with pytest.raises(NoValue, match=f"{sum(map(bool, faces))} of 2 shots") as caught:
        measured(*faces)
    assert caught.value.reason is Reason.NOT_APPLICABLE


@pytest.mark.slow
def test_no_face_is_found_where_there_is_none() -> None:
    from tests.models.real_frames import frame

    pulled("faces")
    backend = build("faces", "sface").thing
    film = sample_folder() / "real_5shots_640x360.mp4"
    assert [len(rows) for rows in backend.identities([frame(film, 36, 320)])] == [0]
    assert backend.identities([]) == []
