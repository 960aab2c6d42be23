"""The list of operators in docs/reference/operators.md and its pictures, from the packaged sample.

    python docs/pictures/degradations.py            # the list and all pictures
    python docs/pictures/degradations.py NAME …     # the list and these pictures

Operators on things and backgrounds need weights: screentest models pull light.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from screentest.core import Aspect, Frame, Image, Size, Span, Time, build
from screentest.core.registry import registry
from screentest.models import Detection, Models
from screentest.models.choice import profile_choice
from screentest.sample import sample_videos
from screentest.testbeds.captions.facts import CaptionAction, CaptionFacts, Coloured, Placed
from screentest.testbeds.catalogue import Operator, OperatorSet, operators
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    Effect,
    Film,
    Look,
    Region,
    Rng,
    boundaries,
    film_of,
)
from screentest.video.edit.normalize import normalize
from screentest.video.edit.pictures import PixelConverter, Pixels, Reencode
from screentest.video.edit.splice import splice
from screentest.video.samples import sample_frames

HERE = Path(__file__).parent
PAGE = HERE.parent / "reference" / "operators.md"
PICTURES = HERE / "degradations"
BEGIN, END = "<!-- operators: made by pictures/degradations.py -->", "<!-- end of operators -->"

# The list.

PROMISES = {
    Effect.TIMING: "something moves, and {changed:.0%} of a clip's frames differ at severity 1",
    Effect.ABSENT: "the clip is missing or shorter, and nothing else changes",
    Effect.ORDER: "of four clips, {touched} are moved or beside a repeated one, frames unchanged",
    Effect.BACKWARDS: "all clips are moved, and their frames are in reverse order",
}
PLACES = {
    Region.FRAME: "every frame of the clip differs visibly",
    Region.BACKGROUND: "the background differs visibly in every frame, the foreground does not",
    Region.FOREGROUND: "the foreground differs visibly in every frame, the background does not",
    Region.THING: "the change lies where the object is, in every frame that shows it",
    Region.AROUND: "the change lies at or near the object, in every frame that shows it",
}
CHECKS = {
    "thing_gone": "the detector no longer finds it",
    "colour_reached": "the object had the named colour and has the new one",
    "subject_kept": "the subject is still found",
    "subject_before_another": ("a quarter of the picture differs, and the subject is still found"),
}


def listed() -> str:
    """The operators as the page has them, by aspect."""
    lines = [BEGIN, "", "| aspect | paper | family |", "|---|---|---|"]
    known = builtin()
    by_aspect = {
        aspect: [one for one in known if one.aspect is aspect]
        for aspect in dict.fromkeys(one.aspect for one in known)
    }
    for aspect, own in by_aspect.items():
        paper, family = (
            ", ".join(f"`{one.name}`" for one in own if one.set is wanted)
            for wanted in (OperatorSet.PAPER, OperatorSet.FAMILY)
        )
        lines.append(f"| {_spoken(aspect.value)} | {paper} | {family} |")
    for aspect, own in by_aspect.items():
        lines += ["", f"### {_spoken(aspect.value).capitalize()}"]
        for one in own:
            lines += ["", *described(one)]
    return "\n".join([*lines, "", END])


def described(one: Operator) -> list[str]:
    """Description, severity, checks and picture of an operator."""
    info = build("degradation", one.name).thing.info
    origin = " (the paper's)" if one.set is OperatorSet.PAPER else ""
    needs = f" For clips whose caption mentions {info.mentions}." if info.mentions else ""
    text = (
        f"**`{one.name}`**{origin}: {one.summary}. {about(one.name)}{needs}"
        f" *Checked:* {promise(info)}."
    )
    picture = f"![{one.name}: {caption(info)}](../pictures/degradations/{one.name}.webp)"
    return [*textwrap.wrap(text, 110, break_long_words=False), "", picture]


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def builtin() -> list[Operator]:
    """The operators that come with the package."""
    return [one for one in operators() if one.set is not OperatorSet.PLUGIN]


def about(name: str) -> str:
    """The first paragraph of an operator's docstring."""
    thing = build("degradation", name).thing
    function = inspect.unwrap(registry.entry("degradation", name).factory)
    source = function if hasattr(thing, "call") else type(thing)
    return " ".join((inspect.getdoc(source) or "").partition("\n\n")[0].split())


def promise(info: DegradationInfo) -> str:
    """The condition that the check of a pair enforces."""
    said = PLACES[info.region] if info.effect is Effect.PICTURES else PROMISES[info.effect]
    said = said.format(changed=info.changed, touched=info.touches(4))
    return "; ".join([said, *(CHECKS[name] for name in info.checks)])


