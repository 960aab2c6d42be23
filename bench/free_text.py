"""What metrics of image and text notice, with a text tower of our own: docs/evidence/free_text.md.

    python bench/free_text.py FEATURES CAPTIONS --tower DIR [--films FILMS.npz] [--data DIR]

DIR is what `bench/text_tower.py` wrote; FEATURES and CAPTIONS are as there. Films are the captioned
ones of the data folder with five shots and more, each work once, cut where their captions say. The
metrics are those that users run, on the middle picture of each shot. Of a film, 40 harms of each
kind are drawn; the unit is the film, and intervals are of the mean over films (Student).
Words are changed in captions of Flickr8k's pictures for testing, by the rules of `build-prompts`;
the control scores the same two texts beside another picture.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _figures import Table, publish
from image_text import _figures, _films
from screentest.core import Clip, Item, NoValue, Score, Script, Shot, Span, build
from screentest.metrics.alignment.clipscore import clipscore
from screentest.metrics.alignment.matched import caption_agreement, clip_aligned
from screentest.models.pictures import limit_long_side
from screentest.stats.intervals import mean_interval, wilson
from screentest.testbeds.prompts import changed_prompt

SKIPPED = ("tiny_", "nasa")
DRAWS, SEED = 40, 7
CHANGES = ("object", "color", "number", "action", "place")
Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Film:
    name: str
    pictures: list[Image]
    captions: list[str]


@dataclass(eq=False)
class Given:
    """What a metric asks for: shots of a second each, their pictures, the towers."""

    pictures: Sequence[Image]
    model: Any
    details: dict[str, Any] = field(default_factory=dict)

    def role(self, name: str) -> Any:
        return self.model

    def shots(self, video: Path, detector: str = "") -> list[Shot]:
        count = len(self.pictures)
        return [Shot(Span(Fraction(n), Fraction(n + 1))) for n in range(count)]

    def frames(self, video: Path, moments: Sequence[Fraction], request: Any) -> list[Any]:
        return [_Frame(self.pictures[int(moment)]) for moment in moments]


@dataclass(frozen=True)
class _Frame:
    image: Image


class Towers:
    """The towers, with what they said of each picture and text before."""

    max_tokens = 256

    def __init__(self, folder: Path) -> None:
        self._model = build("image_text", f"onnx:model={folder},longest=256").thing
        self._known: dict[Any, NDArray[np.float32]] = {}
        self.count_tokens = self._model.count_tokens

    def tell(self, picture: Image, row: NDArray[np.float32]) -> None:
        self._known[id(picture)] = row

    def embed_images(self, images: Sequence[Image]) -> NDArray[np.float32]:
        for one in images:
            if id(one) not in self._known:
                (self._known[id(one)],) = self._model.embed_images([one])
        return np.stack([self._known[id(one)] for one in images])

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> NDArray[np.float32]:
        for text in texts:
            if text not in self._known:
                (self._known[text],) = self._model.embed_texts([text])
        return np.stack([self._known[text] for text in texts])


def scores(pictures: Sequence[Image], captions: Sequence[str], model: Towers) -> dict[str, float]:
    script = Script(tuple(Clip(caption) for caption in captions))
    item = Item("film", Path("film.mp4"), script=script)
    given: Any = Given(pictures, model)
    made: dict[str, Any] = {"clipscore": clipscore(item, given)}
    made |= {
        name: outcome.unwrap()
        for values in (clip_aligned(item, given), caption_agreement(item, given))
        for name, outcome in values.items()
        if outcome.ok
    }
    return {name: score.value for name, score in made.items() if isinstance(score, Score)}


Harm = Callable[[Film, list[Film], np.random.Generator], tuple[list[Image], list[str]]]


def shuffled(film: Film, others: list[Film], draw: np.random.Generator) -> Any:
    """Five shots that follow each other, in another order."""
    first = int(draw.integers(len(film.pictures) - 4))
    order = list(range(len(film.pictures)))
    while order == sorted(order):
        order[first : first + 5] = draw.permutation(order[first : first + 5])
    return [film.pictures[number] for number in order], film.captions


def missing(film: Film, others: list[Film], draw: np.random.Generator) -> Any:
    """A third of the shots is not there."""
    count = len(film.pictures)
    kept = sorted(draw.permutation(count)[: count - max(1, count // 3)])
    return [film.pictures[number] for number in kept], film.captions


def elsewhere(film: Film, others: list[Film], draw: np.random.Generator) -> Any:
    """The pictures of another film, as many."""
    other = others[int(draw.integers(len(others)))]
    taken = draw.integers(len(other.pictures), size=len(film.pictures))
    return [other.pictures[number] for number in sorted(taken)], film.captions


def one_elsewhere(film: Film, others: list[Film], draw: np.random.Generator) -> Any:
    """One shot is of another film."""
    other = others[int(draw.integers(len(others)))]
    pictures = list(film.pictures)
    place = int(draw.integers(len(pictures)))
    pictures[place] = other.pictures[int(draw.integers(len(other.pictures)))]
    return pictures, film.captions


HARMS: dict[str, Harm] = {
    "five shots in another order": shuffled,
    "a third of the shots missing": missing,
    "one shot of another film": one_elsewhere,
    "another film": elsewhere,
}
VALUES = ("clipscore", "clip_aligned", "standing_out", "caption_agreement", "caption_order")


def right(intact: float, harmed: float) -> float:
    """A tie counts half; means of the same numbers in another order are one."""
    return 0.5 if abs(intact - harmed) < 1e-9 else float(intact > harmed)


def of_films(films: list[Film], model: Towers) -> tuple[Table, Table]:
    rows, better = [], []
    for harm, change in HARMS.items():
        shares: dict[str, list[float]] = {name: [] for name in VALUES}
        for film in films:
            draw = np.random.default_rng(SEED)
            others = [one for one in films if one is not film]
            intact = scores(film.pictures, film.captions, model)
            harmed = [scores(*change(film, others, draw), model) for _ in range(DRAWS)]
            for name in VALUES:
                pairs = [right(intact[name], one[name]) for one in harmed if name in one]
                shares[name].append(float(np.mean(pairs)))
        cells = [_shown(values) for values in shares.values()]
        rows.append((harm, len(films), *cells))
        apart = np.array(shares["clip_aligned"]) - np.array(shares["clipscore"])
        better.append((harm, len(films), _shown(apart.tolist())))
        print(rows[-1], better[-1], flush=True)
    columns = {"harm": "", "films": ""}
    return (
        Table(
            columns | dict.fromkeys((f"`{name}`" for name in VALUES), "{:.2f} [{:.2f}–{:.2f}]"),
            rows,
        ),
        Table(columns | {"`clip_aligned` minus `clipscore`": "{:+.2f} [{:+.2f}–{:+.2f}]"}, better),
    )


def _shown(values: Sequence[float]) -> list[float]:
    mean, interval = float(np.mean(values)), mean_interval(np.array(values))
    return [mean, max(-1.0, interval.low), min(1.0, interval.high)]


def of_words(features: Path, captions: Path, model: Towers) -> Table:
    kept = np.load(features)
    rows = dict(zip(map(str, kept["names"]), kept["e"].astype(np.float32), strict=True))
    names = (captions / "Flickr_8k.testImages.txt").read_text("utf-8").split()
    lines = (captions / "Flickr8k.token.txt").read_text("utf-8").splitlines()
    first = {line[: line.index("#")]: line.partition("\t")[2] for line in reversed(lines)}
    table = []
    for change in CHANGES:
        own, other = [], []
        for number, name in enumerate(names):
            try:
                pair = changed_prompt([first[name].rstrip(" .") + "."], name, change, SEED)
            except NoValue:
                continue
            true, false = model.embed_texts([pair.true[0], pair.false[0]])
            own.append(right(float(rows[name] @ true), float(rows[name] @ false)))
            away = rows[names[(number + len(names) // 2) % len(names)]]
            other.append(right(float(away @ true), float(away @ false)))
        cells = [_share(values) for values in (own, other)]
        table.append((change, len(own), *cells))
        print(table[-1], flush=True)
    columns = {"word changed": "", "captions": ""}
    columns |= dict.fromkeys(("own picture", "control: another picture"), "{:.2f} [{:.2f}–{:.2f}]")
    return Table(columns, table)


def _share(values: Sequence[float]) -> list[float]:
    interval = wilson(sum(values), len(values))
    return [float(np.mean(values)), interval.low, interval.high]


def ranks(films: list[Film], model: Towers) -> Table:
    """How often a shot finds its own caption among those of its film, as bench/image_text.py."""
    shares = [
        _figures(model.embed_images(film.pictures) @ model.embed_texts(film.captions).T)
        for film in films
    ]
    counts = [len(film.captions) for film in films]
    rows = [(film.name, n, own) for film, n, own in zip(films, counts, shares, strict=True)]
    rows.append(("all shots", sum(counts), np.average(shares, axis=0, weights=counts).tolist()))
    form = "{:.2f} / {:.2f} / {:.2f}"
    return Table({"film": "", "shots": "", "first / in three / pairs": form}, rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("features", type=Path)
    options.add_argument("captions", type=Path)
    options.add_argument("--tower", type=Path, required=True)
    options.add_argument("--films", type=Path, help="rows of the films' pictures, made before")
    options.add_argument("--data", type=Path, default=os.environ.get("SCREENTEST_DATA"))
    given = options.parse_args()
    model = Towers(given.tower)
    tables = {"words": of_words(given.features, given.captions, model)}
    every = [
        Film(film.name, [limit_long_side(one, 448) for one in film.pictures], film.captions)
        for film in _films(Path(given.data) / "video")
    ]
    films = [one for one in every if not one.name.startswith(SKIPPED) and len(one.pictures) > 4]
    known = np.load(given.films) if given.films else {}
    for film in every:
        if film.name in known:
            for picture, row in zip(film.pictures, known[film.name], strict=True):
                model.tell(picture, row)
    tables["ranks"] = ranks(every, model)
    tables["films"], tables["apart"] = of_films(films, model)
    publish("free_text", "python bench/free_text.py", tables)


if __name__ == "__main__":
    main()
