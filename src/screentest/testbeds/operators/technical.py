"""Technical quality: what sensors, encoders and careless processing do to pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import av
import numpy as np

from screentest.core import Aspect, Frame, Image, register
from screentest.testbeds.contract import Chosen, Context, DegradationInfo, Rng
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import (
    displaced,
    lookup,
    of_planes,
    planes,
    smeared,
    to_levels,
)
from screentest.testbeds.operators.shared import AnyClip, changed_clips
from screentest.video.edit.pictures import FrameFunction, Pixels, VideoPart, frame_by_frame

PLANES: Mapping[str, Any] = {"aspect": "technical_quality", "pixels": Pixels.I420}

READ, SHOT, CHROMA = 9.0, 16.0, 9.0
"""Standard deviations in levels at full severity: in the dark, added by full light, in chroma."""


@degradation(**PLANES, summary="noise of a small sensor, new in every frame")
def sensor_noise(image: Image, severity: float, rng: np.random.Generator) -> Image:
    """Read noise everywhere, shot noise with the light; in chroma too. Severity is its strength."""
    luma, chroma = planes(image)
    deviation = np.sqrt(READ**2 + SHOT**2 * np.clip((np.arange(256) - 16) / 219, 0, 1))
    noise = rng.standard_normal(luma.shape, np.float32)
    noise *= (severity * deviation).astype(np.float32)[luma]
    colours = rng.standard_normal(chroma.shape, np.float32) * np.float32(severity * CHROMA)
    return of_planes(to_levels(luma + noise), to_levels(chroma + colours))


FINEST, COARSEST = 20, 800
"""JPEG's scale of its tables, in percent, near severity 0 and at 1: quality 90 and 6."""


@degradation(**PLANES, summary="blocks of 8 × 8 pixels, as in a JPEG of low quality")
def blocks(image: Image, severity: float) -> Image:
    """Every frame through JPEG; severity is how coarse its steps are, in octaves."""
    if severity == 0:
        return image
    scale = FINEST * (COARSEST / FINEST) ** severity
    luma, chroma = planes(image)
    # Finer in chroma, so that blocks are seen and not other colours.
    colours = [_through_jpeg(plane, scale / 2) for plane in chroma]
    return of_planes(_through_jpeg(luma, scale), np.stack(colours))


def _through_jpeg(plane: Image, scale: float) -> Image:
    import cv2

    quality = 5000 / scale if scale > 100 else (200 - scale) / 2  # as libjpeg has it
    _, written = cv2.imencode(".jpg", plane, [cv2.IMWRITE_JPEG_QUALITY, round(quality)])
    return np.asarray(cv2.imdecode(written, cv2.IMREAD_GRAYSCALE), np.uint8)


WIDEST = 26.0
"""Levels from one step to the next at full severity."""


@degradation(**PLANES, summary="too few levels: smooth shades become bands")
def banding(image: Image, severity: float) -> Image:
    """Luma and chroma in steps; severity is their height, in octaves: 1 to 26 levels."""
    step = WIDEST**severity
    luma, chroma = planes(image)
    steps = lookup(lambda level: np.rint((level - 16) / step) * step + 16)
    fine = 1 + (step - 1) / 3  # chroma has less range, and large steps would be other colours
    colours = lookup(lambda level: np.rint((level - 128) / fine) * fine + 128)
    return of_planes(steps[luma], colours[chroma])


LONGEST = 0.025
"""Half the length of the smear, as a share of the width."""


@degradation(**PLANES, summary="smeared in one direction, as by a camera that moves")
def motion_blur(image: Image, severity: float, clip_rng: np.random.Generator) -> Image:
    """The direction is drawn for each clip; severity is the length, up to 5% of the width."""
    angle = clip_rng.uniform(0, np.pi)
    across, down = np.array([np.cos(angle), np.sin(angle)]) / max(
        abs(np.cos(angle)), abs(np.sin(angle))
    )
    luma, chroma = planes(image)
    # The larger step is one pixel: a slanted line has fewer of them for the same length.
    reach = severity * LONGEST * image.shape[1] / np.hypot(across, down)
    colours = [smeared(plane, -reach / 2, reach / 2, across, down) for plane in chroma]
    return of_planes(smeared(luma, -reach, reach, across, down), np.stack(colours))


