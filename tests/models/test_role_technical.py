"""Every technical backend keeps the contract; the built-in one sees harm step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from screentest.core import NoValue, Reason, registry
from screentest.models import Models
from screentest.models.backends.technical import SceneStatistics
from screentest.models.networks import distortions
from screentest.models.networks import distortions as natural
from screentest.models.roles import Technical
from tests.models.natural_pictures import good_pictures, grey
from tests.models.real_frames import Image, frame, frames

SHOWN = [
    ("real_5shots_640x360.mp4", 20),
    ("real_5shots_640x360.mp4", 100),
    ("real_5shots_640x360.mp4", 340),
    ("bbb_first30s_640x360.mp4", 300),
    ("bbb_first30s_640x360.mp4", 600),
    ("sintel_trailer_30s_640x272.mp4", 250),
    ("sintel_trailer_30s_640x272.mp4", 410),
]


@pytest.fixture
def backend() -> Technical:
    made: Technical = registry.build("technical", "scene_statistics").thing
    return made


def jpeg(picture: Image, quality: int) -> Image:
    _, code = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return cv2.imdecode(code, cv2.IMREAD_COLOR)[..., ::-1]


def smaller(picture: Image, factor: float) -> Image:
    """Scaled down and up again; at 0.5 it is SLVMEval's harm for technical quality."""
    height, width = picture.shape[:2]
    size = (round(width * factor), round(height * factor))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)


def noisy(picture: Image, deviation: float) -> Image:
    added = np.random.default_rng(0).normal(0, deviation, picture.shape)
    return np.clip(np.rint(picture + added), 0, 255).astype(np.uint8)


LADDERS: dict[str, list[Callable[[Image], Image]]] = {
    "jpeg": [lambda p, q=q: jpeg(p, q) for q in (60, 35, 20, 10, 5)],
    "blur": [lambda p, s=s: cv2.GaussianBlur(p, (0, 0), s) for s in (0.7, 1.2, 2, 3.5, 6)],
    "resolution": [lambda p, f=f: smaller(p, f) for f in (0.75, 0.5, 0.35, 0.25, 0.15)],
    "noise": [lambda p, s=s: noisy(p, s) for s in (4, 8, 16, 30, 50)],
}


@pytest.mark.parametrize("harm", LADDERS)
@pytest.mark.parametrize(("name", "number"), SHOWN)
def test_harm_lowers_the_score_step_by_step(
    backend: Technical, sample: Path, name: str, number: int, harm: str
):
    picture = frame(sample / name, number, 512)
    scores = [backend.score([change(picture)]) for change in [lambda p: p, *LADDERS[harm]]]
    assert np.all(np.diff(scores) < 0), scores


def test_numbers_lie_in_0_to_1(backend: Technical, sample: Path):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    stripes = np.zeros((64, 64, 3), np.uint8)
    stripes[:, ::2] = 255
    ramp = np.repeat(np.arange(64, dtype=np.uint8)[None, :, None], 64, axis=0).repeat(3, axis=2)
    for picture in (noise, stripes, ramp, frame(sample / SHOWN[0][0], 20, 512)):
        score = backend.score([picture])
        assert isinstance(score, float)
        assert 0 <= score <= 1


def test_frames_are_averaged(backend: Technical, sample: Path):
    pieces = frames(sample / "real_5shots_640x360.mp4", 100, 3, 320)
    alone = [backend.score([piece]) for piece in pieces]
    assert backend.score(pieces) == pytest.approx(np.mean(alone))


def test_black_frames_do_not_count(backend: Technical, sample: Path):
    picture = frame(sample / "real_5shots_640x360.mp4", 100, 320)
    black = np.zeros_like(picture)
    assert backend.score([black, picture, black]) == backend.score([picture])
    with pytest.raises(NoValue, match="one colour") as caught:
        backend.score([black, black])
    assert caught.value.reason is Reason.NOT_APPLICABLE


def test_tiny_frames_are_refused(backend: Technical):
    with pytest.raises(NoValue, match="too small") as caught:
        backend.score([np.random.default_rng(0).integers(0, 256, (20, 200, 3), np.uint8)])
    assert caught.value.reason is Reason.NOT_APPLICABLE


