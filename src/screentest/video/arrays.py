"""Frames of a training loop, recognised or refused: layout, type and range of values.

>>> import numpy as np
>>> batch = np.random.default_rng(0).random((2, 3, 16, 64, 96), np.float32)
>>> found = read_frames(batch)
>>> len(found.clips), found.words
(2, '2 clips of 16 frames, 96×64, NCTHW float32 read as 0 to 1')

What can be read in two ways is refused with what was seen: a score of the wrong axis or of values
that were cut off looks like any other. ``layout`` and ``value_range`` say it outright.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from screentest.core.errors import BadOption

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

LAYOUTS: dict[int, tuple[str, ...]] = {
    5: ("NTHWC", "NTCHW", "NCTHW"),
    4: ("THWC", "TCHW", "CTHW"),
    3: ("THW",),
}
"""What is looked for, by the number of axes. N: clips, T: frames, C: channels."""
CHANNELS = (1, 3, 4)
SMALLEST_SIDE = 8
"""Pixels; what would be a smaller picture is another axis."""
_NEGATIVE = -0.25
"""Values from -1 to 1 have dark places; a least one between here and 0 is an overshoot of 0 to 1,
or a clip without any: nobody can tell."""
_BRIGHT = 16.0
"""Floats of 0 to 255 have places that bright; a largest one of 1.02 is an overshoot of 0 to 1."""
_OVERSHOOT = 0.1
"""The share of a range that was given by which values may lie outside: they are cut off."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Clips as pictures of eight bits, and how they were read."""

    clips: tuple[NDArray[np.uint8], ...]
    """Each frames × height × width × 3, or without the last axis where they are grey."""
    words: str
    batch: bool
    """Whether several were given, even if there is only one in it."""


def read_frames(
    frames: Any, *, layout: str = "", value_range: tuple[float, float] | None = None
) -> Frames:
    """The clips in an array, a tensor, or a list of arrays, of pictures or of clips."""
    if isinstance(frames, np.ndarray) or hasattr(frames, "__array__") or _is_tensor(frames):
        given = [_as_array(frames)]
        axes = _layout_of(given[0].shape, layout)
        clips = list(given[0]) if axes[0] == "N" else given
        return _clips(clips, axes.removeprefix("N"), axes[0] == "N", value_range)
    if not isinstance(frames, Sequence) or isinstance(frames, str | bytes):
        raise BadOption(
            f"frames cannot be of type {type(frames).__name__}",
            advice="Give an array, a tensor, or a list of arrays or pictures.",
        )
    if not frames:
        raise BadOption("there are no frames: the list is empty")
    if isinstance(frames[0], Sequence):  # a list of clips, each a list of pictures
        several = [_stacked(one, layout) for one in frames]
    else:
        first = _as_array(frames[0])
        if first.ndim == 4 or (first.ndim == 3 and layout == "THW"):  # a list of clips
            arrays = [_as_array(one) for one in frames]
            several = [(one, _layout_of(one.shape, layout)) for one in arrays]
        elif first.ndim == 5:
            raise BadOption(f"a list of batches: its first array has the shape {_sizes(first)}")
        else:
            clip, axes = _pictures(frames, layout)
            return _clips([clip], axes, False, value_range)
    kinds = {axes for _, axes in several}
    if len(kinds) > 1:
        raise BadOption(f"clips of several layouts in one list: {', '.join(sorted(kinds))}")
    return _clips([clip for clip, _ in several], kinds.pop(), True, value_range)


def _stacked(pictures: Sequence[Any], layout: str) -> tuple[Array, str]:
    if not pictures:
        raise BadOption("one of the clips has no frames")
    return _pictures(pictures, layout)


def _pictures(given: Sequence[Any], layout: str) -> tuple[Array, str]:
    """Single pictures as one clip."""
    arrays = [_as_array(one) for one in given]
    shapes = {one.shape for one in arrays}
    if len(shapes) > 1:
        some = " and ".join(" × ".join(map(str, shape)) for shape in sorted(shapes)[:2])
        raise BadOption(f"frames of several sizes: {some}")
    kinds = {str(one.dtype) for one in arrays}
    if len(kinds) > 1:
        raise BadOption(f"frames of several types: {', '.join(sorted(kinds))}")
    clip = np.stack(arrays)
    return clip, _layout_of(clip.shape, layout, ("THWC", "TCHW", "THW"))


