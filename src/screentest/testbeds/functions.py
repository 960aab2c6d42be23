"""Degradations and placebos are functions: of a picture, or of which frames and clips are shown.

>>> @degradation(aspect="aesthetics", summary="clips get darker")
... def darker(image, severity, *, left: float = 0.2):
...     return (image * (1 - (1 - left) * severity)).astype("uint8")
>>> @placebo(summary="mirrored twice")
... def twice(image):
...     return image[:, ::-1][:, ::-1]

``image`` is an RGB picture of a chosen clip (``pixels`` may say another layout: in ``yuv420p``
what is not changed stays exact); a picture of the same size and type is returned. ``severity`` is
in [0, 1]: 0 changes nothing, 1 is the full effect, and more severity never degrades less. Both may
also take ``number`` (the frame of the clip, from 0), ``seconds`` (since the clip's first frame),
``rng`` (a NumPy generator that is the same for the same film, clip and frame, whatever the order of
work) and ``clip_rng`` (which starts the same in every frame of a clip, for what must not jump).
Keyword-only parameters with defaults are options.

A degradation may also be a function of other things:

- ``(image)`` alone has no strength: the severity is the share of the chosen clips it is done to.
- ``(count, severity)`` returns the numbers of the frames that a clip of ``count`` frames shows, one
  for each place: ``numpy.arange(count)`` is the clip as it was, fewer make it shorter, and a
  number with a fraction is a picture in between, made along the optical flow. It may take ``rate``
  (frames per second) and ``rng`` (of the clip).
- with ``of="clips"``, ``(count, severity)`` returns the order of so many consecutive clips;
  one that comes twice is shown again. It may take ``rng`` (of the film).
- ``(image, after, severity)`` is also given the picture ``ahead`` frames later; before the end of
  the clip, where there is none, one as far back.
- ``(image, mask, severity)``, with ``mask="thing"``: of an object that the caption names;
  ``"coloured"``: of one whose colour it names too; ``"vivid"``: and that has one;
  ``"foreground"``: of what stands before the background. It is height × width in 0–1; with
  ``"two"`` height × width × 2, for two objects of which one has a named colour.

``needs`` says which clips will do: any, or those with a ``caption``, with ``movement`` in the
picture, with ``motion`` that the caption tells of, with something at a ``side``, at a ``height`` or
at either (``place``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from screentest.core import Aspect, Image, register
from screentest.core.functions import (
    Setting,
    decorator,
    form_of,
    is_factory,
    register_function,
    summary_of,
)
from screentest.testbeds.contract import (
    Chosen,
    Context,
    Degradation,
    DegradationInfo,
    Effect,
    Film,
    Reach,
    Rng,
    all_of,
    share_of,
)
from screentest.testbeds.masks import MaskDegradation, mask_kind
from screentest.testbeds.operators.shared import changed_clips
from screentest.testbeds.timeline import (
    NEEDS,
    NeedingDegradation,
    NeighbourDegradation,
    OrderDegradation,
    TimeDegradation,
    every_frame,
)
from screentest.video.edit.pictures import FrameFunction, Pixels, VideoPart
from screentest.video.edit.splice import splice

F = TypeVar("F", bound=Callable[..., Any])

MASKED = ("image", "mask", "severity")
BESIDES = ("number", "seconds", "rng", "clip_rng")
TIME, NEIGHBOUR = ("count", "severity"), ("image", "after", "severity")
TAKEN: Mapping[tuple[str, ...], tuple[str, ...]] = {
    TIME: ("rate", "rng"),
    NEIGHBOUR: ("number", "rng"),
}
"""Extra parameters per form; the default is BESIDES."""
FORMS = (("image", "severity"), ("frame", "severity"), ("image",), MASKED, TIME, NEIGHBOUR)
ANNOTATIONS = {"ndarray": "image", "NDArray": "image", "Image": "image", "float": "severity"}


@decorator
def degradation(
    *,
    name: str = "",
    aspect: str = "",
    version: int = 1,
    summary: str = "",
    pixels: str | Pixels = Pixels.RGB,
    mask: str = "",
    region: str = "",
    needs: str = "",
    of: str = "frames",
    ahead: int = 1,
    effect: Effect | None = None,
    changed: float | None = None,
    touches: Callable[[int], int] = all_of,
    reach: Reach | None = None,
) -> Callable[[F], F]:
    """Register a degradation: a function of a picture and a severity, or a factory of a class.

    Args:
        name: The name of the degradation; that of the function where empty.
        aspect: The aspect that it degrades; its pairs count for that aspect.
        version: Raise it whenever the pictures change.
        summary: One line for lists; the first line of the docstring where empty.
        pixels: The layout of the pictures.
        mask: What the mask is of that the function takes.
        region: Where pictures change, if not where the mask says.
        needs: Which clips will do.
        of: ``clips`` for a function of the order of clips.
        ahead: How many frames later the picture ``after`` is.
        effect: What the check of a pair expects (see ``DegradationInfo``), as are ``changed`` and
            ``touches``, where that is not what the form suggests.
        changed: The share of pictures that must change.
        touches: How many of the chosen clips must change.
        reach: How far from the mask pictures change.
    """

    def keep(function: F) -> F:
        called = name or function.__name__
        words = summary_of(function, summary)
        if is_factory(function):
            register("degradation", called, version=version, summary=words)(function)
            return function
        if not aspect:
            raise TypeError(f'@degradation of {called} needs the aspect: aspect="aesthetics"')
        form, besides = form_of("degradation", function, FORMS, (*BESIDES, "rate"), ANNOTATIONS)
        _check_besides(called, form, besides, of)
        if form == MASKED and (needs or effect or changed is not None):
            raise ValueError(
                f"{called}: a mask says which clips will do: no needs, effect, changed"
            )
        if needs not in NEEDS or of not in ("frames", "clips"):
            raise ValueError(f"{called}: invalid needs {needs!r} or of {of!r}")
        need, layout, consecutive = NEEDS[needs], Pixels(pixels), of == "clips"
        usual, share = Effect.PICTURES, 1.0
        if form in (TIME, NEIGHBOUR):
            usual, share = (Effect.ORDER, 1.0) if consecutive else (Effect.TIMING, 0.5)
        info = DegradationInfo(
            Aspect(aspect),
            need.mentions,
            consecutive=consecutive,
            effect=effect or usual,
            changed=share if changed is None else changed,
            touches=touches,
        )

        masked = mask_kind(called, mask) if form == MASKED else None

        def make(call: Callable[..., Any], chosen: Mapping[str, Any]) -> Degradation:
            if masked is not None:
                return MaskDegradation(masked.info(aspect, region, reach), call, besides, masked)
            if form == TIME:
                kind = OrderDegradation if consecutive else TimeDegradation
                return kind(info, call, besides, need)
            if form == NEIGHBOUR:
                return NeighbourDegradation(info, call, besides, need, layout, ahead)
            if "severity" not in form:
                return ShareDegradation(info, call, besides, need, layout)
            return FunctionDegradation(info, call, besides, need, layout)

        register_function(
            "degradation", function, make, {}, name=called, version=version, summary=words
        )
        return function

    return keep


def _check_besides(name: str, form: tuple[str, ...], besides: Sequence[str], of: str) -> None:
    """Refuse at once what would be missing when the function is called."""
    allowed: tuple[str, ...] = ("rng",) if of == "clips" else TAKEN.get(form, BESIDES)
    for parameter in besides:
        if parameter not in allowed:
            taken = f"({', '.join(form)}, …) takes {', '.join(allowed)}"
            raise ValueError(f"{name}: invalid parameter {parameter}: a function of {taken}")


@decorator
def placebo(
    *,
    name: str = "",
    version: int = 1,
    summary: str = "",
    clips: int = 5,
    pixels: str | Pixels = Pixels.I420,
) -> Callable[[F], F]:
    """Register a placebo, which must not change a score: a function of a picture, or a factory.

    Args:
        name: The name of the placebo; that of the function where empty.
        version: Raise it whenever the pictures change.
        summary: One line for lists; the first line of the docstring where empty.
        clips: How many clips are touched, where there are as many. An option of the placebo, too.
        pixels: The layout of the pictures.
    """

    def keep(function: F) -> F:
        called = name or function.__name__
        words = summary_of(function, summary)
        if is_factory(function):
            register("placebo", called, version=version, summary=words)(function)
            return function
        forms = (("image",), ("frame",))
        _, besides = form_of("placebo", function, forms, BESIDES, ANNOTATIONS)
        layout = Pixels(pixels)

        def make(call: Callable[..., Any], chosen: Mapping[str, Any]) -> ClipPlacebo:
            if chosen["clips"] < 1:
                raise ValueError(f"invalid clips {chosen['clips']}: must be at least 1")
            change = partial(every_frame, call, besides)
            return ClipPlacebo(change, layout, chosen["clips"])

        settings = {"clips": Setting(int, clips)}
        register_function(
            "placebo", function, make, settings, name=called, version=version, summary=words
        )
        return function

    return keep


@dataclass(frozen=True, slots=True)
class FunctionDegradation(NeedingDegradation):
    """The degradation behind a function of a picture."""

    pixels: Pixels

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        def change(place: Chosen) -> FrameFunction:
            return self.frames(context.rng_of(place.clip), severity)

        return changed_clips(context, chosen, change, self.pixels)

    def frames(self, rng: Rng, severity: float) -> FrameFunction:
        def call(image: Image, **more: Any) -> Any:
            return self.call(image, severity, **more)

        return every_frame(call, self.besides, rng)


@dataclass(frozen=True, slots=True)
class ShareDegradation(NeedingDegradation):
    """The degradation behind a function of a picture alone, which has no strength."""

    pixels: Pixels

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """Change a share of the chosen clips."""
        share = chosen[: share_of(len(chosen), severity)]

        def change(place: Chosen) -> FrameFunction:
            return every_frame(self.call, self.besides, context.rng_of(place.clip))

        return changed_clips(context, share, change, self.pixels)


@dataclass(frozen=True, slots=True)
class ClipPlacebo:
    """A placebo that changes the frames of some clips; ``change`` is given the rng of the clip."""

    change: Callable[[Rng], FrameFunction]
    pixels: Pixels
    clips: int
    suffix: str = ".mp4"

    def eligible(self, film: Film) -> bool:
        return bool(film.clips)

    def write(self, context: Context, out: Path) -> None:
        """Touch the clips that are drawn first."""
        drawn = context.rng.shuffled(context.film.clips, "draw")[: self.clips]

        def change(place: Chosen) -> FrameFunction:
            return self.change(context.rng_of(place.clip))

        parts = changed_clips(context, [Chosen(clip) for clip in drawn], change, self.pixels)
        splice(context.film.video, parts, out)