def caption(info: DegradationInfo) -> str:
    """The text below its picture."""
    if info.effect is Effect.PICTURES:
        return "original, severity 0.5, severity 1"
    return "original above, severity 1 below"


# The pictures.

SEVERITIES = (0.5, 1.0)
CELL, SMALL, CLIP = (256, 144), (128, 72), (96, 54)
AHEAD = {"compression": 14}
"""Frames of the clip before the one that is shown, where one is not run-up enough."""
SCENE = ("bbb_first30s", 2)
"""A purple bird on a branch; where nothing else is said."""
SCENES = {
    "spatial_relationship": ("real_5shots", 3),
    "comprehensiveness": ("real_5shots", 1),
    "temporal_flow": ("real_5shots", 1),
    "tilted": ("real_5shots", 3),
}
"""By operator or aspect."""
ALL = CaptionFacts(
    subject=("bird", "branch"),
    background=("sky",),
    dynamic_degree=(CaptionAction("bird", "flaps"),),
    color=(Coloured("purple", "bird"),),
    spatial_relationship=(Placed("right", "mast"), Placed("above", "tower")),
)
SETTLED: Mapping[str, Details] = {
    "object_integrity": {"object": "bird"},
    "color": {"object": "bird", "other": "branch", "from": "purple", "to": "yellow"},
}
"""Details of a clip by aspect; drawn at random otherwise."""
IN_ROWS = ("neighbour_repeated", "other_film")
"""Operators on pictures that are seen in the row of clips only."""
IN_PICTURE = {"interlaced": Time(7, 3)}
"""One on time that is seen in a single picture, and when: as the bird turns."""
FLAPPING = (Time(3, 2), Time(1, 2))
MOMENTS = dict.fromkeys(("stuttering", "jittering", "dropped_frames"), FLAPPING)
"""From when on, and for how long, a row shows a clip, where not all of it."""
BRANCH = (0.0, 0.72, 1.0, 0.92)
"""Where the branch is: the small detector knows birds, but no branches."""


ROLES = ("detection", "segmentation", "matting", "inpainting", "image_edit")


class SampleModels(Models):
    """The light models, each asked once about a picture; a branch is where somebody saw it."""

    def role(self, name: str) -> Any:
        return Remembering(super().role(name))


class Remembering:
    """A backend that answers what it was asked before from memory: operators ask alike."""

    known: ClassVar[dict[tuple[str, str], Any]] = {}

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._backend, name)
        return partial(self._call, name, method) if callable(method) else method

    def _call(self, name: str, method: Any, *given: Any) -> Any:
        if name == "detect" and given[1] == ["branch"]:
            height, width = given[0].shape[:2]
            box = (BRANCH[0] * width, BRANCH[1] * height, BRANCH[2] * width, BRANCH[3] * height)
            return [Detection("branch", 1.0, box)]
        key = name, hashlib.sha256(pickle.dumps(given)).hexdigest()
        if key not in self.known:
            self.known[key] = method(*given)
        return self.known[key]


