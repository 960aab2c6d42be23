"""Background consistency: the subject stays, and what is behind it does not belong to it.

At most one jump a second, unless asked for: more of them are a strobe, which can harm those who
watch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import Aspect, BadOption, Frame, Image, Time, register
from screentest.run.inputs import hash_file
from screentest.sample import backgrounds as packaged
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Region,
    Rng,
)
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import filling, laid_in, mixed, without
from screentest.testbeds.operators.shared import changed_clips, must_have_foreground
from screentest.video.edit.pictures import FrameFunction, Pixels, VideoPart

if TYPE_CHECKING:
    from screentest.models.roles import Mask


SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
_KEPT = 32
"""Pictures held ready; a folder may have thousands."""


class Backgrounds:
    """The pictures of a folder that can be read, by name."""

    def __init__(self, paths: tuple[Path, ...], unreadable: tuple[str, ...] = ()) -> None:
        self.paths = paths
        self.unreadable = unreadable
        """Names of files that look like pictures and are not; they are left out."""
        self._digest = ""
        self._fitted = lru_cache(_KEPT)(self._fit)

    @classmethod
    def of(cls, folder: Path | None) -> Backgrounds:
        """Return the pictures of ``folder``, or the packaged ones."""
        if folder is None:
            return cls(tuple(packaged()))
        if not folder.is_dir():
            raise BadOption(f"{folder} is not a folder", advice="Give one with pictures in it.")
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
        readable = tuple(path for path in files if _opens(path))
        if not readable:
            raise BadOption(
                f"no picture in {folder} can be read",
                advice="Put some landscapes there (JPEG or PNG).",
            )
        broken = tuple(path.name for path in files if path not in readable)
        return cls(readable, broken)

    @property
    def digest(self) -> str:
        """A hash of all their content; a changed folder makes another testbed."""
        if not self._digest:
            hashes = "\n".join(hash_file(path) for path in self.paths)
            self._digest = hashlib.sha256(hashes.encode()).hexdigest()[:16]
        return self._digest

    def picture(self, number: int, shape: tuple[int, ...]) -> Image:
        """Picture ``number``, filling height × width; what is too much is cut off evenly."""
        height, width = shape
        return self._fitted(number, height, width)

    def _fit(self, number: int, height: int, width: int) -> Image:
        from PIL import Image as Pictures
        from PIL import ImageOps

        with Pictures.open(self.paths[number]) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
            return filling(np.asarray(upright, np.uint8), (height, width))


def _opens(path: Path) -> bool:
    """Return True if all of the picture can be decoded."""
    from PIL import Image as Pictures

    try:
        with Pictures.open(path) as opened:
            opened.load()
    except (OSError, ValueError, SyntaxError, Pictures.DecompressionBombError):
        return False
    return True


ROUNDING = 1e-6
"""Of the seconds between frames, which are not always whole thirtieths."""


@register(
    "degradation",
    "background_consistency",
    summary="backgrounds that jump",
    neutral=("folder",),  # the pictures themselves are hashed, wherever they are
)
class BackgroundConsistency:
    """Severity is how much the new background covers the old one.

    As in SLVMEval the foreground is cut out of every frame and laid over pictures of landscapes.
    The paper's films have one frame a second, each with another landscape than the one before;
    so it is here at any rate, unless ``every`` says otherwise.

    ``folder`` holds the new backgrounds; without one, the packaged landscapes. ``every`` is the
    seconds until another one comes; 0: in every frame, which strobes.
    """

    def __init__(self, *, folder: str = "", every: float = 1.0) -> None:
        if not every >= 0:  # NaN is not
            raise ValueError(f"invalid every {every:g}: must be 0 or more seconds")
        backgrounds = Backgrounds.of(Path(folder).expanduser() if folder else None)
        self.info = DegradationInfo(
            Aspect.BACKGROUND_CONSISTENCY,
            mentions="a background",
            roles=("matting",),
            inputs=backgrounds.digest,
            remarks=tuple(
                f"{name} among the backgrounds cannot be read: it is left out"
                for name in backgrounds.unreadable
            ),
            region=Region.BACKGROUND,
            checks=("subject_kept",),
        )
        self._backgrounds = backgrounds
        self._every = every

    def eligible(self, clip: FilmClip) -> bool:
        return bool(clip.facts.background)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Something must stand in front, and something must be behind it."""
        must_have_foreground(look, clip)
        return {
            "backgrounds": self._backgrounds.digest,
            "pictures": len(self._backgrounds.paths),
            "subjects": ", ".join(clip.facts.subject),
        }

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        matting = context.models.role("matting")

        def change(choice: Chosen) -> FrameFunction:
            jumps = Jumps(len(self._backgrounds.paths), context.rng_of(choice.clip))

            def run(frames: Iterator[Frame]) -> Iterator[Image]:
                start: Time | None = None
                for number, frame in enumerate(frames):
                    start = frame.time if start is None else start
                    passed = float(frame.time - start)
                    turn = int(passed / self._every + ROUNDING) if self._every else number
                    image = frame.image
                    behind = self._backgrounds.picture(jumps.at(turn), image.shape[:2])
                    front = matting.matte([image])[0][..., None]
                    rest = mixed(image, behind, severity) * (1 - front)
                    yield np.asarray(np.rint(image * front + rest), np.uint8)

            return run

        return changed_clips(context, chosen, change, Pixels.RGB)


