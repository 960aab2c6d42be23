"""Agreement of one rater with the others, and of a score in the same place.

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
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from statistics import fmean

import numpy as np

from screentest._util.collect import grouped
from screentest.analysis.people.agreement import Share, share_of
from screentest.analysis.people.releases import SAME, Release, VotedPair
from screentest.core.aspects import PEOPLE, Aspect
from screentest.stats import ClusteredCorrelation, clustered, coefficient, krippendorff

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Ceiling:
    """People against people: each rater in turn is compared with the mean of the others.

    A score ``in_place`` of the rater who is left out is compared with the very same others.
    """

    raters: int
    """The most that any pair has."""
    accuracy: Share
    """On pairs that the others decide; a rater's tie is half a point."""
    when_decided: Share | None = None
    """The same without the rater's ties."""
    in_place: Share | None = None
    rank: ClusteredCorrelation | None = None
    """Spearman's ρ of a rater's marks with the mean of the others', the mean over raters."""
    rank_without_offsets: ClusteredCorrelation | None = None
    """The same where each rater's mean is taken from all marks first."""
    rank_in_place: ClusteredCorrelation | None = None
    alpha: float | None = None
    """Krippendorff's, of interval marks as they were given."""
    alpha_without_offsets: float | None = None


@dataclass(frozen=True, slots=True)
class PeopleResult:
    """One aspect that people were asked about."""

    aspect: Aspect
    prompts: int
    decided: int
    """Pairs of which people prefer one video: those that accuracy counts."""
    tied: int
    """Pairs of which they prefer neither."""
    ceiling: Ceiling | None = None
    """None where no pair has two raters."""
    with_ties: Share | None = None
    """Pairs, ties among them, of which a score says the same as people. From which difference on it
    prefers a video is chosen on one half of the prompts and counted on the other."""
    tau_b: ClusteredCorrelation | None = None
    """Kendall's τ-b over the pairs of one prompt: ties of both are counted."""
    raters: int | None = None
    """How many people voted in the release; None where votes have no names."""
    by_model: float | None = None
    """Accuracy of knowing the models alone, in hindsight; None where names of videos do not say who
    made them."""
    within_models: Share | None = None
    """How often a score picks the preferred video by its part within models: each value less its
    model's mean over the other prompts."""
    spearman: ClusteredCorrelation | None = None
    """Over single videos, of all prompts, with the mean of people's marks."""
    kendall: ClusteredCorrelation | None = None


Rate = Callable[[str], float | None]
"""The score of a video, higher being better; None where there is none."""


def people_result(
    release: Release, aspect: str, ceiling: Ceiling | None, rate: Rate | None = None
) -> PeopleResult:
    """Summarize people in one aspect, and a score beside them where there is one."""
    pairs = release.of(aspect)
    generators = generators_of(pairs)
    result = PeopleResult(
        Aspect(PEOPLE + aspect),
        prompts=len({pair.cluster for pair in pairs}),
        decided=sum(pair.decided for pair in pairs),
        tied=sum(not pair.decided for pair in pairs),
        ceiling=ceiling,
        raters=release.raters,
        by_model=by_generator(pairs, generators),
    )
    if rate is None:
        return result
    rated = [
        (pair, first - second)
        for pair in pairs
        if (first := rate(pair.first)) is not None and (second := rate(pair.second)) is not None
    ]
    available = [
        (score, sum(given.values()) / len(given), release.clusters[video])
        for video, given in release.marks.get(aspect, {}).items()
        if video in release.clusters and (score := rate(video)) is not None
    ]
    scores, means = [item for item, _, _ in available], [item for _, item, _ in available]
    clusters = [item for _, _, item in available]
    return replace(
        result,
        ceiling=None if ceiling is None else _in_place(release, aspect, rate, ceiling),
        within_models=_within_models(release, pairs, generators, rate),
        with_ties=_with_ties(rated) if result.tied else None,
        tau_b=_tau_b(rated),
        spearman=clustered(scores, means, clusters).value,
        kendall=clustered(scores, means, clusters, "kendall").value,
    )