def test_no_frames_is_an_error(backend: Technical):
    with pytest.raises(ValueError, match="no frames"):
        backend.score([])


class TestDistortions:
    """Each measure reacts to its own distortion and not to the others."""

    @pytest.fixture
    def picture(self, sample: Path) -> Image:
        return frame(sample / "real_5shots_640x360.mp4", 100, 512)

    def test_blur_is_not_fooled_by_noise(self, picture: Image):
        clean, blurred, noised = (
            distortions.blur(grey(change))
            for change in (picture, cv2.GaussianBlur(picture, (0, 0), 2), noisy(picture, 6))
        )
        assert blurred - clean > 5 * abs(noised - clean)

    def test_blockiness_finds_the_grid_wherever_it_lies(self, picture: Image):
        coded = grey(jpeg(picture, 10))
        shifted = coded[3:-5, 5:-3]
        assert distortions.blockiness(shifted) == pytest.approx(
            distortions.blockiness(coded), rel=0.1
        )
        assert distortions.blockiness(coded) > 10 * distortions.blockiness(grey(picture))

    def test_one_edge_or_a_finer_grid_is_not_blocky(self, picture: Image):
        barred = picture.copy()
        barred[:, :64] = barred[:, -64:] = 0
        doubled = picture[::2, ::2].repeat(2, axis=0).repeat(2, axis=1)
        for harmless in (barred, doubled):
            assert distortions.blockiness(grey(harmless)) < 0.1

    @pytest.mark.parametrize("deviation", [3, 6, 12])
    def test_noise_is_measured_in_grey_levels(self, picture: Image, deviation: float):
        # Grey is a weighted mean of three noisy channels: 0.299² + 0.587² + 0.114² = 0.447.
        expected = deviation * 0.447**0.5
        assert distortions.noise(grey(noisy(picture, deviation))) == pytest.approx(
            expected, rel=0.35
        )


class TestNatural:
    """The Gaussian of good pictures is what the sample gives, and harm leads away from it."""

    def test_the_constants_are_what_the_sample_gives(self, sample: Path):
        rows = np.array([natural.statistics(grey) for grey in good_pictures(sample)])
        mean, spread = rows.mean(axis=0), np.cov(rows.T)
        covariance = spread + 0.3 * np.diag(np.diag(spread))
        written = np.array(natural.FITTED["mean"])
        half = np.array(natural.FITTED["covariance"])
        # Decoders and OpenCV versions differ in the last bit of a pixel.
        assert written == pytest.approx(mean, rel=0.02, abs=0.002)
        assert half == pytest.approx(covariance[np.tril_indices(10)], rel=0.1, abs=0.002)

    def test_good_pictures_are_near_and_harmed_ones_far(self, sample: Path):
        near = [natural.distance(picture) for picture in good_pictures(sample)]
        assert np.mean(near) < np.sqrt(10) * 1.1  # the mean of ten squared deviations is ten
        picture = frame(sample / "real_5shots_640x360.mp4", 100, 512)
        here = natural.distance(grey(picture))
        assert natural.distance(grey(cv2.GaussianBlur(picture, (0, 0), 2))) > here + 1
        assert natural.distance(grey(noisy(picture, 25))) > here + 1

    def test_noise_is_spread_like_a_gaussian(self):
        """Of a normal variable E|x|² / E x² is 2/π; of locally normalised noise nearly."""
        noise = np.random.default_rng(0).normal(128, 25, (256, 256))
        assert natural.statistics(noise)[0] == pytest.approx(2 / np.pi, abs=0.06)


def test_more_real_frames(shared_data: Path, backend: Technical):
    """Half the resolution is seen in nine of ten films and more, of every kind."""
    lower = []
    for path in sorted((shared_data / "video" / "singleshot").glob("*.mp4")):
        picture = frame(path, 40, 512)
        lower.append(backend.score([smaller(picture, 0.5)]) < backend.score([picture]))
    assert len(lower) > 10
    assert np.mean(lower) > 0.9


def test_the_role_is_filled_without_a_choice():
    models = Models()
    assert isinstance(models.role("technical"), SceneStatistics)
    assert models.signature("technical").name == "scene_statistics"
