"""What `compare` says of planted models: the same real clips, intact and damaged in known ways.

    python bench/planted.py make DATA OUT      12 clips of real films, each saved by every model
    python bench/planted.py measure OUT
    python bench/planted.py compare OUT        the headline of the clean one against each other

No damaged model may win against the clean one, nobody may win between two equal ones, and the clean
one should win against what is plainly worse. `other` is clean too, and shows the films a moment
later: its rivals differ from it in what they show, as two generators do.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import screentest
from margins import films
from screentest.run import RunReader
from screentest.scores.comparison import answer
from screentest.scores.results import read_results

SIDE, SECONDS, LATER = 320, 2.0, 2.5
GOOD = ("-crf", "16")
PLANTED: dict[str, tuple[str, tuple[str, ...]]] = {
    "clean": ("", GOOD),
    "again": ("", ("-crf", "18", "-preset", "medium")),
    "other": ("", GOOD),
    "over": ("lutrgb=r=val*1.5+20:g=val*1.5+20:b=val*1.5+20", GOOD),
    "under": ("lutrgb=r=val*0.5-25:g=val*0.5-25:b=val*0.5-25", GOOD),
    "dark": ("lutrgb=r=val*0.45:g=val*0.45:b=val*0.45", GOOD),
    "oversaturated": ("hue=s=2.2", GOOD),
    "grey": ("hue=s=0", GOOD),
    "yellow": ("lutrgb=r=val*1.1:g=val*1.02:b=val*0.7", GOOD),
    "flat": ("lutrgb=r=val*0.5+64:g=val*0.5+64:b=val*0.5+64", GOOD),
    "sharpened": ("unsharp=5:5:2.5", GOOD),
    "enlarged": ("scale=iw/3:-2,scale=320:-2:flags=bicubic", GOOD),
    "blurred": ("gblur=1.6", GOOD),
    "smoothed": ("hqdn3d=8:6:12:9", GOOD),
    "crf34": ("", ("-crf", "34")),
    "crf40": ("", ("-crf", "40")),
    "cedar": (
        "lutrgb=r=val*1.595+25:g=val*1.479+25:b=val*1.044+25",
        ("-crf", "38", "-preset", "medium"),
    ),
    "grain": ("noise=alls=14:allf=t", GOOD),
    "flicker": ("eq=brightness='0.08*(2*mod(n,2)-1)':eval=frame", GOOD),
    "stabilised": ("deshake=rx=16:ry=16:edge=mirror", GOOD),
}
"""How each model's frames are changed, and saved."""
TWICE = {
    "crf40_grain": ("crf40", "noise=alls=10:allf=t"),
    "crf40_sharp": ("crf40", "unsharp=5:5:1.5"),
}
"""Made of another model's files."""
EQUAL = ("again", "other", "stabilised")
"""Nobody may win against these, nor they against the clean one."""


def ffmpeg(*arguments: str) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True)


def make(data: Path, out: Path) -> None:
    chosen = [one for one in films(data) if one[0].parent.name != "etva_microgravity"]
    step = len(chosen) / 12
    rows = []
    for number in range(12):
        path, text = chosen[int(number * step)]
        for name in (*PLANTED, *TWICE):
            file = out / name / f"{path.stem}.mp4"
            file.parent.mkdir(parents=True, exist_ok=True)
            rows.append(
                {
                    "id": f"{name}/{path.stem}",
                    "video": str(file),
                    "prompt": text or path.stem.replace("_", " "),
                    "groups": {"model": name},
                }
            )
            if file.exists():
                continue
            start = LATER if name == "other" else 0.0
            options: tuple[str, ...]
            if name in TWICE:
                source, change = TWICE[name]
                given, options = ["-i", str(out / source / file.name)], GOOD
            else:
                change, options = PLANTED[name]
                given = ["-ss", str(start), "-i", str(path), "-t", str(SECONDS)]
            chain = ",".join(filter(None, [f"scale={SIDE}:-2" * (name not in TWICE), change]))
            preset = () if "-preset" in options else ("-preset", "veryfast")
            ffmpeg(
                *(*given, "-an", "-vf", chain, "-pix_fmt", "yuv420p", "-threads", "1"),
                *("-c:v", "libx264", *preset, *options, str(file)),
            )
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (out / "clips.jsonl").write_text(lines, encoding="utf-8")


def measure(out: Path) -> None:
    screentest.score(out / "clips.jsonl", out=out / "run", workers=1)


def compare(out: Path) -> None:
    with RunReader(out / "run") as reader:
        results = read_results(reader)
    wrong = 0
    for clean in ("clean", "other"):
        for name in (*PLANTED, *TWICE):
            if name in ("clean", clean):
                continue
            found = answer(results, f"model={clean},{name}")
            assert found is not None
            good = found.winner == "" if name in EQUAL else found.winner != name
            wrong += not good
            print(f"{'' if good else 'WRONG '}{clean} - {name}: {found}\n")
    print(f"{wrong} wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("make", "measure", "compare"))
    parser.add_argument("paths", nargs="+", type=Path)
    asked = parser.parse_args()
    steps: dict[str, Callable[..., Any]] = {"make": make, "measure": measure, "compare": compare}
    steps[asked.step](*asked.paths)


if __name__ == "__main__":
    main()
