"""The watch itself: look, score what is new, hand it to hooks, raise alarms; again and again.

All state is in the run's folder: what was scored is there, and so is which alarms were raised and
which steps hooks were told of. A watch that was killed goes on where it was.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from screentest._util.atomic import write_whole
from screentest._util.collect import grouped
from screentest._util.text import natural
from screentest.api.scores import Hooks, score
from screentest.core.errors import BadOption
from screentest.core.item import STEP, Item
from screentest.hooks.contract import Alarm, HookSet, open_hooks
from screentest.measure.evaluators import resolve
from screentest.present.results import Scores
from screentest.run.database import FILE
from screentest.run.inputs import Stamp
from screentest.run.reader import RunReader
from screentest.video.probe import probe
from screentest.video.sandbox import supervised
from screentest.watch.alarms import METRICS, STATE, alarms, series_of

SUFFIXES = frozenset({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif", ".nut"})
_WORD = r"(?:global[_-]?)?(?:step|steps|iter|iters|iteration|checkpoint|ckpt|epoch|it)"
_NAMED = re.compile(
    rf"(?<![A-Za-z])(?<!inference_)(?<!inference-)(?<!sampling_)(?<!num_){_WORD}[_=-]?0*(\d+)(?!\d)",
    re.IGNORECASE,
)
_FOLDER = re.compile(r"0*(\d+)")


@dataclass(frozen=True, slots=True)
class Step:
    """When a clip was made, and which of the clips of its step it is."""

    number: int
    clip: str
    """The name without the step: clips of the same one are compared over steps."""


def read_step(path: Path, pattern: re.Pattern[str] | None = None) -> Step | None:
    """Find the step in a path; None where it names none.

    Looked for is ``pattern`` (its first group is the step), else ``step_500``, ``checkpoint-500``,
    ``iter500``, ``epoch=5`` in the name, then in the folders from the inside out, then a folder
    that is a number.
    """
    parts = [*path.parent.parts, path.stem]
    if pattern is not None:
        whole = "/".join(parts)
        match = pattern.search(whole)
        if match is None:
            return None
        return Step(int(match[1]), whole[: match.start(1)] + "*" + whole[match.end(1) :])
    for place in range(len(parts) - 1, -1, -1):
        match = _NAMED.search(parts[place])
        if match is not None:
            return _step(parts, place, match)
    for place in range(len(parts) - 2, -1, -1):
        match = _FOLDER.fullmatch(parts[place])
        if match is not None:
            return _step(parts, place, match)
    return None


def _step(parts: list[str], place: int, match: re.Match[str]) -> Step:
    text = parts[place]
    start = match.end(1) - len(match[1])
    # Zeros before the number belong to it.
    while start > 0 and text[start - 1] == "0":
        start -= 1
    masked = f"{text[:start]}*{text[match.end(1) :]}"
    return Step(int(match[1]), "/".join([*parts[:place], masked, *parts[place + 1 :]]))


def step_pattern(text: str) -> re.Pattern[str] | None:
    """Compile the expression that finds a step; its first group is the number."""
    if not text:
        return None
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise BadOption(f"invalid `step_pattern` {text!r}: {error}") from None
    if pattern.groups < 1:
        raise BadOption(
            f"invalid `step_pattern` {text!r}: has no group", advice=r"As in 'run(\d+)_'."
        )
    return pattern


class Arrivals:
    """The videos of a folder that are whole: written to their end, and readable.

    A file counts when it looks the same as at the last look, and can be opened with all that its
    structure promises. One that stays unreadable for ``patience`` seconds is given up: it is handed
    on all the same, and its scores say why there are none.
    """

    def __init__(self, folder: Path, patience: float = 600.0) -> None:
        self.folder = folder
        self.patience = patience
        self._seen: dict[Path, tuple[Stamp, float]] = {}
        self._whole: dict[Path, Stamp] = {}

    def look(self) -> tuple[list[Path], list[Path]]:
        """List the files that are whole by now, and those that are waited for."""
        whole, waiting = [], []
        now = time.monotonic()
        for path in self._files():
            stamp = Stamp.of(path)
            if stamp is None:
                continue
            before, since = self._seen.get(path, (None, now))
            if self._whole.get(path) == stamp:
                whole.append(path)
                continue
            if before != stamp:
                self._seen[path] = (stamp, now)
                waiting.append(path)
            elif _is_readable(path) or now - since > self.patience:
                self._whole[path] = stamp
                self._seen.pop(path)
                whole.append(path)
            else:
                waiting.append(path)
        return whole, waiting

    def _files(self) -> Iterator[Path]:
        try:
            paths = sorted(self.folder.rglob("*"), key=lambda path: natural(str(path)))
        except OSError:  # a folder that is being moved or removed: the next look tells
            return
        for path in paths:
            hidden = any(part.startswith(".") for part in path.relative_to(self.folder).parts)
            if path.suffix.lower() in SUFFIXES and not hidden and path.is_file():
                yield path


def _is_readable(path: Path) -> bool:
    """Test if a file has all that its structure promises, in a process of its own."""
    info = supervised(probe, path).value
    return info is not None and not any(fault.kind == "cut_short" for fault in info.faults)


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
            own_margins=False,
            add=True,  # clips that were removed from the folder keep their values
            **self.work,
        )
        self._before = held

        def order(name: str) -> tuple[int, list[tuple[str, int]]]:
            step = items[name][1]
            return step.number if step else -1, natural(name)

        new = sorted((name for name in items if name not in self._state.logged), key=order)
        numbered = ((name, items[name][1]) for name in new)
        steps = grouped((step.number if step else None, name) for name, step in numbered)
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
    count = number = 0
    while looks is None or number < looks:
        if number:
            time.sleep(every)
        look = watching.look()
        count += len(look.alarms)
        tell(look)
        number += 1
    return count
