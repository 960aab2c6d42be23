"""Readers of ratings and scores that other projects have released.

FETV (Liu et al. 2023): three people's ratings of five sources, two metrics per video.
T2VScore (Wu et al. 2024): mean human ratings of 512 prompts × 5 models, four metrics.
UVE: 1,876 human preferences between two videos.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RATERS = ("human0", "human1", "human2")
# The ratings and the metrics name one generator differently.
GENERATORS = {
    "cogvideo": "cogvideo",
    "text2video-zero": "text2video-zero",
    "damo-text2video": "modelscope-t2v",
    "zeroscope": "zeroscope",
}
REAL = "ground-truth"

Key = tuple[str, str]
"""A source (generator or ground truth) and a prompt's number."""


@dataclass(frozen=True)
class Fetv:
    ratings: dict[str, dict[Key, list[int]]]
    """Per quality, what each rater said who rated it."""
    scores: dict[str, dict[Key, float]]
    """Per metric."""

    def mean(self, quality: str) -> dict[Key, float]:
        # A third of a sum is the same for the same ratings in any order.
        return {key: sum(given) / len(given) for key, given in self.ratings[quality].items()}


def read_fetv(folder: Path) -> Fetv:
    ratings: dict[str, dict[Key, list[int]]] = {}
    for rater in RATERS:
        for source in (*GENERATORS, REAL):
            lines = (folder / rater / f"{source}.json").read_text(encoding="utf-8").splitlines()
            for line in filter(None, lines):
                for number, rated in json.loads(line).items():
                    for quality, value in rated.items():
                        if quality != "video_id":
                            known = ratings.setdefault(quality, {})
                            known.setdefault((source, number), []).append(value)
    scores: dict[str, dict[Key, float]] = {}
    for metric in ("CLIPScore", "UMTScore"):
        for source, name in {**GENERATORS, REAL: REAL}.items():
            path = folder / metric / f"auto_eval_results_{name}.json"
            for number, score in json.loads(path.read_text(encoding="utf-8")).items():
                scores.setdefault(metric, {})[source, number] = score
    return Fetv(ratings, scores)


def read_t2vscore(folder: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Each metric's values, and the mean human alignment of the same videos."""
    text = (folder / "t2vscore_alignment_score.json").read_text(encoding="utf-8")
    human = json.loads(text)
    metrics: dict[str, list[float]] = {}
    alignment = []
    with (folder / "t2vscore_results.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            rated = human.get(row["video_id"], {}).get("models", {}).get(row["model_name"])
            values = {k: v for k, v in row.items() if k not in ("model_name", "video_id", "prompt")}
            if not rated or "" in values.values():
                continue
            alignment.append(float(np.mean(rated)))
            for name, value in values.items():
                metrics.setdefault(name, []).append(float(value))
    return {name: np.array(row) for name, row in metrics.items()}, np.array(alignment)


@dataclass(frozen=True)
class Preference:
    pair: tuple[str, str]
    """The two videos by name, whichever was shown as A."""
    question: str
    choice: str
    """FIRST or SECOND of ``pair``, or which kind of tie."""
    a_wins: bool | None


def read_uve(folder: Path) -> list[Preference]:
    found = []
    text = (folder / "annotations.json").read_text(encoding="utf-8")
    for one in json.loads(text).values():
        # Alignment was asked twice, of motion and of appearance; the last part says which.
        alignment = one["aspect"] == "tv_alignment"
        question = one["subaspects"][-1] if alignment else one["aspect"]
        wins = {"A is better": True, "B is better": False}.get(one["preference"])
        swapped = one["video_a"] > one["video_b"]
        first, second = sorted((one["video_a"], one["video_b"]))
        choice = one["preference"] if wins is None else ("FIRST", "SECOND")[wins == swapped]
        found.append(Preference((first, second), question, choice, wins))
    return found
