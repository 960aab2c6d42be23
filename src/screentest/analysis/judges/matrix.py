"""Which judge sees which harm: certificates side by side, judges by aspects.

Every cell is a certificate's own figure, at the strongest rung, with what may be said of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screentest.analysis.judges.certificate import Accuracy, Certificate
from screentest.core import Outcome
from screentest.core.aspects import PEOPLE
from screentest.core.table import Cell, Column, Table
from screentest.stats import Claim, Interval

MARKS = {
    Claim.SEES: "+",
    Claim.PREFERS_HARM: "−",
    Claim.CHANCE: "=",
    Claim.CANNOT_TELL: "?",
    Claim.MIXED: "±",
}
LEGEND = ", ".join(f"{mark} {claim.value}" for claim, mark in MARKS.items())

PLACEBO = "placebo "
_LETTERS = 4
"""Of a column's name on the terminal; more where two would be the same."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """How often a judge preferred the intact video of the pairs of one column."""

    share: float
    """A tie is a half: what never reacts has 0.5, what takes the harm for a gain has 0."""
    interval: Interval
    """Over films."""
    pairs: int
    claim: Claim | None = None
    """What may be said; None of a placebo."""

    @property
    def mark(self) -> str:
        return MARKS[self.claim] if self.claim is not None else ""

    def __str__(self) -> str:
        return f"{100 * self.share:.0f}{self.mark}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Reactions by judge and column; what nothing was judged of is not there."""

    columns: tuple[str, ...]
    """Aspects, ``aspect/degradation`` where an aspect has several, and ``placebo NAME``."""
    pairs: Mapping[str, int]
    """The pairs of each column."""
    rows: Mapping[str, Mapping[str, Reaction]]

    def at_least(self, pairs: int) -> Matrix:
        """Without the cells that rest on fewer pairs, and without columns that are empty then."""
        rows = {
            judge: {name: cell for name, cell in row.items() if cell.pairs >= pairs}
            for judge, row in self.rows.items()
        }
        left = {name for row in rows.values() for name in row}
        columns = tuple(name for name in self.columns if name in left)
        return Matrix(columns, {name: self.pairs[name] for name in columns}, rows)

    def summary(self) -> Table:
        """How many kinds of harm each judge sees, and of how many it prefers the harm."""
        apart = {name.partition("/")[0] for name in self.columns if "/" in name}
        operators = [
            one for one in self.columns if one not in apart and not one.startswith(PLACEBO)
        ]
        claims = (Claim.SEES, Claim.PREFERS_HARM, Claim.CHANCE, Claim.CANNOT_TELL)
        rows: list[tuple[Cell, ...]] = []
        for judge, row in self.rows.items():
            said = [row[name].claim for name in operators if name in row]
            if said:
                rows.append((judge, *(said.count(one) for one in claims)))
        rows.sort(key=lambda row: (-int(str(row[1])), int(str(row[2])), str(row[0])))
        columns = [Column("judge"), *(Column(one.name.lower(), one.value) for one in claims)]
        return Table("summary", "Kinds of harm", columns, rows)

    def table(self) -> Table:
        """Per cent in short columns, each with the sign of what may be said."""
        titles = _titles(self.columns)
        columns = [Column("judge"), *(Column(one, titles[one], align="right") for one in titles)]
        rows: list[list[Cell]] = [
            [judge, *(str(row[one]) if one in row else "–" for one in self.columns)]
            for judge, row in self.rows.items()
        ]
        rows.append(["pairs", *(self.pairs[one] for one in self.columns)])
        meant = "; ".join(
            f"{title}: {one.replace('_', ' ')}" for one, title in titles.items() if title != one
        )
        peoples = all(one.startswith(PEOPLE) for one in self.columns)
        which = "video that people prefer wins" if peoples else "intact video is preferred"
        note = f"% of pairs in which the {which}; {LEGEND}"
        return Table(
            "matrix", "Which judge sees which harm", columns, rows, f"{note}. {meant}".strip()
        )


def matrix(certificates: Sequence[Certificate]) -> Matrix:
    """The certificates of several judges on the same testbeds, side by side."""
    rows: dict[str, dict[str, Reaction]] = {}
    aspects: dict[str, dict[str, int]] = {}
    placebos: dict[str, int] = {}
    families = [Counter(other.aspect for other in one.operators) for one in certificates]
    apart = {aspect for family in families for aspect, count in family.items() if count > 1}
    for one, family in zip(certificates, families, strict=True):
        row = rows.setdefault(one.title, {})
        for result in one.aspects:
            under = aspects.setdefault(result.aspect.value, {})
            under[result.aspect.value] = max(under.get(result.aspect.value, 0), result.pairs)
            # Where others were put a whole family, one operator is no judgement of the aspect.
            if result.aspect not in apart or family[result.aspect] > 1:
                _add(row, result.aspect.value, result.accuracy, result.finding.claim)
        for operator in one.operators:
            aspect = operator.aspect.value
            if operator.aspect in apart:
                name = f"{aspect}/{operator.name}"
                aspects[aspect][name] = max(aspects[aspect].get(name, 0), operator.pairs)
                _add(row, name, operator.accuracy, operator.finding.claim)
        for placebo in one.placebos:
            name = f"{PLACEBO}{placebo.name}"
            placebos[name] = max(placebos.get(name, 0), placebo.pairs)
            _add(row, name, placebo.false_alarms)
    columns = {name: count for under in aspects.values() for name, count in under.items()}
    columns |= placebos
    return Matrix(tuple(columns), columns, rows)


def _add(
    row: dict[str, Reaction], column: str, outcome: Outcome[Accuracy], claim: Claim | None = None
) -> None:
    found = outcome.value
    if found is not None:
        row[column] = Reaction(found.value, found.interval, found.pairs, claim)


def _titles(columns: Sequence[str]) -> dict[str, str]:
    """Short names that differ.

    >>> _titles(["color", "comprehensiveness", "color/hue"])
    {'color': 'colo', 'comprehensiveness': 'comp', 'color/hue': 'hue'}
    """
    titles: dict[str, str] = {}
    for column in columns:
        name = column.rpartition("/")[2].removeprefix(PLACEBO)
        length = min(_LETTERS, len(name))
        while name[:length] in titles.values() and length < len(name):
            length += 1
        titles[column] = name[:length] if name[:length] not in titles.values() else column
    return titles
