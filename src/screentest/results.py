"""What the jobs of the Python API return: the results themselves, as tables and as data frames."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest._util.display import html_page, short_text
from screentest._util.text import one_line
from screentest.core.aspects import Aspect
from screentest.core.codec import to_json
from screentest.core.errors import UnknownName, UserError
from screentest.core.item import Item, Time, timecode
from screentest.core.outcome import Failure, Outcome, Point
from screentest.core.table import ARROWS, Cell, Column, Table
from screentest.core.verdict import Verdict
from screentest.scores.answer import Answer
from screentest.scores.remarks import borders_remark, prompt_partly, prompt_unread
from screentest.scores.results import Pool, Results, Total, Value
from screentest.scores.tables import (
    lost_table,
    missing_table,
    result_tables,
    summary_table,
    values_table,
    why,
)

if TYPE_CHECKING:  # a job loads what it needs, not what the results of others are made of
    from screentest.certificates.certificate import Certificate
    from screentest.certificates.compare import Compared, RankedRow
    from screentest.certificates.plan import LostJudgements
    from screentest.reports.drilldown import Low
    from screentest.stats import Finding, RankAgreement
    from screentest.testbeds.testbed import Pair, Skip, Testbed

Records: TypeAlias = Sequence[Mapping[str, Cell]]
LIBRARIES = ("pandas", "polars")


class _Shown:
    """A result with a short ``repr``, and tables in a notebook."""

    __slots__ = ()

    def _headline(self) -> str:
        """What it is, in a line."""
        raise NotImplementedError

    def _shown(self) -> list[Table]:
        """What there is to see, the main table first."""
        raise NotImplementedError

    def __repr__(self) -> str:
        tables = [one for one in self._shown() if one.rows]
        return short_text(self._headline(), tables[0] if tables else None)

    def _repr_html_(self) -> str:
        return html_page(self._headline(), self._shown())


class _Tabular(_Shown):
    """A result that is, first of all, one table."""

    __slots__ = ()

    @property
    def table(self) -> Table:
        raise NotImplementedError

    def _shown(self) -> list[Table]:
        return [self.table]

    def records(self) -> list[dict[str, Cell]]:
        """The rows of its table as plain dictionaries."""
        return self.table.records()

    def frame(self, library: str = "") -> Any:
        """Its table as a frame of pandas or polars, whichever is installed."""
        return data_frame(self.records(), library)


@dataclass(frozen=True, slots=True, repr=False)
class Scores(_Tabular):
    """What videos got. ``print`` shows the means with their coverage.

    ``scores[0]`` or ``scores["id"]`` is what one video got.
    """

    run: Path | None
    """Its folder; None for frames in memory."""
    results: Results
    pending: int = 0
    """Records still to be made."""
    changed: int = 0
    """Records that were not kept, since a file changed while it was read."""
    missing: Sequence[str] = ()
    """Prompts of the suite without a video: they are listed, and never zeros."""
    problems: Sequence[str] = ()
    """What could not be read of the suite's files, or is surplus in a folder."""
    models: str = ""
    """One line that says which backends were used."""
    layout: str = ""
    """As what folders were read, where they are not plain, or frames in memory."""
    spent: str = ""
    """What chat models took, of all starts of the run; empty where none was asked."""

    def __len__(self) -> int:
        return len(self.results.items)

    def __iter__(self) -> Iterator[ItemScores]:
        return (self[name] for name in self.results.items)

    def __getitem__(self, item: str | int) -> ItemScores:
        names = list(self.results.items)
        name = names[item] if isinstance(item, int) else item
        if name not in self.results.items:
            raise UnknownName(
                f"there is no item {name!r}", advice=f"Items: {', '.join(names[:5])}."
            )
        return ItemScores(self.results, self.results.items[name])

    def _headline(self) -> str:
        values = self.results.values
        scored = sum(one.outcome.ok for one in values)
        count = len(self)
        where = f" in {self.run}" if self.run is not None else ""
        read = f"\n  {self.layout}" if self.layout else ""
        videos = f"{count:,} video{'s' if count != 1 else ''}"
        return f"Scores of {videos}{where}: {scored:,} of {len(values):,} values{read}"

    def _shown(self) -> list[Table]:
        return [summary_table(self.results)]

    @property
    def means(self) -> dict[str, float]:
        """The mean of each value that any video has; for a tracker."""
        return {one.name: one.summary.value for one in self.totals if one.summary is not None}

    def wide(self, library: str = "") -> Any:
        """A frame with a row for each video and a column for each value: pandas, or polars."""
        return data_frame(self.wide_records(), library)

    def wide_records(self) -> list[dict[str, Cell]]:
        """A row for each video: id, prompt, groups, and its values; None where one is missing."""
        groups = dict.fromkeys(name for one in self.results.items.values() for name in one.groups)
        rows: list[dict[str, Cell]] = []
        for name, item in self.results.items.items():
            about = {f"group.{one}": item.groups.get(one) for one in groups}
            values: dict[str, Cell] = dict.fromkeys(self.results.names)
            values |= self[name].numbers
            rows.append({"item": name, "prompt": item.text, **about, **values})
        return rows

    @property
    def totals(self) -> list[Total]:
        """The mean of each value, with interval, coverage and why values are missing."""
        return self.results.totals()

    @property
    def table(self) -> Table:
        """A row for each value of each video; one that is missing has a reason."""
        return self.values(full=True)

    def values(self, *, full: bool = False) -> Table:
        """A row for each value of each video, with short signatures or ``full`` ones."""
        return values_table(self.results, full=full)

    def tables(self, by: str = "", *, full: bool = False, pool: Pool = "worst") -> list[Table]:
        """What each suite adds up to, and the mean of every value; by a group of the items.

        ``full`` writes whole signatures instead of their short form; ``pool`` takes each video by
        its worst tenth, or by its mean.
        """
        return result_tables(self.results, by, full=full, pool=pool)

    def answer(self, by: str = "", *, pool: Pool = "worst") -> Answer | None:
        """Which model is best, in what, and what is not known; None where there is one only.

        ``by`` is ``GROUP`` or ``GROUP=A,B…``; ``pool`` takes each video by its worst tenth, or by
        its mean.
        """
        from screentest.scores.comparison import answer

        return answer(self.results, by, pool=pool)

    def overview(self, *, pool: Pool = "worst") -> list[str]:
        """Of videos without rivals: which to look at first, and in what they are lowest."""
        from screentest.scores.alone import lowest_videos, own_headline, own_lines

        results = self.results.pooled(pool)
        lowest = lowest_videos(results, pool)
        lines = own_lines(results, lowest) if len(results.items) > 2 else []
        partly = prompt_partly(self.results)
        return [
            own_headline(results, lowest),
            *lines,
            *([f"Not measured: {partly[0].lower()}{partly[1:]}"] if partly else []),
        ]

    @property
    def lost(self) -> Table:
        """Why values are missing, a row for each reason, and what to do."""
        return lost_table(self.results)

    @property
    def not_scored(self) -> Table:
        """Why values are missing, and what to do; the same words once."""
        return missing_table(self.results)

    @property
    def prompt_unread(self) -> str:
        """That nothing here reads the prompts, and how to get it; empty where something does."""
        return prompt_unread(self.results)

    @property
    def borders(self) -> str:
        """How many videos have borders (letterbox, pillarbox); empty where none has."""
        return borders_remark(self.results)

    def value(self, item: str, name: str) -> Value:
        """One value of one video: its outcome is a score, or the reason why there is none."""
        found = self.results.of_item(item).get(name)
        if found is None:
            raise UnknownName(
                f"{self.run or 'the result'} has no {name!r} of {item!r}",
                advice=f"Values: {', '.join(self.results.names)}.",
            )
        return found

    def __str__(self) -> str:
        return "\n".join(
            f"{one.name}: {one.summary}"
            if one.summary
            else f"{one.name}: nothing scored (0/{one.total})"
            for one in self.totals
        )


