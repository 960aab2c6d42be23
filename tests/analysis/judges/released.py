"""Scores that others have released, under the names that the releases of votes have."""

from __future__ import annotations

import csv
import json
from pathlib import Path

GENERATORS = {
    "cogvideo": "cogvideo",
    "damo-text2video": "modelscope-t2v",  # the ratings and the scores call it differently
    "ground-truth": "ground-truth",
    "text2video-zero": "text2video-zero",
    "zeroscope": "zeroscope",
}


def fetv_scores(data: Path) -> dict[str, dict[str, float]]:
    """By metric and video."""
    found: dict[str, dict[str, float]] = {"CLIPScore": {}, "UMTScore": {}}
    for metric, scores in found.items():
        for name, file in GENERATORS.items():
            path = data / "fetv" / metric / f"auto_eval_results_{file}.json"
            values = json.loads(path.read_text(encoding="utf-8"))
            scores |= {f"{name}/{number}": value for number, value in values.items()}
    return found


def tvge_scores(data: Path) -> dict[str, dict[str, float]]:
    """By metric and video."""
    found: dict[str, dict[str, float]] = {}
    with (data / "t2vscore/t2vscore_results.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            video = f"{row.pop('model_name')}/{row.pop('video_id')}"
            row.pop("prompt")
            for metric, value in row.items():
                found.setdefault(metric, {})[video] = float(value)
    return found
