"""What of a run is compared in one metric: which prompts, which videos of them, and why nothing is.

Everything that is said of a metric rests on the same prompts: those on which every compared model
has a value. On each of them every model counts with as many videos as the one with fewest: a mean
of four varies otherwise than one value, so that equal models would differ where values are skewed.
Nothing is claimed where one model lacks more values than another, since what fails may be what is
bad, nor where a value depends on the frame rate and the models' rates differ, nor where not all
were measured in the same way: by one version of the metric, with one set of options and models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from urllib.parse import unquote

from screentest._util.text import natural
from screentest.analysis.results import Results, Value
from screentest.core.outcome import FRAME_RATE

UNEVEN = 0.1
"""A model may lack so much more of its values than another; and on so many prompts, frame rates
may differ."""
SAME_RATE = 1.05
"""Frame rates that differ by no more are the same, such as 23.976 and 24."""

RATES_DIFFER = "frame rates differ"
"""How a reason begins for which not even two videos are compared."""


@dataclass(frozen=True, slots=True)
class Lack:
    """What a model has no value of, on the prompts that all models have videos of."""

    prompts: int
    of_prompts: int
    videos: int
    of_videos: int

    @property
    def nothing(self) -> bool:
        """Whether it has no value at all."""
        return self.prompts == self.of_prompts


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
    lacks: Mapping[str, Lack]
    rates: Mapping[str, float]
    """By model, the frame rate, where the value depends on it and they differ too often."""
    ways: str = ""
    """In which ways they were measured, where that is more than one."""

    @property
    def uneven(self) -> str:
        """Who lacks how many values, where one model lacks more than another; else empty."""
        known = {model: lack for model, lack in self.lacks.items() if not lack.nothing}
        shares = [
            [one.prompts / one.of_prompts for one in known.values()],
            [one.videos / one.of_videos for one in known.values()],
        ]
        if not known or all(max(own) - min(own) <= UNEVEN for own in shares):
            return ""
        most = sorted(known, key=lambda model: -known[model].videos / known[model].of_videos)
        words = [
            f"{model} {f'{lack.videos:,} of {lack.of_videos:,}' if lack.videos else 'none'}"
            for model in most[1:]
            for lack in [known[model]]
        ]
        first = known[most[0]]
        lacking = f"{most[0]} lacks {first.videos:,} of {first.of_videos:,} values"
        return f"{', '.join([lacking, *words])}; what is missing may be its worst"

    def missing(self, what: str, unit: str) -> str:
        """Who lacks how many values of ``what``: by units, which are prompts, else by videos."""
        whole = any(one.prompts for one in self.lacks.values())
        most = sorted(self.lacks.items(), key=lambda one: -one[1].videos)
        parts = [
            f"{model} on {one.prompts if whole else one.videos:,}"
            + ("" if whole and place else f" of {one.of_prompts if whole else one.of_videos:,}")
            + ("" if place else f" {f'{unit}s' if whole else 'videos'}")
            for place, (model, one) in enumerate(most)
        ]
        first = most[0][0]
        return f"{first} has no value of {what}{', '.join(parts).removeprefix(first)}."

    @property
    def why(self) -> str:
        """Why nothing is claimed; empty where it can be compared."""
        if self.ways:
            return f"values were measured in different ways ({self.ways}): score all of them again"
        if self.rates:
            listed = ", ".join(f"{model} {rate:.4g}" for model, rate in self.rates.items())
            return f"{RATES_DIFFER} ({listed}), and the numbers depend on them"
        return self.uneven

    @property
    def comparable(self) -> list[str]:
        """Where nothing is claimed: the models that could be compared without the others."""
        if self.ways:
            return []
        if self.rates:
            usual = median(self.rates.values())
            near = {
                model: max(rate, usual) / min(rate, usual) for model, rate in self.rates.items()
            }
            return [model for model, ratio in near.items() if ratio <= SAME_RATE]
        known = {model: one for model, one in self.lacks.items() if not one.nothing}
        least = min(one.videos / one.of_videos for one in known.values())
        return [
            model for model, one in known.items() if one.videos / one.of_videos - least <= UNEVEN
        ]


def pooled_alike(results: Results, side: Collection[str]) -> Results:
    """The same with one way of pooling for all videos of a prompt, in each measure: by the worst
    tenth where all of them have several shots, else all by the whole.

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
        self.unit = "video" if results.by_file_name(self.side) else "prompt"
        """What is counted."""

    def _shared_by(self, models: Sequence[str]) -> set[str]:
        return set.intersection(*(set(self._videos[model]) for model in models))

    def _order(self, item: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """By seed, else by id, numbers as such: nothing that knows how good a video is."""
        return natural(self.results.items[item].groups.get("seed", "")), natural(item)

    def of(self, name: str) -> Sample:
        """What is compared in one metric."""
        values = {one.item: one for one in self.results.of(name) if one.item in self.side}
        waiting = [item for item, own in self.results.pending if own == name and item in self.side]
        scored, total = (dict.fromkeys(self.models, 0) for _ in range(2))
        for item in [*values, *waiting]:
            total[self.side[item]] += 1
            scored[self.side[item]] += item in values and values[item].outcome.ok
        had = {
            model: {
                case: own
                for case in self.shared
                if (own := [one for item in cases[case] if (one := _scored(values, item))])
            }
            for model, cases in self._videos.items()
        }
        lacks = {model: self._lack(model, cases) for model, cases in had.items()}
        known = [model for model in self.models if had[model]]
        shared = set.intersection(*(set(had[model]) for model in known)) if known else set()
        apart = {case for case in shared if _rates_apart([had[model][case] for model in known])}
        many = len(apart) > UNEVEN * len(shared)
        if not many:
            shared -= apart
        prompts: dict[str, dict[str, float]] = {model: {} for model in self.models}
        for case in sorted(shared):
            fewest = min(len(had[model][case]) for model in known)
            for model in known:
                counted = had[model][case][:fewest]
                prompts[model][case] = math.fsum(map(_number, counted)) / fewest
        parts = [one.pools for one in values.values() if one.outcome.ok]
        return Sample(
            prompts,
            frozenset(shared),
            scored,
            total,
            any(parts),
            any(parts) and not all(parts),
            lacks,
            {model: median(seen) for model in known if many and (seen := _rates(had[model]))},
            ways(one.signature for each in had.values() for own in each.values() for one in own),
        )

    def _lack(self, model: str, had: Mapping[str, Sequence[Value]]) -> Lack:
        videos = sum(len(self._videos[model][case]) for case in self.shared)
        lost = videos - sum(map(len, had.values()))
        return Lack(len(self.shared) - len(had), len(self.shared), lost, videos)

    def remarks(self) -> Iterator[str]:
        """Prompts that are left out, and because of whom; videos that are left out."""
        lost = len(self.any) - len(self.shared)
        if lost:
            lacking = {model: len(self.any) - len(own) for model, own in self._videos.items()}
            some = sorted(self.models, key=lambda one: -lacking[one])[:4]
            listed = ", ".join(f"{model} {lacking[model]:,}" for model in some if lacking[model])
            listed = f"{some[0]} lacks{listed.removeprefix(some[0])}"
            rest, shared = self._without(lambda models: len(self._shared_by(models)))
            out = ""
            if shared > len(self.shared):
                out = f"; --by {self.by}={rest} has {shared:,} in common"
            of = f"{lost:,} of {len(self.any):,} {self.unit}s"
            yield f"{of} are left out: {listed}{out}."
        yield from self._uneven_seeds()

    def _uneven_seeds(self) -> Iterator[str]:
        many = {
            model: [len(cases[case]) for case in self.shared]
            for model, cases in self._videos.items()
        }
        if all(len(set(own)) == 1 for own in zip(*many.values(), strict=True)):
            return
        most, *others = sorted(many, key=lambda model: -sum(many[model]))
        listed = ", ".join(f"{model} {_span(many[model])}" for model in others)
        fewest = {min(own) for own in zip(*many.values(), strict=True)}
        each = f"the first {min(fewest):,} of each are compared"
        if fewest == {1}:
            each = "the first of each is compared"
        elif len(fewest) > 1:
            each = "of each prompt the first of each are compared, as many as all have"
        rest, videos = self._without(
            lambda models: min(min(own) for own in zip(*(many[one] for one in models), strict=True))
        )
        out = f" (or --by {self.by}={rest})" if videos > min(fewest) else ""
        yield f"{most} has {_span(many[most])} videos a prompt, {listed}: {each}{out}."

    def _without(self, measure: Callable[[Sequence[str]], int]) -> tuple[str, int]:
        """Of three or more: the models that are left without the one in whose absence there is
        most, as ``--by`` has them, and how much that is."""
        if len(self.models) < 3:
            return "", 0
        rests = [[one for one in self.models if one != lost] for lost in self.models]
        best = max(rests, key=measure)
        return ",".join(best), measure(best)


SAME_NUMBERS = ("screentest", "decoder")
"""What a signature says of a value beside the way it was measured: a metric has a version of its
own, and decoders differ by less than saving a file again does."""
NAMES = {"v": "version", "shots": "cuts by"}


def ways(signatures: Iterable[str]) -> str:
    """In what values were measured differently, going by their signatures; empty where in nothing.

    >>> ways(["noise|v:2|rate:4", "noise|v:3|rate:4", "noise|v:2|rate:4"])
    'version 2 and 3'
    >>> ways(["fits|v:1|model.vlm:a%7Cv%3A1", "fits|v:1|model.vlm:b%7Cv%3A1"])
    'vlm a version 1 and b version 1'
    >>> ways(["noise|v:2|decoder:av18", "noise|v:2|decoder:av19", ""])
    ''
    """
    known = [_parts(one) for one in dict.fromkeys(signatures) if one]
    found = []
    for key in dict.fromkeys(key for one in known for key in one):
        had = list(dict.fromkeys(one.get(key, "none") for one in known))
        if len(had) > 1 and key not in SAME_NUMBERS:
            name = NAMES.get(key, key.removeprefix("model."))
            found.append(f"{name} {' and '.join(sorted(had, key=natural))}".strip())
    return ", ".join(found)


def _parts(signature: str) -> dict[str, str]:
    """What a signature says, by key; the name of the metric has an empty one."""
    name, *rest = signature.split("|")
    parts = {"": name}
    for one in rest:
        key, _, said = one.partition(":")
        parts[key] = unquote(said).replace("|v:", " version ")
    return parts


def rates_differ(results: Results, name: str) -> str:
    """Why single videos are not put in order by a value; empty where they may be.

    The rule of models, for videos: the number depends on the frame rate, and too many have another.
    """
    rates = sorted(
        rate for one in results.of(name) if one.outcome.ok and (rate := _rate(one)) is not None
    )
    if len(rates) < 2:
        return ""
    usual = median(rates)
    apart = [rate for rate in rates if max(rate, usual) > SAME_RATE * min(rate, usual)]
    if len(apart) <= UNEVEN * len(rates):
        return ""
    return f"{RATES_DIFFER} ({rates[0]:.4g} to {rates[-1]:.4g} a second)"


def _scored(values: Mapping[str, Value], item: str) -> Value | None:
    found = values.get(item)
    return found if found is not None and found.outcome.ok else None


def _number(value: Value) -> float:
    return value.outcome.unwrap().value


def _rate(value: Value) -> float | None:
    found = value.outcome.unwrap().details.get(FRAME_RATE)
    return float(found) if isinstance(found, int | float) and found > 0 else None


def _rates(cases: Mapping[str, Sequence[Value]]) -> list[float]:
    return [rate for own in cases.values() for one in own if (rate := _rate(one)) is not None]


def _rates_apart(sides: Sequence[Sequence[Value]]) -> bool:
    """Whether the videos of one prompt have other frame rates for one model than for another."""
    means = []
    for side in sides:
        rates = [rate for one in side if (rate := _rate(one)) is not None]
        if rates:
            means.append(math.fsum(rates) / len(rates))
    return len(means) > 1 and max(means) > SAME_RATE * min(means)


def _span(counts: Collection[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
