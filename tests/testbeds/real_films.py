"""Real films with scripts as one corpus: ``python -m tests.testbeds.real_films DATA OUT [NAME…]``.

``make testbed`` builds from it. DATA is the folder that ``SCREENTEST_DATA`` names; names are those
of its captions, or sample_ and the name of a packaged film; without any all are taken.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from screentest.core import Clip, Item, Script, Span
from screentest.inputs.manifest import write_manifest
from screentest.sample import sample_videos
from screentest.video.probe import probe


def real_films(data: Path) -> list[Item]:
    """Every film whose shots have captions with times, by name."""
    videos = data / "video"
    films = []
    for path in sorted((videos / "captions").glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))
        if "shots" in known:
            films.append(_film(path.stem, videos / known["video"], known["shots"]))
        elif "shot_scripts_assumed" in known:
            films += _equal_shots(known, videos)
    return films


def packaged_films() -> list[Item]:
    """Those of the packaged sample: their captions say what is at the left and at the right."""
    return [
        replace(one.item, id=f"sample_{one.item.id}", groups={"made": "filmed or animated"})
        for one in sample_videos()
    ]


def short_videos(data: Path) -> list[Item]:
    """Videos of one shot, each with a caption: to be joined."""
    videos = data / "video"
    captions: dict[str, str] = {}
    for name in ("singleshot", "cogvideox"):
        known = json.loads((videos / "captions" / f"{name}.json").read_text(encoding="utf-8"))
        captions |= known.get("captions", known)
    return [
        Item(id=Path(name).stem, video=videos / name, prompt=caption)
        for name, caption in sorted(captions.items())
        if (videos / name).exists()
    ]


def _film(name: str, video: Path, shots: list[dict[str, Any]]) -> Item:
    rate = probe(video).rate
    clips = tuple(
        Clip(shot["caption"], Span(shot["start_frame"] / rate, shot["end_frame"] / rate))
        for shot in shots
    )
    return Item(id=name, video=video, script=Script(clips), groups={"made": _made(video)})


def _equal_shots(known: dict[str, Any], videos: Path) -> list[Item]:
    """One story by several generators: as many shots as lines, all equally long."""
    captions, films = known["shot_scripts_assumed"], []
    for name in known["videos"]:
        info = probe(videos / name)
        edges = [info.duration * Fraction(number, len(captions)) for number in range(31)]
        clips = tuple(
            Clip(caption, Span(edges[number], edges[number + 1]))
            for number, caption in enumerate(captions)
        )
        video = videos / name
        films.append(Item(video.stem, video, script=Script(clips), groups={"made": _made(video)}))
    return films


def _made(video: Path) -> str:
    return "generated" if video.parent.name == "ai_generated" else "filmed or animated"


def main() -> None:
    data, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    every = [*real_films(data), *packaged_films()]
    films = [film for film in every if not sys.argv[3:] or film.id in sys.argv[3:]]
    if not films:
        sys.exit(f"there are no captions in {data / 'video'}")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_manifest(out, films)
    sys.stdout.write(f"{len(films)} films in {out}\n")


if __name__ == "__main__":
    main()
