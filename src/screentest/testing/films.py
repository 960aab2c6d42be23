"""Small films for tests: written without loss, so that what was drawn is what is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from screentest.core.frames import Image
from screentest.core.item import Clip, Item, Script, Span
from screentest.video.probe import probe
from screentest.video.samples import sample_frames

RATE = 8
CAPTIONS = (
    "A red car stands to the left of a white house.",
    "A black dog runs over a green meadow.",
    "A woman in a blue dress walks along the beach.",
    "Two brown horses drink from a river in front of a forest.",
)


def write_film(path: Path, pictures: Iterable[Image], rate: int = RATE) -> Path:
    """Write RGB pictures of one size as they are, ``rate`` a second, to a Matroska file."""
    import av

    listed = list(pictures)
    height, width = listed[0].shape[:2]
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream("ffv1", rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "bgr0"
        for number, picture in enumerate(listed):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def texture(seed: int, height: int = 96, width: int = 128) -> Image:
    """Draw a picture with detail everywhere, in three distinct colour planes."""
    import cv2

    noise = np.random.default_rng(seed).uniform(0, 255, (height, width, 3)).astype(np.float32)
    soft = cv2.GaussianBlur(noise, (0, 0), 2.5)
    low, high = soft.min(), soft.max()
    return np.asarray((soft - low) * (255 / (high - low)), np.uint8)


def gliding(count: int, speed: int, seed: int = 1, height: int = 96, width: int = 128) -> list[Any]:
    """Glide over a large picture by ``speed`` pixels per frame."""
    wide = texture(seed, height, width + count * max(speed, 1))
    return [wide[:, n * speed : n * speed + width].copy() for n in range(count)]


def hard_films(folder: Path) -> list[Item]:
    """Films that metrics meet and nobody planned for, each with all that an item can have."""
    pictures: Mapping[str, list[Any]] = {
        "black": [np.zeros((48, 64, 3), np.uint8)] * 8,
        "white": [np.full((48, 64, 3), 255, np.uint8)] * 4,
        "tiny": [texture(n, 8, 8) for n in range(6)],
        "one_frame": [texture(1, 48, 64)],
        "two_frames": [texture(n, 48, 64) for n in range(2)],
        "noise_upright": [
            np.random.default_rng(n).integers(0, 256, (64, 36, 3)).astype(np.uint8)
            for n in range(8)
        ],
        "two_shots": [*gliding(8, 2, 3, 48, 64), *gliding(8, 1, 4, 48, 64)],
    }
    return [item_of(folder, name, listed) for name, listed in pictures.items()]


def item_of(folder: Path, name: str, pictures: list[Any], rate: int = RATE) -> Item:
    """Write a film with prompt, script, reference picture, source and instruction."""
    import cv2

    video = write_film(folder / f"{name}.mkv", pictures, rate)
    reference = folder / f"{name}.png"
    cv2.imwrite(str(reference), pictures[0][..., ::-1])
    half = max(1, len(pictures) // 2)
    source = write_film(folder / f"{name}.source.mkv", pictures[:half], rate)
    return Item(
        name,
        video,
        prompt=" ".join(CAPTIONS[:2]),
        script=Script(tuple(Clip(caption) for caption in CAPTIONS[:2])),
        references=(reference,),
        source=source,
        instruction="Make the car blue.",
    )


def captioned_film(folder: Path, name: str = "film", clips: int = 4, seconds: int = 1) -> Item:
    """Write a film of several shots with a timed script, to build a testbed from."""
    count = RATE * seconds
    pictures = [
        picture
        for clip in range(clips)
        for picture in gliding(count, 1 + clip % 2, 10 + clip, 72, 96)
    ]
    script = Script(
        tuple(
            Clip(
                CAPTIONS[clip % len(CAPTIONS)],
                Span(Fraction(clip * seconds), Fraction((clip + 1) * seconds)),
            )
            for clip in range(clips)
        )
    )
    return Item(name, write_film(folder / f"{name}.mkv", pictures), script=script)


def pictures_of(video: Path) -> list[Any]:
    """All frames of a film."""
    info = probe(video)
    moments = [info.start + Fraction(2 * n + 1, 2) / info.rate for n in range(info.frames)]
    return [frame.image.copy() for frame in sample_frames(video, moments)]
