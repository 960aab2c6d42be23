"""Warping error: against a plain reference with scipy, and on motion that is known."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from screentest.core import Filter, FrameRequest, Reason, Size, registry
from screentest.models.backends.flow import DisFlow
from screentest.suites.locot2v.metrics.continuity import (
    ONE_LEVEL,
    TOO_DARK,
    negative_log,
    pair_error,
)
from screentest.testing.films import gliding, texture, write_film
from tests.models.tiny_backend import MARKS
from tests.suites.locot2v.films import HEIGHT, WIDTH, Picture, all_frames, failure, score
from tests.suites.locot2v.test_dynamic_degree import random_raft

NAME = "locot2v_warping_error"
Field = NDArray[np.float32]


def reference(
    before: Picture, after: Picture, there: Field, back: Field, *, edges: bool = True
) -> float | None:
    """EvalCrafter's definition, pixel by pixel, with scipy for the sampling.

    Its code compares pixels that look outside the picture, too (``edges=False``): what lies
    there is black, and does not move.
    """
    height, width = after.shape[:2]
    total, count = 0.0, 0
    for y in range(height):
        for x in range(width):
            dx, dy = (float(part) for part in back[y, x])
            inside = 0 <= x + dx <= width - 1 and 0 <= y + dy <= height - 1
            if edges and not inside:
                continue
            place = [[y + dy], [x + dx]]
            out = np.array(
                [
                    map_coordinates(there[..., c], place, order=1, mode="grid-constant")[0]
                    for c in (0, 1)
                ],
                float,
            )
            square = dx * dx + dy * dy
            if ((out + np.array((dx, dy))) ** 2).sum() > 0.01 * (out @ out + square) + 0.5:
                continue
            right = back[y, x + 1] - back[y, x] if x + 1 < width else np.zeros(2)
            down = back[y + 1, x] - back[y, x] if y + 1 < height else np.zeros(2)
            if right @ right + down @ down > 0.01 * square + 0.002:
                continue
            seen = [
                map_coordinates(before[..., c].astype(float), place, order=1, mode="grid-constant")[
                    0
                ]
                for c in range(3)
            ]
            total += float((((np.array(seen) - after[y, x]) / 255) ** 2).sum())
            count += 1
    return total / count if count else None


def waves(height: int, width: int, size: float) -> Field:
    """A flow that bends: some of it is beyond the tolerances, some within."""
    y, x = np.mgrid[:height, :width].astype(np.float32)
    return np.stack([size * np.sin(y / 9), size * np.cos(x / 7)], axis=-1).astype(np.float32)


@pytest.mark.parametrize("edges", [True, False])
@pytest.mark.parametrize("size", [0.05, 0.3, 2.5])
def test_one_pair_equals_the_plain_reference(size: float, edges: bool) -> None:
    before, after = texture(1, 24, 32), texture(2, 24, 32)
    there, back = waves(24, 32, size), -waves(24, 32, size) + np.float32(size / 10)
    ours = pair_error(before, after, there, back, edges=edges)
    plain = reference(before, after, there, back, edges=edges)
    # OpenCV's sampling rounds places to 1/32 of a pixel.
    assert (ours is None) == (plain is None)
    if plain is not None:
        assert ours == pytest.approx(plain, rel=0.01)


def test_a_known_shift_leaves_nothing() -> None:
    first, second = gliding(2, 3)
    back = np.zeros((HEIGHT, WIDTH, 2), np.float32)
    back[..., 0] = 3  # what the second shows at x, the first shows at x + 3
    assert pair_error(first, second, -back, back) == 0.0


def test_a_known_error_is_found() -> None:
    """Ten levels more in every channel: 3 · (10/255)² on every pixel."""
    first = np.full((16, 16, 3), 100, np.uint8)
    still = np.zeros((16, 16, 2), np.float32)
    expected = 3 * (10 / 255) ** 2
    assert pair_error(first, first + 10, still, still) == pytest.approx(expected, rel=1e-6)


def test_flows_that_disagree_everywhere_leave_nothing_to_compare() -> None:
    far = np.full((16, 16, 2), 3, np.float32)
    picture = texture(1, 16, 16)
    assert pair_error(picture, picture, far, far) is None


def test_negative_log_falls_from_one_grey_level_to_everything() -> None:
    values = [negative_log(error) for error in (0, ONE_LEVEL, 1e-3, 1e-2, 0.1, 1, 3)]
    assert values == sorted(values, reverse=True)
    assert values[0] == values[1] == 1.0
    assert values[-2] == values[-1] == 0.0
    assert negative_log(0.01) == pytest.approx(math.log(0.01) / math.log(3 / 255**2))


def test_on_a_film(tmp_path: Path) -> None:
    """Motion costs little, noise that no motion explains costs much."""
    glide = gliding(9, 2)
    rng = np.random.default_rng(5)
    noisy = [
        np.clip(picture + rng.normal(0, 25, picture.shape), 0, 255).astype(np.uint8)
        for picture in glide
    ]
    still = score(NAME, write_film(tmp_path / "still.mkv", [glide[0]] * 5))
    smooth = score(NAME, write_film(tmp_path / "smooth.mkv", glide))
    rough = score(NAME, write_film(tmp_path / "rough.mkv", noisy))
    assert still.value == 1.0
    assert smooth.value > 0.99  # DIS undoes a glide almost entirely
    assert rough.value < smooth.value - 0.1
    assert smooth.details["pairs"] == 8
    assert rough.value == negative_log(float(str(rough.details["error"])))


def test_the_second_editions_scale(tmp_path: Path) -> None:
    found = score(f"{NAME}:scale=exponential", write_film(tmp_path / "film.mkv", gliding(5, 2)))
    assert found.value == math.exp(-5 * float(str(found.details["error"])))


def test_the_upstream_slip_is_only_had_on_request(tmp_path: Path) -> None:
    """Pictures 255 times too dark have hardly any detail left for the flow to follow."""
    video = write_film(tmp_path / "film.mkv", gliding(5, 4))
    right = score(NAME, video).details["error"]
    slipped = score(f"{NAME}:compat=upstream", video).details["error"]
    assert float(str(slipped)) > 2 * float(str(right))


def test_one_frame_has_no_answer(tmp_path: Path) -> None:
    lost = failure(NAME, write_film(tmp_path / "one.mkv", [texture(1)])).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE
    assert "one frame" in lost.detail


def test_upstream_a_pair_with_nothing_to_compare_is_perfect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the code has it; by the paper's text such a film has no answer."""
    far = np.full((HEIGHT // 2, WIDTH // 2, 2), 3, np.float32)
    monkeypatch.setattr(DisFlow, "flow", lambda self, pairs, gain=1.0: [far for _ in pairs])
    video = write_film(tmp_path / "film.mkv", gliding(3, 1))
    assert failure(NAME, video).failure is not None
    found = score(f"{NAME}:compat=upstream,scale=exponential", video)
    assert (found.value, found.details["without_overlap"]) == (1.0, 2)


@pytest.mark.parametrize("spec", [pytest.param("raft", marks=MARKS)])
def test_upstream_raft_sees_pictures_255_times_too_dark(spec: str, tmp_path: Path) -> None:
    """RAFT's own scale is 0–255 to −1–1; it is handed 0–1, and so sees −1 to −0.992."""
    model = random_raft(tmp_path)
    made = registry.build("flow", spec, model=model, size="small", updates=2, device="cpu").thing
    torch = pytest.importorskip("torch")
    one, two = gliding(2, 2)

    def dark(picture: Picture) -> Any:
        plane = torch.from_numpy(picture / np.float32(255)).permute(2, 0, 1)[None]
        seen = 2 * (plane / 255) - 1
        assert -1 <= float(seen.min()) <= float(seen.max()) <= -0.992
        below = (128 - HEIGHT) if HEIGHT < 128 else 0
        return torch.nn.functional.pad(seen, (0, 0, 0, below), mode="replicate")

    with torch.inference_mode():
        field = made._network(dark(one), dark(two), num_flow_updates=2)[-1]
    expected = field[0, :, :HEIGHT].permute(1, 2, 0).numpy()
    (found,) = made.flow([(one, two)], gain=TOO_DARK)
    (usual,) = made.flow([(one, two)])
    assert np.abs(found - expected).max() < 1e-4
    assert np.abs(found - usual).max() > 1e-3


@pytest.mark.parametrize("spec", [pytest.param("raft", marks=MARKS)])
def test_raft_with_random_weights_equals_a_plain_reference(spec: str, tmp_path: Path) -> None:
    model = random_raft(tmp_path)
    video = write_film(tmp_path / "film.mkv", gliding(3, 2))
    network = registry.build("flow", spec, model=model, size="small", updates=2, device="cpu").thing
    wants = FrameRequest(size=Size(exact=(WIDTH // 2, HEIGHT // 2)), filter=Filter.BILINEAR)
    frames = all_frames(video, wants)
    errors = []
    for one, two in itertools.pairwise(frames):
        there, back = network.flow([(one, two), (two, one)])
        errors.append(reference(one, two, there, back))
    known = [error for error in errors if error is not None]
    choice = f"flow=raft:{model},size=small,updates=2,device=cpu"
    if not known:
        assert failure(NAME, video, choice).failure is not None
        return
    found = score(NAME, video, choice)
    assert found.details["without_overlap"] == len(errors) - len(known)
    assert found.details["error"] == pytest.approx(np.mean(known), rel=0.02)
