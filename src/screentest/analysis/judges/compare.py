"""Comparison of judges on the same pairs: paired, by source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from screentest._util.collect import grouped
from screentest.analysis.judges.certificate import Certificate, read_certificates
from screentest.core import BadOption, NoValue, Outcome, PairKind, Reason
from screentest.core.signature import split_model
from screentest.judges.cases import at_top, points_of, read_abouts, verdict_in
from screentest.run.reader import RunReader
from screentest.run.records import Record
from screentest.stats.paired import (
    Difference,
    McNemar,
    holm,
    holm_levels,
    mcnemar,
    paired_difference,
)
from screentest.stats.power import design_effect, sample_size
from screentest.stats.rank import RankAgreement, Ranking, compare_systems, rank_agreement

_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """Two judges compared in one aspect."""

    name: str
    first: float
    second: float
    difference: Difference
    adjusted_p: float
    """Holm's, over all rows of the table."""
    exact: McNemar
    """McNemar's exact test, which takes pairs for independent."""
    needed: int | None = None
    """Pairs that would show a difference of this size four times in five."""
    dropped: int = 0
    """Items that only one side has a value for."""

    @property
    def significant(self) -> bool:
        """Tell whether the difference is unlikely to be chance."""
        return self.adjusted_p < _SIGNIFICANT


Points = Mapping[str, Mapping[str, float]]
"""By aspect, then by pair: what one side earned."""


def judge_points(run: RunReader, judge: str, testbed: str = "") -> Points:
    """Points of a judge on each pair that its certificate counts: the mean of its answers.

    Those are the degraded pairs at their strongest rung; of one testbed where one is given.
    """
    counted = _counted(run, testbed)
    earned = grouped(
        ((record.key.aspect, record.key.item), points_of(verdict, record.key.order))
        for record in _records(run, judge)
        if record.key.item in counted
        and record.key.aspect
        and (verdict := verdict_in(record).value) is not None
    )
    result: dict[str, dict[str, float]] = {}
    for (aspect, item), points in earned.items():
        result.setdefault(aspect, {})[item] = sum(points) / len(points)
    return result


def _counted(run: RunReader, testbed: str) -> set[str]:
    """Return the ids of the cases at the strongest rung, from what the run keeps of its cases."""
    counted = at_top(
        (
            case,
            (case["testbed"], case["source"], case["name"]),
            (case["severity"] or 0.0, case["clips"] or 0),
        )
        for case in read_abouts(run)
        if case["kind"] not in (None, PairKind.PLACEBO.value) and not case.get("change")
    )
    return {case["id"] for case in counted if testbed in ("", case["testbed"])}


def judges_in(run: RunReader) -> list[str]:
    """Return the judges of a run, those too that name their chat model and were asked earlier."""
    certified = [one.judge for one in read_certificates(run) if split_model(one.judge)[1]]
    latest = [note.name for note in run.evaluators() if note.kind == "judge"]
    return list(dict.fromkeys([*certified, *latest]))


def _records(run: RunReader, judge: str) -> list[Record]:
    """Return a judge's records; where the latest start did not ask it, those it is certified by."""
    signed = {one.signature for one in read_certificates(run) if one.judge == judge}
    return list(run.records(judge)) or [
        record for record in run.records(judge, current=False) if record.key.signature in signed
    ]


