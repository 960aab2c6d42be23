"""Matches: the units of an arena, two models' videos of one prompt each."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from screentest.annotate.answers import Footage, Unit
from screentest.core import BadOption, Item, UserError
from screentest.inputs.manifest import read_manifest
from screentest.judges.votes import VoteTask
from screentest.video.probe import probe
from screentest.video.sandbox import supervised


def arena_units(path: Path, by: str) -> list[Unit]:
    """Return every two models on every prompt that both have.

    Several videos of one prompt by one model meet those of the other in the order of the manifest,
    the first with the first; what one has more of is left out.
    """
    if path.is_dir():
        raise BadOption(
            f"the task arena compares the models of a manifest; {path} is a folder",
            advice="Give a manifest whose items have a group such as model.",
        )
    group, _, listed = by.partition("=")
    items = read_manifest(path)
    wanted = [name.strip() for name in listed.split(",") if name.strip()]
    result = {item.groups[group] for item in items if item.groups.get(group)}
    for name in wanted:
        if name not in result:
            raise BadOption(
                f"no item has {name!r} as its {group}",
                advice=f"There are: {', '.join(sorted(result)) or 'none'}.",
            )
    models = sorted(set(wanted) or result)
    if len(models) < 2:
        raise UserError(
            f"{path} has {len(models) or 'no'} {group}{'s' * (not models)} to compare",
            advice=f'Items need a group, such as {{"groups": {{"{group}": "ours"}}}}.',
        )
    cases: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        model, case = item.groups.get(group, ""), item.groups.get("case") or item.text
        if model in models and case:
            cases[case][model].append(item)
    units = [
        _of_two(case, group, (entry, other), pair)
        for case, held in cases.items()
        for entry, other in itertools.combinations(models, 2)
        for pair in zip(held.get(entry, ()), held.get(other, ()), strict=False)
    ]
    if not units:
        raise UserError(f"{path}: no two {group}s have a video of the same prompt")
    return units


def _of_two(case: str, group: str, models: tuple[str, str], pair: tuple[Item, Item]) -> Unit:
    first, second = pair
    return Unit(
        key=f"{first.id} : {second.id}",
        task=VoteTask.ARENA,
        source=case,
        video=str(second.video),
        videos=(_footage(first), _footage(second)),
        prompt=first.text,
        clips=first.script.clips if first.script is not None else (),
        models=models,
        groups=_shared(pair, group),
    )


def _footage(item: Item) -> Footage:
    return Footage(item.video.resolve(), supervised(probe, item.video).unwrap().duration)


def _shared(pair: Sequence[Item], group: str) -> Mapping[str, str]:
    """Return the groups that both videos are in."""
    first, second = pair
    return {
        name: text
        for name, text in first.groups.items()
        if name != group and second.groups.get(name) == text
    }
