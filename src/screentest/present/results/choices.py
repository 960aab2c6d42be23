"""What judges chose of two videos, and how judges or models compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest.analysis.models.comparison import ModelComparison
from screentest.core.aspects import Aspect
from screentest.core.outcome import Outcome, Point
from screentest.core.table import Cell, Column, Table
from screentest.core.verdict import Choice, Verdict
from screentest.present.notebook import Shown
from screentest.present.results.certificates import paper_tables
from screentest.present.screens import Screen, comparison_screen
from screentest.present.text import because, columns, number, p_value, percent

if TYPE_CHECKING:  # a job loads what it needs, not what the results of others are made of
    from screentest.analysis.judges.compare import Compared, RankedRow
    from screentest.stats import RankAgreement


@dataclass(frozen=True, slots=True, repr=False)
class Verdicts(Shown):
    """What a judge says of two videos, by aspect: as they were given, and swapped."""

    run: Path | None
    """Its folder; None where nothing was kept."""
    outcomes: Mapping[Aspect, tuple[Outcome[Verdict] | None, Outcome[Verdict] | None]]
    models: str = ""
    """One line that says which backends were used."""
    spent: str = ""
    """What chat models took; empty where none was asked."""
    by: str = ""
    """The value of a metric that decides, whatever the aspect; empty where aspects differ."""
    margin: float | None = None
    """The smallest difference of that value that counts, where it is known."""

    def _headline(self) -> str:
        count = len(self.outcomes)
        what = f"{count} aspect{'s' * (count != 1)}"
        where = f" in {self.run}" if self.run is not None else ""
        return f"Verdict by {self.by}{where}" if self.by else f"Verdicts on {what}{where}"

    def _shown(self) -> list[Table]:
        return [self.table()]

    def table(self) -> Table:
        """Return the better one in each aspect, and why; no choice where the order decides."""
        columns = (
            Column("aspect", "By" if self.by else "Aspect"),
            Column("better", "Better"),
            Column("note", "Why"),
            Column("evidence", detail=True),
        )
        rows = [
            (self.by or aspect.value, *_choice(*both, self.margin))
            for aspect, both in self.outcomes.items()
        ]
        return Table("verdicts", "Verdicts", columns, rows)

    @property
    def answered(self) -> bool:
        """Return True where there is an answer in any aspect."""
        return any(cell is not None for cell in self.table().column("better"))


def _choice(
    as_given: Outcome[Verdict] | None, swapped: Outcome[Verdict] | None, margin: float | None
) -> tuple[Cell, Cell, Cell]:
    """Return the choice where both orders agree, and why."""
    for outcome in (as_given, swapped):
        if outcome is None:
            return None, "not judged yet: start the same command again", None
        if outcome.failure is not None:
            why = (outcome.failure.reason.value, outcome.failure.brief)
            return None, ": ".join(filter(None, why)), None
    assert as_given is not None
    assert swapped is not None
    verdict, other = as_given.unwrap(), swapped.unwrap().flipped
    choice = verdict.choice
    if choice is not other.choice:
        return "unclear", "the order of presentation decides", None
    note = verdict.rationale
    if verdict.first is not None and verdict.second is not None:
        note = f"{number(verdict.first)} against {number(verdict.second)}"
        if margin is not None and choice is Choice.TIE and verdict.first != verdict.second:
            note = because(note, f"re-encoding noise: {number(margin)}")
    sides = {"first": verdict.evidence_first, "second": verdict.evidence_second}
    if sides.get(choice.flipped.value):
        worst = min(sides[choice.flipped.value], key=lambda point: point.value)
        moment = f"the {choice.flipped.value} falls behind at {float(worst.span.start):.1f} s"
        note = "; ".join(filter(None, (note, ": ".join(filter(None, (moment, worst.note))))))
    evidence = {side: [_moment(point) for point in points] for side, points in sides.items()}
    return choice.value, note, dict(evidence)


def _moment(point: Point) -> dict[str, Any]:
    start, end = float(point.span.start), float(point.span.end)
    return {"start": start, "end": end, "value": point.value, "note": point.note}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Shown):
    """Judges of runs of certify, or models of runs of score, on what all of them have."""

    found: Compared | None = None
    """Of judges."""
    models: ModelComparison | None = None
    """Of models: which is better, in what, and what is not known."""

    def _screen(self) -> Screen | None:
        return self.screen() if self.models is not None else None

    def _headline(self) -> str:
        return f"Comparison of {', '.join(self.names)}" if self.models is None else ""

    def screen(self) -> Screen:
        """Return the first screen of a comparison of models."""
        assert self.models is not None
        return comparison_screen(self.models)

    def _shown(self) -> list[Table]:
        return self.tables()

    @property
    def names(self) -> tuple[str, ...]:
        """The sides: judges, or models, or runs."""
        if self.models is not None:
            return self.models.models
        return self._judges.names

    @property
    def _judges(self) -> Compared:
        assert self.found is not None
        return self.found

    def tables(self) -> list[Table]:
        """Return the models side by side; or two judges with their differences, more as a
        ranking; and how two testbeds agree."""
        if self.models is not None:
            table = self.screen().table
            return [table] if table is not None else []
        compared = self._judges
        tables = [self._pair()] if compared.rows else []
        if compared.ranking:
            tables += [self._ranking(), self._differences(), *paper_tables(compared.certificates)]
        return [*tables, *([_agreement(compared.agreement)] if compared.agreement else [])]

    def _pair(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for row in self._judges.rows:
            interval, differ = row.difference.interval, row.difference
            rows.append(
                (
                    *(row.name, row.first, row.second, differ.value),
                    [interval.low, interval.high] if interval else None,
                    *(row.adjusted_p, differ.pairs, differ.p_value, row.exact.p_value),
                    *(differ.sources, row.needed, row.dropped),
                )
            )
        hundredths = partial(percent, digits=2)
        shown = columns(
            "pair",
            first=hundredths,
            second=hundredths,
            difference=lambda item: f"{100 * item:+.2f}",
            interval=lambda ends: f"{100 * ends[0]:.2f} … {100 * ends[1]:.2f}",
            p_holm=lambda p: f"{p_value(p)}{'*' if p < 0.05 else ''}",
        )
        return Table("rows", "Differences", shown, rows, "\n".join(self._pair_notes()))

    def _pair_notes(self) -> Iterator[str]:
        first, second = self.names
        yield f"First: {first}. Second: {second}. p and interval after Holm; * below 0.05."
        for row in self._judges.rows:
            if row.needed and not row.significant:
                yield f"{row.name}: a difference like this would take about {row.needed:,} pairs."
        dropped = sum(row.dropped for row in self._judges.rows)
        if dropped:
            yield f"Left out, since one side has no value: {dropped:,}."

    def _ranking(self) -> Table:
        rows = [
            (row.name, side, row.means[side], tied, row.items, row.dropped, is_best)
            for row in self._judges.ranking
            for side, tied, is_best in _ranked_sides(row)
        ]
        note = "Those that share a letter cannot be told apart (p after Holm ≥ 0.05)."
        shown = columns("ranking", mean=partial(percent, digits=2))
        return Table("ranking", "Ranking", shown, rows, note)

    def _differences(self) -> Table:
        """Return every two sides of a ranking; for records and files only."""
        rows = [
            (row.name, pair.first, pair.second, pair.difference.value, pair.adjusted_p)
            for row in self._judges.ranking
            for pair in row.ranking.pairs
        ]
        return Table("differences", "Every two", columns("differences"), rows)


def _ranked_sides(row: RankedRow) -> Iterator[tuple[str, str, bool]]:
    """Yield each side with a letter for each set of sides that cannot be told apart; the 27th is
    aa."""
    letters: dict[str, list[str]] = {}
    for place, group in enumerate(row.ranking.tied_sets):
        letter = chr(ord("a") + place % 26) * (place // 26 + 1)
        for name in group:
            letters.setdefault(name, []).append(letter)
    for name in row.ranking.systems:
        yield name, " ".join(letters.get(name, ())), name in row.ranking.best


def _agreement(agreement: Outcome[RankAgreement]) -> Table:
    columns = (
        "statistic",
        "value",
        "p",
        Column("judges", "Judges"),
        Column("left_out", detail=True),
    )
    ranks = agreement.value
    title = "Ranking of judges on both testbeds"
    if ranks is None:
        return Table("rank_agreement", title, columns, (), f"{title}: {agreement.failure}")
    rows = [
        (name, statistic.value, statistic.p_value, len(ranks.systems), list(ranks.left_out))
        for name, statistic in (("spearman", ranks.spearman), ("kendall", ranks.kendall))
    ]
    return Table("rank_agreement", title, columns, rows)
