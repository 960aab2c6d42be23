"""Each operator's effect, measured by something that had no part in it.

Files are decoded by Debian's ffmpeg and compared with the intact film or with what ffmpeg's own
filters make of it. The film is encoded at crf 10, so that encoding alone changes little.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import BUILTIN_ASPECTS, BadOption, Frame, build
from screentest.models.pictures import name_colour
from screentest.testbeds.contract import Chosen, FilmClip, Rng
from screentest.testbeds.operators.backgrounds import Jumps
from screentest.testbeds.operators.pictures import STYLES, contrast_table
from screentest.testbeds.operators.scenes import another_order, held
from screentest.testbeds.operators.shared import painted_over
from screentest.video.edit.pictures import Reencode
from tests.testbeds.stage import (
    BOX,
    Image,
    NoDetector,
    PlainBackends,
    Stage,
    box_mask,
    packets_of,
)
from tests.video.outside import Outside

ASPECTS = [aspect.value for aspect in BUILTIN_ASPECTS]
IN_PLACE = [name for name in ASPECTS if name not in ("comprehensiveness", "temporal_flow")]


def frames_of(stage: Stage, clip: FilmClip) -> slice:
    first = sum(one.frames for one in stage.film.clips[: clip.number])
    return slice(first, first + clip.frames)


def luma(outside: Outside, path: Path) -> NDArray[np.uint8]:
    """The Y planes as they are coded; ffmpeg's grey would be stretched to the full range."""
    planes = outside.pictures(path, pixels="yuv420p")
    return planes[:, : planes.shape[1] * 2 // 3]


@pytest.fixture(scope="module")
def intact(stage: Stage, outside: Outside) -> NDArray[np.uint8]:
    return luma(outside, stage.film.video.path)


@pytest.mark.parametrize("name", IN_PLACE)
def test_outside_the_chosen_clips_every_packet_is_that_of_the_intact_film(
    name: str, stage: Stage
) -> None:
    made, parts = stage.harm(name)
    before, after = packets_of(stage.film.video.path), packets_of(made.path)
    assert len(before) == len(after)
    scale = stage.film.video.format.timescale
    changed = [part.span for part in parts if isinstance(part, Reencode)]
    assert len(changed) == 2
    ranges = [(int(span.start * scale), int(span.end * scale)) for span in changed]
    touched = 0
    for (shown, old), (shown_after, new) in zip(before, after, strict=True):
        assert shown == shown_after
        if any(start <= shown < end for start, end in ranges):
            touched += old != new
        else:
            assert old == new
    assert touched > 0


def test_contrast_is_that_of_ffmpegs_eq_for_every_level(outside: Outside) -> None:
    # A ramp of all 256 levels of luma, through Debian's own filter.
    import subprocess

    ramp = np.tile(np.arange(256, dtype=np.uint8), (16, 1))
    for contrast in (-0.8, -0.35, 0.1, 0.55):
        raw = ramp.tobytes() + bytes([128]) * (256 * 16 // 2)
        done = subprocess.run(
            [
                *(outside.ffmpeg, "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p"),
                *("-s", "256x16", "-i", "-", "-vf", f"eq=contrast={contrast}"),
                *("-f", "rawvideo", "-pix_fmt", "yuv420p", "-"),
            ],
            input=raw,
            capture_output=True,
            check=True,
        )
        theirs = np.frombuffer(done.stdout, np.uint8)[:256]
        assert contrast_table(contrast).tolist() == theirs.tolist()
        assert set(done.stdout[256 * 16 :]) == {128}


def test_aesthetics_turns_light_and_dark_round(
    stage: Stage, outside: Outside, intact: NDArray[np.uint8]
) -> None:
    chosen = stage.draw("aesthetics", 2)
    made, _ = stage.harm("aesthetics", chosen)
    after = luma(outside, made.path)
    for one in chosen:
        where = frames_of(stage, one.clip)
        expected = contrast_table(-0.8)[intact[where]].astype(int)
        assert np.abs(after[where].astype(int) - expected).mean() < 2.5
        # 0.8 of the spread, and the other way round
        old, new = intact[where].astype(float).ravel(), after[where].astype(float).ravel()
        assert np.corrcoef(old, new)[0, 1] < -0.99
        assert new.std() / old.std() == pytest.approx(0.8, abs=0.02)


def test_technical_quality_removes_the_upper_half_of_the_spectrum(
    stage: Stage, outside: Outside, intact: NDArray[np.uint8]
) -> None:
    chosen = stage.draw("technical_quality", 2)
    full = luma(outside, stage.harm("technical_quality", chosen)[0].path)
    half = luma(outside, stage.harm("technical_quality", chosen, severity=0.5)[0].path)

    def high(pictures: NDArray[np.uint8]) -> float:
        power = np.abs(np.fft.fft2(pictures.astype(float))) ** 2
        down, across = np.fft.fftfreq(power.shape[1]), np.fft.fftfreq(power.shape[2])
        # Half the sides leave frequencies up to a quarter of the sampling rate.
        upper = np.maximum(np.abs(down)[:, None], np.abs(across)[None]) > 0.3
        return float(power[:, upper].mean())

    for one in chosen:
        where = frames_of(stage, one.clip)
        assert high(full[where]) < 0.2 * high(intact[where])
        assert high(full[where]) < high(half[where]) < high(intact[where])


@pytest.mark.parametrize("style", STYLES)
def test_each_style_is_what_opencv_makes_of_the_source(
    style: str, stage: Stage, outside: Outside
) -> None:
    # OpenCV's calls are made once more here, on pictures that ffmpeg decoded.
    clip = min(stage.film.clips, key=lambda clip: clip.frames)
    made, _ = stage.harm(f"appearance_style:style={style}", [Chosen(clip, {"style": style})])
    where = frames_of(stage, clip)
    middle = (where.start + where.stop) // 2
    before = outside.pictures(stage.film.video.path, pixels="yuv420p")[middle]
    after = luma(outside, made.path)[middle].astype(float)
    drawn = STYLES[style](cv2.cvtColor(before, cv2.COLOR_YUV2BGR_I420))
    expected = cv2.cvtColor(drawn, cv2.COLOR_BGR2YUV_I420)[: after.shape[0]].astype(float)
    unchanged = before[: after.shape[0]].astype(float)
    assert np.corrcoef(after.ravel(), expected.ravel())[0, 1] > 0.95
    assert np.abs(after - expected).mean() < 0.7 * np.abs(after - unchanged).mean()


def test_all_clips_of_a_film_have_one_style_and_films_differ(stage: Stage) -> None:
    styles = set()
    for seed in range(12):
        mine = {one.details["style"] for one in stage.draw("appearance_style", 4, seed=seed)}
        assert len(mine) == 1
        styles |= mine
    assert len(styles) > 2


def test_the_background_jumps_and_the_foreground_stays(
    stage: Stage, outside: Outside, intact: NDArray[np.uint8]
) -> None:
    chosen = stage.draw("background_consistency", 1)
    made, _ = stage.harm("background_consistency", chosen)
    where = frames_of(stage, chosen[0].clip)
    before, after = intact[where].astype(int), luma(outside, made.path)[where].astype(int)
    front = box_mask(before.shape[1:]) > 0
    inner = cv2.erode(front.astype(np.uint8), np.ones((9, 9))) > 0
    outer = cv2.dilate(front.astype(np.uint8), np.ones((9, 9))) == 0
    assert np.abs(after - before)[:, inner].mean() < 3
    assert np.abs(after - before)[:, outer].mean() > 20
    # Another landscape once a second, at eight frames a second; the foreground goes on.
    jumps = np.abs(np.diff(after, axis=0))
    assert np.flatnonzero(jumps[:, outer].mean(axis=1) > 10).tolist() == [7, 15, 23]
    assert jumps[:, inner].mean() < 5


def test_backgrounds_may_jump_in_every_frame() -> None:
    jumps = Jumps(4, Rng.of("clip"))
    turns = [jumps.at(turn) for turn in range(20)]
    assert all(one != two for one, two in pairwise(turns))
    assert set(turns) == {0, 1, 2, 3}
    again = Jumps(4, Rng.of("clip"))
    assert [again.at(turn // 3) for turn in range(60)] == [one for one in turns for _ in range(3)]
    with pytest.raises(BadOption, match="invalid every"):
        build("degradation", "background_consistency:every=-1")


def test_an_object_is_painted_away_in_its_box_only(
    stage: Stage, outside: Outside, intact: NDArray[np.uint8]
) -> None:
    cockatoo = Chosen(stage.film.clips[1], {"object": "thing"})
    made, _ = stage.harm("object_integrity", [cockatoo])
    where = frames_of(stage, cockatoo.clip)
    change = np.abs(luma(outside, made.path)[where].astype(int) - intact[where]).mean(axis=0)
    inside = box_mask(change.shape) > 0
    assert change[cv2.dilate(inside.astype(np.uint8), np.ones((17, 17))) == 0].mean() < 2
    assert change[inside].mean() > 10
    # Overlap of what changed clearly with the box: intersection over the whole change.
    seen = change > 12
    assert (seen & inside).sum() / seen.sum() > 0.95


def test_an_object_has_its_new_colour(stage: Stage, outside: Outside) -> None:
    cockatoo = Chosen(stage.film.clips[1], {"object": "thing", "from": "white", "to": "red"})
    made, _ = stage.harm("color", [cockatoo])
    where = frames_of(stage, cockatoo.clip)
    middle = (where.start + where.stop) // 2
    old, new = (
        cv2.cvtColor(outside.pictures(path, pixels="yuv420p")[middle], cv2.COLOR_YUV2RGB_I420)
        for path in (stage.film.video.path, made.path)
    )
    left, top, right, bottom = map(int, BOX)
    assert name_colour(new[top:bottom, left:right].reshape(-1, 3).mean(axis=0)) == "red"
    assert name_colour(old[top:bottom, left:right].reshape(-1, 3).mean(axis=0)) != "red"
    beside = np.abs(new.astype(int) - old)[:, : left - 12]
    assert beside.mean() < 3


def test_the_new_colour_is_another_one_of_the_eleven(stage: Stage) -> None:
    found = {one.details["to"] for seed in range(20) for one in stage.draw("color", 2, seed=seed)}
    assert "white" not in found
    assert len(found) > 4


def test_a_held_clip_has_no_motion(
    stage: Stage, outside: Outside, intact: NDArray[np.uint8]
) -> None:
    chosen = stage.draw("dynamics_degree", 2)
    made, _ = stage.harm("dynamics_degree", chosen)
    after = luma(outside, made.path)
    assert made.frames == stage.film.video.frames
    for one in chosen:
        where = frames_of(stage, one.clip)
        still = after[where].astype(int)
        motion = np.abs(np.diff(intact[where].astype(int), axis=0)).mean()
        assert np.abs(np.diff(still, axis=0)).mean() < 0.1 * motion
        middle = intact[where][one.clip.frames // 2].astype(int)
        assert np.abs(still - middle).mean() < 3


def test_holding_a_share_keeps_the_ends_moving() -> None:
    def shown(count: int, share: float) -> list[int]:
        return held(count, share).astype(int).tolist()

    assert shown(8, 0.5) == [0, 1, 4, 4, 4, 4, 6, 7]
    assert shown(5, 1.0) == [2] * 5
    for count in range(1, 9):
        for share in (0.01, 0.3, 0.7, 1.0):
            assert len(shown(count, share)) == count
            assert shown(count, share).count(count // 2) >= round(count * share)


def test_a_mirrored_clip_mirrored_is_the_clip(stage: Stage, outside: Outside) -> None:
    chosen = stage.draw("spatial_relationship", 2)
    made, _ = stage.harm("spatial_relationship", chosen)
    before = outside.pictures(stage.film.video.path, pixels="yuv420p").astype(int)
    back = outside.pictures(made.path, "hflip", pixels="yuv420p").astype(int)
    for one in chosen:
        where = frames_of(stage, one.clip)
        assert np.abs(back[where] - before[where]).mean() < 2


def test_deleted_clips_are_gone_and_the_rest_is_whole(stage: Stage, outside: Outside) -> None:
    chosen = stage.draw("comprehensiveness", 3)
    for severity, deleted in ((1.0, 3), (0.34, 1)):
        made, _ = stage.harm("comprehensiveness", chosen, severity=severity)
        gone = {one.clip.number for one in chosen[:deleted]}
        hashes = outside.frame_hashes(stage.film.video.path)
        kept = [
            hashes[number]
            for clip in stage.film.clips
            if clip.number not in gone
            for number in range(*frames_of(stage, clip).indices(len(hashes)))
        ]
        assert outside.frame_hashes(made.path) == kept


def test_shuffled_clips_are_a_permutation(stage: Stage, outside: Outside) -> None:
    hashes = outside.frame_hashes(stage.film.video.path)
    clips = [hashes[frames_of(stage, clip)] for clip in stage.film.clips]
    for seed in range(3):
        made, parts = stage.harm(
            "temporal_flow", stage.draw("temporal_flow", 4, seed=seed), seed=seed
        )
        order = [stage.film.video.clips.index(part.span) for part in parts]
        assert sorted(order) == [0, 1, 2, 3, 4]
        assert order != [0, 1, 2, 3, 4]
        assert outside.frame_hashes(made.path) == [one for n in order for one in clips[n]]


def test_a_shuffle_leaves_no_clip_in_its_place_and_all_such_orders_occur() -> None:
    orders = {tuple(another_order(4, Rng.of("seed", seed))) for seed in range(200)}
    assert len(orders) == 9  # the derangements of four
    assert not any(place == number for order in orders for place, number in enumerate(order))


@pytest.mark.parametrize("name", ASPECTS)
def test_each_is_known_by_its_aspect(name: str) -> None:
    assert build("degradation", name).thing.info.aspect.value == name


class WholeFrames:
    """Recolours whatever it is shown, and remembers what it was asked."""

    identity: ClassVar[Mapping[str, str]] = {}

    def __init__(self) -> None:
        self.asked: list[tuple[bool, str, str]] = []

    def recolour(self, image: Image, mask: object, thing: str, colour: str) -> Image:
        self.asked.append((mask is None, thing, colour))
        return np.full_like(image, 90)


def test_color_without_a_mask_shows_the_whole_frame_and_looks_for_nothing(stage: Stage) -> None:
    """SLVMEval edits every frame by an instruction in words; nothing is detected first."""
    editor = WholeFrames()
    models = PlainBackends(image_edit=editor, detection=NoDetector())
    assert build("degradation", "color:mask=none").thing.info.roles == ("image_edit",)
    chosen = stage.draw("color:mask=none", 1, models=models)
    stage.harm("color:mask=none", chosen, models=models)
    (details,) = (one.details for one in chosen)
    assert set(editor.asked) == {(True, "thing", str(details["to"]))}
    assert len(editor.asked) > 1


class PaintsTogether:
    """Paints grey, several pictures in one call."""

    identity: ClassVar[Mapping[str, str]] = {}

    def __init__(self) -> None:
        self.calls: list[int] = []

    def inpaint_all(self, images: list[Image], masks: list[Image]) -> list[Image]:
        self.calls.append(len(images))
        return [
            np.where(mask[..., None] >= 0.5, 90, image).astype(np.uint8)
            for image, mask in zip(images, masks, strict=True)
        ]


def test_frames_are_painted_several_in_a_call_each_in_its_place() -> None:
    """Every third frame shows nothing to paint, and stays as it is."""
    images = [np.full((4, 6, 3), number, np.uint8) for number in range(20)]
    painter = PaintsTogether()

    def hole(image: Image) -> NDArray[np.float32] | None:
        return None if image[0, 0, 0] % 3 == 0 else np.eye(4, 6, dtype=np.float32)

    run = painted_over(hole, painter, 1.0)  # type: ignore[arg-type]
    frames = (Frame(Fraction(n), n, image) for n, image in enumerate(images))
    made = list(run(frames))
    assert painter.calls == [5, 5, 3]
    for number, (image, one) in enumerate(zip(images, made, strict=True)):
        assert one[0, 1].tolist() == [number] * 3
        assert one[0, 0].tolist() == [number if number % 3 == 0 else 90] * 3
        assert one is image or number % 3
