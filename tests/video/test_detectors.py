"""Every detector keeps the contract; each finds what it is for and not what it is not for."""

from __future__ import annotations

import gc
import re
import subprocess
import weakref
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest

from screentest.core import (
    BadOption,
    BaseConsumer,
    Frame,
    NoValue,
    Reason,
    Span,
    Transition,
    build,
    registry,
)
from screentest.models import weights
from screentest.video.detectors import Boundary, ShotDetector
from screentest.video.detectors.content import SceneScore, SceneScoreDetector
from screentest.video.detectors.default import together
from screentest.video.scan import scan
from screentest.video.shots import find_shots
from tests.video.known_cuts import Fit, all_films, fit, sample_films
from tests.video.watching import Pictures, blend, frames_of, small_frames, watch

OWN = ("abrupt", "adaptive", "content", "default", "gradual", "scdet")


@pytest.fixture(scope="module")
def film(sample: Path) -> Path:
    """Five live-action shots; the cuts are exact by construction."""
    return sample / "real_5shots_640x360.mp4"


@pytest.fixture(scope="module")
def shots(film: Path) -> list[Pictures]:
    """Its five shots, as small frames."""
    return np.split(small_frames(film), [72, 168, 228, 312])


@pytest.fixture(scope="module")
def transnet() -> str:
    pytest.importorskip("onnxruntime", reason="TransNetV2 runs on onnxruntime")
    if not weights.whole("transnetv2"):
        pytest.skip("no TransNetV2 weights: screentest models pull transnetv2")
    return "transnetv2"


# The contract


def test_those_detectors_are_registered() -> None:
    assert registry.names("detector") == sorted((*OWN, "transnetv2"))


@pytest.mark.parametrize("name", OWN)
def test_a_detector_is_one(name: str) -> None:
    assert isinstance(build("detector", name).thing, ShotDetector)


@pytest.mark.parametrize("name", [name for name in OWN if name != "gradual"])
def test_the_cuts_of_a_film_made_from_five_shots(name: str, film: Path) -> None:
    # By construction of the film; see its captions.
    assert _cuts(name, film) == [72, 168, 228, 312]


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_films_too_short_for_a_shot(name: str, length: int) -> None:
    pictures = np.random.default_rng(1).integers(0, 256, (length, 36, 64, 3), np.uint8)
    assert frames_of(watch(name, _for(name, pictures))) in ([], [1])


@pytest.mark.parametrize("name", OWN)
def test_a_picture_that_changes_its_size(name: str, shots: list[Pictures]) -> None:
    smaller = shots[0][:, ::2, ::2]
    pictures = [*_for(name, shots[0]), *_for(name, smaller), *_for(name, shots[0])]
    watch(name, pictures)


@pytest.mark.parametrize("name", OWN)
def test_memory_does_not_grow(name: str) -> None:
    """Of 500 frames a detector holds the last few, not all."""
    alive: weakref.WeakSet[_Picture] = weakref.WeakSet()
    most = 0

    def film() -> object:
        nonlocal most
        random = np.random.default_rng(3)
        shape = (18, 32) if name == "scdet" else (18, 32, 3)
        for _ in range(500):
            picture = random.integers(0, 256, shape, np.uint8).view(_Picture)
            alive.add(picture)
            yield picture
            most = max(most, len(alive))

    watch(name, film())  # type: ignore[arg-type]
    gc.collect()
    assert most < 64


class _Picture(np.ndarray):  # type: ignore[type-arg]
    """An array that can be watched as it goes."""

    __hash__ = object.__hash__  # type: ignore[assignment]


# scdet: FFmpeg is the reference


