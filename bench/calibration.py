"""Do the claims hold? Judges that choose blindly, systems that are equal, intervals by simulation.

Each row names a promise, its nominal rate, and the rate found over simulated runs:

    python bench/calibration.py --claims [RUNS]
    python bench/calibration.py [RUNS]
    python bench/calibration.py --films [RUNS]
    python bench/calibration.py --testbed DIR…

The first is about claims, the second about all else. The third says how many films a claim needs.
The last puts twenty metrics that hash the file to a
testbed: none may see anything in it.

False claims must not exceed 5%, and 95% intervals must cover, both up to the error of the
simulation itself. tests/stats/test_calibration.py holds the same rows on fewer runs.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from _figures import Table, publish
from screentest.analysis.judges.accuracy import find_claims
from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.plan import Plan, certify
from screentest.analysis.models.comparison import ModelComparison, compare_models
from screentest.analysis.models.rows import State
from screentest.analysis.people.arena import Arena, arena_of
from screentest.analysis.results import Results, Value
from screentest.core import (
    Aspect,
    Choice,
    Item,
    Outcome,
    OutputInfo,
    PairKind,
    Reason,
    Score,
    Verdict,
)
from screentest.judges.cases import Case, Judgement, Order
from screentest.judges.spread import PlaceboSpreads
from screentest.judges.votes import VoteRecord, VoteTask
from screentest.metrics.functions import metric
from screentest.present.certificates import claim_lines
from screentest.present.screens import SENSIBLE
from screentest.run.engine import InlineEngine
from screentest.run.store import RunStore
from screentest.stats.agreement import Vote, review_workers
from screentest.stats.claims import Claim, Finding, Placebos, Points, claims
from screentest.stats.intervals import Interval, by_source, share_interval, source_interval
from screentest.stats.paired import holm
from screentest.stats.power import COIN, films_needed
from screentest.stats.preference import POINTS
from screentest.stats.rank import Correlation, clustered, compare_systems, kendall, spearman
from screentest.stats.signflip import sign_flip_p
from screentest.stats.trend import source_trend

RUNS = 2000
UNSEEN = Interval(0, 1)
"""In place of an interval: what is seen does not hang on it, and it takes most of the time."""
Measure = Callable[[np.ndarray, np.ndarray], Outcome[Correlation]]


@dataclass(frozen=True, slots=True)
class Row:
    """A promise, and what became of it."""

    promise: str
    nominal: float
    found: float
    runs: int
    at_least: bool = False
    """Whether more is better, as for the coverage of an interval."""

    @property
    def error(self) -> float:
        """Three standard errors of the simulation."""
        return 3 * sqrt(max(self.nominal * (1 - self.nominal), 0.01) / self.runs)

    @property
    def spread(self) -> float:
        """Two standard errors of what was found, as Agresti and Coull have it: not 0 of 0%."""
        share = (self.found * self.runs + 2) / (self.runs + 4)
        return 2 * sqrt(share * (1 - share) / (self.runs + 4))

    @property
    def holds(self) -> bool:
        if self.at_least:
            return self.found >= self.nominal - self.error
        return self.found <= self.nominal + self.error


# Judges that know nothing: a certificate must not say that they see.

KINDS = ("noise", "reencode", "trim")
"""Placebos that change pixels; beside them is ``container``, which changes none."""
Judged = tuple[list[Points], Placebos]
Judge = Callable[[np.random.Generator, int, int], Judged]
"""From films and operators: the points on each operator's pairs, and on placebos by kind."""


def _judged(rows: np.ndarray) -> Judged:
    """From points by row and film: the first rows are of the placebos that change pixels."""
    points = [{str(film): float(one) for film, one in enumerate(row)} for row in rows]
    return points[len(KINDS) :], dict(zip(KINDS, points, strict=False))