HALO, SHARPEST = 0.0045, 4.0
"""The width of halos, as a share of the picture's, and how much of the difference is added."""


@degradation(**PLANES, summary="sharpened far too much: halos along every edge")
def oversharpened(image: Image, severity: float) -> Image:
    """The difference to a blurred picture is added; severity is how often, up to four times."""
    import cv2

    luma, chroma = planes(image)
    blurred = cv2.GaussianBlur(luma, (0, 0), max(0.8, HALO * luma.shape[1]))
    difference = luma.astype(np.int16) - blurred
    sharpened = luma + np.rint(difference * np.float32(SHARPEST * severity))
    return of_planes(to_levels(sharpened), chroma)


ECHOES = ((1, -0.9), (2, 0.6), (3, -0.4), (4, 0.25))
"""Echoes of an edge: how far, in widths of an echo, and how strong."""
ECHO = 0.008
"""The width of an echo, as a share of the picture's."""


@degradation(**PLANES, summary="ripples beside every edge")
def ringing(image: Image, severity: float) -> Image:
    """Edges echo to both sides, as after a filter that cuts too steeply; severity: how strongly."""
    luma, chroma = planes(image)
    total = np.zeros(luma.shape, np.float32)
    for number, strength in ECHOES:
        away = max(number, round(number * ECHO * luma.shape[1]))
        sides = displaced(luma, away, 0).astype(np.int16) + displaced(luma, -away, 0)
        total += (sides - 2 * luma.astype(np.int16)) * np.float32(strength / 2)
    return of_planes(to_levels(luma + total * np.float32(severity)), chroma)


FARTHEST = 0.1
"""How far colours run, as a share of the width."""


@degradation(**PLANES, summary="colours run to one side, as on a worn tape")
def colour_bleeding(image: Image, severity: float) -> Image:
    """Chroma smeared to the right of where it belongs; severity is how far, up to 10%."""
    luma, chroma = planes(image)
    reach = severity * FARTHEST * image.shape[1] / 2
    return of_planes(luma, np.stack([smeared(plane, -reach, 0, 1, 0) for plane in chroma]))


SMOOTHEST, ROUGHEST = 24.0, 46.0
"""x264's rate factors near severity 0 and at 1; its most is 51, where things vanish."""
RATE = 25
"""Frames per second, for the encoder's planning only."""


@register("degradation", "compression", version=1, summary="through H.264 at a very low bitrate")
class Compression(AnyClip):
    """Severity goes from x264's rate factor 24 to 46.

    Each clip is encoded once more than the rest of the film, far too strongly.
    """

    info = DegradationInfo(Aspect.TECHNICAL_QUALITY)
    pixels = Pixels.I420

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        change = self.frames(context.rng, severity)
        return changed_clips(context, chosen, lambda _: change, self.pixels)

    def frames(self, rng: Rng, severity: float) -> FrameFunction:
        if severity == 0:
            return frame_by_frame(lambda image: image)
        return recompressed(SMOOTHEST + (ROUGHEST - SMOOTHEST) * severity)


def recompressed(rate_factor: float) -> FrameFunction:
    """Return a frame function that sends a clip through x264 and back, holding few frames."""

    def run(frames: Iterator[Frame]) -> Iterator[Image]:
        first = next(frames, None)
        if first is None:
            return
        encoder = av.CodecContext.create("libx264", "w")
        encoder.height, encoder.width = planes(first.image)[0].shape
        encoder.pix_fmt = Pixels.I420.value
        encoder.time_base, encoder.framerate = Fraction(1, RATE), Fraction(RATE)
        encoder.thread_count = 1
        encoder.options = {
            "preset": "veryfast",
            "crf": f"{rate_factor:g}",
            "x264-params": "cpu-independent=1:sliced-threads=0",
        }
        decoder = av.CodecContext.create("h264", "r")
        decoder.thread_count = 1
        for number, frame in enumerate(chain([first], frames)):
            picture = av.VideoFrame.from_ndarray(frame.image, format=Pixels.I420.value)
            picture.pts = number
            for packet in encoder.encode(picture):
                yield from _decoded(decoder, packet)
        for last in (*encoder.encode(None), None):
            yield from _decoded(decoder, last)

    return run


def _decoded(decoder: Any, packet: Any) -> Iterator[Image]:
    for picture in decoder.decode(packet):
        yield np.asarray(picture.to_ndarray(), np.uint8)
