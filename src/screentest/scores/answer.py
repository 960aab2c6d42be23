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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from screentest.core.metric import OutputInfo
from screentest.core.signature import split_value_name
from screentest.core.table import ARROWS, Better, Cell, Column, Table
from screentest.scores.margins import Margin
from screentest.scores.results import Pool, Results
from screentest.stats.intervals import Interval
from screentest.stats.signflip import LEVEL, sign_flip_interval

T = TypeVar("T")
State: TypeAlias = Literal["holds", "open", "tied", "describes", "uncompared"]
GROUPS = {
    "picture": "Picture",
    "time": "Time",
    "prompt": "Prompt",
    "other": "Other",
    "people": "People",
}
"""The groups of metrics in their order, with their titles."""
SENSIBLE = 200
"""Prompts up to which a forecast is worth saying: what takes more is about as small as what saving
the file anew makes."""
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
    """Whether it is surely better than some other model, and none is surely better than it; leads
    that are owed to a fault do not count."""
    worst: bool = False
    """Whether some other model is surely better than it, and it is surely better than none."""
    owed: bool = False
    """Whether it is surely ahead of another, and owes that to a fault of its own."""


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
    """Prompts on which the better one is better, by however little."""
    behind: int
    clear: int = 0
    """Prompts on which it is better by more than the margin."""
    needed: int | None = None
    """About how many prompts would show it four times in five; None where that cannot be said."""
    reach: int | None = None
    """The same if the difference is what it seems, where prompts are too few to say what of it
    is chance."""
    margin: float = 0.0
    """The mean difference must be larger than this to count; 0 where none is known."""
    owed_to: str = ""
    """Where the better one has a fault that makes this number look better: who has it, such as
    ``blurred pictures``. Such a lead makes no winner."""

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
    """What of a video the number is about, in words: ``worst tenth``; empty for the whole."""
    values: tuple[ModelValue, ...]
    """By model, in the order of the answer's models."""
    pairs: tuple[ModelPair, ...]
    """Every two models, the surest difference first; none where the value only describes."""
    leader: str
    """The model with the best mean; empty where it only describes, and where best is shared:
    where another is within the margin, or is printed the same."""
    ahead: int
    """Prompts on which the leader alone is best, by however little."""
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
    """Prompts on which the last alone is worst, by however little."""
    clear: int = 0
    """Prompts on which the leader alone is best by more than the margin."""
    clear_last: int = 0
    """Prompts on which the last alone is worst by more than the margin."""
    margin: Margin | None = None
    """The smallest difference that counts; None where it is not known."""
    why: str = ""
    """Why nothing is claimed, where the state is ``uncompared``."""

    @property
    def better(self) -> Better:
        """Which direction is better; empty where the value only describes."""
        return self.info.better

    @property
    def merit(self) -> str:
        """What one that is ahead is better in, for a sentence."""
        return self.info.merit or self.label

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
    looks: str
    """That models plainly look different in what is neither better nor worse; else empty."""
    remarks: tuple[str, ...]
    """What else must be known to read the table, a sentence each: prompts that are left out."""
    by: str
    """The group of items that is compared."""
    models: tuple[str, ...]
    winner: str
    """The model that is surely better than every other in something, and surely worse in nothing
    but what others owe to a fault of theirs; empty where there is none."""
    loser: str
    """Of three or more, the model that is surely worse than every other in something, and surely
    better in nothing; empty where there is none."""
    prompts: int
    """Prompts that all models have."""
    left_out: int
    """Prompts that only some have."""
    videos: int
    pool: Pool
    counted: str
    """What of a video its number is about, in words; empty where it makes no difference."""
    comparisons: int
    """Metrics times pairs of models: what the p-values are corrected for."""
    fewest: int
    """The fewest prompts that could settle anything among so many comparisons, if all agree."""
    needed: int | None
    """About how many prompts would settle something, where nothing is; None where nothing is to
    be expected of more prompts, or where something is settled."""
    unit: str
    """What is counted: ``prompt``; ``video`` where files of one name are compared."""
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
        return f"{least}{many(counts[-1], self.unit)}"

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
        return _standing(sure or [row for row in self.rows if leads(row, model)], model, sure)

    def worst_at(self, model: str) -> Standing:
        """What a model is worst at, else what it is behind in, in the same order."""
        sure = [row for row in self.rows if row.of(model).worst]
        return _standing(
            sure or [row for row in self.rows if _is_behind(row, model)], model, sure, worst=True
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands below the table: what was folded, and how to read the numbers."""
        return tuple(_notes(self))

    def __str__(self) -> str:
        missing = [f"Not measured: {one[0].lower()}{one[1:]}" for one in self.unmeasured]
        said = [self.headline, self.seen, self.looks, *missing, *self.remarks]
        return "\n".join(filter(None, said))

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
            lead = f"{heads[row.leader]} {row.ahead:,}/{row.prompts:,}" if row.leader else ""
            if row.last and not row.leader:
                lead = f"{heads[row.last]} last {row.behind:,}/{row.prompts:,}"
            rows.append(
                (
                    *(row.group, "" if title == last else title),
                    f"{row.label} {ARROWS[row.better]}".rstrip(),
                    *(_marked(one) for one in row.values),
                    *(row.leader or None, row.ahead, row.last or None, row.behind, row.prompts),
                    *(row.margin.value if row.margin else None, lead),
                    min((pair.adjusted_p for pair in row.pairs), default=None),
                    *(row.state, row.needed, _settled(row)),
                )
            )
            last = title
        note = ", ".join(f"{head}: {name}" for name, head in heads.items() if letters)
        return Table("answer", f"By {self.by}", columns, rows, note)


def _marked(one: ModelValue) -> Cell:
    return None if one.mean is None else [one.mean, "*" if one.best else "°" if one.owed else " "]


def _cell(cell: Any) -> str:
    return f"{number(cell[0])}{cell[1]}"


def _letter(place: int) -> str:
    return chr(ord("A") + place % 26) * (place // 26 + 1)


def _settled(row: AnswerRow) -> str:
    if row.state == "holds":
        return "yes"
    if row.state == "describes":
        return ""
    return f"{about(row.needed)}+" if row.needed and row.needed <= SENSIBLE else "no"


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


def leads(row: AnswerRow, model: str) -> bool:
    """Whether it is ahead of all so far, and not by a fault of its own."""
    earned = any(pair.better == model and not pair.owed_to for pair in row.pairs)
    first = row.leader == model and 2 * row.clear > row.prompts
    return row.state == "open" and first and earned


def trails(row: AnswerRow, model: str) -> bool:
    """Whether it is behind all so far, and some other is ahead of it by no fault of its own."""
    earned = any(pair.worse == model and not pair.owed_to for pair in row.pairs)
    return row.state == "open" and row.last == model and 2 * row.clear_last > row.prompts and earned


def _is_behind(row: AnswerRow, model: str) -> bool:
    return trails(row, model) or (
        any(pair.holds and pair.worse == model and not pair.owed_to for pair in row.pairs)
    )


def _standing(
    rows: Sequence[AnswerRow], model: str, sure: Sequence[AnswerRow], *, worst: bool = False
) -> Standing:
    found = []
    for row in rows:
        own = [
            pair
            for pair in row.pairs
            if model == (pair.worse if worst else pair.better) and not pair.owed_to
        ]
        if own:
            found.append((row, own[0]))
    found.sort(key=lambda one: (*pair_surety(one[1]), -one[1].difference / (one[0].spread or 1.0)))
    found = spread_out(found, lambda one: one[0].metric)
    alone = [one for one in found if model == (one[0].last if worst else one[0].leader)]
    if sure and alone:
        return Standing(True, tuple(alone))
    return Standing(False, tuple(found))


def spread_out(given: Sequence[T], metric: Callable[[T], str]) -> list[T]:
    """In the same order, but the first of each metric before the second of any: three numbers of
    one freeze do not hide what else there is.

    >>> spread_out(["a1", "a2", "b1", "a3"], lambda one: one[0])
    ['a1', 'b1', 'a2', 'a3']
    """
    had: Counter[str] = Counter()
    turns = []
    for one in given:
        turns.append(had[metric(one)])
        had[metric(one)] += 1
    return [one for _, one in sorted(zip(turns, given, strict=True), key=lambda pair: pair[0])]


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


def labels(results: Results) -> dict[str, str]:
    """Every value in words; by its name where two would be called alike."""
    titles = {name: results.short_names.get(name, name) for name in results.names}
    words = {name: label(name, results.outputs[name], titles[name]) for name in titles}
    count = Counter(words.values())
    return {name: one if count[one] == 1 else titles[name] for name, one in words.items()}


def _notes(found: Answer) -> Iterator[str]:
    tied = [row.label for row in found.tied if row.pairs and found.prompts]
    if tied:
        yield f"Tied, as far as can be told: {', '.join(tied)}."
    shown = {row.name for row in found.shown}
    hidden = [row for row in found.rows if row.name not in shown and row.state == "describes"]
    if hidden:
        yield f"Only described (--json): {listed([row.label for row in hidden], most=4)}."
    if any(row.needed and row.needed <= SENSIBLE for row in found.shown):
        yield "N+: N prompts or more would show the difference, as far as these can foretell."
    if found.counted:
        yield found.counted
    if any(len(one.prompts) < one.scored for row in found.rows for one in row.values):
        yield "A prompt counts by the mean of its videos."
    if any(one.best for row in found.rows for one in row.values):
        yield f"* surely better than another (p < {LEVEL:g} after Holm, all comparisons together)."
    if any(one.owed for row in found.rows for one in row.values):
        yield "° surely ahead, and owed to a fault of its own: it makes no winner."
    told = [row for row in found.rows if row.state in ("holds", "open")]
    if any(row.margin is not None for row in told):
        yield (
            "A difference counts where it is surely more than saving the same frames in another"
            " way makes (docs/compare.md)."
        )
    bare = [row.label for row in told if row.margin is None]
    if bare:
        what = listed(bare, most=4)
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


def about(count: int) -> str:
    """A forecast has no more than two digits that count."""
    if count <= 20:
        return f"{count}"
    step = 5 if count < 100 else 10 ** (len(str(count)) - 2)
    return f"{math.ceil(count / step) * step:,}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names as a sentence has them; the rest is counted."""
    found = list(names[:most])
    if len(names) > most:
        found.append(f"{len(names) - most:,} more")
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"


def many(count: int, thing: str) -> str:
    """A count with its noun."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
