"""Cases: the pairs of testbeds as they are put before judges.

A judge gets what it would get of a generated video: the file, the prompt, and the captions in
their order. It is not told when a clip should be on the screen: that would say where to look.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from screentest.core import Aspect, BadOption, Choice, Clip, Item, Outcome, Script, Verdict
from screentest.core.score import Json
from screentest.judges.judging import Contest, Order
from screentest.run import Record, RunReader
from screentest.testbeds.testbed import Kind, Pair, SourceFilm, Testbed, read_testbed


@dataclass(frozen=True, slots=True)
class Case:
    """One pair of a testbed in one aspect; the first video of its contest is the intact one."""

    contest: Contest
    testbed: str
    source: str
    kind: Kind
    name: str
    """The degradation or placebo."""
    duration: float
    """Of the intact video, in seconds."""
    severity: float | None = None
    clips: int | None = None
    category: str = ""
    change: str = ""
    """What was done to its prompt, for a probe."""
    kept: bool | None = None
    """Whether people's filter kept the pair; None where nobody filtered."""

    @property
    def id(self) -> str:
        """Unique over all testbeds of a run."""
        return self.contest.id

    @property
    def about(self) -> dict[str, Json]:
        """What a report wants to know of it beside the records."""
        return {
            "id": self.id,
            "aspect": self.contest.aspect.value,
            "testbed": self.testbed,
            "source": self.source,
            "kind": self.kind.value,
            "name": self.name,
            "severity": self.severity,
            "clips": self.clips,
            "category": self.category,
            "duration": self.duration,
            "change": self.change,
            "kept": self.kept,
            "intact": self.contest.first.id,
            "changed": self.contest.second.id,
        }

    @property
    def rung(self) -> tuple[float, int]:
        """How strong the harm is: its severity, then the number of clips."""
        return (self.severity or 0.0, self.clips or 0)

    @property
    def cluster(self) -> str:
        """What is not independent of each other: all pairs of one source."""
        return f"{self.testbed}/{self.source}"


def read_cases(
    folders: Sequence[Path],
    *,
    aspects: Iterable[Aspect] | None = None,
    placebos: bool = True,
    kept: Sequence[Path] = (),
) -> list[Case]:
    """The cases of some testbeds, in the order of their lists.

    A placebo belongs to no aspect: it is put in every aspect that its testbed has. ``kept`` are
    the testbeds that people's filter left of these; a case is kept when it is in one of them.
    """
    wanted = set(aspects) if aspects is not None else set(Aspect)
    cases: list[Case] = []
    names = _names(folders)
    confirmed = {key for folder in kept for key in _pairs_in(folder)} if kept else None
    for folder in folders:
        testbed = read_testbed(folder)
        sources = {source.id: source for source in testbed.sources}
        present = [aspect for aspect in Aspect if aspect in wanted & _aspects(testbed)]
        for pair in testbed.pairs:
            source = sources[pair.source]
            own = [pair.aspect] if pair.aspect in wanted else []
            for aspect in own if pair.kind is Kind.DEGRADATION else present * placebos:
                if aspect is not None:
                    case = _case(folder.absolute(), names[folder], source, pair, aspect)
                    if confirmed is not None and pair.kind is Kind.DEGRADATION:
                        case = replace(case, kept=_key(pair) in confirmed)
                    cases.append(case)
    if not cases:
        raise BadOption(
            "there are no pairs to judge",
            advice="See what the testbed has: screentest testbed show DIR.",
        )
    return cases


def _pairs_in(folder: Path) -> set[tuple[str, str]]:
    return {_key(pair) for pair in read_testbed(folder).pairs}


def _key(pair: Pair) -> tuple[str, str]:
    """What a pair is called in every testbed that has it: its bytes, not its place."""
    return (pair.changed.sha256, str(pair.aspect))


def _aspects(testbed: Testbed) -> set[Aspect]:
    return {pair.aspect for pair in testbed.pairs if pair.aspect is not None}


def _names(folders: Sequence[Path]) -> dict[Path, str]:
    """Testbeds by the name of their folder; where two are called alike, by their place."""
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise BadOption("a testbed is given twice", advice="Give each folder once.")
    names = [folder.absolute().name for folder in folders]
    if len(set(names)) == len(names):
        return dict(zip(folders, names, strict=True))
    return {folder: f"{number}.{folder.absolute().name}" for number, folder in enumerate(folders)}


