"""What can be said of videos without rivals: which of them to look at first, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from screentest.analysis.models.margins import margin_of
from screentest.analysis.models.samples import rates_differ
from screentest.analysis.models.text import label, number
from screentest.analysis.results import Pool, Results, Value

_LONGEST = 60
"""Letters of an id in a sentence."""
_NAMED = 3
"""Measures in a sentence."""


def lowest_videos(results: Results, pool: Pool = "worst") -> dict[str, Value]:
    """By measure: the video that is lowest in it.

    Only of measures of which a direction is better, and in which videos differ by more than
    saving the same frames in another way makes.
    """
    found = {}
    for name, info in results.outputs.items():
        known = [value for value in results.of(name) if value.outcome.ok]
        if info.descriptive or len(known) < 2 or rates_differ(results, name):
            continue
        numbers = [value.outcome.unwrap().value for value in known]
        margin = margin_of(known[0], pool)
        if max(numbers) - min(numbers) > (margin.value if margin else 0.0):
            lowest = min if info.higher_is_better else max
            found[name] = lowest(known, key=lambda value: value.outcome.unwrap().value)
    return found


def own_headline(results: Results, lowest: Mapping[str, Value]) -> str:
    """One sentence about all videos: the one to look at first, where one stands out."""
    videos = len(results.items)
    scored = {value.item for value in results.values if value.outcome.ok}
    measured = {value.name for value in results.values if value.outcome.ok}
    many = f"{videos:,} video{'' if videos == 1 else 's'}"
    if not scored:
        return f"Nothing could be scored of {many}."
    measures = f"{len(measured):,} measure{'' if len(measured) == 1 else 's'}"
    if len(scored) < 3:
        return f"{many}, {measures}."
    counted = Counter(value.item for value in lowest.values()).most_common(1)
    if not counted or counted[0][1] < 2:
        return f"{many}, {measures}: none stands out as the worst."
    item, count = counted[0]
    of = many if len(scored) == videos else f"{len(scored):,} scored videos"
    name = item if len(item) <= _LONGEST else f"{item[: _LONGEST - 1]}…"
    return f"Look at {name} first: of {of} it is the worst in {count} of {len(lowest)} measures."


def own_lines(results: Results, lowest: Mapping[str, Value]) -> list[str]:
    """For each video that is lowest in something, in what; the one to look at first is first."""
    short = results.short_names
    by_item: dict[str, list[str]] = {}
    for name, value in lowest.items():
        words = label(name, results.outputs[name], short[name])
        by_item.setdefault(value.item, []).append(f"{words} {number(value.outcome.unwrap().value)}")
    found = []
    for item, low in sorted(by_item.items(), key=lambda one: -len(one[1]))[:_NAMED]:
        rest = f" and {len(low) - _NAMED} more" if len(low) > _NAMED else ""
        found.append(f"{item}: worst in {', '.join(low[:_NAMED])}{rest}")
    return found
