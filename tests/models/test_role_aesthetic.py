"""Every aesthetic backend keeps the contract; the built-in one sees obvious harm."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from screentest.core import registry
from screentest.models import Models, weights
from screentest.models.backends import aesthetic
from screentest.models.backends.aesthetic import WEIGHTS, ImageStatistics, colourfulness, measure
from screentest.models.roles import Aesthetic
from tests.models.real_frames import Image, frame
from tests.models.tiny_backend import MARKS, tiny_backend

# Frames that show something, from the packaged sample.
SHOWN = [
    ("real_5shots_640x360.mp4", 20),
    ("real_5shots_640x360.mp4", 100),
    ("real_5shots_640x360.mp4", 340),
    ("bbb_first30s_640x360.mp4", 300),
    ("bbb_first30s_640x360.mp4", 600),
    ("sintel_trailer_30s_640x272.mp4", 610),
    ("sintel_trailer_30s_640x272.mp4", 410),
    ("frenchgp_1906_214x160.mp4", 100),
]


def test_laions_head_is_a_line_on_unit_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: w·(e/|e|) + b, with w and b as torch keeps tensors in a file."""
    head = tmp_path / "head.pth"
    with zipfile.ZipFile(head, "w") as archive:
        archive.writestr("archive/data.pkl", b"never read")
        archive.writestr("archive/data/0", np.array([0.5, -2.0], np.float32).tobytes())
        archive.writestr("archive/data/1", np.array([3.0], np.float32).tobytes())

    class Tower:
        def __init__(self) -> None:
            self.identity = {"weights": "none"}

        def features(self, images: list[Image]) -> np.ndarray:
            return np.array([[0.6, 0.8], [1.0, 0.0]], np.float32)[: len(images)]

    monkeypatch.setattr(aesthetic, "clip_tower", lambda prepare, threads: Tower())
    monkeypatch.setattr(weights, "path", lambda name: head)
    made = aesthetic.LaionB16()
    assert made.score([np.zeros((2, 2, 3), np.uint8)] * 2) == pytest.approx([1.7, 3.5])
    assert made.score([]).shape == (0,)


@pytest.fixture
def backend() -> Aesthetic:
    made: Aesthetic = registry.build("aesthetic", "image_statistics").thing
    return made


@pytest.fixture(params=["image_statistics", pytest.param("siglip", marks=MARKS)], scope="module")
def any_backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Aesthetic:
    """SigLIP and its head have random weights, so that only the contract can be asked of them."""
    made: Aesthetic
    if request.param != "siglip":
        made = registry.build("aesthetic", request.param).thing
        return made
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    widths = [32, 1024, 128, 64, 16, 1]
    head = {
        f"{number}.{part}": torch.rand((narrow, wide) if part == "weight" else (narrow,)) / wide
        for number, (wide, narrow) in enumerate(pairwise(widths))
        for part in ("weight", "bias")
    }
    place = tmp_path_factory.mktemp("head") / "head.safetensors"
    save_file(head, place)
    made = tiny_backend("aesthetic", "siglip", "siglip_tower", tmp_path_factory, head=str(place))
    return made


def on_luma(picture: Image, change: Callable[[np.ndarray], np.ndarray]) -> Image:
    """The picture with its luma (0–1) changed and its colour differences kept."""
    parts = cv2.cvtColor(picture, cv2.COLOR_RGB2YCrCb).astype(np.float32)
    parts[..., 0] = 255 * change(parts[..., 0] / 255)
    whole = np.clip(np.rint(parts), 0, 255).astype(np.uint8)
    return cv2.cvtColor(whole, cv2.COLOR_YCrCb2RGB)


# Obvious harm, in steps that grow worse. The first is SLVMEval's for aesthetics: FFmpeg's
# eq=contrast=-0.8, luma inverted and its range made 0.8 of what it was, then smaller still.
LADDERS = {
    "inverted, flat": [
        lambda p, k=k: on_luma(p, lambda y: 0.5 - k * (y - 0.5)) for k in (0.8, 0.5, 0.2)
    ],
    "flat": [lambda p, k=k: on_luma(p, lambda y: 0.5 + k * (y - 0.5)) for k in (0.7, 0.4, 0.15)],
    "blurred": [lambda p, s=s: cv2.GaussianBlur(p, (0, 0), s) for s in (1.2, 2.5, 6)],
    "washed out": [
        lambda p, k=k: np.rint(255 - (255 - p) * k).astype(np.uint8) for k in (0.6, 0.3, 0.1)
    ],
}