WORST = 3
"""Worst moments that are looked for where nobody says how many."""


@dataclass(frozen=True, slots=True, repr=False)
class ItemScores(_Shown):
    """What one video got, over time."""

    results: Results
    item: Item
    most_moments: int = WORST
    """How many worst moments are wanted."""

    @property
    def moments(self) -> list[tuple[Time, str]]:
        """Where curves fall furthest below their own middle, each with what is low there.

        The worst first. What only describes has no worst moment.
        """
        from screentest.reports.drilldown import bands, lowest

        if not self.most_moments:
            return []
        short = self.results.short_names
        found = lowest(
            self.results, self.values, bands(self.results), self.most_moments, by_time=False
        )
        return [
            (one.time, ", ".join(_low_words(short[low.name], low) for low in one.lows))
            for one in found
        ]

    @property
    def worst(self) -> list[tuple[float, str]]:
        """The worst moments in seconds, each with what is low there; the worst first."""
        return [(float(moment), words) for moment, words in self.moments]

    @property
    def numbers(self) -> dict[str, float]:
        """Its values by name; what is missing is in ``reasons``."""
        return {one.name: one.outcome.value.value for one in self.values if one.outcome.value}

    @property
    def reasons(self) -> dict[str, Failure]:
        """Why a value is missing, by its name."""
        return {one.name: one.outcome.failure for one in self.values if one.outcome.failure}

    def _headline(self) -> str:
        asked = f" ({one_line(self.item.text, 40)})" if self.item.text else ""
        return f"Scores of {self.item.id}{asked}: {len(self.numbers)} of {len(self.values)} values"

    def _shown(self) -> list[Table]:
        return [self.scored()]

    @property
    def values(self) -> list[Value]:
        """All its values, scored or not."""
        return list(self.results.of_item(self.item.id).values())

    @property
    def pending(self) -> list[str]:
        """The names of values that are still to come."""
        return [name for owner, name in self.results.pending if owner == self.item.id]

    def about(self) -> dict[str, Any]:
        """What is known besides its values."""
        return {
            "item": self.item.id,
            "video": str(self.item.video),
            "prompt": self.item.text,
            "groups": dict(self.item.groups),
            "pending": self.pending,
            "worst_moments": [str(moment) for moment, _ in self.moments],
        }

    def table(self) -> Table:
        """Every value with its curve; one that is missing has a reason."""
        columns = ("name", "value", "higher_is_better", "signature", "curve", "details", "failed")
        rows: list[tuple[Cell, ...]] = []
        for one in self.values:
            score, failure = one.outcome.value, one.outcome.failure
            higher = self.results.outputs[one.name].higher_is_better
            failed: dict[str, Any] | None = None
            if failure is not None:
                failed = {
                    "reason": failure.reason.value,
                    "detail": failure.detail,
                    "advice": failure.advice,
                }
            curve: list[Any] = [_exact_moment(point) for point in score.curve] if score else []
            details = dict(score.details) if score else {}
            value = score.value if score else None
            rows.append((one.name, value, higher, one.signature, curve, details, failed))
        return Table("values", "Values", columns, rows)

    def place(self, name: str) -> tuple[int, int] | None:
        """Which it is of the run's videos in one value, 1 being the best, and of how many.

        None where neither direction is better, and where there is nothing to be better than.
        """
        own, info = self.results.of_item(self.item.id).get(name), self.results.outputs[name]
        score = own.outcome.value if own else None
        known = [one.outcome.value.value for one in self.results.of(name) if one.outcome.value]
        if score is None or not info.better or len(set(known)) < 2:
            return None
        sign = 1 if info.higher_is_better else -1
        return 1 + sum(sign * one > sign * score.value for one in known), len(known)

    def scored(self, width: int = 14, *, blocks: bool = True) -> Table:
        """The values there are, each with its place among the videos of the run, and with its curve
        as a line of letters on its own scale: what it is last in comes first."""
        from screentest.reports.drilldown import BLOCKS, PLAIN, sparkline, timed

        short = self.results.short_names
        rows: list[tuple[Cell, ...]] = []
        for one in sorted(self.values, key=self._standing):
            score = timed(one).outcome.value
            if score is None:
                continue
            better, place = self.results.outputs[one.name].better, self.place(one.name)
            line = worst = ""
            if len(score.curve) > 1:
                line = sparkline(score.curve, width, BLOCKS if blocks else PLAIN)
                sign = -1 if better == "lower" else 1
                low = min(score.curve, key=lambda point: sign * point.value)
                if better and len({point.value for point in score.curve}) > 1:
                    worst = f"{number(low.value)} at {timecode(low.span.start)[:-2]}"
            among = f"{place[0]:,}/{place[1]:,}" if place else ""
            rows.append((short[one.name], score.value, ARROWS[better], among, line, worst))
        columns = (
            Column("value", "Value"),
            Column("score", "Score", show=number, align="right"),
            Column("better", " "),
            Column("place", "In run", align="right", detail=not any(row[3] for row in rows)),
            Column("curve", "Over time", detail=not any(row[4] for row in rows)),
            Column("worst", "Worst", detail=not any(row[5] for row in rows)),
        )
        return Table("scored", "Scored", columns, rows)

    def _standing(self, value: Value) -> tuple[bool, float]:
        place = self.place(value.name)
        describes = self.results.outputs[value.name].descriptive
        return describes, -(place[0] - 1) / (place[1] - 1) if place else 0.0


