"""A built testbed, and the certificates of judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest.core.codec import to_object
from screentest.core.errors import UnknownName
from screentest.core.outcome import Outcome
from screentest.core.table import Cell, Column, Table
from screentest.present.notebook import Tabular
from screentest.present.tables import why
from screentest.present.text import columns, failure_words, percent, words

if TYPE_CHECKING:  # a job loads what it needs, not what the results of others are made of
    from screentest.analysis.judges.certificate import Accuracy, Certificate
    from screentest.analysis.judges.plan import LostJudgements
    from screentest.core import Aspect
    from screentest.present.screens import Screen
    from screentest.stats import Finding
    from screentest.testbeds.testbed import Pair, Skip, Testbed


_REASON = tuple(Column(name, of=f"failure.{name}") for name in ("reason", "detail"))


@dataclass(frozen=True, slots=True, repr=False)
class BuiltTestbed(Tabular):
    """A testbed in its folder."""

    folder: Path
    testbed: Testbed
    remarks: tuple[str, ...] = ()
    """Captions that could not be read, sources with faults."""
    made: int = 0
    """Records that this call made: originals, pairs, answers of models."""
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
        """Pairs of each aspect and placebo, made and skipped."""
        pairs = Counter(pair.name for pair in self.testbed.pairs)
        skips = Counter(skip.name for skip in self.testbed.skips)
        both: list[Pair | Skip] = [*self.testbed.pairs, *self.testbed.skips]
        harms = {item.name: item.aspect.value for item in both if item.aspect is not None}
        names = dict.fromkeys([*pairs, *skips])
        rows = [(harms.get(name, ""), name, pairs[name], skips[name]) for name in names]
        return Table("counts", "Pairs", columns("counts"), rows)

    @property
    def skips(self) -> Table:
        """Pairs that could not be made, each with the reason."""
        columns = (Column("source"), Column("name"), *_REASON)
        return Table.of("skips", "Skipped", columns, self.testbed.skips)

    @property
    def table(self) -> Table:
        """A row for each pair, and for each that could not be made, with the reason."""
        columns = ("source", "kind", "name", "severity", "clips")
        files = (
            Column("intact", of=lambda pair: self.folder / pair.intact),
            Column("changed", of=lambda pair: self.folder / pair.changed.path),
        )
        made = Table.of("pairs", "Pairs", (*columns, *files), self.testbed.pairs)
        skipped = Table.of("skips", "Skipped", (*columns, *_REASON), self.testbed.skips)
        both = [*made.records(), *skipped.records()]
        names = (*columns, "intact", "changed", "reason", "detail")
        return Table.of("pairs", "Pairs", names, both)


@dataclass(frozen=True, slots=True, repr=False)
class Certificates(Tabular):
    """Judges on testbeds, or beside people."""

    run: Path
    certificates: tuple[Certificate, ...]
    pending: int = 0
    """Judgements still to be made."""
    models: str = ""
    """One line that says which backends were used."""

    spent: str = ""
    """What chat models took, of all starts of the run; empty where none was asked."""
    lost: tuple[LostJudgements, ...] = ()
    """Why judgements are missing, the same words once."""

    def _screen(self) -> Screen | None:
        from screentest.present.certificates import certificate_screen

        if len(self.certificates) != 1:
            return None
        return certificate_screen(self.certificates[0], *self.tables())

    def _headline(self) -> str:
        from screentest.present.certificates import headline, headline_of_all

        if len(self.certificates) == 1:
            return f"Certificates in {self.run}"
        lines = [f"  {headline(certificate)}" for certificate in self.certificates[:4]]
        return "\n".join([headline_of_all(self.certificates), *lines])

    def _shown(self) -> list[Table]:
        several = len(self.certificates) > 1
        return [*([self.matrix()] if several else []), *self.tables()]

    def of(self, judge: str) -> Certificate:
        """Return the certificate of one judge."""
        for certificate in self.certificates:
            if certificate.judge == judge:
                return certificate
        available = ", ".join(item.judge for item in self.certificates)
        raise UnknownName(f"{judge!r} was not certified", advice=f"Known: {available}.")

    @property
    def table(self) -> Table:
        """A row for each judge, aspect and operator: the claim, and the share of right answers with
        its interval."""
        return claims_table(self.certificates)

    def tables(self) -> list[Table]:
        """Return a table for each judge: the share of right answers in each aspect."""
        return [_certificate_table(certificate) for certificate in self.certificates]

    def details(self, judge: str) -> list[tuple[str, str]]:
        """Everything else that was measured of a judge, each with its label."""
        from screentest.present.certificates import details

        return list(details(self.of(judge)))

    def matrix(self) -> Table:
        """Judges by degradations."""
        from screentest.analysis.judges.matrix import matrix
        from screentest.present.certificates import matrix_table

        return matrix_table(matrix(self.certificates))

    @property
    def not_judged(self) -> Table:
        """Reasons for missing judgements, and advice."""
        columns = ("judge", "judgements", "total", "reason", "detail", "advice")
        return Table.of("not_judged", "Not judged", columns, self.lost)

    def documents(self) -> list[Any]:
        """Return the whole certificates, as JSON has them."""
        return [to_object(certificate) for certificate in self.certificates]


def paper_tables(certificates: Sequence[Certificate]) -> list[Table]:
    """Return judges by aspects as SLVMEval prints them, on all pairs and on those that people kept:
    accuracies, and Spearman's ρ of accuracy and duration; Pearson's r of both accuracies."""
    from screentest.present.certificates import legend, short_titles

    aspects = dict.fromkeys(part.aspect for each in certificates for part in each.aspects)
    titles = short_titles([aspect.value for aspect in aspects])
    columns = [Column(name, title, align="right") for name, title in titles.items()]

    def table(name: str, of: Callable[[Certificate], Mapping[Aspect, Outcome[Any]]]) -> Table:
        rows = [(one.title, *map(_printed, map(of(one).get, aspects))) for one in certificates]
        title, note = words("paper_tables")[name]
        rows = [row for row in rows if any(row[1:])]
        note = f"{note} {legend(titles)}"
        return Table(name, title, [Column("judge", "Judge"), *columns], rows, note)

    return [
        table("accuracy", lambda one: {part.aspect: part.accuracy for part in one.aspects}),
        table("accuracy_kept", lambda one: one.filtered.aspects if one.filtered else {}),
        table("duration", lambda one: {part.aspect: part.trend for part in one.aspects}),
        table("duration_kept", lambda one: one.filtered.trends if one.filtered else {}),
        *([_filter_table(certificates)] if len(certificates) > 1 else []),
    ]


def _printed(outcome: Outcome[Any] | None) -> str | None:
    """Return a cell: an accuracy with SLVMEval's ± and our interval, or ρ with its p."""
    result = outcome.value if outcome is not None else None
    if result is None:
        return None
    if (trend := getattr(result, "correlation", None)) is not None:
        return f"{trend.value:.3f} {trend.p_value:.4f}".replace("0.", ".")
    share, reach = 100 * result.value, 100 * result.reach
    return f"{share:.1f} ±{reach:.1f} {result.interval.percents}"


