"""Pictures against texts: matching in order, colours, CLIPScore's and VideoScore's frames."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from screentest.core import Clip, Item, Reason, Script, build
from screentest.measure.items import measure
from screentest.metrics.alignment.captions import in_any_order, in_order, standing_out
from screentest.metrics.alignment.clipscore import evenly_cut
from screentest.metrics.alignment.videoscore import frame_numbers
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from tests.metrics.films import measured

COLOURS = {"red": "0xd8141e", "green": "0x1a9641", "blue": "0x1e5ad2", "yellow": "0xffe11e"}
STAND_IN = Settings(models=(ModelChoice.parse("image_text=colour_words"),))
"""Sees colours and needs no weights: enough where films are of one colour."""


@pytest.fixture(scope="module")
def shots(ffmpeg: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A maker of films: a second of each colour."""
    folder = tmp_path_factory.mktemp("colours")

    def film(*names: str) -> Path:
        out = folder / f"{'_'.join(names)}.mp4"
        if not out.exists():
            sources: list[str] = []
            for name in names:
                # A little texture, so that no picture is quite plain.
                picture = f"color={COLOURS[name]}:s=128x96:d=1:r=12,noise=c0s=6"
                sources += ["-f", "lavfi", "-i", picture]
            joined = ["-filter_complex", f"concat=n={len(names)}", "-pix_fmt", "yuv420p"]
            subprocess.run([ffmpeg, "-v", "error", *sources, *joined, str(out)], check=True)
        return out

    return film


CAPTIONS = ("All is red.", "Everything green.", "Only blue.", "Yellow at last.")


def values(metric: str, video: Path, captions: Sequence[str] = CAPTIONS) -> dict[str, float]:
    item = Item("film", video, script=Script(tuple(Clip(one) for one in captions)))
    found = measure(item, {metric: build("metric", metric).thing}, Tools(STAND_IN))[metric]
    return {name: outcome.unwrap().value for name, outcome in found.items()}


@given(arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 5)), elements=st.floats(-3, 3)))
def test_the_best_order_is_the_best_of_all(table: np.ndarray) -> None:
    """Against every way to choose as many rows as columns, tried one by one."""
    rows, columns = table.shape
    best = -np.inf
    for count in range(min(rows, columns) + 1):
        left_out = rows + columns - 2 * count
        for chosen in combinations(range(rows), count):
            for against in combinations(range(columns), count):
                total = sum(table[pair] + 3.0 for pair in zip(chosen, against, strict=True))
                best = max(best, total - 2.0 * left_out)
    found = in_order(table, match=3.0, skip=2.0)
    left_out = rows + columns - 2 * len(found.pairs)
    # What differs by less than rounding of sums is a tie, and either way may be taken.
    whole = found.total + 3.0 * len(found.pairs) - 2.0 * left_out
    assert whole == pytest.approx(best, abs=1e-3)


@given(arrays(float, st.tuples(st.integers(2, 6), st.integers(2, 6)), elements=st.floats(-1, 1)))
def test_what_a_row_or_column_has_in_common_does_not_count(table: np.ndarray) -> None:
    shifted = table + np.arange(len(table))[:, None] * 0.5 + np.arange(table.shape[1]) * 0.25
    assert standing_out(shifted) == pytest.approx(standing_out(table), abs=1e-3) or (
        standing_out(table).std() < 1e-3  # nothing stands out, and rounding decides
    )


def test_order_costs_nothing_where_it_is_kept() -> None:
    table = np.eye(5)
    assert in_order(table).total == in_any_order(table).total == 5
    assert in_order(table[[1, 0, 2, 3, 4]]).total < 5


def test_a_film_in_order_is_the_best(shots: Any) -> None:
    intact = values("caption_agreement", shots("red", "green", "blue", "yellow"))
    shuffled = values("caption_agreement", shots("green", "red", "blue", "yellow"))
    shorter = values("caption_agreement", shots("red", "green", "yellow"))
    assert intact["caption_order"] == pytest.approx(1)
    assert shuffled["caption_order"] < intact["caption_order"]
    assert shuffled["caption_agreement"] < intact["caption_agreement"]
    assert (intact["caption_coverage"], shorter["caption_coverage"]) == (1, 0.75)


def test_a_colour_that_is_named_is_looked_for(shots: Any) -> None:
    right = values("named_colours", shots("red", "green", "blue", "yellow"))
    wrong = values("named_colours", shots("red", "yellow", "blue", "yellow"))
    assert right["named_colours"] > 0.95
    assert wrong["named_colours"] < 0.05


def test_what_few_captions_say_has_no_order(shots: Any) -> None:
    """Of 30 captions of which 3 name a colour, *order of the captions* said who is better."""
    captions = ["All is red.", "A dog.", "A cat.", "A house."]
    found = measured("caption_agreement", shots("red", "green", "blue", "yellow"), captions)
    for name in ("caption_agreement", "caption_similarity", "caption_order"):
        failure = found[name].failure
        assert failure is not None
        assert failure.reason is Reason.LOW_COVERAGE


