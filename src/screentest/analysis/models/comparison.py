"""The comparison of models behind an ``Answer``: paired by prompt, corrected over everything.

Which prompts and videos are compared in a metric, or why it is not, is said by ``samples``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np

from screentest._util.text import natural
from screentest.analysis.models.answer import GROUPS, Answer
from screentest.analysis.models.explain import looks, with_owed
from screentest.analysis.models.margins import FEWEST_FILMS, Margin, margin_of, stale
from screentest.analysis.models.pairs import (
    concluded,
    needed_for,
    pair_of,
    shrinkage,
    sign_of,
    tests_of,
)
from screentest.analysis.models.remarks import (
    UNREADABLE,
    prompt_partly,
    prompt_readers,
    prompt_unread,
    unseen,
)
from screentest.analysis.models.rows import (
    AnswerRow,
    ModelPair,
    ModelValue,
    counts,
    foretold,
    surety,
)
from screentest.analysis.models.samples import Lack, Samples, pooled_alike
from screentest.analysis.models.tables import pool_note
from screentest.analysis.models.text import labels, many, number
from screentest.analysis.models.unread import unread_remark
from screentest.analysis.models.words import headline, seen
from screentest.analysis.results import Pool, Results, Value, read_results
from screentest.core.errors import BadOption
from screentest.core.item import Item
from screentest.core.metric import OutputInfo
from screentest.core.outcome import Reason, attempt
from screentest.run.reader import RunReader
from screentest.stats.intervals import alike, source_interval
from screentest.stats.paired import holm, holm_levels
from screentest.stats.signflip import (
    LEVEL,
    fewest_sources,
)

RUN = "run"
"""The group that several runs are compared by."""
FEWEST = 2
"""Prompts on which one model can be ahead."""
MOST_NAMED = 4
"""Metrics that a remark names."""
MOST_MISSING = 3
"""Remarks on values that are missing."""


def answer(
    results: Results,
    by: str = "",
    *,
    pool: Pool = "worst",
    margins: Mapping[str, Margin] | None = None,
) -> Answer | None:
    """The answer for the groups of a run; None where there are not two.

    ``by`` is ``GROUP`` or ``GROUP=A,B…``; without it ``model``, or the folders that were given.
    ``margins`` are the smallest differences that count, by name of the value; what is not among
    them has those that come with the package.
    """
    group, _, chosen = by.partition("=")
    group = group or results.models_by
    named = {results.group(item, group) for item in results.items} - {""} if group else set()
    known = sorted(named, key=natural)
    wanted = [name.strip() for name in chosen.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            there = f"{group}: {', '.join(known)}." if known else _sides_there_are(results, by)
            raise BadOption(f"no item has {group} {name!r}", advice=there)
    models = tuple(dict.fromkeys(wanted or known))
    if len(models) < 2:
        return None
    return _Work(results.pooled(pool), group, models, pool, margins or {}).answer()


def compare_scores(
    folders: Sequence[Path],
    by: str = "",
    pool: Pool = "worst",
    margins: Callable[[Sequence[str]], Mapping[str, Margin]] | None = None,
) -> Answer:
    """The answer for the groups of runs of score, or for the runs themselves.

    ``margins`` is asked for those of the values that there are.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise BadOption(f"{folders[0]} is given twice", advice="Give different runs.")
    runs: dict[str, Results] = {}
    for folder in folders:
        with RunReader(folder) as run:
            runs[str(folder)] = read_results(run)
    results = side_by_side(runs) if len(runs) > 1 else next(iter(runs.values()))
    own = margins(results.names) if margins is not None else {}
    found = answer(results, by or (RUN if len(runs) > 1 else ""), pool=pool, margins=own)
    if found is None:
        raise BadOption("there is one side only", advice=_sides_there_are(results, by))
    return found


def side_by_side(runs: Mapping[str, Results]) -> Results:
    """Several runs as one, in which each is a group; the same item may be in all of them."""
    names = _short(list(runs))
    items: dict[str, Item] = {}
    values: list[Value] = []
    pending: list[tuple[str, str]] = []
    outputs: dict[str, OutputInfo] = {}
    contents: dict[str, str] = {}
    for folder, run in runs.items():
        name = names[folder]
        for item in run.items.values():
            whole = replace(
                item,
                id=f"{name}: {item.id}",
                groups={**item.groups, "case": run.case(item.id), RUN: name},
            )
            items[whole.id] = whole
        values += [replace(value, item=f"{name}: {value.item}") for value in run.values]
        pending += [(f"{name}: {item}", value) for item, value in run.pending]
        outputs |= run.outputs
        contents |= {f"{name}: {item}": content for item, content in run.contents.items()}
    return Results(items, tuple(values), outputs, tuple(pending), contents=contents)


