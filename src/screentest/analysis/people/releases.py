"""Releases: people's votes on pairs of videos, as one testbed.

A pair is decided by the mean of its raters' leads: how many marks each gave one video more, or ±1
for a vote. A rater's leniency is in both marks, so it is in no lead. Pairs of one prompt, and pairs
that share a video, are one cluster: they stand or fall together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from screentest._util.collect import clustered
from screentest.analysis.people.preferences import Preference, PreferenceReading, read_preferences
from screentest.core import BadOption

SAME = 1e-9
"""Means that are nearer to each other differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class VotedPair:
    """Two videos and people's votes on them in one aspect."""

    id: str
    """Of the two videos, whatever the aspect: ``prompt's number/pair's number``."""
    cluster: str
    aspect: str
    first: str
    """The preferred one."""
    second: str
    lead: float
    """The mean over raters of how far the first is preferred; 0 where they do not prefer one."""
    leads: tuple[float, ...]
    """That of each rater; negative where the second was preferred."""

    @property
    def decided(self) -> bool:
        return self.lead > 0


@dataclass(frozen=True, slots=True)
class Release:
    """All votes of one release."""

    name: str
    pairs: tuple[VotedPair, ...]
    marks: Mapping[str, Mapping[str, Mapping[str, float]]]
    """By aspect, video and rater, where people gave marks to single videos."""
    prompts: Mapping[str, str]
    """By video."""
    clusters: Mapping[str, str]
    """By video."""
    votes: int
    problems: tuple[str, ...] = ()
    raters: int | None = None
    """How many people voted; None where votes have no names."""

    @property
    def aspects(self) -> list[str]:
        return list(dict.fromkeys(pair.aspect for pair in self.pairs))

    @property
    def digest(self) -> str:
        """Sixteen hex digits of all votes."""
        text = repr([(pair.aspect, pair.first, pair.second, pair.leads) for pair in self.pairs])
        return sha256(text.encode()).hexdigest()[:16]

    def of(self, aspect: str) -> list[VotedPair]:
        return [pair for pair in self.pairs if pair.aspect == aspect]


def read_release(path: Path, form: str = "", aspects: Sequence[str] = ()) -> Release:
    """Return the votes of a release, of some of its aspects; raises where there are none."""
    reading = read_preferences(path, form)
    available = list(dict.fromkeys(row.aspect for row in reading.rows))
    unknown = [name for name in aspects if name not in available]
    if unknown:
        raise BadOption(
            f"people were not asked about {unknown[0]!r} in {path}",
            advice=f"Aspects: {', '.join(available)}.",
        )
    name = path.absolute().stem if reading.form == "csv" else reading.form
    return release_of(reading, name, aspects or available)


def release_of(reading: PreferenceReading, name: str, aspects: Sequence[str]) -> Release:
    """Rows by pair and aspect. The ids are the same whichever aspects are wanted."""
    clusters = _clusters(reading.rows)
    numbers = {label: str(number) for number, label in enumerate(sorted(set(clusters.values())))}
    by_pair: dict[tuple[str, str], dict[str, dict[str, list[float]]]] = {}
    prompts: dict[str, str] = {}
    for row in reading.rows:
        first, second = sorted((row.video_a, row.video_b))
        lead = row.lead if first == row.video_a else -row.lead
        raters = by_pair.setdefault((first, second), {}).setdefault(row.aspect, {})
        # Votes without a name are of different people; a person's votes on one pair are one.
        raters.setdefault(row.rater or f"\0{len(raters)}", []).append(lead)
        for video in (first, second):
            prompts[video] = prompts.get(video) or row.prompt
    pairs, counts = [], dict.fromkeys(numbers.values(), 0)
    for (first, second), item in sorted(by_pair.items()):
        cluster = numbers[clusters[first]]
        counts[cluster] += 1
        for aspect in aspects:
            if aspect in item:
                given = [sum(leads) / len(leads) for _, leads in sorted(item[aspect].items())]
                label = f"{cluster}/{counts[cluster]}"
                pairs.append(_pair(label, cluster, aspect, (first, second), given))
    marks: dict[str, dict[str, dict[str, float]]] = {}
    for rating in reading.ratings:
        if rating.aspect in aspects:
            selected = marks.setdefault(rating.aspect, {}).setdefault(rating.video, {})
            selected[rating.rater] = rating.mark
    places = {aspect: place for place, aspect in enumerate(aspects)}
    named = {row.rater for row in reading.rows if row.aspect in places}
    pairs.sort(key=lambda pair: places[pair.aspect])
    return Release(
        name,
        tuple(pairs),
        marks,
        prompts,
        {video: numbers[label] for video, label in clusters.items()},
        sum(row.aspect in places for row in reading.rows),
        tuple(map(str, reading.problems)),
        len(named) if "" not in named else None,
    )


def _pair(
    label: str, cluster: str, aspect: str, videos: tuple[str, str], given: Sequence[float]
) -> VotedPair:
    mean = sum(given) / len(given)
    if mean <= -SAME:
        given = [-item for item in given]
        return VotedPair(label, cluster, aspect, *videos[::-1], -mean, tuple(given))
    lead = mean if mean >= SAME else 0.0
    return VotedPair(label, cluster, aspect, *videos, lead, tuple(given))


def _clusters(rows: Sequence[Preference]) -> dict[str, str]:
    """By video the least name of all that it hangs together with: by prompts, and by pairs."""
    videos = sorted({video for row in rows for video in (row.video_a, row.video_b)})
    # No video is called like this: a prompt is a knot of its own.
    prompts = [f"\U0010ffff{row.prompt}" if row.prompt else row.video_a for row in rows]
    pairs = [(row.video_a, row.video_b) for row in rows]
    links = [(*pair, prompt) for pair, prompt in zip(pairs, prompts, strict=True)]
    first = clustered([*((video,) for video in videos), *links])
    return {video: first[video] for video in videos}
