"""Hook: is told of scores and alarms. A hook that fails warns and harms nothing else.

>>> class printing(BaseHook):
...     def log(self, logged: Logged) -> None:
...         print(logged.step, sorted(logged.means))

``@screentest.hook`` on such a class makes it known by name: ``score(…, hooks="printing")``,
``screentest watch DIR --hook printing``. Keyword-only parameters of its constructor are options,
as in ``wandb:project=clips``.
"""

from __future__ import annotations

import atexit
import io
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import av
import numpy as np

from screentest._util.collect import grouped
from screentest.core.errors import BadOption
from screentest.core.frames import Filter, FrameRequest, Image, Size
from screentest.core.functions import decorator, register_factory
from screentest.core.item import Time
from screentest.core.outcome import Failure
from screentest.core.registry import build, registry
from screentest.core.signature import parse
from screentest.video.memory import memory_video, open_source
from screentest.video.probe import Converter, conversion_key, probe
from screentest.video.samples import evenly, sample_frames

if TYPE_CHECKING:
    from screentest.present.results import ItemScores, Scores

_PLAYED = frozenset({".mp4", ".m4v", ".webm"})
_QUALITY = {"crf": "20", "preset": "veryfast"}
_GIF_FRAMES, _GIF_SIDE = 24, 192
_PICTURE_SIDE = 384


@dataclass(frozen=True, slots=True)
class Still:
    """A moment of a video: its picture, and what is low there."""

    time: float
    image: Image
    words: str

    def caption(self, clip: str) -> str:
        """Clip, time and words in one line."""
        return f"{clip} at {self.time:.2f} s: {self.words}"


