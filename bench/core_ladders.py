"""The certificate of the judge `baseline` per operator, on films and operators kept back.

    python bench/core_ladders.py measure DATA VALUES     every film under every operator
    python bench/core_ladders.py judge VALUES            how often the judge sees it
    python bench/core_ladders.py order DATA              and shots in another order

A few shots of each film in DATA (the folder that SCREENTEST_DATA names) are decoded once, at 8
frames a second and a long side of 320 pixels. Each operator harms each shot in full;
what comes out goes through the testbeds' encoder, and the judge's metrics are measured on it. That
is what `screentest build` and `screentest certify` do, shot by shot and without files. Any pair is
then a choice of shots: two or half of a film's are harmed, six times drawn.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np

import core_operators
from _figures import Table, publish
from core_split import (
    HELD_FILMS,
    HELD_OPERATORS,
    SAME_WORK,
    TUNED_FILMS,
    TUNED_OPERATORS,
)
from screentest.core import Aspect, Image, Outcome, Score, Shot, Span, build
from screentest.judges.baseline import BaselineJudge
from screentest.metrics.temporal.shots import neighbourhood, palette
from screentest.present.certificates import claim_words
from screentest.stats.claims import claims

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.judges.harmed_shots import (
    PLACEBOS,
    TIMED,
    converted,
    decoded,
    encoded,
    film_scores,
    harmed_shot,
    moves,
    placebo,
    values_of,
)

MOST = 5
"""Shots of a film."""
SEVERITIES = (1.0,)


def films(data: Path) -> dict[str, list[tuple[Path, float, float]]]:
    """Shots of every film: file, start and end in seconds."""
    videos, found = data / "video", {}
    for path in sorted((videos / "captions").glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))
        if "shots" in known:
            shots = [(one["start_frame"], one["end_frame"]) for one in known["shots"]]
            rate = known["fps"]
            found[path.stem] = [
                (videos / known["video"], start / rate, end / rate) for start, end in shots
            ]
        elif "shot_scripts_assumed" in known:
            count = len(known["shot_scripts_assumed"])
            for name in known["videos"]:
                file = videos / name
                with av.open(str(file)) as container:
                    length = float(container.duration or 0) / av.time_base
                edges = np.linspace(0, length, count + 1)
                found[file.stem] = [(file, float(one), float(two)) for one, two in pairwise(edges)]
    joined = {
        "tune_live": [
            videos / "singleshot" / f"{name}"
            for name in (
                "intel_car_detection.mp4",
                "intel_bottle_detection.mp4",
                "mdn_stream_of_water.mp4",
                "moviepy_chaplin.mp4",
                "frenchgp_1906_214x160.ogv",
            )
        ],
        "tune_microgravity": sorted((videos / "etva_microgravity").glob("*.mp4")),
        "held_generated": [
            *sorted((videos / "ai_generated").glob("cogvideox_*.mp4")),
            *sorted((videos / "ai_generated").glob("talc_20_talc.mp4")),
        ],
    }
    for name, files in joined.items():
        found[name] = [(file, 0.4, 3.0) for file in files]
    return found


def measure(data: Path, out: Path, names: Sequence[str], operators: Sequence[str]) -> None:
    """One line of JSON for each shot and what was done to it; what is there is not done again."""
    known = {(row["film"], row["shot"], row["what"], row["severity"]) for row in rows(out)}
    spans = films(data)
    with out.open("a", encoding="utf-8") as file:

        def keep(film: str, number: int, what: str, severity: float, shot: Sequence[Image]) -> None:
            row = {"film": film, "shot": number, "what": what, "severity": severity}
            file.write(json.dumps(row | {"values": values_of(shot)}) + "\n")
            file.flush()

        shots: dict[tuple[str, int], list[Image]] = {}
        for film in names:
            some = spans[film]
            places = np.unique(np.linspace(0, len(some) - 1, min(MOST, len(some))).round())
            for number in places.astype(int).tolist():
                shot = decoded(*some[number])
                if len(shot) >= 6:
                    shots[film, number] = shot
        print(f"{len(shots)} shots", flush=True)
        for (film, number), shot in shots.items():
            intact = encoded(shot)
            if (film, number, "intact", 0.0) not in known:
                keep(film, number, "intact", 0.0, intact)
            for name in PLACEBOS:
                if (film, number, name, 0.0) not in known:
                    if name in ("reencode", "trim"):
                        changed = placebo(name, intact, f"{film}/{number}")
                    else:
                        changed = encoded(placebo(name, shot, f"{film}/{number}"))
                    keep(film, number, name, 0.0, changed)
        for severity in SEVERITIES:
            for operator in operators:
                begun = time.perf_counter()
                timed = operator in TIMED
                for (film, number), shot in shots.items():
                    if (film, number, operator, severity) in known:
                        continue
                    if timed and not moves(shot):
                        continue
                    changed = harmed_shot(operator, shot, severity, f"{film}/{number}")
                    if changed is not None and len(changed) > 2:
                        keep(film, number, operator, severity, encoded(changed))
                print(f"{operator} {severity} {time.perf_counter() - begun:.0f} s", flush=True)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


# How the judge does, on any choice of harmed shots.

DRAWS = 6


class Values:
    """What was measured, and ratings of films of which some shots are harmed."""

    def __init__(self, path: Path) -> None:
        self.known = {
            (row["film"], row["shot"], row["what"], row["severity"]): row["values"]
            for row in rows(path)
        }
        self.films: dict[str, list[int]] = defaultdict(list)
        for film, shot, what, _ in self.known:
            if what == "intact":
                self.films[film].append(shot)
        self.judge = BaselineJudge()

    def able(self, film: str, what: str, severity: float) -> list[int]:
        """Shots to which it could be done."""
        return [one for one in self.films[film] if (film, one, what, severity) in self.known]

    def rating(
        self,
        film: str,
        aspect: Aspect,
        what: str = "intact",
        severity: float = 0.0,
        harmed: frozenset[int] = frozenset(),
    ) -> float:
        """Of the film with these shots harmed."""
        shots = []
        for shot in self.films[film]:
            changed = shot in harmed
            key = (film, shot, what, severity) if changed else (film, shot, "intact", 0.0)
            shots.append(self.known[key])
        scores = film_scores(shots)
        return self.judge.rate(aspect, scores).unwrap().value

    def points(
        self, film: str, aspect: Aspect, what: str, severity: float, margin: float
    ) -> list[float]:
        """1 where the intact film wins, ½ for a tie, over draws of harmed shots."""
        able, count = self.able(film, what, severity), len(self.films[film])
        if not able:
            return []
        intact, rng = self.rating(film, aspect), np.random.default_rng(7)
        points = []
        for many in dict.fromkeys((min(2, len(able)), min(max(1, count // 2), len(able)))):
            for _ in range(DRAWS):
                harmed = frozenset(rng.permutation(able)[:many].tolist())
                lost = intact - self.rating(film, aspect, what, severity, harmed)
                points.append(0.5 if abs(lost) <= margin else float(lost > 0))
        return points


def moved_by_placebos(values: Values, aspect: Aspect) -> dict[str, list[float]]:
    """By how much each placebo moves the rating of each film: all its shots edited, or the last."""
    moved: dict[str, list[float]] = defaultdict(list)
    for name in PLACEBOS:
        for film, shots in values.films.items():
            edited = frozenset(shots[-1:] if name == "trim" else shots)
            after = values.rating(film, aspect, name, 0.0, edited)
            moved[name].append(abs(values.rating(film, aspect) - after))
    return moved


ASPECTS = (
    Aspect.TECHNICAL_QUALITY,
    Aspect.AESTHETICS,
    Aspect.APPEARANCE_STYLE,
    Aspect.DYNAMICS_DEGREE,
)


def _percent(shares: Collection[float]) -> float | None:
    return 100 * float(np.mean(list(shares))) if shares else None


def _held(operator: str) -> bool:
    return operator in HELD_OPERATORS


def judge(path: Path) -> None:
    """Publish the certificate."""
    values = Values(path)
    margin = values.judge.info.margin
    tables = []
    for aspect in ASPECTS:
        for operator in (*TUNED_OPERATORS, *HELD_OPERATORS):
            if build("degradation", operator).thing.info.aspect is aspect:
                tables.append((aspect, operator))
    by_side: dict[tuple[str, str, float], dict[str, float]] = {}
    for aspect, operator in tables:
        for severity in SEVERITIES:
            for side, names in (("tuned", TUNED_FILMS), ("held", HELD_FILMS)):
                found: dict[str, list[float]] = defaultdict(list)
                for film in names:
                    if film in values.films:
                        won = values.points(film, aspect, operator, severity, margin)
                        found[SAME_WORK.get(film, film)] += won
                by_side[operator, side, severity] = {
                    work: float(np.mean(won)) for work, won in found.items() if won
                }
    seen = [
        (
            *(aspect.title, f"`{operator}`", "yes" if operator in TUNED_OPERATORS else "no"),
            *(_percent(by_side[operator, side, 1.0].values()) for side in ("tuned", "held")),
        )
        for aspect, operator in tables
    ]
    families: list[dict[str, float]] = []
    for aspect in ASPECTS:
        own = [by_side[name, "held", 1.0] for one, name in tables if one is aspect and _held(name)]
        films = {film for one in own for film in one}
        families.append(
            {film: float(np.mean([one[film] for one in own if film in one])) for film in films}
        )
    earned = [
        (aspect.title, _percent(points.values()), len(points), claim_words(finding))
        for aspect, points, finding in zip(ASPECTS, families, claims(families), strict=True)
    ]
    fair = [
        (aspect.title, name, 100 * float(np.mean([one <= margin for one in moved])), max(moved))
        for aspect in ASPECTS
        for name, moved in moved_by_placebos(values, aspect).items()
    ]
    own = {"aspect": "", "operator": "", "tuned on it": ""}
    own |= dict.fromkeys(("films tuned on", "films kept back"), "{:.0f}")
    family = {"aspect": "", "operators and films kept back": "{:.0f}", "films": "", "claim": ""}
    placebos = {"aspect": "", "placebo": "", "ties, %": "{:.0f}", "moved by at most": "{:.3f}"}
    made = {"operators": (own, seen), "aspects": (family, earned), "placebos": (placebos, fair)}
    shown = {name: Table(*pair) for name, pair in made.items()}
    publish("core_ladders", "python bench/core_ladders.py judge VALUES", shown)


# Shots in another order: nothing has to be encoded.

MOVED = 5
"""Consecutive shots that are put in another order."""


def rgb(picture: Image) -> Image:
    return converted(picture, "yuv420p", "rgb24")


def order(data: Path) -> None:
    """Publish how often the judge sees shots in another order, film by film."""
    rows = []
    for film, spans in films(data).items():
        if film not in (*TUNED_FILMS, *HELD_FILMS) or len({one[0] for one in spans}) > 1:
            continue
        pictures = [decoded(*span)[::4] for span in spans]
        looks = [
            np.array([row for one in shot if (row := palette(rgb(one))) is not None])
            for shot in pictures
        ]
        looks = [rows for rows in looks if len(rows)]
        if len(looks) <= MOVED:
            continue
        shares = [_percent(points) for points in _reordered(looks)]
        rows.append((film, len(looks), "yes" if film in TUNED_FILMS else "no", *shares))
        print(rows[-1], flush=True)
    works = {SAME_WORK.get(film, film) for film, *_ in rows if film in HELD_FILMS}
    kept = [
        np.mean([row[3:] for row in rows if SAME_WORK.get(row[0], row[0]) == work], axis=0)
        for work in works
    ]
    mean = np.mean(kept, axis=0).tolist()
    rows.append((f"mean of the {len(works)} works kept back", None, "no", *mean))
    columns = {"film": "", "shots": "", "tuned on it": ""}
    columns |= dict.fromkeys(("shuffled", "two swapped", "one moved", "reversed"), "{:.0f}")
    publish("reordered", "python bench/core_ladders.py order DATA", {"films": Table(columns, rows)})


def _reordered(looks: Sequence[Any]) -> list[list[float]]:
    judging, rng, count = BaselineJudge(), np.random.default_rng(7), len(looks)
    none = Outcome.of(Score(0.0))

    def rating(numbers: Sequence[int]) -> float:
        spans = [Span(Fraction(2 * place), Fraction(2 * place + 2)) for place in range(count)]
        seen = [(Shot(span), looks[one]) for span, one in zip(spans, numbers, strict=True)]
        near = Outcome.of(neighbourhood(seen, count))
        scores = {"continuity": {"continuity": near}, "repeated_shots": {"repeated_shots": none}}
        return judging.rate(Aspect.TEMPORAL_FLOW, scores).unwrap().value

    straight, last = list(range(MOVED)), MOVED - 1
    intact = rating(range(count))
    points: list[list[float]] = [[], [], [], []]
    for _ in range(4 * DRAWS):
        shuffled = rng.permutation(MOVED)
        while (shuffled == straight).any():
            shuffled = rng.permutation(MOVED)
        first = int(rng.integers(0, count - last))
        others = ([last, *straight[1:-1], 0], [*straight[1:], 0], straight[::-1])
        for own, moved in zip(points, (shuffled.tolist(), *others), strict=True):
            numbers = list(range(count))
            numbers[first : first + MOVED] = [first + one for one in moved]
            lost = intact - rating(numbers)
            own.append(0.5 if abs(lost) <= judging.info.margin else float(lost > 0))
    return points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("measure", "judge", "order"))
    parser.add_argument("paths", type=Path, nargs="*")
    parser.add_argument("--films", nargs="*", default=[])
    parser.add_argument("--operators", nargs="*", default=[*TUNED_OPERATORS, *HELD_OPERATORS])
    parser.add_argument("--more", action="store_true", help="the operators of core_operators.py")
    asked = parser.parse_args()
    if asked.what is None:
        print("needs films: see --help")
        return
    if asked.what in ("judge", "order"):
        {"judge": judge, "order": order}[asked.what](*asked.paths)
        return
    data, out = asked.paths
    more = [name for name in vars(core_operators) if name.startswith("x_")]
    operators = more if asked.more else asked.operators
    measure(data, out, asked.films or list(films(data)), operators)


if __name__ == "__main__":
    main()
