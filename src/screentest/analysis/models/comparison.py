"""Which of several models is better, in what, and how certain that is: the facts.

The unit is the prompt: several videos of one prompt by one model are one mean. Models are
compared on the prompts that all have, in all metrics and pairs of models together
(``joint_tests``), so that of equal models one is called better in at most one run of twenty. A
difference must be larger than its margin: what saving the same frames otherwise makes
(``margins``). What only describes (motion, colourfulness) is shown, and never tested.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from screentest._util.text import natural
from screentest.analysis.evidence import evidence_of
from screentest.analysis.models.coverage import (
    BrokenVideo,
    NotCovered,
    UnreadVideo,
    broken_videos,
    not_covered,
    unread_videos,
)
from screentest.analysis.models.explain import ModelLook, looks, with_explanations
from screentest.analysis.models.margins import (
    FEWEST_CLIPS,
    FEWEST_FILMS,
    LEAST_SHARE,
    margin_of,
    stale,
)
from screentest.analysis.models.pairs import (
    chance_of,
    concluded,
    needed_for,
    pair_of,
    shrinkage,
    tests_of,
)
from screentest.analysis.models.rows import (
    MetricRow,
    Missing,
    ModelPair,
    ModelValue,
    NotCompared,
    Part,
    State,
    WhyNotCompared,
    apart,
    forecastable,
    row_order,
)
from screentest.analysis.models.samples import LeftOut, Samples, UnevenSeeds, pooled_alike
from screentest.analysis.results import RUN, Margin, Pool, Results
from screentest.analysis.runs import read_results
from screentest.core.errors import BadOption
from screentest.core.metric import OutputInfo
from screentest.core.outcome import Failure, Reason, attempt
from screentest.run.reader import RunReader
from screentest.stats.aggregate import mean_over_prompts
from screentest.stats.intervals import alike, source_interval
from screentest.stats.signflip import LEVEL, JointTest, fewest_sources, joint_tests

FEWEST = 2
"""Prompts on which one model can be ahead."""
GROUPS = ("picture", "time", "prompt", "other", "people")
"""The groups of metrics in their order."""


@dataclass(frozen=True, slots=True)
class MergedPrompts:
    """Prompts that count as one: the same text, or a video in common."""

    written: int
    texts: int
    """Without those that differ in spaces and capitals only."""
    units: int
    """Without those that have a video in common."""


@dataclass(frozen=True, slots=True)
class MissingValues:
    """A metric that is compared, though values are missing."""

    name: str
    missing: Mapping[str, Missing]
    """By model, the most first."""
    inapplicable: tuple[str, ...] = ()
    """The messages of the metric, where it does not apply to those videos and none failed."""
    failure: Failure | None = None
    """The first that is neither for want of a model nor of a file."""


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Which model is better, in what, and what is not known."""

    by: str
    """The group of items that is compared."""
    models: tuple[str, ...]
    winner: str
    """The model that is significantly better than every other in something, and significantly worse
    in nothing but what an artefact explains; empty where there is none."""
    loser: str
    """Of three or more, the model that is significantly worse than every other in something, and
    significantly better in nothing; empty where there is none."""
    unit: Literal["prompt", "video"]
    """What is counted: videos where files of one name are compared."""
    prompts: int
    """Prompts that all models have."""
    left_out: LeftOut
    merged: MergedPrompts
    videos: int
    ungrouped: int
    """Videos that belong to no model, and are left out."""
    uneven_seeds: UnevenSeeds | None
    unread: tuple[UnreadVideo, ...]
    broken: tuple[BrokenVideo, ...]
    """Videos of the models that are broken by themselves."""
    pool: Pool
    part: Part
    """The part of a video that its number is about."""
    comparisons: int
    """Metrics times pairs of models: what is tested together."""
    fewest: int
    """The fewest prompts that could settle anything, if all agree."""
    needed: int | None
    """About how many prompts would settle a row, where nothing is settled: the fewest of all rows.
    None where nothing is to be expected of more prompts, or where something is settled."""
    not_covered: NotCovered
    looks: tuple[ModelLook, ...]
    missing: tuple[MissingValues, ...]
    not_compared: Mapping[str, WhyNotCompared]
    """By the name of the value, also of those that have no row."""
    rows: tuple[MetricRow, ...]
    """By group of metrics, the surest difference first; what only describes comes last."""

    def having(self, *states: State) -> tuple[MetricRow, ...]:
        """Return the rows in some states."""
        return tuple(row for row in self.rows if row.state in states)

    @property
    def tested(self) -> tuple[MetricRow, ...]:
        """The rows that something was compared in."""
        return tuple(row for row in self.rows if row.pairs)

    @property
    def too_few(self) -> bool:
        """Return True where no row has as many prompts as could settle anything."""
        return max((row.prompts for row in self.tested), default=self.prompts) < self.fewest

    def document(self) -> dict[str, Any]:
        """Return all facts as plain JSON."""
        document = asdict(self)
        for row, into in zip(self.rows, document["rows"], strict=True):
            into |= {"claim": row.claim, "settled": row.settled, "p": row.p}
            ends = {"low": row.info.low, "high": row.info.high}
            into["info"] |= {key: end if math.isfinite(end) else None for key, end in ends.items()}
            for pair, part in zip(row.pairs, into["pairs"], strict=True):
                part |= {"prompts": pair.prompts, "significant": pair.significant}
        return document


