"""Small videos made with the system's ffmpeg, one for each way a file can be awkward.

What ffprobe says of them is the reference: it is not our decoder.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

X264 = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")

# Without these the muxer moves every timestamp to where it likes them.
TS_AT_ITS_WORD = (
    *("-muxdelay", "0", "-muxpreload", "0", "-avoid_negative_ts", "disabled"),
    "-output_ts_offset",
)


@dataclass(frozen=True)
class Recipe:
    """How one awkward file is made."""

    name: str
    arguments: tuple[str, ...]
    suffix: str = ".mp4"
    source: str = "testsrc2=size=128x96:rate=24:duration=2"


RECIPES = (
    Recipe("plain", X264),
    Recipe("b_frames", ("-c:v", "libx264", "-bf", "3", "-b_strategy", "0", "-g", "12")),
    Recipe("open_gop", ("-c:v", "libx264", "-bf", "3", "-g", "8", "-x264-params", "open-gop=1")),
    Recipe("intra_refresh", ("-c:v", "libx264", "-x264-params", "intra-refresh=1:keyint=8")),
    Recipe("ntsc", X264, source="testsrc2=size=128x96:rate=24000/1001:duration=2"),
    Recipe("variable_rate", ("-vf", "select='not(mod(n,3))+gt(n,20)'", "-fps_mode", "vfr", *X264)),
    Recipe("gap", ("-vf", "setpts='if(lt(N,10),PTS,PTS+3/TB)'", "-fps_mode", "vfr", *X264)),
    Recipe("negative_start", ("-c:v", "mpeg2video", *TS_AT_ITS_WORD, "-0.5"), ".ts"),
    Recipe("late_start", (*X264, "-output_ts_offset", "7.3"), ".mkv"),
    Recipe("no_duration", (*X264, "-f", "matroska", "-live", "1"), ".mkv"),
    Recipe("transport_stream", ("-c:v", "mpeg2video", "-bf", "2", "-g", "12"), ".ts"),
    Recipe("mpeg4_avi", ("-c:v", "mpeg4", "-bf", "2"), ".avi"),
    Recipe("raw_h264", (*X264, "-bsf:v", "h264_mp4toannexb", "-f", "h264"), ".h264"),
    Recipe(
        "hevc_open_gop", ("-c:v", "libx265", "-x265-params", "log-level=error:keyint=8"), ".mp4"
    ),
    Recipe("ten_bit", ("-c:v", "libx264", "-pix_fmt", "yuv420p10le", "-preset", "ultrafast")),
    Recipe("gray", ("-c:v", "ffv1", "-pix_fmt", "gray"), ".mkv"),
    Recipe("alpha", ("-c:v", "png", "-pix_fmt", "rgba"), ".mov"),
    Recipe("odd_size", ("-c:v", "libvpx", "-b:v", "200k"), ".webm", "testsrc2=s=97x61:r=24:d=1"),
    Recipe("vp9", ("-c:v", "libvpx-vp9", "-b:v", "100k", "-cpu-used", "8"), ".webm"),
    Recipe("gif", (), ".gif", "testsrc2=size=64x48:rate=10:duration=1"),
    Recipe("one_frame", (*X264, "-frames:v", "1")),
    Recipe("two_frames", (*X264, "-frames:v", "2")),
    Recipe(
        "interlaced", ("-vf", "interlace", "-c:v", "mpeg2video", "-flags", "+ildct+ilme"), ".mpg"
    ),
    Recipe("edit_list", ("-ss", "0.7", *X264)),
)
BY_NAME = {recipe.name: recipe for recipe in RECIPES}


def make(ffmpeg: str, recipe: Recipe, folder: Path) -> Path:
    """Render ``recipe`` into ``folder``."""
    out = folder / f"{recipe.name}{recipe.suffix}"
    subprocess.run(
        [ffmpeg, "-v", "error", "-y", "-f", "lavfi", "-i", recipe.source, *recipe.arguments, out],
        check=True,
    )
    return out


def trimmed_by_copy(ffmpeg: str, folder: Path) -> Path:
    """A file whose edit list hides frames that are only there to decode from."""
    whole = make(ffmpeg, BY_NAME["b_frames"], folder)
    out = folder / "trimmed.mp4"
    subprocess.run(
        [ffmpeg, "-v", "error", "-y", "-ss", "0.7", "-i", whole, "-c", "copy", out], check=True
    )
    return out


def rotated(ffmpeg: str, folder: Path, degrees: int) -> Path:
    """A file whose header says that it is to be shown turned."""
    plain = make(ffmpeg, BY_NAME["plain"], folder)
    out = folder / f"rotated_{degrees}.mp4"
    tag = ["-metadata:s:v:0", f"rotate={degrees}"]
    subprocess.run([ffmpeg, "-v", "error", "-y", "-i", plain, "-c", "copy", *tag, out], check=True)
    return out


def ffprobe_times(ffprobe: str, video: Path) -> list[Fraction | None]:
    """The presentation time of every frame that ffprobe decodes; None where it knows none."""
    shown = _probe(ffprobe, video, "stream=time_base:frame=best_effort_timestamp", "-show_frames")
    base = Fraction(shown["streams"][0]["time_base"])
    ticks = [frame.get("best_effort_timestamp") for frame in shown["frames"]]
    return [None if tick is None else int(tick) * base for tick in ticks]


def ffprobe_stream(ffprobe: str, video: Path) -> dict[str, str]:
    """What ffprobe says of the video stream."""
    stream: dict[str, str] = _probe(ffprobe, video, "stream", "-count_frames")["streams"][0]
    return stream


def _probe(ffprobe: str, video: Path, entries: str, *more: str) -> dict[str, list[dict[str, str]]]:
    command = [ffprobe, "-v", "error", "-select_streams", "v:0", "-of", "json", *more]
    command += ["-show_entries", entries, str(video)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, list[dict[str, str]]] = json.loads(done.stdout)
    return told
