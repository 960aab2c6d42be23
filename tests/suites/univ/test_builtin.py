"""The describer without a model: camera work over real pictures, colours of known pictures."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest

from screentest.core import Item, Span, build
from screentest.measure.items import measure
from screentest.models.backends.flow import DisFlow
from screentest.models.pictures import limit_long_side
from screentest.run.session import Settings, Tools
from screentest.suites.univ.builtin import (
    CameraStep,
    FrameLook,
    hue,
    look_at,
    movements,
    step_between,
    strength,
)
from screentest.suites.univ.schema import VideoDescription
from screentest.suites.univ.vocabulary import VOCABULARIES, Vocabulary
from screentest.testing.films import write_film as written
from tests.suites.univ.camera_work import MOVES, Image, picture, shot

RATE = 8
HUES = VOCABULARIES["colour_hue"]
MOTIONS = VOCABULARIES["camera_motion"]


def seen(frames: Iterable[Image]) -> list[Vocabulary]:
    """What the describer says of frames that come eight a second."""
    flow, steps, last = DisFlow(), list[CameraStep](), None
    for number, frame in enumerate(limit_long_side(one, 192) for one in frames):
        if last is not None:
            (field,) = flow.flow([(last, frame)])
            times = Fraction(number - 1, RATE), Fraction(number, RATE)
            step = step_between(last, frame, field, *times)
            if step is not None:
                steps.append(step)
        last = frame
    return movements(steps)


def walker(frames: Iterable[Image], speed: float) -> Iterable[Image]:
    """A striped figure crosses the picture: a fifth of its width, all of its height."""
    for number, frame in enumerate(frames):
        height, width = frame.shape[:2]
        left = round((0.1 + speed * number / RATE) * width)
        changed = frame.copy()
        stripes = (np.arange(height)[:, None] // 6 + np.arange(width // 5)[None] // 6) % 2 * 200
        part = changed[:, left : left + width // 5]
        part[:] = stripes[:, : part.shape[1], None]
        yield changed


def shaken(frames: Iterable[Image], seed: int = 3) -> Iterable[Image]:
    """A hand that trembles by up to two pixels of 256, and grain."""
    rng = np.random.default_rng(seed)
    for frame in frames:
        x, y = rng.uniform(-2, 2, 2)
        moved = cv2.warpAffine(
            frame, np.array([[1, 0, x], [0, 1, y]]), frame.shape[1::-1], borderMode=4
        )
        yield np.clip(moved + rng.normal(0, 4, frame.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("move", MOVES)
def test_camera_work_over_real_pictures(move: str, sample: Path) -> None:
    """Rendered, so the truth is known: a slow and a quick movement over two pictures."""
    for path in sorted((sample / "backgrounds").glob("*.jpg"))[:2]:
        for speed in (0.08, 0.4):
            assert seen(shot(picture(path), move, speed)) == [move], (path.name, speed)


@pytest.mark.parametrize("move", ["static shot", "pan left", "zoom in"])
def test_what_moves_in_the_picture_and_a_trembling_hand_do_not_count(
    move: str, sample: Path
) -> None:
    image = picture(sample / "backgrounds" / "tea_gardens_960x540.jpg")
    assert seen(walker(shot(image, move, 0.2), 0.3)) == [move]
    assert seen(shaken(shot(image, move, 0.2))) == [move]


def test_movements_come_in_order_of_time(sample: Path) -> None:
    image = picture(sample / "backgrounds" / "lake_sherburne_960x540.jpg")
    first = list(shot(image, "pan right", 0.3, seconds=2))
    wide = cv2.resize(first[-1], (960, 540))
    found = seen([*first, *shot(np.asarray(wide), "zoom in", 0.3, seconds=2)])
    assert [one for one in found if one is not MOTIONS("static shot")][:1] == [MOTIONS("pan right")]
    assert found[-1] is MOTIONS("zoom in")


def test_a_plain_wall_says_nothing_about_the_camera() -> None:
    wall = np.full((108, 192, 3), 120, np.uint8)
    assert seen([wall] * 6) == []


@pytest.mark.slow
def test_accuracy_on_all_pictures(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """docs/evidence/captions.md: every picture, every movement, three speeds, three ways."""
    right, total = dict[str, int](), 0
    for path in sorted((shared_data / "video" / "backgrounds").glob("*.jpg")):
        image = picture(path)
        for move in MOVES:
            for speed in (0.06, 0.15, 0.4):
                total += 1
                frames = list(shot(image, move, speed))
                for name, some in (
                    ("plain", frames),
                    ("walker", walker(frames, 0.3)),
                    ("shaken", shaken(frames)),
                ):
                    right[name] = right.get(name, 0) + (seen(some) == [move])
    with capsys.disabled():
        print({name: f"{count}/{total}" for name, count in right.items()})  # noqa: T201
    assert right["plain"] >= 0.95 * total


def tinted(red: float, green: float, blue: float) -> Image:
    """A ramp from black to a colour."""
    ramp = np.linspace(0, 255, 64)[None, :, None] * np.array([red, green, blue])
    return np.repeat(ramp, 8, axis=0).astype(np.uint8)


@pytest.mark.parametrize(
    ("image", "tone"),
    [
        (tinted(1, 0.5, 0.1), HUES("warm tone")),
        (tinted(0.1, 0.4, 1), HUES("cool tone")),
        (tinted(0.2, 0.9, 0.8), HUES("cool tone")),
        (tinted(0.7, 0.7, 0.7), HUES("neutral tone")),
        (np.concatenate([tinted(1, 0.2, 0.1), tinted(0.1, 0.2, 1)]), HUES("multi-color")),
    ],
)
def test_tones(image: Image, tone: Vocabulary) -> None:
    assert hue(look_at(image)) is tone


def test_looks_follow_what_was_done_to_a_real_picture(sample: Path) -> None:
    """Halving saturation, contrast or light of a photograph by PIL moves that number alone."""
    from PIL import Image as Pictures
    from PIL import ImageEnhance

    photo = Pictures.open(sample / "backgrounds" / "tea_gardens_960x540.jpg").convert("RGB")
    look = look_at(np.asarray(photo))

    def enhanced(kind: type, factor: float) -> FrameLook:
        return look_at(np.asarray(kind(photo).enhance(factor)))

    pale = enhanced(ImageEnhance.Color, 0.0)
    assert pale.chroma == 0
    assert hue(pale) is HUES("neutral tone")
    assert strength("colour_saturation", pale) == "low saturation"
    assert pale.luma == pytest.approx(look.luma, abs=0.05)
    flat = enhanced(ImageEnhance.Contrast, 0.3)
    assert flat.contrast == pytest.approx(0.3 * look.contrast, rel=0.05)
    assert strength("colour_contrast", flat) == "low contrast"
    dark = enhanced(ImageEnhance.Brightness, 0.2)
    assert dark.luma == pytest.approx(0.2 * look.luma, rel=0.05)
    assert strength("lighting_brightness", dark) == "low brightness"


def test_luma_is_what_ffmpeg_measures(sample: Path, ffmpeg: str) -> None:
    """The mean luma of a photograph beside the YAVG of FFmpeg's signalstats at full range."""
    path = sample / "backgrounds" / "desert_dune_960x540.jpg"
    graph = "format=gbrp,scale=out_color_matrix=bt709:out_range=pc,format=yuv444p,"
    graph += "signalstats,metadata=print:file=-"
    command = [ffmpeg, "-v", "error", "-i", str(path), "-vf", graph, "-f", "null", os.devnull]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    average = float(told.partition("signalstats.YAVG=")[2].split()[0])
    image = cv2.imread(str(path), cv2.IMREAD_COLOR_RGB)
    assert image is not None
    look = look_at(np.asarray(image, np.uint8))
    assert 255 * look.luma == pytest.approx(average, abs=1.5)