def _within_models(
    release: Release, pairs: Sequence[VotedPair], generators: Mapping[str, str], rate: Rate
) -> Share | None:
    ratings = {video: item for video in generators if (item := rate(video)) is not None}
    beyond = within_models(ratings, generators, release.clusters)
    points, clusters = [], []
    # What is left of equal numbers, once a mean is taken from them, is rounding.
    size = _ROUNDING * max(map(abs, ratings.values()), default=0.0)
    for pair in pairs:
        if pair.decided and pair.first in beyond and pair.second in beyond:
            apart = beyond[pair.first] - beyond[pair.second]
            points.append(0.5 if abs(apart) <= size else float(apart > 0))
            clusters.append(pair.cluster)
    return share_of(points, clusters) if points else None


def _with_ties(rated: Sequence[tuple[VotedPair, float]]) -> Share | None:
    """Three answers, the score's tie being a difference up to a limit found on other prompts."""
    halves: list[list[tuple[VotedPair, float]]] = [[], []]
    for item in rated:
        halves[sha256(item[0].cluster.encode()).digest()[0] % 2].append(item)
    if not all(halves):
        return None
    points, clusters = [], []
    for selected, other in (halves, halves[::-1]):
        limit = _best_limit(other)
        for pair, apart in selected:
            says = 0 if abs(apart) <= limit else 1 if apart > 0 else -1
            points.append(float(says == int(pair.decided)))
            clusters.append(pair.cluster)
    return share_of(points, clusters)


def _best_limit(rated: Sequence[tuple[VotedPair, float]]) -> float:
    """Return the difference up to which to call it a tie, so that most pairs are right."""
    apart = np.array([abs(item) for _, item in rated])
    # What a pair gains when it becomes a tie: a tied one is right then, another no longer.
    gain = np.array([-float(item > 0) if pair.decided else 1.0 for pair, item in rated])
    order = np.argsort(apart, kind="stable")
    sums = np.cumsum(gain[order])
    last = np.append(np.diff(apart[order]) > 0, True)  # all of one difference, or none
    sums[~last] = -np.inf
    best = int(np.argmax(sums))
    return float(apart[order][best]) if sums[best] > 0 else 0.0


def _tau_b(rated: Sequence[tuple[VotedPair, float]]) -> ClusteredCorrelation | None:
    people = np.array([float(pair.decided) for pair, _ in rated])
    score = np.array([float(np.sign(apart)) for _, apart in rated])
    clusters = [pair.cluster for pair, _ in rated]

    def estimate(kept: np.ndarray) -> float:
        apart = np.sqrt(float((people[kept] != 0).sum()) * float((score[kept] != 0).sum()))
        return float(people[kept] @ score[kept] / apart) if apart else 0.0

    if not people.any() or not score.any():
        return None
    return ClusteredCorrelation.of(estimate, clusters)


# People against people.


def human_ceiling(release: Release, aspect: str) -> Ceiling | None:
    """Agreement of one rater with the others; None where no pair has two raters."""
    pairs = release.of(aspect)
    against = list(_against_others(pairs))
    if not against:
        return None
    points = [_points(lead * others) for _, lead, others in against]
    clusters = [pair.cluster for pair, _, _ in against]
    certain = [
        (value, where) for value, where in zip(points, clusters, strict=True) if value != 0.5
    ]
    ceiling = Ceiling(
        max(len(pair.leads) for pair in pairs),
        share_of(points, clusters),
        share_of([value for value, _ in certain], [where for _, where in certain])
        if certain
        else None,
    )
    marks = _marks(release, aspect)
    if marks is None:
        return ceiling
    table, places, _ = marks
    centred = table - np.nanmean(table, axis=0)
    whole = not np.isnan(table).any()  # then an offset moves all of a rater's ranks alike
    rank = _left_out(table, places)
    return replace(
        ceiling,
        rank=rank,
        rank_without_offsets=rank if whole else _left_out(centred, places),
        alpha=_alpha(table),
        alpha_without_offsets=_alpha(centred),
    )