def compare_models(
    results: Results,
    by: str = "",
    *,
    pool: Pool = "worst",
    margins: Mapping[str, Margin] | None = None,
) -> ModelComparison | None:
    """Compare the groups of a run; None where there are not two.

    ``by`` is ``GROUP`` or ``GROUP=A,B…``; without it ``model``, or the folders that were given.
    ``margins`` are the smallest differences that count, by name of the value; what is not among
    them has those that come with the package.
    """
    group, _, chosen = by.partition("=")
    group = group or results.models_by
    named = {results.group(item, group) for item in results.items} - {""} if group else set()
    present = sorted(named, key=natural)
    wanted = [name.strip() for name in chosen.split(",") if name.strip()]
    for name in wanted:
        if name not in present:
            there = f"{group}: {', '.join(present)}." if present else None
            raise _no_such_side(results, f"no item has {group} {name!r}", there)
    models = tuple(dict.fromkeys(wanted or present))
    if len(models) < 2:
        return None
    return _Work(results.pooled(pool), group, models, pool, margins or {}).comparison()


def compare_scores(
    folders: Sequence[Path],
    by: str = "",
    pool: Pool = "worst",
    margins: Callable[[Sequence[str]], Mapping[str, Margin]] | None = None,
) -> ModelComparison:
    """Compare the groups of runs of score, or the runs themselves.

    ``margins`` is asked for those of the values that there are.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise BadOption(f"{folders[0]} is given twice", advice="Give different runs.")
    runs: dict[str, Results] = {}
    for folder in folders:
        with RunReader(folder) as run:
            runs[str(folder)] = read_results(run)
    results = side_by_side(runs) if len(runs) > 1 else next(iter(runs.values()))
    given = margins(results.names) if margins is not None else {}
    return must_compare(results, by or (RUN if len(runs) > 1 else ""), pool, given)


def must_compare(
    results: Results,
    by: str = "",
    pool: Pool = "worst",
    margins: Mapping[str, Margin] | None = None,
) -> ModelComparison:
    """Compare the groups of a run; raises BadOption where there are not two."""
    compared = compare_models(results, by, pool=pool, margins=margins)
    if compared is None:
        group = by.partition("=")[0]
        known = not group or any(results.group(item, group) for item in results.items)
        message = "there is one side only" if known else f"no item has a group {group!r}"
        raise _no_such_side(results, message)
    return compared


def side_by_side(runs: Mapping[str, Results]) -> Results:
    """Several runs as one, in which each is a group; the same item may be in all of them."""
    last = {folder: Path(folder).name for folder in runs}
    names = last if len(set(last.values())) == len(last) else {folder: folder for folder in runs}
    return Results.join(run.as_run(names[folder]) for folder, run in runs.items())


def _no_such_side(results: Results, message: str, advice: str | None = None) -> BadOption:
    """Return the error, with advice on what may be compared in a run."""
    groups = sorted({name for item in results.items.values() for name in item.groups})
    there = "No item of this run has a group: give them in a manifest, or a second run."
    if groups:
        there = f"Compare by GROUP, or by GROUP=A,B. Groups: {', '.join(groups)}."
    return BadOption(message, advice=advice or there)


class _Work:
    """The values of some models, on their way to a comparison."""

    def __init__(
        self,
        results: Results,
        by: str,
        models: tuple[str, ...],
        pool: Pool,
        margins: Mapping[str, Margin],
    ) -> None:
        self.by, self.models, self.pool, self.margins = by, models, pool, margins
        side = {item for item in results.items if results.group(item, by) in models}
        self.unalike = results
        """As each video would be pooled by itself."""
        self.results = results = pooled_alike(results, side)
        self.samples = Samples(results, by, models)
        self.found = {name: self.samples.of(name) for name in results.names}

    def comparison(self) -> ModelComparison:
        bare = [row for name in self.results.names if (row := self.row(name)) is not None]
        tested = [test for place, row in enumerate(bare) for test in tests_of(place, row)]
        # Prompts on which nothing differs have no sign to flip: that is no test, whoever is better.
        tests = [test for test in tested if test.gaps.any()]
        joint = joint_tests([test.compared for test in tests])
        shrunk, fewest = shrinkage(tests), fewest_sources(LEVEL)
        pairs: dict[int, list[ModelPair]] = {}
        for test, result in zip(tests, joint, strict=True):
            strict = max(chance_of(result.critical, test.gaps.size), LEVEL / len(tests))
            plain, likely = (needed_for(test, strict, share) for share in (1.0, shrunk))
            # Prompts too few to settle anything do not say what is chance among them.
            reach = plain if test.gaps.size < fewest else likely
            pairs.setdefault(test.row, []).append(pair_of(test, result, likely, reach))
        for test in tested:
            if not test.gaps.any():
                pairs.setdefault(test.row, []).append(pair_of(test, JointTest(1.0, 1.0, math.inf)))
        rows = [concluded(row, pairs.get(place, []), fewest) for place, row in enumerate(bare)]
        known = evidence_of(self.results)
        rows = with_explanations([replace(row, evidence=known.get(row.name)) for row in rows])
        rows.sort(
            key=lambda row: (
                *(GROUPS.index(row.group), row.info.descriptive, row_order(row)),
                -_effect(row) if row.info.descriptive else 0.0,
            )
        )
        needed = [row.needed for row in forecastable(rows)]
        settled = any(row.state is State.SIGNIFICANT for row in rows)
        items = self.results.items
        return ModelComparison(
            by=self.by,
            models=self.models,
            winner=_alone(rows, self.models, ahead=True),
            loser=_alone(rows, self.models, ahead=False) if len(self.models) > 2 else "",
            unit=self.samples.unit,
            prompts=len(self.samples.shared),
            left_out=self.samples.left_out,
            merged=MergedPrompts(*self.results.merged(self.samples.side)),
            videos=len(self.samples.side),
            ungrouped=sum(1 for item in items if not self.results.group(item, self.by)),
            uneven_seeds=self.samples.uneven_seeds,
            unread=tuple(unread_videos(self.results)),
            broken=tuple(v for v in broken_videos(self.unalike) if v.item in self.samples.side),
            pool=self.pool,
            part=self.part(),
            comparisons=len(tests),
            fewest=fewest,
            needed=min(filter(None, needed), default=None) if not settled else None,
            not_covered=not_covered(self.results),
            looks=tuple(looks(rows, self.models)),
            missing=tuple(self.missing()),
            not_compared={name: why for name in self.tested() if (why := self.why(name))},
            rows=tuple(rows),
        )

    def row(self, name: str) -> MetricRow | None:
        """Return the values of one metric, not compared yet; None where no two models have any."""
        info, sample = self.results.outputs[name], self.found[name]
        if sum(bool(cases) for cases in sample.prompts.values()) < 2:
            return None
        cells = tuple(
            _value(model, cases, info, sample.scored[model], sample.total[model])
            for model, cases in sample.prompts.items()
        )
        margin, traits = self.margin(name), self.results.traits_of(name)
        part = Part.MEAN if self.pool == "mean" or info.descriptive else Part.WORST_TENTH
        if sample.mixed:
            part = Part.MIXED
        counts_from = margin.value if margin else 0.0
        why = self.why(name)
        if info.descriptive and not sample.settings:
            why = None
        nobody = ("", 0, 0)
        leader, ahead, clear = nobody if why else _first(cells, sample.shared, info, counts_from)
        last, behind, clear_last = (
            nobody if why else _first(cells, sample.shared, info, counts_from, last=True)
        )
        return MetricRow(
            name=name,
            group=traits.group if traits.group in GROUPS else "other",
            info=info,
            part=part if sample.pooled else Part.WHOLE,
            stand_ins=self.results.stand_ins_of(name),
            values=cells,
            pairs=(),
            leader=leader,
            ahead=ahead,
            last=last,
            behind=behind,
            clear=clear,
            clear_last=clear_last,
            margin=margin,
            prompts=len(sample.shared),
            state=State.NOT_COMPARED if why else State.UNDECIDED,
            why=why,
            helped_by=traits.helped_by,
            visible=traits.visible,
        )

    def why(self, name: str) -> WhyNotCompared | None:
        """Return the reason why a metric is not compared: its values, or no margin that holds
        for them."""
        if why := self.found[name].why:
            return why
        margin = self.margin(name)
        if margin is None:
            version = next((stale(value) for value in self.results.of(name)), "")
            return WhyNotCompared(NotCompared.OLD_VERSION, version=version) if version else None
        if name in self.margins or margin.films >= (FEWEST_CLIPS if margin.own else FEWEST_FILMS):
            return None
        return WhyNotCompared(NotCompared.FEW_FILMS, films=margin.films)

    def margin(self, name: str) -> Margin | None:
        """Return the margin of a value: the run's own or a given one, if it was measured on enough
        clips; else the larger of that and the package's."""
        # A clip of one shot has one number, whatever the pool: so it has one margin.
        pool = self.pool if self.found[name].pooled else "worst"
        packaged = next((margin_of(value, pool) for value in self.results.of(name)), None)
        given = self.margins.get(name)
        # What only describes is no claim but a cause: it has to be plain.
        if given is None and not self.results.outputs[name].descriptive:
            given = self.results.margins.get((name, pool))
        if given is not None and given.own and given.films >= FEWEST_CLIPS:
            least = LEAST_SHARE * packaged.value if packaged else 0.0
            return replace(given, value=max(given.value, least))
        if given is not None and given.films >= FEWEST_FILMS:
            return given
        if packaged is None or given is None:
            return packaged or given
        return replace(packaged, value=max(packaged.value, given.value))

    def part(self) -> Part:
        """Return the part of a video that its number is about."""
        compared = {row for row, info in self.results.outputs.items() if not info.descriptive}
        items = self.samples.side
        alone, alike = (
            {
                value.item
                for value in results.values
                if value.item in items and value.name in compared and value.pools
            }
            for results in (self.unalike, self.results)
        )
        if not alone:
            return Part.WHOLE
        if self.pool == "mean":
            return Part.MEAN
        return Part.WORST_TENTH if items.keys() <= alike else Part.MIXED

    def missing(self) -> Iterator[MissingValues]:
        """Yield the metrics of which values are missing, though they are compared, or might be."""
        tested, excused = self.tested(), (Reason.NOT_APPLICABLE, Reason.MISSING_MODEL)
        side = self.samples.side
        unread = Counter(side.get(video.item, "") for video in unread_videos(self.results))
        for name, info in self.results.outputs.items():
            missing = {
                model: replace(
                    lack,
                    videos=max(0, lack.videos - unread[model]),
                    of_videos=lack.of_videos - min(lack.videos, unread[model]),
                )
                for model, lack in self.found[name].missing.items()
            }
            given = [v.outcome for v in self.results.of(name) if v.item in side]
            lost = [outcome.failure for outcome in given if outcome.failure is not None]
            found = [one for one in lost if one.reason not in excused and not one.reason.of_file]
            some = not self.found[name].why and any(lack.videos for lack in missing.values())
            none = bool(found) and len(found) == len(given) and not info.descriptive
            if not (some if name in tested else none):
                continue
            order = sorted(missing, key=lambda model: -missing[model].videos)
            applies = any(failure.reason is not Reason.NOT_APPLICABLE for failure in lost)
            yield MissingValues(
                name,
                {model: missing[model] for model in order},
                () if applies else tuple(dict.fromkeys(failure.detail for failure in lost)),
                next(iter(found), None),
            )

    def tested(self) -> list[str]:
        """Return the metrics that some model has a value of, and that are not only described,
        unless not even that can be."""
        return [
            name
            for name, sample in self.found.items()
            if any(sample.scored.values())
            and (sample.settings or not self.results.outputs[name].descriptive)
        ]


