"""How many dissolves and fades `gradual` finds, in films put together from single shots.

    python bench/blends.py [--data DIR]

Two films of a single shot are joined by a blend of known place and length, on the small frames
that the detector sees. The thresholds of `gradual` were set on one half of the films; the other
half says what they are worth. Needs the data folder (SCREENTEST_DATA, or shared/data beside
the checkout).
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np

from _figures import Table, publish

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.video.known_cuts import KnownFilm, all_films  # noqa: E402
from tests.video.watching import Pictures, blend, small_frames, watch  # noqa: E402

from screentest.core import Transition  # noqa: E402
from screentest.video.probe import probe  # noqa: E402

SECONDS = (0.3, 0.5, 0.75, 1.0, 1.5, 2.0)
TRIALS = 40
"""For each length, kind and half."""
AROUND = 2.0
"""Seconds of each film before and after the blend."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=None)
    given = options.parse_args()
    data = given.data or Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data"))
    if not data.is_dir():
        raise SystemExit(f"no data folder at {data}: set SCREENTEST_DATA")
    groups = ("singleshot", "ai_generated", "etva_microgravity")
    known = [film for film in all_films(data) if not film.cuts and film.group in groups]
    # In this order every second film was used for tuning.
    films = sorted(known, key=lambda film: (groups.index(film.group), film.path.name))
    halves = {"tuned on": films[::2], "held out": films[1::2]}
    rows = []
    for kind in (Transition.DISSOLVE, Transition.FADE):
        for name, half in halves.items():
            found = [_found(half, kind, seconds) for seconds in SECONDS]
            shares = [one / TRIALS for one in [*found, sum(found) / len(found)]]
            rows.append((kind.value, name, *shares))
    columns = {"blend": "", "films": "", **{f"{one:g} s": "{:.2f}" for one in SECONDS}}
    publish(
        "blends", "python bench/blends.py", {"found": Table({**columns, "all": "{:.2f}"}, rows)}
    )


def _found(films: Sequence[KnownFilm], kind: Transition, seconds: float) -> int:
    chance = random.Random(f"{kind} {seconds}")
    return sum(_is_found(chance, films, kind, seconds) for _ in range(TRIALS))


def _is_found(
    chance: random.Random, films: Sequence[KnownFilm], kind: Transition, seconds: float
) -> bool:
    one, two = chance.sample(list(films), 2)
    rate = probe(one.path).rate
    length = max(3, round(seconds * rate))
    old, new = (_part(chance, film, length, rate) for film in (one, two))
    if kind is Transition.FADE:
        empty = np.full((2 * length + 2, *old.shape[1:]), chance.choice((0, 255)), np.uint8)
        pictures = blend(blend(old, empty, length), new, length)
        first, last = len(old) - length, len(old) + length + 2
    else:
        pictures = blend(old, new, length)
        first, last = len(old) - length, len(old)
    return any(
        found.transition is kind and first - length <= found.frame <= last + length
        for found in watch("gradual", pictures, rate)
    )


def _part(chance: random.Random, film: KnownFilm, length: int, rate: Fraction) -> Pictures:
    """Some seconds of a film, at one size; a film too short for that is played to and fro."""
    frames = small_frames(film.path)
    wanted = length + round(AROUND * rate)
    there_and_back = np.concatenate([frames, frames[-2:0:-1]])
    start = chance.randrange(len(there_and_back))
    chosen = there_and_back[(start + np.arange(wanted)) % len(there_and_back)]
    return np.stack([cv2.resize(one, (64, 36), interpolation=cv2.INTER_AREA) for one in chosen])


if __name__ == "__main__":
    main()
