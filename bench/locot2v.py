"""LoCoT2V-Bench's metrics that stream: all in one scan against one scan each.

    python bench/locot2v.py [VIDEO] [--seconds 60] [--height 720]

By processor time, which a busy machine changes little. Without
a video, the packaged sample is looped and scaled up with ffmpeg.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from importlib.resources import files
from pathlib import Path

from _figures import figure, publish_lines, ratio
from screentest.core import Item, build
from screentest.measure.items import measure
from screentest.run.session import Settings, Tools

METRICS = (
    "locot2v_temporal_flickering",
    "locot2v_dynamic_degree",
    "locot2v_motion_smoothness",
    "locot2v_warping_error",
    "locot2v_semantic_consistency",
    "locot2v_aesthetic_quality",
    "locot2v_technical_quality",
)


def film(folder: Path, seconds: float, height: int) -> Path:
    """So many seconds of the sample at this height."""
    source = Path(str(files("screentest") / "sample" / "bbb_first30s_640x360.mp4"))
    out = folder / "film.mp4"
    command = ["ffmpeg", "-v", "error", "-y", "-stream_loop", "-1", "-i", str(source)]
    scale = ["-vf", f"scale=-2:{height}", "-t", str(seconds), "-an"]
    coding = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18"]
    subprocess.run([*command, *scale, *coding, str(out)], check=True)
    return out


def timed(names: tuple[str, ...], item: Item, tools: Tools) -> float:
    """Processor seconds that measuring takes."""
    start = time.process_time()
    outcomes = measure(item, {name: build("metric", name).thing for name in names}, tools)
    for name in names:
        for outcome in outcomes[name].values():
            outcome.unwrap()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("video", nargs="?", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--height", type=int, default=720)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        video = given.video or film(Path(folder), given.seconds, given.height)
        tools = Tools(Settings())
        item = Item("film", video)
        info = tools.info(video)
        print(f"{info.width}×{info.height}, {float(info.duration):.1f} s, {info.frames} frames")
        roles = ("aesthetic", "technical", "flow", "interpolation", "image_features")
        print("; ".join(f"{role}: {tools.models.signature(role)}" for role in roles))
        timed(METRICS[:1], item, tools)  # everything is loaded, the file is in memory
        alone = {name: timed((name,), item, tools) for name in METRICS}
        for name, seconds in alone.items():
            figure(name, seconds, "s")
        total, together = sum(alone.values()), timed(METRICS, item, tools)
        figure("one by one", total, "s")
        figure("one scan", together, "s")
        ratio("one by one / one scan", total / together, "above 1")
    publish_lines("locot2v", f"python bench/locot2v.py --seconds {given.seconds:g}")


if __name__ == "__main__":
    main()