def _clips(
    clips: Sequence[Array],
    axes: str,
    batch: bool,
    value_range: tuple[float, float] | None,
) -> Frames:
    """All clips with the channels last and eight bits; one range of values holds for all."""
    if not clips:
        raise BadOption("there are no clips: the batch is empty")
    if not all(clip.size for clip in clips):
        raise BadOption(f"there are no frames: an array has the shape {_sizes(clips[0])}")
    kinds = {clip.dtype for clip in clips}
    if len(kinds) > 1:
        raise BadOption(f"clips of several types: {', '.join(sorted(map(str, kinds)))}")
    order = [axes.index(axis) for axis in ("THWC" if "C" in axes else "THW")]
    moved = [clip.transpose(order) for clip in clips]
    low, high = _range_of(moved, value_range)
    eight = tuple(_eight_bits(clip, low, high) for clip in moved)
    lengths = {len(clip) for clip in eight}
    height, width = eight[0].shape[1:3]
    words = f"{len(clips)} clips of " if batch else ""
    words += f"{min(lengths)} to {max(lengths)}" if len(lengths) > 1 else str(lengths.pop())
    words += f" frames, {width}×{height}, {'N' if batch else ''}{axes} {clips[0].dtype}"
    words += f" read as {low:g} to {high:g}"
    return Frames(tuple(_without_alpha(clip) for clip in eight), words, batch)


def _is_tensor(given: Any) -> bool:
    return type(given).__module__.partition(".")[0] == "torch" and hasattr(given, "detach")


