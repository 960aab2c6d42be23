"""What a report is made of: runs read once, put together, nothing left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from screentest.analysis.evidence import Evidence, evidence_of
from screentest.analysis.judges.certificate import Certificate, certificates_of, read_certificates
from screentest.analysis.models.comparison import ModelComparison, compare_models
from screentest.analysis.people.arena import Arena, arena_of
from screentest.analysis.results import Pool, Results, Total
from screentest.analysis.runs import read_results
from screentest.analysis.suites import read_suite
from screentest.core import Item, Outcome, UserError, Verdict
from screentest.core.outcome import Json
from screentest.judges.cases import read_abouts, verdict_in
from screentest.judges.votes import read_votes
from screentest.present.text import labels
from screentest.run.ledger import Spending
from screentest.run.notes import MODELS, EvaluatorNote
from screentest.run.reader import Coverage, RunReader, Start


@dataclass(frozen=True, slots=True)
class RunSource:
    """One run that the report draws on."""

    folder: Path
    starts: tuple[Start, ...]
    coverage: Coverage
    spending: Spending
    evaluators: tuple[EvaluatorNote, ...]
    models: Mapping[str, str] = field(default_factory=dict)
    """The backend that answered for each role."""

    @property
    def command(self) -> str:
        return self.starts[0].command if self.starts else ""


@dataclass(frozen=True, slots=True)
class Judged:
    """One verdict of a judge, with what the case was."""

    judge: str
    item: str
    aspect: str
    order: str
    repeat: int
    outcome: Outcome[Verdict]
    case: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that the page and the tables show."""

    sources: tuple[RunSource, ...]
    results: Results
    certificates: tuple[Certificate, ...]
    judged: tuple[Judged, ...]
    comparison: ModelComparison | None = None
    """Which of several models is better, in what; None where there is one only."""
    judged_items: Mapping[str, Item] = field(default_factory=dict)
    """The videos of testbeds that the verdicts are about."""
    pool: Pool = "worst"
    """Whether a video counts by its worst tenth, or by its mean."""
    people: Arena | None = None
    """Which model people prefer, where they were asked."""
    alarms: tuple[str, ...] = ()
    """What a watch of a training called out, a sentence each."""
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    """What is known of each value, by its name."""

    @property
    def by(self) -> str:
        """The group of items that are compared; empty where there is one only."""
        return self.comparison.by if self.comparison else ""

    @property
    def systems(self) -> list[str]:
        """The groups that are compared; one alone is none."""
        return list(self.comparison.models) if self.comparison else []

    @property
    def totals(self) -> list[Total]:
        """One line per value."""
        return self.results.totals()

    @property
    def labels(self) -> dict[str, str]:
        """Every value in words."""
        return labels(self.results)

    def certificates_of(self, value: str) -> list[Certificate]:
        """Return what testbeds say about this very value, where it was certified."""
        return certificates_of(value, self.certificates, self.results.names)


def read_report(
    folders: Sequence[Path],
    *,
    by: str = "",
    suites: Sequence[str] = (),
    pool: Pool = "worst",
    votes: Path | None = None,
    scores: Results | None = None,
) -> Report:
    """Read runs of any kind and put together what they hold.

    ``by`` is the group that is compared, or ``GROUP=A,B…``; without it ``model`` is taken where
    items have more than one. ``suites`` are added up besides those that the runs were made with.
    ``pool`` takes each video by its worst tenth, or by its mean. ``votes`` is a file of what people
    said of the models (`screentest annotate export`). ``scores`` are those of other tools.
    """
    people = arena_of(read_votes(votes)) if votes is not None else None
    sources: list[RunSource] = []
    results = [scores] if scores is not None else []
    certificates: dict[tuple[str, str, tuple[str, ...]], Certificate] = {}
    judged: list[Judged] = []
    judged_items: dict[str, Item] = {}
    for folder in folders:
        with RunReader(folder) as run:
            sources.append(
                RunSource(
                    folder,
                    tuple(run.starts()),
                    run.coverage(),
                    run.spending(),
                    tuple(run.evaluators()),
                    (run.note(MODELS) or {}).get("roles", {}),
                )
            )
            if sources[-1].command == "certify":
                for certificate in read_certificates(run):
                    certificates[certificate.judge, certificate.signature, certificate.testbeds] = (
                        certificate
                    )
                judged += _judged(run)
                judged_items |= run.items()
            else:
                results.append(read_results(run))
    # What only describes has no worst part: here as in the answer, it is by its mean.
    for suite in suites:
        read_suite(suite)  # a suite that was asked for by name must exist
    joined = Results.join(results)
    asked = dict.fromkeys([*joined.suites, *suites])
    own = [str(source.folder) for source in sources if source.command == "certify"]
    certified = tuple(dict.fromkeys([*joined.certified, *own]))
    together = replace(joined, suites=tuple(asked), certified=certified).pooled(pool)
    if not together.values and not certificates and not judged and not together.pending:
        raise UserError(
            "there is nothing to report in " + ", ".join(str(folder) for folder in folders),
            advice="Give runs of `score` or `certify`; `screentest runs` lists them.",
        )
    return Report(
        tuple(sources),
        together,
        tuple(certificates.values()),
        tuple(judged),
        compare_models(together, by, pool=pool),
        judged_items,
        pool,
        people,
        evidence=evidence_of(together),
    )


def _judged(run: RunReader) -> list[Judged]:
    cases = {(case["id"], case["aspect"]): case for case in read_abouts(run)}
    judged = []
    for record in run.records():
        key = record.key
        if key.aspect:
            outcome = verdict_in(record)
            judged.append(
                Judged(
                    key.evaluator,
                    key.item,
                    key.aspect,
                    key.order,
                    key.repeat,
                    outcome,
                    cases.get((key.item, key.aspect), {}),
                )
            )
    return judged
