"""Sheets for people: what to rate, without what the judge said; and what they answered.

A sheet is a CSV with a row for every item, value and vote: item, video, value, lowest, highest,
rater, score. People fill in the last column.
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from screentest.core import BadOption, ManifestError, OutputInfo, StorageError
from screentest.evaluate.results import Results
from screentest.metrics.univ.dimensions import Dimension
from screentest.suites.univ.agreement import Scores, Unit, draw_sample
from screentest.suites.univ.tables import task_of

COLUMNS = ("item", "video", "value", "lowest", "highest", "rater", "score")


def rateable(results: Results, names: Sequence[str] = ()) -> list[str]:
    """Which values people can rate: those asked for, or all that have two ends.

    Of UniVBench's metrics all means the eight dimensions: averages and parts follow from them.
    """
    bounded = [name for name, info in results.outputs.items() if _is_bounded(info)]
    for name in names:
        if name not in results.outputs:
            raise BadOption(
                f"the run has no value {name!r}",
                advice=f"It has {', '.join(bounded[:8]) or 'none that people could rate'}.",
            )
        if name not in bounded:
            raise BadOption(f"{name} has no lowest and highest value, so nobody can rate it")
    return list(names) or [name for name in bounded if _is_judgement(name)]


def judged(results: Results, names: Sequence[str] = ()) -> Scores:
    """What a run's judge said: the values that there are, of all names or of some."""
    wanted = set(rateable(results, names))
    return {
        (value.item, value.name): value.outcome.unwrap().value
        for value in results.values
        if value.outcome.ok and value.name in wanted
    }


def on_one_scale(
    results: Results, votes: Mapping[Unit, Sequence[float]], names: Sequence[str] = ()
) -> tuple[Scores, dict[Unit, list[float]]]:
    """Judge and people as shares of each value's range, 1 the best: so all values compare."""
    wanted = set(rateable(results, names))

    def part(name: str, value: float) -> float:
        info = results.outputs[name]
        inside = (value - info.low) / (info.high - info.low)
        return inside if info.higher_is_better else 1 - inside

    scores = {unit: part(unit[1], value) for unit, value in judged(results, names).items()}
    people = {
        unit: [part(unit[1], one) for one in given]
        for unit, given in votes.items()
        if unit[1] in wanted
    }
    return scores, people


def _is_bounded(info: OutputInfo) -> bool:
    return math.isfinite(info.low) and math.isfinite(info.high) and info.low < info.high


def _is_judgement(name: str) -> bool:
    metric, _, output = name.rpartition(".")
    return task_of(metric) is None or output in set(Dimension)


def write_sheet(
    path: Path, results: Results, names: Sequence[str], *, share: float, votes: int, seed: int
) -> int:
    """Draw items and write the sheet; returns how many were drawn.

    Every rater gets the rows in an order of their own, so that no two tire at the same place.
    """
    scored = judged(results, names)
    drawn = draw_sample([item for item, _ in scored], share, seed=seed)
    units = sorted(unit for unit in scored if unit[0] in set(drawn))
    rows = []
    for rater in range(1, votes + 1):
        mine = list(units)
        random.Random(f"{seed}/{rater}").shuffle(mine)
        for item, name in mine:
            info = results.outputs[name]
            video = str(results.items[item].video)
            rows.append((item, video, name, f"{info.low:g}", f"{info.high:g}", str(rater), ""))
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows([_safe(cell) for cell in row] for row in rows)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from None
    return len(drawn)


def read_votes(path: Path) -> dict[Unit, list[float]]:
    """The votes of a sheet that was filled in; rows without a score are not voted yet."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _votes(path, csv.DictReader(file))
    except OSError as error:
        raise ManifestError(f"{path} does not open: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ManifestError(f"{path} is no sheet of votes: {error}") from None


def _votes(path: Path, rows: csv.DictReader[str]) -> dict[Unit, list[float]]:
    lacking = [name for name in ("item", "value", "score") if name not in (rows.fieldnames or ())]
    if lacking:
        raise ManifestError(
            f"{path} has no column {', '.join(lacking)}",
            advice="Write a sheet with --sample and fill in its last column.",
        )
    votes: dict[Unit, list[float]] = {}
    seen: set[tuple[str, str, str]] = set()
    for number, row in enumerate(rows, start=2):
        text = (row["score"] or "").strip()
        if not text:
            continue
        unit = (_plain(row["item"] or ""), _plain(row["value"] or ""))
        rater = (row.get("rater") or "").strip()
        if rater and (*unit, rater) in seen:
            raise ManifestError(f"{path}, line {number}: rater {rater!r} votes twice on {unit}")
        seen.add((*unit, rater))
        votes.setdefault(unit, []).append(_number(text, row, path, number))
    return votes


def _number(text: str, row: dict[str, str], path: Path, line: int) -> float:
    try:
        value = float(text.replace(",", "."))
        low, high = (
            float(row.get(name) or default)
            for name, default in (("lowest", -math.inf), ("highest", math.inf))
        )
    except ValueError:
        raise ManifestError(f"{path}, line {line}: {text!r} is not a number") from None
    if not math.isfinite(value) or not low <= value <= high:
        raise ManifestError(f"{path}, line {line}: {text} is outside {low:g} to {high:g}")
    return value


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _safe(text: str) -> str:
    """A name that a spreadsheet would take for a formula gets an apostrophe."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _plain(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
