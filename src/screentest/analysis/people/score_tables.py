"""Scores that some other tool computed: a number for each video, from CSV, JSON or JSON lines.

A row has ``id`` and ``value``, and where there are several scores ``metric``; or without ``value``
a column for each score. With ``aspect`` a score has a number of its own for each aspect. JSON may
also be ``{id: value}`` or ``{metric: {id: value}}``. What `screentest export` writes of a run of
`score` is read, too.

A value that is missing, NaN or not a number is a failure with a reason, never a 0.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from screentest.analysis.people.released import read_json, table_rows
from screentest.core import BadOption, ManifestError, Outcome, Reason, Score
from screentest.inputs.fields import Problem, ProblemKind, one_line

_NEEDED = {"id": ("id", "item", "video")}
_OPTIONAL = {"value": ("value", "score"), "metric": ("metric", "name"), "aspect": ("aspect",)}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST_NAME = 120


@dataclass(slots=True)
class ScoreTable:
    """One score of some videos."""

    name: str
    values: dict[str, dict[str, Outcome[Score]]] = field(default_factory=dict)
    """By aspect, empty for all aspects; then by the id of the video."""
    higher_is_better: bool = True

    @property
    def digest(self) -> str:
        """Sixteen hex digits of all its numbers."""
        plain = {
            aspect: {name: item.value.value if item.value else None for name, item in value.items()}
            for aspect, value in self.values.items()
        }
        text = json.dumps([plain, self.higher_is_better], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def ids(self) -> set[str]:
        return {name for value in self.values.values() for name in value}

    def of(self, video: str, aspect: str) -> Outcome[Score]:
        """Return the score of a video in an aspect, higher being better."""
        result = self.values.get(aspect, self.values.get("", {})).get(video)
        if result is None:
            return Outcome.failed(Reason.MISSING_SCORE, f"{self.name} has no score of {video}")
        if self.higher_is_better:
            return result
        return result.map(lambda score: Score(-score.value))

    def covers(self, aspect: str) -> bool:
        return aspect in self.values or "" in self.values


def read_scores(path: Path, lower: tuple[str, ...] = ()) -> tuple[list[ScoreTable], list[Problem]]:
    """Return the scores of a file, and what is wrong with rows of it; less is better of ``lower``.

    Raises ManifestError where there is no score in it, and where one video has two.
    """
    tables: dict[str, ScoreTable] = {}
    problems: list[Problem] = []
    twice: list[str] = []
    for row in _rows(path):
        if isinstance(row, Problem):
            problems.append(row)
            continue
        video, value, metric, aspect = row
        name = metric or path.stem
        if not video or len(name) > _LONGEST_NAME or not name.isprintable():
            wrong = "id is empty" if not video else f"invalid metric {one_line(name)}"
            problems.append(Problem(ProblemKind.BAD_ROW, wrong, path=path))
            continue
        available = tables.setdefault(name, ScoreTable(name)).values.setdefault(aspect, {})
        score = score_of(value)
        if video in available and available[video] != score:
            twice.append(video)
        available[video] = score
    if twice:
        raise ManifestError(
            f"{path} has two scores of {one_line(twice[0])}"
            + (f" and of {len(twice) - 1:,} more" if len(twice) > 1 else ""),
            advice="Give one number a video, or name the scores in a column metric or aspect.",
        )
    scores = [
        score
        for table in tables.values()
        for available in table.values.values()
        for score in available.values()
    ]
    if not any(score.ok for score in scores):
        listed = "".join(f"\n- {problem}" for problem in problems[:5])
        first = scores[0].failure if scores else None
        seen = f": {first.detail}" if first is not None else ""
        raise ManifestError(f"no scores in {path}{seen}{listed}", advice="Rows are id,value.")
    unknown = [name for name in lower if name not in tables]
    if unknown:
        raise BadOption(
            f"there is no score {unknown[0]!r} in {path}", advice=f"Scores: {', '.join(tables)}."
        )
    for name in lower:
        tables[name].higher_is_better = False
    return list(tables.values()), problems


_Row = tuple[str, Any, str, str]
"""Id, value, metric, aspect."""


def _rows(path: Path) -> Iterator[_Row | Problem]:
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        yield from _json_rows(path)
        return
    for table_row in table_rows(path, _NEEDED, _OPTIONAL):
        if isinstance(table_row, Problem):
            yield table_row
            continue
        video, aspect, metric = (table_row[1].pop(name, "") for name in ("id", "aspect", "metric"))
        cells = table_row[1]
        if "value" in cells:
            yield video, cells["value"], metric, aspect
        else:
            yield from ((video, text, name, aspect) for name, text in cells.items() if text)


def _json_rows(path: Path) -> Iterator[_Row | Problem]:
    content = read_json(path, constants=True)
    rows: list[Any] = content if isinstance(content, list) else []
    if isinstance(content, dict):
        if "id" in content and "value" in content:  # JSON lines of one line
            rows = [content]
        else:
            for name, value in content.items():
                if isinstance(value, dict):
                    yield from ((video, item, name, "") for video, item in value.items())
                else:
                    yield name, value, "", ""
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            yield Problem(ProblemKind.BAD_ROW, "is not an object", id=str(number), path=path)
            continue
        cells = {
            name: next((row[spelling] for spelling in spellings if spelling in row), None)
            for name, spellings in (*_NEEDED.items(), *_OPTIONAL.items())
        }
        if not isinstance(cells["id"], str | int) or isinstance(cells["id"], bool):
            yield Problem(ProblemKind.BAD_ROW, "has no id", id=str(number), path=path)
            continue
        yield (
            str(cells["id"]),
            cells["value"],
            str(cells["metric"] or ""),
            str(cells["aspect"] or ""),
        )


def score_of(value: Any) -> Outcome[Score]:
    """Return what a cell says, or that it is no number.

    >>> score_of("0.5").value.value, score_of("nan").failure.detail, score_of(True).failure.detail
    (0.5, "the value 'nan' is not a number", "the value 'True' is not a number")
    """
    if isinstance(value, str):
        # A comma may be where the fraction begins, or where thousands do: it is not guessed.
        text = value.strip()
        number = float(text) if _NUMBER.fullmatch(text) else None
    else:
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        try:
            number = float(value) if plain else None
        except OverflowError:  # an integer of hundreds of digits
            number = None
    if number is None or not math.isfinite(number):
        what = (
            f"the value {one_line(str(value))} is not a number" if value not in ("", None) else ""
        )
        return Outcome.failed(Reason.MISSING_SCORE, what or "the value is empty")
    return Outcome.of(Score(number))