def _filter_table(certificates: Sequence[Certificate]) -> Table:
    """By aspect, whether people's filter leaves the order of the judges as it was."""
    from screentest.analysis.judges.accuracy import filter_agreement

    columns = (
        Column("aspect", "Aspect", of=lambda pair: pair[0]),
        Column("r", "Pearson r", of=lambda pair: pair[1].value and pair[1].value.value),
        Column("p", of=lambda pair: pair[1].value and pair[1].value.p_value),
        Column("judges", "Judges", of=lambda pair: pair[1].value and pair[1].value.n),
        Column("why", " ", of=lambda pair: why(pair[1])[1]),
    )
    title, note = words("paper_tables")["filter"]
    return Table.of("filter", title, columns, filter_agreement(certificates).items(), note)


def _results_of(
    certificate: Certificate,
) -> Iterator[tuple[str, str, int | None, Outcome[Accuracy], Finding | None]]:
    """Aspects, their operators where they have several, and all pairs together."""
    for aspect in certificate.aspects:
        yield aspect.aspect.value, "", aspect.pairs, aspect.accuracy, aspect.finding
        selected = [other for other in certificate.operators if other.aspect is aspect.aspect]
        for each in selected if len(selected) > 1 else ():
            yield aspect.aspect.value, each.name, each.pairs, each.accuracy, each.finding
    yield "all pairs", "", None, certificate.overall, None


