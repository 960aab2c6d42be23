"""Does the judge say what people say? And does it favour its own kind?

A share of what was judged is drawn and rated by people, several each, who do not see the
judge's points. Judge and people agree on a value where the judge lies within a tolerance of the
people's median. Values of one video hang together, so intervals resample videos.
"""

from __future__ import annotations

import csv
import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from screentest._util.text import plain_cell, safe_cell
from screentest.analysis.results import Results
from screentest.core.errors import BadOption, ManifestError, NoValue, StorageError
from screentest.core.metric import OutputInfo
from screentest.core.outcome import Outcome, Reason, attempt
from screentest.core.signature import split_value_name
from screentest.judges.votes import read_flag
from screentest.stats.agreement import krippendorff
from screentest.stats.intervals import Interval, bootstrap_mean, share_interval, wilson
from screentest.stats.rank import spearman
from screentest.suites.univ.suite import task_of
from screentest.suites.univ.vocabulary import Dimension

Unit: TypeAlias = tuple[str, str]
"""An item and the name of a value."""
Scores: TypeAlias = Mapping[Unit, float]
Votes: TypeAlias = Mapping[Unit, Sequence[float]]


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge beside people."""

    units: int
    agreeing: int
    within: Interval
    """Of the share that agrees; from resampling items."""
    wilson: Interval
    """The same as if every value stood for itself."""
    bias: float
    """The judge less the people, on average: above 0, it is too kind."""
    bias_interval: Interval | None
    """None where all values are of one item."""
    rank: Outcome[float]
    """Spearman's correlation of judge and median."""
    people: Outcome[float]
    """Krippendorff's alpha of the people among themselves, interval level."""
    with_judge: Outcome[float]
    """The same with the judge as one rater more."""
    votes_each: float

    @property
    def share(self) -> float:
        """The share of values on which judge and people agree."""
        return self.agreeing / self.units


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How much kinder a judge is to its own than others are, beyond how kind it is to all."""

    judge: str
    own: str
    """The model whose results are its own."""
    value: float
    interval: Interval | None
    """Welch's, over items; None where there are too few."""
    own_items: int
    other_items: int


def draw_sample(items: Sequence[str], share: float, *, seed: int = 7) -> list[str]:
    """A share of the items, one at least, the same for the same seed whatever their order.

    >>> len(draw_sample([f"case {n}" for n in range(40)], 0.1))
    4
    """
    if not 0 < share <= 1:
        raise ValueError(f"invalid share {share}: must be in (0, 1]")
    listed = sorted(set(items))
    if not listed:
        return []
    count = max(1, math.ceil(len(listed) * share - 1e-9))
    return sorted(random.Random(seed).sample(listed, count))


def agree(judge: Scores, votes: Votes, *, tolerance: float, seed: int = 0) -> JudgeAgreement:
    """Compare a judge with people on the values that both gave."""
    units = sorted(unit for unit in votes if unit in judge and votes[unit])
    if not units:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "no value has both the judge's points and a vote",
            advice="Names of items and values in the votes must be those of the run.",
        )
    medians = {unit: statistics.median(votes[unit]) for unit in units}
    same = {unit: float(abs(judge[unit] - medians[unit]) <= tolerance + 1e-9) for unit in units}
    differences = {unit: judge[unit] - medians[unit] for unit in units}
    agreeing = round(sum(same.values()))
    rated = [list(votes[unit]) for unit in units]
    ranks = spearman([judge[unit] for unit in units], [medians[unit] for unit in units])
    return JudgeAgreement(
        units=len(units),
        agreeing=agreeing,
        within=share_interval(list(same.values()), [item for item, _ in units]),
        wilson=wilson(agreeing, len(units)),
        bias=statistics.fmean(differences.values()),
        bias_interval=_over_items(differences, seed),
        rank=ranks.map(lambda found: found.value),
        people=krippendorff(rated, level="interval"),
        with_judge=krippendorff([[*votes[unit], judge[unit]] for unit in units], level="interval"),
        votes_each=statistics.fmean(len(one) for one in rated),
    )