def compare(
    first: Points, second: Points, films: Mapping[str, str] | None = None
) -> Outcome[tuple[ComparedRow, ...]]:
    """One row per aspect that both sides have; p-values corrected over all rows.

    ``films`` says which items are of one film; else it is the source in their ids.

    The interval of a difference is that of the same test, at the level that the correction leaves
    it: it excludes 0 exactly where the difference is significant.
    """
    rows: list[ComparedRow] = []
    for name in [name for name in first if name in second]:
        entry, two = first[name], second[name]
        both = sorted(entry.keys() & two.keys())
        if not both:
            continue
        left, right = [entry[item] for item in both], [two[item] for item in both]
        clusters = _clusters(both, films)
        difference = paired_difference(left, right, clusters)
        rows.append(
            ComparedRow(
                name=name,
                first=sum(left) / len(left),
                second=sum(right) / len(right),
                difference=difference,
                adjusted_p=difference.p_value,
                exact=mcnemar(left, right),
                needed=_needed(left, right, clusters),
                dropped=len(entry.keys() ^ two.keys()),
            )
        )
    if not rows:
        return Outcome.failed(Reason.NOT_APPLICABLE, "the two have nothing in common")
    adjusted = holm([row.difference.p_value for row in rows])
    levels = holm_levels(adjusted)
    return Outcome.of(
        tuple(
            replace(row, adjusted_p=p, difference=row.difference.at(level))
            for row, p, level in zip(rows, adjusted, levels, strict=True)
        )
    )


def _clusters(items: Sequence[str], films: Mapping[str, str] | None) -> list[str]:
    """Return the film of each case, or the source in its id, ``testbed/source/degradation``."""
    return [(films or {}).get(item) or item.rpartition("/")[0] for item in items]


def _needed(left: Sequence[float], right: Sequence[float], clusters: Sequence[str]) -> int | None:
    """Estimate the pairs needed, by how often the two differ here, and in which sources."""
    changes = [a - b for a, b in zip(left, right, strict=True)]
    gap = abs(sum(changes)) / len(changes)
    if gap == 0:
        return None
    # Rounding must not make the whole larger than the sum of its parts.
    discordant = max(gap, sum(map(abs, changes)) / len(changes))
    try:
        inflation = max(1.0, design_effect(changes, clusters))
    except NoValue:
        inflation = 1.0
    return sample_size(min(gap, 1.0), discordance=min(discordant, 1.0), design_effect=inflation)


# More than two: judges or systems ranked on the pairs of all; rankings side by side.


@dataclass(frozen=True, slots=True)
class RankedRow:
    """All sides in one aspect, on the pairs that every one of them has."""

    name: str
    means: Mapping[str, float]
    ranking: Ranking
    items: int
    dropped: int
    """Items that some side has no value for."""


def ranked(
    sides: Mapping[str, Points], films: Mapping[str, str] | None = None
) -> Outcome[tuple[RankedRow, ...]]:
    """One row per aspect that all sides have."""
    every = list(sides.values())
    rows = []
    for name in [name for name in every[0] if all(name in side for side in every)]:
        items = sorted(set.intersection(*(set(side[name]) for side in every)))
        seen = set().union(*(side[name] for side in every))
        if not items:
            continue
        points = {side: [result[name][item] for item in items] for side, result in sides.items()}
        clusters = _clusters(items, films)
        rows.append(
            RankedRow(
                name,
                {side: sum(point) / len(point) for side, point in points.items()},
                compare_systems(points, clusters),
                len(items),
                len(seen) - len(items),
            )
        )
    if not rows:
        return Outcome.failed(Reason.NOT_APPLICABLE, "they have nothing in common")
    return Outcome.of(tuple(rows))


def overall(points: Points) -> float | None:
    """Return the mean over all items of all aspects; None where there is nothing."""
    every = [value for by_item in points.values() for value in by_item.values()]
    return sum(every) / len(every) if every else None


def agreement(first: Mapping[str, Points], second: Mapping[str, Points]) -> Outcome[RankAgreement]:
    """Rank agreement of two testbeds on judges, or of two benchmarks on systems.

    As the paper holds the ranking on its synthetic pairs against that on people's ratings.
    """
    item, two = (
        {name: value for name, points in side.items() if (value := overall(points)) is not None}
        for side in (first, second)
    )
    return rank_agreement(item, two)


# Runs: which sides they have, and how those compare.


