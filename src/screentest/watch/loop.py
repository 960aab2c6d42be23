"""The watch itself: look, score what is new, hand it to hooks, raise alarms; again and again.

All state is in the run's folder: what was scored is there, and so is which alarms were raised and
which steps hooks were told of. A watch that was killed goes on where it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from screentest._util.atomic import write_whole
from screentest._util.text import natural
from screentest.api.scores import Hooks, score
from screentest.core.errors import BadOption
from screentest.core.item import STEP, Item
from screentest.hooks.contract import Alarm, HookSet, open_hooks
from screentest.measure.evaluators import resolve
from screentest.present.results import Scores
from screentest.run.database import FILE
from screentest.run.reader import RunReader
from screentest.watch.alarms import METRICS, STATE, alarms, series_of
from screentest.watch.steps import Arrivals, Step, read_step, step_pattern

SETTLED = 2
"""The look at which all that lay there at the start is known: the first sees who still grows."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the folder found."""

    new: Sequence[str]
    """Clips that were scored for the first time."""
    steps: Sequence[int]
    """Their steps."""
    waiting: Sequence[Path]
    """Files that are still being written."""
    without_step: int
    """New clips whose names say no step: scored, and in no alarm."""
    alarms: Sequence[Alarm]
    """Those that were not raised before."""
    scores: Scores | None
    number: int = 0
    """Which look of this watch it is, from 1."""


@dataclass
class Watch:
    """A folder that a training writes its validation clips into."""

    folder: Path
    out: Path
    metrics: Sequence[str] = METRICS
    prompt: str = ""
    hooks: Hooks = ()
    pattern: str = ""
    patience: float = 600.0
    work: dict[str, Any] = field(default_factory=dict)
    """Further options of ``screentest.score``."""

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise BadOption(f"{self.folder} is not a folder")
        self._pattern: re.Pattern[str] | None = step_pattern(self.pattern)
        self._arrivals = Arrivals(self.folder, self.patience)
        self._hooks: HookSet = open_hooks(self.hooks) if self.hooks else HookSet()
        self._state = _State.read(self.out / STATE)
        if self._state.logged and (self.out / FILE).is_file():
            _refuse_other_metrics(self.out, self.metrics)
        self._before: frozenset[tuple[Path, int]] = frozenset()
        self._looks = 0

    @property
    def known(self) -> int:
        """The number of clips that were scored and handed on, by this watch and earlier ones."""
        return len(self._state.logged)

    def look(self) -> Look:
        """Score what is whole and new; nothing is done where nothing is."""
        self._looks += 1
        return replace(self._look(), number=self._looks)

    def _look(self) -> Look:
        whole, waiting = self._arrivals.look()
        held = frozenset((path, path.stat().st_mtime_ns) for path in whole if path.is_file())
        if held == self._before or not whole:
            return Look((), (), waiting, 0, (), None)
        items = {item.id: (item, step) for item, step in self._items(whole)}
        scores = score(
            [item for item, _ in items.values()],
            metrics=tuple(self.metrics),
            out=self.out,
            add=True,  # clips that were removed from the folder keep their values
            **self.work,
        )
        self._before = held

        def order(name: str) -> tuple[int, list[tuple[str, int]]]:
            step = items[name][1]
            return step.number if step else -1, natural(name)

        new = sorted((name for name in items if name not in self._state.logged), key=order)
        steps: dict[int | None, list[str]] = {}
        for name in new:
            step = items[name][1]
            steps.setdefault(step.number if step else None, []).append(name)
        for number in sorted(steps, key=lambda step: -1 if step is None else step):
            self._hooks.log(scores, steps[number], number)
        raised = [
            alarm
            for alarm in alarms(series_of(scores.results), scores.results.outputs)
            if _key(alarm) not in self._state.raised
        ]
        for alarm in raised:
            self._hooks.alarm(alarm)
        self._state.add(new, [_key(alarm) for alarm in raised])
        numbers = sorted(number for number in steps if number is not None)
        return Look(new, numbers, waiting, len(steps.get(None, ())), raised, scores)

    def _items(self, paths: Sequence[Path]) -> Iterator[tuple[Item, Step | None]]:
        for path in paths:
            place = path.relative_to(self.folder)
            step = read_step(place, self._pattern)
            groups = {} if step is None else {STEP: str(step.number), "case": step.clip}
            yield Item(place.as_posix(), path.absolute(), self.prompt, groups=groups), step


def _refuse_other_metrics(run: Path, metrics: Sequence[str]) -> None:
    """Raise where a run was watched with others: alarms compare all steps in the same values."""
    with RunReader(run) as reader:
        earlier = {key.evaluator for key in reader.reasons() if not key.aspect}
    asked = {resolve(name).name for name in metrics}
    if earlier and earlier != asked:
        before = ",".join(sorted(earlier))
        usual = {resolve(name).name for name in METRICS}
        same = "leave `metrics` out" if earlier == usual else f"give `metrics={before}`"
        raise BadOption(
            f"{run} was watched with {before}, not with {','.join(sorted(asked))}",
            advice=f"To resume, {same}; to start anew, give another `out`.",
        )


def _key(alarm: Alarm) -> str:
    # Not by the value: of a step that is not yet whole, others may say so first.
    return f"{alarm.kind} {alarm.step}"


@dataclass
class _State:
    """Clips and alarms that hooks were handed already."""

    path: Path
    logged: set[str]
    """Clips that hooks were handed."""
    raised: set[str]
    """Alarms."""

    @classmethod
    def read(cls, path: Path) -> _State:
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, set(held["logged"]), set(held["raised"]))
        except FileNotFoundError:
            return cls(path, set(), set())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadOption(
                f"{path} cannot be read: {error}",
                advice="Remove it: scores stay, and hooks are handed all clips again.",
            ) from None

    def add(self, logged: Sequence[str], raised: Sequence[str]) -> None:
        self.logged.update(logged)
        self.raised.update(raised)
        held = {"logged": sorted(self.logged), "raised": sorted(self.raised)}
        write_whole(self.path, json.dumps(held))


def watch(
    watching: Watch, every: float, tell: Callable[[Look], None], *, looks: int | None = None
) -> int:
    """Look every so many seconds until it is stopped, or ``looks`` times; count the alarms."""
    import time

    count = number = 0
    while looks is None or number < looks:
        if number:
            time.sleep(every)
        look = watching.look()
        count += len(look.alarms)
        tell(look)
        number += 1
    return count
