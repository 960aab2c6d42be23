"""Alarms: collapse that anybody would see, and sudden changes against the earlier steps.

Collapse is a rule with a threshold: half the clips of a step stand still, go round in a loop,
flicker, or are black, white or grey all over. A sudden change is one of a value whose usual course
is known: two steps in a row lie beyond all earlier ones by ``REACH`` times their whole spread, and
by a tenth of their middle at least. One odd step raises nothing, and a slow drift takes the spread
along. A value that was 0 at most steps raises nothing either: twice in a row is then soon chance,
and what matters of those values (frozen, loops) has a rule.

One cause raises one alarm: what changes at the step at which a collapse begins is its consequence,
and values that change at the same step are told together.

What that costs in false alarms is simulated in ``tests/watch/test_alarms.py``: with ten values
over a hundred steady steps, fewer than one training in twenty has one, for steps that vary
normally, with heavy tails (Student's t with three degrees), skewed (log-normal) or with a memory of
one half. Positive values are compared as ratios, too, since noise that is skewed looks sudden in
differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from statistics import fmean, median

from screentest._util.text import natural
from screentest.analysis.results import Results, read_results
from screentest.core.item import STEP
from screentest.core.metric import OutputInfo
from screentest.hooks.contract import Alarm
from screentest.run.reader import RunReader

Values = Mapping[str, float]
"""Of one clip, by name of the value."""
Series = Mapping[int, Mapping[str, Values]]
"""By step, then by clip."""

STATE = "watch.json"
"""The file of a watch in the folder of its run."""
SHARE = 0.5
"""The share of a step's clips from which on collapse is one."""
EARLIER = 6
"""Steps that must be known before a change can be sudden."""
WINDOW = 30
"""Steps that are looked back at."""
REACH = 2.0
LEAST = 0.1
"""The share of the middle by which a value must change at least."""


@dataclass(frozen=True, slots=True)
class Collapse:
    """A kind of collapse: a value beyond a limit."""

    kind: str
    metric: str
    limit: float
    above: bool
    words: str
    of_one: str
    """The same of one clip."""

    def shows(self, values: Values) -> bool:
        """Whether a clip shows it."""
        value = values.get(self.metric)
        return value is not None and (value >= self.limit if self.above else value <= self.limit)


COLLAPSES = (
    Collapse("frozen", "frozen", 0.9, True, "stand still", "stands still"),
    Collapse("loop", "loops", 0.5, True, "go round in a loop", "goes round in a loop"),
    Collapse(
        "flicker",
        "flicker",
        25.0,
        True,
        "flicker from frame to frame",
        "flickers from frame to frame",
    ),
    Collapse(
        "saturated",
        "contrast.exposure",
        0.5,
        False,
        "are mostly clipped to black, white or one colour",
        "is mostly clipped to black, white or one colour",
    ),
    Collapse(
        "saturated",
        "contrast.tonal_range",
        0.02,
        False,
        "are of one colour all over",
        "is of one colour all over",
    ),
)
METRICS = (
    "frozen",
    "loops",
    "flicker",
    "contrast",
    "colourfulness",
    "sharpness",
    "noise",
    "motion",
)
"""What a watch measures where nobody says otherwise: quick, and with the base install."""


def alarms(series: Series, outputs: Mapping[str, OutputInfo] | None = None) -> list[Alarm]:
    """All alarms of a training so far, in the order in which they were sure.

    ``outputs`` says how far values reach: a change must be some of that, too, or a value that is
    next to nothing could not stir.
    """
    floors = {name: _floor(info) for name, info in (outputs or {}).items()}
    collapses = _collapses(series)
    begun = {one.step for one in collapses}
    changes = [one for one in _changes(series, floors) if not begun & {one.step, one.seen}]
    found = [*collapses, *_together(changes)]
    return sorted(found, key=lambda one: (one.seen, one.step, one.kind, one.metric))


def _collapses(series: Series) -> list[Alarm]:
    found = []
    for kind in dict.fromkeys(rule.kind for rule in COLLAPSES):
        rules = [rule for rule in COLLAPSES if rule.kind == kind]
        before = False
        for step in sorted(series):
            clips = series[step]
            measured = [clip for clip in clips if any(rule.metric in clips[clip] for rule in rules)]
            shown = {rule: [clip for clip in measured if rule.shows(clips[clip])] for rule in rules}
            bad = sorted({clip for some in shown.values() for clip in some}, key=natural)
            now = bool(bad) and len(bad) >= SHARE * len(measured)
            if now and not before:
                rule = max(rules, key=lambda one: len(shown[one]))  # the first of equals
                some = f"{len(bad)} of {len(measured)} clip{'s' * (len(measured) > 1)}"
                words = rule.words if len(bad) > 1 else rule.of_one
                text = f"{some} {words} since step {step}"
                found.append(Alarm(kind, rule.metric, step, step, text, tuple(bad)))
            if measured:
                before = now
    return found


