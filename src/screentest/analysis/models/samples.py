"""The prompts and videos of a run that are compared in one metric, or why none are.

All facts of a metric rest on the same prompts: those on which every compared model
has a value. On each of them every model counts with as many videos as the one with fewest: a mean
of four varies otherwise than one value, so that equal models would differ where values are skewed.
Nothing is claimed where one model lacks more values than another, since what fails may be what is
bad, nor where a value depends on the frame rate and the models' rates differ, nor where not all
were measured in the same way: by one version of the metric, with one set of options and models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Literal

from screentest._util.text import natural
from screentest.analysis.models.rows import Missing, NotCompared, WhyNotCompared
from screentest.analysis.results import Results, Value
from screentest.core.outcome import FRAME_RATE
from screentest.core.signature import read_signature

UNEVEN = 0.1
"""A model may lack so much more of its values than another; and on so many prompts, frame rates
may differ."""
SAME_RATE = 1.05
"""Frame rates that differ by no more are the same, such as 23.976 and 24."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Prompts that only some models have videos of."""

    prompts: int
    of_prompts: int
    missing: Mapping[str, int]
    """By model that lacks some, the most first: how many."""
    best_without: tuple[str, ...] = ()
    """The models that share most prompts, where leaving one out helps."""
    shared_without: int = 0
    """How many prompts those share."""


