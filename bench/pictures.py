"""What the built-in picture backends are worth, on real frames: docs/evidence/backends.md.

    python bench/pictures.py [--data DIR] [--frames N]

Frames are taken from every video of the data folder (SCREENTEST_DATA); without it, from the
packaged sample. Backends whose weights or packages are missing are left out and named.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from _figures import Table, publish
from screentest.core import NoValue, build
from screentest.sample import sample_folder

Image = NDArray[np.uint8]
LONG_SIDE = 512
WORDS = {
    "JPEG": "JPEG quality 60 … 5",
    "blur": "blur, σ 0.7 … 6",
    "resolution": "resolution 0.75 … 0.15, scaled back",
    "noise": "noise, σ 4 … 50",
    "inverted, flat": "SLVMEval's aesthetics: contrast inverted, 0.8",
    "flat": "contrast 0.7 … 0.15",
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=os.environ.get("SCREENTEST_DATA"))
    options.add_argument("--frames", type=int, default=3, help="per video")
    given = options.parse_args()
    videos = sorted(_videos(Path(given.data) / "video" if given.data else sample_folder()))
    triples = [triple for path in videos for triple in _triples(path, given.frames)]
    shown = [middle for _, middle, _ in triples if middle.std() > 12]
    print(f"{len(shown)} frames of {len(videos)} videos, long side {LONG_SIDE}")
    tables = {
        "ladders": _ladders(shown),
        "interpolation": _interpolation(triples),
        "inpainting": _inpainting(shown),
    }
    publish("pictures", "python bench/pictures.py", tables)


def _ladders(pictures: Sequence[Image]) -> Table:
    """How often each step of harm lowers the score, and all steps of a ladder."""
    technical = build("technical", "scene_statistics").thing
    aesthetic = build("aesthetic", "image_statistics").thing
    scorers: dict[str, tuple[Callable[[Image], float], Sequence[str]]] = {
        "scene_statistics": (
            lambda picture: technical.score([picture]),
            ("JPEG", "blur", "resolution", "noise"),
        ),
        "image_statistics": (
            lambda picture: float(aesthetic.score([picture])[0]),
            ("inverted, flat", "flat", "blur"),
        ),
    }
    rows: list[list[Any]] = []
    for name, (score, harms) in scorers.items():
        for harm in harms:
            table = np.array([[score(step(one)) for step in _steps(harm)] for one in pictures])
            lower = np.diff(table, axis=1) < 0
            medians = np.median(table, axis=0)
            shares = [lower.mean(), lower.all(axis=1).mean()]
            rows.append([f"`{name}`", WORDS[harm], len(pictures), medians[[0, -1]], *shares])
            print(rows[-1], flush=True)
    columns = {"backend": "", "degradation, step by step": "", "frames": ""}
    columns |= {"median, original → worst": "{:.2f} → {:.2f}"}
    return Table(columns | {"each step lowers it": "{:.2f}", "all steps do": "{:.2f}"}, rows)


def _interpolation(triples: Sequence[tuple[Image, Image, Image]]) -> Table:
    """PSNR against the true middle frame, where something moves."""
    moving = [
        one
        for one in triples
        if np.abs(one[0].astype(int) - one[2]).mean() > 1 and _psnr(*one[::2]) > 12
    ]
    plain = [_psnr((one.astype(float) + two) / 2, true) for one, true, two in moving]
    rows: list[list[Any]] = [["plain mean", len(moving), np.mean(plain), None, None]]
    for name, backend in _built("interpolation", ("flow_midpoint",)):
        start = time.process_time()
        found = [backend.midpoint([(one, two)])[0] for one, _, two in moving]
        seconds = (time.process_time() - start) / len(moving)
        values = [_psnr(one, true) for one, (_, true, _) in zip(found, moving, strict=True)]
        better = np.mean(np.array(values) > plain)
        rows.append([f"`{name}`", len(moving), np.mean(values), better, seconds])
    columns = {"backend": "", "triples": "", "PSNR, dB": "{:.2f}", "better than the mean": "{:.2f}"}
    return Table(columns | {"processor seconds each": "{:.2f}"}, rows)


def _inpainting(pictures: Sequence[Image]) -> Table:
    """PSNR inside a round hole in the middle, against what was there."""
    rows = []
    for name, backend in _built("inpainting", ("telea", "migan")):
        values, start = [], time.process_time()
        for picture in pictures:
            mask = np.zeros(picture.shape[:2], np.float32)
            cv2.circle(mask, (picture.shape[1] // 2, picture.shape[0] // 2), 40, 1, -1)
            filled = backend.inpaint(picture, mask)
            values.append(_psnr(filled[mask > 0.5], picture[mask > 0.5]))
        seconds = (time.process_time() - start) / len(pictures)
        rows.append([f"`{name}`", len(pictures), np.mean(values), seconds])
    columns = {"backend": "", "frames": "", "PSNR inside the hole, dB": "{:.1f}"}
    return Table(columns | {"processor seconds each": "{:.2f}"}, rows)


def _steps(harm: str) -> list[Callable[[Image], Image]]:
    """The picture as it is, then ever more harm."""
    ladders: dict[str, list[Callable[[Image], Image]]] = {
        "JPEG": [lambda p, q=q: _jpeg(p, q) for q in (60, 35, 20, 10, 5)],
        "blur": [lambda p, s=s: cv2.GaussianBlur(p, (0, 0), s) for s in (0.7, 1.2, 2, 3.5, 6)],
        "resolution": [lambda p, f=f: _smaller(p, f) for f in (0.75, 0.5, 0.35, 0.25, 0.15)],
        "noise": [lambda p, s=s: _noisy(p, s) for s in (4, 8, 16, 30, 50)],
        "inverted, flat": [lambda p, k=k: _luma(p, -k) for k in (0.8,)],
        "flat": [lambda p, k=k: _luma(p, k) for k in (0.7, 0.4, 0.15)],
    }
    return [lambda p: p, *ladders[harm]]


def _jpeg(picture: Image, quality: int) -> Image:
    _, code = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return cv2.imdecode(code, cv2.IMREAD_COLOR)[..., ::-1]


def _smaller(picture: Image, factor: float) -> Image:
    height, width = picture.shape[:2]
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)


def _noisy(picture: Image, deviation: float) -> Image:
    added = np.random.default_rng(0).normal(0, deviation, picture.shape)
    return np.clip(np.rint(picture + added), 0, 255).astype(np.uint8)


def _luma(picture: Image, factor: float) -> Image:
    parts = cv2.cvtColor(picture, cv2.COLOR_RGB2YCrCb).astype(np.float32)
    parts[..., 0] = 127.5 + factor * (parts[..., 0] - 127.5)
    whole = np.clip(np.rint(parts), 0, 255).astype(np.uint8)
    return cv2.cvtColor(whole, cv2.COLOR_YCrCb2RGB)


def _psnr(one: NDArray[Any], two: NDArray[Any]) -> float:
    error = np.mean((one.astype(float) - two.astype(float)) ** 2)
    return float(10 * np.log10(255**2 / max(error, 1e-9)))


def _built(role: str, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for name in names:
        try:
            yield name, build(role, name).thing
        except NoValue as error:
            print(f"  {name} is left out: {error.message}")


def _videos(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        # Full films repeat what their excerpts show.
        if path.suffix in {".mp4", ".webm", ".mpg"} and "full" not in path.name:
            yield path


def _triples(path: Path, count: int) -> Iterator[tuple[Image, Image, Image]]:
    """``count`` runs of three frames, spread over the first minute."""
    with av.open(str(path)) as container:
        total = min(container.streams.video[0].frames or 240, 1500)
        starts = {total * (2 * n + 1) // (2 * count) for n in range(count)}
        run: list[Image] = []
        for number, frame in enumerate(container.decode(video=0)):
            if number in starts or run:
                picture = frame.to_ndarray(format="rgb24")
                scale = min(1.0, LONG_SIDE / max(picture.shape[:2]))
                run.append(
                    cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
                )
            if len(run) == 3:
                yield run[0], run[1], run[2]
                run = []
            if number > max(starts) + 3:
                return


if __name__ == "__main__":
    main()
