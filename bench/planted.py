"""What `compare` says of planted models: the same real clips, intact and damaged in known ways.

    python bench/planted.py make DATA OUT      12 clips of real films, each saved by every model
    python bench/planted.py measure OUT
    python bench/planted.py compare OUT        the headline of the clean one against each other
    python bench/planted.py make DATA OUT --held-out

The constants of `compare` were chosen with the first twelve clips in sight. `--held-out` takes
twelve others, and five kinds of damage more: tune nothing on them. Margins were measured on all
films there are, these among them.

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
from _figures import Table, publish
from margins import films
from screentest.analysis.models.comparison import compare_models
from screentest.analysis.runs import read_results
from screentest.run.reader import RunReader

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
UNSEEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "chroma_noise": ("noise=c1s=40:c1f=t:c2s=40:c2f=t", GOOD),
    "ghosting": ("tmix=frames=4", GOOD),
    "low_resolution": ("scale=iw/5:-2:flags=area,scale=320:-2:flags=bilinear", GOOD),
    "rolling_bands": (
        "format=yuv420p,geq=lum='lum(X,Y)*(0.85+0.15*sin(2*PI*(2*Y/H+N/10)))':cb='cb(X,Y)':cr='cr(X,Y)'",
        GOOD,
    ),
    "mosaic": ("scale=iw/8:-2:flags=area,scale=320:-2:flags=neighbor", GOOD),
}
"""With the held-out clips only."""
HELD_OUT = {
    "ai_generated/cogvideox_2.mp4": 0.0,
    "ai_generated/cogvideox_4.mp4": 0.0,
    "ai_generated/vgot_showcase_Garden_Seasons.mp4": 0.0,
    "ai_generated/vgot_showcase_Wildlife_Expedition.mp4": 0.0,
    "ai_generated/vgotstudy_chef_CogVideo.mp4": 0.0,
    "multishot/bbb_047-161s_640x360.mp4": 20.0,
    "multishot/nasa_webb_mirror_480x270.mp4": 0.0,
    "multishot/sintel_trailer_1280x720.mp4": 12.0,
    "singleshot/intel_bottle_detection.mp4": 5.0,
    "singleshot/sam2_bedroom.mp4": 0.0,
    "singleshot/sam2_blocks.mp4": 0.0,
    "singleshot/sam2_cups.mp4": 0.0,
}
"""Films of which no clip is among the first twelve, and from which second on."""
EQUAL = ("again", "other", "stabilised")
"""Nobody may win against these, nor they against the clean one."""


def ffmpeg(*arguments: str) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True)


def sources(data: Path, held_out: bool) -> list[tuple[Path, str, float]]:
    """Twelve films: path, prompt, and from which second on."""
    chosen = [one for one in films(data) if one[0].parent.name != "etva_microgravity"]
    if held_out:
        texts = {f"{path.parent.name}/{path.name}": (path, text) for path, text in chosen}
        return [(*texts[name], start) for name, start in HELD_OUT.items()]
    step = len(chosen) / 12
    return [(*chosen[int(number * step)], 0.0) for number in range(12)]


def make(data: Path, out: Path, *, held_out: bool = False) -> None:
    saved = PLANTED | (UNSEEN if held_out else {})
    rows = []
    for path, text, first in sources(data, held_out):
        for name in (*saved, *TWICE):
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
            start = first + (LATER if name == "other" else 0.0)
            options: tuple[str, ...]
            if name in TWICE:
                source, change = TWICE[name]
                given, options = ["-i", str(out / source / file.name)], GOOD
            else:
                change, options = saved[name]
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
    models = dict.fromkeys(item.groups["model"] for item in results.items.values())
    named = {}
    for clean in ("clean", "other"):
        for name in models:
            if name not in ("clean", clean):
                found = compare_models(results, f"model={clean},{name}")
                assert found is not None
                named[name, clean] = found.winner
                print(f"{clean} - {name}: {found.winner or 'undecided'}", flush=True)
    wins = sum(winner == clean for (_, clean), winner in named.items())
    wrong = sum(winner == name for (name, _), winner in named.items() if name not in EQUAL)
    even = sum(bool(winner) for (name, _), winner in named.items() if name in EQUAL)
    total = {"comparisons": "", "damaged model called best": "", "equal models with a winner": ""}
    total["original called best"] = ""
    called = {"": "undecided", "clean": "original", "other": "original"}
    rows = [
        (name, *(called.get(named[pair], named[pair]) if pair in named else None for pair in pairs))
        for name in models
        if name != "clean"
        for pairs in (((name, "clean"), (name, "other")),)
    ]
    each = {"model": "", "against the same moment": "", "against a later moment": ""}
    held_out = "mosaic" in models
    publish(
        f"planted{'_held_out' * held_out}",
        f"python bench/planted.py compare OUT{' (made with --held-out)' * held_out}",
        {
            "total": Table(total, [(len(named), wrong, even, wins)]),
            "models": Table(each, rows),
        },
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("make", "measure", "compare"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--held-out", action="store_true", help="with make: twelve other clips")
    asked = parser.parse_args()
    steps: dict[str, Callable[..., Any]] = {"make": make, "measure": measure, "compare": compare}
    options = {"held_out": True} if asked.held_out else {}
    steps[asked.step](*asked.paths, **options)


if __name__ == "__main__":
    main()