class Jumps:
    """Which background stands behind a clip, turn by turn: never the one of the turn before."""

    def __init__(self, count: int, rng: Rng) -> None:
        self._count, self._rng = count, rng
        self._turn: int | None = None
        self._last: int | None = None

    def at(self, turn: int) -> int:
        """Return the background of a turn; turns are asked for in order."""
        if turn != self._turn:
            others = [number for number in range(self._count) if number != self._last]
            self._last = self._rng.pick(others or [0], "background", turn)
            self._turn = turn
        assert self._last is not None
        return self._last


# The family: functions of a picture and of the mask of what stands in front.

BACKGROUND: Mapping[str, Any] = {"aspect": "background_consistency", "mask": "foreground"}


@lru_cache(1)
def _packaged() -> Backgrounds:
    return Backgrounds.of(None)


@degradation(**BACKGROUND, summary="another place behind the subject")
def background_swapped(
    image: Image, mask: Mask, severity: float, clip_rng: np.random.Generator
) -> Image:
    """One landscape, drawn for each clip, which stands still; severity is how much it covers."""
    pictures = _packaged()
    behind = pictures.picture(int(clip_rng.integers(len(pictures.paths))), image.shape[:2])
    return laid_in(image, behind, 1 - mask, severity)


START, SPEED = 0.08, 0.16
"""How far it is displaced at first, and by how much more each second, in widths."""


@degradation(**BACKGROUND, summary="the background slides away behind the subject")
def background_drifting(
    image: Image, mask: Mask, severity: float, seconds: float, clip_rng: np.random.Generator
) -> Image:
    """To a side drawn for each clip; severity is how far and how fast."""
    width = image.shape[1]
    way = severity * (START + SPEED * seconds) * width * (1 if clip_rng.random() < 0.5 else -1)
    # Beyond the edge it comes back mirrored, so that there is no seam.
    columns = (np.arange(width) + round(way)) % (2 * width)
    columns = np.where(columns < width, columns, 2 * width - 1 - columns)
    return laid_in(image, without(image, mask)[:, columns], 1 - mask)


@degradation(**BACKGROUND, summary="the background small and nine times over")
def background_tiled(image: Image, mask: Mask, severity: float) -> Image:
    """Three by three of it behind the subject; severity is how much they cover."""
    height, width = image.shape[:2]
    # Every third row and column of a picture that was smoothed a little.
    small = without(image, mask)[1::3, 1::3] if min(height, width) > 2 else image
    times = -(-height // small.shape[0]), -(-width // small.shape[1]), 1
    return laid_in(image, np.tile(small, times)[:height, :width], 1 - mask, severity)


@degradation(**BACKGROUND, summary="every second the background is another way round")
def background_turning(image: Image, mask: Mask, severity: float, seconds: float) -> Image:
    """Mirrored, upside down, both, and so on; severity is how much it covers what was there."""
    behind = without(image, mask)
    turned = (behind[:, ::-1], behind[::-1], behind[::-1, ::-1])[int(seconds) % 3]
    return laid_in(image, turned, 1 - mask, severity)
