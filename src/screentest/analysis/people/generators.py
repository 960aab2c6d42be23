"""Generators: does a score say more of a video than who made it?

In most releases every two videos of a pair are of two models, and a part of their names says which.
A number for each model, and nearly the same for all of its videos, may agree with people on
hundreds of pairs and is yet one witness for each two models: it tells models apart, not videos.

>>> videos = [f"{model}/{number}.mp4" for number in range(6) for model in ("a", "b")]
>>> pairs = [VotedPair(str(n), str(n), "", f"a/{n}.mp4", f"b/{n}.mp4", 1, (1,)) for n in range(6)]
>>> known = generators_of(pairs)
>>> sorted(set(known.values()))
['a', 'b']
>>> generators_of([VotedPair("", "", "", f"{n}_0", f"{n}_1", 1, (1,)) for n in "abcdef"])
{}
>>> per_model({video: float(video[0] == "a") for video in videos}, known)
2
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean

from screentest.analysis.people.releases import VotedPair

_EACH = 3
"""Videos that a model has on average, at the least: what fewer names share is no model."""
_APART = 0.9
"""Of pairs, those whose videos are of two models."""
_BETWEEN = 0.95
"""Of the variation of a score, what lies between models where it has one number for each."""


def generators_of(pairs: Sequence[VotedPair]) -> dict[str, str]:
    """By video, the part of its name that says who made it; empty where none does."""
    videos = sorted({video for pair in pairs for video in (pair.first, pair.second)})
    for part in _parts(videos):
        available = {video: part(video) for video in videos}
        names = set(available.values())
        if all(name.isdigit() for name in names):  # seeds, or frames
            continue
        count = len(names)
        apart = sum(available[pair.first] != available[pair.second] for pair in pairs)
        if 2 <= count <= len(videos) / _EACH and apart >= _APART * len(pairs):
            return available
    return {}


def _parts(videos: Sequence[str]) -> Iterator[Callable[[str], str]]:
    """Folders, then the words of the names, counted from either side."""
    for split in (re.compile(r"/"), re.compile(r"[/_\-. ]+")):
        most = max((len(split.split(video)) for video in videos), default=0)
        for place in range(most):
            for index in (place, -1 - place):
                yield partial(_part, split, index)


def _part(split: re.Pattern[str], index: int, video: str) -> str:
    parts = split.split(video)
    return parts[index] if -len(parts) <= index < len(parts) else ""


def per_model(ratings: Mapping[str, float], generators: Mapping[str, str]) -> int:
    """Count the models of a score that has hardly more than one number for each: nearly all of its
    variation lies between models. 0 for any other score."""
    selected = _by_model(ratings, generators)
    available = [value for values in selected.values() for value in values]
    if len(selected) < 2 or len(set(available)) < 2:
        return 0
    means = {model: fmean(values) for model, values in selected.items()}
    within = sum(
        (item - means[model]) ** 2 for model, values in selected.items() for item in values
    )
    whole = fmean(available)
    total = sum((item - whole) ** 2 for item in available)
    return len(selected) if within <= (1 - _BETWEEN) * total else 0


def _by_model(
    ratings: Mapping[str, float], generators: Mapping[str, str]
) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for video, value in ratings.items():
        if video in generators:
            values.setdefault(generators[video], []).append(value)
    return values


def within_models(
    ratings: Mapping[str, float], generators: Mapping[str, str], clusters: Mapping[str, str]
) -> dict[str, float]:
    """By video, what a score says beyond who made it: less the mean of its model over the videos of
    other prompts. Videos of models without others have none.

    >>> ratings = {"a/1": 1.0, "a/2": 3.0, "b/1": 5.0, "b/2": 5.0}
    >>> models = {video: video[0] for video in ratings}
    >>> within_models(ratings, models, {video: video[-1] for video in ratings})
    {'a/1': -2.0, 'a/2': 2.0, 'b/1': 0.0, 'b/2': 0.0}
    """
    apart: dict[str, dict[str, list[float]]] = {}
    for video, value in ratings.items():
        if video in generators:
            prompts = apart.setdefault(generators[video], {})
            prompts.setdefault(clusters[video], []).append(value)
    totals = {model: sum(map(sum, prompts.values())) for model, prompts in apart.items()}
    counts = {model: sum(map(len, prompts.values())) for model, prompts in apart.items()}
    result = {}
    for video, value in ratings.items():
        if video in generators:
            model = generators[video]
            selected = apart[model][clusters[video]]
            if others := counts[model] - len(selected):
                result[video] = value - (totals[model] - sum(selected)) / others
    return result


def by_generator(pairs: Sequence[VotedPair], generators: Mapping[str, str]) -> float | None:
    """Accuracy of knowing the models alone, in hindsight."""
    wins: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        if pair.decided and pair.first in generators:
            wins[generators[pair.first], generators[pair.second]] += 1
    total = sum(wins.values())
    if not total:
        return None
    right = sum(
        count / 2 if first == second else max(count, wins[second, first])
        for (first, second), count in wins.items()
        if first <= second or (second, first) not in wins
    )
    return right / total
