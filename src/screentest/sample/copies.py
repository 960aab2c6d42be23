"""Copies of the sample to work on: the films with a manifest, and clips of two checkpoints.

Of the checkpoints one has the shots of the films as they are, the other the same shots blurred and
flickering: whoever compares them knows what ought to come out. The models of the demo have one
fault each, or none.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from screentest._util.atomic import atomic_output, write_whole
from screentest.core import BadOption, Clip
from screentest.core.frames import Image
from screentest.inputs.manifest import write_manifest
from screentest.sample import sample_folder, sample_videos

MANIFEST = "films.jsonl"
PROMPTS = "prompts.txt"
LICENCES = "ATTRIBUTION.md"
WORSE, BETTER = "step-1000", "step-2000"
CHECKPOINTS = (WORSE, BETTER)
MODELS = ("soft", "flickering", "intact")
_BLURRED, _FLICKERING = {WORSE, "soft"}, {WORSE, "flickering"}
METRIC = "my_metric"
OWN_METRIC = '''"""A metric of your own: how much neighbouring pixels differ."""

import numpy as np
import screentest


@screentest.metric(unit="levels", high=255, rate=2, long_side=256)
def my_metric(image: np.ndarray) -> float:
    """Mean step from each pixel to the next."""
    return float(np.abs(np.diff(image.mean(axis=2), axis=1)).mean())
'''
"""What the demo writes, and certifies."""
_SECONDS = Fraction(3, 2)
_LEAST_FRAMES = 16
_WIDTH = 320


def copy_films(folder: Path) -> Path:
    """Return the films, their licences, and a manifest with prompts and timed scripts."""
    items = []
    _make(folder, [MANIFEST])
    for video in sample_videos():
        target = folder / f"{video.item.id}.mp4"
        shutil.copyfile(video.item.video, target)
        script = video.item.script
        prompt = script.text if script is not None else ""
        items.append(replace(video.item, video=target, prompt=prompt))
    shutil.copyfile(sample_folder() / LICENCES, folder / LICENCES)
    write_manifest(folder / MANIFEST, items)
    return folder / MANIFEST


def copy_checkpoints(
    folder: Path, prompts: int = 20, models: Sequence[str] = CHECKPOINTS
) -> list[str]:
    """Clips of so many prompts by each of some models, numbered; gives the prompts."""
    shots = list(_shots())
    if not 2 <= prompts <= len(shots):
        raise BadOption.of("prompts", prompts, f"2 to {len(shots)}")
    _make(folder, models)
    # Spread over the films: the first few would all be of one.
    chosen = sorted(range(len(shots)), key=lambda place: (place * 7) % len(shots))[:prompts]
    for name in models:
        (folder / name).mkdir()
    wanted: dict[Path, dict[int, Clip]] = {}
    for number, place in enumerate(sorted(chosen), start=1):
        film, clip = shots[place]
        wanted.setdefault(film, {})[number] = clip
    for film, clips in wanted.items():
        rate, pictures = _cut(film, clips)
        for number, images in pictures.items():
            for name in models:
                rng = np.random.default_rng(number)
                made = [_as_made_by(name, image, rng) for image in images]
                _write(folder / name / f"{number:04}.mp4", made, rate)
    texts = [shots[place][1].caption for place in sorted(chosen)]
    shutil.copyfile(sample_folder() / LICENCES, folder / LICENCES)
    # Last: whoever was stopped before has no list of prompts.
    write_whole(folder / PROMPTS, "".join(f"{text}\n" for text in texts))
    return texts


def _make(folder: Path, names: Sequence[str]) -> None:
    """Refuse a folder that has files of these names: nothing of anybody's is overwritten."""
    there = [name for name in names if (folder / name).exists()]
    if there:
        raise BadOption(f"{folder / there[0]} is there already", advice="Give another folder.")
    folder.mkdir(parents=True, exist_ok=True)


def _shots() -> Iterator[tuple[Path, Clip]]:
    for video in sample_videos():
        for clip in video.item.script.clips if video.item.script is not None else ():
            if clip.span is not None and clip.span.duration > _LEAST_FRAMES / Fraction(15):
                yield video.item.video, clip


def _cut(film: Path, clips: dict[int, Clip]) -> tuple[Fraction, dict[int, list[Image]]]:
    """Return the rate of a film, and the frames in the middle of each clip, in one decode."""
    result: dict[int, list[Image]] = {number: [] for number in clips}
    with av.open(str(film)) as source:
        stream = source.streams.video[0]
        height = round(_WIDTH * stream.height / stream.width / 2) * 2
        end = max(clip.span.end for clip in clips.values() if clip.span is not None)
        for frame in source.decode(stream):
            assert frame.pts is not None
            assert frame.time_base is not None  # of files of ours
            if frame.pts * frame.time_base >= end:
                break
            for number, clip in clips.items():
                assert clip.span is not None
                start = clip.span.centre - min(_SECONDS, clip.span.duration) / 2
                if start <= frame.pts * frame.time_base < start + _SECONDS and (
                    frame.pts * frame.time_base in clip.span
                ):
                    small = frame.reformat(_WIDTH, height, format="rgb24")
                    result[number].append(small.to_ndarray().astype(np.uint8))
        assert stream.average_rate is not None
        return stream.average_rate, result


def _as_made_by(model: str, image: Image, rng: np.random.Generator) -> Image:
    """Blurred by some, by some each frame brighter or darker than the one before."""
    if model in _BLURRED:
        image = cv2.GaussianBlur(image, (0, 0), 1.5).astype(np.uint8)
    if model in _FLICKERING:
        image = np.clip(image * np.float32(rng.uniform(0.9, 1.1)), 0, 255).astype(np.uint8)
    return image


def _write(target: Path, images: list[Image], rate: Fraction) -> None:
    # x264's trees of macroblocks differ from one encode to the next, even in one thread.
    options = {"crf": "20", "preset": "veryfast", "threads": "1", "x264-params": "mbtree=0"}
    with atomic_output(target) as file, av.open(file, "w", format="mp4") as out:
        coded = out.add_stream("libx264", rate=rate, options=options)
        coded.height, coded.width = images[0].shape[:2]
        coded.pix_fmt = "yuv420p"
        for image in images:
            out.mux(coded.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        out.mux(coded.encode(None))
