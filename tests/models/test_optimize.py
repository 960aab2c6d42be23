"""What makes a tower quicker changes nothing but rounding: held to the untouched model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from screentest.models.networks.pretrained import (  # noqa: E402  # noqa: E402
    ModelDevice,
    PictureBatches,
    _layers,
    _takes_tensors,
    optimize_model,
    pixel_inputs,
)
from tests.models import tiny  # noqa: E402
from tests.models.torchvision_here import make_importable  # noqa: E402

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

CPU = ModelDevice("cpu", torch.float32)


@pytest.fixture(scope="module", autouse=True)
def _torchvision() -> None:
    make_importable()


def pictures(count: int) -> list[Any]:
    noise = np.random.default_rng(3)
    return [noise.integers(0, 256, (48, 64, 3), np.uint8) for _ in range(count)]


@pytest.mark.parametrize(
    ("make", "side"), [(tiny.clip, 32), (tiny.siglip, 32), (tiny.dinov2, 28), (tiny.dinov2, 56)]
)
def test_a_quickened_tower_gives_the_same(
    make: Callable[[Path], Path], side: int, tmp_path: Path
) -> None:
    """In single precision the order of sums moves the sixth digit, no more.

    The second size of DINOv2 is one that its positions have to be fitted to.
    """
    folder = make(tmp_path / "model")
    plain, quick = (transformers.AutoModel.from_pretrained(folder).eval() for _ in range(2))
    assert optimize_model(quick, ModelDevice("cuda", torch.float32)) == {}
    inputs = torch.randn(3, 3, side, side, generator=torch.Generator().manual_seed(1))
    for batch in (inputs, inputs[:1] * 0.5):
        with torch.no_grad():
            one, other = (_vectors(model, batch) for model in (plain, quick))
        assert torch.allclose(one, other, atol=1e-5)
    assert optimize_model(plain, CPU) == {}
    assert len(_layers(quick)) == 2  # as many as the tiny towers have


def _vectors(model: Any, inputs: Any) -> Any:
    if hasattr(model, "get_image_features"):
        found = model.get_image_features(pixel_values=inputs)
        return getattr(found, "pooler_output", found)
    return model(pixel_values=inputs).last_hidden_state


def test_pictures_as_one_tensor_are_prepared_the_same(tmp_path: Path) -> None:
    """What a GPU gets (one tensor, channels first) against what a CPU gets (a list of arrays)."""
    processor = transformers.AutoImageProcessor.from_pretrained(tiny.dinov2(tmp_path / "model"))
    assert _takes_tensors(processor)
    images = pictures(4)
    tensor = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)
    as_tensor = processor(
        images=tensor, return_tensors="pt", input_data_format="channels_first", device="cpu"
    )
    for image in images:
        image.flags.writeable = False  # as frames of a scan are; torch would warn of sharing them
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*not writable")
        prepared = pixel_inputs(processor, images, CPU)["pixel_values"]
    assert torch.equal(prepared, as_tensor["pixel_values"])


def test_a_batch_that_does_not_fit_is_halved(tmp_path: Path) -> None:
    processor = transformers.AutoImageProcessor.from_pretrained(tiny.dinov2(tmp_path / "model"))
    stream = PictureBatches(processor, CPU, 8)

    def compute(inputs: Any) -> Any:
        if len(inputs["pixel_values"]) > 3:
            raise torch.OutOfMemoryError("no room")
        return inputs["pixel_values"].mean(dim=(1, 2, 3))

    rows = torch.cat(stream.rows(pictures(5), compute))
    assert (len(rows), stream.batch) == (5, 2)
    assert PictureBatches(processor, CPU).batch == 32
