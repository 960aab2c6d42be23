"""Networks that benchmarks name, with their real weights: DINOv2, CLIP's image tower, RAFT."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import Filter, FrameRequest, Size, build
from screentest.models import weights
from screentest.models.backends.image_features import clip_cut, clip_tower, without_rounding
from screentest.models.backends.labels import COCO_STUFF
from screentest.models.backends.text_embedding import fields, message
from screentest.models.networks.runtimes import onnx_session
from screentest.models.pictures import read_picture
from screentest.models.weights import REAL
from screentest.models.weights.pull import pull
from screentest.suites.locot2v.metrics.motion import DYNAMIC_DEGREE
from screentest.testing.films import gliding, texture, write_film
from tests.models.real_frames import frame
from tests.models.torchvision_here import make_importable
from tests.real.weights import folder
from tests.suites.locot2v.films import all_frames, score
from tests.suites.locot2v.test_warping_error import NAME as WARPING_ERROR
from tests.suites.locot2v.test_warping_error import reference as warping_reference

FLOW = "flow=raft:things,updates=20,device=cpu"


@pytest.fixture(scope="module", autouse=True)
def cache() -> Iterator[None]:
    """What ``make test-real`` pulled."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SCREENTEST_CACHE", str(folder() / "screentest"))
        yield


def test_what_was_pulled_has_the_hashes_of_the_catalogue() -> None:
    found = pull([REAL])
    assert set(found) == {"dinov2-small", "clip-b16-image", "raft-things"}
    for name in found:
        assert weights.whole(name)


@pytest.mark.parametrize(
    ("name", "width", "numbers"),
    [
        ("dinov2", 384, [0.0111, 0.009, 0.0421, 0.0298]),
        ("clip_b16", 512, [0.038, -0.0523, 0.0084, 0.0454]),
    ],
)
def test_features_are_those_that_were_published(
    name: str, width: int, numbers: list[float], sample: Path
) -> None:
    tower = build("image_features", name).thing
    film = sample / "real_5shots_640x360.mp4"
    # Two frames of each of five shots, of which the first and the last are of one place.
    shots = [(10, 60), (80, 150), (175, 220), (235, 300), (320, 365)]
    pictures = [frame(film, number, 320) for both in shots for number in both]
    vectors = tower.features([*pictures, texture(1)])
    assert vectors.shape == (11, width)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[-1][:4] == pytest.approx(numbers, abs=0.01)
    likeness = vectors[:10] @ vectors[:10].T
    for place in (2, 4, 6):
        others = [one for one in range(10) if one not in (place, place + 1)]
        assert likeness[place, place + 1] > max(likeness[place, one] for one in others)


def test_clip_equals_its_weights_in_full_precision() -> None:
    """Against the published graph with every weight expanded by numpy, on one random picture."""
    tower = build("image_features", "clip_b16").thing
    picture = np.random.default_rng(5).integers(0, 256, (224, 224, 3)).astype(np.uint8)
    given = tower._prepare(picture)[None]
    expanded = onnx_session(_expanded(weights.path("clip-b16-image").read_bytes()))
    vector = expanded.run(["image_embeds"], {"pixel_values": np.ascontiguousarray(given)})[0][0]
    expected = vector / np.linalg.norm(vector)
    assert tower.features([picture])[0] == pytest.approx(expected, abs=1e-5)


def _expanded(model: bytes) -> bytes:
    """The repaired graph with plain numbers in place of weights in 8 bits and their nodes."""
    whole = list(fields(without_rounding(model)))
    parts = [part for number, graph in whole if number == 7 for part in fields(graph)]
    arrays = {_text(value, 8): value for number, value in parts if number == 5}
    kept = []
    for number, value in parts:
        if number == 1 and _text(value, 4) == "DequantizeLinear":
            weight, scale, zero = (one.decode() for at, one in fields(value) if at == 1)
            steps = np.frombuffer(_bytes(arrays[scale]), np.float32)
            eights = np.frombuffer(_bytes(arrays[weight]), np.int8).reshape(-1, len(steps))
            assert not any(_bytes(arrays[zero]))
            plain = eights.astype(np.float32) * steps
            fields_of = [*((1, size) for size in plain.shape), (2, 1), (8, _text(value, 2))]
            kept.append((5, message([*fields_of, (9, plain.astype(np.float32).tobytes())])))
        else:
            kept.append((number, value))
    return message([*((n, v) for n, v in whole if n != 7), (7, message(kept))])