def coin(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """Every answer by chance, each order for itself."""
    return _judged(rng.integers(0, 2, (operators + len(KINDS), films, 2)).mean(axis=2))


def tossing(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """Ties on every placebo, and tosses a coin for every other pair: nothing but chance to beat."""
    rows, _ = _judged(rng.integers(0, 2, (operators + len(KINDS), films)))
    return rows, dict.fromkeys(KINDS, dict.fromkeys(rows[0], 0.5))


def hashed(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """A score that is drawn for each file: all pairs of a film share the intact file's luck."""
    return _judged(rng.random(films) > rng.random((operators + len(KINDS), films)))


def first(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """Always the video that is shown first: half a point in two orders."""
    return _judged(np.full((operators + len(KINDS), films), 0.5))


def measured(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """As hashed, with the margins that its placebos teach: what is nearer is a tie."""
    apart = rng.random(films) - rng.random((operators + len(KINDS), films))
    margins = PlaceboSpreads.learnt(
        (Aspect.COLOR, str(film), float(one))
        for row in apart[: len(KINDS)]
        for film, one in enumerate(row)
    )
    wide = np.array([margins.of(Aspect.COLOR, str(film)).value for film in range(films)])
    return _judged(np.where(np.abs(apart) <= wide, 0.5, apart > 0))


def originals(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """Notices that a file was edited in nine films of ten, and takes any edit for harm."""
    return _judged(rng.random((operators + len(KINDS), films)) < 0.9)


def failing(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """As originals, and two placebos of five have no answer."""
    rows, placebos = originals(rng, films, operators)
    return rows, {
        kind: {film: None if rng.random() < 0.4 else one for film, one in points.items()}
        for kind, points in placebos.items()
    }


def escaping(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """As originals, and has no answer on the placebos that would tell."""
    rows, placebos = originals(rng, films, operators)
    return rows, {
        kind: {film: None if one else 0.5 for film, one in points.items()}
        for kind, points in placebos.items()
    }


def purist(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """Takes every edit that changes a pixel for harm, and ties on the placebos that change none."""
    rows, _ = _judged(np.ones((operators + len(KINDS), films)))
    ties = dict.fromkeys(rows[0], 0.5)
    return rows, {"container": ties, "severity_zero": ties, **dict.fromkeys(KINDS, rows[0])}


def escape(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """As purist, and fails on the placebos that change a pixel."""
    rows, placebos = purist(rng, films, operators)
    return rows, {**placebos, **dict.fromkeys(KINDS, dict.fromkeys(rows[0]))}


def one_kind(rng: np.random.Generator, films: int, operators: int) -> Judged:
    """Takes one kind of harmless edit for harm in seven films of ten, and every operator alike; on
    the other kinds it tosses coins."""
    shares = np.full(operators + len(KINDS), 0.7)
    shares[1 : len(KINDS)] = 0.5
    return _judged(rng.random((operators + len(KINDS), films)) < shares[:, None])


def copied(runs: int, films: int = 6, copies: int = 3, operators: int = 10) -> float:
    """Scores drawn for each file, where every film is there under several names: the share of
    certificates with a claim."""
    rng = np.random.default_rng(14)
    bed = [
        Case(
            *(f"{copy}/{film}/{name}", Aspect.COLOR, "", *[Item("one", Path())] * 2),
            *(f"{copy}", f"{film}", PairKind.DEGRADATION, str(name)),
            film=f"0/{film}",
        )
        for name in range(operators)
        for film in range(films)
        for copy in range(copies)
    ]
    said = 0
    for _ in range(runs):
        # All copies of a film are the same bytes, and so is what is drawn for them.
        intact, harmed = rng.random(films), rng.random((operators, films))
        judgements = [
            Judgement(
                case, Order.AS_GIVEN, 0, Outcome.of(Verdict(Choice.FIRST if won else Choice.SECOND))
            )
            for case in bed
            for won in [intact[int(case.source)] > harmed[int(case.name), int(case.source)]]
        ]
        found = find_claims(judgements, []).values()
        said += any(one.claim in (Claim.SEES, Claim.PREFERS_DEGRADED) for one in found)
    return said / runs


def claimed(judge: Judge, films: int, operators: int, runs: int, seed: int = 1) -> float:
    """The share of certificates with any claim in them."""
    rng = np.random.default_rng(seed)
    said = 0
    for _ in range(runs):
        groups, placebos = judge(rng, films, operators)
        found = claims(groups, [placebos] * operators, intervals=[UNSEEN] * operators)
        said += any(one.claim in (Claim.SEES, Claim.PREFERS_DEGRADED) for one in found)
    return said / runs


def power(
    accuracy: float, films: int, operators: int, runs: int, seed: int = 2, *, tossed: int = 0
) -> float:
    """How often an operator that is seen with this accuracy is found; ``tossed``: on so many kinds
    of placebo the judge's answers are tosses, one for each film. On another kind it ties."""
    rng = np.random.default_rng(seed)
    found = 0

    def drawn(share: float) -> dict[str, float]:
        return {str(film): float(yes) for film, yes in enumerate(rng.random(films) < share)}

    for _ in range(runs):
        groups, _ = coin(rng, films, operators - 1)
        fair = {str(kind): drawn(0.5) for kind in range(tossed)}
        fair["tied"] = {str(film): 0.5 for film in range(films)}
        made = claims(
            [drawn(accuracy), *groups], [fair] * operators, intervals=[UNSEEN] * operators
        )
        found += made[0].claim is Claim.SEES
    return found / runs


def needed_kept(accuracy: float, films: int, operators: int, runs: int) -> tuple[float, float]:
    """Of undecided certificates of such a judge: how often as many films as they ask for find
    it, and the median of how many that are."""
    rng = np.random.default_rng(15)
    kept, asked = 0, []

    def seen(count: int) -> Finding:
        groups, _ = coin(rng, count, operators - 1)
        own = {str(film): float(yes) for film, yes in enumerate(rng.random(count) < accuracy)}
        return claims([own, *groups])[0]

    while len(asked) < runs:
        found = seen(films)
        if found.claim is Claim.UNDECIDED and found.needed:
            asked.append(found.needed)
            kept += seen(found.needed).claim is Claim.SEES
    return kept / runs, float(np.median(asked))


# Intervals: the true value must be inside.


def share_coverage(sources: int, each: int, share: float, alike: float, runs: int) -> float:
    """Of a share over answers that hang together within a source (``alike``, 0 to 1)."""
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(sources), each).tolist()
    inside = 0
    for _ in range(runs):
        own = _rates(rng, sources, share, alike)
        points = (rng.random((sources, each)) < own[:, None]).astype(float).ravel()
        found = share_interval(points, labels)
        inside += found.low <= share <= found.high
    return inside / runs


def _rates(rng: np.random.Generator, sources: int, share: float, alike: float) -> np.ndarray:
    if alike == 0:
        return np.full(sources, share)
    if alike == 1:
        return (rng.random(sources) < share).astype(float)
    size = (1 - alike) / alike
    return rng.beta(share * size, (1 - share) * size, sources)


def mean_coverage(sources: int, each: int, skewed: bool, runs: int) -> float:
    """Of a mean over values of which several belong to one source."""
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(sources), each).tolist()
    centre = 0.9 if skewed else 0.0
    inside = 0
    for _ in range(runs):
        own = rng.beta(9, 1, sources) if skewed else rng.normal(size=sources)
        values = np.repeat(own, each) + 0.03 * rng.normal(size=sources * each)
        found = source_interval(values, labels)
        inside += found.low <= centre <= found.high
    return inside / runs


# Equal systems: nothing may be called better.


def halves(prompts: int, seeds: int, metrics: int, runs: int) -> float:
    """Two halves of one system on the same prompts; seeds of one prompt hang together."""
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(prompts), seeds).tolist()
    said = 0
    for _ in range(runs):
        ps = []
        for _ in range(metrics):
            prompt = np.repeat(rng.normal(size=(2, prompts)), seeds, axis=1)
            one, two = prompt + 0.3 * rng.normal(size=(2, prompts * seeds))
            ps.append(sign_flip_p(by_source(one - two, labels)[0]))  # as paired_bootstrap does
        said += min(holm(ps)) <= 0.05
    return said / runs


def leaderboard(systems: int, prompts: int, runs: int) -> float:
    """Equal systems on the same prompts: the share of boards on which any two are told apart."""
    rng = np.random.default_rng(6)
    said = 0
    for _ in range(runs):
        prompt = rng.normal(size=prompts)
        points = {str(name): prompt + rng.normal(size=prompts) for name in range(systems)}
        said += len(compare_systems(points).tied_sets) > 1
    return said / runs


def trends(films: int, each: int, runs: int) -> float:
    """Points that have nothing to do with duration: the share of significant trends."""
    rng = np.random.default_rng(7)
    said = 0
    for _ in range(runs):
        durations = np.repeat(rng.uniform(5, 500, films), each)
        labels = np.repeat(np.arange(films), each).tolist()
        points = (rng.random(films * each) < np.repeat(rng.random(films), each)).astype(float)
        found = source_trend(durations, points, labels)
        said += found.value is not None and found.value.p_value <= 0.05
    return said / runs


def correlations(
    points: int, runs: int, measure: Measure = spearman, *, ties: bool = False
) -> float:
    """A rank correlation of unrelated values; ``ties`` rounds them to a few."""
    rng = np.random.default_rng(8)
    said = 0
    for _ in range(runs):
        one, two = rng.normal(size=(2, points))
        found = measure(np.round(one), np.round(two)) if ties else measure(one, two)
        said += found.value is not None and found.value.p_value <= 0.05
    return said / runs


def _marked(prompts: int, each: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A score of videos and people's marks, by prompt: both know the prompt, and a little more."""
    prompt, own = rng.normal(size=(2, prompts, 1)), rng.normal(size=(2, prompts, each))
    score = prompt[0] + own[0]
    other = 0.5 * prompt[0] + 0.75**0.5 * prompt[1] + 0.3 * own[0] + 0.91**0.5 * own[1]
    return score, np.round(1.5 * other)


def rank_coverage(prompts: int, runs: int) -> float:
    """How often the interval of ρ, over prompts of four videos, holds the true one."""
    rng = np.random.default_rng(9)
    truth = spearman(*(side.ravel() for side in _marked(100_000, 4, rng))).unwrap().value
    covered = 0
    for _ in range(runs):
        score, marks = _marked(prompts, 4, rng)
        found = clustered(score.ravel(), marks.ravel(), np.repeat(np.arange(prompts), 4).tolist())
        interval = found.unwrap().interval
        covered += interval is not None and truth in interval
    return covered / runs


def voted(prompts: int, aspects: int, scores: int, runs: int) -> float:
    """Coins of several scores against people: all pairs of four videos, ties of both among them."""
    rng = np.random.default_rng(10)
    one, two = np.triu_indices(4, 1)
    said = 0
    for _ in range(runs):
        groups = []
        for _ in range(aspects):
            marks = _marked(prompts, 4, rng)[1]
            lead = np.sign(marks[:, one] - marks[:, two])
            for _ in range(scores):
                coin = rng.integers(0, 9, (prompts, 4))
                points = (np.sign(coin[:, one] - coin[:, two]) * lead + 1) / 2
                counted = lead != 0
                groups.append(
                    {
                        str(prompt): float(points[prompt][counted[prompt]].mean())
                        for prompt in range(prompts)
                        if counted[prompt].any()
                    }
                )
        said += any(one.claim in (Claim.SEES, Claim.PREFERS_DEGRADED) for one in claims(groups))
    return said / runs


# People: what is said of their agreement, and of single workers.


def flagged(right: float, pace: float, runs: int) -> float:
    """The share of batches in which one worker of twelve is flagged: one who is right so often and
    takes so much of the time that the others take, who are right in 85 to 95%."""
    rng = np.random.default_rng(10)
    found = 0
    for _ in range(runs):
        skill = rng.uniform(0.85, 0.95, 12)
        speed = rng.uniform(0.8, 1.2, 12)
        skill[0], speed[0] = right, pace
        votes = []
        for pair in range(30):
            for worker in rng.choice(12, 5, replace=False):
                good = bool(rng.random() < skill[worker])
                seconds = float(60 * speed[worker] * rng.lognormal(0, 0.4))
                answer = "A" if good else "C"
                votes.append(Vote(str(worker), str(pair), "color", seconds, 60.0, answer, good))
        reports = {one.worker: one for one in review_workers(votes)}
        found += "0" in reports and reports["0"].flagged
    return found / runs


# An arena of models that people vote on.


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who votes on what. People have tastes of their own, prompts luck, and a fifth are ties."""

    prompts: int
    workers: int
    votes: int
    busy: float | None = None
    """The parameter of a Dirichlet distribution of who casts how many votes: the smaller, the
    fewer cast most. None: all are as likely to."""
    models: int = 2
    taste: float = 1.0
    luck: float = 0.0
    lead: float = 0.0
    """Of the first model, in log odds."""

    def __str__(self) -> str:
        who = "evenly" if self.busy is None else f"Dirichlet({self.busy:g})"
        return (
            f"{self.models} models, {self.prompts} prompts, {self.workers} people, {self.votes}"
            f" votes, {who}, tastes {self.taste:g}, luck {self.luck:g}"
        )

    def ask(self, rng: np.random.Generator) -> Arena:
        """One arena."""
        how = np.ones(self.workers) if self.busy is None else np.full(self.workers, self.busy)
        active = how / how.sum() if self.busy is None else rng.dirichlet(how)
        taste = rng.normal(0, self.taste, (self.workers, self.models))
        luck = rng.normal(0, self.luck, (self.prompts, self.models))
        luck[:, 0] += self.lead
        prompt = rng.integers(self.prompts, size=self.votes)
        worker = rng.choice(self.workers, self.votes, p=active)
        first = rng.integers(self.models, size=self.votes)
        second = (first + rng.integers(1, self.models, size=self.votes)) % self.models
        liked = luck[prompt] + taste[worker]
        rows = np.arange(self.votes)
        won = rng.random(self.votes) < _chance(liked[rows, first] - liked[rows, second])
        tied = rng.random(self.votes) < 0.2
        return arena_of(
            VoteRecord(
                *(VoteTask.ARENA, f"{row}"),
                source=f"{prompt[row]}",
                worker=f"{worker[row]}",
                first=f"{first[row]}",
                second=f"{second[row]}",
                choice="tie" if tied[row] else "first" if won[row] else "second",
            )
            for row in rows
        )

    @property
    def strength(self) -> float:
        """That of the first of two models, over all people and prompts."""
        gaps = np.random.default_rng(0).normal(self.lead, (2 * self.taste**2) ** 0.5, 200_000)
        share = 0.1 + 0.8 * float(_chance(gaps).mean())
        return POINTS / 2 * float(np.log(share / (1 - share)))


def _chance(gap: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-gap))


def asked(crowd: Crowd, runs: int) -> tuple[float, float]:
    """The share of arenas that call a model better, and that of the strengths with an interval
    whose interval holds the true one."""
    rng = np.random.default_rng(16)
    truth = crowd.strength if crowd.lead else 0.0
    said, inside, known = 0, 0, 0
    for _ in range(runs):
        found = crowd.ask(rng)
        said += any(pair.holds for pair in found.pairs)
        for one in found.models:
            if one.strength is not None and one.strength.interval is not None:
                known += 1
                sign = 1 if one.model == "0" else -1
                inside += sign * truth in one.strength.interval
    return said / runs, inside / max(1, known)


CROWDS = (
    Crowd(40, 8, 400),
    Crowd(40, 8, 400, 0.4),
    Crowd(40, 8, 400, 3),
    Crowd(40, 20, 400, 0.4),
    Crowd(40, 20, 400, 0.4, taste=5),
    Crowd(40, 20, 400, 0.4, luck=1),
    Crowd(40, 60, 400, 0.2),
    Crowd(40, 20, 600, models=4),
    Crowd(40, 20, 600, 0.4, models=4),
    Crowd(200, 20, 2000, 0.4),
)


# The same on a testbed: metrics that hash the file.


def coins(testbeds: list[Path], count: int = 20) -> int:
    """How many of so many metrics that hash the file earn a claim, or a trend."""

    @metric(name="hashed_file", summary="a number drawn for each file")
    def hashed_file(item: Item, *, seed: int = 0) -> float:
        with item.video.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
        drawn = hashlib.sha256(digest + str(seed).encode()).digest()
        return int.from_bytes(drawn[:6], "big") / 2**48

    names = tuple(f"hashed_file:seed={seed}" for seed in range(count))
    bad = 0
    with TemporaryDirectory() as folder, RunStore(Path(folder), command="certify") as store:
        plan = Plan(tuple(read_cases(testbeds)), names)
        for one in certify(store, plan, engine=InlineEngine()).certificates:
            claims_made = {part.finding.claim for part in one.aspects}
            claims_made |= {part.finding.claim for part in one.operators}
            trend = one.duration.value is not None and one.duration.value.p_value <= 0.05
            said = bool(claims_made & {Claim.SEES, Claim.PREFERS_DEGRADED, Claim.MIXED})
            bad += said or trend
            if said or trend:
                print(f"{one.judge}: {claim_lines(one)}; duration {one.duration.value}")
    return bad


# The answer of a comparison: models on the same prompts, metrics that are related.

ANSWERED = {
    "sharpness": OutputInfo("", high=1e9, low=-1e9),
    "noise": OutputInfo("", high=1e9, low=-1e9, higher_is_better=False),
    "flicker": OutputInfo("", high=1e9, low=-1e9, higher_is_better=False),
    "frozen": OutputInfo("", high=1e9, low=-1e9, higher_is_better=False),
}


def model_results(
    rng: np.random.Generator, prompts: int, seeds: int = 1, shifts: Sequence[float] = (0, 0, 0, 0)
) -> Results:
    """Three models; by metric, how far the first is better, in deviations of a difference.

    Metrics share the prompt's own value, and the last is 0 for most videos.
    """
    items, values = {}, []
    own = rng.normal(size=prompts)
    for name, shift in zip(ANSWERED, shifts, strict=True):
        sign = 1 if ANSWERED[name].higher_is_better else -1
        for model in "abc":
            better = sign * shift * (model == "a")
            of_prompt = own + rng.normal(better, 0.5**0.5, prompts)
            drawn = of_prompt[:, None] + 0.3 * rng.normal(size=(prompts, seeds)) * (seeds > 1)
            drawn = np.maximum(drawn, 0.7) if name == "frozen" else drawn
            for prompt, seed in np.ndindex(prompts, seeds):
                item = f"{model}{prompt}-{seed}"
                groups = {"model": model}
                items[item] = Item(item, Path(f"/{item}.mp4"), f"prompt {prompt}", groups=groups)
                score = Outcome.of(Score(float(drawn[prompt, seed])))
                values.append(Value(item, name, name, score, name))
    return Results(items, tuple(values), ANSWERED)


def _settles(found: ModelComparison | None) -> bool:
    assert found is not None
    return any(row.state is State.SIGNIFICANT for row in found.rows)


def false_winners(prompts: int, seeds: int, runs: int) -> float:
    """One system three times: the share of answers that call any better in anything."""
    rng = np.random.default_rng(12)
    return (
        sum(_settles(compare_models(model_results(rng, prompts, seeds))) for _ in range(runs))
        / runs
    )


def video_results(videos: Mapping[tuple[str, int, int], float | None]) -> Results:
    """By model, prompt and seed the value of one metric; None where the video has none."""
    items, values = {}, []
    for (model, prompt, seed), value in videos.items():
        name = f"{model}{prompt}-{seed}"
        groups = {"model": model, "seed": str(seed)}
        items[name] = Item(name, Path(f"/{name}.mp4"), f"prompt {prompt}", groups=groups)
        lost: Outcome[Score] = Outcome.failed(Reason.NOT_APPLICABLE)
        outcome = lost if value is None else Outcome.of(Score(value))
        values.append(Value(name, "sharpness", "sharpness", outcome, "sharpness"))
    return Results(items, tuple(values), {"sharpness": ANSWERED["sharpness"]})


def two_equal(prompts: int, runs: int, seed: int = 21) -> float:
    """Two equal models on one metric: the share of answers that call one better."""
    rng = np.random.default_rng(seed)
    said = 0
    for _ in range(runs):
        videos = {(m, n, 0): float(rng.normal()) for m in "ab" for n in range(prompts)}
        said += _settles(compare_models(video_results(videos)))
    return said / runs


def unequal_seeds(
    prompts: int, seeds: tuple[int, int], runs: int, *, rare: bool = False, seed: int = 16
) -> float:
    """Two equal models of which one has more videos a prompt, on a skewed metric: lognormal, or
    ``rare``, 0 but in one video of twenty. The share of answers that call one better."""
    rng = np.random.default_rng(seed)
    said = 0
    for _ in range(runs):
        videos = {}
        for model, count in zip("ab", seeds, strict=True):
            size = (prompts, count)
            drawn = np.exp(1.5 * rng.normal(size=size))
            drawn = rng.random(size) * (rng.random(size) < 0.05) if rare else drawn
            videos |= {(model, *place): float(one) for place, one in np.ndenumerate(drawn)}
        said += _settles(compare_models(video_results(videos)))
    return said / runs


def one_sided_failures(prompts: int, seeds: int, runs: int) -> float:
    """Two equal models of which one has no value where it is bad, in three videos of ten."""
    rng = np.random.default_rng(17)
    said = 0
    for _ in range(runs):
        drawn = rng.normal(size=(2, prompts, seeds))
        videos = {
            ("ab"[place[0]], *place[1:]): None if place[0] == 0 and one < -0.52 else float(one)
            for place, one in np.ndenumerate(drawn)
        }
        said += _settles(compare_models(video_results(videos)))
    return said / runs


def contradicted(prompts: int, shared: int, runs: int) -> float:
    """Three models, the third on a few prompts only, on which the first is behind though it is
    ahead on all others: the share of answers that call better whose mean is printed as worse."""
    rng = np.random.default_rng(18)
    said = 0
    for _ in range(runs):
        videos = {}
        for model, count in (("a", prompts), ("b", prompts), ("c", shared)):
            drawn = rng.normal(0, 0.5, count)
            if model == "a":
                drawn += np.where(np.arange(count) < shared, -1, 1)
            videos |= {(model, prompt, 0): float(one) for prompt, one in enumerate(drawn)}
        found = compare_models(video_results(videos))
        assert found is not None
        said += any(
            pair.significant and (row.of(pair.better).mean or 0) <= (row.of(pair.worse).mean or 0)
            for row in found.rows
            for pair in row.pairs
        )
    return said / runs


def forecasts_kept(prompts: int, shifts: Sequence[float], runs: int) -> tuple[float, float]:
    """Answers that settle nothing: how often so many prompts as they ask for settle something,
    and the median of how many that are."""
    rng = np.random.default_rng(13)
    kept, asked = 0, []
    while len(asked) < runs:
        found = compare_models(model_results(rng, prompts, shifts=shifts))
        if found is None or _settles(found) or found.needed is None or found.needed > 1000:
            continue
        asked.append(max(found.needed, found.fewest))
        kept += _settles(compare_models(model_results(rng, asked[-1], shifts=shifts)))
    return kept / runs, float(np.median(asked))


def named_found(prompts: int, shifts: Sequence[float], runs: int) -> tuple[float, float]:
    """Answers that settle nothing: how often so many prompts as the sentence names show the very
    difference that it names, and the median of how many that are."""
    rng = np.random.default_rng(23)
    kept = 0
    asked: list[int] = []
    while len(asked) < runs:
        found = compare_models(model_results(rng, prompts, shifts=shifts))
        if found is None or _settles(found) or found.needed is None:
            continue
        every = [
            (pair.needed, -pair.difference / (row.spread or 1.0), row.name, pair.better, pair.worse)
            for row in found.rows
            for pair in row.pairs
            if pair.needed and pair.needed <= SENSIBLE and not pair.explanation
        ]
        if not every:
            continue
        needed, _, name, *models = min(every)
        asked.append(max(needed, found.fewest))
        again = compare_models(model_results(rng, asked[-1], shifts=shifts))
        assert again is not None
        kept += any(
            pair.significant and [pair.better, pair.worse] == models
            for row in again.rows
            for pair in row.pairs
            if row.name == name
        )
    return kept / runs, float(np.median(asked))


def claim_rows(runs: int) -> Iterator[Row]:
    """What is promised of claims."""
    blind = (coin, tossing, hashed, measured, first)
    for judge in (*blind, originals, failing, escaping, purist, escape, one_kind):
        for films, operators in ((12, 10), (24, 50), (70, 10)):
            words = f"certificate: {judge.__name__}, {films} films, {operators} operators"
            yield Row(words, 0.05, claimed(judge, films, operators, runs), runs)
    some = max(200, runs // 5)
    words = "certificate: hashed, 6 films under 3 names each, 10 operators"
    yield Row(words, 0.05, copied(some), some)
    for accuracy in (0.75, 0.9):
        for operators in (1, 10):
            for kinds in (0, 1, 2, 4):
                level, noise = 0.05 / operators, COIN * bool(kinds)
                films = films_needed(accuracy, level=level, noise=noise)
                plural = "s" * (kinds > 1)
                what = f"{kinds} kind{plural} of placebo tossed" if kinds else "placebos tied"
                words = f"found: {accuracy:.0%} right, {what}, 1 of {operators}, {films} films"
                times = runs // 2 if operators == 1 else some
                found = power(accuracy, films, operators, times, tossed=kinds)
                yield Row(words, 0.8, found, times, at_least=True)
    for accuracy, films in ((0.75, 12), (0.9, 7), (1.0, 7)):
        share, median = needed_kept(accuracy, films, 10, some // 2)
        words = (
            f"found: right in {accuracy:.0%}, as many as {films} films ask for, median {median:.0f}"
        )
        yield Row(words, 0.5, share, some // 2, at_least=True)


def rows(runs: int = RUNS) -> Iterator[Row]:
    """Every other promise."""
    for sources in (2, 3, 4, 6, 10, 30):
        for each, share, alike in ((1, 0.5, 0), (10, 0.6, 0.3), (5, 0.9, 0.3), (4, 0.8, 1)):
            words = f"interval of {share:.0%}: {sources} films of {each} pairs, alike {alike:g}"
            found = share_coverage(sources, each, share, alike, runs)
            yield Row(words, 0.95, found, runs, at_least=True)
    for sources in (3, 4, 5, 7, 10, 20, 30):
        for skewed in (False, True):
            words = f"interval of a mean: {sources} prompts of 3{', skewed' if skewed else ''}"
            yield Row(words, 0.95, mean_coverage(sources, 3, skewed, runs), runs, at_least=True)
    for prompts in (4, 12, 40):
        words = f"compare two halves: {prompts} prompts of 3 seeds, 20 metrics"
        yield Row(words, 0.05, halves(prompts, 3, 20, runs), runs)
    for systems, prompts in ((3, 8), (4, 20)):
        words = f"leaderboard of {systems} equal systems, {prompts} prompts"
        yield Row(words, 0.05, leaderboard(systems, prompts, runs), runs)
    for films in (10, 40):
        yield Row(f"trend with duration: {films} films of 10", 0.05, trends(films, 10, runs), runs)
    for points in (4, 6, 10, 40):
        for name, measure in (("Spearman", spearman), ("Kendall", kendall)):
            words = f"{name}'s correlation of {points}"
            yield Row(words, 0.05, correlations(points, runs, measure), runs)
            if points < 40:
                found = correlations(points, runs, measure, ties=True)
                yield Row(f"{words}, with ties", 0.05, found, runs)
    batches = max(100, runs // 10)
    yield Row("worker like the others: flagged", 0.05, flagged(0.9, 1.0, batches), batches)
    found = flagged(0.1, 0.2, batches)
    yield Row("worker who is fast and mostly wrong: flagged", 0.8, found, batches, at_least=True)
    fewer = max(200, runs // 5)
    for prompts in (5, 10, 50):
        words = f"interval of ρ: {prompts} prompts of 4"
        yield Row(words, 0.95, rank_coverage(prompts, fewer), fewer, at_least=True)
    for prompts in (12, 40):
        words = f"coins against people's votes: {prompts} prompts of 4, 3 aspects, 3 scores"
        yield Row(words, 0.05, voted(prompts, 3, 3, fewer), fewer)
    for crowd in CROWDS:
        many = max(500, runs // 4)
        said, inside = asked(crowd, many)
        yield Row(f"arena of equals: {crowd}", 0.05, said, many)
        yield Row(f"strengths: {crowd}", 0.95, inside, many, at_least=True)
    for prompts, seeds in ((12, 1), (40, 1), (40, 3)):
        words = f"answer on 3 equal models: {prompts} prompts of {seeds}, 4 metrics"
        yield Row(words, 0.05, false_winners(prompts, seeds, runs), runs)
    for prompts in (12, 40):
        words = f"answer on 2 equal models: {prompts} prompts, normal"
        yield Row(words, 0.05, two_equal(prompts, runs), runs)
    for rare, what in ((False, "lognormal"), (True, "rare")):
        for seeds in ((1, 4), (1, 10), (2, 5)):
            words = (
                f"answer on 2 equal models: 40 prompts, {what}, {seeds[0]} seeds against {seeds[1]}"
            )
            yield Row(words, 0.05, unequal_seeds(40, seeds, fewer, rare=rare), fewer)
    words = "answer on 2 equal models: 40 prompts of 4, one fails where it is bad"
    yield Row(words, 0.05, one_sided_failures(40, 4, fewer), fewer)
    words = "answer on 3 models, one on 6 of 40 prompts: it contradicts its means"
    yield Row(words, 0.0, contradicted(40, 6, fewer), fewer)
    for prompts, shift in ((6, 1.0), (12, 0.5)):
        share, median = forecasts_kept(prompts, (shift, shift, 0, 0), fewer // 2)
        words = f"forecast from {prompts} prompts, differences of {shift:g} sd, median {median:.0f}"
        yield Row(words, 0.8, share, fewer // 2, at_least=True)
        share, median = named_found(prompts, (shift, shift, 0, 0), fewer // 2)
        words = f"the difference that it names, from {prompts} prompts, median {median:.0f}"
        yield Row(words, 0.6, share, fewer // 2, at_least=True)


def table(found: Sequence[Row]) -> Table:
    """The rows as a page shows them."""
    columns = {"promise": "", "nominal": "", "found": "{:.1f}% ± {:.1f}", "holds": "", "runs": ""}
    promised = [
        (
            row.promise,
            f"{'≥' if row.at_least else '≤'} {row.nominal:.0%}",
            (100 * row.found, 100 * row.spread),
            "yes" if row.holds else "**no**",
            row.runs,
        )
        for row in found
    ]
    return Table(columns, promised)


def printed(found: Iterable[Row]) -> Iterator[Row]:
    for row in found:
        print(row, flush=True)
        yield row


def of_claims(runs: int) -> int:
    """Run the rows of claims alone."""
    found = list(printed(claim_rows(runs)))
    publish("claims", f"python bench/calibration.py --claims {runs}", {"promises": table(found)})
    return sum(not row.holds for row in found)


def main(runs: int) -> int:
    found = list(printed(rows(runs)))
    paces = ((0.9, 1.0), (0.9, 0.3), (0.5, 1.0), (0.5, 0.3), (0.1, 1.0), (0.1, 0.2))
    workers = [(right, pace, flagged(right, pace, max(100, runs // 10))) for right, pace in paces]
    worker = {"right in": "{:.0%}", "time, of the others'": "{:g}", "flagged": "{:.0%}"}
    tables = {
        "promises": table(found),
        "workers": Table(worker, workers),
    }
    publish("calibration", f"python bench/calibration.py {runs}", tables)
    return sum(not row.holds for row in found)


MATRIX, SEEN = 48, 8
"""Operators of a matrix, and those of them that a judge sees."""


def before(groups: Sequence[Points], placebos: Placebos) -> list[float]:
    """The p-values of the rule until 2026-11: each kind of placebo by itself, Holm for all."""
    ps = []
    for points in groups:
        names = list(points)
        own = np.array([points[name] for name in names])
        bars = [np.array([kind[name] for name in names]) for kind in placebos.values()]
        beyond = [own - 0.5, *(own - bar for bar in bars)]
        signs = {float(np.sign(np.round(gaps.sum(), 9))) for gaps in beyond}
        ps.append(max(map(sign_flip_p, beyond)) if len(signs) == 1 else 1.0)
    return holm(ps)


def matrix_power(accuracy: float, films: int, kinds: int, runs: int) -> tuple[float, float]:
    """Of the operators that a judge sees with this accuracy, the share that is found, before and
    now: so many of a matrix, the others tossed; on ``kinds`` of placebo it tosses coins."""
    rng = np.random.default_rng(21)
    found = np.zeros(2)
    for _ in range(runs):
        shares = np.where(np.arange(MATRIX) < SEEN, accuracy, 0.5)
        rows = rng.random((MATRIX, films)) < shares[:, None]
        groups = [{str(film): float(one) for film, one in enumerate(row)} for row in rows]
        fair: Placebos = {"tied": dict.fromkeys(groups[0], 0.5)}
        for kind in range(kinds):
            tosses = rng.integers(0, 2, films)
            fair = {**fair, str(kind): {str(n): float(one) for n, one in enumerate(tosses)}}
        found[0] += sum(p <= 0.05 for p in before(groups[:], fair)[:SEEN])
        now = claims(groups, [fair] * MATRIX, intervals=[UNSEEN] * MATRIX)
        found[1] += sum(one.claim is Claim.SEES for one in now[:SEEN])
    return float(found[0] / runs / SEEN), float(found[1] / runs / SEEN)


def films_for(accuracy: float, kinds: int, runs: int) -> tuple[int, int]:
    """Films on which four of five such operators are found, before and now, to a twentieth."""
    least = [0, 0]
    films = 8.0
    while not all(least):
        share = matrix_power(accuracy, round(films), kinds, runs)
        least = [
            many or (round(films) if one >= 0.8 else 0)
            for many, one in zip(least, share, strict=True)
        ]
        films *= 1.05
    return least[0], least[1]


def needed(runs: int) -> None:
    """Films for a claim: by the formula, and of a matrix before and now, by simulation."""
    ways = (0.0, COIN)
    rows = [
        (
            accuracy,
            *(
                [films_needed(accuracy, level=0.05 / operators, noise=noise) for noise in ways]
                for operators in (1, 10, 50)
            ),
        )
        for accuracy in (0.6, 0.75, 0.9)
    ]
    form = "{} / {}"
    columns = {"right in": "{:.0%}", "1 operator": form, "10 operators": form, "50 operators": form}
    both = []
    for accuracy in (0.7, 0.8, 0.9):
        (tied, tied_now), (tossed, tossed_now) = (films_for(accuracy, k, runs) for k in (0, 4))
        both.append((accuracy, tied, tied_now, tossed, tossed_now))
        print(both[-1], flush=True)
    names = ("ties: before", "ties: now", "tosses on four kinds: before", "tosses: now")
    shown = Table({"right in": "{:.0%}", **dict.fromkeys(names, "{}")}, both)
    publish(
        "films_needed",
        f"python bench/calibration.py --films {runs}",
        {"films": Table(columns, rows), "matrix": shown},
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--testbed"]:
        many = coins([Path(folder) for folder in sys.argv[2:]])
        print(f"{many} of 20 metrics that hash the file earn a claim or a trend")
        sys.exit(min(1, many))
    if sys.argv[1:2] == ["--films"]:
        needed(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
        sys.exit(0)
    if sys.argv[1:2] == ["--claims"]:
        sys.exit(min(1, of_claims(int(sys.argv[2]) if len(sys.argv) > 2 else RUNS)))
    sys.exit(min(1, main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)))