def _case(folder: Path, name: str, source: SourceFilm, pair: Pair, aspect: Aspect) -> Case:
    script = Script(tuple(Clip(clip.caption) for clip in source.clips))
    intact = next(video for video in source.intact if video.path == pair.intact)
    rung = "" if pair.severity is None else f"@{pair.severity:g}x{pair.clips}"
    item = Item(f"{name}/{pair.intact}", folder / pair.intact, script.text, script)
    changed = f"{name}/{pair.changed.path}"
    contest = Contest(
        id=f"{name}/{source.id}/{pair.name}{rung}",
        aspect=aspect,
        prompt=script.text,
        first=item,
        second=replace(item, id=changed, video=folder / pair.changed.path),
    )
    return Case(
        contest=contest,
        testbed=name,
        source=source.id,
        kind=pair.kind,
        name=pair.name,
        duration=float(intact.duration),
        severity=pair.severity,
        clips=pair.clips,
        category=source.groups.get("category", ""),
    )


def strongest(cases: Iterable[Case]) -> list[Case]:
    """The degraded pairs at the strongest rung of each source and degradation."""
    ladder = [case for case in cases if case.kind is Kind.DEGRADATION]
    top: dict[tuple[str, str], tuple[float, int]] = {}
    for case in ladder:
        place = (case.cluster, case.name)
        top[place] = max(top.get(place, (0.0, 0)), case.rung)
    return [case for case in ladder if case.rung == top[case.cluster, case.name]]


def one_aspect_per_placebo(cases: Sequence[Case]) -> list[Case]:
    """The cases for a judge that is asked and paid: each placebo pair in one of its aspects.

    Which one goes by a hash of the pair, so that it stays the same when others are added. A
    placebo changes nothing in any aspect; asking in all ten would cost more than the degraded
    pairs themselves.
    """
    drawn: dict[str, Case] = {}
    for case in cases:
        if case.kind is Kind.PLACEBO:
            held = drawn.get(case.id)
            if held is None or _lot(case) < _lot(held):
                drawn[case.id] = case
    return [case for case in cases if case.kind is not Kind.PLACEBO or drawn[case.id] is case]


def _lot(case: Case) -> bytes:
    return hashlib.sha256(f"{case.id}/{case.contest.aspect}".encode()).digest()


# Judgements: what a judge said of cases, as points for the intact video.

POINTS: Mapping[Choice, float] = {Choice.FIRST: 1.0, Choice.TIE: 0.5, Choice.SECOND: 0.0}


@dataclass(frozen=True, slots=True)
class Judgement:
    """One answer on one case; None where it is still to come."""

    case: Case
    order: Order
    repeat: int
    outcome: Outcome[Verdict] | None
    elapsed: float = 0.0
    requests: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """Which pair it is about, and in which aspect."""
        return (self.case.id, self.case.contest.aspect.value)

    @property
    def choice(self) -> Choice | None:
        """As presented: FIRST is the video that was shown first."""
        if self.outcome is None or self.outcome.value is None:
            return None
        return self.outcome.value.choice

    @property
    def points(self) -> float | None:
        """1 for the intact video, a half for a tie; None without an answer."""
        if self.choice is None:
            return None
        facing = self.choice if self.order is Order.AS_GIVEN else self.choice.flipped
        return POINTS[facing]


def read_judgements(run: RunReader, cases: Sequence[Case], judge: str) -> list[Judgement]:
    """All that the run plans to ask ``judge`` about these cases."""
    by_place = {(case.id, case.contest.aspect.value): case for case in cases}
    records: dict[Any, Record] = {
        record.key: record for record in run.records() if record.key.evaluator == judge
    }
    found: list[Judgement] = []
    for key in run.plan():
        case = by_place.get((key.item, key.aspect))
        if key.evaluator != judge or case is None:
            continue
        record = records.get(key)
        outcome: Outcome[Verdict] | None = None
        if record is not None:
            outcome = record.outcomes[judge]  # type: ignore[assignment]
        found.append(
            Judgement(
                case,
                Order(key.order),
                key.repeat,
                outcome,
                record.elapsed if record else 0.0,
                record.requests if record else (),
            )
        )
    return found


def in_both_orders(judgements: Sequence[Judgement]) -> list[tuple[Choice, Choice]]:
    """The two answers on each case that was answered in both orders."""
    by_case: dict[tuple[str, str, int], dict[Order, Choice]] = {}
    for one in judgements:
        if one.choice is not None:
            by_case.setdefault((*one.place, one.repeat), {})[one.order] = one.choice
    return [
        (answers[Order.AS_GIVEN], answers[Order.SWAPPED])
        for answers in by_case.values()
        if len(answers) == len(Order)
    ]
