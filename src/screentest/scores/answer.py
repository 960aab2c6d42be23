"""The answer to "which model is best, in what, and may I believe it?", from the values of a run.

One object, which the terminal, ``--json``, Python and the report all show: a sentence, what was
not measured, and a row for each metric with the models side by side.

The unit is the prompt: several videos of one prompt by one model are one mean. Models are
compared on the prompts that all have, by the sign-flip test; p-values are corrected by Holm over
all metrics and all pairs of models, so that of equal models one is called better in at most one
run of twenty. A difference must be larger than its margin: what saving the same frames otherwise
makes (``margins``). What only describes (motion, colourfulness) is shown, and never tested.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from screentest.core.metric import OutputInfo
from screentest.core.signature import split_value_name
from screentest.core.table import ARROWS, Better, Cell, Column, Table
from screentest.scores.margins import Margin
from screentest.scores.results import Pool
from screentest.stats.intervals import Interval
from screentest.stats.signflip import LEVEL, sign_flip_interval

State: TypeAlias = Literal["holds", "open", "tied", "describes", "uncompared"]
GROUPS = {
    "picture": "Picture",
    "time": "Time",
    "prompt": "Prompt",
    "other": "Other",
    "people": "People",
}
"""The groups of metrics in their order, with their titles."""
_MOST_NAMED = 4
"""Rows that a sentence names."""
MOST_DESCRIBED = 3
"""Rows of a group that only describe, in a table for people."""


@dataclass(frozen=True, slots=True)
class ModelValue:
    """One model in one metric."""

    model: str
    mean: float | None
    """Over prompts, in the metric's own units; None where it has no value."""
    interval: Interval | None
    """Of the mean, over prompts; None where they do not show how much others would differ."""
    prompts: Mapping[str, float]
    """The value of each prompt that is compared: the mean of its videos that count."""
    scored: int
    """Videos that have a value."""
    total: int
    best: bool = False
    """Whether it is surely better than some other model, and none is surely better than it."""
    worst: bool = False
    """Whether some other model is surely better than it, and it is surely better than none."""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two models in one metric, on the prompts that all have; the better one first."""

    better: str
    worse: str
    difference: float
    """How much better, in the metric's own units: never negative."""
    gaps: tuple[float, ...]
    """The difference on each prompt, the smallest first."""
    level: float
    """The level of the test that Holm's correction leaves it."""
    p_value: float
    """Of the hypothesis that the models differ by no more than the margin."""
    adjusted_p: float
    """Holm's, over all metrics and pairs of models."""
    ahead: int
    """Prompts on which the better one is better by more than the margin."""
    behind: int
    needed: int | None = None
    """About how many prompts would show it four times in five; None where that cannot be said."""
    reach: int | None = None
    """The same if the difference is what it seems, where prompts are too few to say what of it
    is chance."""
    margin: float = 0.0
    """The mean difference must be larger than this to count; 0 where none is known."""

    @property
    def prompts(self) -> int:
        """Prompts that are compared."""
        return len(self.gaps)

    @property
    def interval(self) -> Interval | None:
        """The differences that the test does not reject: they are all above the margin exactly
        where the difference holds. None where so few prompts reject nothing, or where all are
        alike."""
        found = sign_flip_interval(np.array(self.gaps) - self.margin, level=self.level)
        if found is None:
            return None
        return Interval(found.low + self.margin, found.high + self.margin)

    @property
    def holds(self) -> bool:
        """Whether it may be said that the better one is better."""
        return self.adjusted_p <= LEVEL and self.difference > self.margin


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One metric, with all models."""

    name: str
    """The name of the value, as results have it."""
    title: str
    """The same without options that change no number."""
    group: str
    """``picture``, ``time``, ``prompt`` or ``other``."""
    info: OutputInfo
    pooled: str
    """What of a video the number is about: ``worst tenth``, ``mean``; empty for the whole."""
    values: tuple[ModelValue, ...]
    """By model, in the order of the answer's models."""
    pairs: tuple[ModelPair, ...]
    """Every two models, the surest difference first; none where the value only describes."""
    leader: str
    """The model with the best mean; empty where it only describes, and where best is shared:
    where another is within the margin, or is printed the same."""
    ahead: int
    """Prompts on which the leader alone is best, by more than the margin."""
    prompts: int
    """Prompts on which all models have a value that have any: all here is about these."""
    state: State
    needed: int | None = None
    """About how many prompts would settle what the row names, where nothing holds yet: that the
    leader is ahead of all, else that the last is behind all, else the surest difference."""
    label: str = ""
    """The name in words, for a sentence."""
    last: str = ""
    """The model with the worst mean; empty as ``leader`` is."""
    behind: int = 0
    """Prompts on which the last alone is worst, by more than the margin."""
    margin: Margin | None = None
    """The smallest difference that counts; None where it is not known."""
    why: str = ""
    """Why nothing is claimed, where the state is ``uncompared``."""

    @property
    def better(self) -> Better:
        """Which direction is better; empty where the value only describes."""
        return self.info.better

    @property
    def metric(self) -> str:
        """The metric that gives the value."""
        return split_value_name(self.name)[0]

    def of(self, model: str) -> ModelValue:
        """One model's value."""
        return next(one for one in self.values if one.model == model)

    def differ(self, pair: ModelPair) -> bool:
        """Whether a difference of two models is more than a tie: see ``counts``."""
        one, two = self.of(pair.better).mean, self.of(pair.worse).mean
        return pair.holds or (pair.difference > pair.margin and counts(one, two, pair.margin))

    @property
    def spread(self) -> float:
        """From the lowest to the highest prompt, in the metric's units."""
        known = [value for one in self.values for value in one.prompts.values()]
        return max(known) - min(known) if known else 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Which model is best, in what, and what is not known."""

    headline: str
    """One sentence that is true."""
    seen: str
    """What leads so far without being settled, in words; empty where there is nothing to say."""
    unmeasured: tuple[str, ...]
    """What nothing in this run measures, a sentence each."""
    remarks: tuple[str, ...]
    """What else must be known to read the table, a sentence each: prompts that are left out."""
    by: str
    """The group of items that is compared."""
    models: tuple[str, ...]
    winner: str
    """The model that is surely better than every other in something, and surely worse in nothing;
    empty where there is none."""
    loser: str
    """Of three or more, the model that is surely worse than every other in something, and surely
    better in nothing; empty where there is none."""
    prompts: int
    """Prompts that all models have."""
    left_out: int
    """Prompts that only some have."""
    videos: int
    pool: Pool
    comparisons: int
    """Metrics times pairs of models: what the p-values are corrected for."""
    fewest: int
    """The fewest prompts that could settle anything among so many comparisons, if all agree."""
    needed: int | None
    """About how many prompts would settle something, where nothing is; None where nothing is to
    be expected of more prompts, or where something is settled."""
    rows: tuple[AnswerRow, ...]
    """By group of metrics, the surest difference first; what only describes comes last."""

    @property
    def shown(self) -> tuple[AnswerRow, ...]:
        """The rows in which there is something to see: no ties, and of what only describes the
        few in each group in which the models are farthest apart."""
        raw = Counter(row.metric for row in self.rows if row.state == "describes")
        described: Counter[str] = Counter()
        rows = []
        for row in self.rows:
            if row.state == "describes":
                # Many numbers of one metric are material for judges rather than for readers.
                few = raw[row.metric] <= MOST_DESCRIBED
                described[row.group] += few
                if not few or described[row.group] > MOST_DESCRIBED:
                    continue
            if row.state not in ("tied", "uncompared"):
                rows.append(row)
        return tuple(rows)

    def on(self, rows: Sequence[AnswerRow]) -> str:
        """On how many prompts some rows rest, in words."""
        counts = sorted({row.prompts for row in rows}) or [self.prompts]
        least = f"{counts[0]:,} to " if len(counts) > 1 else ""
        return f"{least}{_many(counts[-1], 'prompt')}"

    @property
    def tested(self) -> tuple[AnswerRow, ...]:
        """The rows that something was compared in."""
        return tuple(row for row in self.rows if row.pairs)

    @property
    def too_few(self) -> bool:
        """Whether no row has as many prompts as could settle anything."""
        return max((row.prompts for row in self.tested), default=self.prompts) < self.fewest

    @property
    def tied(self) -> tuple[AnswerRow, ...]:
        """The rows in which no difference holds, or is within reach."""
        return tuple(row for row in self.rows if row.state == "tied")

    def best_at(self, model: str) -> Standing:
        """What a model is best at, else what it is ahead in: the surest first, then the largest."""
        sure = [row for row in self.rows if row.of(model).best]
        return _standing(sure or [row for row in self.rows if _leads(row, model)], model, sure)

    def worst_at(self, model: str) -> Standing:
        """What a model is worst at, else what it is behind in, in the same order."""
        sure = [row for row in self.rows if row.of(model).worst]
        return _standing(
            sure or [row for row in self.rows if _trails(row, model)], model, sure, worst=True
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands below the table: what was folded, and how to read the numbers."""
        return tuple(_notes(self))

    def __str__(self) -> str:
        missing = [f"Not measured: {one[0].lower()}{one[1:]}" for one in self.unmeasured]
        return "\n".join(filter(None, [self.headline, self.seen, *missing, *self.remarks]))

    def document(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        document = asdict(self)
        for row, into in zip(self.rows, document["rows"], strict=True):
            for pair, part in zip(row.pairs, into["pairs"], strict=True):
                interval = pair.interval
                part["interval"] = asdict(interval) if interval else None
                part |= {"prompts": pair.prompts, "holds": pair.holds}
        return document

    def table(self, *, width: int = 30) -> Table:
        """The rows that are shown. Models whose names need more than ``width`` get letters."""
        names = [len(name) for name in self.models]
        letters = sum(names) + len(names) + max(names) > width
        heads = {name: _letter(n) if letters else name for n, name in enumerate(self.models)}
        columns = [
            Column("group", detail=True),
            Column("about", " ", derived=True),
            Column("metric", "Metric"),
            *(Column(f"model.{name}", heads[name], align="right", show=_cell) for name in heads),
            Column("leader", detail=True),
            Column("ahead", detail=True),
            Column("last", detail=True),
            Column("behind", detail=True),
            Column("prompts", detail=True),
            Column("margin", detail=True),
            Column("lead", "Ahead on", derived=True),
            Column("p", "p", detail=True),
            Column("state", detail=True),
            Column("needed", detail=True),
            Column("sure", "Settled", derived=True),
        ]
        rows: list[tuple[Cell, ...]] = []
        last = ""
        for row in self.shown:
            title = GROUPS.get(row.group, row.group)
            best = {one.model for one in row.values if one.best}
            lead = f"{heads[row.leader]} {row.ahead:,}/{row.prompts:,}" if row.leader else ""
            if row.last and not row.leader:
                lead = f"{heads[row.last]} last {row.behind:,}/{row.prompts:,}"
            rows.append(
                (
                    *(row.group, "" if title == last else title),
                    f"{row.title} {ARROWS[row.better]}".rstrip(),
                    *(_marked(one, one.model in best) for one in row.values),
                    *(row.leader or None, row.ahead, row.last or None, row.behind, row.prompts),
                    *(row.margin.value if row.margin else None, lead),
                    min((pair.adjusted_p for pair in row.pairs), default=None),
                    *(row.state, row.needed, _settled(row)),
                )
            )
            last = title
        note = ", ".join(f"{head}: {name}" for name, head in heads.items() if letters)
        return Table("answer", f"By {self.by}", columns, rows, note)


def _marked(one: ModelValue, best: bool) -> Cell:
    return None if one.mean is None else [one.mean, best]


def _cell(cell: Any) -> str:
    return f"{number(cell[0])}{'*' if cell[1] else ' '}"


def _letter(place: int) -> str:
    return chr(ord("A") + place % 26) * (place // 26 + 1)


def _settled(row: AnswerRow) -> str:
    if row.state == "holds":
        return "yes"
    if row.state == "describes":
        return ""
    return f"by ~{_about(row.needed)}" if row.needed else "no"


def number(value: float) -> str:
    """Three digits that count, without an exponent.

    >>> number(0.06164), number(25.71), number(0.0), number(1234.5), number(0.00001)
    ('0.0616', '25.7', '0', '1,234', '0.00001')
    """
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    text = f"{value:,.{min(max(digits, 0), 5)}f}"
    return text.rstrip("0").rstrip(".") if digits > 5 else text


def counts(one: float | None, two: float | None, margin: float) -> bool:
    """Whether two means are more than a tie: more than the margin apart, and printed differently.

    >>> counts(0.42, 0.41, 0.02), counts(0.42, 0.41, 0.0), counts(1.8301, 1.8302, 0.0)
    (False, True, False)
    """
    if one is None or two is None:
        return False
    return abs(one - two) > margin and number(one) != number(two)


@dataclass(frozen=True, slots=True)
class Standing:
    """What one model is best at, or worst at."""

    sure: bool
    """Whether the differences hold, and the place is not shared with another."""
    rows: tuple[tuple[AnswerRow, ModelPair], ...]
    """Each with the difference that shows it."""


def _leads(row: AnswerRow, model: str) -> bool:
    return row.state == "open" and row.leader == model and 2 * row.ahead > row.prompts


def _trails(row: AnswerRow, model: str) -> bool:
    return row.state in ("holds", "open") and (
        any(pair.holds and pair.worse == model for pair in row.pairs)
        or (row.last == model and 2 * row.behind > row.prompts)
    )


def _standing(
    rows: Sequence[AnswerRow], model: str, sure: Sequence[AnswerRow], *, worst: bool = False
) -> Standing:
    found = []
    for row in rows:
        own = [pair for pair in row.pairs if model == (pair.worse if worst else pair.better)]
        if own:
            found.append((row, own[0]))
    found.sort(key=lambda one: (*pair_surety(one[1]), -one[1].difference / (one[0].spread or 1.0)))
    alone = [one for one in found if model == (one[0].last if worst else one[0].leader)]
    if sure and alone:
        return Standing(True, tuple(alone))
    return Standing(False, tuple(found))


# In words.


def label(name: str, info: OutputInfo, title: str) -> str:
    """A value in words: its own label, or its name without dots; and what stood in for a model.

    >>> label("steadiness.longest_hold:x=1", OutputInfo(""), "steadiness.longest_hold:x=1")
    'longest hold'
    >>> label("clipscore", OutputInfo("", label="fit"), "clipscore[label_text]")
    'fit (label text)'
    """
    metric, output = split_value_name(name)
    words = info.label or (output or metric.partition(":")[0]).replace("_", " ")
    inner = title.partition("[")[2].rstrip("]") if title.endswith("]") else ""
    return f"{words} ({inner.replace('_', ' ').replace('+', ', ')})" if inner else words


def _notes(found: Answer) -> Iterator[str]:
    if found.tied:
        yield f"Tied, as far as can be told: {', '.join(row.title for row in found.tied)}."
    shown = {row.name for row in found.shown}
    hidden = [row for row in found.rows if row.name not in shown and row.state == "describes"]
    if hidden:
        yield f"Only described (--json): {_listed([row.title for row in hidden], most=4)}."
    if any(row.needed for row in found.shown):
        yield "by ~N: about N prompts would show the difference, four times in five."
    if any(row.pooled for row in found.rows):
        by, other = ("worst tenth", "mean") if found.pool == "worst" else ("mean", "worst")
        yield f"A video counts by its {by} (or --pool {other}), a prompt by the mean of its videos."
    if any(row.state == "holds" for row in found.rows):
        yield f"* surely better than another (p < {LEVEL:g} after Holm, all comparisons together)."
    told = [row for row in found.rows if row.state in ("holds", "open")]
    if any(row.margin is not None for row in told):
        yield (
            "A difference counts where it is surely more than saving the same frames in another"
            " way makes (docs/compare.md)."
        )
    bare = [row.title for row in told if row.margin is None]
    if bare:
        what = _listed(bare, most=4)
        yield f"No margin is known for {what}: re-encoding alone may make this difference."
    if any(row.info.descriptive for row in found.rows):
        yield "Without an arrow: neither direction is better."


def pair_surety(pair: ModelPair) -> tuple[float, float, float]:
    """How differences are sorted: by the test, then by how many prompts agree."""
    return (pair.adjusted_p, pair.p_value, -(pair.ahead - pair.behind) / max(1, pair.prompts))


def surety(row: AnswerRow) -> tuple[float, ...]:
    """How rows are sorted: by the test, then by how many prompts it would take, then by size."""
    if not row.pairs:
        return (2.0, 2.0, 0.0, 0.0, 0.0)
    first = row.pairs[0]
    size = -first.difference / (row.spread or 1.0)
    return (*pair_surety(first), float(row.needed or math.inf), size)


def headline(found: Answer) -> str:
    """One sentence: who wins, or why nobody does; and of three or more, who is behind all."""
    count = found.on(found.tested)
    if not found.prompts:
        return (
            f"Nothing can be compared: the {found.by}s share no prompt. Score videos of the same"
            " prompts, or name what belongs together by the group `case` in a manifest."
        )
    if found.winner:
        own = [row for row in found.rows if row.of(found.winner).best]
        others = _listed([name for name in found.models if name != found.winner])
        what = _listed([row.label for row in own], most=3)
        return (
            f"{found.winner} wins on {found.on(own)}: better than {others} in {what},"
            f" and in nothing surely worse.{_loser(found)}"
        )
    held = [row for row in found.rows if row.state == "holds"]
    if held:
        sides: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
        for row in held:
            best = tuple(one.model for one in row.values if one.best)
            worst = tuple(one.model for one in row.values if one.worst)
            sides.setdefault((best, worst), []).append(row.label)
        parts = [
            f"{_listed(best)} {'is' if len(best) == 1 else 'are'} better than"
            f" {_listed(worst)} in {_listed(what, most=3)}"
            for (best, worst), what in sides.items()
        ]
        return f"No single winner on {found.on(held)}: {'; '.join(parts)}.{_loser(found)}"
    if not found.comparisons:
        skipped = [row for row in found.rows if row.state == "uncompared"]
        if found.tested:
            return f"No winner: on {count} all values are the same."
        if skipped:
            what = _listed([row.label for row in skipped if row.why == skipped[0].why], most=3)
            return f"No winner: nothing is compared in {what}, since {skipped[0].why}."
        return "Nothing here says which is better: every number only describes."
    if not any(row.differ(pair) for row in found.rows for pair in row.pairs):
        return (
            f"No winner: on {count} they differ no more than the same frames do, saved in two ways."
        )
    if found.too_few:
        verb = "alone cannot" if count == "1 prompt" else "cannot"
        if found.needed is None:
            return f"No winner yet: {count} {verb} settle it, at least {found.fewest} might."
        return f"No winner yet: {count} {verb} settle it, {_would(found)}."
    if found.needed is None:
        return f"No winner: on {count} they differ no more than chance would make them."
    return f"No winner yet: {count} do not settle it, {_would(found)}."


def _loser(found: Answer) -> str:
    if not found.loser:
        return ""
    own = [row.label for row in found.rows if row.of(found.loser).worst]
    return (
        f" {found.loser} is behind all others ({_listed(own, most=3)}), and in nothing surely"
        " better."
    )


def _would(found: Answer) -> str:
    every = [(pair.needed, row, pair) for row in found.rows for pair in row.pairs if pair.needed]
    needed, row, pair = min(every, key=lambda one: one[0] or 0)
    return (
        f"about {_about(needed or 0)} would show that {pair.worse} is behind {pair.better} in"
        f" {row.label}"
    )


def seen(found: Answer) -> str:
    """What leads, and of three or more what is last, without being settled; the surest first."""
    rows = sorted((row for row in found.rows if row.state == "open"), key=surety)
    leads: dict[str, list[str]] = {}
    for row in [row for row in rows if _leads(row, row.leader)][:_MOST_NAMED]:
        words = _on(row, row.ahead, first=not leads)
        leads.setdefault(row.leader, []).append(words)
    parts = [f"{model} in {_listed(own)}" for model, own in leads.items()]
    words = f"So far {'; '.join(parts).replace(' in ', ' leads in ', 1)}." if parts else ""
    last: dict[str, list[str]] = {}
    trailing = [row for row in rows if row.last and 2 * row.behind > row.prompts]
    for row in trailing[:_MOST_NAMED] if len(found.models) > 2 else ():
        text = _on(row, row.behind, first=not (leads or last))
        last.setdefault(row.last, []).append(text)
    behind = [f"{model} in {_listed(own)}" for model, own in last.items()]
    if behind:
        text = "; ".join(behind).replace(" in ", " is last in ", 1)
        words = f"{words} {text}." if words else f"So far {text}."
    if found.too_few and found.comparisons:
        many = _many(found.comparisons, "comparison")
        least = f"With {many} at least {found.fewest} prompts are needed, even if all agree."
        words = f"{words} {least}".strip()
    return words


def _on(row: AnswerRow, count: int, *, first: bool) -> str:
    counted = f"{count} of {row.prompts}"
    return f"{row.label} ({f'on {counted} prompts' if first else counted})"


def _about(count: int) -> str:
    """A forecast has no more than two digits that count."""
    if count <= 20:
        return f"{count}"
    step = 5 if count < 100 else 10 ** (len(str(count)) - 2)
    return f"{math.ceil(count / step) * step:,}"


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _listed(names: Sequence[str], most: int = 6) -> str:
    """Names as a sentence has them; the rest is counted."""
    listed = list(names[:most])
    if len(names) > most:
        listed.append(f"{len(names) - most:,} more")
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