@dataclass(frozen=True, slots=True)
class UnevenSeeds:
    """Models with different numbers of videos of a prompt: as many of each are compared."""

    videos: Mapping[str, tuple[int, int]]
    """By model, the most first: the fewest and the most videos of a prompt."""
    compared: tuple[int, int]
    """The fewest and the most videos of a prompt that are compared."""
    best_without: tuple[str, ...] = ()
    """The models of which more could be compared."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of one metric that are compared."""

    prompts: Mapping[str, Mapping[str, float]]
    """By model, the value of each shared prompt: the mean of its videos that count. Empty for a
    model that has none at all."""
    shared: frozenset[str]
    """The prompts on which all models have a value that have any."""
    scored: Mapping[str, int]
    """By model, its videos that have a value, on whatever prompt."""
    total: Mapping[str, int]
    pooled: bool
    """Whether values are of a part of the video."""
    mixed: bool
    """Whether only some are, and those of clips of one shot are of the whole."""
    missing: Mapping[str, Missing]
    rates: Mapping[str, float]
    """By model, the frame rate, where the value depends on it and they differ too often."""
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What was measured differently, by key of the signature."""

    @property
    def why(self) -> WhyNotCompared | None:
        """The reason why nothing is claimed; None where it can be compared."""
        if self.settings:
            return WhyNotCompared(NotCompared.SETTINGS, settings=self.settings)
        if self.rates:
            usual = median(self.rates.values())
            near = [m for m, rate in self.rates.items() if _same_rate(rate, usual)]
            return WhyNotCompared(NotCompared.FRAME_RATES, rates=self.rates, comparable=tuple(near))
        lacking = {model: lack for model, lack in self.missing.items() if not lack.nothing}
        shares = {model: lack.videos / lack.of_videos for model, lack in lacking.items()}
        of_prompts = [lack.prompts / lack.of_prompts for lack in lacking.values()]
        if all(_spread(part) <= UNEVEN for part in (of_prompts, list(shares.values()))):
            return None
        least = min(shares.values())
        return WhyNotCompared(
            NotCompared.MISSING_VALUES,
            missing={model: lacking[model] for model in sorted(lacking, key=lambda m: -shares[m])},
            comparable=tuple(model for model in shares if shares[model] - least <= UNEVEN),
        )


def pooled_alike(results: Results, side: Collection[str]) -> Results:
    """Return the same with one way of pooling for all videos of a prompt, in each measure: by the
    worst tenth where all of them have several shots, else all by the whole.

    A fault that looks like a cut would else decide what of a video is counted. ``side`` are the
    items that are compared.
    """
    whole = {
        (results.unit(value.item), value.name)
        for value in results.values
        if value.item in side and value.outcome.ok and not value.pools
    }
    values = tuple(
        value.as_whole() if (results.unit(value.item), value.name) in whole else value
        for value in results.values
    )
    return replace(results, values=values)


class Samples:
    """The videos of some models, by prompt."""

    def __init__(self, results: Results, by: str, models: Sequence[str]) -> None:
        self.results, self.by, self.models = results, by, models
        self.side: dict[str, str] = {}
        """The model of each item that is of one."""
        self._videos: dict[str, dict[str, list[str]]] = {model: {} for model in models}
        for item in sorted(results.items, key=self._order):
            model = results.group(item, by)
            if model in self._videos:
                self.side[item] = model
                self._videos[model].setdefault(results.unit(item), []).append(item)
        self.shared = self._shared_by(models)
        self.any = set().union(*self._videos.values())
        self.unit: Literal["prompt", "video"] = (
            "video" if results.by_file_name(self.side) else "prompt"
        )

    def _shared_by(self, models: Sequence[str]) -> set[str]:
        return set.intersection(*(set(self._videos[model]) for model in models))

    def _order(self, item: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """By seed, else by id, numbers as such: nothing that knows how good a video is."""
        return natural(self.results.items[item].groups.get("seed", "")), natural(item)

    def of(self, name: str) -> Sample:
        """Return the values of one metric that are compared."""
        values = {value.item: value for value in self.results.of(name) if value.item in self.side}
        waiting = [
            item for item, pending in self.results.pending if pending == name and item in self.side
        ]
        scored, total = (dict.fromkeys(self.models, 0) for _ in range(2))
        for item in [*values, *waiting]:
            total[self.side[item]] += 1
            scored[self.side[item]] += item in values and values[item].outcome.ok
        had = {
            model: {
                case: matching
                for case in self.shared
                if (matching := [value for item in cases[case] if (value := _scored(values, item))])
            }
            for model, cases in self._videos.items()
        }
        missing = {model: self._missing(model, cases) for model, cases in had.items()}
        measured = [model for model in self.models if had[model]]
        shared = set.intersection(*(set(had[model]) for model in measured)) if measured else set()
        apart = {case for case in shared if _rates_apart([had[model][case] for model in measured])}
        many = len(apart) > UNEVEN * len(shared)
        if not many:
            shared -= apart
        prompts: dict[str, dict[str, float]] = {model: {} for model in self.models}
        for case in sorted(shared):
            fewest = min(len(had[model][case]) for model in measured)
            for model in measured:
                counted = had[model][case][:fewest]
                prompts[model][case] = math.fsum(map(_number, counted)) / fewest
        parts = [value.pools for value in values.values() if value.outcome.ok]
        return Sample(
            prompts,
            frozenset(shared),
            scored,
            total,
            any(parts),
            any(parts) and not all(parts),
            missing,
            {model: median(seen) for model in measured if many and (seen := _rates(had[model]))},
            differing_settings(
                value.signature
                for each in had.values()
                for matching in each.values()
                for value in matching
            ),
        )

    def _missing(self, model: str, had: Mapping[str, Sequence[Value]]) -> Missing:
        videos = sum(len(self._videos[model][case]) for case in self.shared)
        lost = videos - sum(map(len, had.values()))
        return Missing(len(self.shared) - len(had), len(self.shared), lost, videos)

    @property
    def left_out(self) -> LeftOut:
        """The prompts that only some models have."""
        missing = {model: len(self.any) - len(cases) for model, cases in self._videos.items()}
        listed = sorted((model for model in missing if missing[model]), key=lambda m: -missing[m])
        best, shared = self._without(lambda models: len(self._shared_by(models)))
        left = LeftOut(
            len(self.any) - len(self.shared), len(self.any), {m: missing[m] for m in listed}
        )
        if shared <= len(self.shared):
            return left
        return replace(left, best_without=best, shared_without=shared)

    @property
    def uneven_seeds(self) -> UnevenSeeds | None:
        """The numbers of videos of a prompt, where models differ in them."""
        counts = {
            model: [len(cases[case]) for case in self.shared]
            for model, cases in self._videos.items()
        }
        if all(len(set(per_prompt)) == 1 for per_prompt in zip(*counts.values(), strict=True)):
            return None
        fewest = {min(per_prompt) for per_prompt in zip(*counts.values(), strict=True)}
        best, videos = self._without(
            lambda models: min(
                min(per_prompt) for per_prompt in zip(*(counts[m] for m in models), strict=True)
            )
        )
        return UnevenSeeds(
            {
                model: (min(counts[model]), max(counts[model]))
                for model in sorted(counts, key=lambda m: -sum(counts[m]))
            },
            (min(fewest), max(fewest)),
            best if videos > min(fewest) else (),
        )

    def _without(self, measure: Callable[[Sequence[str]], int]) -> tuple[tuple[str, ...], int]:
        """Of three or more: the models that are left without the one in whose absence there is
        most, and how much that is."""
        if len(self.models) < 3:
            return (), 0
        rests = [[model for model in self.models if model != lost] for lost in self.models]
        best = max(rests, key=measure)
        return tuple(best), measure(best)


SAME_NUMBERS = ("screentest", "decoder")
"""Parts of a signature that change no number: a metric has a version of its own, and decoders
differ by less than saving a file again does."""


def differing_settings(signatures: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the parts in which values were measured differently, going by their signatures.

    >>> differing_settings(["noise|v:2|rate:4", "noise|v:3|rate:4", "noise|v:2|rate:4"])
    {'v': ('2', '3')}
    >>> differing_settings(["fits|v:1|model.vlm:a%7Cv%3A1", "fits|v:1|model.vlm:b%7Cv%3A1"])
    {'model.vlm': ('a|v:1', 'b|v:1')}
    >>> differing_settings(["noise|v:2|decoder:av18", "noise|v:2|decoder:av19", ""])
    {}
    """
    parts = [read_signature(signature) for signature in dict.fromkeys(signatures) if signature]
    differing = {}
    for key in dict.fromkeys(key for signature_parts in parts for key in signature_parts):
        values = {signature_parts.get(key, "") for signature_parts in parts}
        if len(values) > 1 and key not in SAME_NUMBERS:
            differing[key] = tuple(sorted(values, key=natural))
    return differing


