"""What videos got."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest._util.text import one_line, plural
from screentest.analysis.evidence import evidence_of
from screentest.analysis.models.comparison import ModelComparison, compare_models
from screentest.analysis.models.coverage import (
    BorderedVideos,
    NotCovered,
    UnreadVideo,
    bordered_videos,
    not_covered,
    unread_videos,
)
from screentest.analysis.models.samples import rates_differ
from screentest.analysis.results import Pool, Results, Total, Value
from screentest.core.errors import UnknownName
from screentest.core.item import Item, Time, timecode
from screentest.core.outcome import Failure, Point
from screentest.core.table import ARROWS, Cell, Column, Table
from screentest.present.notebook import Shown, Tabular, data_frame
from screentest.present.screens import Screen, comparison_screen, scores_screen
from screentest.present.tables import missing_table, result_tables, sees_brief, values_table
from screentest.present.text import labels, number, words

if TYPE_CHECKING:  # a job loads what it needs, not what the results of others are made of
    from screentest.analysis.models.moments import Low


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Tabular):
    """What videos got. ``print`` shows the first screen, and the models or the means.

    ``scores[0]`` or ``scores["id"]`` is what one video got.
    """

    run: Path | None
    """Its folder; None for frames in memory."""
    results: Results
    pending: int = 0
    """Records still to be made."""
    changed: int = 0
    """Records that were not kept, since a file changed while it was read."""
    missing: Sequence[str] = ()
    """Prompts of the suite without a video: they are listed, and never zeros."""
    problems: Sequence[str] = ()
    """What could not be read of the suite's files, or is surplus in a folder."""
    models: str = ""
    """One line that says which backends were used."""
    layout: str = ""
    """As what folders were read, where they are not plain, or frames in memory."""
    spent: str = ""
    """What chat models took, of all starts of the run; empty where none was asked."""
    alarms: Sequence[Any] = ()
    """Of frames with a step in a run: the alarms (``screentest.Alarm``) of its steps so far."""

    def __len__(self) -> int:
        return len(self.results.items)

    def __iter__(self) -> Iterator[ItemScores]:
        return (self[name] for name in self.results.items)

    def __getitem__(self, item: str | int) -> ItemScores:
        names = list(self.results.items)
        if isinstance(item, int):
            if not -len(names) <= item < len(names):  # an IndexError, for loops over places
                raise IndexError(f"there is no item {item}: there are {len(names):,}")
            item = names[item]
        if item not in self.results.items:
            raise UnknownName(
                f"there is no item {item!r}", advice=f"Items: {', '.join(names[:5])}."
            )
        return ItemScores(self.results, self.results.items[item])

    def _screen(self) -> Screen:
        return self.screen()

    def _headline(self) -> str:
        values = self.results.values
        scored = sum(value.outcome.ok for value in values)
        where = f" in {self.run}" if self.run is not None else ""
        read = f"\n  {self.layout}" if self.layout else ""
        videos = plural(len(self), "video")
        return f"Scores of {videos}{where}: {scored:,} of {len(values):,} values{read}"

    def _shown(self) -> list[Table]:
        table = self.screen().table
        return [] if table is None else [table]

    @property
    def means(self) -> dict[str, float]:
        """The mean of each value that any video has; for a tracker."""
        return {
            total.name: total.summary.value for total in self.totals if total.summary is not None
        }

    def wide(self, library: str = "") -> Any:
        """Return a frame with a row for each video and a column for each value: pandas, or
        polars."""
        return data_frame(self.wide_records(), library)

    def wide_records(self) -> list[dict[str, Cell]]:
        """Return a row for each video: id, prompt, groups, and its values; None where one is
        missing."""
        groups = dict.fromkeys(
            name for entry in self.results.items.values() for name in entry.groups
        )
        rows: list[dict[str, Cell]] = []
        for name, item in self.results.items.items():
            about = {f"group.{entry}": item.groups.get(entry) for entry in groups}
            values: dict[str, Cell] = dict.fromkeys(self.results.names)
            values |= self[name].numbers
            rows.append({"item": name, "prompt": item.text, **about, **values})
        return rows

    @property
    def totals(self) -> list[Total]:
        """The mean of each value, with interval, coverage and why values are missing."""
        return self.results.totals()

    @property
    def table(self) -> Table:
        """A row for each value of each video; one that is missing has a reason."""
        return self.values(full=True)

    def values(self, *, full: bool = False) -> Table:
        """Return a row for each value of each video, with short signatures or ``full`` ones."""
        return values_table(self.results, full=full)

    def tables(self, by: str = "", *, full: bool = False, pool: Pool = "worst") -> list[Table]:
        """Return the standings of each suite, and the mean of every value; by a group of the items.

        ``full`` writes whole signatures instead of their short form; ``pool`` takes each video by
        its worst tenth, or by its mean.
        """
        return result_tables(self.results, by, full=full, pool=pool)

    def comparison(self, by: str = "", *, pool: Pool = "worst") -> ModelComparison | None:
        """Compare the models; None where there is one only.

        ``by`` is ``GROUP`` or ``GROUP=A,B…``; ``pool`` takes each video by its worst tenth, or by
        its mean.
        """
        return compare_models(self.results, by, pool=pool)

    def screen(self, by: str = "", *, pool: Pool = "worst") -> Screen:
        """Return the first screen: the models side by side, or of one alone its worst videos."""
        compared = self.comparison(by, pool=pool)
        if compared is not None:
            return comparison_screen(compared)
        return scores_screen(self.results, pool)

    @property
    def not_scored(self) -> Table:
        """Reasons for missing values with advice; the same words once."""
        return missing_table(self.results)

    @property
    def not_covered(self) -> NotCovered:
        """The parts of prompts, and the faults, that nothing here measures."""
        return not_covered(self.results)

    @property
    def unread(self) -> list[UnreadVideo]:
        """The videos that could not be read at all, with the reason and what to do."""
        return unread_videos(self.results)

    @property
    def borders(self) -> BorderedVideos | None:
        """The number of videos that have borders (letterbox, pillarbox); None where none has."""
        return bordered_videos(self.results)

    def value(self, item: str, name: str) -> Value:
        """One value of one video: its outcome is a score, or the reason why there is none."""
        value = self.results.of_item(item).get(name)
        if value is None:
            raise UnknownName(
                f"{self.run or 'the result'} has no {name!r} of {item!r}",
                advice=f"Values: {', '.join(self.results.names)}.",
            )
        return value