class Painter:
    """Makes the pictures, with one normalised copy of each film."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._films: dict[str, Film] = {}
        self._models = SampleModels([profile_choice("light", role) for role in ROLES])

    def draw(self, one: Operator) -> Any:
        """The picture of one operator."""
        name, number = SCENES.get(one.name) or SCENES.get(one.aspect.value) or SCENE
        film = self._film(name)
        thing = build("degradation", one.name).thing
        context = Context(film, Rng.of(7, name, one.name), self._models)
        clips = film.clips if thing.info.consecutive else film.clips[number : number + 1]
        clips = film.clips[-2:] if getattr(thing.info, "at_end", False) else clips
        look = Look(film, self._models)
        known = SETTLED.get(one.aspect.value)
        chosen = [
            Chosen(clip, known or thing.settle(clip, look, context.rng_of(clip), context.rng))
            for clip in clips
        ]
        shown = next(
            each for each in chosen if each.clip.number == min(number, len(film.clips) - 1)
        )
        if (
            one.name not in IN_ROWS and thing.info.effect is Effect.PICTURES
        ) or one.name in IN_PICTURE:
            return self._severities(context, one.name, thing, [shown])
        return self._rows(context, one.name, thing, chosen, shown.clip.span)

    def _film(self, name: str) -> Film:
        if name not in self._films:
            item = next(video.item for video in sample_videos() if video.item.id == name)
            assert item.script is not None
            video = normalize(
                item.video,
                self._folder / f"{name}.mp4",
                size=Size(long_side=512),
                keyframes_at=boundaries(item.script),
            )
            self._films[name] = film_of(video, item.script, [ALL] * len(item.script.clips))
        return self._films[name]

    def _severities(self, context: Context, name: str, thing: Any, chosen: Sequence[Chosen]) -> Any:
        """Side by side: intact, and at each severity."""
        cells = []
        for severity in (0.0, *SEVERITIES):
            part = next(
                (
                    part
                    for part in thing.parts(context, chosen, severity)
                    if isinstance(part, Reencode)
                ),
                None,
            )
            cells.append(self._picture(context.film, chosen[0].clip.span, part, name))
        if thing.info.aspect is Aspect.TECHNICAL_QUALITY:
            cells = [close(one, CELL) for one in cells]
        return row(cells, CELL)

    def _picture(self, film: Film, span: Span, part: Reencode | None, name: str) -> Image:
        times = [time for time in film.video.frame_times() if span.start <= time < span.end]
        at = len(times) // 4
        if name in IN_PICTURE:
            at = sum(time < span.start + IN_PICTURE[name] for time in times)
        moments = times[max(0, at - AHEAD.get(name, 1)) : at + 1]
        frames = list(sample_frames(film.video.path, moments))
        if part is None:
            return frames[-1].image
        there = PixelConverter(part.pixels, film.video.format)
        plain = PixelConverter(Pixels.RGB, film.video.format)
        given = (
            Frame(one.time, one.index, there.unpack(plain.pack(np.ascontiguousarray(one.image))))
            for one in frames
        )
        made = list(part.change(given))
        return plain.unpack(there.pack(made[-1]))

    def _rows(
        self, context: Context, name: str, thing: Any, chosen: Sequence[Chosen], span: Span
    ) -> Any:
        """Above the intact film, or its clip, in steps; below the changed one."""
        out = self._folder / "changed.mp4"
        parts = thing.parts(context, chosen, 1.0)
        made = splice(context.film.video, parts, out)
        if thing.info.effect is Effect.TIMING:
            place = made.places[[part.span for part in parts].index(span)]
            size = SMALL
            spans = [span, place]
            if name in MOMENTS:
                start, length = MOMENTS[name]
                spans = [Span(one.start + start, one.start + start + length) for one in spans]
            moments = [[one.start + one.duration * n / 6 for n in range(6)] for one in spans]
        else:
            size = CLIP
            ends = (context.film.video.duration, made.duration)
            moments = [[end * (2 * n + 1) / 16 for n in range(8)] for end in ends]
        rows = [
            row([frame.image for frame in sample_frames(path, at)], size)
            for path, at in zip((context.film.video.path, out), moments, strict=True)
        ]
        return stacked(rows)


def close(image: Image, size: tuple[int, int]) -> Image:
    """The middle of a picture, pixel by pixel."""
    width, height = size
    top, left = (image.shape[0] - height) // 2, (image.shape[1] - width) // 2
    return image[top : top + height, left : left + width]


def row(images: Sequence[Image], size: tuple[int, int]) -> Any:
    """Pictures side by side."""
    from PIL import Image as Pillow
    from PIL import ImageOps

    found = Pillow.new("RGB", (len(images) * (size[0] + 2) - 2, size[1]), "white")
    for number, image in enumerate(images):
        fitted = ImageOps.fit(Pillow.fromarray(image), size, Pillow.Resampling.LANCZOS)
        found.paste(fitted, (number * (size[0] + 2), 0))
    return found


def stacked(rows: Sequence[Any]) -> Any:
    """Rows one below the other."""
    from PIL import Image as Pillow

    height = sum(one.height + 2 for one in rows) - 2
    found = Pillow.new("RGB", (max(one.width for one in rows), height), "white")
    top = 0
    for one in rows:
        found.paste(one, (0, top))
        top += one.height + 2
    return found


def main(names: Sequence[str]) -> None:
    """Write the list and the pictures."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(before + listed() + rest.partition(END)[2], encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        painter = Painter(Path(folder))
        for one in builtin():
            if not names or one.name in names:
                out = PICTURES / f"{one.name}.webp"
                painter.draw(one).save(out, quality=62, method=6)
                print(f"{out.name}: {out.stat().st_size / 1000:.0f} kB")
    known = {one.name for one in builtin()}
    for path in PICTURES.glob("*.webp"):
        if path.stem not in known:
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
