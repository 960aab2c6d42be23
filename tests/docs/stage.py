"""What the examples of the pages find in their folder: films, a manifest, runs, a testbed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av

import screentest
from screentest.inputs.manifest import write_manifest
from screentest.sample import sample_folder, sample_videos

FILMS = ("frenchgp_1906", "real_5shots")
MODELS = {"ours": "", "theirs": "b-"}
"""With what the ids of each begin: the two have the same prompts."""
RATE = 12
ASPECTS = ("aesthetics", "dynamics_degree")


def _small(source: Path, target: Path) -> None:
    """The same film with a tenth of the pixels a second: every page decodes it."""
    with av.open(str(source)) as given, av.open(str(target), "w") as made:
        stream = made.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = 240, 136, "yuv420p"
        next_one = 0
        for frame in given.decode(video=0):
            if frame.time * RATE >= next_one:
                small = frame.reformat(stream.width, stream.height)
                small.pts, small.time_base = next_one, Fraction(1, RATE)
                made.mux(stream.encode(small))
                next_one += 1
        made.mux(stream.encode())


def _write_numbers(folder: Path) -> None:
    """Scores of another tool: VBench's files of two models, and a table."""
    rows = ["model,prompt,metric,value"]
    for model in MODELS:
        videos = [
            {"video_path": f"{model}/{prompt}-0.mp4", "video_results": 0.5 + place / 10}
            for place, prompt in enumerate(FILMS)
        ]
        (folder / model).mkdir()
        text = json.dumps({"subject_consistency": [0.55, videos]})
        (folder / model / "results_eval_results.json").write_text(text, encoding="utf-8")
        rows += [f"{model},{film},{name},0.5" for film in FILMS for name in ("FVD", "flicker")]
    (folder / "numbers.csv").write_text("\n".join(rows), encoding="utf-8")


def set_up(folder: Path) -> None:
    """Two short films by each of two models, scored, and a testbed of two with certificates."""
    videos = folder / "videos"
    videos.mkdir(parents=True)
    items = []
    for one in sample_videos():
        if one.item.id in FILMS:
            copy = videos / f"{one.item.id}.mp4"
            _small(one.item.video, copy)
            items += [
                replace(one.item, id=f"{mark}{one.item.id}", video=copy, groups={"model": model})
                for model, mark in MODELS.items()
            ]
    films = [item for item in items if item.id in FILMS]
    write_manifest(folder / "manifest.jsonl", items)
    write_manifest(folder / "films.jsonl", films)
    shutil.copy(videos / "real_5shots.mp4", folder / "film.mp4")
    _small(sample_folder() / "sintel_trailer_30s_640x272.mp4", folder / "trailer.mp4")
    (folder / "prompts.txt").write_text("A red bus passes.\nTwo dogs run.\n", encoding="utf-8")
    votes = ["video_a,video_b,aspect,vote,prompt", f"{FILMS[0]}.mp4,{FILMS[1]}.mp4,looks,b,a race"]
    (folder / "votes.csv").write_text("\n".join(votes), encoding="utf-8")
    scores = ["id,value", f"{FILMS[0]},0.3", f"{FILMS[1]},0.5"]
    (folder / "scores.csv").write_text("\n".join(scores), encoding="utf-8")
    _write_numbers(folder)
    screentest.score(items, metrics=["contrast", "shot_count"], out=folder / "scores")
    bed = screentest.build(
        films,
        out=folder / "testbed",
        aspects=ASPECTS,
        placebos=["container", "noise"],
        clips=1,
        long_side=160,
        fps=8,
    )
    shutil.copy(folder / "testbed/videos/real_5shots/intact.mp4", folder / "one.mp4")
    shutil.copy(folder / "testbed/videos/real_5shots/aesthetics.mp4", folder / "two.mp4")
    screentest.certify(["baseline", "sharpness"], bed, out=folder / "certificates")
    for day in ("monday", "tuesday"):
        shutil.copytree(folder / "certificates", folder / day)
    for machine in ("machine1", "machine2"):
        shutil.copytree(folder / "scores", folder / machine / "scores")
