"""Every matting backend keeps the contract; the person, the dog and the bird are covered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screentest.core import NoValue, Reason, registry
from screentest.models import Models, read_models
from screentest.models.networks.saliency import saliency
from screentest.models.roles import Matting
from tests.models.pulled import pulled
from tests.models.real_frames import Image, frame, overlap


@pytest.fixture(params=["grabcut", "u2net"], scope="module")
def backend(request: pytest.FixtureRequest) -> Matting:
    if request.param == "u2net":
        pytest.importorskip("onnxruntime")
        pulled("u2netp")
    made: Matting = registry.build("matting", request.param).thing
    return made


@pytest.fixture(scope="module")
def network() -> Matting:
    pytest.importorskip("onnxruntime")
    pulled("u2netp")
    made: Matting = registry.build("matting", "u2net").thing
    return made


def inside(picture: Image, box: tuple[float, float, float, float]) -> np.ndarray:
    """A box given in shares of width and height, as a mask."""
    height, width = picture.shape[:2]
    left, top, right, bottom = box
    mask = np.zeros((height, width), np.float32)
    mask[
        round(top * height) : round(bottom * height), round(left * width) : round(right * width)
    ] = 1
    return mask


@pytest.mark.parametrize("shape", [(1, 1), (7, 90), (64, 48), (333, 500)])
def test_a_matte_has_the_size_of_the_picture_and_lies_in_0_to_1(
    backend: Matting, shape: tuple[int, int]
):
    noise = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    (matte,) = backend.matte([noise])
    assert matte.shape == shape
    assert matte.dtype == np.float32
    assert 0 <= matte.min() <= matte.max() <= 1


def test_a_thing_on_a_plain_ground_is_found(backend: Matting):
    picture = np.full((180, 240, 3), (205, 210, 200), np.uint8)
    rows, columns = np.ogrid[:180, :240]
    thing = (rows - 100) ** 2 / 50**2 + (columns - 130) ** 2 / 40**2 < 1
    picture[thing] = (150, 30, 40)
    (matte,) = backend.matte([picture])
    assert overlap(matte, thing) > 0.9


def test_a_picture_of_one_colour_has_no_foreground(backend: Matting):
    (matte,) = backend.matte([np.full((60, 80, 3), 90, np.uint8)])
    # U²-Net's answer is stretched to 0–1 whatever it sees, so a speck may stay.
    assert (matte > 0.5).mean() < 0.2


def test_the_same_picture_gives_the_same_matte(backend: Matting, sample: Path):
    picture = frame(sample / "real_5shots_640x360.mp4", 100, 320)
    one, two, three = [*backend.matte([picture, picture]), *backend.matte([picture])]
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)
    assert backend.matte([]) == []


# Boxes by hand, in shares of width and height, around what stands in front.
COCKATOO = (0.25, 0.0, 0.78, 1.0)
PERSON = (0.5, 0.03, 0.67, 0.93)
WOMAN, DOG = (0.2, 0.1, 0.345, 0.79), (0.43, 0.45, 0.57, 0.83)


def test_the_cockatoo_is_covered(network: Matting, sample: Path):
    picture = frame(sample / "real_5shots_640x360.mp4", 100, 512)
    (matte,) = network.matte([picture])
    box = inside(picture, COCKATOO)
    assert matte[box > 0].mean() > 0.4  # it fills about half of its box
    assert (matte > 0.5)[box == 0].mean() < 0.02


def test_person_and_dog_are_covered(network: Matting, shared_data: Path):
    single = shared_data / "video" / "singleshot"
    cutter = registry.build("segmentation", "grabcut").thing
    for name, number, boxes in [
        ("intel_one_by_one_person.mp4", 120, [PERSON]),
        ("sam2_dog.mp4", 30, [WOMAN, DOG]),
    ]:
        picture = frame(single / name, number, 512)
        (matte,) = network.matte([picture])
        around = np.maximum.reduce([inside(picture, box) for box in boxes])
        assert (matte > 0.5)[around == 0].mean() < 0.02, name
        for box in boxes:
            assert (matte > 0.5)[inside(picture, box) > 0].mean() > 0.3, (name, box)
        # Against another method, which was told where to look.
        (shape,) = cutter.segment(picture, [pixels(picture, boxes[0])])
        assert overlap(matte * inside(picture, boxes[0]), shape) > 0.6, name


def pixels(
    picture: Image, box: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    height, width = picture.shape[:2]
    return box[0] * width, box[1] * height, box[2] * width, box[3] * height


def test_the_stand_in_covers_a_person_before_a_calm_wall(shared_data: Path):
    picture = frame(shared_data / "video" / "singleshot" / "intel_one_by_one_person.mp4", 120, 512)
    (matte,) = registry.build("matting", "grabcut").thing.matte([picture])
    box = inside(picture, PERSON)
    assert matte[box > 0].mean() > 0.4
    assert (matte > 0.5)[box == 0].mean() < 0.1


def test_saliency_prefers_the_bird_to_the_wall(sample: Path):
    picture = frame(sample / "real_5shots_640x360.mp4", 100, 320)
    found = saliency(picture)
    box = inside(picture, COCKATOO) > 0
    assert found.shape == picture.shape[:2]
    assert 0 <= found.min() <= found.max() <= 1
    assert found[box].mean() > found[~box].mean()


class TestModelFiles:
    """rembg's model files go by their path; others are refused with a word on why."""

    @pytest.fixture(autouse=True)
    def _runtime(self):
        pytest.importorskip("onnxruntime")

    def test_a_file_by_path_is_the_same_as_the_pulled_one(self, tmp_path: Path, sample: Path):
        weights = pulled("u2netp")
        copy = tmp_path / "any name.onnx"
        copy.write_bytes(weights.read_bytes())
        picture = frame(sample / "real_5shots_640x360.mp4", 100, 320)
        mattes = [
            registry.build("matting", "u2net", **options).thing.matte([picture])[0]
            for options in ({}, {"model": str(copy)})
        ]
        assert np.array_equal(*mattes)

    def test_where_the_file_lies_is_not_in_the_signature(self, tmp_path: Path):
        copy = tmp_path / "u2netp.onnx"
        copy.write_bytes(pulled("u2netp").read_bytes())
        made = registry.build("matting", "u2net", model=str(copy))
        signature = str(made.spec.signature.with_parts(dict(made.thing.identity)))
        assert "309c8469258d" in signature
        assert str(tmp_path) not in signature

    def test_what_is_no_model_is_refused(self, tmp_path: Path):
        text = tmp_path / "text.onnx"
        text.write_text("not a model")
        for place in (text, tmp_path / "absent.onnx", tmp_path):
            with pytest.raises(NoValue, match="U²-Net") as caught:
                registry.build("matting", "u2net", model=str(place))
            assert caught.value.reason is Reason.MISSING_MODEL
            assert "screentest models pull u2netp" in caught.value.advice

    def test_a_network_with_another_input_is_refused(self):
        migan = pulled("migan")
        with pytest.raises(NoValue, match="320"):
            registry.build("matting", "u2net", model=str(migan))


def test_the_stand_in_fills_the_role_where_no_weights_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path))
    assert Models().signature("matting").name == "grabcut"
    pytest.importorskip("onnxruntime")
    with pytest.raises(NoValue) as caught:
        registry.build("matting", "u2net")
    assert "screentest models pull u2netp" in caught.value.advice


def test_weights_in_the_cache_change_nothing_unless_they_are_asked_for():
    pytest.importorskip("onnxruntime")
    pulled("u2netp")
    assert Models().signature("matting").name == "grabcut"
    assert Models(read_models("light")).signature("matting").name == "u2net"
