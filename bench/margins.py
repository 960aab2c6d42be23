"""How far each measure moves where nothing is wrong: `analysis/models/margins.json`.

    python bench/margins.py make DATA CLIPS     clips of the films in DATA, each saved in eight ways
    python bench/margins.py measure CLIPS       scores of them, builtin and with --models light
    python bench/margins.py write CLIPS > src/screentest/analysis/models/margins.json

Of metrics that have changed alone: ``measure CLIPS --metrics noise``; what ``write`` prints then is
put in place of theirs.

The same frames are saved as two people would save them: with x264 at crf 16, and once more at crf
18, 20 and 23, with another preset, encoded twice, in another container, or without the first frame.
No model is better for any of that. Of each film the largest difference to crf 16 counts, and of
all films the margin is what nine in ten stay within, as the margins of certificates are
(judges/from_metrics.py).
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import screentest
from screentest.analysis.models.margins import key_of
from screentest.analysis.results import POOLS, plain_name
from screentest.analysis.runs import read_results
from screentest.run.reader import RunReader

SIZES = {"small": (320, 2.0), "large": (640, 4.0)}
"""Long side in pixels, and seconds; large ones of generated films and of those with cuts."""
LARGE_TOO = ("ai_generated", "multishot")
PLAIN = "crf16"
SAVED = {
    PLAIN: ("-crf", "16"),
    "crf18": ("-crf", "18"),
    "crf20": ("-crf", "20"),
    "crf23": ("-crf", "23"),
    "preset": ("-crf", "16", "-preset", "medium"),
    "trim": ("-crf", "16"),
}
"""How the frames are encoded; ``twice`` and ``container`` are made of the plain one."""
SAME_FILM = {"bbb_full_512x288", "bbb_first30s_854x480", "frenchgp_1906_214x160"}
"""Excerpts of films that are there already; and one with less than 320 pixels."""
RUNS: dict[str, dict[str, Any]] = {
    "builtin": {},
    "light": {
        "models": "light",
        "metrics": ("named_colours", "caption_agreement", "prompt_objects", "clipscore"),
    },
}
"""The suite core as it is, and what reads the prompt with the small open models."""
CAUSES = ("faults.texture_detail", "faults.halos", "grain", "tones.brightness", "contrast")
"""What only describes, and explains a lead in something else: see ``SideEffect``."""
WITHIN = 0.9


def films(data: Path) -> Iterator[tuple[Path, str]]:
    """Every film with a caption, or at least with what was asked for."""
    videos = data / "video"
    texts: dict[str, str] = {}
    for path in sorted((videos / "captions").glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))
        if "shots" in known and "video" in known:
            texts[known["video"]] = known["shots"][0].get("caption", "")
        texts |= {k: v for k, v in (known.get("captions") or known).items() if isinstance(v, str)}
    for folder in ("ai_generated", "etva_microgravity", "multishot", "singleshot"):
        for path in sorted((videos / folder).iterdir()):
            if path.suffix in (".mp4", ".webm", ".mpg") and path.stem not in SAME_FILM:
                asked = "Water is slowly pouring out of glass cup in the space station."
                default = asked if folder == "etva_microgravity" else ""
                yield path, texts.get(f"{folder}/{path.name}") or default


def ffmpeg(*arguments: str) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True)


def save(path: Path, folder: Path, side: int, seconds: float) -> None:
    """The same frames in eight files."""
    scale = f"scale='if(gte(iw,ih),{side},-2)':'if(gte(iw,ih),-2,{side})'"
    for name, options in SAVED.items():
        trim = ",trim=start_frame=1,setpts=PTS-STARTPTS" if name == "trim" else ""
        ffmpeg(
            *("-i", str(path), "-t", str(seconds), "-an", "-vf", f"{scale}{trim}"),
            *("-pix_fmt", "yuv420p", "-threads", "1", "-c:v", "libx264"),
            *("-preset", "veryfast", *options, str(folder / f"{name}.mp4")),
        )
    plain = str(folder / f"{PLAIN}.mp4")
    ffmpeg("-i", plain, "-c", "copy", str(folder / "container.mkv"))
    ffmpeg("-i", plain, "-crf", "18", "-threads", "1", str(folder / "twice.mp4"))


def make(data: Path, out: Path) -> None:
    rows = []
    for path, text in films(data):
        for size, (side, seconds) in SIZES.items():
            if size == "large" and path.parent.name not in LARGE_TOO:
                continue
            folder = out / size / path.stem
            folder.mkdir(parents=True, exist_ok=True)
            if len(list(folder.iterdir())) < len(SAVED) + 2:  # else made by an earlier start
                save(path, folder, side, seconds)
            for file in sorted(folder.iterdir()):
                groups = {"film": path.stem, "size": size, "saved": file.stem}
                name = f"{size}/{path.stem}/{file.stem}"
                rows.append({"id": name, "video": str(file), "prompt": text, "groups": groups})
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (out / "clips.jsonl").write_text(lines, encoding="utf-8")


def measure(clips: Path, only: Sequence[str] = ()) -> None:
    for name, options in RUNS.items():
        wanted = [one for one in only if one in options.get("metrics", only)]
        if wanted or not only:
            chosen = {**options, "metrics": wanted} if wanted else options
            screentest.score(clips / "clips.jsonl", out=clips / name, workers=1, **chosen)


def moved(run: Path) -> dict[str, dict[str, dict[str, float]]]:
    """By measure and pool: of each film, the largest difference that any way of saving makes."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    with RunReader(run) as reader:
        results = read_results(reader)
    for pool in POOLS:
        for name, info in results.outputs.items():
            if info.descriptive and plain_name(name) not in CAUSES:
                continue
            values: dict[tuple[str, str], dict[str, float]] = {}
            key = ""
            for one in results.pooled(pool).of(name):
                groups = results.items[one.item].groups
                if one.outcome.value is not None:
                    place = values.setdefault((groups["film"], groups["size"]), {})
                    place[groups["saved"]] = one.outcome.value.value
                    key = key_of(one)
            for (film, _), saved in values.items():
                if PLAIN in saved and len(saved) > 1:
                    films = found.setdefault(key, {}).setdefault(pool, {})
                    most = max(abs(value - saved[PLAIN]) for value in saved.values())
                    films[film] = max(films.get(film, 0.0), most)
    return found


