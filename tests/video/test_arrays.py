"""Frames from a training loop: what is recognised, and what is refused with what was seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pictures

from screentest.core import BadOption
from screentest.video.arrays import read_frames

RNG = np.random.default_rng(7)
CLIP = RNG.integers(0, 256, (5, 16, 24, 3), dtype=np.uint8)
BATCH = np.stack([CLIP, CLIP[::-1]])


def as_float(clip: Any, low: float, high: float) -> Any:
    return (clip.astype(np.float32) / 255 * (high - low) + low).astype(np.float32)


@pytest.mark.parametrize(
    ("given", "layout", "kind", "value_range"),
    [
        (BATCH, "NTHWC", "uint8", (0, 255)),
        (BATCH.transpose(0, 1, 4, 2, 3), "NTCHW", "uint8", (0, 255)),
        (BATCH.transpose(0, 4, 1, 2, 3), "NCTHW", "uint8", (0, 255)),
        (as_float(BATCH, 0, 1).transpose(0, 4, 1, 2, 3), "NCTHW", "float32", (0, 1)),
        (as_float(BATCH, -1, 1), "NTHWC", "float32", (-1, 1)),
        (as_float(BATCH, 0, 255), "NTHWC", "float32", (0, 255)),
        (BATCH.astype(np.int64), "NTHWC", "int64", (0, 255)),
        (list(BATCH), "NTHWC", "uint8", (0, 255)),
        ([list(CLIP), list(CLIP[::-1])], "NTHWC", "uint8", (0, 255)),
        ([list(map(Pictures.fromarray, clip)) for clip in BATCH], "NTHWC", "uint8", (0, 255)),
    ],
)
def test_a_batch_is_the_same_however_it_is_laid_out(
    given: Any, layout: str, kind: str, value_range: tuple[int, int]
) -> None:
    found = read_frames(given)
    assert found.batch
    assert (found.layout, found.kind, found.value_range) == (layout, kind, value_range)
    assert all((one == two).all() for one, two in zip(found.clips, BATCH, strict=True))


@pytest.mark.parametrize(
    "given",
    [
        CLIP,
        CLIP.transpose(0, 3, 1, 2),
        CLIP.transpose(3, 0, 1, 2),
        list(CLIP),
        [picture.transpose(2, 0, 1) for picture in CLIP],
        [Pictures.fromarray(picture) for picture in CLIP],
        np.concatenate([CLIP, np.full((5, 16, 24, 1), 255, np.uint8)], axis=3),
    ],
)
def test_one_clip(given: Any) -> None:
    found = read_frames(given)
    assert not found.batch
    assert (found.clips[0] == CLIP).all()


def test_grey_has_no_channels() -> None:
    grey = CLIP[..., 0]
    for frames in (grey, grey[..., None], grey[:, None], list(grey)):
        assert read_frames(frames).clips[0].shape == (5, 16, 24)
    assert read_frames(BATCH[..., 0], layout="NTHW").clips[1].shape == (5, 16, 24)


def with_hole(clip: Any, place: Any) -> Any:
    clip = clip.copy()
    clip[place] = np.nan
    return clip


HOLES = [
    with_hole(as_float(CLIP, 0, 1), 0),
    with_hole(as_float(CLIP, -1, 1).astype(np.float16), slice(4)),
    with_hole(as_float(CLIP, 0, 1).transpose(3, 0, 1, 2), (slice(None), 1)),
    with_hole(as_float(BATCH, 0, 255), 0),
    [with_hole(as_float(CLIP, 0, 1), 0), as_float(CLIP, 0, 1)],
    list(with_hole(as_float(CLIP, 0, 1), 2)),
]
"""NaN before frames or clips without any."""


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (CLIP[0], "16 × 24 × 3 are of no known layout"),
        (CLIP[0].transpose(2, 0, 1), "3 × 16 × 24 are of no known layout"),
        (CLIP[..., :2], "5 × 16 × 24 × 2 are of no known layout"),
        (np.zeros((2, 3, 3, 16, 16), np.uint8), "can be NTCHW or NCTHW"),
        (as_float(CLIP, -0.02, 1.01), "-0.02 to 1.01 are not clearly"),
        (as_float(CLIP, 0, 1.2), "0 to 1.2 are not clearly"),
        (as_float(CLIP, 0, 300), "0 to 300 are not clearly"),
        ((CLIP > 99).astype(np.uint8), "uint8 values from 0 to 1"),
        (CLIP.astype(np.uint16) * 257, "0 to 65535 are not clearly"),
        (np.where(CLIP > 250, np.nan, as_float(CLIP, 0, 1)), "are NaN or infinite"),
        *((hole, "are NaN or infinite") for hole in HOLES),
        (np.broadcast_to(np.float32(0), (10**14, 16, 24, 3)), "do not fit in memory"),
        (CLIP > 99, "type bool are masks, not pictures"),
        (CLIP.astype(complex), "type complex128"),
        (np.array(["a", "b"]), "are not pictures"),
        (CLIP[:0], "there are no frames"),
        (BATCH[:0], "there are no clips"),
        ([], "the list is empty"),
        ([CLIP[0], CLIP[1, :8]], "several sizes in one clip: frame 0 is 16 × 24 × 3, frame 1 is 8"),
        ([CLIP[0], CLIP[1].transpose(2, 0, 1)], "several layouts in one clip"),
        ([CLIP[0], as_float(CLIP[1], 0, 1)], "frames of several types"),
        ([CLIP, CLIP.transpose(0, 3, 1, 2)], r"TCHW \(5 × 3 × 16 × 24\), THWC"),
        ([BATCH], "a list of batches"),
        (
            [as_float(CLIP, 0, 1), as_float(CLIP, 0, 255)],
            "several ranges of values in one list: 0 to 1 and 0 to 255",
        ),
        ([as_float(CLIP, 0, 1), as_float(CLIP, -1, 1)], "0 to 1 and -1 to 1"),
        ([list(as_float(CLIP, 0, 255)), list(as_float(CLIP, 0, 1))], "0 to 255 and 0 to 1"),
        ((CLIP // 2).astype(np.int8), "int8 values from 0 to 127 are not clearly"),
        (np.ma.masked_greater(CLIP, 250), "masked array"),
        ([np.ma.masked_greater(one, 250) for one in CLIP], "masked array"),
        (as_float(CLIP, 0, 1).astype(np.float64) * 1e39, "values beyond 3.4e38"),
        ("film.mp4", "type str"),
        ([1, 2], "a frame cannot be of type int"),
        (np.concatenate([CLIP, CLIP[..., :1]], axis=3), "alpha that is not opaque"),
    ],
)
def test_what_is_not_clear_is_refused_with_what_was_seen(given: Any, seen: str) -> None:
    with pytest.raises(BadOption, match=seen):
        read_frames(given)


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        (CLIP.astype(np.uint16) * 257, "value_range=(0, 65535) for 16 bits."),
        (CLIP.astype(np.uint16) * 4, "(0, 1023) for 10 bits or value_range=(0, 4095) for 12 bits"),
        (CLIP > 99, "frames.astype('uint8') * 255"),
    ],
)
def test_what_to_do_is_said(given: Any, advice: str) -> None:
    with pytest.raises(BadOption) as error:
        read_frames(given)
    assert advice in error.value.advice


def test_black_goes_with_every_range() -> None:
    black = np.zeros_like(CLIP, dtype=np.float32)
    for low, high in ((0, 1), (-1, 1), (0, 255)):
        assert (read_frames([black, as_float(CLIP, low, high)]).clips[1] == CLIP).all()


def test_clips_of_one_array_share_its_range() -> None:
    """A bright clip of -1 to 1 has no values below 0: in a batch it is read as the others."""
    bright = np.maximum(CLIP, 128)
    found = read_frames(as_float(np.stack([CLIP, bright]), -1, 1))
    assert found.value_range == (-1, 1)
    assert (found.clips[1] == bright).all()
    said = read_frames([as_float(CLIP, -1, 1), as_float(bright, -1, 1)], value_range=(-1, 1))
    assert (said.clips[1] == bright).all()


def test_a_mask_of_nothing_and_small_integers_with_their_range() -> None:
    assert (read_frames(np.ma.masked_array(CLIP)).clips[0] == CLIP).all()
    assert read_frames(CLIP.astype(np.int8) & 127, value_range=(0, 127)).clips[0].max() == 255


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=4,
)


@given(ANYTHING)
def test_a_range_is_black_and_white_or_refused(value_range: Any) -> None:
    """Two finite numbers in their order: nothing else is taken for them."""
    clip = np.zeros((2, 8, 8, 3), np.float32)
    try:
        found = read_frames(clip, value_range=value_range)
    except BadOption:
        return
    if value_range is not None:
        low, high = map(float, value_range)
        assert np.isfinite(high - low)
        assert low < high
        assert found.value_range == (low, high)


def test_one_is_one() -> None:
    (clip,) = read_frames(BATCH[:1, :1]).clips
    assert clip.shape == (1, 16, 24, 3)
    assert read_frames(BATCH[:1, :1]).batch
    assert not read_frames(CLIP[:1]).batch


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("axes", [(0, 1, 2, 3), (0, 3, 1, 2), (3, 0, 1, 2), (2, 1, 0, 3)])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (0, 255)])
def test_floats_are_rounded_to_the_nearest_level(
    kind: Any, axes: tuple[int, ...], low: float, high: float
) -> None:
    levels = RNG.integers(0, 256, (3, 90, 250, 3)).astype(np.float64)  # more than one chunk
    off = levels + RNG.uniform(-0.4, 0.4, levels.shape) * (kind != np.float16)
    values = (off / 255 * (high - low) + low).clip(low, high).astype(kind)
    given = np.ascontiguousarray(values.transpose(axes)).transpose(np.argsort(axes))
    assert (read_frames(given).clips[0] == levels).all()
    over = given.copy()
    over[0, :8] = low - 0.05 * (high - low)
    over[0, 8:16] = high + 0.05 * (high - low)
    found = read_frames(over, value_range=(low, high)).clips[0]
    assert (found[0, :8] == 0).all()
    assert (found[0, 8:16] == 255).all()
    assert (found[1:] == levels[1:]).all()


def test_a_range_that_the_first_picture_does_not_show() -> None:
    """Black, and in 0 to 1, until a later picture has values that say otherwise."""
    levels = CLIP.copy()
    levels[0] = 128
    found = read_frames(as_float(levels, -1, 1))
    assert found.value_range == (-1, 1)
    assert (found.clips[0] == levels).all()
    levels[0] = 0
    found = read_frames([as_float(levels, 0, 255), as_float(CLIP, 0, 255)])
    assert found.value_range == (0, 255)
    assert (found.clips[0] == levels).all()


def test_black_is_a_picture() -> None:
    """A model that makes nothing else has collapsed, and that is a result."""
    found = read_frames(np.zeros((5, 16, 24, 3), np.float32))
    assert (found.layout, found.kind, found.value_range) == ("THWC", "float32", (0, 1))
    assert not found.clips[0].any()
    assert not read_frames(np.zeros((5, 16, 24, 3), np.uint8)).clips[0].any()


def test_clips_of_several_sizes_are_said_as_they_are() -> None:
    found = read_frames([CLIP, CLIP[:3, :, :16]])
    assert [clip.shape[:3] for clip in found.clips] == [(5, 16, 24), (3, 16, 16)]
    assert (found.layout, found.kind, found.value_range) == ("THWC", "uint8", (0, 255))


def test_it_can_be_said_outright() -> None:
    doubtful = np.ascontiguousarray(BATCH[:, :3].transpose(0, 1, 4, 2, 3))
    assert (read_frames(doubtful, layout="NTCHW").clips[0] == CLIP[:3]).all()
    over = as_float(CLIP, -0.02, 1.01)
    assert read_frames(over, value_range=(0, 1)).clips[0].max() == 255
    with pytest.raises(BadOption, match="not in the value_range"):
        read_frames(CLIP, value_range=(0, 1))
    with pytest.raises(BadOption, match="invalid layout 'XYZ'"):
        read_frames(CLIP, layout="XYZ")
    with pytest.raises(BadOption, match="has 16 channels"):
        read_frames(CLIP, layout="TCWH")


@pytest.mark.models
def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    plain = torch.from_numpy(BATCH.copy())
    assert (read_frames(plain).clips[0] == CLIP).all()
    half = torch.from_numpy(as_float(BATCH, 0, 1)).requires_grad_(True).permute(0, 4, 1, 2, 3)
    found = read_frames(half.to(torch.bfloat16))
    assert (found.layout, found.kind) == ("NCTHW", "bfloat16")
    assert np.abs(found.clips[0].astype(int) - CLIP).max() <= 1


@pytest.mark.models
def test_a_tensor_that_another_stream_still_writes() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    clip = torch.from_numpy(CLIP.copy()).cuda()
    made = torch.zeros_like(clip)
    torch.cuda.synchronize()
    leaving = torch.zeros(clip.shape, dtype=clip.dtype, pin_memory=True)
    for tensor in (made, leaving):
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(100_000_000)  # cycles: some 50 ms
            tensor.copy_(clip, non_blocking=True)
        assert (read_frames(tensor).clips[0] == CLIP).all()


@pytest.mark.models
@pytest.mark.filterwarnings("ignore::UserWarning")  # of torch: some kinds are old or new
def test_tensors_of_any_kind_are_read_or_refused() -> None:
    """What torch can hold and NumPy cannot: the same pictures, or a word on why not."""
    torch = pytest.importorskip("torch")
    clip = torch.from_numpy(as_float(CLIP, 0, 1))
    read = {
        "every second column": clip.repeat_interleave(2, 2)[:, :, ::2],
        "mirrored twice": clip.flip(1).flip(1),
        "channels last": clip.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last),
        "within a graph": clip.clone().requires_grad_() * 1,
        "a parameter": torch.nn.Parameter(clip.clone()),
        "a view that is negative": torch._neg_view(-clip),
        "float16": clip.half(),
        "float64": clip.double(),
        "bfloat16 in a list": list(clip.bfloat16()),
    }
    for name, tensor in read.items():
        (levels,) = read_frames(tensor).clips
        # bfloat16 has 8 bits of precision: half a level of 255, and the rounding.
        assert np.abs(levels.astype(int) - CLIP).max() <= name.startswith("bfloat16"), name
    (levels,) = read_frames(clip.to(torch.float8_e4m3fn)).clips
    # 3 bits after the first: 1/16 of a value near 1, so 255 / 32 when rounded to the nearest.
    assert np.abs(levels.astype(int) - CLIP).max() <= 9
    (levels,) = read_frames(clip[:1].expand(5, -1, -1, -1)).clips
    assert (levels == CLIP[0]).all()

    # Any bytes that lie there now are pictures of this type.
    freed = torch.from_numpy(CLIP.copy()).clone()
    freed.untyped_storage().resize_(0)
    refused = {
        "meta": clip.to("meta"),
        "meta in a list": [clip[0], clip[1].to("meta")],
        "sparse": clip.to_sparse(),
        "compressed": clip[0, :, :, 0].to_sparse_csr(),
        "of another library": clip.to_mkldnn(),
        "quantised": torch.quantize_per_tensor(clip, 1 / 255, 0, torch.quint8),
        "complex": torch.complex(clip, clip),
        "conjugated": torch.complex(clip, clip).conj(),
        "not made yet": torch.nn.UninitializedParameter(),
        "freed": freed,
        "mask": clip > 0.5,
        "nan": clip * float("nan"),
        "without frames": clip[:0],
        "without rows": clip[:, :0],
        "without channels": clip[..., :0],
        "a number": torch.tensor(1.0),
        "nothing": torch.empty(0),
    }
    for tensor in refused.values():
        with pytest.raises(BadOption):
            read_frames(tensor)