def _low_words(name: str, low: Low) -> str:
    note = f" ({' '.join(low.note.split())[:200]})" if low.note else ""
    return f"{name} {number(low.value)}{note}"


def number(value: float) -> str:
    """A value as people read it."""
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"


def _exact_moment(point: Point) -> dict[str, Any]:
    return {
        "start": str(point.span.start),
        "end": str(point.span.end),
        "value": point.value,
        "note": point.note,
    }


@dataclass(frozen=True, slots=True, repr=False)
class BuiltTestbed(_Tabular):
    """A testbed in its folder."""

    folder: Path
    testbed: Testbed
    remarks: tuple[str, ...] = ()
    """What there is to know: captions that could not be read, sources with faults."""
    made: int = 0
    """Records that this call made: intact videos, pairs, answers of models."""
    reused: int = 0
    """Records that were there already."""
    changed: int = 0
    """Results thrown away, since their source changed meanwhile."""

    def _headline(self) -> str:
        made, skipped = len(self.testbed.pairs), len(self.testbed.skips)
        return f"Testbed in {self.folder}: {made:,} pairs, {skipped:,} skipped"

    def _shown(self) -> list[Table]:
        return [self.counts]

    @property
    def page(self) -> Path:
        """The page that shows its pairs side by side."""
        from screentest.testbeds.page import PAGE

        return self.folder / PAGE

    @property
    def counts(self) -> Table:
        """How many pairs each aspect and placebo has, and how many could not be made."""
        pairs = Counter(pair.name for pair in self.testbed.pairs)
        skips = Counter(skip.name for skip in self.testbed.skips)
        columns = (
            Column("aspect", "Aspect"),
            Column("name", "Operator or placebo"),
            Column("pairs", "Pairs", show="{:,}".format, align="right"),
            Column("skipped", "Skipped", show="{:,}".format, align="right"),
        )
        both: list[Pair | Skip] = [*self.testbed.pairs, *self.testbed.skips]
        harms = {one.name: one.aspect.value for one in both if one.aspect is not None}
        names = dict.fromkeys([*pairs, *skips])
        rows = [(harms.get(name, ""), name, pairs[name], skips[name]) for name in names]
        return Table("counts", "Pairs", columns, rows)

    @property
    def skips(self) -> Table:
        """What could not be made, and why."""
        rows = [
            (one.source, one.name, one.failure.reason.value, one.failure.detail)
            for one in self.testbed.skips
        ]
        return Table("skips", "Skipped", ("source", "name", "reason", "detail"), rows)

    @property
    def table(self) -> Table:
        """A row for each pair, and for each that could not be made, with the reason."""
        made = [
            (
                *(pair.source, pair.kind.value, pair.name, pair.severity, pair.clips),
                *(str(self.folder / pair.intact), str(self.folder / pair.changed.path)),
                *(None, None),
            )
            for pair in self.testbed.pairs
        ]
        skipped = [
            (
                *(skip.source, skip.kind.value, skip.name, skip.severity, skip.clips),
                *(None, None, skip.failure.reason.value, skip.failure.detail),
            )
            for skip in self.testbed.skips
        ]
        columns = ("source", "kind", "name", "severity", "clips", "intact", "changed")
        return Table("pairs", "Pairs", (*columns, "reason", "detail"), [*made, *skipped])