def _as_array(given: Any) -> Array:
    """An array of what is one: NumPy's, torch's on any device, a picture of PIL."""
    if isinstance(given, np.ndarray):
        found = given
    elif _is_tensor(given):
        plain = given.detach().cpu()
        # NumPy has no bfloat16; what a model computes in is no reason to refuse its frames.
        found = (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy()
    elif type(given).__module__.startswith("PIL."):
        plain = given if given.mode in ("L", "RGB", "RGBA") else given.convert("RGB")
        found = np.asarray(plain)
    elif hasattr(given, "__array__"):
        found = np.asarray(given)
    else:
        raise BadOption(
            f"a frame cannot be of type {type(given).__name__}",
            advice="Give arrays, tensors or PIL pictures.",
        )
    if found.dtype == np.bool_ or not np.issubdtype(found.dtype, np.number):
        raise BadOption(f"frames of type {found.dtype} are not pictures")
    if np.issubdtype(found.dtype, np.complexfloating):
        raise BadOption(f"frames of type {found.dtype} are not pictures")
    return found


def _sizes(array: Array) -> str:
    return " × ".join(map(str, array.shape)) or "()"


def _layout_of(shape: tuple[int, ...], given: str, known: Sequence[str] = ()) -> str:
    """What each axis is; the only layout that fits, or the one that was given."""
    sizes = " × ".join(map(str, shape))
    if given:
        wanted = given.upper()
        if sorted(wanted) not in [sorted(one) for one in _ALL]:
            raise BadOption(
                f"invalid layout {given!r}", advice=f"One of {', '.join(_ALL)}, in any order."
            )
        # A list of clips has its N in the list.
        wanted = wanted if len(wanted) == len(shape) else wanted.removeprefix("N")
        if len(wanted) != len(shape):
            raise BadOption(f"layout {given} has {len(given)} axes, and the array is {sizes}")
        channels = shape[wanted.index("C")] if "C" in wanted else 1
        if channels not in CHANNELS:
            raise BadOption(
                f"layout {given} of an array {sizes} has {channels} channels:"
                " must be 1 (grey), 3 (RGB) or 4 (RGBA)"
            )
        return wanted
    fitting = [
        one
        for one in (known or LAYOUTS.get(len(shape), ()))
        if len(one) == len(shape) and _fits(one, shape)
    ]
    if fitting == ["THW"] and shape[0] in CHANNELS and not known:
        fitting = []  # as well one picture with its channels first
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise BadOption(
            f"frames of the shape {sizes} can be {' or '.join(fitting)}",
            advice=f'Say which: layout="{fitting[0]}".',
        )
    looked = ", ".join(LAYOUTS.get(len(shape), _ALL))
    raise BadOption(
        f"frames of the shape {sizes} are of no known layout: looked for {looked},"
        f" with 1, 3 or 4 channels and sides of {SMALLEST_SIDE} pixels or more",
        advice="N clips, T frames, C channels, height and width; say which with layout=, as in"
        ' layout="NCTHW". One picture is not a video: give [picture, …].',
    )


_ALL = (*LAYOUTS[5], *LAYOUTS[4], *LAYOUTS[3], "NTHW")


def _fits(layout: str, shape: tuple[int, ...]) -> bool:
    size = dict(zip(layout, shape, strict=True))
    return size.get("C", 1) in CHANNELS and min(size["H"], size["W"]) >= SMALLEST_SIDE


def _range_of(clips: Sequence[Array], given: tuple[float, float] | None) -> tuple[float, float]:
    """The values that stand for black and for white."""
    kind = clips[0].dtype
    least = min(float(clip.min()) for clip in clips)
    most = max(float(clip.max()) for clip in clips)
    if not np.isfinite(least + most):
        lost = sum(int(np.count_nonzero(~np.isfinite(clip))) for clip in clips)
        raise BadOption(
            f"{lost:,} of {sum(clip.size for clip in clips):,} values are NaN or infinite",
            advice="The model or its decoder overflowed: there is nothing to score.",
        )
    seen = f"{kind} values from {least:g} to {most:g}"
    if given is not None:
        low, high = map(float, given)
        if not (np.isfinite(low + high) and low < high):
            raise BadOption(f"invalid value_range ({low:g}, {high:g}): must be (black, white)")
        reach = _OVERSHOOT * (high - low)
        if least < low - reach or most > high + reach:
            raise BadOption(f"{seen} are not in the value_range ({low:g}, {high:g})")
        return low, high
    if np.issubdtype(kind, np.floating):
        found = _float_range(least, most)
    else:
        # One cast too early makes black and almost black of 0 to 1.
        found = (0.0, 255.0) if least >= 0 and (1 < most <= 255 or most == 0) else None
    if found is None:
        raise BadOption(
            f"{seen} are not clearly 0 to 1, -1 to 1 or 0 to 255",
            advice="Say what black and white are: value_range=(0, 1), (-1, 1) or (0, 255).",
        )
    return found


def _float_range(least: float, most: float) -> tuple[float, float] | None:
    if least >= 0 and 0 < most <= 1:  # zeros alone are black, or the grey between -1 and 1
        return 0.0, 1.0
    if -1 <= least <= _NEGATIVE and most <= 1:
        return -1.0, 1.0
    if least >= 0 and _BRIGHT <= most <= 255:
        return 0.0, 255.0
    return None


def _eight_bits(clip: Array, low: float, high: float) -> NDArray[np.uint8]:
    if clip.dtype == np.uint8 and (low, high) == (0.0, 255.0):
        return clip
    import cv2

    scale = 255.0 / (high - low)
    # One picture at a time, since a clip of floats is large enough; and both in the order in which
    # the clip is in memory, channels first or last.
    made = np.empty_like(clip, dtype=np.uint8)
    for picture, into in zip(clip, made, strict=True):
        levels = np.ascontiguousarray(picture.ravel(order="K"), np.float32)
        if low or float(levels.min()) < 0:
            levels = np.maximum(levels - np.float32(low), 0)
        # Times the scale, rounded and capped at 255 in one pass; it would turn negatives round.
        found = cv2.convertScaleAbs(levels, alpha=scale)
        into.ravel(order="K")[:] = found.ravel()
    return made


def _without_alpha(clip: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pictures of three channels, or of one without the axis; an alpha that hides is refused."""
    if clip.ndim == 3:
        return clip
    if clip.shape[3] == 4:
        if int(clip[..., 3].min()) < 255:
            raise BadOption(
                "the fourth channel is an alpha that is not opaque everywhere",
                advice="Put the frames on a background, and give three channels.",
            )
        return clip[..., :3]
    return clip[..., 0] if clip.shape[3] == 1 else clip
