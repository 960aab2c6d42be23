"""Margins: the smallest difference between two models that counts, by measure.

Two encodes of the same frames differ in noise and flicker on every prompt, so that a test of "no
difference" is sure that one is better. How far a measure moves where nothing is wrong, saved with
another quality, in another container, without a frame, was measured on real films
(``bench/margins.py``): ``margins.json`` has what nine films in ten stay within. A difference counts
where it is significantly larger than that.

A run of models on enough prompts has margins of its own: some of its clips are encoded anew and
measured again (``clips_to_encode``). Those hold for these clips, and take the place of the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from screentest._util.collect import grouped
from screentest.analysis.results import ORIGINAL, POOLS, Margin, Pool, Results, Value, plain_name
from screentest.core.item import Item
from screentest.core.signature import backends_in, read_signature
from screentest.stats.intervals import upper_mean

FEWEST_FILMS = 9
"""Of fewer films nine in ten are all: the largest difference seen is no margin."""
FEWEST_CLIPS = 6
"""The fewest clips, and the fewest prompts, that a run has margins of its own with."""
LEAST_SHARE = 0.1
"""Of the package's margin: what is learnt from some clips is never less."""
MOST_CLIPS = 12
"""Clips of a run that are encoded anew, one for a prompt."""
MOST_BYTES = 50_000_000
"""Of the file of such a clip: films take minutes to encode."""


def key_of(value: Value) -> str:
    """Return the measure with what else decides its number: version, and the models that answered.

    >>> from screentest.core import Outcome, Score
    >>> name, models = "clipscore", "model.image_text:label_text%7Cv%3A1"
    >>> key_of(Value("x", name, name, Outcome.of(Score(1.0)), f"clipscore|v:1|rate:1|{models}"))
    'clipscore|v:1|image_text:label_text'
    """
    version = read_signature(value.signature).get("v")
    models = sorted(f"{role}:{name}" for role, name in backends_in(value.signature).items())
    return "|".join([plain_name(value.name), *([f"v:{version}"] if version else []), *models])


@cache
def _table() -> Mapping[str, Mapping[str, float]]:
    text = files("screentest.analysis.models").joinpath("margins.json").read_text(encoding="utf-8")
    table: Mapping[str, Mapping[str, float]] = json.loads(text)["margins"]
    return table


def margin_of(value: Value, pool: Pool) -> Margin | None:
    """Return the margin of a metric; None where its margin was never measured."""
    entry = _table().get(key_of(value))
    if entry is None or pool not in entry:
        return None
    return Margin(entry[pool], int(entry["films"]))


def stale(value: Value) -> str:
    """Return the version that a margin is known of, where it is of another than the value's; else
    "".

    What is known of one version says nothing of another, and without a margin two ways of saving
    would be a difference.
    """
    if not value.signature:  # made by another tool
        return ""
    parts = key_of(value).split("|")
    if "|".join(parts) in _table():
        return ""
    keys = (key.split("|") for key in _table())
    return next(
        (
            key_parts[1][2:]
            for key_parts in keys
            if key_parts[:1] + key_parts[2:] == parts[:1] + parts[2:]
        ),
        "",
    )


def clips_to_encode(results: Results) -> list[Item]:
    """Return clips of all models, each of another prompt, to learn what encoding them anew changes.

    Empty where models are not compared, and where there are too few prompts to learn from.
    """
    by = results.models_by
    usable = {name: item for name, item in results.items.items() if _is_short(item)}
    models = sorted({results.group(name, by) for name in usable} - {""}) if by else []
    units = grouped((results.unit(name), name) for name in usable if results.group(name, by))
    if len(models) < 2 or len(units) < FEWEST_CLIPS:
        return []
    every = max(1.0, len(units) / MOST_CLIPS)
    chosen = [sorted(units)[int(place * every)] for place in range(min(MOST_CLIPS, len(units)))]
    clips = []
    for place, unit in enumerate(chosen):
        turn = models[place % len(models) :] + models[: place % len(models)]
        clips.append(min(units[unit], key=lambda name: (turn.index(results.group(name, by)), name)))
    return [usable[name] for name in clips]


def _is_short(item: Item) -> bool:
    try:
        return item.video.stat().st_size <= MOST_BYTES
    except (OSError, ValueError):  # an address, or a file that is gone
        return False


def own_margins(
    results: Results, copies: Results, folder: Path = Path()
) -> dict[tuple[str, Pool], Margin]:
    """Return the mean change that encoding clips of a run anew makes, by value and pool.

    Of each clip the largest change counts. The margin is what their mean is below with 95%
    confidence: the difference of two models that it is held against is a mean, too.
    """
    margins: dict[tuple[str, Pool], Margin] = {}
    for name in results.names:
        for pool in POOLS:
            changes: dict[str, float] = {}
            for copy in copies.of(name):
                original = copies.items[copy.item].groups[ORIGINAL]
                before = results.of_item(original).get(name)
                if before is None or before.signature != copy.signature:
                    continue
                if copies.contents.get(copy.item) != results.contents.get(original):
                    continue  # a file that was replaced since
                ends = before.pooled(pool).number, copy.pooled(pool).number
                if ends[0] is not None and ends[1] is not None:
                    change = abs(ends[0] - ends[1])
                    changes[original] = max(change, changes.get(original, 0.0))
            if len(changes) > 1:
                upper = upper_mean(list(changes.values()))
                margins[name, pool] = Margin(upper, len(changes), str(folder), own=True)
    return margins