def _text(data: bytes, number: int) -> str:
    return next(str(value, "utf-8") for at, value in fields(data) if at == number)


def _bytes(tensor: bytes) -> bytes:
    """Its numbers: as floats, as whole numbers, or as they lie in memory."""
    return next(bytes(value) for at, value in fields(tensor) if at in (4, 5, 9))


# What these pictures show, by our own eyes, in words of COCO-Stuff; a few would do.
SHOWN = {
    "backgrounds/aitzgorri_meadow_1920x1080.jpg": "grass hill mountain",
    "backgrounds/beach_bridge_cables_1920x1080.jpg": "bridge sea sand river",
    "backgrounds/beacon_street_sunset_1920x1080.jpg": "building road house clouds sky skyscraper",
    "backgrounds/colosseum_1920x1080.jpg": "building stone wall-stone",
    "backgrounds/dandelion_field_1920x1080.jpg": "flower grass",
    "backgrounds/desert_dune_1920x1080.jpg": "sand",
    "backgrounds/forest_stream_1920x1080.jpg": "river tree moss rock water",
    "backgrounds/hilltop_sunset_1920x1080.jpg": "hill sky clouds mountain",
    "backgrounds/lake_sherburne_1920x1080.jpg": "mountain water river",
    "backgrounds/picos_de_europa_1920x1080.jpg": "mountain hill rock",
    "backgrounds/singapore_skyline_1920x1080.jpg": "skyscraper building",
    "backgrounds/sklearn_china_640x427.jpg": "building roof house",
    "backgrounds/tea_gardens_1920x1080.jpg": "hill grass plant bush",
    "singleshot/frenchgp_1906_214x160.ogv": "road car person",
    "singleshot/his_girl_friday_clip.mp4": "person",
    "singleshot/imageio_cockatoo.mp4": "bird",
    "singleshot/intel_bottle_detection.mp4": "bottle",
    "singleshot/intel_car_detection.mp4": "car road pavement",
    "singleshot/intel_one_by_one_person.mp4": "person floor ceiling",
    "singleshot/kivy_cityCC0.mpg": "building road car skyscraper bus",
    "singleshot/mdn_flower.mp4": "flower",
    "singleshot/mdn_stream_of_water.mp4": "river water rock waterdrops",
    "singleshot/moviepy_chaplin.mp4": "person",
    "singleshot/sam2_bedroom.mp4": "bed pillow person",
    "singleshot/sam2_blocks.mp4": "person floor",
    "singleshot/sam2_coffee.mp4": "cup",
    "singleshot/sam2_cups.mp4": "cup",
    "singleshot/sam2_dog.mp4": "dog",
}


