"""Frames of a training loop, recognised or refused: layout, type and range of values.

>>> import numpy as np
>>> batch = np.random.default_rng(0).random((2, 3, 16, 64, 96), np.float32)
>>> found = read_frames(batch)
>>> len(found.clips), found.layout, found.kind, found.value_range
(2, 'NCTHW', 'float32', (0.0, 1.0))

What can be read in two ways is refused with what was seen: a score of the wrong axis or of values
that were cut off looks like any other. ``layout`` and ``value_range`` say it outright.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest.core.errors import BadOption

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
    layout: str
    """The axes; those of one clip where a list holds clips of several shapes."""
    kind: str
    """The type of the values."""
    value_range: tuple[float, float]
    """The values that are black and white."""
    batch: bool
    """Whether several were given, even if there is only one in it."""


def read_frames(
    frames: Any, *, layout: str = "", value_range: tuple[float, float] | None = None
) -> Frames:
    """Return the clips in an array, a tensor, or a list of arrays, of pictures or of clips."""
    if value_range is not None:
        value_range = _given_range(value_range)
    if isinstance(frames, np.ndarray) or hasattr(frames, "__array__") or _is_tensor(frames):
        given = [_as_array(frames)]
        axes = _layout_of(given[0].shape, layout)
        clips = list(given[0]) if axes[0] == "N" else given
        return _clips(clips, axes.removeprefix("N"), axes[0] == "N", value_range, _kind_of(frames))
    if not isinstance(frames, Sequence) or isinstance(frames, str | bytes):
        raise BadOption(
            f"frames cannot be of type {type(frames).__name__}",
            advice="Give an array, a tensor, or a list of arrays or pictures.",
        )
    if not frames:
        raise BadOption("there are no frames: the list is empty")
    if isinstance(frames[0], Sequence):  # a list of clips, each a list of pictures
        several = [_pictures(frame, layout) for frame in frames]
    else:
        first = _as_array(frames[0])
        if first.ndim == 4 or (first.ndim == 3 and layout == "THW"):  # a list of clips
            arrays = [_as_array(frame) for frame in frames]
            several = [(array, _layout_of(array.shape, layout)) for array in arrays]
        elif first.ndim == 5:
            raise BadOption(f"a list of batches: its first array has the shape {_sizes(first)}")
        else:
            clip, axes = _pictures(frames, layout)
            return _clips([clip], axes, False, value_range, _kind_of(frames))
    kinds = {axes for _, axes in several}
    if len(kinds) > 1:
        seen = {axes: f"{axes} ({_sizes(clip)})" for clip, axes in several}
        raise BadOption(
            f"clips of several layouts in one list: {', '.join(sorted(seen.values()))}",
            advice='Say it where they are one: layout="THWC".',
        )
    clips = [clip for clip, _ in several]
    return _clips(clips, kinds.pop(), True, value_range, _kind_of(frames), several=True)


def _pictures(given: Sequence[Any], layout: str) -> tuple[Array, str]:
    """Single pictures as one clip."""
    if not given:
        raise BadOption("one of the clips has no frames")
    arrays = [_as_array(frame) for frame in given]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        wrong = next(place for place, array in enumerate(arrays) if array.shape != arrays[0].shape)
        sizes = f"frame 0 is {_sizes(arrays[0])}, frame {wrong} is {_sizes(arrays[wrong])}"
        what = "sizes" if len({tuple(sorted(shape)) for shape in shapes}) > 1 else "layouts"
        advice = "Frames of one clip are alike; several clips are a list of lists, or of arrays."
        raise BadOption(f"frames of several {what} in one clip: {sizes}", advice=advice)
    kinds = {str(array.dtype) for array in arrays}
    if len(kinds) > 1:
        raise BadOption(f"frames of several types: {', '.join(sorted(kinds))}")
    clip = np.stack(arrays)
    return clip, _layout_of(clip.shape, layout, ("THWC", "TCHW", "THW"))


def _clips(
    clips: Sequence[Array],
    axes: str,
    batch: bool,
    value_range: tuple[float, float] | None,
    kind: str,
    *,
    several: bool = False,
) -> Frames:
    """Return all clips with the channels last and eight bits; one range of values holds for all.

    ``kind`` is the type that was given: NumPy holds some tensors as another. ``several`` clips were
    given one by one, and each may have been made in another way.
    """
    if not clips:
        raise BadOption("there are no clips: the batch is empty")
    if not all(clip.size for clip in clips):
        raise BadOption(f"there are no frames: an array has the shape {_sizes(clips[0])}")
    kinds = {clip.dtype for clip in clips}
    if len(kinds) > 1:
        raise BadOption(f"clips of several types: {', '.join(sorted(map(str, kinds)))}")
    order = [axes.index(axis) for axis in ("THWC" if "C" in axes else "THW")]
    moved = [clip.transpose(order) for clip in clips]
    try:
        eight, low, high = _levels(moved, value_range, kind, several=several)
    except MemoryError:
        raise BadOption(f"frames of the shape {_sizes(clips[0])} do not fit in memory") from None
    # Arrays of several shapes cannot be one: each is a clip of that layout in a list.
    same_shape = len({clip.shape for clip in clips}) == 1
    layout = f"{'N' if batch and same_shape else ''}{axes}"
    pictures = tuple(_without_alpha(clip) for clip in eight)
    return Frames(pictures, layout, kind, (low, high), batch)


def _is_tensor(given: Any) -> bool:
    return type(given).__module__.partition(".")[0] == "torch" and hasattr(given, "detach")


def _kind_of(frames: Any) -> str:
    """Return the type of the values of what was given, by its own name."""
    while isinstance(frames, Sequence):
        frames = frames[0]
    kind = getattr(frames, "dtype", None) or _as_array(frames).dtype
    return str(kind).removeprefix("torch.")


def _as_array(given: Any) -> Array:
    """Return an array of what is one: NumPy's, torch's on any device, a picture of PIL."""
    if isinstance(given, np.ndarray):
        if np.ma.is_masked(given):
            raise BadOption(
                "frames are a masked array: what is masked has no value",
                advice="Give it one: frames.filled(0).",
            )
        array = np.asarray(given)
    elif _is_tensor(given):
        array = _of_tensor(given)
    elif type(given).__module__.startswith("PIL."):
        plain = given if given.mode in ("L", "RGB", "RGBA") else given.convert("RGB")
        array = np.asarray(plain)
    elif hasattr(given, "__array__"):
        array = np.asarray(given)
    else:
        raise BadOption(
            f"a frame cannot be of type {type(given).__name__}",
            advice="Give arrays, tensors or PIL pictures.",
        )
    if array.dtype == np.bool_:
        raise BadOption(
            "frames of type bool are masks, not pictures",
            advice="To score them as black and white: frames.astype('uint8') * 255.",
        )
    if not np.issubdtype(array.dtype, np.number):
        raise BadOption(f"frames of type {array.dtype} are not pictures")
    if np.issubdtype(array.dtype, np.complexfloating):
        raise BadOption(f"frames of type {array.dtype} are not pictures")
    return array


def _of_tensor(given: Any) -> Array:
    """Return the values of a tensor, whatever its strides and device; raise where it has none."""
    try:
        cuda = sys.modules["torch"].cuda
        # A stream may still write it, also into memory of the host that is pinned.
        if given.is_cuda or (cuda.is_initialized() and given.is_pinned()):
            cuda.synchronize(given.device if given.is_cuda else None)
        plain = given.detach().cpu().resolve_neg()
        if plain.numel() and not plain.untyped_storage().nbytes():
            raise RuntimeError("its storage was freed")  # NumPy would read what is there now
        # NumPy has no bfloat16 and no floats of eight bits, and is slow with float16.
        half = plain.is_floating_point() and plain.element_size() < 4
        array: Array = (plain.float() if half else plain).numpy()
    except (RuntimeError, TypeError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise BadOption(
            f"a tensor on {given.device} without plain values: {why}",
            advice="Give a dense one that holds values: .to_dense(), .dequantize(), .real.",
        ) from error
    return array


def _sizes(array: Array) -> str:
    return " × ".join(map(str, array.shape)) or "()"


def _layout_of(shape: tuple[int, ...], given: str, known: Sequence[str] = ()) -> str:
    """Name each axis: the only layout that fits, or the one that was given."""
    sizes = " × ".join(map(str, shape))
    if given:
        wanted = given.upper()
        if sorted(wanted) not in [sorted(axes) for axes in _ALL]:
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
        axes
        for axes in (known or LAYOUTS.get(len(shape), ()))
        if len(axes) == len(shape) and _fits(axes, shape)
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


def _must_be_finite(clips: Sequence[Array], least: float, most: float) -> None:
    if not np.isfinite(least + most):
        lost = sum(int(np.count_nonzero(~np.isfinite(clip))) for clip in clips)
        if not lost:
            raise BadOption("frames have values beyond 3.4e38, the largest of 32 bits")
        raise BadOption(
            f"{lost:,} of {sum(clip.size for clip in clips):,} values are NaN or infinite",
            advice="The model or its decoder overflowed: there is nothing to score.",
        )


def _range_of(
    kind: np.dtype[Any], name: str, least: float, most: float, given: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the values that stand for black and for white."""
    seen = f"{name} values from {least:g} to {most:g}"
    if given is not None:
        low, high = given
        reach = _OVERSHOOT * (high - low)
        if least < low - reach or most > high + reach:
            raise BadOption(f"{seen} are not in the value_range ({low:g}, {high:g})")
        return low, high
    if np.issubdtype(kind, np.floating):
        guess = _float_range(least, most)
    else:
        # One cast too early makes black and almost black of 0 to 1.
        fits = np.iinfo(kind).max >= 255 and (1 < most <= 255 or most == 0)
        guess = (0.0, 255.0) if least >= 0 and fits else None
    if guess is None:
        ranges = "value_range=(0, 1), (-1, 1) or (0, 255)"
        if kind == np.int8:
            ranges = "value_range=(0, 127) or (-128, 127)"
        if most > 255 and np.issubdtype(kind, np.integer):
            # Pictures of 10, 12 and 16 bits look alike: a dark one of 16 fits into 12.
            bits = [depth for depth in (10, 12, 16) if most < 2**depth]
            ranges = " or ".join(
                f"value_range=(0, {2**depth - 1}) for {depth} bits" for depth in bits
            )
        raise BadOption(
            f"{seen} are not clearly 0 to 1, -1 to 1 or 0 to 255",
            advice=f"Say what black and white are: {ranges or 'value_range=(black, white)'}.",
        )
    return guess