def claims_table(certificates: Sequence[Certificate]) -> Table:
    """Return a row for each judge, aspect and operator, with everything that its claim rests on."""
    rows: list[tuple[Cell, ...]] = []
    for certificate in certificates:
        for aspect, operator, pairs, outcome, finding in _results_of(certificate):
            result = outcome.value
            rows.append(
                (
                    *(certificate.judge, dict(certificate.models) or None, aspect, operator),
                    *((None,) * 3 if finding is None else _claim_cells(finding)),
                    *((None,) * 6 if result is None else _shares(result)),
                    result.judgements if result else 0,
                    *(result.total if result else None, pairs),
                    *((finding.films, finding.p_value) if finding else (None, None)),
                    *why(outcome),
                )
            )
    columns = (
        *("judge", "models", "aspect", "operator", "claim", "unsettled", "films_needed"),
        *("right", "low", "high", "wald_low", "wald_high", "ties", "judged", "asked"),
        *("pairs", "films", "p", "reason", "detail"),
    )
    return Table("certificates", "Certificates", columns, rows)


def _claim_cells(finding: Finding) -> tuple[Cell, Cell, Cell]:
    unsettled = finding.unsettled.reason.value if finding.unsettled else None
    return finding.claim.value, unsettled, finding.more or None


def _shares(found: Accuracy) -> tuple[Cell, ...]:
    interval, wald = found.interval, found.wald
    return found.value, interval.low, interval.high, wald.low, wald.high, found.ties


def _certificate_table(certificate: Certificate) -> Table:
    from screentest.stats.intervals import Interval

    def between(ends: Any) -> str:
        return ends if isinstance(ends, str) else Interval(*ends).percents

    people = any(item.human is not None for item in certificate.aspects)
    units = f"{certificate.aspects[0].finding.unit if certificate.aspects else 'film'}s"
    right = "Agrees" if certificate.people else "Original wins"
    columns = (
        Column("aspect", "Aspect", show=lambda name: name.replace("_", " ")),
        Column("claim", "Claim"),
        Column("right", right, show=percent, align="right"),
        Column("interval", "95% interval", show=between, align="right"),
        Column("ties", detail=True),
        Column("judged", "Answers", align="right"),
        Column("people", "People", align="right", detail=not people),
        Column("films", units.capitalize(), align="right"),
    )
    humans = {item.aspect.value: item.human for item in certificate.aspects}
    rows: list[tuple[Cell, ...]] = [
        (
            f"- {operator}" if operator else aspect,
            finding.claim.value if finding and finding.films else "not tested" if finding else "",
            *_accuracy_cells(outcome),
            "" if operator or humans.get(aspect) is None else percent(humans[aspect] or 0.0),
            finding.films if finding else "",
        )
        for aspect, operator, _, outcome, finding in _results_of(certificate)
    ]
    title = f"{certificate.title} on {', '.join(certificate.testbeds)}"
    return Table(certificate.judge, title, columns, rows)


def _accuracy_cells(outcome: Outcome[Any]) -> tuple[Cell, Cell, Cell, Cell]:
    result = outcome.value
    if result is None:
        assert outcome.failure is not None
        return None, failure_words(outcome.failure), None, "0"
    ends: list[Any] = [result.interval.low, result.interval.high]
    return result.value, ends, result.ties, f"{result.judgements:,}/{result.total:,}"