def rates_differ(results: Results, name: str) -> tuple[float, float] | None:
    """Return the lowest and the highest frame rate, where single videos are not put in order by a
    value.

    The rule of models, for videos: the number depends on the frame rate, and too many have another.
    """
    rates = sorted(
        rate
        for value in results.of(name)
        if value.outcome.ok and (rate := _rate(value)) is not None
    )
    if len(rates) < 2:
        return None
    usual = median(rates)
    far = [rate for rate in rates if not _same_rate(rate, usual)]
    return (rates[0], rates[-1]) if len(far) > UNEVEN * len(rates) else None


def _same_rate(rate: float, usual: float) -> bool:
    return max(rate, usual) <= SAME_RATE * min(rate, usual)


def _spread(numbers: Sequence[float]) -> float:
    return max(numbers) - min(numbers) if numbers else 0.0


def _scored(values: Mapping[str, Value], item: str) -> Value | None:
    value = values.get(item)
    return value if value is not None and value.outcome.ok else None


def _number(value: Value) -> float:
    return value.outcome.unwrap().value


def _rate(value: Value) -> float | None:
    rate = value.outcome.unwrap().details.get(FRAME_RATE)
    return float(rate) if isinstance(rate, int | float) and rate > 0 else None


def _rates(cases: Mapping[str, Sequence[Value]]) -> list[float]:
    return [
        rate for values in cases.values() for value in values if (rate := _rate(value)) is not None
    ]


def _rates_apart(sides: Sequence[Sequence[Value]]) -> bool:
    """Return True where the videos of one prompt have other frame rates for one model than for
    another."""
    means = []
    for side in sides:
        rates = [rate for value in side if (rate := _rate(value)) is not None]
        if rates:
            means.append(math.fsum(rates) / len(rates))
    return len(means) > 1 and max(means) > SAME_RATE * min(means)
