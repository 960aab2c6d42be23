"""Every inpainting backend keeps the contract: the hole is made new, the rest is untouched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import NoValue, Reason, registry
from screentest.models import Models, read_models
from screentest.models.roles import Inpainting
from tests.models.pulled import pulled
from tests.models.real_frames import Image, frame, psnr
from tests.models.tiny_backend import MARKS, tiny_backend

Mask = NDArray[np.float32]


def builtin(name: str) -> Inpainting:
    if name == "migan":
        pytest.importorskip("onnxruntime")
        pulled("migan")
    made: Inpainting = registry.build("inpainting", name).thing
    return made


@pytest.fixture(params=["telea", "migan"], scope="module")
def backend(request: pytest.FixtureRequest) -> Inpainting:
    return builtin(request.param)


@pytest.fixture(
    params=["telea", "migan", pytest.param("stable_diffusion", marks=MARKS)], scope="module"
)
def any_backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Inpainting:
    """Stable Diffusion has random weights, so that only the contract can be asked of it."""
    if request.param != "stable_diffusion":
        return builtin(request.param)
    pytest.importorskip("diffusers")
    made: Inpainting = tiny_backend(
        "inpainting", "stable_diffusion", "stable_diffusion_inpainting", tmp_path_factory, steps=2
    )
    return made


@pytest.fixture
def meadow(sample: Path) -> Image:
    return frame(sample / "bbb_first30s_640x360.mp4", 300, 256)


def disc(picture: Image, down: float = 0.5, across: float = 0.5, radius: int = 22) -> Mask:
    """A round hole."""
    height, width = picture.shape[:2]
    rows, columns = np.ogrid[:height, :width]
    inside = (rows - down * height) ** 2 + (columns - across * width) ** 2 < radius**2
    return inside.astype(np.float32)


@pytest.mark.parametrize("place", [(0.5, 0.5), (0.0, 0.0), (1.0, 0.5)])
def test_only_the_hole_changes(any_backend: Inpainting, meadow: Image, place: tuple[float, float]):
    before, mask = meadow.copy(), disc(meadow, *place)
    filled = any_backend.inpaint(meadow, mask, "grass")
    assert filled.shape == meadow.shape
    assert filled.dtype == np.uint8
    assert np.array_equal(filled[mask < 0.5], meadow[mask < 0.5])
    assert (filled[mask >= 0.5] != meadow[mask >= 0.5]).mean() > 0.5
    assert np.array_equal(meadow, before)


def test_what_lay_in_the_hole_does_not_matter(backend: Inpainting, meadow: Image):
    mask = disc(meadow)
    other = meadow.copy()
    other[mask >= 0.5] = (255, 0, 255)
    assert np.array_equal(backend.inpaint(meadow, mask), backend.inpaint(other, mask))


def test_a_thing_is_gone_and_the_ground_goes_on(backend: Inpainting):
    """A red disc on a smooth ramp: the ramp comes back, to within a few grey levels."""
    ramp = np.linspace(60, 200, 160)[None, :, None] * np.ones((120, 1, 3))
    picture = ramp.astype(np.uint8)
    mask = disc(picture, radius=18)
    with_thing = picture.copy()
    with_thing[disc(picture, radius=15) > 0.5] = (230, 20, 20)
    filled = backend.inpaint(with_thing, mask)
    assert np.abs(filled.astype(int) - picture)[mask >= 0.5].mean() < 12


def test_the_rim_is_not_darker_than_what_it_joins(backend: Inpainting, meadow: Image):
    """Of a bright picture: MI-GAN alone draws a dark line along the edge of the hole."""
    bright = (160 + meadow.astype(float) * 0.35).astype(np.uint8)
    hole, inner = disc(bright, radius=24), disc(bright, radius=20)
    filled = backend.inpaint(bright, hole)
    rim = (hole >= 0.5) & (inner < 0.5)
    outside = (disc(bright, radius=28) >= 0.5) & (hole < 0.5)
    assert filled[rim].mean() > filled[outside].mean() - 12


def test_an_empty_mask_changes_nothing(any_backend: Inpainting, meadow: Image):
    filled = any_backend.inpaint(meadow, np.zeros(meadow.shape[:2], np.float32))
    assert np.array_equal(filled, meadow)
    assert filled is not meadow


def test_a_mask_over_everything_is_refused(backend: Inpainting, meadow: Image):
    with pytest.raises(NoValue, match="whole picture") as caught:
        backend.inpaint(meadow, np.ones(meadow.shape[:2], np.float32))
    assert caught.value.reason is Reason.NOT_APPLICABLE


def test_a_mask_of_another_size_is_refused(any_backend: Inpainting, meadow: Image):
    with pytest.raises(ValueError, match="mask"):
        any_backend.inpaint(meadow, np.ones((4, 4), np.float32))


@pytest.mark.parametrize("shape", [(9, 9), (5, 120), (70, 33)])
def test_any_size_goes(backend: Inpainting, shape: tuple[int, int]):
    noise = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    mask = np.zeros(shape, np.float32)
    mask[1:3, 1:3] = 1
    filled = backend.inpaint(noise, mask)
    assert np.array_equal(filled[mask < 0.5], noise[mask < 0.5])


def test_the_signature_says_what_it_depends_on(backend: Inpainting):
    assert "opencv" in backend.identity


def test_migan_comes_nearer_than_telea(sample: Path, record_property: pytest.RecordProperty):
    """PSNR inside holes over edges and fur, against the true picture."""
    pytest.importorskip("onnxruntime")
    pulled("migan")
    backends = {name: registry.build("inpainting", name).thing for name in ("telea", "migan")}
    places = [
        ("real_5shots_640x360.mp4", 100, 0.75, 0.55),
        ("real_5shots_640x360.mp4", 100, 0.35, 0.5),
        ("real_5shots_640x360.mp4", 20, 0.5, 0.4),
    ]
    found: dict[str, list[float]] = {name: [] for name in backends}
    for name, number, down, across in places:
        picture = frame(sample / name, number, 512)
        mask = disc(picture, down, across, radius=40)
        for backend, made in backends.items():
            filled = made.inpaint(picture, mask)
            found[backend].append(psnr(filled[mask >= 0.5], picture[mask >= 0.5]))
    record_property("psnr", str({name: np.round(values, 2) for name, values in found.items()}))
    assert np.mean(found["migan"]) > np.mean(found["telea"]), found


def test_the_stand_in_fills_the_role_where_no_weights_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path))
    assert Models().signature("inpainting").name == "telea"
    with pytest.raises(NoValue) as caught:
        registry.build("inpainting", "migan")
    assert caught.value.reason is Reason.MISSING_MODEL


def test_weights_in_the_cache_change_nothing_unless_they_are_asked_for():
    pytest.importorskip("onnxruntime")
    pulled("migan")
    assert Models().signature("inpainting").name == "telea"
    assert Models(read_models("light")).signature("inpainting").name == "migan"
