"""Alarms: collapse that anybody would see, and sudden changes against the earlier steps.

Collapse is a rule with a threshold: half the clips of a step stand still, go round in a loop,
flicker, or are black, white or grey all over. A sudden change is one of a value whose usual course
is known: two steps in a row lie beyond all earlier ones by ``REACH`` times their whole spread, and
by a tenth of their middle at least. One odd step raises nothing, and a slow drift takes the spread
along. A value that was 0 at most steps raises nothing either: twice in a row is then soon chance,
and what matters of those values (frozen, loops) has a rule.

One cause raises one alarm: what changes at the step at which a collapse begins is its consequence,
and values that change at the same step are one alarm.

What that costs in false alarms is simulated in ``tests/watch/test_alarms.py``: with ten values
over a hundred steady steps, fewer than one training in twenty has one, for steps that vary
normally, with heavy tails (Student's t with three degrees), skewed (log-normal) or with a memory of
one half. Positive values are compared as ratios, too, since noise that is skewed looks sudden in
differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path
from statistics import fmean, median

from screentest._util.collect import grouped
from screentest._util.text import natural
from screentest.analysis.results import Results
from screentest.core.codec import from_json
from screentest.core.errors import BadOption, UserError
from screentest.core.item import STEP
from screentest.core.metric import OutputInfo
from screentest.hooks.contract import Alarm
from screentest.run.inputs import Stamp

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

    def shows(self, values: Values) -> bool:
        value = values.get(self.metric)
        return value is not None and (value >= self.limit if self.above else value <= self.limit)


COLLAPSES = (
    Collapse("frozen", "frozen", 0.9, True),
    Collapse("loop", "loops", 0.5, True),
    Collapse("flicker", "flicker", 25.0, True),
    Collapse("saturated", "contrast.exposure", 0.5, False),
    Collapse("saturated", "contrast.tonal_range", 0.02, False),
)
METRICS = (
    *("frozen", "loops", "flicker", "contrast"),
    *("colourfulness", "sharpness", "noise", "motion"),
)
"""The default metrics of a watch: quick, and in the base install."""


def alarms(series: Series, outputs: Mapping[str, OutputInfo] | None = None) -> list[Alarm]:
    """All alarms of a training so far, in the order in which they were sure.

    ``outputs`` has the ranges of values: a change must be a share of its range, too, or a value
    near 0 would raise an alarm at every step.
    """
    floors = {name: _floor(info) for name, info in (outputs or {}).items()}
    collapses = _collapses(series)
    begun = {alarm.step for alarm in collapses}
    changes = [alarm for alarm in _changes(series, floors) if not begun & {alarm.step, alarm.seen}]
    raised = [*collapses, *_together(changes)]
    return sorted(raised, key=lambda alarm: (alarm.seen, alarm.step, alarm.kind, alarm.metric))


def _collapses(series: Series) -> list[Alarm]:
    raised = []
    for kind in dict.fromkeys(rule.kind for rule in COLLAPSES):
        rules = [rule for rule in COLLAPSES if rule.kind == kind]
        before = False
        for step in sorted(series):
            clips = series[step]
            measured = [clip for clip in clips if any(rule.metric in clips[clip] for rule in rules)]
            shown = {rule: [clip for clip in measured if rule.shows(clips[clip])] for rule in rules}
            bad = sorted({clip for clips in shown.values() for clip in clips}, key=natural)
            now = bool(bad) and len(bad) >= SHARE * len(measured)
            if now and not before:
                rule = max(rules, key=lambda rule: len(shown[rule]))  # the first of equals
                raised.append(Alarm(kind, rule.metric, step, step, tuple(bad), len(measured)))
            if measured:
                before = now
    return raised


def _floor(info: OutputInfo) -> float:
    """Find the least change of a value that counts."""
    reach = info.high - info.low
    return 0.05 * reach if reach <= 1 else 0.02 * reach


def _changes(series: Series, floors: Mapping[str, float]) -> list[Alarm]:
    names = dict.fromkeys(
        name for clips in series.values() for values in clips.values() for name in values
    )
    return [alarm for name in names for alarm in _changes_of(series, name, floors.get(name, 0))]


def _together(changes: Sequence[Alarm]) -> list[Alarm]:
    """One alarm for all values that change at a step: most often it is one cause."""
    by_step = grouped((alarm.step, alarm) for alarm in changes)
    return [
        replace(first, others=tuple(alarm.metric for alarm in more))
        for first, *more in by_step.values()
    ]


def _changes_of(series: Series, name: str, floor: float) -> list[Alarm]:
    """Find the sudden changes of a value; after each, its course is learnt anew."""
    raised = []
    course = _Course(series, name)
    steps = course.steps
    begin = 0
    for place in range(EARLIER, len(steps) - 1):
        earlier = range(max(begin, place - WINDOW), place)
        if len(earlier) >= EARLIER:
            *before, first, second = course.means(range(earlier.start, place + 2))
            if _is_sudden(before, first, second, floor):
                values = (median(before), first, second)
                began, seen = steps[place : place + 2]
                raised.append(Alarm("change", name, began, seen, values=values))
                begin = place
    return raised


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
        """Average each step, over the clips that all of them have where there are any."""
        if self._same:
            return self._all[places.start : places.stop]
        steps = self._clips[places.start : places.stop]
        common = set.intersection(*map(set, steps))
        return [
            fmean([value for clip, value in clips.items() if not common or clip in common])
            for clips in steps
        ]


def _is_sudden(earlier: Sequence[float], first: float, second: float, floor: float = 0) -> bool:
    """Test if two values lie far beyond the earlier ones, on the same side.

    >>> _is_sudden([1.0, 1.1, 0.9, 1.0, 1.05, 0.95], 2.0, 1.9)
    True
    >>> _is_sudden([1.0, 1.1, 0.9, 1.0, 1.05, 0.95], 2.0, 1.0)
    False
    """
    if 2 * sum(value == 0 for value in earlier) > len(earlier):
        return False
    if not _beyond(earlier, first, second, max(LEAST * abs(median(earlier)), floor)):
        return False
    # What is never 0 or less may be skewed: as ratios, too, it must lie beyond.
    if min(*earlier, first, second) <= 0:
        return True
    return _beyond([log(value) for value in earlier], log(first), log(second), 0)


def _beyond(earlier: Sequence[float], first: float, second: float, least: float) -> bool:
    low, high = min(earlier), max(earlier)
    reach = max(REACH * (high - low), least)
    return min(first, second) > high + reach or max(first, second) < low - reach


@dataclass
class State:
    """What a watch told so far: a file in the run's folder, which outlives the process."""

    clips: dict[str, tuple[Stamp, str]] = field(default_factory=dict)
    """By id: the file, with its path below the watched folder, and its sha256."""
    raised: dict[str, Alarm] = field(default_factory=dict)
    """The alarms that stand, by kind and step."""


def read_state(folder: Path) -> State:
    """Read what the watch of a run told; nothing where there is none."""
    try:
        return from_json(State, (folder / STATE).read_bytes())
    except FileNotFoundError:
        return State()
    except (OSError, UserError) as error:
        raise BadOption(
            f"{folder / STATE} cannot be read: {error}",
            advice="Remove it: scores stay, and hooks are handed all clips again.",
        ) from None


def series_of(results: Results) -> Series:
    """Group the values of all clips of a run by their steps."""
    by_step: dict[int, dict[str, dict[str, float]]] = {}
    for item in sorted(results.items.values(), key=lambda item: natural(item.id)):
        step = item.groups.get(STEP, "")
        if step.isdecimal():
            clips = by_step.setdefault(int(step), {})
            name = item.groups.get("case") or item.id.replace(f"step-{step}", "step-*", 1)
            if name in clips:  # as of step_5/a.mp4 beside step_05/a.mp4, or beside step_5/a.mov
                name += item.video.suffix
            clips[item.id if name in clips else name] = {
                name: value.number
                for name, value in results.of_item(item.id).items()
                if value.number is not None
            }
    return by_step
