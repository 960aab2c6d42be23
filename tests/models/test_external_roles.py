"""Every role filled by a worker: what is asked arrives, what is answered is checked."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import NoValue, Reason
from screentest.models import Detection, ModelChoice, Models
from screentest.models.external.protocol import plane, unit_rows
from screentest.models.roles import role_names

SCRIPT = Path(__file__).with_name("every_role_worker.py")
ROLES = [role for role in role_names() if role != "chat"]
FRAMES = list(np.random.default_rng(0).integers(0, 256, (3, 20, 30, 3), np.uint8))
MASK = np.zeros((20, 30), np.float32)
MASK[5:10, 5:10] = 1


def filled(*arguments: str) -> Models:
    command = shlex.join([sys.executable, str(SCRIPT), *arguments])
    return Models([ModelChoice(role, "external", command) for role in ROLES])


@pytest.fixture(scope="module")
def models() -> Iterator[Models]:
    made = filled()
    yield made
    made.role("flow").close()


@pytest.fixture(scope="module")
def wrong() -> Iterator[Models]:
    made = filled("wrong")
    yield made
    made.role("flow").close()


def test_embeddings_are_rows_of_length_one(models: Models):
    words = models.role("image_text")
    for rows in (
        models.role("text_embedding").embed(["a", "b"]),
        words.embed_images(FRAMES[:2]),
        words.embed_texts(["a", "b"]),
        words.embed_texts(["a", "b"], truncate=False),
        models.role("image_features").features(FRAMES[:2]),
    ):
        # The worker gives 1 2 3 4 and 5 6 7 8.
        expected = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
        assert rows == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))
        assert rows.dtype == np.float32
    assert words.max_tokens == 77
    assert words.count_tokens("three short words") == 3


def test_nothing_asked_is_nothing_answered(models: Models):
    assert len(models.role("text_embedding").embed([])) == 0
    assert len(models.role("image_text").embed_images([])) == 0
    assert len(models.role("image_text").embed_texts([])) == 0
    assert len(models.role("image_features").features([])) == 0
    assert models.role("flow").flow([]) == []
    assert models.role("interpolation").midpoint([]) == []
    assert models.role("matting").matte([]) == []
    assert models.role("segmentation").segment(FRAMES[0], []) == []


def test_pictures_go_there_and_back_unchanged(models: Models):
    pairs = [(FRAMES[0], FRAMES[1]), (FRAMES[1], FRAMES[2])]
    first, second = models.role("interpolation").midpoint(pairs)
    assert np.array_equal(first, FRAMES[0])
    assert np.array_equal(second, FRAMES[1])
    (field,) = models.role("flow").flow(pairs[:1])
    assert field.shape == (20, 30, 2)
    assert field.dtype == np.float32


def test_a_view_of_a_picture_goes_too(models: Models):
    """Cropped and flipped pictures do not lie in one piece in memory."""
    view = FRAMES[0][::-1, ::2]
    (back,) = models.role("interpolation").midpoint([(view, view)])
    assert np.array_equal(back, view)


def test_numbers(models: Models):
    assert models.role("technical").score(FRAMES) == 0.25
    scores = models.role("aesthetic").score(FRAMES)
    assert scores == pytest.approx([frame.mean() for frame in FRAMES])
    assert models.role("aesthetic").scale == (0, 255)
    dimensions = models.role("videoscore").score(FRAMES, "a prompt")
    assert dimensions["visual_quality"] == 4
    assert dimensions["temporal_consistency"] == 8
    assert models.role("videoscore").max_frames == 16
    assert models.role("labels").names == ["cat", "dog"]
    assert models.role("labels").probabilities(FRAMES[0]).tolist() == [0.75, 0.25]
    assert [len(faces) for faces in models.role("faces").identities(FRAMES)] == [0, 1, 2]


def test_masks_and_boxes(models: Models):
    (matte,) = models.role("matting").matte(FRAMES[:1])
    assert matte.shape == (20, 30)
    assert (matte == 0.5).all()
    one, two = models.role("segmentation").segment(FRAMES[0], [(0, 0, 5, 5), (1, 1, 3, 3)])
    assert one.max() == 0
    assert two.max() == pytest.approx(0.1)
    best, second = models.role("detection").detect(FRAMES[0], ["cat", "dog"])
    assert best == Detection("dog", 0.1, (1, 0, 6, 7))
    assert second.label == "cat"


def test_only_the_hole_is_taken_from_the_worker(models: Models):
    filled_in = models.role("inpainting").inpaint(FRAMES[0], MASK, "grass")
    assert np.array_equal(filled_in[MASK == 0], FRAMES[0][MASK == 0])
    assert np.array_equal(filled_in[MASK == 1], 255 - FRAMES[0][MASK == 1])


def test_a_mask_may_be_missing(models: Models):
    edit = models.role("image_edit")
    assert np.array_equal(edit.recolour(FRAMES[0], None, "cat", "red"), FRAMES[0])
    assert np.array_equal(edit.recolour(FRAMES[0], MASK, "cat", "red"), 255 - FRAMES[0])


ASKED: dict[str, Callable[[Models], Any]] = {
    "embed": lambda m: m.role("text_embedding").embed(["a"]),
    "embed_images": lambda m: m.role("image_text").embed_images(FRAMES),
    "embed_texts": lambda m: m.role("image_text").embed_texts(["a"]),
    "count_tokens": lambda m: m.role("image_text").count_tokens("a"),
    "max_tokens": lambda m: m.role("image_text").max_tokens,
    "features": lambda m: m.role("image_features").features(FRAMES),
    "flow": lambda m: m.role("flow").flow([(FRAMES[0], FRAMES[1])]),
    "midpoint": lambda m: m.role("interpolation").midpoint([(FRAMES[0], FRAMES[1])]),
    "aesthetic": lambda m: m.role("aesthetic").score(FRAMES),
    "scale": lambda m: m.role("aesthetic").scale,
    "technical": lambda m: m.role("technical").score(FRAMES),
    "videoscore": lambda m: m.role("videoscore").score(FRAMES, "x"),
    "max_frames": lambda m: m.role("videoscore").max_frames,
    "matte": lambda m: m.role("matting").matte(FRAMES),
    "detect": lambda m: m.role("detection").detect(FRAMES[0], ["cat"]),
    "labels": lambda m: m.role("labels").probabilities(FRAMES[0]),
    "faces": lambda m: m.role("faces").identities(FRAMES),
    "segment": lambda m: m.role("segmentation").segment(FRAMES[0], [(0, 0, 1, 1)]),
    "inpaint": lambda m: m.role("inpainting").inpaint(FRAMES[0], MASK),
    "recolour": lambda m: m.role("image_edit").recolour(FRAMES[0], MASK, "cat", "red"),
}


@pytest.mark.parametrize("question", ASKED)
def test_a_wrong_answer_is_no_value(wrong: Models, question: str):
    with pytest.raises(NoValue) as caught:
        ASKED[question](wrong)
    assert caught.value.reason is Reason.UNPARSABLE
    assert caught.value.advice


def test_a_wrong_answer_does_not_end_the_worker(wrong: Models):
    """It kept the protocol; only its result was unfit."""
    worker = wrong.role("technical")._worker
    for question in ("technical", "matte", "technical"):
        with pytest.raises(NoValue):
            ASKED[question](wrong)
    assert worker._deaths == 0


def test_what_is_no_picture_is_not_even_sent(models: Models):
    flat = np.zeros((9, 9), np.uint8)
    with pytest.raises(ValueError, match="not an RGB picture"):
        models.role("matting").matte([flat])
    with pytest.raises(ValueError, match="two sizes"):
        models.role("flow").flow([(FRAMES[0], FRAMES[1][:-1])])
    with pytest.raises(ValueError, match="no frames"):
        models.role("technical").score([])


@pytest.mark.parametrize("number", [1e300, np.longdouble("1e4000"), 3e39])
def test_numbers_beyond_32_bits_are_no_value(number: Any):
    """As 32 bits they are infinite, and a row of them would point nowhere."""
    with pytest.raises(NoValue, match="finite in 32 bits"):
        unit_rows(np.full((2, 4), number), 2)
    with pytest.raises(NoValue, match="finite in 32 bits"):
        plane(np.full((2, 4), number), (2, 4))


@pytest.mark.parametrize("size", [1e30, 1e-30, 1e-44])
def test_long_and_short_rows_have_a_direction(size: float):
    """Their squares are not numbers of 32 bits."""
    rows = unit_rows(np.array([[size, 0], [size, -size]], np.float32), 2)
    assert rows == pytest.approx(np.array([[1, 0], [0.5**0.5, -(0.5**0.5)]]))