@dataclass(frozen=True, slots=True, repr=False)
class Certificates(_Tabular):
    """What testbeds say of judges."""

    run: Path
    certificates: tuple[Certificate, ...]
    pending: int = 0
    """Judgements still to be made."""
    models: str = ""
    """One line that says which backends were used."""

    def _headline(self) -> str:
        count = len(self.certificates)
        return f"Certificates of {count} judge{'s' if count != 1 else ''} in {self.run}"

    def _shown(self) -> list[Table]:
        return [self.matrix(), *self.tables()]

    spent: str = ""
    """What chat models took, of all starts of the run; empty where none was asked."""
    lost: tuple[LostJudgements, ...] = ()
    """Why judgements are missing, the same words once."""

    def of(self, judge: str) -> Certificate:
        """The certificate of one judge."""
        for one in self.certificates:
            if one.judge == judge:
                return one
        known = ", ".join(one.judge for one in self.certificates)
        raise UnknownName(f"{judge!r} was not certified", advice=f"Known: {known}.")

    @property
    def table(self) -> Table:
        """A row for each judge, aspect and operator: what may be said, and the share of right
        answers with its interval."""
        rows: list[tuple[Cell, ...]] = []
        for one in self.certificates:
            for aspect, operator, outcome, finding in _results_of(one):
                found = outcome.value
                interval = found.interval if found else None
                rows.append(
                    (
                        *(one.judge, dict(one.models) or None, aspect, operator),
                        finding.words if finding else None,
                        found.value if found else None,
                        interval.low if interval else None,
                        interval.high if interval else None,
                        found.ties if found else None,
                        found.judgements if found else 0,
                        found.total if found else None,
                        *why(outcome),
                    )
                )
        columns = (
            *("judge", "models", "aspect", "operator", "claim", "right", "low", "high"),
            *("ties", "judged", "asked"),
        )
        return Table("certificates", "Certificates", (*columns, "reason", "detail"), rows)

    def tables(self) -> list[Table]:
        """A table for each judge: the share of right answers in each aspect."""
        return [_certificate_table(one) for one in self.certificates]

    def facts(self, judge: str) -> list[tuple[str, str]]:
        """Everything else that a judge's certificate says, in words."""
        from screentest.certificates.certificate import facts

        return list(facts(self.of(judge)))

    def matrix(self) -> Table:
        """Judges by aspects."""
        from screentest.certificates.matrix import matrix

        return matrix(self.certificates).table()

    @property
    def not_judged(self) -> Table:
        """Why judgements are missing, and what to do; the same words once."""
        rows = [
            (one.judge, one.judgements, one.total, one.reason.value, one.detail, one.advice)
            for one in self.lost
        ]
        columns = ("judge", "judgements", "total", "reason", "detail", "advice")
        return Table("not_judged", "Not judged", columns, rows)

    def filtering(self) -> Table:
        """By aspect, whether people's filter leaves the order of the judges as it was."""
        from screentest.certificates.accuracy import filter_agreement

        columns = (
            Column("aspect", "Aspect"),
            Column("r", "Pearson r"),
            "p",
            Column("judges", "Judges"),
            Column("why", " "),
        )
        rows: list[tuple[Cell, ...]] = []
        for aspect, outcome in filter_agreement(self.certificates).items():
            found = outcome.value
            if found is None:
                rows.append((aspect.value, None, None, None, why(outcome)[1]))
            else:
                rows.append((aspect.value, found.value, found.p_value, found.n, None))
        note = "Accuracies of the judges on all pairs, and on those that people kept."
        return Table("filter", "Before and after people's filter", columns, rows, note)

    def documents(self) -> list[Any]:
        """The whole certificates, as JSON has them."""
        return [json.loads(to_json(one)) for one in self.certificates]