@pytest.mark.parametrize(
    ("filter_", "key", "factor", "digits"),
    [
        ("scdet=threshold=0", "lavfi.scd.score", 1.0, 3),
        ("select='gte(scene,0)'", "lavfi.scene_score", 0.0256, 6),
    ],
)
@pytest.mark.parametrize("video", ["real_5shots_640x360.mp4", "frenchgp_1906_214x160.mp4"])
def test_the_scene_score_is_ffmpegs(
    ffmpeg: str, sample: Path, video: str, filter_: str, key: str, factor: float, digits: int
) -> None:
    """Frame by frame, to the digits that FFmpeg prints."""
    command = [ffmpeg, "-v", "error", "-i", str(sample / video)]
    command += ["-vf", f"{filter_},metadata=print:file=-", "-f", "null", "-"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    expected = [float(score) for score in re.findall(rf"{key}=([\d.]+)", printed)]
    scores = _Scores()
    scan(sample / video, [scores])
    assert len(scores.all) == len(expected)
    ours = [min(score * factor, 100.0) for score in scores.all]
    assert max(abs(a - b) for a, b in zip(ours, expected, strict=True)) <= 0.51 * 10**-digits


class _Scores(BaseConsumer):
    wants = SceneScoreDetector.wants

    def __init__(self) -> None:
        self._score = SceneScore()
        self.all: list[float] = []

    def take(self, frame: Frame) -> None:
        self.all.append(self._score.of(frame.image))


def test_the_threshold_of_select_is_that_of_scdet_in_other_units(ffmpeg: str, sample: Path) -> None:
    video = sample / "sintel_trailer_30s_640x272.mp4"
    command = [ffmpeg, "-v", "error", "-i", str(video), "-vf"]
    command += ["select='gt(scene,0.3)',metadata=print:file=-", "-f", "null", "-"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    times = [float(time) for time in re.findall(r"pts_time:([\d.]+)", printed)]
    assert _cuts("scdet:threshold=11.71875", video) == [round(time * 24) for time in times]


# abrupt


def test_shots_of_four_frames(shots: list[Pictures]) -> None:
    short = [shot[10:14] for shot in shots] * 3
    assert frames_of(watch("abrupt", np.concatenate(short))) == list(range(4, 60, 4))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_flash_is_no_cut(shots: list[Pictures], length: int) -> None:
    pictures = shots[1].copy()
    pictures[40 : 40 + length] = np.clip(pictures[40 : 40 + length] + 150.0, 0, 255)
    assert frames_of(watch("abrupt", pictures)) == []


@pytest.mark.parametrize("shot", [0, 1, 2])
def test_flicker_is_no_cut(shots: list[Pictures], shot: int) -> None:
    """The light of a fifth more or less, for some frames each, in a picture that trembles."""
    rng = np.random.default_rng(shot)
    pictures = shots[shot].astype(float)
    runs = rng.integers(1, 9, len(pictures))
    light = np.repeat(rng.choice([0.8, 1.2], len(runs)), runs)[: len(pictures)]
    moves = rng.integers(-1, 2, (len(pictures), 2))
    flickering = np.stack(
        [
            np.clip(np.roll(one * bright, tuple(move), (0, 1)), 0, 255)
            for one, bright, move in zip(pictures, light, moves, strict=True)
        ]
    ).astype(np.uint8)
    assert frames_of(watch("default", flickering)) == []


def test_a_cut_into_other_light_is_one(shots: list[Pictures]) -> None:
    dark = (shots[1] * 0.6).astype(np.uint8)
    assert frames_of(watch("default", np.concatenate([shots[0], dark]))) == [72]


@pytest.mark.parametrize("times", [2, 3])
def test_held_frames_are_no_cuts(shots: list[Pictures], times: int) -> None:
    """A film of 12 or 8 frames a second in a file of 24."""
    pictures = np.concatenate(shots[:3])[::times].repeat(times, axis=0)
    assert frames_of(watch("abrupt", pictures)) == [72, 168]


def test_a_frame_mixed_from_both_shots(shots: list[Pictures]) -> None:
    """As converters of frame rates leave them: one cut, not two."""
    pictures = np.concatenate([shots[0], shots[1]])
    pictures[72] = (pictures[71].astype(int) + pictures[73]) // 2
    assert frames_of(watch("abrupt", pictures)) in ([72], [73])


def test_grain_is_no_cut(shots: list[Pictures]) -> None:
    grain = np.random.default_rng(0).normal(0, 12, (168, *shots[0].shape[1:]))
    pictures = np.clip(np.concatenate(shots[:2]) + grain, 0, 255).astype(np.uint8)
    assert frames_of(watch("abrupt", pictures)) == [72]


# gradual


@pytest.mark.parametrize("length", [10, 16, 24])
def test_a_dissolve_and_its_span(shots: list[Pictures], length: int) -> None:
    pictures = blend(shots[1], shots[3], length)
    (found,) = watch("gradual", pictures)
    first, last = 96 - length, 96
    assert found.transition is Transition.DISSOLVE
    assert found.gradual is not None
    assert abs(found.frame - (first + last) / 2) <= length / 4 + 2
    # Where two percent of the new picture are in the old one nobody sees a beginning.
    assert abs(float(found.gradual.start) * 24 - first) <= length / 3 + 2
    assert abs(float(found.gradual.end) * 24 - last) <= length / 3 + 2


@pytest.mark.parametrize("level", [0, 255], ids=["black", "white"])
@pytest.mark.parametrize("bars", [0, 5], ids=["whole", "letterbox"])
def test_a_fade_and_its_span(shots: list[Pictures], level: int, bars: int) -> None:
    empty = np.full_like(shots[1][:30], level)
    pictures = blend(blend(shots[1], empty, 12), shots[3], 12)
    if bars:
        pictures = pictures.copy()
        pictures[:, :bars] = pictures[:, -bars:] = 0
    (found,) = watch("gradual", pictures)
    assert found.transition is Transition.FADE
    assert found.gradual is not None
    # Away over 84–96, empty to 102, back over 102–114.
    assert 100 <= found.frame <= 106
    assert 78 <= float(found.gradual.start) * 24 <= 88
    assert 108 <= float(found.gradual.end) * 24 <= 118


def test_black_for_a_single_frame(shots: list[Pictures]) -> None:
    down = np.linspace(1, 0, 13)[:, None, None, None]
    out = (shots[1][:13] * down).astype(np.uint8)
    back = (shots[3][:12] * down[:0:-1]).astype(np.uint8)
    for start in (40, 41):  # at 24 frames a second every second frame is looked at
        pictures = np.concatenate([shots[1][:start], out, back, shots[3][12:60]])
        assert [one.transition for one in watch("gradual", pictures)] == [Transition.FADE]


def test_a_fade_from_black_begins_the_first_shot(shots: list[Pictures]) -> None:
    pictures = blend(np.zeros_like(shots[1][:20]), shots[1], 16)
    (found,) = watch("gradual", pictures)
    assert (found.frame, found.transition) == (0, Transition.FADE)


def test_a_fade_to_black_at_the_end_begins_no_shot(shots: list[Pictures]) -> None:
    pictures = blend(shots[1], np.zeros_like(shots[1][:30]), 16)
    assert list(watch("gradual", pictures)) == []


def test_growing_darker_is_no_dissolve(shots: list[Pictures]) -> None:
    light = np.concatenate([np.ones(30), np.linspace(1, 0.3, 24), np.full(30, 0.3)])
    pictures = (shots[3][np.arange(84)] * light[:, None, None, None]).astype(np.uint8)
    assert list(watch("gradual", pictures)) == []


def test_a_title_that_appears_is_no_dissolve(shots: list[Pictures]) -> None:
    titled = shots[1].copy()
    titled[:, 14:22, 12:52] = 255
    assert list(watch("gradual", blend(shots[1], titled, 16))) == []


def test_a_pan_is_no_dissolve() -> None:
    """Over a landscape that shares nothing between its two ends."""
    noise = np.random.default_rng(5).integers(0, 256, (9, 60, 3), np.uint8)
    wide = noise.repeat(4, axis=0).repeat(4, axis=1)
    pictures = np.stack([wide[:, 2 * step : 2 * step + 64] for step in range(80)])
    assert list(watch("default", pictures)) == []


# default


def test_the_cut_says_when_and_the_fade_says_how() -> None:
    fade = Boundary(
        Fraction(10), 240, Transition.FADE, Span(Fraction(9), Fraction(21, 2)), strength=2
    )
    inside = Boundary(Fraction(241, 24), 241)
    elsewhere = Boundary(Fraction(12), 288)
    first, second = together([inside, elsewhere], [fade])
    assert (first.frame, first.transition, first.found_by) == (
        241,
        Transition.FADE,
        ("abrupt", "gradual"),
    )
    assert (second.frame, second.found_by) == (288, ("abrupt",))


def test_what_is_known_of_the_sample() -> None:
    """All 15 hard cuts, 6 of 7 gradual transitions, nothing else."""
    assert _fit_of("default", sample_films()) == Fit(15, 0, 0, 6, 7)


@pytest.mark.slow
def test_over_the_hardest_of_the_known_films(shared_data: Path) -> None:
    """Generated films, gradual transitions, and the one single shot with a false cut.

    bench/shots.py has them all; its figures are in docs/evidence/shots.md.
    """
    hard = ("vgot", "cogvideox", "sintel", "nasa", "imageio_cockatoo")
    known = all_films(shared_data)
    films = [one for one in known if one.path.name.startswith(hard) and one.group != "sample"]
    total = _fit_of("default", films)
    assert total.hits + total.missed == 208
    assert total.missed <= 3
    assert total.false <= 2
    assert total.gradual_found >= 8


# transnetv2


def test_missing_weights_name_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, film: Path
) -> None:
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path))
    with pytest.raises(NoValue) as caught:
        find_shots(film, "transnetv2")
    assert caught.value.reason is Reason.MISSING_MODEL
    assert "screentest models pull transnetv2" in caught.value.advice


