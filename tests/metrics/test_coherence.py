"""What moves as one camera and real things do, and what does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import cv2
import numpy as np
import pytest

from screentest.core import Image, NoValue, Shot, Span, build
from screentest.metrics.curve import by_shot
from screentest.metrics.temporal.coherence import (
    COHERENCE,
    FEWEST_STEPS,
    Neighbours,
    mean_inside,
    melting,
)

HEIGHT, WIDTH, FRAMES = 90, 160, 24


def texture(seed: int = 0) -> np.ndarray:
    """Detail of several sizes, larger than a picture."""
    rng = np.random.default_rng(seed)
    layers = [cv2.GaussianBlur(rng.normal(0, 1, (180, 320)), (0, 0), size) for size in (1, 3, 8)]
    return 128 + 40 * sum(layer / layer.std() for layer in layers) / 2


WALL = texture()


def view(x: float, y: float, wave: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None):  # type: ignore[no-untyped-def]
    down, across = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    bent = wave(across, down).astype(np.float32) if wave else np.zeros_like(across)
    places = across + np.float32(x) + bent, down + np.float32(y)
    picture = cv2.remap(WALL.astype(np.float32), *places, cv2.INTER_CUBIC)
    return picture.clip(0, 255).astype(np.uint8)


def pan(speed: float = 1.5, count: int = FRAMES) -> list[Image]:
    """A camera that moves evenly along a wall."""
    return [view(20 + speed * number, 20) for number in range(count)]


def of(frames: Sequence[Image]) -> dict[str, float]:
    meter = Neighbours()
    rows = np.array([row for frame in frames if (row := meter(frame)) is not None])
    pairs = [melting(one, other) for one, other in zip(frames, frames[6:], strict=False)]
    found = {name: output.reduce(rows) for name, output in COHERENCE.items()}
    return {**found, "melting": mean_inside(np.array(pairs)[:, None])}


def jittery(frames: Sequence[Image]) -> list[Image]:
    rng = np.random.default_rng(1)
    return [view(20 + 1.5 * n + x, 20 + y) for n, (x, y) in enumerate(rng.normal(0, 0.6, (24, 2)))]


def wobbling(frames: Sequence[Image]) -> list[Image]:
    return [
        view(20 + 1.5 * n, 20, lambda x, y, n=n: 1.5 * np.sin(y / 8 + n))  # type: ignore[misc]
        for n in range(FRAMES)
    ]


def patched(frames: Sequence[Image]) -> list[Image]:
    """A piece from elsewhere, here and there for four frames."""
    result = [frame.copy() for frame in frames]
    for start, x in ((4, 20), (11, 90), (18, 50)):
        for frame in result[start : start + 4]:
            frame[20:50, x : x + 40] = frame[55:85, 100:140]
    return result


def hurried(frames: Sequence[Image]) -> list[Image]:
    return [frame for number, frame in enumerate(frames) if number not in (5, 12, 18)]


def melted(frames: Sequence[Image]) -> list[Image]:
    """The middle of the picture loses its detail, and gets it back."""
    result = []
    for number, frame in enumerate(frames):
        share = max(0.0, np.sin(number / 3))
        soft = cv2.GaussianBlur(frame, (0, 0), 3)
        part = frame.copy()
        part[20:70, 40:120] = cv2.addWeighted(frame, 1 - share, soft, share, 0)[20:70, 40:120]
        result.append(part)
    return result


def spotted(frames: Sequence[Image]) -> list[Image]:
    """Five grey spots on the lens, which let a third of the light through."""
    result = [frame.copy() for frame in frames]
    for x, y in ((20, 20), (60, 70), (85, 30), (120, 60), (140, 15)):
        for frame in result:
            cv2.circle(part := np.full_like(frame, 0), (x, y), 4, 1, -1)
            frame[part > 0] = frame[part > 0] // 3 + 10
    return result


def noisy(frames: Sequence[Image]) -> list[Image]:
    rng = np.random.default_rng(2)
    return [(f + rng.normal(0, 1.5, f.shape)).clip(0, 255).astype(np.uint8) for f in frames]


EVEN = of(pan())


@pytest.mark.parametrize(
    ("fault", "value"),
    [
        (jittery, "jitter"),
        (wobbling, "warping"),
        (patched, "popping"),
        (hurried, "skipped"),
        (melted, "melting"),
        (spotted, "dirt"),
    ],
)
def test_each_fault_raises_its_value_far_more_than_noise(
    fault: Callable[[Sequence[Image]], list[Image]], value: str
) -> None:
    harmed, grainy = of(fault(pan()))[value], of(noisy(pan()))[value]
    assert harmed - EVEN[value] > 3 * abs(grainy - EVEN[value])
    assert harmed > 1.5 * EVEN[value] + (0.01 if value != "dirt" else 0.001)


def test_a_camera_that_moves_evenly_has_no_fault_at_any_speed() -> None:
    for speed in (0.5, 1.5, 4.0):
        found = of(pan(speed))
        assert max(found["jitter"], found["warping"], found["skipped"]) < 0.08, speed
        assert found["popping"] < 0.25, speed
    still = of(pan(0))
    assert still == dict.fromkeys(still, 0.0) | {"dirt": still["dirt"]}


def test_a_cut_before_the_shot_does_not_count() -> None:
    """Rows of frames at a cut are of both shots: the first ones of a shot are left out."""
    meter = Neighbours()
    other = [255 - frame for frame in pan()]
    rows = [row for frame in [*other, *pan()] if (row := meter(frame)) is not None]
    after = np.array(rows[-FRAMES:])
    assert COHERENCE["popping"].reduce(after) == pytest.approx(EVEN["popping"], abs=0.05)
    assert COHERENCE["jitter"].reduce(after) == pytest.approx(EVEN["jitter"], abs=0.02)


def test_a_small_picture_and_a_short_shot_have_no_value() -> None:
    small = np.zeros((8, 12), np.uint8)
    meter = Neighbours()
    assert [meter(small) for _ in range(4)] == [None] * 4
    assert melting(small, small) is None
    meter = Neighbours()
    assert [meter(frame) is None for frame in pan()[:3]] == [True, True, False]


def test_a_shot_of_too_few_steps_has_none_skipped_nor_left_out() -> None:
    """It has no value, and does not take that of the other shots of its film."""
    rows = np.array([[0, 0, 0, 0, 4.0]] * 24)
    assert COHERENCE["skipped"].reduce(rows[: FEWEST_STEPS + 2]) == 0.0
    with pytest.raises(NoValue):
        COHERENCE["skipped"].reduce(rows[: FEWEST_STEPS + 1])
    shots = [Shot(Span(Fraction(start), Fraction(start + 1))) for start in (0, 1)]
    sum_up = by_shot(COHERENCE, "nothing")
    score = sum_up([(shots[0], rows), (shots[1], rows[:1])], 2)["skipped"].unwrap()
    assert (score.value, len(score.curve)) == (0.0, 1)
    alone = sum_up([(shots[1], rows[:1])], 1)
    assert alone["skipped"].failure is not None
    assert alone["jitter"].ok


def test_letters_at_the_rim_are_no_dirt() -> None:
    """Subtitles and logos stay, too; the outer tenth is left out."""
    frames = [frame.copy() for frame in pan()]
    for frame in frames:
        frame[84:88, 40:120:4] = 255
    assert of(frames)["dirt"] == pytest.approx(EVEN["dirt"], abs=1e-9)


@pytest.mark.parametrize("value", ["coherence.jitter", "coherence.warping", "melting"])
def test_what_stands_still_is_no_better_for_it(value: str) -> None:
    metric, _, output = value.partition(".")
    traits = build("metric", metric).thing.info.traits[output or metric]
    assert {"frozen", "steadiness.held"} <= {effect.value for effect in traits.helped_by}