def write(clips: Path) -> None:
    merged: dict[str, dict[str, Any]] = {}
    for name in filter(lambda one: (clips / one).is_dir(), RUNS):
        for key, pools in moved(clips / name).items():
            entry = merged.setdefault(key, {})
            for pool, films in pools.items():
                rank = min(len(films), math.ceil(round(WITHIN * (len(films) + 1), 9)))
                entry[pool] = float(f"{sorted(films.values())[rank - 1]:.3g}")
                entry["films"] = len(films)
    counted = {key: entry for key, entry in merged.items() if entry["films"] >= 5}
    encoder = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True, check=True)
    origin = {
        "made_by": "bench/margins.py",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "screentest": version("screentest"),
        "encoder": " ".join(encoder.stdout.split()[:3]),
        "plain": "x264 crf 16, preset veryfast",
        "placebos": [*(one for one in SAVED if one != PLAIN), "container", "twice"],
        "clips": {size: f"{side} px, {seconds:g} s" for size, (side, seconds) in SIZES.items()},
        "rule": "of each film the largest difference; of films the ceil(0.9 (n + 1))-th smallest",
    }
    json.dump({"origin": origin, "margins": dict(sorted(counted.items()))}, sys.stdout, indent=1)
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("make", "measure", "write"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--metrics", nargs="*", default=(), help="measure these alone")
    asked = parser.parse_args()
    if asked.step == "measure":
        measure(asked.paths[0], asked.metrics)
        return
    steps: dict[str, Callable[..., None]] = {"make": make, "write": write}
    steps[asked.step](*asked.paths)


if __name__ == "__main__":
    main()
