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

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from screentest.analysis.models.rows import (
    FIRST,
    LAST,
    AnswerRow,
    ModelPair,
    ModelValue,
    leads,
    pair_surety,
    trails,
)
from screentest.analysis.models.text import about, listed, many, number, spread_out
from screentest.analysis.results import Pool
from screentest.core.table import ARROWS, Cell, Column, Table
from screentest.stats.signflip import LEVEL

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
FOLDED = 4
"""Rows that only describe, in a line below the table."""
MOST_DESCRIBED = 3
"""Rows of a group that only describe, in a table for people."""


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
    """Who is best in what was measured: surely better than every other model in something, and
    surely worse in nothing but what others owe to a fault of theirs; empty where there is none."""
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
    """About how many prompts would settle what some row says, where nothing is settled: the fewest
    of all rows, as the headline and the table have it. None where nothing is to be expected of more
    prompts, or where something is settled."""
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

    @property
    def in_table(self) -> tuple[AnswerRow, ...]:
        """The rows that are shown, without those that only describe where all else is tied: beside
        empty columns they would look like something lost."""
        return self.shown if self._differ or not self.tested else ()

    @property
    def _differ(self) -> bool:
        return any(row.state in ("holds", "open") for row in self.rows)

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
        """What a model is best at, surely ahead of all others; else what it is surely ahead of some
        in, else ahead so far: the surest first, then the largest."""
        sure = [row for row in self.rows if row.of(model).best]
        return _standing(sure or [row for row in self.rows if leads(row, model)], model, sure)

    def worst_at(self, model: str) -> Standing:
        """What a model is worst at, surely behind all others; else what it is behind in."""
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
            into |= {"says": row.says, "settled": row.settled}
            for pair, part in zip(row.pairs, into["pairs"], strict=True):
                interval = pair.interval
                part["interval"] = asdict(interval) if interval else None
                part |= {"prompts": pair.prompts, "holds": pair.holds}
        return document

    def table(self, *, width: int = 30) -> Table:
        """The rows that are shown. Models whose names need more than ``width`` get letters."""
        names = [len(name) for name in self.models]
        pairs = any(row.state == "holds" and not row.settled for row in self.in_table)
        letters = sum(names) + len(names) + max(names) * (3 if pairs else 1) > width
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
        for row in self.in_table:
            title = GROUPS.get(row.group, row.group)
            lead = ""
            if row.says == FIRST:
                lead = f"{heads[row.leader]} {row.ahead:,}/{row.prompts:,}"
            elif row.says == LAST:
                lead = f"{heads[row.last]} last {row.behind:,}/{row.prompts:,}"
            elif row.needed:
                lead = f"{heads[row.named[0].better]} > {heads[row.named[0].worse]}"
            rows.append(
                (
                    *(row.group, "" if title == last else title),
                    f"{row.label} {ARROWS[row.better]}".rstrip(),
                    *(_marked(one) for one in row.values),
                    *(row.leader or None, row.ahead, row.last or None, row.behind, row.prompts),
                    *(row.margin.value if row.margin else None, lead),
                    min((pair.adjusted_p for pair in row.pairs), default=None),
                    *(row.state, row.needed, _settled(row, heads)),
                )
            )
            last = title
        if not self._differ:
            empty = {"lead", "sure"}
            kept = [place for place, one in enumerate(columns) if one.name not in empty]
            columns = [columns[place] for place in kept]
            rows = [tuple(cells[place] for place in kept) for cells in rows]
        note = ", ".join(f"{head}: {name}" for name, head in heads.items() if letters)
        return Table("answer", f"By {self.by}", columns, rows, note)


@dataclass(frozen=True, slots=True)
class Standing:
    """What one model is best at, or worst at."""

    sure: bool
    """Whether it is surely ahead of all others in each, or behind all: ``row.over(model)`` and
    ``row.under(model)`` say whom it is surely ahead of, or behind."""
    rows: tuple[tuple[AnswerRow, ModelPair], ...]
    """Each with the difference that shows it."""


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
    alone = [
        (row, pair)
        for row, pair in found
        if len(row.under(model) if worst else row.over(model)) == row.rivals
    ]
    if sure and alone:
        return Standing(True, tuple(alone))
    return Standing(False, tuple(found))


def _marked(one: ModelValue) -> Cell:
    return None if one.mean is None else [one.mean, "*" if one.best else "°" if one.owed else " "]


def _cell(cell: Any) -> str:
    return f"{number(cell[0])}{cell[1]}"


def _letter(place: int) -> str:
    return chr(ord("A") + place % 26) * (place // 26 + 1)


def _settled(row: AnswerRow, heads: Mapping[str, str]) -> str:
    """Whether what the row says is shown; where it is not, which differences are."""
    if row.state == "holds":
        return "yes" if row.settled else _held(row, heads)
    if row.state == "describes":
        return ""
    return f"~{about(row.needed)}" if row.needed and row.needed <= SENSIBLE else "no"


def _held(row: AnswerRow, heads: Mapping[str, str]) -> str:
    """The differences that are shown: ``A > C``."""
    over: dict[str, list[str]] = {}
    for pair in row.pairs:
        if pair.holds:
            over.setdefault(pair.better, []).append(heads[pair.worse])
    sides: dict[str, list[str]] = {}
    for better, worse in over.items():
        sides.setdefault(", ".join(sorted(worse)), []).append(heads[better])
    return "; ".join(f"{', '.join(better)} > {worse}" for worse, better in sides.items())


def _means(row: AnswerRow) -> str:
    """A row in a sentence: ``contrast a 0.42, b 0.43``."""
    known = [f"{one.model} {number(one.mean)}" for one in row.values if one.mean is not None]
    return f"{row.label} {', '.join(known)}"


def _notes(found: Answer) -> Iterator[str]:
    tied = [row.label for row in found.tied if row.pairs and found.prompts]
    if tied:
        yield f"Tied, as far as can be told: {', '.join(tied)}."
    inside = {row.name for row in found.in_table}
    hidden = [row for row in found.rows if row.name not in inside and row.state == "describes"]
    if hidden and not inside:
        few = [row for row in found.shown if row.state == "describes"][:FOLDED]
        more = f" and {len(hidden) - len(few)} more" if len(hidden) > len(few) else ""
        yield f"Only described (--json): {'; '.join(map(_means, few))}{more}."
    elif hidden:
        yield f"Only described (--json): {listed([row.label for row in hidden], most=4)}."
    if any(row.needed and row.needed <= SENSIBLE for row in found.shown):
        yield "~N: about N prompts might show the difference, as far as these can foretell."
    if found.counted:
        yield found.counted
    if any(len(one.prompts) < one.scored for row in found.rows for one in row.values):
        yield "A prompt counts by the mean of its videos."
    if any(one.best for row in found.rows for one in row.values):
        yield f"* surely better than another (p < {LEVEL:g} after Holm, all comparisons together)."
    if any(one.owed for row in found.rows for one in row.values):
        yield "° surely ahead, and makes no winner: it goes with a fault, its own or the other's."
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
    if any(row.info.descriptive for row in found.in_table):
        yield "Without an arrow: neither direction is better."