def test_a_weights_file_that_is_not_there(film: Path, tmp_path: Path) -> None:
    with pytest.raises(NoValue, match="no TransNetV2 weights at") as caught:
        find_shots(film, f"transnetv2:weights={tmp_path / 'none.onnx'}")
    assert caught.value.reason is Reason.MISSING_MODEL


def test_transnet_sees_a_cut(transnet: str, shots: list[Pictures]) -> None:
    pictures = np.concatenate([shots[0][-30:], shots[1][:40]])
    small = [cv2.resize(one, (48, 27), interpolation=cv2.INTER_AREA)[..., ::-1] for one in pictures]
    assert frames_of(watch(transnet, small)) == [30]


def test_transnet_sees_the_dissolve(transnet: str, shared_data: Path) -> None:
    """The dissolve of the NASA clip, 150–178 by eye, and its cut at 240."""
    video = shared_data / "video" / "multishot" / "nasa_webb_mirror_480x270.mp4"
    detector = build("detector", transnet).thing
    scan(video, [detector])
    dissolve, cut = detector.boundaries
    assert (dissolve.transition, cut.frame) == (Transition.DISSOLVE, 240)
    assert 148 <= float(dissolve.gradual.start) * 30000 / 1001 <= 153
    assert 176 <= float(dissolve.gradual.end) * 30000 / 1001 <= 181


@pytest.mark.parametrize(
    "wrong",
    [
        "adaptive:window=0",
        "abrupt:min_length=0",
        "gradual:wandering=0",
        "transnetv2:threshold=1.5",
        "content:weights=[0,0,0,0]",
        "content:short_shots=drop",
    ],
)
def test_options_that_cannot_be(wrong: str) -> None:
    with pytest.raises(BadOption):
        build("detector", wrong)


def _cuts(name: str, video: Path) -> list[int]:
    detector = build("detector", name).thing
    scan(video, [detector])
    return frames_of(detector.boundaries)


def _fit_of(name: str, films: list[object]) -> Fit:
    total = Fit()
    for film in films:
        detector = build("detector", name).thing
        report = scan(film.path, [detector])  # type: ignore[attr-defined]
        total += fit(film, detector.boundaries, float(report.info.rate))  # type: ignore[arg-type]
    return total


def _for(name: str, pictures: Pictures) -> Pictures:
    return pictures[..., 1] if name == "scdet" else pictures
