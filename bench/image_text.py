"""How often a picture finds its own caption. A table of docs/evidence/backends.md.

    python bench/image_text.py [--data DIR] [--backends label_text,colour_words]

For each captioned film, the middle frame of each shot against the captions of all its shots.
"first" and "in three" are the shares of shots whose own caption comes first, or among the first
three; "pairs" is how often the own caption beats another one (chance: 0.50). Words that a picture
is said to show (detections, ImageNet's label from 0.2, CLIP's words from a share of 0.1) are right
where the caption has them. Without the data folder (SCREENTEST_DATA) only the packaged sample is
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from _figures import Table, publish
from screentest.core import NoValue, build
from screentest.models.backends.labels import COCO_STUFF, label_words
from screentest.models.roles import ImageText
from screentest.sample import sample_folder

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Film:
    name: str
    pictures: list[Image]
    captions: list[str]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=os.environ.get("SCREENTEST_DATA"))
    options.add_argument("--backends", default="label_text,label_text:tags=1,colour_words")
    given = options.parse_args()
    videos = Path(given.data) / "video" if given.data else sample_folder()
    films = list(_films(videos))
    counts = [len(film.captions) for film in films]
    columns: dict[str, list[tuple[float, ...]]] = {}
    for name in given.backends.split(","):
        try:
            backend: ImageText = build("image_text", name).thing
        except NoValue as error:
            print(f"{name} is left out: {error}")
            continue
        columns[f"`{name}`: first / in three / pairs"] = list(_shares(backend, films))
    columns["chance"] = [(1 / count, min(1.0, 3 / count), 0.5) for count in counts]
    for shares in columns.values():
        shares.append(tuple(np.average(shares, axis=0, weights=counts).tolist()))
    rows = zip(
        [*(film.name for film in films), "all shots"],
        [*counts, sum(counts)],
        *columns.values(),
        strict=True,
    )
    forms = {"film": "", "shots": "", **dict.fromkeys(columns, "{:.2f} / {:.2f} / {:.2f}")}
    table = Table(forms, list(rows))
    tables = {"films": table}
    if "label_text:tags=1" in given.backends.split(","):
        tables["words"] = _words(films)
    publish("image_text", "python bench/image_text.py", tables)


def _words(films: list[Film]) -> Table:
    """Precision and recall of words against captions, without CLIP's words and with them."""
    labels = build("image_text", "label_text:tags=1").thing
    names = labels._labels.names
    kinds = label_words(names)
    known = {*kinds, *labels._detector.classes, *COCO_STUFF}
    counts = np.zeros((2, 3))  # said, right, in the caption
    for film in films:
        for picture, caption in zip(film.pictures, film.captions, strict=True):
            text = re.findall(r"[a-z]+", caption.lower())
            singles = {*text, *(word.removesuffix("s") for word in text)}
            told = {word for word in known if set(word.lower().split()) <= singles}
            best = int(np.argmax(shares := labels._labels.probabilities(picture)))
            said = {word for word in kinds if shares[best] >= 0.2 and best in kinds[word]}
            said |= set(labels._found(picture))
            more = {COCO_STUFF[n] for n in np.flatnonzero(labels.tags(picture) >= 0.1)}
            for row, words in enumerate((said, said | more)):
                counts[row] += len(words), len(words & told), len(told)
    rows = [
        (name, int(said), right / said, right / told)
        for name, (said, right, told) in zip(("label_text", "with tags=1"), counts, strict=True)
    ]
    return Table({"": "", "words said": "", "precision": "{:.2f}", "recall": "{:.2f}"}, rows)


def _shares(backend: ImageText, films: list[Film]) -> Iterator[tuple[float, ...]]:
    start = time.process_time()
    embedded = [backend.embed_images(film.pictures) for film in films]
    seconds = (time.process_time() - start) / sum(len(film.captions) for film in films)
    print(f"{1000 * seconds:.0f} ms of CPU per picture")
    for film, pictures in zip(films, embedded, strict=True):
        yield _figures(pictures @ backend.embed_texts(film.captions).T)


def _figures(similar: NDArray[np.float32]) -> tuple[float, float, float]:
    """A tie counts as half a win: a backend that says nothing is at chance."""
    own = np.diag(similar)[:, None]
    others = ~np.eye(len(similar), dtype=bool)
    rank = (similar > own).sum(axis=1) + ((similar == own) & others).sum(axis=1) / 2
    pairs = 1 - rank / max(1, len(similar) - 1)
    return float((rank < 1).mean()), float((rank < 3).mean()), float(pairs.mean())


def _films(videos: Path) -> Iterator[Film]:
    for path in sorted((videos / "captions").glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))
        shots = [shot for shot in known.get("shots", ()) if shot.get("caption")]
        video = videos / str(known.get("video", ""))
        if len(shots) < 3 or not video.is_file():
            continue
        middles = [(shot["start_frame"] + shot["end_frame"]) // 2 for shot in shots]
        # Some films are shown between black bars; their notes say which part is the picture.
        bars = re.search(r"crop=(\d+):(\d+):(\d+):(\d+)", known.get("note") or "")
        pictures = _pictures(video, middles)
        if bars is not None:
            width, height, left, top = map(int, bars.groups())
            pictures = [one[top : top + height, left : left + width] for one in pictures]
        yield Film(path.stem, pictures, [shot["caption"] for shot in shots])


def _pictures(video: Path, numbers: list[int]) -> list[Image]:
    """The frames of these numbers; the last there is for one beyond the end."""
    found: dict[int, Image] = {}
    wanted, last = set(numbers), max(numbers)
    with av.open(str(video)) as container:
        container.streams.video[0].thread_type = "AUTO"
        for number, frame in enumerate(container.decode(video=0)):
            if number in wanted:
                found[number] = frame.to_ndarray(format="rgb24")
            if number >= last:
                break
    return [found.get(number, found[max(found)]) for number in numbers]


if __name__ == "__main__":
    main()