def _floor(info: OutputInfo) -> float:
    """The least change of a value that is worth a word."""
    reach = info.high - info.low
    return 0.05 * reach if reach <= 1 else 0.02 * reach


def _changes(series: Series, floors: Mapping[str, float]) -> list[Alarm]:
    names = dict.fromkeys(
        name for clips in series.values() for values in clips.values() for name in values
    )
    return [alarm for name in names for alarm in _changes_of(series, name, floors.get(name, 0))]


def _together(changes: Sequence[Alarm]) -> list[Alarm]:
    """One alarm for all values that change at a step: most often it is one cause."""
    by_step: dict[int, list[Alarm]] = {}
    for one in changes:
        by_step.setdefault(one.step, []).append(one)
    found = []
    for first, *more in by_step.values():
        names = ", ".join(one.metric for one in more)
        text = f"{first.message}; so did {names}" if more else first.message
        found.append(replace(first, message=text))
    return found


def _changes_of(series: Series, name: str, floor: float) -> list[Alarm]:
    """The sudden changes of one value; after one, the course is learnt anew from there."""
    found = []
    course = _Course(series, name)
    steps = course.steps
    begin = 0
    for place in range(EARLIER, len(steps) - 1):
        earlier = range(max(begin, place - WINDOW), place)
        if len(earlier) >= EARLIER:
            *known, one, two = course.means(range(earlier.start, place + 2))
            if _is_sudden(known, one, two, floor):
                text = (
                    f"{name} went from {median(known):.3g} to {one:.3g} at step {steps[place]},"
                    f" and {two:.3g} at step {steps[place + 1]}"
                )
                found.append(Alarm("change", name, steps[place], steps[place + 1], text))
                begin = place
    return found


class _Course:
    """One value over the steps that have it."""

    def __init__(self, series: Series, name: str) -> None:
        held = {
            step: {clip: values[name] for clip, values in clips.items() if name in values}
            for step, clips in series.items()
        }
        self.steps = sorted(step for step, clips in held.items() if clips)
        self._clips = [held[step] for step in self.steps]
        self._same = len({frozenset(clips) for clips in self._clips}) < 2
        self._all = [fmean(clips.values()) for clips in self._clips]

    def means(self, places: range) -> list[float]:
        """The mean of each step, over the clips that all of them have where there are any."""
        if self._same:
            return self._all[places.start : places.stop]
        some = self._clips[places.start : places.stop]
        common = set.intersection(*map(set, some))
        return [
            fmean([value for clip, value in clips.items() if not common or clip in common])
            for clips in some
        ]


def _is_sudden(earlier: Sequence[float], one: float, two: float, floor: float = 0) -> bool:
    """Whether two values lie beyond the earlier ones on the same side, by far.

    >>> _is_sudden([1.0, 1.1, 0.9, 1.0, 1.05, 0.95], 2.0, 1.9)
    True
    >>> _is_sudden([1.0, 1.1, 0.9, 1.0, 1.05, 0.95], 2.0, 1.0)
    False
    """
    if 2 * sum(value == 0 for value in earlier) > len(earlier):
        return False
    if not _beyond(earlier, one, two, max(LEAST * abs(median(earlier)), floor)):
        return False
    # What is never 0 or less may be skewed: as ratios, too, it must lie beyond.
    if min(*earlier, one, two) <= 0:
        return True
    return _beyond([log(value) for value in earlier], log(one), log(two), 0)


def _beyond(earlier: Sequence[float], one: float, two: float, least: float) -> bool:
    low, high = min(earlier), max(earlier)
    reach = max(REACH * (high - low), least)
    return min(one, two) > high + reach or max(one, two) < low - reach


def alarms_of(folder: Path) -> list[Alarm]:
    """All alarms of a training whose watch wrote into this run; none for any other run."""
    if not (folder / STATE).is_file():
        return []
    with RunReader(folder) as run:
        results = read_results(run)
    return alarms(series_of(results), results.outputs)


def series_of(results: Results) -> Series:
    """The values of all clips that the run has, by their steps."""
    found: dict[int, dict[str, dict[str, float]]] = {}
    for item in results.items.values():
        step, clip = item.groups.get(STEP, ""), item.groups.get("case", item.id)
        if step.isdecimal():
            found.setdefault(int(step), {})[clip] = {
                one.name: one.outcome.value.value
                for one in results.of_item(item.id).values()
                if one.outcome.value is not None
            }
    return found
