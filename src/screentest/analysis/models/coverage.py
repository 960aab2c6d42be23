"""Facts about what a run measures: prompts that are read, faults that are not, files, borders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from screentest._util.collect import grouped
from screentest.analysis.models.margins import margin_of
from screentest.analysis.models.samples import rates_differ
from screentest.analysis.results import Pool, Results, Value
from screentest.core.frames import Borders
from screentest.core.outcome import BORDERS, DURATION, Reason
from screentest.metrics import CORE, UNSEEN

FAIR_SHARE = 0.25
"""Of the prompts: what reads fewer of them does not read the prompts of a run."""


class PromptCoverage(StrEnum):
    """How far the metrics of a run read its prompts."""

    COVERED = "covered"
    NO_PROMPTS = "no_prompts"
    """The videos have none."""
    NO_METRIC = "no_metric"
    """No metric of the run reads prompts."""
    NO_MODEL = "no_model"
    """The models that would read them are not chosen."""
    UNKNOWN_WORDS = "unknown_words"
    """Prompts name nothing that the chosen models know."""
    FAILED = "failed"
    """The metrics that read prompts failed."""
    HEURISTIC = "heuristic"
    """Only heuristics read them, in place of the models of papers."""
    PARTLY = "partly"
    """Some prompts are not read."""
    FOREIGN = "foreign"
    """The scores are of another tool: what they read is not known."""


@dataclass(frozen=True, slots=True)
class NotCovered:
    """What no number of a run measures."""

    prompts: PromptCoverage
    read: int = 0
    """Prompts that are read."""
    of_prompts: int = 0
    heuristics: tuple[str, ...] = ()
    """The backends that read prompts in place of the models of papers."""
    failures: tuple[str, ...] = ()
    """Why metrics that read prompts have no value."""
    faults: tuple[str, ...] = ()
    """Faults that no metric of the run sees, by their names in ``metrics.UNSEEN``."""

    @property
    def prompts_read(self) -> bool:
        """Return True where something reads the prompts, and where there are none."""
        unread = (PromptCoverage.NO_METRIC, PromptCoverage.NO_MODEL)
        return self.prompts not in (*unread, PromptCoverage.UNKNOWN_WORDS, PromptCoverage.FAILED)


def not_covered(results: Results) -> NotCovered:
    """Return the parts of prompts, and the faults, that no number of a run measures."""
    if results.values and not any(value.signature for value in results.values):
        return NotCovered(PromptCoverage.FOREIGN)
    faults = _unseen(results)
    asked = {results.unit(name) for name, item in results.items.items() if item.text.strip()}
    readers = _prompt_readers(results, asked)
    if not readers:
        state, failures = _why_unread(results) if asked else (PromptCoverage.NO_PROMPTS, ())
        return NotCovered(state, 0, len(asked), (), failures, faults)
    read = asked & {
        results.unit(value.item)
        for name in readers
        for value in results.of(name)
        if value.outcome.ok
    }
    used = dict.fromkeys(backend for name in readers for backend in results.stand_ins_of(name))
    state = PromptCoverage.COVERED if asked <= read else PromptCoverage.PARTLY
    if used and all(results.stand_ins_of(name) for name in readers):
        state = PromptCoverage.HEURISTIC
    return NotCovered(state, len(read), len(asked), tuple(used), (), faults)


def _reads(results: Results, name: str) -> bool:
    """Return True where a value looks in the pictures for the words of a prompt or script."""
    traits = results.traits_of(name)
    return traits.group == "prompt" and not traits.counts_shots


def _prompt_readers(results: Results, asked: set[str]) -> list[str]:
    """Return the values that read the prompt or script, and have a number on a fair share of
    prompts."""
    readers = []
    for name, info in results.outputs.items():
        if _reads(results, name) and not info.descriptive:
            read = {results.unit(value.item) for value in results.of(name) if value.outcome.ok}
            if read and len(read) >= FAIR_SHARE * len(asked):
                readers.append(name)
    return readers


def _why_unread(results: Results) -> tuple[PromptCoverage, tuple[str, ...]]:
    tried = [name for name in results.names if _reads(results, name)]
    if not tried:
        return PromptCoverage.NO_METRIC, ()
    reasons = {
        value.outcome.failure.reason
        for name in tried
        for value in results.of(name)
        if value.outcome.failure is not None
    }
    if Reason.MISSING_MODEL in reasons:
        return PromptCoverage.NO_MODEL, ()
    # Other models are no remedy where something here reads prompts, and failed.
    failed = tuple(sorted(reasons - {Reason.NOT_APPLICABLE, Reason.LOW_COVERAGE}))
    return (PromptCoverage.FAILED if failed else PromptCoverage.UNKNOWN_WORDS), failed


def _unseen(results: Results) -> tuple[str, ...]:
    """Return the faults that no number of the run sees; none where something is in it that
    might."""
    measured = {value.metric.partition(":")[0] for value in results.values if value.outcome.ok}
    if not measured or not measured <= {*CORE, *UNSEEN.values()}:
        return ()
    return tuple(fault for fault, metric in UNSEEN.items() if metric not in measured)


@dataclass(frozen=True, slots=True)
class BorderedVideos:
    """Videos with borders (letterbox, pillarbox): pictures are measured inside them."""

    videos: int
    of_videos: int
    least: float
    """The smallest share of the frame that borders take, of those that have any."""
    most: float


def bordered(results: Results) -> Mapping[str, Borders]:
    """Return the videos of the run that have borders, by item."""
    borders: dict[str, Borders] = {}
    for value in results.values:
        score = value.outcome.value
        sides = score.details.get(BORDERS) if score is not None else None
        if value.item not in borders and isinstance(sides, list) and len(sides) == 6:
            borders[value.item] = Borders(*(int(str(side)) for side in sides))
    return borders


def bordered_videos(results: Results) -> BorderedVideos | None:
    """Count the videos that have borders, and measure them; None where none has.

    >>> bordered_videos(Results({}, (), {}))
    """
    shares = [borders.share for borders in bordered(results).values()]
    if not shares:
        return None
    return BorderedVideos(len(shares), len(results.items), min(shares), max(shares))


@dataclass(frozen=True, slots=True)
class UnreadVideo:
    """One video of which no value could be had, because of its file."""

    item: str
    video: str
    reason: str
    detail: str
    advice: str


def unread_videos(results: Results) -> list[UnreadVideo]:
    """Return the videos without any value of which the file could not be read, in the run's
    order."""
    unread = []
    for name, item in results.items.items():
        outcomes = [value.outcome for value in results.of_item(name).values()]
        lost = [
            outcome.failure
            for outcome in outcomes
            if outcome.failure and outcome.failure.reason.of_file
        ]
        if lost and not any(outcome.ok for outcome in outcomes):
            why = lost[0]
            unread.append(
                UnreadVideo(name, str(item.video), why.reason.value, why.detail, why.advice)
            )
    return unread


@dataclass(frozen=True, slots=True)
class ValueCoverage:
    """The values of a run that are there, and those that are not; of videos that can be read."""

    scored: int
    pending: int
    """Not measured yet."""
    inapplicable: int
    """Not counted as missing: the metric says nothing about such a video."""
    failures: Mapping[tuple[str, str], Mapping[str, int]]
    """By reason and last line of its detail: how many, by item. Most first."""

    @property
    def missing(self) -> int:
        """Values that failed."""
        return sum(self.reasons.values())

    @property
    def planned(self) -> int:
        """Values that there should be."""
        return self.scored + self.missing + self.pending

    @property
    def reasons(self) -> Counter[str]:
        """Missing values by reason."""
        counts: Counter[str] = Counter()
        for (reason, _), items in self.failures.items():
            counts[reason] += sum(items.values())
        return counts


def value_coverage(results: Results) -> ValueCoverage:
    """Count the values of the videos that can be read."""
    results = results.without({video.item for video in unread_videos(results)})
    scored = inapplicable = 0
    failures: dict[tuple[str, str], Counter[str]] = {}
    for value in results.values:
        failure = value.outcome.failure
        if failure is None:
            scored += 1
        elif failure.reason is Reason.NOT_APPLICABLE:
            inapplicable += 1
        else:
            failures.setdefault((failure.reason.value, failure.brief), Counter())[value.item] += 1
    ordered = sorted(failures.items(), key=lambda entry: -sum(entry[1].values()))
    return ValueCoverage(scored, len(results.pending), inapplicable, dict(ordered))


@dataclass(frozen=True, slots=True)
class WorstVideos:
    """Videos of one model by how often each is the worst of all."""

    videos: int
    scored: int
    """Videos that have any value."""
    metrics: int
    """Values that any video has."""
    compared: int
    """Values in which one video is the worst."""
    worst: Mapping[str, Mapping[str, float]]
    """By item, the values in which it is the worst; the item with most of them first."""


def lowest_videos(results: Results, pool: Pool = "worst") -> dict[str, Value]:
    """By value: the video that is worst in it.

    Only where a direction is better, and videos differ by more than the margin.
    """
    lowest_by_name = {}
    for name, info in results.outputs.items():
        scored = [value for value in results.of(name) if value.outcome.ok]
        if info.descriptive or len(scored) < 2 or rates_differ(results, name):
            continue
        numbers = [value.outcome.unwrap().value for value in scored]
        margin = margin_of(scored[0], pool)
        if max(numbers) - min(numbers) > (margin.value if margin else 0.0):
            lowest = min if info.higher_is_better else max
            lowest_by_name[name] = lowest(scored, key=lambda value: value.outcome.unwrap().value)
    return lowest_by_name


def worst_videos(results: Results, pool: Pool = "worst") -> WorstVideos:
    """Return the videos of a run that are worst in something."""
    lowest = lowest_videos(results, pool)
    by_item: dict[str, dict[str, float]] = {}
    for name, value in lowest.items():
        by_item.setdefault(value.item, {})[name] = value.outcome.unwrap().value
    scored = [value for value in results.values if value.outcome.ok]
    return WorstVideos(
        len(results.items),
        len({value.item for value in scored}),
        len({value.name for value in scored}),
        len(lowest),
        dict(sorted(by_item.items(), key=lambda selected: -len(selected[1]))),
    )


# Videos that are broken by themselves, whatever their rivals are like.

STILL = 0.95
"""Share of the time that a video stands still."""
BLANK = 0.02
"""Contrast below which nothing can be told apart."""
DARK = 0.65
"""Share of clipped pixels, over time and picture, that no film has on purpose."""
GREEN = -0.4
"""Tint of a picture that was not decoded, which is green; vivid lawns stay above -0.25."""
LENGTH = 0.9
"""A video shorter than this share of the others of its prompt was cut short."""


class VideoFault(StrEnum):
    """What is wrong with a video."""

    BLANK = "blank"
    STILL = "still"
    BLACK = "black"
    WHITE = "white"
    GREEN = "green"
    SHORT = "short"
    REPEATED = "repeated"
    """The file is that of another prompt, too, where other models have several."""


_BEYOND: tuple[tuple[VideoFault, str, int, float], ...] = (
    (VideoFault.BLANK, "contrast", -1, BLANK),
    (VideoFault.STILL, "frozen", 1, STILL),
    (VideoFault.BLACK, "tones.clipped_dark", 1, DARK),
    (VideoFault.WHITE, "tones.clipped_light", 1, DARK),
    (VideoFault.GREEN, "tint.red", -1, GREEN),
)
"""Fault, value, direction, and from where on; the first that holds is named."""


@dataclass(frozen=True, slots=True)
class BrokenVideo:
    """A video that is broken, and by what."""

    item: str
    fault: VideoFault
    value: float
    """Of the metric that shows it; of a short video, its seconds, of a repeated one, prompts."""
    usual: float | None = None
    """The seconds of the other videos of its prompt."""


def broken_videos(results: Results) -> list[BrokenVideo]:
    """Return the videos that are broken, in the run's order."""
    files = grouped((content, item) for item, content in results.contents.items())
    shared = {
        item: len(units)
        for items in files.values()
        if len(units := {results.unit(item) for item in items}) > 1
        for item in items
    }
    short = {video.item: video for video in _short_videos(results, shared)}
    broken = []
    for item in results.items:
        values = results.of_item(item)
        for fault, name, sign, least in _BEYOND:
            number = values[name].pooled("mean").number if name in values else None
            if number is not None and sign * number >= sign * least:
                broken.append(BrokenVideo(item, fault, number))
                break
        else:
            if item in shared:
                broken.append(BrokenVideo(item, VideoFault.REPEATED, shared[item]))
            elif item in short:
                broken.append(short[item])
    return broken


