"""LAION's head and faces across shots, on real pictures. Tables of docs/evidence/backends.md.

    python bench/light_models.py [--data DIR]

Weights are those of `screentest models pull clip-b16-image laion-b16-head faces`.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

import screentest
from _figures import Table, publish
from image_text import _pictures
from screentest.core import build
from screentest.models.pictures import limit_long_side, read_picture

Image = NDArray[np.uint8]
SEED = 0


def blurred(picture: Image) -> Image:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 4), np.uint8)


def compressed(picture: Image) -> Image:
    _, data = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 8])
    read = cv2.imdecode(data, cv2.IMREAD_COLOR)
    return np.ascontiguousarray(np.asarray(read, np.uint8)[..., ::-1])


def noisy(picture: Image) -> Image:
    noise = np.random.default_rng(SEED).normal(0, 35, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def beauty(videos: Path) -> Table:
    model = build("aesthetic", "laion_b16").thing
    photographs = [read_picture(path) for path in sorted((videos / "backgrounds").glob("*.jpg"))]
    clips = [path for path in sorted((videos / "singleshot").iterdir()) if path.suffix != ".md"]
    frames = [_pictures(path, [20])[0] for path in clips]
    every = [limit_long_side(one, 512) for one in [*photographs, *frames]]
    scores = model.score(every)
    here = len(photographs)
    rows: list[tuple[str, int, float, str]] = [
        ("photographs of landscapes", here, float(scores[:here].mean()), "–"),
        ("frames of films", len(frames), float(scores[here:].mean()), "–"),
    ]
    for name, harm in (("blur, σ 4", blurred), ("JPEG, 8", compressed), ("noise, σ 35", noisy)):
        less = model.score([harm(one) for one in every])
        count = int((less < scores).sum())
        rows.append(
            (f"all with {name}", len(every), float(less.mean()), f"{count} of {len(every)}")
        )
        print(rows[-1], flush=True)
    form = {"pictures": "", "number": "", "mean of `laion_b16`": "{:.2f}", "lower than before": ""}
    return Table(form, rows)


def faces(videos: Path) -> Table:
    films = [*sorted((videos / "ai_generated").glob("vgot*.mp4"))]
    films.append(videos / "multishot" / "real_montage_12shots_640x360.mp4")
    rows = []
    for film in films:
        with tempfile.TemporaryDirectory() as out:
            scores = screentest.score(film, metrics="face_identity", models="light", out=out)
            (outcome,) = (value.outcome for value in scores.results.values)
        if outcome.ok:
            told = outcome.unwrap()
            rows.append((film.stem, told.details["shots"], told.details["measured"], told.value))
        else:
            rows.append((film.stem, None, None, None))
        print(rows[-1], flush=True)
    form = {"film": "", "shots": "", "with a face": "", "`face_identity`": "{:.2f}"}
    return Table(form, rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=os.environ.get("SCREENTEST_DATA"))
    videos = Path(options.parse_args().data) / "video"
    publish(
        "light_models",
        "python bench/light_models.py",
        {"faces": faces(videos), "beauty": beauty(videos)},
    )


if __name__ == "__main__":
    main()
