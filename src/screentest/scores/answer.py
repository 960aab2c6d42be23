"""The answer to "which model is best, in what, and may I believe it?", from the values of a run.

One object, which the terminal, ``--json``, Python and the report all show: a sentence, what was
not measured, and a row for each metric with the models side by side.

The unit is the prompt: several videos of one prompt by one model are one mean. Two models are
compared on the prompts that both have, by the sign-flip test; p-values are corrected by Holm over
all metrics and all pairs of models, so that of equal models one is called better in at most one
run of twenty. What only describes (motion, colourfulness) is shown, and never tested.
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
from screentest.scores.results import Pool
from screentest.stats.intervals import Interval
from screentest.stats.signflip import LEVEL, sign_flip_interval

State: TypeAlias = Literal["holds", "open", "tied", "describes"]
GROUPS = {
    "picture": "Picture",
    "time": "Time",
    "prompt": "Prompt",
    "other": "Other",
    "people": "People",
}
"""The groups of metrics in their order, with their titles."""
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
    """The value of each prompt: the mean of its videos."""
    scored: int
    """Videos that have a value."""
    total: int
    best: bool = False
    """Whether it is surely better than some other model, and none is surely better than it."""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two models in one metric, on the prompts that both have; the better one first."""

    better: str
    worse: str
    difference: float
    """How much better, in the metric's own units: never negative."""
    gaps: tuple[float, ...]
    """The difference on each prompt, the smallest first."""
    level: float
    """The level of the test that Holm's correction leaves it."""
    p_value: float
    adjusted_p: float
    """Holm's, over all metrics and pairs of models."""
    ahead: int
    """Prompts on which the better one is better."""
    behind: int
    needed: int | None = None
    """About how many prompts would show it four times in five; None where that cannot be said."""

    @property
    def prompts(self) -> int:
        """Prompts that both have."""
        return len(self.gaps)

    @property
    def interval(self) -> Interval | None:
        """The differences that the test does not reject: they hold 0 exactly where the difference
        does not hold. None where so few prompts reject nothing, or where all are alike."""
        return sign_flip_interval(np.array(self.gaps), level=self.level)

    @property
    def holds(self) -> bool:
        """Whether it may be said that the better one is better."""
        return self.adjusted_p <= LEVEL and self.difference > 0


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
    """The model with the best mean; empty where it only describes, or where best is shared."""
    ahead: int
    """Prompts on which the leader alone is best."""
    prompts: int
    """Prompts that all models have."""
    state: State
    needed: int | None = None
    """About how many prompts would show its surest difference, where none holds yet."""

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

    @property
    def ahead_words(self) -> str:
        """Who leads, and on how many prompts: ``ours 7 of 12``."""
        return f"{self.leader} {self.ahead:,} of {self.prompts:,}" if self.leader else ""


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
            if row.state != "tied":
                rows.append(row)
        return tuple(rows)

    @property
    def tied(self) -> tuple[AnswerRow, ...]:
        """The rows in which no difference holds, or is within reach."""
        return tuple(row for row in self.rows if row.state == "tied")

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
            Column("prompts", detail=True),
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
            rows.append(
                (
                    *(row.group, "" if title == last else title),
                    f"{row.title} {ARROWS[row.better]}".rstrip(),
                    *(_marked(one, one.model in best) for one in row.values),
                    *(row.leader or None, row.ahead, row.prompts, lead),
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


# In words.


def _notes(found: Answer) -> Iterator[str]:
    if found.tied:
        yield f"Tied: {', '.join(row.title for row in found.tied)}."
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
    if any(row.info.descriptive for row in found.rows):
        yield "Without an arrow: neither direction is better."


def surety(row: AnswerRow) -> tuple[float, float, float]:
    """How rows are sorted: by the test, then by how many prompts it would take."""
    if not row.pairs:
        return (2.0, 2.0, 0.0)
    first = row.pairs[0]
    return (first.adjusted_p, first.p_value, float(row.needed or math.inf))


def headline(found: Answer) -> str:
    """One sentence: who wins, or why nobody does."""
    count = _many(found.prompts, "prompt")
    if not found.prompts:
        return f"Nothing can be compared: the {found.by}s share no prompt."
    if found.winner:
        own = [row for row in found.rows if row.of(found.winner).best]
        others = _listed([name for name in found.models if name != found.winner])
        what = _listed([row.title for row in own], most=3)
        return (
            f"{found.winner} wins on {count}: better than {others} in {what},"
            " and in nothing surely worse."
        )
    held = [row for row in found.rows if row.state == "holds"]
    if held:
        best: dict[tuple[str, ...], list[str]] = {}
        for row in held:
            who = tuple(one.model for one in row.values if one.best)
            best.setdefault(who, []).append(row.title)
        parts = [
            f"{_listed(who)} {'is' if len(who) == 1 else 'are'} better in {_listed(what, most=3)}"
            for who, what in best.items()
        ]
        return f"No single winner on {count}: {'; '.join(parts)}."
    if not found.comparisons:
        tested = any(row.state != "describes" for row in found.rows)
        if tested:
            return f"No winner: on {count} all values are the same."
        return "Nothing here says which is better: every number only describes."
    if found.prompts < found.fewest:
        verb = "cannot" if found.prompts > 1 else "alone cannot"
        if found.needed is None:
            return f"No winner yet: {count} {verb} settle it, at least {found.fewest} might."
        return f"No winner yet: {count} {verb} settle it, {_would(found)}."
    if found.needed is None:
        return f"No winner: on {count} they differ no more than chance would make them."
    return f"No winner yet: {count} do not settle it, {_would(found)}."


def _would(found: Answer) -> str:
    first = min((row for row in found.rows if row.needed), key=lambda row: row.needed or 0)
    return f"about {_about(first.needed or 0)} would settle the first difference ({first.title})"


def seen(found: Answer) -> str:
    """What leads without being settled, the surest first; the number of prompts that it takes."""
    rows = [row for row in found.rows if row.state == "open" and 2 * row.ahead > row.prompts]
    leads: dict[str, list[str]] = {}
    for row in sorted(rows, key=surety)[:4]:
        count = f"{row.ahead} of {row.prompts}"
        count = count if leads else f"on {count} prompts"
        leads.setdefault(row.leader, []).append(f"{row.title} ({count})")
    parts = [f"{model} in {_listed(own)}" for model, own in leads.items()]
    words = f"So far {'; '.join(parts).replace(' in ', ' leads in ', 1)}." if parts else ""
    if found.prompts < found.fewest and found.comparisons:
        many = _many(found.comparisons, "comparison")
        least = f"With {many} at least {found.fewest} prompts are needed, even if all agree."
        words = f"{words} {least}".strip()
    return words


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