def _float_range(least: float, most: float) -> tuple[float, float] | None:
    if least >= 0 and most <= 1:  # zeros alone are black: a model that makes nothing else is told
        return 0.0, 1.0
    if -1 <= least <= _NEGATIVE and most <= 1:
        return -1.0, 1.0
    if least >= 0 and _BRIGHT <= most <= 255:
        return 0.0, 255.0
    return None


def _levels(
    clips: Sequence[Array], given: tuple[float, float] | None, name: str, *, several: bool
) -> tuple[list[NDArray[np.uint8]], float, float]:
    """Return all clips in eight bits, and the range of values that holds for all of them."""
    kind = clips[0].dtype
    plain = given is None or given == (0.0, 255.0)
    if kind == np.uint8 and plain and any(picture.max() > 1 for picture in chain(*clips)):
        return list(clips), 0.0, 255.0  # seen at the first picture that is not black
    # Made while the values are looked at, since reading them takes the longest: with the range that
    # the first picture lets expect, and once more in the rare case that all of them say otherwise.
    first = clips[0][0]
    guess = given or _float_range(float(first.min()), float(first.max())) or (0.0, 255.0)
    made = [_Converted(clip, *guess) for clip in clips]
    # NumPy's, since a NaN is lost in those of Python.
    least = float(np.min([clip.least for clip in made]))
    most = float(np.max([clip.most for clip in made]))
    _must_be_finite(clips, least, most)
    if given is None and several and np.issubdtype(kind, np.floating):
        seen = (_float_range(clip.least, clip.most) for clip in made if clip.least or clip.most)
        ranges = [f"{low:g} to {high:g}" for low, high in filter(None, dict.fromkeys(seen))]
        if len(ranges) > 1:  # black is in all of them
            raise BadOption(
                f"clips of several ranges of values in one list: {' and '.join(ranges)}",
                advice="Score them one by one; or say what holds for all: value_range=(-1, 1).",
            )
    low, high = _range_of(kind, name, least, most, given)
    if (low, high) != guess:
        made = [_Converted(clip, low, high) for clip in clips]
    return [clip.levels for clip in made], low, high