def _short(folders: Sequence[str]) -> dict[str, str]:
    """The last part of each path, where those differ."""
    last = {folder: Path(folder).name for folder in folders}
    return last if len(set(last.values())) == len(last) else {folder: folder for folder in folders}


def _sides_there_are(results: Results, by: str) -> str:
    """What --by may say of this run."""
    groups = sorted({name for item in results.items.values() for name in item.groups})
    if groups:
        return f"Say --by GROUP, or --by GROUP=A,B. Groups: {', '.join(groups)}."
    return "No item of this run has a group: give them in a manifest, or a second run."


class _Work:
    """The values of some models, on their way to an answer."""

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
        self.titles = results.short_names
        self.samples = Samples(results, by, models)
        self.found = {name: self.samples.of(name) for name in results.names}
        self.labels = labels(results)

    def answer(self) -> Answer:
        bare = [row for name in self.results.names if (row := self.row(name)) is not None]
        tested = [one for place, row in enumerate(bare) for one in tests_of(place, row)]
        # Prompts on which nothing differs have no sign to flip: that is no test, whoever is better.
        tests = [one for one in tested if one.gaps.any()]
        adjusted = holm([one.p for one in tests])
        levels = holm_levels(adjusted)
        shrunk = shrinkage(tests)
        strict = LEVEL / max(1, len(tests))
        pairs: dict[int, list[ModelPair]] = {}
        for one, p, level in zip(tests, adjusted, levels, strict=True):
            plain, likely = (needed_for(one, strict, share) for share in (1.0, shrunk))
            # Prompts too few to settle anything do not say what is chance among them.
            few = one.gaps.size < fewest_sources(strict)
            pairs.setdefault(one.row, []).append(
                pair_of(one, p, level, likely, plain if few else likely)
            )
        for one in tested:
            if not one.gaps.any():
                pairs.setdefault(one.row, []).append(pair_of(one, 1.0, strict, None, None))
        rows = [
            concluded(row, pairs.get(place, []), fewest_sources(strict))
            for place, row in enumerate(bare)
        ]
        rows = with_owed(rows)
        order = list(GROUPS)
        rows.sort(
            key=lambda row: (
                *(order.index(row.group), row.info.descriptive, surety(row)),
                -_apart(row) if row.info.descriptive else 0.0,
            )
        )
        needed = [row.needed for row in foretold(rows)]
        settled = any(row.state == "holds" for row in rows)
        found = Answer(
            headline="",
            seen="",
            unmeasured=tuple(self.unmeasured()),
            looks=looks(rows, self.models),
            remarks=tuple(self.remarks()),
            by=self.by,
            models=self.models,
            winner=_alone(rows, self.models, ahead=True),
            loser=_alone(rows, self.models, ahead=False) if len(self.models) > 2 else "",
            prompts=len(self.samples.shared),
            left_out=len(self.samples.any - self.samples.shared),
            videos=len(self.samples.side),
            pool=self.pool,
            counted=self.counted(),
            comparisons=len(tests),
            fewest=fewest_sources(strict),
            needed=min(filter(None, needed), default=None) if not settled else None,
            unit=self.samples.unit,
            rows=tuple(rows),
        )
        # What could not be read is why, and not that numbers only describe.
        unread = unread_remark(self.results)
        if unread and not found.comparisons:
            found = replace(found, remarks=tuple(one for one in found.remarks if one != unread))
            return replace(found, headline=f"Nothing is compared: {unread}", seen=seen(found))
        return replace(found, headline=headline(found), seen=seen(found))

    def row(self, name: str) -> AnswerRow | None:
        """The values of one metric, not compared yet; None where no two models have any."""
        info, sample = self.results.outputs[name], self.found[name]
        if sum(bool(cases) for cases in sample.prompts.values()) < 2:
            return None
        cells = tuple(
            _value(model, cases, info, sample.scored[model], sample.total[model])
            for model, cases in sample.prompts.items()
        )
        margin = self.margin(name)
        part = "worst tenth" if self.pool == "worst" and not info.descriptive else "mean"
        if sample.mixed:
            part = f"{part} where all videos of a prompt have several shots, else the whole"
        counts_from = margin.value if margin else 0.0
        why = sample.why or self.no_margin(name, margin)
        if info.descriptive and not sample.ways:
            why = ""
        nobody = ("", 0, 0)
        leader, ahead, clear = nobody if why else _first(cells, sample.shared, info, counts_from)
        last, behind, clear_last = (
            nobody if why else _first(cells, sample.shared, info, counts_from, last=True)
        )
        return AnswerRow(
            name=name,
            title=self.titles.get(name, name),
            label=self.labels[name],
            group=info.group if info.group in GROUPS else "other",
            info=info,
            pooled=part if sample.pooled else "",
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
            state="uncompared" if why else "tied",
            why=why,
        )

    def no_margin(self, name: str, margin: Margin | None) -> str:
        """Why a difference cannot be told from what saving makes; empty where it can."""
        if margin is None:
            known = next((stale(value) for value in self.results.of(name)), "")
            if not known:
                return ""
            other = f"the run is of another version than {known}"
            return f"{other}, of which margins are known: score again"
        if name in self.margins or margin.films >= FEWEST_FILMS:
            return ""
        return f"what saving the same frames makes of it is known from {margin.films} films only"

    def margin(self, name: str) -> Margin | None:
        """The margin of a value: that of the package, or one that was given and is larger."""
        # A clip of one shot has one number, whatever the pool: so it has one margin.
        pool = self.pool if self.found[name].pooled else "worst"
        known = next((margin_of(value, pool) for value in self.results.of(name)), None)
        found = [one for one in (known, self.margins.get(name)) if one is not None]
        return max(found, key=lambda one: one.value, default=None)

    def counted(self) -> str:
        """What of a video its number is about."""
        compared = {row for row, info in self.results.outputs.items() if not info.descriptive}
        items = {item: self.results.items[item] for item in self.samples.side}
        alone, alike = (
            [value for value in one.values if value.item in items and value.name in compared]
            for one in (self.unalike, self.results)
        )
        if (
            self.pool == "worst"
            and any(value.pools for value in alone)
            and not (items.keys() <= {value.item for value in alike if value.pools})
        ):
            return (
                "A prompt counts by the worst tenth of its videos where all of them have several"
                " shots, else by the whole (--pool mean: always)."
            )
        return pool_note(replace(self.results, items=items, values=tuple(alone)), self.pool)

    def unmeasured(self) -> Iterator[str]:
        if remark := prompt_unread(self.results):
            failed = remark.startswith(UNREADABLE)
            yield (
                "Whether the videos show what their prompts ask for: "
                f"{'what reads them failed' if failed else 'nothing here reads the prompt'}."
            )
        elif not prompt_readers(self.results):
            yield "Anything about prompts, since the videos have none."
        elif partly := prompt_partly(self.results):
            yield partly
        if blind := unseen(self.results):
            yield blind

    def remarks(self) -> Iterator[str]:
        if unread := unread_remark(self.results):
            yield unread
        written, texts, units = self.results.merged(self.samples.side)
        if texts < written:
            yield (
                f"{written:,} prompts count as {texts:,}: the others differ in spaces or capitals"
                " only."
            )
        if units < texts:
            yield f"{texts:,} prompts count as {units:,}: the others have a video in common."
        if self.samples.unit == "video":
            yield "Videos of the same name are compared with each other, since none has a prompt."
        yield from self.samples.remarks()
        yield from self.unclaimed()
        yield from self.missing()
        none = sum(1 for item in self.results.items if not self.results.group(item, self.by))
        if none:
            yield f"{none:,} videos are left out: they have no {self.by}."

    def unclaimed(self) -> Iterator[str]:
        """The metrics in which nothing is claimed, by reason."""
        reasons: dict[str, list[str]] = {}
        for name in self.tested():
            if why := self.found[name].why:
                rest = self.found[name].comparable
                way = f"; or --by {self.by}={','.join(rest)}" if len(rest) > 1 else ""
                reasons.setdefault(f"{why}{way}", []).append(self.labels[name])
            elif few := self.no_margin(name, self.margin(name)):
                reasons.setdefault(few, []).append(f"{self.labels[name]}{self.means(name)}")
        for why, names in reasons.items():
            yield f"Not compared: {_some(names)}: {why}."

    def means(self, name: str) -> str:
        """The value of each model, for a remark: `` (a 0.41, b 0.38)``."""
        cases = {model: list(own.values()) for model, own in self.found[name].prompts.items()}
        told = [f"{model} {number(fmean(own))}" for model, own in cases.items() if own]
        return f" ({', '.join(told)})" if told else ""

    def missing(self) -> Iterator[str]:
        """The metrics of which values are missing, though they are compared, by how many."""
        alike: dict[tuple[str, tuple[Lack, ...]], list[str]] = {}
        for name in self.tested():
            lacks = tuple(self.found[name].lacks.values())
            if not self.found[name].why and any(one.videos for one in lacks):
                alike.setdefault((self.inapplicable(name), lacks), []).append(name)
        for (why, lacks), names in list(alike.items())[:MOST_MISSING]:
            what = _some([self.labels[name] for name in names])
            if why:
                lost, of = sum(one.videos for one in lacks), sum(one.of_videos for one in lacks)
                yield f"No value of {what} on {lost:,} of {of:,} videos: {why}."
            else:
                yield self.found[names[0]].missing(what, self.samples.unit)
        rest = sum(map(len, list(alike.values())[MOST_MISSING:]))
        if rest:
            yield f"Values of {many(rest, 'more measure')} are missing (--json)."

    def inapplicable(self, name: str) -> str:
        """Why a value does not apply, where that is why it is missing; empty where some failed."""
        lost = [
            value.outcome.failure
            for value in self.results.of(name)
            if value.outcome.failure is not None and value.item in self.samples.side
        ]
        if any(one.reason is not Reason.NOT_APPLICABLE for one in lost):
            return ""
        return ", ".join(dict.fromkeys(one.detail for one in lost))

    def tested(self) -> list[str]:
        """The metrics that some model has a value of, and that are not only described, unless not
        even that can be."""
        return [
            name
            for name, sample in self.found.items()
            if any(sample.scored.values())
            and (sample.ways or not self.results.outputs[name].descriptive)
        ]


