"""What stays on all pictures of a shot: a lens, an echo, seams."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np
import pytest

from screentest.core import Image, NoValue, Reason, build
from screentest.metrics.static.faults import LENS, Lens

HEIGHT, WIDTH = 180, 320


def pan() -> list[Image]:
    """Eight pictures of a wall of patches in all colours."""
    rng = np.random.default_rng(3)
    wall = rng.normal(0, 1, (HEIGHT, 2 * WIDTH, 3))
    grey = rng.normal(0, 1, (HEIGHT, 2 * WIDTH, 1))
    layers = [
        cv2.GaussianBlur(part, (0, 0), size).reshape(HEIGHT, 2 * WIDTH, -1)
        for part, size in ((grey, 1.2), (grey, 4.0), (wall, 9.0))
    ]
    whole = 128 + sum(25 * layer / layer.std() for layer in layers)
    picture = np.clip(whole, 0, 255).astype(np.uint8)
    return [picture[:, 24 * n : 24 * n + WIDTH].copy() for n in range(8)]


def of(pictures: Sequence[Image]) -> dict[str, float]:
    meter = Lens()
    rows = np.array([row for picture in pictures if (row := meter(picture)) is not None])
    return {name: output.reduce(rows) for name, output in LENS.items()}


def darker_corners(picture: Image) -> Image:
    down, across = np.mgrid[:HEIGHT, :WIDTH]
    square = ((across - WIDTH / 2) ** 2 + (down - HEIGHT / 2) ** 2) / (WIDTH**2 / 4)
    return (picture * (1 - 0.3 * square[..., None])).astype(np.uint8)


def enlarged(picture: Image, by: float, colour: int) -> Image:
    middle = ((WIDTH - 1) / 2, (HEIGHT - 1) / 2)
    way = cv2.getRotationMatrix2D(middle, 0, by)
    result = picture.copy()
    plane = np.ascontiguousarray(picture[..., colour])
    edge = cv2.BORDER_REFLECT
    result[..., colour] = cv2.warpAffine(plane, way, (WIDTH, HEIGHT), borderMode=edge)
    return result


def red_larger(picture: Image) -> Image:
    return enlarged(enlarged(picture, 1.008, 0), 0.992, 2)


def blue_aside(picture: Image) -> Image:
    result = picture.copy()
    result[..., 2] = np.roll(picture[..., 2], 1, axis=1)
    return result


def twice(picture: Image) -> Image:
    return cv2.addWeighted(picture, 0.7, np.roll(picture, 5, axis=1), 0.3, 0).astype(np.uint8)


def put_elsewhere(picture: Image) -> Image:
    result = picture.copy()
    result[40:80, 60:100] = picture[90:130, 200:240]
    result[100:140, 180:220] = picture[10:50, 20:60]
    return result


def noisy(picture: Image) -> Image:
    rng = np.random.default_rng(int(picture[0, 0, 0]))
    return (picture + rng.normal(0, 2, picture.shape)).clip(0, 255).astype(np.uint8)


def brighter(picture: Image) -> Image:
    return np.minimum(picture.astype(int) + 8, 255).astype(np.uint8)


INTACT = of(pan())


@pytest.mark.parametrize(
    ("fault", "value"),
    [
        (darker_corners, "vignette"),
        (red_larger, "fringes"),
        (blue_aside, "fringes"),
        (twice, "doubled"),
        (put_elsewhere, "seams"),
    ],
)
def test_each_fault_raises_its_value_far_more_than_placebos(
    fault: Callable[[Image], Image], value: str
) -> None:
    def change(by: Callable[[Image], Image]) -> float:
        return of([by(picture) for picture in pan()])[value] - INTACT[value]

    assert change(fault) > 3 * max(abs(change(noisy)), abs(change(brighter)))
    assert change(fault) > 0.25 * abs(INTACT[value])


def test_fringes_are_measured_in_640ths_of_the_longer_side() -> None:
    """One pixel of 320 is two steps."""
    assert of([blue_aside(picture) for picture in pan()])["fringes"] == pytest.approx(2, rel=0.3)


def test_a_plain_or_small_picture_has_no_value() -> None:
    meter = Lens()
    assert meter(np.full((HEIGHT, WIDTH, 3), 90, np.uint8)) is None
    assert meter(pan()[0][:40, :40]) is None


def test_corners_that_show_no_light_have_no_vignette() -> None:
    """They would count as even light, and be better than any."""
    dark = [picture.copy() for picture in pan()]
    for picture in dark:
        picture[:, :60] = picture[:, -60:] = 0
        picture[:50] = picture[-50:] = 0
    meter = Lens()
    rows = np.array([row for picture in dark if (row := meter(picture)) is not None])
    assert len(rows) == len(dark)
    with pytest.raises(NoValue) as told:
        LENS["vignette"].reduce(rows)
    assert told.value.failure.reason is Reason.NOT_APPLICABLE
    assert np.isfinite([LENS[name].reduce(rows) for name in ("fringes", "doubled", "seams")]).all()


def test_an_echo_that_ends_fades() -> None:
    """Means of old pictures are forgotten, so that a shot is not blamed for those before it."""
    before = [twice(picture) for picture in pan()]
    meter = Lens()
    rows = [row for picture in [*before, *pan(), *pan()] if (row := meter(picture)) is not None]
    doubled = LENS["doubled"].reduce
    assert doubled(np.array(rows[8:])) < (doubled(np.array(rows[:8])) + INTACT["doubled"]) / 2


def test_bent_edges_are_no_better_for_having_no_seams() -> None:
    """A model that wobbles was ahead of the intact one in seams, in 4 of 10 comparisons."""
    effects = {effect.value for effect in LENS["seams"].traits.helped_by}
    assert {"melting", "coherence.jitter"} <= effects


def test_seams_explain_sharpness_and_are_not_explained_by_it() -> None:
    """Pieces put elsewhere made a model the sharper one in 2 of 8 comparisons. Were seams explained
    by sharpness as well, neither would be the cause of the other's lead."""
    sharper = build("metric", "sharpness").thing.info.traits["sharpness"].helped_by
    assert "lens.seams" in {effect.value for effect in sharper}
    assert "sharpness" not in {effect.value for effect in LENS["seams"].traits.helped_by}


def test_letters_at_the_rim_are_no_seams() -> None:
    """The outer tenth of a picture is left out, where subtitles and logos are."""
    lettered = [picture.copy() for picture in pan()]
    for picture in lettered:
        picture[166:176, 60:260:10] = 255
    found = of(lettered)
    assert (found["seams"], found["doubled"]) == (INTACT["seams"], INTACT["doubled"])


def test_a_vignette_and_a_ghost_explain_less_flicker_and_dirt() -> None:
    """In planted runs of 12 clips they made damaged models the better ones."""
    flicker = build("metric", "flicker").thing.info.traits["flicker"].helped_by
    dirt = build("metric", "coherence").thing.info.traits["dirt"].helped_by
    assert {"lens.vignette", "lens.doubled"} <= {effect.value for effect in flicker}
    assert "lens.doubled" in {effect.value for effect in dirt}