def test_captions_without_colours_are_not_applicable(shots: Any) -> None:
    outcome = measured("named_colours", shots("red", "green"), ["A dog.", "A cat."])
    failure = outcome["named_colours"].failure
    assert failure is not None
    assert failure.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("metric", "lost"),
    [
        ("clipscore", {"clipscore"}),
        ("clip_aligned", {"clip_aligned", "standing_out"}),
        ("caption_agreement", {"caption_agreement", "caption_similarity", "caption_order"}),
    ],
)
def test_a_text_that_the_model_cannot_look_for_has_no_score(
    shots: Any, metric: str, lost: set[str]
) -> None:
    """The stand-in knows colours only: at right angles to every picture is not a 0."""
    script = Script(tuple(Clip(one) for one in ("She thinks.", "He sings.")))
    item = Item("film", shots("red", "green"), script=script)
    found = measure(item, {metric: build("metric", metric).thing}, Tools(STAND_IN))[metric]
    reasons = {name: one.failure.reason for name, one in found.items() if one.failure is not None}
    assert reasons == dict.fromkeys(lost, Reason.NOT_APPLICABLE)


def test_nothing_stands_out_where_all_is_equal() -> None:
    assert not standing_out(np.full((3, 4), 0.1) + np.arange(3)[:, None] / 7).any()


def test_clip_aligned_falls_with_what_is_missing_or_out_of_place(shots: Any) -> None:
    intact = values("clip_aligned", shots("red", "green", "blue", "yellow"))["clip_aligned"]
    for names in (("green", "red", "blue", "yellow"), ("red", "green", "yellow")):
        assert values("clip_aligned", shots(*names))["clip_aligned"] < intact


def test_clipscore_is_the_mean_over_shots(shots: Any) -> None:
    """The cosines of each film of one shot, averaged by hand."""
    alone = [values("clipscore", shots(name, name), ["red"])["clipscore"] for name in COLOURS]
    film = values("clipscore", shots(*COLOURS), ["red"])["clipscore"]
    assert film == pytest.approx(np.mean(alone), abs=0.02)
    assert alone[0] == max(alone)


class Words:
    """A text model that counts words and reads eight of them."""

    max_tokens = 8

    def __init__(self) -> None:
        self.read: list[tuple[str, bool]] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> np.ndarray:
        self.read += [(text, truncate) for text in texts]
        return np.ones((len(texts), 1), np.float32)

    def embed_images(self, images: Sequence[object]) -> np.ndarray:
        return np.ones((len(images), 1), np.float32)


class Filled(Tools):
    """Tools with one role filled by the test."""

    def __init__(self, filler: object) -> None:
        super().__init__(Settings())
        self._filler = filler

    def role(self, name: str) -> Any:
        return self._filler


@pytest.mark.parametrize(
    ("policy", "text", "truncate"),
    [
        ("truncate", "a b c d e f. g h. i j k l.", True),
        ("ignore", "a b c d e f. g h. i j k l.", False),
        # Three words of the long captions and both of the short one are the most that fit.
        ("each", "a b c g h. i j k", True),
    ],
)
def test_what_is_done_with_a_long_prompt(
    policy: str, text: str, truncate: bool, shots: Any
) -> None:
    model = Words()
    script = Script(tuple(Clip(one) for one in ("a b c d e f.", "g h.", "i j k l.")))
    metric = f"clipscore:policy={policy}"
    item = Item("film", shots("red", "blue"), script=script)
    found = measure(item, {metric: build("metric", metric).thing}, Filled(model))
    assert found[metric]["clipscore"].unwrap().value == 1
    assert model.read == [(text, truncate)]


def test_a_word_of_each_caption_is_always_left() -> None:
    assert evenly_cut([f"word{n} more" for n in range(20)], Words()).count("word") == 20


@given(st.integers(1, 5000), st.sampled_from([16, 48]))
def test_videoscores_frames_are_its_authors(count: int, most: int) -> None:
    """numpy.arange(0, T, T / n) cut to whole numbers, or all frames, as its own script has it."""
    expected = np.arange(0, count, count / most).astype(int) if count > most else np.arange(count)
    assert list(frame_numbers(count, most)) == expected[:most].tolist()


class Watching:
    """Stands in for VideoScore, and keeps how bright its frames were."""

    max_frames = 16

    def __init__(self) -> None:
        self.levels: list[float] = []

    def cut(self, prompt: str, frames: int) -> tuple[str, int, int]:
        return prompt, 900, 700

    def score(self, frames: Sequence[np.ndarray], prompt: str) -> dict[str, float]:
        self.levels = [float(frame.mean()) for frame in frames]
        return {
            name: 2.0 + number / 10
            for number, name in enumerate(build("metric", "videoscore").thing.info.outputs)
        }


def test_videoscore_is_shown_those_frames(ffmpeg: str, tmp_path: Path) -> None:
    """Frame n of the film has level 5·n, so that a frame tells its number."""
    film = tmp_path / "ramp.mp4"
    ramp = np.repeat(np.arange(40, dtype=np.uint8) * 5, 64 * 48).tobytes()
    raw = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", "64x48", "-r", "8", "-i", "-"]
    coding = ["-c:v", "ffv1", "-pix_fmt", "gray", str(film.with_suffix(".mkv"))]
    subprocess.run([ffmpeg, "-v", "error", *raw, *coding], input=ramp, check=True)
    model = Watching()
    item = Item("film", film.with_suffix(".mkv"), prompt="brighter")
    found = measure(item, {"videoscore": build("metric", "videoscore").thing}, Filled(model))
    shown = [round(level / 5) for level in model.levels]
    assert shown == np.arange(0, 40, 40 / 16).astype(int).tolist()
    score = found["videoscore"]["dynamic_degree"].unwrap()
    assert score.value == pytest.approx(2.2)
    assert score.details == {"frames": 16, "tokens": 900, "read": 700}
