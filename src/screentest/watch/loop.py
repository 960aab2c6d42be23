"""The watch itself: look, score what is new, hand it to hooks, raise alarms; again and again.

All state is in the run's folder: what was scored is there, and so is which alarms were raised and
which clips hooks were told of. A watch that was killed goes on where it was.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from screentest._util.atomic import write_whole
from screentest._util.collect import grouped
from screentest._util.text import natural
from screentest.api.scores import Hooks, score
from screentest.core.codec import to_json
from screentest.core.errors import BadOption, RunBusy
from screentest.core.item import STEP, Item
from screentest.core.metric import OutputInfo
from screentest.hooks.contract import Alarm, HookSet, open_hooks
from screentest.present.results import Scores
from screentest.run.database import FILE
from screentest.run.inputs import Stamp, hash_file
from screentest.run.reader import RunReader
from screentest.video.probe import probe
from screentest.video.sandbox import supervised
from screentest.watch.alarms import METRICS, STATE, Series, State, alarms, read_state, series_of

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
        if not (match[1] or "").isdecimal():
            raise BadOption(
                f"`step_pattern` {pattern.pattern!r} finds {match[1]!r} in {whole!r}: not a number",
                advice=r"Its first group must be the digits of the step, as in 'run(\d+)_'.",
            )
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
        self.whole: dict[Path, Stamp] = {}
        """Files that are whole; their stamps have the paths below the folder."""
        self.quiet = 0.0
        """Seconds since a file was new or changed, as of the last look."""
        self._changed = time.monotonic()
        self._seen: dict[Path, tuple[Stamp, float]] = {}

    def look(self) -> tuple[list[Path], list[Path]]:
        """List the files that are whole by now, and those that are waited for."""
        whole, waiting = [], []
        now = time.monotonic()
        for path in self._files():
            stamp = Stamp.of(path)
            if stamp is None:
                continue
            stamp = replace(stamp, path=self.place(path))
            before, since = self._seen.get(path, (None, now))
            if self.whole.get(path) == stamp:
                whole.append(path)
            elif before != stamp:
                self._seen[path] = (stamp, now)
                self._changed = now
                waiting.append(path)
            elif _is_readable(path) or now - since > self.patience:
                self.whole[path] = stamp
                self._seen.pop(path)
                whole.append(path)
            else:
                waiting.append(path)
        self.quiet = now - self._changed
        return whole, waiting

    def place(self, path: Path) -> str:
        """Return the path below the folder; bytes that are not UTF-8 are escapes."""
        place = path.relative_to(self.folder).as_posix()
        return place.encode("utf-8", "backslashreplace").decode()

    def _files(self) -> Iterator[Path]:
        try:
            paths = sorted(self.folder.rglob("*"), key=lambda path: natural(str(path)))
        except OSError:  # a folder that is being moved or removed: the next look tells
            return
        for path in paths:
            hidden = any(part.startswith(".") for part in path.relative_to(self.folder).parts)
            if path.suffix.lower() in SUFFIXES and not hidden:
                yield path


def _is_readable(path: Path) -> bool:
    """Test if a file has all that its structure promises, in a process of its own."""
    info = supervised(probe, path).value
    return info is not None and not any(fault.kind == "cut_short" for fault in info.faults)


SETTLED = 2
"""The look at which all that lay there at the start is known: the first sees who still grows."""
MOST = 500
"""New clips that are scored at one look; the next one follows at once."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one look at the folder brought."""

    new: Sequence[str] = ()
    """Clips that were scored for the first time."""
    again: Sequence[str] = ()
    """Clips that were scored anew, since their files were replaced."""
    steps: Sequence[int] = ()
    """The steps of both."""
    waiting: Sequence[Path] = ()
    """Files that are still being written."""
    left: int = 0
    """New clips for the next look."""
    without_step: int = 0
    """New clips whose names say no step: scored, and in no alarm."""
    alarms: Sequence[Alarm] = ()
    """Those that were not raised before."""
    withdrawn: Sequence[Alarm] = ()
    """Those that were raised before, and that the clips of today do not bear out."""
    scores: Scores | None = None
    problem: RunBusy | OSError | None = None
    """The reason why this look scored nothing."""


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
    """Seconds until an unreadable file is given up, and until the last step counts as complete."""
    at_rest: bool = False
    """The last step counts as complete as soon as no file changes."""
    longest_call: float = 120.0
    """Seconds that a hook may take for one call."""
    work: dict[str, Any] = field(default_factory=dict)
    """Further options of ``screentest.score``."""

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise BadOption(f"{self.folder} is not a folder")
        self._pattern: re.Pattern[str] | None = step_pattern(self.pattern)
        root = self.folder.absolute()
        self._arrivals = Arrivals(root, self.patience)
        self._hooks = open_hooks(self.hooks, self.longest_call) if self.hooks else HookSet()
        self._state, self._taken = State(), set[str]()
        if (self.out / FILE).is_file():
            self._state = read_state(self.out)
            with RunReader(self.out) as run:
                names = run.items().items()
            self._taken = {name for name, item in names if root not in item.video.parents}
        if self._state.clips:
            _refuse_other_metrics(self.out, self.metrics)
        self._arrivals.whole |= {root / file.path: file for file, _ in self._state.clips.values()}
        self._series: Series | None = None
        self._outputs: Mapping[str, OutputInfo] = {}
        self._judged: tuple[int, bool] | None = None

    @property
    def known(self) -> int:
        """The number of clips that were scored and handed on, by this watch and earlier ones."""
        return len(self._state.clips)

    def look(self) -> Round:
        """Score what is whole and new; nothing is done where nothing is."""
        try:
            return self._look()
        except (RunBusy, OSError) as error:  # which may have passed at the next look
            return Round(problem=error)

    def _look(self) -> Round:
        whole, waiting = self._arrivals.look()
        here = {self._arrivals.place(path) for path in (*whole, *waiting)}
        begun = max((self._step(place).number for place in here), default=-1)
        items, before = self._items(whole, here), self._state.clips
        files = {name: self._arrivals.whole[item.video] for name, item in items.items()}
        fresh = sorted(
            (name for name in items if before.get(name, (None,))[0] != files[name]),
            key=lambda name: (int(items[name].groups.get(STEP, -1)), natural(name)),
        )
        fresh, left = fresh[:MOST], set(fresh[MOST:])
        # Steps with clips that are not scored yet.
        unscored = {self._step(self._arrivals.place(path)).number for path in waiting}
        unscored |= {int(items[name].groups.get(STEP, -1)) for name in left}
        # The first look asks for all, so that what failed before is tried again.
        asked = [name for name in items if name not in left] if self._series is None else fresh
        if not asked:
            raised, withdrawn = self._judge(begun, unscored)
            return Round(waiting=waiting, alarms=raised, withdrawn=withdrawn)
        told = {name: (files[name], hash_file(items[name].video)) for name in fresh}
        items = {name: items[name] for name in asked}
        scores = score(
            list(items.values()),
            metrics=tuple(self.metrics),
            out=self.out,
            own_margins=False,
            add=True,  # clips that were removed from the folder keep their values
            **self.work,
        )
        # The run writes a path that is not text with escapes: hooks need the path itself.
        results = replace(scores.results, items={**scores.results.items, **items})
        scores = replace(scores, results=results)
        self._series, self._outputs, self._judged = series_of(results), results.outputs, None
        new = [name for name in fresh if name not in before]
        again = [name for name in fresh if before.get(name, told[name])[1] != told[name][1]]
        news = {*new, *again}
        steps = grouped((items[name].groups.get(STEP), name) for name in fresh if name in news)
        members = grouped((item.groups.get(STEP), name) for name, item in results.items.items())
        for step, names in steps.items():
            over = names if step is None else members[step]
            self._hooks.log(scores, names, int(step) if step else None, again=again, over=over)
        before |= told
        raised, withdrawn = self._judge(begun, unscored)
        lost = sum(name in new for name in steps.get(None, ()))
        numbers = [int(step) for step in steps if step]
        return Round(new, again, numbers, waiting, len(left), lost, raised, withdrawn, scores)

    def _judge(self, begun: int, unscored: Set[int]) -> tuple[list[Alarm], list[Alarm]]:
        """Raise and withdraw alarms of complete steps; ``begun`` is the last step with a file."""
        earlier, series = self._state.raised, self._series or {}
        *others, last = sorted(series) or [-1]
        is_complete = (
            (begun > last and last not in unscored)
            or (others != [] and len(series[last]) >= len(series[others[-1]]))
            or self._arrivals.quiet > (0 if self.at_rest else self.patience)
            or any(alarm.seen == last for alarm in earlier.values())
        )
        if self._series is None or self._judged == (last, is_complete):
            return [], []
        self._judged = (last, is_complete)
        complete = {step: clips for step, clips in series.items() if step != last or is_complete}
        stand = {f"{alarm.kind} {alarm.step}": alarm for alarm in alarms(complete, self._outputs)}
        withdrawn = [alarm for key, alarm in earlier.items() if key not in stand]
        raised = [alarm for key, alarm in stand.items() if key not in earlier]
        for alarm in (*withdrawn, *raised):
            self._hooks.alarm(alarm, withdrawn=alarm in withdrawn)
        self._state.raised = stand
        write_whole(self.out / STATE, to_json(self._state))
        return raised, withdrawn

    def _step(self, place: str) -> Step:
        try:
            return read_step(Path(place), self._pattern) or Step(-1, place)
        except BadOption:
            if not self._state.clips:
                raise
            return Step(-1, place)  # one odd name among many is not a wrong pattern

    def _items(self, whole: Sequence[Path], here: Set[str]) -> dict[str, Item]:
        """Name the files that are whole: by their paths, or as before where one was renamed."""
        before, items = self._state.clips, dict[str, Item]()
        names = {file.path: name for name, (file, _) in before.items()}
        gone = names.keys() - here if here - names.keys() else ()
        lost = grouped(((self._step(old).number, before[names[old]][0].size), old) for old in gone)
        for path in whole:
            file = self._arrivals.whole[path]
            step, name = self._step(file.path), names.get(file.path, "")
            for old in () if name else lost.get((step.number, file.size), ()):
                if names[old] not in items and before[names[old]][1] == hash_file(path):
                    name = names[old]
            if not name:
                name = file.path
                while name in before or name in items or name in self._taken:  # by another clip
                    name += "~"
            groups = {STEP: str(step.number), "case": step.clip} if step.number >= 0 else {}
            items[name] = Item(name, path, self.prompt, groups=groups)
        return items


def _refuse_other_metrics(run: Path, metrics: Sequence[str]) -> None:
    """Raise where a run was watched with others: alarms compare all steps in the same values."""
    with RunReader(run) as reader:
        earlier = {key.evaluator for key in reader.reasons() if not key.aspect}
    asked = set(metrics)
    if earlier and earlier != asked:
        before = ",".join(sorted(earlier))
        same = "leave `metrics` out" if earlier == {*METRICS} else f"give `metrics={before}`"
        raise BadOption(
            f"{run} was watched with {before}, not with {','.join(sorted(asked))}",
            advice=f"To resume, {same}; to start anew, give another `out`.",
        )


def watch(
    watching: Watch, every: float, tell: Callable[[Round], None], *, looks: int | None = None
) -> int:
    """Look every so many seconds until it is stopped, or ``looks`` times; count the alarms."""
    count = number = left = 0
    while looks is None or number < looks:
        if number and not left:
            time.sleep(every)
        look = watching.look()
        count += len(look.alarms)
        tell(look)
        left = look.left
        number += not left
        if look.problem and number == looks:  # there is no next look
            raise look.problem
    return count