def test_clip_names_what_pictures_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is right is among the best five of 171 in most real pictures."""
    data = Path(os.environ.get("SCREENTEST_DATA", "../shared/data"))
    vectors = data / "weights" / "zegclip_coco_stuff171_multi.npy"
    if not vectors.exists():
        pytest.skip("the real pictures are not here")
    words = np.load(vectors).astype(np.float32)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    tower = clip_tower(clip_cut)
    right = []
    for name, shown in SHOWN.items():
        file = data / "video" / name
        picture = read_picture(file) if file.suffix == ".jpg" else frame(file, 20, 640)
        best = np.argsort(-words @ tower.features([picture])[0])[:5]
        right.append(any(COCO_STUFF[number] in shown.split() for number in best))
    # Measured: 25 of 28.
    assert np.mean(right) > 0.6


@pytest.fixture(scope="module")
def plain() -> Any:
    """torchvision's own RAFT, with the authors' tensors put into it by their order."""
    torch = pytest.importorskip("torch")
    make_importable()
    from torchvision.models.optical_flow import raft_large

    network = raft_large(weights=None).eval()
    given = torch.load(weights.path("raft-things"), map_location="cpu", weights_only=True)
    theirs: dict[tuple[Any, ...], list[Any]] = {}
    for name, tensor in given.items():
        if ".norm3." not in name:  # the same tensor as downsample.1
            theirs.setdefault(_place(name), []).append(tensor)
    state = network.state_dict()
    for name in state:
        state[name] = theirs[_place(name)].pop(0)
    assert not any(theirs.values())
    network.load_state_dict(state)
    return network


def _place(name: str) -> tuple[Any, ...]:
    """What a tensor is, whoever names it: its part of the network, its layer, and its kind."""
    parts = name.removeprefix("module.").split(".")
    where = {"fnet": "feature_encoder", "cnet": "context_encoder"}.get(parts[0], parts[0])
    if where == "update_block" and parts[1] == "mask":
        where = "mask_predictor"
    layer = tuple(part for part in parts if part.startswith("layer"))
    block = parts[parts.index(layer[0]) + 1] if layer else ""
    is_norm = any(part.startswith("norm") for part in parts) or parts[-2] == "1"
    return (where, layer, block, is_norm and "encoder" in where, parts[-1])


def _flow(network: Any, one: Any, two: Any) -> Any:
    """RAFT as its authors call it: pictures from -1 to 1, sides of eight."""
    torch = pytest.importorskip("torch")
    both = [
        torch.from_numpy(np.array(image)).permute(2, 0, 1)[None].float() / 127.5 - 1
        for image in (one, two)
    ]
    with torch.inference_mode():
        return network(*both, num_flow_updates=20)[-1][0].permute(1, 2, 0).numpy()


def test_raft_is_torchvision_s_with_the_authors_weights(plain: Any) -> None:
    raft = build("flow", "raft:model=things,updates=20,device=cpu").thing
    wide = texture(3, 140, 150)
    one, two = wide[5:133, 8:136], wide[2:130, 2:130]  # what is seen moves by (6, 3)
    (found,) = raft.flow([(one, two)])
    assert np.abs(found - _flow(plain, one, two)).max() < 1e-3
    assert np.abs(found - [6, 3])[16:-16, 16:-16].mean() < 0.1


@pytest.mark.parametrize(("speed", "dynamic"), [(1, 0.0), (8, 1.0)])
def test_dynamic_degree_equals_the_plain_protocol(
    speed: int, dynamic: float, plain: Any, tmp_path: Path
) -> None:
    video = write_film(tmp_path / "film.mkv", gliding(6, speed, height=128, width=128), rate=8)
    frames = all_frames(video)
    moved = 0
    for one, two in itertools.pairwise(frames):
        lengths = np.linalg.norm(_flow(plain, one, two), axis=-1).ravel()
        moved += np.sort(lengths)[-int(0.05 * lengths.size) :].mean() > 6 * 128 / 256
    expected = float(moved >= max(1, round(4 * len(frames) / 16)))
    found = score(f"{DYNAMIC_DEGREE}:by=video", video, FLOW)
    assert found.value == expected == dynamic


def test_warping_error_equals_the_plain_reference(plain: Any, tmp_path: Path) -> None:
    video = write_film(tmp_path / "film.mkv", gliding(3, 2, height=256, width=256))
    wants = FrameRequest(size=Size(exact=(128, 128)), filter=Filter.BILINEAR)
    errors = [
        warping_reference(one, two, _flow(plain, one, two), _flow(plain, two, one))
        for one, two in itertools.pairwise(all_frames(video, wants))
    ]
    known = [error for error in errors if error is not None]
    found = score(WARPING_ERROR, video, FLOW)
    assert found.details["error"] == pytest.approx(np.mean(known), rel=0.02)
