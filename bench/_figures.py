"""What the benchmarks share: making a video, timing, peak memory, and one way to keep figures."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from importlib import metadata
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "bench" / "out"
RESULTS = ROOT / "docs" / "evidence" / "results"
PACKAGES = (
    "screentest",
    "numpy",
    "scipy",
    "opencv-contrib-python-headless",
    "av",
    "onnxruntime",
    "torch",
)

Cell = str | float | Sequence[float] | None
"""A text, a number, numbers that belong together, or nothing."""


@dataclass(frozen=True)
class Table:
    """Figures as a page shows them: each column's name with the format of its numbers."""

    columns: Mapping[str, str]
    rows: Sequence[Sequence[Cell]]


def publish(name: str, command: str, tables: Mapping[str, Table]) -> None:
    """Keep what a run measured; ``docs/evidence/write.py`` writes it into the pages."""
    origin = {
        "command": command,
        "commit": _commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": _machine(),
        "versions": _versions(),
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(as_json(origin, tables), encoding="utf-8")


def as_json(origin: Mapping[str, Any], tables: Mapping[str, Table]) -> str:
    """The content of a file of results, a row on each line."""
    parts = []
    for name, table in tables.items():
        rows = ",\n".join(f"   {_json([_short(cell) for cell in row])}" for row in table.rows)
        head = f'"columns": {_json(dict(table.columns))}, "rows": ['
        parts.append(f"  {_json(name)}: {{{head}\n{rows}\n  ]}}")
    begin = json.dumps(origin, indent=1, ensure_ascii=False).removesuffix("\n}")
    inner = ",\n".join(parts)
    return f'{begin},\n "tables": {{\n{inner}\n }}\n}}\n'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(cell: Any) -> Any:
    """Numbers with six digits: more are noise in a diff."""
    if isinstance(cell, float | np.floating):
        return float(f"{cell:.6g}")
    if isinstance(cell, np.integer):
        return int(cell)
    return cell if cell is None or isinstance(cell, str | int) else [_short(one) for one in cell]


def _commit() -> str:
    """The last that changed the product, with a plus where its files are changed."""
    try:
        said = [
            subprocess.run(["git", *words, "--", "src"], cwd=ROOT, capture_output=True, text=True)
            for words in (("log", "-1", "--abbrev=8", "--format=%h"), ("status", "--porcelain"))
        ]
    except OSError:
        return "unknown"
    return f"{said[0].stdout.strip() or 'unknown'}{'+' * bool(said[1].stdout.strip())}"


def _machine() -> str:
    """Its cores and its graphics card, where torch was asked for it."""
    names = Path("/proc/cpuinfo")
    text = names.read_text(encoding="utf-8") if names.exists() else ""
    models = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    cores = f"{os.cpu_count()} cores of {models[0] if models else platform.machine()}"
    torch = sys.modules.get("torch")
    card = torch.cuda.get_device_name() if torch and torch.cuda.is_available() else "no GPU"
    return f"{cores}, {card}"


def _versions() -> dict[str, str]:
    """Of Python and of the packages that figures depend on, where they are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def best_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of the quickest of several goes: the one least disturbed by others."""
    elapsed = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        elapsed.append(time.perf_counter() - start)
    return min(elapsed)


def cpu_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of processor time over all threads: nearly the same on a busy machine."""
    elapsed = []
    for _ in range(times):
        start = time.process_time()
        work()
        elapsed.append(time.process_time() - start)
    return min(elapsed)


_LINES: list[Sequence[Cell]] = []
"""What this process has printed."""


def figure(what: str, value: float, unit: str) -> None:
    """One line of figures."""
    print(f"{what:<52} {value:>12,.2f} {unit}")
    _LINES.append((what, float(f"{value:.3g}"), unit, ""))


def ratio(what: str, value: float, goal: str = "") -> None:
    """The line that counts."""
    wanted = f"   (goal {goal})" if goal else ""
    print(f"{what:<52} {value:>12.2f} ×{wanted}")
    _LINES.append((what, float(f"{value:.3g}"), "×", goal))


def publish_lines(name: str, command: str) -> None:
    """Keep the lines that were printed."""
    columns = {"what": "", "figure": "{:,g}", "unit": "", "goal": ""}
    publish(name, command, {"lines": Table(columns, _LINES)})


def peak_memory_mb() -> float:
    """The most memory this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024 * 1024)


def long_video(
    width: int, height: int, *, frames: int, rate: int, crf: int = 23, gop: int | None = None
) -> Path:
    """The packaged sample's films one after another, with film grain, as often as it takes.

    Real pictures, since synthetic ones decode several times faster than any film. Made once.
    ``gop`` is the most frames from one keyframe to the next; the encoder has 250.
    """
    import av

    keys = f"_gop{gop}" if gop is not None else ""
    path = OUT / f"long_{width}x{height}_{frames}f_{rate}fps_crf{crf}{keys}.mp4"
    if path.exists():
        return path
    OUT.mkdir(exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    grain = np.random.default_rng(7).normal(0, 3, (8, height, width)).astype(np.int16)
    with av.open(str(unfinished), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(rate))
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": str(crf)}
        if gop is not None:
            stream.options |= {"g": str(gop)}
        for number, picture in zip(range(frames), _films(width, height), strict=False):
            planes = picture.copy()
            luma = planes[:height].astype(np.int16) + grain[number % 8]
            planes[:height] = luma.clip(16, 235)
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    unfinished.rename(path)
    return path


def _films(width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    import av

    films = sorted(Path(str(files("screentest") / "sample")).glob("*.mp4"))
    for film in cycle(films):
        with av.open(str(film)) as container:
            for frame in container.decode(video=0):
                yield frame.reformat(width, height, "yuv420p").to_ndarray()
