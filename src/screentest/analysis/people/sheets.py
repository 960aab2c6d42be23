"""Sheets: what people are to rate, as a CSV with a row for every item, value and vote.

A share of what was judged is drawn and rated by several people, who do not see the judge's points.
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from screentest._util.text import plain_cell, safe_cell
from screentest.analysis.people.agreement import Scores, Unit, Votes
from screentest.analysis.people.released import table_rows
from screentest.analysis.results import Results
from screentest.core import BadOption, ManifestError, StorageError
from screentest.inputs.fields import Problem
from screentest.judges.votes import read_flag

COLUMNS = ("item", "video", "value", "lowest", "highest", "rater", "score")
_NEEDED = {name: (name,) for name in ("item", "value", "score")}
_COUNTS = {"finished": True, "gold": False, "excluded": False}
"""As ``VoteRecord.counts`` has it; a column that is not there, or is empty, says nothing."""


def rateable(results: Results, names: Sequence[str] = ()) -> list[str]:
    """Return the values that people can rate: those of ``names``, or all that have two ends."""
    bounded = [
        name
        for name, info in results.outputs.items()
        if math.isfinite(info.low) and math.isfinite(info.high) and info.low < info.high
    ]
    for name in names:
        if name not in results.outputs:
            raise BadOption(
                f"the run has no value {name!r}",
                advice=f"It has {', '.join(bounded[:8]) or 'none that people could rate'}.",
            )
        if name not in bounded:
            raise BadOption(f"{name} cannot be rated: it has no lowest and highest value")
    return list(names) or bounded


def judged(results: Results, names: Sequence[str]) -> Scores:
    """Return the values of a run's judge."""
    return {
        (value.item, value.name): value.outcome.unwrap().value
        for value in results.values
        if value.outcome.ok and value.name in names
    }


def on_one_scale(
    results: Results, votes: Votes, names: Sequence[str]
) -> tuple[Scores, dict[Unit, list[float]]]:
    """Judge and people as shares of each value's range, 1 the best: so all values compare."""

    def part(name: str, value: float) -> float:
        info = results.outputs[name]
        inside = (value - info.low) / (info.high - info.low)
        return inside if info.higher_is_better else 1 - inside

    scores = {unit: part(unit[1], value) for unit, value in judged(results, names).items()}
    people = {
        unit: [part(unit[1], mark) for mark in marks]
        for unit, marks in votes.items()
        if unit[1] in names
    }
    return scores, people


def draw_sample(items: Sequence[str], share: float, *, seed: int = 7) -> list[str]:
    """Return a share of the items, one at least, the same for the same seed whatever their order.

    >>> len(draw_sample([f"case {n}" for n in range(40)], 0.1))
    4
    """
    if not 0 < share <= 1:
        raise ValueError(f"invalid share {share}: must be in (0, 1]")
    listed = sorted(set(items))
    count = math.ceil(len(listed) * share - 1e-9)
    return sorted(random.Random(seed).sample(listed, max(1, count))) if listed else []


def write_sheet(
    path: Path, results: Results, names: Sequence[str], *, share: float, votes: int, seed: int
) -> int:
    """Draw items and write the sheet; returns how many were drawn. People fill in the last column.

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
            texts = map(safe_cell, (item, str(results.items[item].video), name))
            rows.append((*texts, f"{info.low:g}", f"{info.high:g}", str(rater), ""))
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *rows])
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
    return len(drawn)


def read_sheet(path: Path) -> dict[Unit, list[float]]:
    """Return the scores of a sheet that was filled in; rows without a score are not voted yet.

    Votes that the sheet marks as unfinished, tests or excluded do not count.
    """
    votes: dict[Unit, list[float]] = {}
    seen: set[tuple[str, str, str]] = set()
    for row in table_rows(path, _NEEDED, {}):
        if isinstance(row, Problem):
            raise ManifestError(str(row))
        line, cells = row
        try:
            counts = all(
                read_flag(name, cells.get(name) or ok) is ok for name, ok in _COUNTS.items()
            )
            if not cells["score"] or not counts:
                continue
            unit, rater = (
                (plain_cell(cells["item"]), plain_cell(cells["value"])),
                cells.get("rater"),
            )
            if rater and (*unit, rater) in seen:
                raise ValueError(f"rater {rater!r} votes twice on {unit}")
            seen.add((*unit, rater or ""))
            votes.setdefault(unit, []).append(_mark(cells))
        except ValueError as error:
            raise ManifestError(f"{path}, line {line}: {error}") from None
    return votes


def _mark(cells: Mapping[str, str]) -> float:
    text = cells["score"]
    try:
        value = float(text.replace(",", "."))
        low, high = float(cells.get("lowest") or -math.inf), float(cells.get("highest") or math.inf)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{text} is outside {low:g} to {high:g}")
    return value