@pytest.mark.parametrize("harm", LADDERS)
@pytest.mark.parametrize(("name", "number"), SHOWN)
def test_harm_lowers_the_score_step_by_step(
    backend: Aesthetic, sample: Path, name: str, number: int, harm: str
):
    picture = frame(sample / name, number, 512)
    scores = backend.score([picture, *(change(picture) for change in LADDERS[harm])])
    assert np.all(np.diff(scores) < 0), scores


def test_numbers_lie_on_the_stated_scale(backend: Aesthetic, sample: Path):
    low, high = backend.scale
    assert low < high
    noise = np.random.default_rng(0).integers(0, 256, (50, 70, 3), np.uint8)
    pictures = [frame(sample / name, number, 320) for name, number in SHOWN]
    plain = [np.full((40, 40, 3), level, np.uint8) for level in (0, 128, 255)]
    odd = [noise[:1], noise[:, :1], noise[:1, :1]]
    scores = backend.score([noise, *pictures, *plain, *odd])
    assert scores.dtype == np.float32
    assert scores.shape == (len(pictures) + 7,)
    assert np.all((scores >= low) & (scores <= high))


def test_a_batch_gives_what_single_pictures_give(any_backend: Aesthetic, sample: Path):
    pictures = [frame(sample / name, number, 320) for name, number in SHOWN[:3]]
    together = any_backend.score(pictures)
    assert together.dtype == np.float32
    # Exact for statistics; a network's convolutions sum batches in another order.
    alone = [float(any_backend.score([picture])[0]) for picture in pictures]
    assert together == pytest.approx(alone, rel=1e-4)
    assert any_backend.score([]).shape == (0,)
    low, high = any_backend.scale
    assert low < high
    with pytest.raises(ValueError, match="not an RGB picture"):
        any_backend.score([np.zeros((9, 9), np.uint8)])


def test_size_matters_little(backend: Aesthetic, sample: Path):
    """Above the working size a picture is scaled down, so the score is that of the small one."""
    picture = frame(sample / "real_5shots_640x360.mp4", 100, 640)
    larger = cv2.resize(picture, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    one, two = backend.score([picture, larger])
    assert one == pytest.approx(two, abs=0.03)


def test_colourfulness_orders_pictures_as_people_did():
    """Hasler and Süsstrunk's values for 'not', 'moderately' and 'extremely colourful' are 0, 33
    and 109: a picture whose spread is 33 must lie in the middle of our scale.
    """
    grey = np.full((10, 10, 3), 128, np.uint8)
    half = np.zeros((2, 200, 3), np.uint8) + 128
    half[:, ::2, 0] += 33  # red-green spread 16.5, yellow-blue spread 8.25
    assert colourfulness(grey) == 0
    spread, mean = np.hypot(16.5, 8.25), np.hypot(16.5, 8.25)
    assert colourfulness(half) == pytest.approx(1 - np.exp(-(spread + 0.3 * mean) / 45))


def test_the_weights_make_a_mean():
    assert sum(WEIGHTS) == pytest.approx(1)


def test_the_thirds_are_seen():
    """One thing on a plain ground, on a crossing of the thirds and in the corner."""
    scores = []
    for down, across in ((60, 80), (5, 5)):
        picture = np.full((180, 240, 3), 200, np.uint8)
        picture[down - 5 : down + 5, across - 5 : across + 5] = (160, 30, 30)
        scores.append(measure(picture)["composition"])
    assert scores[0] > scores[1]


def test_more_real_frames(shared_data: Path):
    """SLVMEval's harm is seen in nine of ten frames and more of films of every kind."""
    lower = []
    for path in sorted((shared_data / "video" / "singleshot").glob("*.mp4")):
        picture = frame(path, 40, 512)
        before, after = registry.build("aesthetic", "image_statistics").thing.score(
            [picture, LADDERS["inverted, flat"][0](picture)]
        )
        lower.append(after < before)
    assert len(lower) > 10
    assert np.mean(lower) > 0.9


def test_the_role_is_filled_without_a_choice():
    models = Models()
    assert isinstance(models.role("aesthetic"), ImageStatistics)
    assert models.signature("aesthetic").name == "image_statistics"
