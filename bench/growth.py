"""How time and memory grow: with the length of a film, the number of items, the number of workers.

Each measurement is a process of its own, so that its memory is its own. “Against linear” is what a
unit costs over what it costs at the second size: 1 is linear, below 1 is better.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from _figures import Table, peak_memory_mb, publish

MINUTES = (1, 10, 60, 180)
ITEMS = (10, 100, 1_000, 10_000)
WORKERS = (1, 2)
METRICS = "sharpness,flicker,noise"


def film(path: Path, minutes: float, rate: int = 5) -> Path:
    """Moving shapes of 96 × 64 with grain, five frames a second: tiny, and never still."""
    import av

    grain = np.random.default_rng(7).integers(0, 40, (16, 96, 96), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=Fraction(rate))
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        stream.options = {"preset": "ultrafast", "g": "25"}
        for number in range(round(minutes * 60 * rate)):
            planes = grain[number % 16] + np.uint8(60)
            planes[8:24, number % 64 : number % 64 + 24] = 200
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def measured(what: str, *arguments: object) -> dict[str, float]:
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, what, *(str(one) for one in arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def score(videos: list[Path], out: Path, workers: int) -> dict[str, float]:
    """Score videos into a new run; seconds, processor seconds and the memory of the driver."""
    import resource

    from screentest.core import Item
    from screentest.measure.tasks import score_items
    from screentest.run.engine import InlineEngine, LocalEngine
    from screentest.run.store import RunStore

    items = [Item(f"film-{number}", video) for number, video in enumerate(videos)]
    engine = LocalEngine(workers=workers) if workers else InlineEngine()
    began = time.perf_counter()
    with RunStore(out, command="bench") as store:
        done = score_items(store, items, METRICS.split(","), engine=engine)
        assert not done.failures, done.failures
    elapsed = time.perf_counter() - began
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "seconds": elapsed,
        "processor": sum(one.ru_utime + one.ru_stime for one in used),
        "memory": peak_memory_mb(),
    }


def say(what: str, figures: dict[str, float], units: float) -> None:
    print(
        f"{what:<28} {figures['seconds']:>8.1f} s {figures['processor']:>8.1f} s of a processor, "
        f"{1000 * figures['processor'] / units:>8.1f} ms each; {figures['memory']:>6.0f} MB",
        flush=True,
    )


Sized = tuple[dict[str, float], float]
COLUMNS = {"processor seconds": "{:.1f}", "ms a unit": "{:,.1f}", "unit against linear": "{:.2f}"}


def table(of: str, sized: list[Sized]) -> Table:
    """A row for each size; against the second, since the first is mostly the start."""
    unit = sized[1][0]["processor"] / sized[1][1]
    rows = [
        (units, made["processor"], 1000 * made["processor"] / units, against, made["memory"])
        for made, units in sized
        for against in (made["processor"] / units / unit,)
    ]
    return Table({of: "{:,g}", **COLUMNS, "memory, MB": "{:.0f}"}, rows)


def with_length(folder: Path) -> Table:
    lengths: list[Sized] = []
    for minutes in MINUTES:
        video = film(folder / f"{minutes}.mp4", minutes)
        lengths.append((measured("_film", video, folder / f"film{minutes}"), float(minutes)))
        say(f"a film of {minutes} minutes", *lengths[-1])
    return table("minutes of film", lengths)


def with_items(folder: Path, most: int) -> Table:
    """In one process, whose processor time and memory are then those of the whole work."""
    tiny = film(folder / "tiny.mp4", 1 / 30)
    numbers: list[Sized] = []
    for count in (one for one in ITEMS if one <= most):
        figures = measured("_items", tiny, count, folder / f"items{count}", 0)
        numbers.append((figures, float(count)))
        say(f"{count:,} items of 2 seconds", *numbers[-1])
    return table("films of 2 seconds", numbers)


def with_workers(folder: Path) -> None:
    tiny = film(folder / "tiny.mp4", 1 / 30)
    hands = []
    for workers in WORKERS:
        figures = measured("_items", tiny, 1000, folder / f"hands{workers}", workers)
        hands.append(figures["seconds"])
        print(f"1,000 items, {workers} workers: {hands[-1]:.1f} s by the clock", flush=True)
    print(f"two workers are {hands[0] / hands[1]:.2f} times as fast as one")


def main() -> None:
    wanted = sys.argv[1:] or ["length", "items", "workers"]
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as place:
        folder = Path(place)
        tables = {}
        if "length" in wanted:
            tables["length"] = with_length(folder)
        if "items" in wanted:
            tables["items"] = with_items(folder, int(os.environ.get("GROWTH_ITEMS", ITEMS[-1])))
        if len(tables) == 2:
            publish("growth", "python bench/growth.py", tables)
        if "workers" in wanted:
            with_workers(folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["_film"]:
        print(json.dumps(score([Path(sys.argv[2])], Path(sys.argv[3]), workers=0)))
    elif sys.argv[1:2] == ["_items"]:
        films = [Path(sys.argv[2])] * int(sys.argv[3])
        print(json.dumps(score(films, Path(sys.argv[4]), int(sys.argv[5]))))
    else:
        main()