def _short_videos(results: Results, shared: Collection[str]) -> Iterator[BrokenVideo]:
    """Yield videos that are shorter than others of their prompt, and than most of their model."""
    lengths = {item: seconds for item, seconds in _lengths(results).items() if item not in shared}
    shares, usual = dict[str, float](), dict[str, float]()
    for alike in grouped((results.unit(item), item) for item in lengths).values():
        for item in alike:
            others = [lengths[other] for other in alike if other != item]
            usual[item] = median(others or [lengths[item]])
            shares[item] = lengths[item] / usual[item] if usual[item] else 1.0
    by = results.models_by
    for items in grouped((results.group(item, by), item) for item in shares).values():
        typical = min(1.0, median(shares[item] for item in items))
        seconds = median(lengths[item] for item in items)
        for item in items:
            if shares[item] < LENGTH * typical and lengths[item] < LENGTH * seconds:
                yield BrokenVideo(item, VideoFault.SHORT, lengths[item], usual[item])


def _lengths(results: Results) -> Mapping[str, float]:
    lengths: dict[str, float] = {}
    for value in results.values:
        score = value.outcome.value
        seconds = score.details.get(DURATION) if score is not None else None
        if isinstance(seconds, int | float):
            lengths[value.item] = float(seconds)
    return lengths
