"""Where the time of a scan goes: decoding, each conversion, each consumer, and what comes after.

By processor time of the thread that scans. The first argument is a video; without one, a film of
30 seconds in 720p is made of the packaged sample.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from _figures import Table, long_video, publish
from screentest.core import Item, Metric, build
from screentest.measure.items import StartedMetric, measure
from screentest.metrics import CORE
from screentest.run.session import Settings, Tools
from screentest.video import probe as probes
from screentest.video import scan as scans

Spent = defaultdict[tuple[str, str], float]
LEAST = 0.005
"""The share of all time from which on a step is listed."""


class Watch:
    """Adds processor time up by kind and name; what is inside counts for the inner one alone."""

    def __init__(self) -> None:
        self.spent: Spent = defaultdict(float)
        self.calls: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._inner = [0.0]

    def call(self, key: tuple[str, str], work: Callable[[], Any]) -> Any:
        self._inner.append(0.0)
        began = time.thread_time()
        try:
            return work()
        finally:
            whole = time.thread_time() - began
            self.spent[key] += whole - self._inner.pop()
            self.calls[key] += 1
            self._inner[-1] += whole


def watched(video: Path, names: list[str]) -> tuple[Watch, float]:
    """Measure a video with these metrics; returns what each step took, and all of it."""
    watch = Watch()
    owners: dict[int, str] = {}
    convert, attempt = probes.Converter.__call__, scans._Consumers._try
    sources, finish, consumers = scans.open_source, StartedMetric.finish, StartedMetric.consumers

    def timed_convert(self: Any, frame: Any) -> Any:
        size, layout = self._size, self._layout
        sides = size.long_side or size.short_side or size.exact or "full size"
        name = f"{layout.value}, {sides}{', inside borders' * bool(self._borders)}"
        return watch.call(("conversion", name), lambda: convert(self, frame))

    def timed_attempt(self: Any, watcher: Any, step: Any, argument: Any) -> None:
        name = owners.get(id(watcher.consumer), type(watcher.consumer).__name__)
        watch.call(("consumer", name), lambda: attempt(self, watcher, step, argument))

    def timed_consumers(self: Any) -> Any:
        found = consumers(self)
        owners.update((id(one), by_metric[id(self.metric)]) for one in found)
        return found

    def timed_finish(self: Any) -> Any:
        key = ("after the scan", by_metric[id(self.metric)])
        return watch.call(key, lambda: finish(self))

    def timed_sources(*arguments: Any) -> Any:
        source = sources(*arguments)
        frames = source.frames

        def timed(*more: Any, **named: Any) -> Iterator[Any]:
            walk = frames(*more, **named)
            while (item := watch.call(("decoding", ""), lambda: next(walk, None))) is not None:
                yield item

        source.frames = timed
        return source

    metrics: dict[str, Metric] = {name: build("metric", name).thing for name in names}
    by_metric = {id(metric): name for name, metric in metrics.items()}
    changed: list[tuple[Any, str, Any, Any]] = [
        (probes.Converter, "__call__", timed_convert, convert),
        (scans._Consumers, "_try", timed_attempt, attempt),
        (scans, "open_source", timed_sources, sources),
        (StartedMetric, "finish", timed_finish, finish),
        (StartedMetric, "consumers", timed_consumers, consumers),
    ]
    for owner, name, new, _ in changed:
        setattr(owner, name, new)
    try:
        began = time.thread_time()
        tools = Tools(Settings())
        watch.call(("else", ""), lambda: measure(Item("film", video), metrics, tools))
        return watch, time.thread_time() - began
    finally:
        for owner, name, _, old in changed:
            setattr(owner, name, old)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("video", nargs="?", type=Path)
    parser.add_argument("--metrics", nargs="+", default=list(CORE))
    parser.add_argument("--small", action="store_true", help="a film of 640×360")
    asked = parser.parse_args()
    width, height = (640, 360) if asked.small else (1280, 720)
    video = asked.video or long_video(width, height, frames=720, rate=24)
    watched(video, asked.metrics)  # imports and caches
    watch, whole = watched(video, asked.metrics)
    frames = probes.probe(video).frames
    rows = [
        (kind, name, seconds / whole, seconds / frames * 1e3, watch.calls[kind, name])
        for (kind, name), seconds in sorted(watch.spent.items(), key=lambda row: -row[1])
        if seconds > LEAST * whole
    ]
    for kind, name, share, each, calls in rows:
        print(f"{kind:<15} {name:<32} {share:>6.1%} {each:>8.3f} ms a frame {calls:>8,} calls")
    print(f"all of it: {whole:.2f} s of processor time, {frames / whole:.0f} frames/s")
    if asked.video is None:
        columns = {
            "step": "", "what": "", "share": "{:.1%}", "ms a frame": "{:.3f}", "calls": "{:,}",
        }  # fmt: skip
        small = "_small" * asked.small
        command = f"python bench/profile.py{' --small' * asked.small}"
        publish(f"profile{small}", command, {"steps": Table(columns, rows)})


if __name__ == "__main__":
    main()
