"""Each operator's frames per second at 512 px, against the library call that it rests on.

An operator works as in a build: pictures come from the decoder's layout and go back into it.
The bare call has its arrays ready, in its own layout. Both in seconds of processor time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures

from _figures import cpu_of, figure, long_video, publish_lines, ratio
from screentest.core import Clip, Frame, Script, Size, Span, build
from screentest.models import ModelChoice, Models
from screentest.testbeds.captions.facts import CaptionAction, CaptionFacts, Coloured, Placed
from screentest.testbeds.contract import Chosen, Context, Film, Look, Rng, boundaries, film_of
from screentest.testbeds.operators.pictures import STYLES, contrast_table
from screentest.video.edit.normalize import normalize
from screentest.video.edit.pictures import PixelConverter, Reencode

FRAMES = 24
TIMES = 3
Image = NDArray[np.uint8]
BACKENDS = ("matting=grabcut", "detection=saliency", "segmentation=grabcut", "inpainting=telea")
FACTS = CaptionFacts(
    subject=("thing",),
    background=("wall",),
    dynamic_degree=(CaptionAction("thing", "moves"),),
    color=(Coloured("white", "thing"),),
    spatial_relationship=(Placed("left", "thing"),),
)
TABLE = contrast_table(-0.8)


def halved(image: Image) -> object:
    height, width = image.shape[:2]
    small = Pictures.fromarray(image).resize((width // 2, height // 2), Pictures.Resampling.LANCZOS)
    return small.resize((width, height), Pictures.Resampling.LANCZOS)


def bare_calls(models: Models) -> dict[str, tuple[str, Callable[[Image], object]]]:
    """By operator: the layout it likes, and the call."""
    calls: dict[str, tuple[str, Callable[[Image], object]]] = {
        "aesthetics": ("gray", lambda image: cv2.LUT(image, TABLE)),
        "technical_quality": ("rgb24", halved),
        "spatial_relationship": ("gray", lambda image: cv2.flip(image, 1)),
    }
    calls |= {f"appearance_style:style={name}": ("bgr24", call) for name, call in STYLES.items()}
    if "--models" in sys.argv:
        detect, paint = models.role("detection"), models.role("inpainting")
        matte = models.role("matting")

        def painted(image: Image) -> object:
            mask = np.zeros(image.shape[:2], np.float32)
            for one in detect.detect(image, ["thing"]):
                left, top, right, bottom = map(int, one.box)
                mask[top:bottom, left:right] = 1
            return paint.inpaint(image, mask)

        calls["background_consistency"] = ("rgb24", lambda image: matte.matte([image]))
        calls["object_integrity"] = ("rgb24", painted)
    return calls


def operator(film: Film, spec: str, models: Models, pictures: list[Image]) -> Callable[[], None]:
    """The operator on all pictures, from I420 to I420."""
    degradation = build("degradation", spec).thing
    context = Context(film, Rng.of(7, "bench"), models)
    (clip,) = film.clips
    look = Look(film, models)
    chosen = [Chosen(clip, degradation.settle(clip, look, context.rng, context.rng))]
    (part,) = (p for p in degradation.parts(context, chosen, 1.0) if isinstance(p, Reencode))
    convert = PixelConverter(part.pixels, film.video.format)

    def frames() -> Iterator[Frame]:
        for number, picture in enumerate(pictures):
            yield Frame(Fraction(number, FRAMES), number, convert.unpack(picture))

    def run() -> None:
        for image in part.change(frames()):
            convert.pack(np.asarray(image))

    return run


def in_layout(pictures: list[Image], layout: str) -> list[Any]:
    if layout == "gray":
        return [np.ascontiguousarray(picture[: picture.shape[0] * 2 // 3]) for picture in pictures]
    code = cv2.COLOR_YUV2RGB_I420 if layout == "rgb24" else cv2.COLOR_YUV2BGR_I420
    return [cv2.cvtColor(picture, code) for picture in pictures]


def main() -> None:
    source = long_video(1280, 720, frames=FRAMES * 8, rate=FRAMES)
    script = Script((Clip("A thing moves at the left.", Span(Fraction(2), Fraction(3))),))
    models = Models([ModelChoice.parse(text) for text in BACKENDS])
    with TemporaryDirectory() as folder:
        video = normalize(
            source,
            Path(folder) / "film.mp4",
            keyframes_at=boundaries(script),
            size=Size(long_side=512),
        )
        film = film_of(video, script, [FACTS])
        pictures = list(_pictures(video.path))
        for spec, (layout, call) in bare_calls(models).items():
            ready = in_layout(pictures, layout)
            ours = cpu_of(TIMES, operator(film, spec, models, pictures))
            bare = cpu_of(TIMES, lambda call=call, ready=ready: [call(one) for one in ready])
            name = spec.partition("style=")[2] or spec
            figure(f"{name}: operator", len(pictures) / ours, "frames/s")
            figure(f"{name}: bare call", len(pictures) / bare, "frames/s")
            ratio(f"{name}: operator / bare", ours / bare, "≤ 1.5 where the call is heavy")
    if len(sys.argv) == 1:
        publish_lines("operators", "python bench/operators.py")


def _pictures(path: Path) -> Iterator[Image]:
    import av

    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            if 2 <= float(frame.time or 0) < 3:
                yield frame.to_ndarray()


if __name__ == "__main__":
    main()