def _in_place(release: Release, aspect: str, rate: Rate, ceiling: Ceiling) -> Ceiling:
    """Return the ceiling, with the score in the place of the rater who is left out."""
    points, clusters = [], []
    for pair, _, others in _against_others(release.of(aspect)):
        first, second = rate(pair.first), rate(pair.second)
        if first is not None and second is not None:
            points.append(_points((first - second) * others))
            clusters.append(pair.cluster)
    rank = None
    marks = _marks(release, aspect)
    if marks is not None:
        table, places, videos = marks
        result = [rate(video) for video in videos]
        scores = np.array([np.nan if item is None else item for item in result], dtype=np.float64)
        rank = _left_out(table, places, scores)
    share = share_of(points, clusters) if points else None
    return replace(ceiling, in_place=share, rank_in_place=rank)


def _against_others(pairs: Sequence[VotedPair]) -> Iterator[tuple[VotedPair, float, float]]:
    """Yield each rater's lead on a pair and that of the others, where these prefer a video."""
    for pair in pairs:
        total, count = sum(pair.leads), len(pair.leads)
        for lead in pair.leads if count > 1 else ():
            others = (total - lead) / (count - 1)
            if abs(others) > SAME:
                yield pair, lead, others


def _points(product: float) -> float:
    return 0.5 if abs(product) < SAME * SAME else float(product > 0)


def _marks(release: Release, aspect: str) -> tuple[np.ndarray, list[str], list[str]] | None:
    """Tabulate marks by video and rater, NaN where there are none; and clusters and videos."""
    marks = {
        video: given
        for video, given in release.marks.get(aspect, {}).items()
        if len(given) > 1 and video in release.clusters
    }
    if not marks:
        return None
    raters = sorted({rater for given in marks.values() for rater in given})
    table = np.array([[given.get(rater, np.nan) for rater in raters] for given in marks.values()])
    return table, [release.clusters[video] for video in marks], list(marks)


def _left_out(
    table: np.ndarray, clusters: Sequence[str], scores: np.ndarray | None = None
) -> ClusteredCorrelation | None:
    """Return the mean over raters of ρ between one, or a score, and the mean of the others."""
    sides = []
    for rater in range(table.shape[1]):
        others = np.delete(table, rater, axis=1)
        there = ~np.isnan(table[:, rater]) & (~np.isnan(others)).any(axis=1)
        selected = table[:, rater] if scores is None else scores
        there &= ~np.isnan(selected)
        mean = np.full(len(table), np.nan)
        mean[there] = np.nanmean(others[there], axis=1)
        sides.append((selected, mean, there))

    def estimate(kept: np.ndarray) -> float:
        result = [
            item.value
            for members, mean, there in sides
            if (item := coefficient(members[there & kept], mean[there & kept])).value is not None
        ]
        return sum(result) / len(result) if result else 0.0

    if not any(coefficient(members[there], mean[there]).ok for members, mean, there in sides):
        return None
    return ClusteredCorrelation.of(estimate, clusters)


def _alpha(table: np.ndarray) -> float | None:
    units = [[float(mark) for mark in row if not np.isnan(mark)] for row in table]
    return krippendorff(units, level="interval").value


# Generators: does a score say more of a video than who made it? In most releases every two videos
# of a pair are of two models, and a part of their names says which. A number for each model, and
# nearly the same for all of its videos, may agree with people on hundreds of pairs and is yet one
# witness for each two models: it tells models apart, not videos.

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
    selected = grouped(
        (generators[video], value) for video, value in ratings.items() if video in generators
    )
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