WORST = 3
"""Worst moments that are looked for where nobody says how many."""


@dataclass(frozen=True, slots=True, repr=False)
class ItemScores(Shown):
    """What one video got, over time."""

    results: Results
    item: Item
    most_moments: int = WORST
    """How many worst moments are wanted."""

    @property
    def moments(self) -> list[tuple[Time, str]]:
        """Return where curves fall furthest below what is good, each with what is low there.

        The worst first. What only describes has no worst moment.
        """
        from screentest.analysis.models.moments import lowest, scales_of

        if not self.most_moments:
            return []
        short = self.names
        moments = lowest(
            self.results, self.values, scales_of(self.results), self.most_moments, by_time=False
        )
        return [
            (moment.time, ", ".join(_low_words(short[low.name], low) for low in moment.lows))
            for moment in moments
        ]

    @property
    def worst(self) -> list[tuple[float, str]]:
        """The worst moments in seconds, each with what is low there; the worst first."""
        return [(float(moment), words) for moment, words in self.moments]

    @property
    def numbers(self) -> dict[str, float]:
        """Its values by name; what is missing is in ``reasons``."""
        return {value.name: value.number for value in self.values if value.number is not None}

    @property
    def reasons(self) -> dict[str, Failure]:
        """The reasons for missing values, by name."""
        return {value.name: value.outcome.failure for value in self.values if value.outcome.failure}

    def _headline(self) -> str:
        asked = f" ({one_line(self.item.text, 40)})" if self.item.text else ""
        return f"Scores of {self.item.id}{asked}: {len(self.numbers)} of {len(self.values)} values"

    def _shown(self) -> list[Table]:
        return [self.scored()]

    @property
    def values(self) -> list[Value]:
        """All its values, scored or not."""
        return list(self.results.of_item(self.item.id).values())

    @property
    def pending(self) -> list[str]:
        """The names of values that are still to come."""
        return [name for owner, name in self.results.pending if owner == self.item.id]

    def about(self) -> dict[str, Any]:
        """Facts besides its values."""
        return {
            "item": self.item.id,
            "video": str(self.item.video),
            "prompt": self.item.text,
            "groups": dict(self.item.groups),
            "pending": self.pending,
            "worst_moments": [str(moment) for moment, _ in self.moments],
        }

    def table(self) -> Table:
        """Return every value with its curve; one that is missing has a reason."""
        columns = ("name", "value", "higher_is_better", "signature", "curve", "details", "failed")
        rows: list[dict[str, Any]] = []
        for entry in self.values:
            score, failure = entry.outcome.value, entry.outcome.failure
            higher = self.results.outputs[entry.name].higher_is_better
            record = {"name": entry.name, "higher_is_better": higher, "failed": failure}
            record |= {"signature": entry.signature, "value": score and score.value}
            record["curve"] = [_exact_moment(point) for point in score.curve] if score else []
            record["details"] = score.details if score else {}
            rows.append(record)
        return Table.of("values", "Values", columns, rows)

    def place(self, name: str) -> tuple[int, int] | None:
        """Return its rank among the run's videos in one value, 1 the best, and their number.

        None where neither direction is better, where there is nothing to be better than, and where
        the run's videos are not compared in it.
        """
        mine, info = self.results.of_item(self.item.id).get(name), self.results.outputs[name]
        score = mine.outcome.value if mine else None
        numbers = list(self.results.numbers(name).values())
        if score is None or not info.better or len(set(numbers)) < 2 or self.rates_differ(name):
            return None
        sign = 1 if info.higher_is_better else -1
        return 1 + sum(sign * value > sign * score.value for value in numbers), len(numbers)

    def rates_differ(self, name: str) -> tuple[float, float] | None:
        """Return the frame rates, where they are why the run's videos have no order in a value."""
        return rates_differ(self.results, name) if self.results.outputs[name].better else None

    def is_last(self, name: str) -> bool:
        """Return True where it has a place, and no video of the run is worse; others may share
        it."""
        number, place = self.numbers.get(name), self.place(name)
        numbers = list(self.results.numbers(name).values())
        return place is not None and place[0] + numbers.count(number or 0.0) > place[1]

    def scored(self, width: int = 14, *, blocks: bool = True, described: bool = True) -> Table:
        """Return the values there are, each with its place among the videos of the run, and with
        its curve as a line of letters on its own scale: what it is last in comes first.

        Not ``described``: without those that only describe.
        """
        from screentest.analysis.models.moments import timed
        from screentest.present.text import BLOCKS, PLAIN, sparkline

        short, known = self.names, evidence_of(self.results)
        rows: list[tuple[Cell, ...]] = []
        notes: dict[str, None] = {}
        for value in sorted(self.values, key=self._standing):
            score = timed(value).outcome.value
            if score is None or not (described or self.results.outputs[value.name].better):
                continue
            better, place = self.results.outputs[value.name].better, self.place(value.name)
            line = worst = ""
            if len(score.curve) > 1:
                line = sparkline(score.curve, width, BLOCKS if blocks else PLAIN)
                sign = -1 if better == "lower" else 1
                low = min(score.curve, key=lambda point: sign * point.value)
                if better and len({point.value for point in score.curve}) > 1:
                    worst = f"{number(low.value)} at {timecode(low.span.start)[:-2]}"
            among = f"{place[0]:,}/{place[1]:,}" if place else ""
            if place and place[0] < place[1] and self.is_last(value.name):
                among = f"last of {place[1]:,}"
            if rates := self.rates_differ(value.name):
                among = "not compared"
                notes[f"{rates[0]:.4g} to {rates[1]:.4g}"] = None
            sees = sees_brief(known.get(value.name)) if better else ""
            rows.append((short[value.name], score.value, ARROWS[better], among, line, worst, sees))
        columns = (
            Column("value", "Value"),
            Column("score", "Score", show=number, align="right"),
            Column("better", " "),
            Column("place", "In run", align="right", detail=not any(row[3] for row in rows)),
            Column("curve", "Over time", detail=not any(row[4] for row in rows)),
            Column("worst", "Worst", detail=not any(row[5] for row in rows)),
            Column("sees", "Sees", detail=not any(row[6] for row in rows)),
        )
        why = words("not_compared")["frame_rates"].format(rates=", ".join(notes))
        return Table("scored", "Scored", columns, rows, f"Not compared: {why}" if notes else "")

    @property
    def described(self) -> list[str]:
        """The values that only describe, each with its number."""
        names = self.names
        return [
            f"{names[value.name]} {number(value.number)}"
            for value in self.values
            if value.number is not None and not self.results.outputs[value.name].better
        ]

    @property
    def names(self) -> Mapping[str, str]:
        """Labels of values."""
        return labels(self.results)

    def _standing(self, value: Value) -> tuple[bool, bool, float]:
        place = self.place(value.name)
        describes = self.results.outputs[value.name].descriptive
        last = self.is_last(value.name)
        return describes, not last, -(place[0] - 1) / (place[1] - 1) if place else 0.0


def _low_words(name: str, low: Low) -> str:
    note = f" ({' '.join(low.note.split())[:200]})" if low.note else ""
    return f"{name} {number(low.value)}{note}"


def _exact_moment(point: Point) -> dict[str, Any]:
    return {
        "start": str(point.span.start),
        "end": str(point.span.end),
        "value": point.value,
        "note": point.note,
    }