def playable(video: Path) -> bytes:
    """Give the video as browsers play it: the file itself, else H.264 in MP4."""
    if memory_video(video) is None and video.suffix.lower() in _PLAYED:
        return video.read_bytes()
    info = probe(video)
    even = Size(exact=(max(2, info.width // 2 * 2), max(2, info.height // 2 * 2)))
    convert = Converter(conversion_key(FrameRequest(size=even, filter=Filter.BICUBIC)))
    held = io.BytesIO()
    with av.open(held, "w", format="mp4") as container, open_source(video) as source:
        stream = container.add_stream("libx264", rate=info.rate, options=dict(_QUALITY))
        assert even.exact is not None
        stream.width, stream.height = even.exact
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, 90_000)
        for moment, picture in source.frames():
            frame = av.VideoFrame.from_ndarray(convert(picture), format="rgb24")
            frame.pts, frame.time_base = round(moment * 90_000), Fraction(1, 90_000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return held.getvalue()


def animated(video: Path) -> bytes:
    """Make a small GIF of a few frames, at the pace of the video."""
    from PIL import Image as Pictures

    span = probe(video).span
    moments = evenly(span, _GIF_FRAMES)
    frames = list(sample_frames(video, moments, size=Size(long_side=_GIF_SIDE), filter=Filter.AREA))
    pictures = [Pictures.fromarray(frame.image) for frame in frames]
    held = io.BytesIO()
    pace = max(20, round(float(span.duration) * 1000 / len(pictures)))
    pictures[0].save(held, "GIF", save_all=True, append_images=pictures[1:], duration=pace, loop=0)
    return held.getvalue()


F = TypeVar("F", bound=Callable[..., Any])
Names: TypeAlias = Sequence[str]

PREFIX = "screentest"
"""Before the names of values in a tracker: they stand beside those of the training."""
_OURS = "screentest."
_PATIENCE = 3
"""Failures in a row after which a hook is left alone."""


class HookWarning(UserWarning):
    """A hook failed; the scores are not affected."""


@dataclass(frozen=True)
class LoggedClip:
    """One video that was just scored."""

    scores: ItemScores
    again: bool = False
    """True where it was logged before: its file was replaced since."""

    @property
    def id(self) -> str:
        return self.scores.item.id

    @property
    def prompt(self) -> str:
        return self.scores.item.text

    @property
    def caption(self) -> str:
        return f"{self.id}: {self.prompt}" if self.prompt else self.id

    @property
    def values(self) -> dict[str, float]:
        """Its values by name."""
        return self.scores.numbers

    @property
    def reasons(self) -> dict[str, Failure]:
        """The reasons for missing values, by name."""
        return self.scores.reasons

    def video(self) -> bytes:
        """Give the video as browsers play it: MP4."""
        return playable(self.scores.item.video)

    def gif(self) -> bytes:
        """Give the video as a small GIF."""
        return animated(self.scores.item.video)

    def worst(self) -> list[Still]:
        """Pictures of the worst moments, each with what is low there."""
        video, size = self.scores.item.video, Size(long_side=_PICTURE_SIDE)
        return [
            Still(seconds, np.asarray(frame.image), words)
            for seconds, words in self.scores.worst
            for frame in sample_frames(video, [Time(seconds)], size=size)
        ]


@dataclass(frozen=True)
class Logged:
    """What was just scored."""

    step: int | None
    means: Mapping[str, float]
    """The mean of each value over these videos; in a watch over all of the step."""
    clips: Sequence[LoggedClip]


_COLLAPSED = {
    "frozen": "frozen",
    "loop": "looping",
    "flicker": "flickering",
    "saturated": "black, white or one colour",
}


@dataclass(frozen=True)
class Alarm:
    """Something went wrong in a training, and when it began."""

    kind: str
    """frozen, loop, flicker, saturated or change."""
    metric: str
    step: int
    """Where it began."""
    seen: int
    """The step at which it was sure."""
    clips: Sequence[str] = ()
    """The videos that show a collapse."""
    measured: int = 0
    """How many videos the step has."""
    values: Sequence[float] = ()
    """Of a change: the usual value, and those of the two steps."""
    others: Sequence[str] = ()
    """Further values that changed at the same step."""

    @property
    def message(self) -> str:
        """The alarm in one line."""
        if self.kind in _COLLAPSED:
            count = f"{len(self.clips)} of {self.measured} clip{'s' * (self.measured != 1)}"
            return f"{count} {_COLLAPSED[self.kind]} since step {self.step}"
        usual, first, second = (f"{value:.3g}" for value in self.values)
        also = f"; also {', '.join(self.others)}" if self.others else ""
        return f"{self.metric}: {usual} → {first} → {second} at step {self.step}{also}"


@runtime_checkable
class Hook(Protocol):
    """Hands scores and alarms on."""

    def log(self, logged: Logged) -> None:
        """Take what was scored."""

    def alarm(self, alarm: Alarm) -> None:
        """Take an alarm: a training went wrong."""

    def withdraw(self, alarm: Alarm) -> None:
        """Take an alarm back: clips that came later say otherwise."""

    def close(self) -> None:
        """Close: nothing more will come."""


class BaseHook:
    """A hook's methods that do nothing, for those that need not all of them."""

    def log(self, logged: Logged) -> None: ...

    def alarm(self, alarm: Alarm) -> None: ...

    def withdraw(self, alarm: Alarm) -> None: ...

    def close(self) -> None: ...


@decorator
def hook(*, name: str = "", version: int = 1, summary: str = "") -> Callable[[F], F]:
    """Register a hook: a class, or a factory with keyword-only options.

    Args:
        name: The name of the hook; that of the class where empty.
        version: Raise it whenever the options change their meaning.
        summary: One line for lists; the first line of the docstring where empty.
    """
    return partial(register_factory, "hook", name=name, version=version, summary=summary)


def warn(message: str) -> None:
    """Warn of a hook, as of where in the user's code it was given."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, HookWarning, stacklevel=level)


@dataclass
class _Guarded:
    """A hook whose failures are warnings."""

    name: str
    make: Callable[[], Hook]
    thing: Hook | None = None
    failures: int = 0
    given: Hook | None = None
    """The object itself, where one was given instead of a spec."""
    longest: float | None = None
    """Seconds that a call may take in a thread of the hook's own; None: any, in the caller's."""
    _thread: SimpleQueue[tuple[Callable[[], None], Future[None]]] | None = None

    def tell(self, step: Callable[[Hook], None]) -> None:
        if self.failures >= _PATIENCE:
            return
        try:
            self._call(step)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - trackers raise anything
            # What cannot be opened takes its time each time.
            self.failures += 1 if self.thing is not None else _PATIENCE
            if self.given is not None:
                _failing[id(self.given)] = self  # which holds it: the id stays its own
            left = self.failures >= _PATIENCE
            why = " ".join(str(error).split())[:500]
            warn(
                f"the hook {self.name} failed: {type(error).__name__}: {why}"
                + ("; it is not called again" if left else "")
            )
        else:
            self.failures = 0
            _failing.pop(id(self.given), None)

    def _call(self, step: Callable[[Hook], None]) -> None:
        def work() -> None:
            self.thing = self.make() if self.thing is None else self.thing
            step(self.thing)

        if self.longest is None:
            return work()
        if self._thread is None:
            self._thread = SimpleQueue()
            Thread(target=_serve, args=(self._thread,), daemon=True).start()
        done: Future[None] = Future()
        self._thread.put((work, done))
        try:
            done.result(self.longest)
        except TimeoutError as error:
            raise (
                error if done.done() else TimeoutError(f"takes over {self.longest:g} s")
            ) from None


def _serve(calls: SimpleQueue[tuple[Callable[[], None], Future[None]]]) -> None:
    while True:
        work, done = calls.get()
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - who waits for it raises it
            done.set_exception(error)


@dataclass
class HookSet:
    """Hooks that are told together."""

    hooks: Sequence[_Guarded] = field(default_factory=tuple)

    def log(
        self, scores: Scores, new: Names, step: int | None, again: Names = (), over: Names = ()
    ) -> None:
        """Hand on the items ``new``, with means ``over`` more; ``again`` were logged before."""
        clips = [LoggedClip(scores[item], item in again) for item in new]
        logged = Logged(step, means_of(scores, over or new), clips)
        for hook in self.hooks:
            hook.tell(lambda thing: thing.log(logged))

    def alarm(self, alarm: Alarm, *, withdrawn: bool = False) -> None:
        """Hand on an alarm, or take it back."""
        for hook in self.hooks:
            hook.tell(lambda thing: (thing.withdraw if withdrawn else thing.alarm)(alarm))

    def close(self) -> None:
        for hook in self.hooks:
            if hook.thing is not None:
                hook.tell(lambda thing: thing.close())
                hook.thing = None


def means_of(scores: Scores, items: Sequence[str]) -> dict[str, float]:
    """Average each value over these videos."""
    by_name = grouped(named for item in items for named in scores[item].numbers.items())
    return {name: sum(values) / len(values) for name, values in by_name.items()}


_open: dict[str, _Guarded] = {}
_failing: dict[int, _Guarded] = {}
"""Objects whose last call failed, by id: their failures count from call to call."""


def open_hooks(hooks: str | Hook | Sequence[str | Hook], longest: float | None = None) -> HookSet:
    """Open hooks, by spec or as objects; one of the same spec stays open from call to call.

    An unknown name or option is an error at once; whatever fails later is a warning. With
    ``longest`` they run in threads of their own, and a call that takes more seconds has failed.
    """
    given = [hooks] if isinstance(hooks, str) or not isinstance(hooks, Sequence) else hooks
    opened = [_by_spec(hook) if isinstance(hook, str) else _guarded(hook) for hook in given]
    for guarded in opened:
        guarded.longest = longest
    return HookSet(opened)


def _guarded(hook: Hook) -> _Guarded:
    if not callable(getattr(hook, "log", None)):
        raise BadOption.of("hooks", hook, "names, or objects with a method log")
    return _failing.get(id(hook)) or _Guarded(type(hook).__name__, lambda: hook, given=hook)


def _by_spec(text: str) -> _Guarded:
    if text not in _open:
        name, options = parse(text)
        registry.entry("hook", name).spec(options)  # a misspelled name or option is the user's
        _open[text] = _Guarded(text, lambda: build("hook", text).thing)
        if len(_open) == 1:
            atexit.register(close_hooks)
    return _open[text]


def close_hooks() -> None:
    """Close the hooks that are open."""
    kept = list(_open.values())
    _open.clear()
    HookSet(kept).close()