def _results_of(
    certificate: Certificate,
) -> Iterator[tuple[str, str, Outcome[Any], Finding | None]]:
    """Aspects, their operators where they have several, and all pairs together."""
    for one in certificate.aspects:
        yield one.aspect.value, "", one.accuracy, one.finding
        own = [other for other in certificate.operators if other.aspect is one.aspect]
        for each in own if len(own) > 1 else ():
            yield one.aspect.value, each.name, each.accuracy, each.finding
    yield "all pairs", "", certificate.overall, None


def _certificate_table(certificate: Certificate) -> Table:
    from screentest.stats.intervals import Interval

    def percent(share: float) -> str:
        return f"{100 * share:.1f}"

    def between(ends: Any) -> str:
        return ends if isinstance(ends, str) else Interval(*ends).percents

    people = any(one.human is not None for one in certificate.aspects)
    units = (
        f"{certificate.aspects[0].finding.unit.capitalize()}s" if certificate.aspects else "Films"
    )
    columns = (
        Column("aspect", "Aspect"),
        Column("claim", "Claim"),
        Column("right", "Right %", show=percent, align="right"),
        Column("interval", "95%", show=between, align="right"),
        Column("ties", detail=True),
        Column("judged", "Judged", align="right"),
        Column("people", "People", show=percent, align="right", detail=not people),
        Column("films", units, show="{:,}".format, align="right"),
    )
    humans = {one.aspect.value: one.human for one in certificate.aspects}
    rows: list[tuple[Cell, ...]] = [
        (
            f"- {operator}" if operator else aspect,
            finding.claim.value if finding and finding.films else None,
            *_accuracy_cells(outcome),
            humans.get(aspect) if not operator else None,
            finding.films if finding else None,
        )
        for aspect, operator, outcome, finding in _results_of(certificate)
    ]
    title = f"{certificate.title} on {', '.join(certificate.testbeds)}"
    return Table(certificate.judge, title, columns, rows)