def _some(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*names[:MOST_NAMED], *more])


def _value(
    model: str, cases: Mapping[str, float], info: OutputInfo, scored: int, total: int
) -> ModelValue:
    counted = list(cases.values())
    if not counted:
        return ModelValue(model, None, None, {}, scored, total)
    mean = math.fsum(counted) / len(counted)
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
    """The model that is best, or ``last``; on how many prompts it alone is so, and on how many by
    more than the margin.

    Empty where that is shared: where another's mean is within the margin, or is printed the same;
    and on one prompt.
    """
    had = [cell for cell in cells if cell.mean is not None]
    if info.descriptive or len(shared) < FEWEST or len(had) < 2:
        return "", 0, 0
    sign = -sign_of(info) if last else sign_of(info)
    means = {cell.model: sign * (cell.mean or 0.0) for cell in had}
    first, second = sorted(had, key=lambda cell: -means[cell.model])[:2]
    if not counts(first.mean, second.mean, margin):
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


def _apart(row: AnswerRow) -> float:
    """How far two models are apart at most, in deviations over prompts."""
    found = [0.0]
    for one, two in combinations(row.values, 2):
        both = sorted(one.prompts.keys() & two.prompts.keys())
        gaps = np.array([one.prompts[case] - two.prompts[case] for case in both])
        if gaps.size > 1 and not alike(gaps):
            found.append(abs(float(gaps.mean())) / float(gaps.std(ddof=1)))
    return max(found)


def _alone(rows: Sequence[AnswerRow], models: Sequence[str], *, ahead: bool) -> str:
    """The model that is surely better than every other in something and surely worse in nothing;
    or, not ``ahead``, the other way round. What is owed to a fault does not count."""
    held = [pair for row in rows for pair in row.pairs if pair.holds and not pair.owed_to]
    sides = [(pair.better, pair.worse) if ahead else (pair.worse, pair.better) for pair in held]
    others = {name: {two for one, two in sides if one == name} for name in models}
    against = {two for _, two in sides}
    return next((n for n in models if n not in against and len(others[n]) == len(models) - 1), "")
