"""Every flow backend keeps the role's contract; the built-in one finds known motion."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import pytest

from screentest.core import BadOption, registry
from screentest.models import ModelChoice, Models
from screentest.models.backends.flow import DisFlow, in_our_layout
from screentest.models.roles import Flow
from tests.models.real_frames import Image, frame
from tests.models.tiny_backend import MARKS
from tests.models.torchvision_here import make_importable

# (file of the sample, frame): textured pictures, so that every part of them shows motion.
TEXTURED = [("bbb_first30s_640x360.mp4", 300), ("real_5shots_640x360.mp4", 20)]
INNER = (slice(40, -40), slice(40, -40))


def builtin(name: str) -> Flow:
    made: Flow = registry.build("flow", name).thing
    return made


@pytest.fixture(params=["dis", "dis:preset=fast", "dis:preset=ultrafast"])
def backend(request: pytest.FixtureRequest) -> Flow:
    return builtin(request.param)


@pytest.fixture(
    params=["dis", "dis:preset=fast", "dis:preset=ultrafast", pytest.param("raft", marks=MARKS)],
    scope="module",
)
def any_backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Flow:
    """RAFT has random weights, so that only the contract can be asked of it."""
    if request.param != "raft":
        return builtin(request.param)
    pytest.importorskip("torch")
    make_importable()
    from safetensors.torch import save_file
    from torchvision.models.optical_flow import raft_small

    place = tmp_path_factory.mktemp("raft") / "raft_small.safetensors"
    save_file(raft_small(weights=None).state_dict(), place)
    made: Flow = registry.build("flow", "raft", model=str(place), size="small", updates=2).thing
    return made


@pytest.fixture(params=TEXTURED, ids=lambda pair: pair[0])
def picture(request: pytest.FixtureRequest, sample: Path) -> Image:
    name, number = request.param
    return frame(sample / name, number, 640)


def moved(picture: Image, right: float, down: float) -> Image:
    """The picture with its content moved; what comes in at the edge repeats the edge."""
    shift = np.float32([[1, 0, right], [0, 1, down]])
    height, width = picture.shape[:2]
    return cv2.warpAffine(
        picture, shift, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )


@pytest.mark.parametrize("shape", [(1, 1), (8, 200), (33, 9), (48, 64), (121, 83)])
def test_a_field_has_the_size_of_the_pictures_and_is_finite(
    any_backend: Flow, shape: tuple[int, int]
):
    noise = np.random.default_rng(0).integers(0, 256, (2, *shape, 3), np.uint8)
    (field,) = any_backend.flow([(noise[0], noise[1])])
    assert field.shape == (*shape, 2)
    assert field.dtype == np.float32
    assert np.isfinite(field).all()


def test_nothing_moves_between_a_picture_and_itself(backend: Flow, picture: Image):
    (field,) = backend.flow([(picture, picture)])
    assert np.abs(field).max() == 0


@pytest.mark.parametrize("shift", [(1, 0), (0, -3), (5.5, 2.25), (-25, 14)])
def test_a_known_shift_is_found(backend: Flow, picture: Image, shift: tuple[float, float]):
    (field,) = backend.flow([(picture, moved(picture, *shift))])
    found = np.median(field[INNER].reshape(-1, 2), axis=0)
    assert found == pytest.approx(shift, abs=0.2)


@pytest.mark.parametrize("shift", [(1, 0), (0, -3), (5.5, 2.25), (-25, 14)])
def test_the_default_finds_it_at_nearly_every_pixel(picture: Image, shift: tuple[float, float]):
    (field,) = DisFlow().flow([(picture, moved(picture, *shift))])
    miss = np.linalg.norm(field[INNER] - np.float32(shift), axis=-1)
    assert miss.mean() < 0.2


def test_a_zoom_gives_vectors_that_grow_from_the_centre(picture: Image):
    # Pixel p of a picture enlarged by a tenth about its centre c goes to c + 1.1 (p - c).
    height, width = picture.shape[:2]
    zoom = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), 0, 1.1)
    larger = cv2.warpAffine(picture, zoom, (width, height), flags=cv2.INTER_CUBIC)
    (field,) = DisFlow().flow([(picture, larger)])
    down, across = np.mgrid[:height, :width]
    expected = 0.1 * np.stack((across - (width - 1) / 2, down - (height - 1) / 2), -1)
    assert np.linalg.norm(field - expected, axis=-1)[INNER].mean() < 0.5


def test_a_batch_gives_what_single_pairs_give(any_backend: Flow, picture: Image):
    small = picture[100:196, 200:328]
    pairs = [(small, moved(small, n, -n)) for n in (0, 2, 7)]
    together = any_backend.flow(pairs)
    alone = [any_backend.flow([pair])[0] for pair in pairs]
    for one, two in zip(together, alone, strict=True):
        # Exact for DIS; a network's convolutions sum batches in another order.
        assert np.abs(one - two).max() <= (0 if isinstance(any_backend, DisFlow) else 1e-2)
    assert any_backend.flow([]) == []


def test_threads_change_nothing(backend: Flow, picture: Image):
    pairs = [(picture, moved(picture, n, 3 - n)) for n in range(6)]
    expected = [backend.flow([pair])[0] for pair in pairs]
    threads = cv2.getNumThreads()
    try:
        for inside in (1, 4):
            cv2.setNumThreads(inside)
            with ThreadPoolExecutor(4) as pool:
                found = list(pool.map(lambda pair: backend.flow([pair])[0], pairs))
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    finally:
        cv2.setNumThreads(threads)


def test_two_sizes_are_refused(any_backend: Flow, picture: Image):
    with pytest.raises(ValueError, match="two sizes"):
        any_backend.flow([(picture, picture[:-2])])


def test_the_role_is_filled_without_a_choice_and_signed():
    models = Models()
    assert isinstance(models.role("flow"), DisFlow)
    assert str(models.signature("flow")) == f"dis|v:1|opencv:{cv2.__version__}|preset:medium"


def test_a_preset_that_is_none_is_refused():
    with pytest.raises(BadOption, match="preset"):
        Models([ModelChoice.parse("flow=dis,preset=slow")]).role("flow")


@pytest.mark.parametrize("spec", [pytest.param("raft", marks=MARKS)])
def test_the_authors_names_of_raft_s_tensors_are_known(spec: str) -> None:
    make_importable()
    from torchvision.models.optical_flow import raft_large

    ours = raft_large(weights=None).state_dict()
    parts = {"feature_encoder": "fnet", "context_encoder": "cnet"}
    layers = [(layer, block) for layer in (1, 2, 3) for block in (0, 1)]
    theirs = ["update_block.mask.0.bias", "update_block.mask.2.bias"]
    for ending in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
        plain = ending in ("weight", "bias")
        for part in parts.values():
            names = ["conv1", "conv2"] if plain else []
            names += ["norm1"] if part == "cnet" else []
            for layer, block in layers:
                inside = ["conv1", "conv2", *(["downsample.0"] * (layer > 1 and not block))] * plain
                if part == "cnet":
                    inside += ["norm1", "norm2", *(["downsample.1"] * (layer > 1 and not block))]
                names += [f"layer{layer}.{block}.{name}" for name in inside]
            theirs += [f"{part}.{name}.{ending}" for name in names]
    update = ("encoder.convc1", "encoder.convc2", "encoder.convf1", "encoder.convf2")
    update += ("encoder.conv", "flow_head.conv1", "flow_head.conv2")
    update += tuple(f"gru.conv{gate}{number}" for gate in "zrq" for number in (1, 2))
    theirs += [f"update_block.{name}.{kind}" for name in update for kind in ("weight", "bias")]
    theirs += ["update_block.mask.0.weight", "update_block.mask.2.weight"]
    found = in_our_layout(dict.fromkeys([f"module.{name}" for name in theirs], 0))
    assert found.keys() == ours.keys()
    assert in_our_layout({"module.cnet.layer2.0.norm3.bias": 0}) == {}
    assert in_our_layout(ours) == ours