def _value(
    model: str, cases: Mapping[str, float], info: OutputInfo, scored: int, total: int
) -> ModelValue:
    counted = list(cases.values())
    if not counted:
        return ModelValue(model, None, None, {}, scored, total)
    mean = mean_over_prompts(cases)
    interval = attempt(lambda: source_interval(counted)).value
    if interval is not None:
        interval = interval.within(info.low, info.high).holding(mean)
    return ModelValue(model, mean, interval, cases, scored, total)


def _first(
    cells: Sequence[ModelValue],
    shared: Collection[str],
    info: OutputInfo,
    margin: float,
    *,
    last: bool = False,
) -> tuple[str, int, int]:
    """Return the model that is best, or ``last``; on how many prompts it alone is so, and on how
    many by more than the margin.

    Empty where that is shared: where another's mean is within the margin; and on one prompt.
    """
    had = [cell for cell in cells if cell.mean is not None]
    if info.descriptive or len(shared) < FEWEST or len(had) < 2:
        return "", 0, 0
    sign = 1 if info.higher_is_better is not last else -1
    means = {cell.model: sign * (cell.mean or 0.0) for cell in had}
    first, second = sorted(had, key=lambda cell: -means[cell.model])[:2]
    if not apart(first.mean, second.mean, margin):
        return "", 0, 0
    leads = [
        min(
            sign * (first.prompts[case] - other.prompts[case])
            for other in had
            if other is not first
        )
        for case in shared
    ]
    return first.model, sum(gap > 0 for gap in leads), sum(gap > margin for gap in leads)


def _effect(row: MetricRow) -> float:
    """Return the largest distance of two models, in deviations over prompts."""
    effects = [0.0]
    for first, second in combinations(row.values, 2):
        both = sorted(first.prompts.keys() & second.prompts.keys())
        gaps = np.array([first.prompts[case] - second.prompts[case] for case in both])
        if gaps.size > 1 and not alike(gaps):
            effects.append(abs(float(gaps.mean())) / float(gaps.std(ddof=1)))
    return max(effects)


def _alone(rows: Sequence[MetricRow], models: Sequence[str], *, ahead: bool) -> str:
    """Return the model that is significantly better than every other in something and worse in
    nothing; or, not ``ahead``, the other way round. What an artefact explains does not count."""
    held = [pair for row in rows for pair in row.pairs if pair.earned]
    sides = [(pair.better, pair.worse) if ahead else (pair.worse, pair.better) for pair in held]
    others = {name: {other for side, other in sides if side == name} for name in models}
    against = {other for _, other in sides}
    return next((n for n in models if n not in against and len(others[n]) == len(models) - 1), "")