def _accuracy_cells(outcome: Outcome[Any]) -> tuple[Cell, Cell, Cell, Cell]:
    found = outcome.value
    if found is None:
        assert outcome.failure is not None
        return None, outcome.failure.reason.value, None, "0"
    ends: list[Any] = [found.interval.low, found.interval.high]
    return found.value, ends, found.ties, f"{found.judgements:,}/{found.total:,}"


@dataclass(frozen=True, slots=True, repr=False)
class Verdicts(_Shown):
    """What a judge says of two videos, by aspect: as they were given, and swapped."""

    run: Path
    outcomes: Mapping[Aspect, tuple[Outcome[Verdict] | None, Outcome[Verdict] | None]]
    models: str = ""
    """One line that says which backends were used."""
    spent: str = ""
    """What chat models took; empty where none was asked."""

    def _headline(self) -> str:
        return f"Verdicts on {len(self.outcomes)} aspects in {self.run}"

    def _shown(self) -> list[Table]:
        return [self.table()]

    def table(self) -> Table:
        """Which is better in each aspect, and why; no choice where the order decides."""
        columns = (
            Column("aspect", "Aspect"),
            Column("better", "Better"),
            Column("note", "Why"),
            Column("evidence", detail=True),
        )
        rows = [(aspect.value, *_choice(*both)) for aspect, both in self.outcomes.items()]
        return Table("verdicts", "Verdicts", columns, rows)

    @property
    def answered(self) -> bool:
        """Whether there is an answer in any aspect."""
        return any(cell is not None for cell in self.table().column("better"))