class Compared(NamedTuple):
    """The sides of one run or two: two with their differences, or more as a ranking."""

    names: tuple[str, ...] = ()
    rows: tuple[ComparedRow, ...] = ()
    ranking: tuple[RankedRow, ...] = ()
    agreement: Outcome[RankAgreement] | None = None
    """Of two testbeds, where there are two."""
    certificates: tuple[Certificate, ...] = ()
    """Of what is ranked."""


def compare_runs(runs: Sequence[Path], judges: Sequence[str]) -> Compared:
    """Judges of runs of certify; of more than two runs, all judges of each are ranked."""
    if len({path.resolve() for path in runs}) < max(1, len(runs)):
        raise BadOption("a run is given twice, or none is", advice="Give each run once.")
    with ExitStack() as stack:
        readers = [stack.enter_context(RunReader(path)) for path in runs]
        proxy = _between_testbeds(readers)
        if proxy is not None and len(readers) == 2 and not judges:
            return Compared(agreement=proxy)
        sides = _of_judges(readers, runs, judges)
        every = [certificate for reader in readers for certificate in read_certificates(reader)]
        # One film may have several names.
        films = {
            case["id"]: film
            for reader in readers
            for case in read_abouts(reader)
            if (film := case.get("film"))
        }
    names = tuple(sides)
    if len(names) < 2:
        raise BadOption(f"{' and '.join(names) or 'nothing'} alone cannot be compared")
    if len(names) > 2:
        made = tuple(one for one in every if not judges or one.judge in judges)
        return Compared(names, (), ranked(sides, films).unwrap(), proxy, made)
    first, second = sides.values()
    return Compared(names, compare(first, second, films).unwrap(), agreement=proxy)


def _of_judges(
    readers: Sequence[RunReader], runs: Sequence[Path], given: Sequence[str]
) -> dict[str, Points]:
    """Points of each judge; of two runs the same judge in both, or one of each; of more, all."""
    available = [judges_in(reader) for reader in readers]
    all_known = ", ".join(dict.fromkeys(name for names in available for name in names))
    for name in given:
        if not any(name in names for names in available):
            raise BadOption(f"there is no judge {name!r} here", advice=f"Judges: {all_known}.")
    if len(readers) == 1:
        names = given or tuple(available[0])
        if len(names) < 2:
            raise BadOption(
                f"there is one judge: {', '.join(names)}", advice="Give a second run, or judge."
            )
        shown = _titles(readers[0])
        return {shown.get(name, name): judge_points(readers[0], name) for name in names}
    for run, names in zip(runs, available, strict=True):
        if not names:
            raise BadOption(f"{run} has no judge", advice="Give runs of `certify` with verdicts.")
    chosen = [[name for name in names if not given or name in given] for names in available]
    if len(readers) == len(given) == 2:
        chosen = [[name] for name in given]
    return {
        f"{_titles(reader).get(name, name)} in {run}": judge_points(reader, name)
        for reader, run, names in zip(readers, runs, chosen, strict=True)
        for name in names
    }


def _titles(run: RunReader) -> dict[str, str]:
    """Judges with the models behind them, as their certificates have it."""
    return {certificate.judge: certificate.title for certificate in read_certificates(run)}


def _between_testbeds(readers: Sequence[RunReader]) -> Outcome[RankAgreement] | None:
    """Of two runs, or of the two testbeds of one: whether they rank the judges alike."""

    def side(reader: RunReader, testbed: str = "") -> Mapping[str, Points]:
        return {name: judge_points(reader, name, testbed) for name in judges_in(reader)}

    if len(readers) == 2:
        first, second = (side(reader) for reader in readers)
    else:
        testbeds = list(dict.fromkeys(case["testbed"] for case in read_abouts(readers[0])))
        if len(testbeds) != 2:
            return None
        first, second = (side(readers[0], testbed) for testbed in testbeds)
    return agreement(first, second) if len(first.keys() & second.keys()) > 2 else None