def self_preference(
    judges: Mapping[str, Scores],
    makers: Mapping[str, str],
    own: Mapping[str, str],
    people: Votes | None = None,
) -> list[SelfPreference]:
    """By judge: (judge − others) on its own results, less the same on all other results.

    ``makers`` has the model that made each item, ``own`` the model of each judge. The others
    are the people where there are votes, else all other judges.
    """
    found = []
    for name, maker in own.items():
        gaps = _gaps(name, judges, people)
        mine = [gap for item, gap in gaps.items() if makers.get(item) == maker]
        rest = [gap for item, gap in gaps.items() if makers.get(item, maker) != maker]
        if not mine or not rest:
            lacking = "its own" if not mine else "any other"
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"{name} has judged no result of {lacking} model beside others",
                advice="Votes, or a second judge, must cover results of both kinds.",
            )
        value = statistics.fmean(mine) - statistics.fmean(rest)
        found.append(SelfPreference(name, maker, value, _welch(mine, rest), len(mine), len(rest)))
    return found


def _gaps(name: str, judges: Mapping[str, Scores], people: Votes | None) -> dict[str, float]:
    """By item: how much more the judge gives than the others, over its values."""
    by_item: dict[str, list[float]] = {}
    for unit, score in judges[name].items():
        if people is not None:
            others = list(people.get(unit, ()))
        else:
            others = [one[unit] for judge, one in judges.items() if judge != name and unit in one]
        if others:
            by_item.setdefault(unit[0], []).append(score - statistics.fmean(others))
    return {item: statistics.fmean(gaps) for item, gaps in by_item.items()}


def _over_items(values: Mapping[Unit, float], seed: int) -> Interval | None:
    items = [item for item, _ in values]
    return attempt(lambda: bootstrap_mean(list(values.values()), items, seed=seed)).value


def _welch(mine: list[float], rest: list[float]) -> Interval | None:
    """Welch's interval of a difference of means; None where one side has no spread to go by."""
    if min(len(mine), len(rest)) < 2 or max(statistics.stdev(mine), statistics.stdev(rest)) == 0:
        return None
    from scipy.stats import ttest_ind

    found = ttest_ind(mine, rest, equal_var=False).confidence_interval(0.95)
    return Interval(float(found.low), float(found.high))


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
            raise BadOption(f"{name} cannot be rated: it has no lowest and highest value")
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
    metric, output = split_value_name(name)
    return task_of(metric) is None or output in set(Dimension)


def write_sheet(
    path: Path, results: Results, names: Sequence[str], *, share: float, votes: int, seed: int
) -> int:
    """Draw items and write the sheet; returns how many were drawn.

    Every rater gets the rows in an order of their own, so that no two tire at the same place.

    A sheet is a CSV with a row for every item, value and vote: item, video, value, lowest, highest,
    rater, score. People fill in the last column.
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
            texts = [safe_cell(text) for text in (item, video, name)]
            rows.append((*texts, f"{info.low:g}", f"{info.high:g}", str(rater), ""))
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(rows)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
    return len(drawn)


def read_sheet(path: Path) -> dict[Unit, list[float]]:
    """The scores of a sheet that was filled in; rows without a score are not voted yet.

    Where a sheet says which votes are unfinished, tests or excluded, those do not count.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _sheet_scores(path, csv.DictReader(file))
    except OSError as error:
        raise ManifestError(f"{path} does not open: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ManifestError(f"{path} is not a sheet of votes: {error}") from None


def _sheet_scores(path: Path, rows: csv.DictReader[str]) -> dict[Unit, list[float]]:
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
        if not text or not _counts(row, path, number):
            continue
        unit = (plain_cell(row["item"] or ""), plain_cell(row["value"] or ""))
        rater = (row.get("rater") or "").strip()
        if rater and (*unit, rater) in seen:
            raise ManifestError(f"{path}, line {number}: rater {rater!r} votes twice on {unit}")
        seen.add((*unit, rater))
        votes.setdefault(unit, []).append(_number(text, row, path, number))
    return votes


def _counts(row: dict[str, str], path: Path, line: int) -> bool:
    """As ``VoteRecord.counts`` has it; a column that is not there, or is empty, says nothing."""
    try:
        return all(
            read_flag(name, (row.get(name) or str(wanted)).strip()) == wanted
            for name, wanted in (("finished", True), ("gold", False), ("excluded", False))
        )
    except ValueError as error:
        raise ManifestError(f"{path}, line {line}: {error}") from None


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