def _choice(
    as_given: Outcome[Verdict] | None, swapped: Outcome[Verdict] | None
) -> tuple[Cell, Cell, Cell]:
    """The choice where both orders agree, and why."""
    for outcome in (as_given, swapped):
        if outcome is None:
            return None, "not judged yet: start the same command again", None
        if outcome.failure is not None:
            failure = outcome.failure
            # The last line of a traceback says what happened.
            message = failure.detail.strip().splitlines()[-1:]
            return None, ": ".join([failure.reason.value, *message]), None
    assert as_given is not None
    assert swapped is not None
    one, other = as_given.unwrap(), swapped.unwrap().flipped
    choice = one.choice
    if choice is not other.choice:
        return "unclear", "the order of presentation decides", None
    note = one.rationale
    if one.first is not None and one.second is not None:
        note = f"{one.first:.3f} against {one.second:.3f}"
    sides = {"first": one.evidence_first, "second": one.evidence_second}
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
class Comparison(_Shown):
    """Judges of runs of certify, or models of runs of score, on what all of them have."""

    found: Compared | None = None
    """Of judges."""
    answer: Answer | None = None
    """Of models: which is best, in what, and what is not known."""

    def _headline(self) -> str:
        if self.answer is not None:
            return str(self.answer)
        return f"Comparison of {', '.join(self.names)}"

    def _shown(self) -> list[Table]:
        return self.tables()

    @property
    def names(self) -> tuple[str, ...]:
        """The sides: judges, or models, or runs."""
        if self.answer is not None:
            return self.answer.models
        return self._judges.names

    @property
    def _judges(self) -> Compared:
        assert self.found is not None
        return self.found

    def tables(self) -> list[Table]:
        """The answer's; or two judges with their differences, more as a ranking; and how two
        testbeds agree."""
        if self.answer is not None:
            return [self.answer.table()]
        compared = self._judges
        found = [self._pair()] if compared.rows else []
        if compared.ranking:
            found += [self._ranking(), self._differences()]
        return [*found, *([_agreement(compared.agreement)] if compared.agreement else [])]

    def _pair(self) -> Table:
        def between(ends: Sequence[float]) -> str:
            return f"{100 * ends[0]:.2f} … {100 * ends[1]:.2f}"

        def starred(p: float) -> str:
            return f"{p:.3f}{'*' if p < 0.05 else ''}"

        columns = (
            Column("name", " "),
            Column("first", "First", show=_percent, align="right"),
            Column("second", "Second", show=_percent, align="right"),
            Column("difference", "Differ", show=lambda one: f"{100 * one:+.2f}", align="right"),
            Column("interval", "Interval", show=between, align="right"),
            Column("p_holm", "p", show=starred, align="right"),
            Column("pairs", "Pairs", show="{:,}".format, align="right"),
            *(Column(name, detail=True) for name in ("p", "p_mcnemar", "sources")),
            *(Column(name, detail=True) for name in ("pairs_needed", "dropped")),
        )
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
        return Table("rows", "Differences", columns, rows, "\n".join(self._pair_notes()))

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
        columns = (
            Column("name", "Of"),
            Column("side", " "),
            Column("mean", "Mean", show=_percent, align="right"),
            Column("tied", "Tied"),
            Column("items", "In common", show="{:,}".format, align="right"),
            Column("dropped", detail=True),
            Column("best", detail=True),
        )
        rows = [
            (row.name, side, row.means[side], tied, row.items, row.dropped, is_best)
            for row in self._judges.ranking
            for side, tied, is_best in _ranked_sides(row)
        ]
        note = "Those that share a letter cannot be told apart (p after Holm ≥ 0.05)."
        return Table("ranking", "Ranking", columns, rows, note)

    def _differences(self) -> Table:
        """Every two sides of a ranking; for records and files only."""
        columns = [Column(name, detail=True) for name in ("name", "first", "second")]
        columns += [Column(name, detail=True) for name in ("difference", "p_holm")]
        rows = [
            (row.name, pair.first, pair.second, pair.difference.value, pair.adjusted_p)
            for row in self._judges.ranking
            for pair in row.ranking.pairs
        ]
        return Table("differences", "Every two", columns, rows)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _ranked_sides(row: RankedRow) -> Iterator[tuple[str, str, bool]]:
    """Each side with a letter for each set of sides that cannot be told apart; the 27th is aa."""
    letters: dict[str, list[str]] = {}
    for number, group in enumerate(row.ranking.tied_sets):
        letter = chr(ord("a") + number % 26) * (number // 26 + 1)
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
    found = agreement.value
    title = "Ranking of judges on both testbeds"
    if found is None:
        return Table("rank_agreement", title, columns, (), f"{title}: {agreement.failure}")
    rows = [
        (name, one.value, one.p_value, len(found.systems), list(found.left_out))
        for name, one in (("spearman", found.spearman), ("kendall", found.kendall))
    ]
    return Table("rank_agreement", title, columns, rows)


@dataclass(frozen=True, slots=True)
class Page(PathLike[str]):
    """A report: one page, and the files of its tables where they were asked for."""

    page: Path
    tables: tuple[Path, ...] = ()

    def __fspath__(self) -> str:
        return str(self.page)

    def __str__(self) -> str:
        return str(self.page)


def data_frame(rows: Records, library: str = "") -> Any:
    """Records as a data frame. What is missing is the library's own missing value, never NaN."""
    if library and library not in LIBRARIES:
        raise UserError(f"invalid library {library!r}: must be pandas or polars")
    for name in [library] if library else LIBRARIES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        if name == "polars":
            return module.DataFrame(rows, infer_schema_length=None)
        return module.DataFrame(rows).astype(_nullable(rows))
    raise UserError(
        f"{library} is not installed" if library else "neither pandas nor polars is installed",
        advice="pip install pandas, or polars; .records() gives plain dictionaries.",
    )


def _nullable(rows: Records) -> dict[str, str]:
    """The types of pandas that can be missing, for the columns of numbers."""
    types: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, float):
                types[name] = "Float64"
            elif isinstance(value, int):
                types.setdefault(name, "Int64")
    return types