def _given_range(given: Any) -> tuple[float, float]:
    try:
        low, high = map(float, given)
    except (TypeError, ValueError, OverflowError):
        low = high = 0.0
    if isinstance(given, str | bytes) or not (1e-30 < high - low < 1e30):
        raise BadOption.of("value_range", given, "(black, white)")
    return low, high


class _Converted:
    """A clip in eight bits, channels last, made in one pass; and its least and largest value."""

    CHUNK = 1 << 16
    """Values that stay in the cache of a processor while they are looked at and converted."""

    def __init__(self, clip: Array, low: float, high: float) -> None:
        self.least, self.most = np.inf, -np.inf
        self._low, self._scale = low, 255.0 / (high - low)
        self.levels = np.empty(clip.shape, np.uint8)
        coloured = clip.ndim == 4 and clip.shape[3] > 1
        planes = np.empty((clip.shape[3] if coloured else 0, *clip.shape[1:3]), np.uint8)
        with np.errstate(over="ignore"):  # infinite, and refused as such
            for picture, into in zip(clip, self.levels, strict=True):
                if coloured and not picture.flags.c_contiguous:
                    self._planes(picture, planes, into)
                else:
                    self._flat(np.ascontiguousarray(picture).reshape(-1), into.reshape(-1))

    def _planes(self, picture: Array, planes: NDArray[np.uint8], into: NDArray[np.uint8]) -> None:
        """Channels that lie one after the other."""
        import cv2

        for number, plane in enumerate(planes):
            values = np.ascontiguousarray(picture[..., number])
            self._flat(values.reshape(-1), plane.reshape(-1))
        cv2.merge(list(planes), into)

    def _flat(self, values: Array, into: NDArray[np.uint8]) -> None:
        import cv2

        for begin in range(0, values.size, self.CHUNK):
            chunk = values[begin : begin + self.CHUNK].astype(np.float32, copy=False)
            least, most = float(chunk.min()), float(chunk.max())
            # A NaN is neither: once seen it is kept, so that it is found.
            self.least = float(np.minimum(self.least, least))
            self.most = float(np.maximum(self.most, most))
            if least < self._low:  # what is negative then would be turned round
                chunk = np.maximum(chunk, np.float32(self._low))
            # Times the scale, rounded and capped at 255.
            target = into[begin : begin + self.CHUNK].reshape(-1, 1)
            cv2.convertScaleAbs(chunk, target, self._scale, -self._low * self._scale)


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
