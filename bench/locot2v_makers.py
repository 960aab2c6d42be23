"""Four generators on one story, scored with LoCoT2V-Bench: a leaderboard with intervals.

    python bench/locot2v_makers.py DATA --out FOLDER [OPTIONS OF screentest score…]

DATA holds ``ai_generated/vgotstudy_chef_*.mp4`` and ``captions/vgotstudy_chef.json``: a story of
thirty shots by four generators (VideoGen-of-Thought's user study). Each film is cut into five
parts of six shots, without loss; a part's prompt is its six lines of the script. So four
generators have five prompts in common, which is what an interval can be taken over. Everything
else is done by the commands of docs/locot2v.md, which are printed. Without a chat model, what
needs none is scored.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av

PARTS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given, more = parser.parse_known_args()
    study = json.loads((given.data / "captions/vgotstudy_chef.json").read_text(encoding="utf-8"))
    lines = study["shot_scripts_assumed"]
    each = len(lines) // PARTS
    suite = given.out / "suite.json"
    given.out.mkdir(parents=True, exist_ok=True)
    records = {
        f"chef_{part}": {"prompt": " ".join(lines[each * part : each * (part + 1)])}
        for part in range(PARTS)
    }
    suite.write_text(json.dumps({"chef": records}, indent=2), encoding="utf-8")
    runs = []
    for path in study["videos"]:
        film = given.data / path
        maker = film.stem.rpartition("_")[2]
        videos = given.out / "videos" / maker
        videos.mkdir(parents=True, exist_ok=True)
        starts = re.findall(r"\d+(?=[,)])", study["frames_per_shot"][maker])
        cut(film, videos, [int(one) for one in starts] if len(starts) > 2 else [], each)
        runs.append(given.out / f"run_{maker}")
        screentest(
            *("score", "--suite", "locot2v", "--videos", videos, "--data", suite),
            *("--model-name", maker, "--out", runs[-1], *more),
        )
    screentest("suite", "locot2v", "analyse", *runs, "--charts", given.out / "charts")


def cut(film: Path, folder: Path, starts: list[int], each: int) -> None:
    """The parts of a film, each of so many shots; without known starts, parts of equal length."""
    with av.open(str(film)) as source:
        stream: Any = source.streams.video[0]
        rate = Fraction(stream.average_rate)
        frames = [frame.to_ndarray(format="rgb24") for frame in source.decode(stream)]
    inner = starts[each - 1 :: each] if starts else []
    inner = inner or [round(len(frames) * part / PARTS) for part in range(1, PARTS)]
    for part, (start, end) in enumerate(pairwise([0, *inner, len(frames)])):
        with av.open(str(folder / f"chef_{part}.mkv"), "w") as out:
            coded: Any = out.add_stream("ffv1", rate=rate)
            coded.height, coded.width = frames[0].shape[:2]
            coded.pix_fmt = "bgr0"
            for number, picture in enumerate(frames[start:end]):
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame.pts, frame.time_base = number, 1 / rate
                out.mux(coded.encode(frame))
            out.mux(coded.encode(None))


def screentest(*arguments: str | Path) -> None:
    """Run the command as a user has it."""
    print("$ screentest", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "screentest", *map(str, arguments)], check=True)


if __name__ == "__main__":
    main()