def test_a_film_with_a_cut_end_to_end(tmp_path: Path, sample: Path) -> None:
    """A pan over a warm desert, then a still of a lake: two shots, with what each shows."""
    pictures = sample / "backgrounds"
    dune = picture(pictures / "desert_dune_960x540.jpg")
    lake = picture(pictures / "lake_sherburne_960x540.jpg")
    frames = [*shot(dune, "pan right", 0.2, seconds=2, rate=10)]
    frames += shot(lake, "static shot", 0, seconds=2, rate=10)
    item = Item("two", written(tmp_path / "two.mkv", frames, rate=10))
    metric = build("metric", "univ_caption_builtin").thing
    outcome = measure(item, {"m": metric}, Tools(Settings()))["m"]["univ_caption_builtin"]
    score = outcome.unwrap()
    video = VideoDescription.model_validate(score.details["description"])
    one, two = (shot.description for shot in video.shots)
    assert one.camera.motion == [MOTIONS("pan right")]
    assert two.camera.motion == [MOTIONS("static shot")]
    assert one.colour.hue[0] is HUES("warm tone")
    assert two.colour.hue == [HUES("cool tone")]
    assert score.curve[0].span == Span(Fraction(0), Fraction(21, 10))
    # Hue, saturation, contrast, brightness and motion: five of the 21, and nothing invented.
    assert score.value == pytest.approx(5 / 21)
    for empty in (one.subjects, one.actions, one.scenes, one.atmosphere, one.lighting.direction):
        assert empty == []
    assert one.style is None
    assert "Shot cut" in video.script


def test_a_film_that_gets_dark_says_so(tmp_path: Path, sample: Path) -> None:
    bright = picture(sample / "backgrounds" / "desert_dune_960x540.jpg")[::4, ::4]
    frames = [(bright * (1 - n / 30)).astype(np.uint8) for n in range(28)]
    item = Item("dusk", written(tmp_path / "dusk.mkv", frames))
    metric = build("metric", "univ_caption_builtin").thing
    outcome = measure(item, {"m": metric}, Tools(Settings()))["m"]["univ_caption_builtin"]
    video = VideoDescription.model_validate(outcome.unwrap().details["description"])
    assert video.shots[0].description.lighting.brightness[-1] == "low brightness"
    assert len(video.shots[0].description.lighting.brightness) == 2
