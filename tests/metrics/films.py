"""Real clips, harmed step by step with the system's ffmpeg; and metrics measured on them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from screentest.core import Clip, Item, Outcomes, Score, Script, build
from screentest.measure.items import measure
from screentest.run.session import Settings, Tools

CODING = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "12", "-pix_fmt", "yuv420p", "-an")


def filtered(
    ffmpeg: str,
    source: Path,
    out: Path,
    filters: str = "null",
    *,
    start: float = 0,
    seconds: float = 1,
    coding: Sequence[str] = CODING,
) -> Path:
    """A piece of a film through a filter graph."""
    part = ["-ss", str(start), "-t", str(seconds)]
    command = [ffmpeg, "-v", "error", "-y", *part, "-i", str(source)]
    subprocess.run([*command, "-vf", filters, *coding, str(out)], check=True)
    return out


def item(video: Path, captions: Sequence[str] = ()) -> Item:
    """A video as an item, with an untimed script where there are captions."""
    script = Script(tuple(Clip(caption) for caption in captions)) if captions else None
    return Item("film", video, script=script)


def measured(spec: str, video: Path, captions: Sequence[str] = ()) -> Outcomes:
    """What one metric says of a video."""
    metrics = {spec: build("metric", spec).thing}
    return measure(item(video, captions), metrics, Tools(Settings()))[spec]


def score(spec: str, output: str, video: Path, captions: Sequence[str] = ()) -> Score:
    """One value of a metric; fails where there is none."""
    return measured(spec, video, captions)[output].unwrap()


def falls(values: Sequence[float]) -> bool:
    """Whether each value is below the one before."""
    return all(after < before for before, after in pairwise(values))
