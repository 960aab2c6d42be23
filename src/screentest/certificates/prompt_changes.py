"""Prompt sensitivity: the same videos under another prompt.

Where the aspect is about the text, other words must matter; where it is not, they must not.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from screentest.certificates.accuracy import accuracy
from screentest.certificates.certificate import PromptResult
from screentest.core import Item, Script, all_aspects
from screentest.judges.cases import Case, Judgement, strongest


class PromptChange(StrEnum):
    """What is done to the prompt."""

    SWAPPED = "swapped"
    """That of another source."""
    SHUFFLED = "shuffled"
    """Its captions in another order."""
    EMPTY = "empty"


def with_changed_prompts(
    cases: Sequence[Case], changes: Sequence[PromptChange], most: int
) -> list[Case]:
    """Cases under other prompts, ``most`` of each aspect, the same in every start.

    They are drawn from the strongest rungs: what a judge cannot see says nothing of its reading.
    """
    plain = strongest(cases)
    chosen: list[Case] = []
    for aspect in all_aspects():
        own = [case for case in plain if case.aspect is aspect]
        own.sort(key=lambda case: case.id)
        chosen += random.Random(7).sample(own, min(most, len(own)))
    scripts = {case.cluster: case.first.script for case in plain}
    return [
        changed
        for change in changes
        for case in chosen
        if (changed := _changed(case, change, scripts)) is not None
    ]


def prompt_results(
    judgements: Sequence[Judgement], changes: Sequence[PromptChange]
) -> tuple[PromptResult, ...]:
    """How far answers under other prompts are from those under the right one."""
    plain = {_place(one): one for one in judgements if not one.case.change}
    results = []
    for change in changes:
        for aspect in all_aspects():
            own = [
                one
                for one in judgements
                if one.case.change == change.value and one.case.aspect is aspect
            ]
            both = [
                (one.choice, right.choice)
                for one in own
                if (right := plain.get(_place(one))) is not None
                and one.choice is not None
                and right.choice is not None
            ]
            if both:
                moved = sum(one is not right for one, right in both) / len(both)
                pairs = len({one.case.id for one in own})
                results.append(PromptResult(change.value, aspect, pairs, moved, accuracy(own)))
    return tuple(results)


def _place(one: Judgement) -> tuple[str, str, str, int]:
    """Which question it is, whatever the prompt."""
    case = one.case.id.removesuffix(_mark(one.case.change))
    return (case, one.case.aspect.value, one.order.value, one.repeat)


def _mark(change: str) -> str:
    return f"#{change}" if change else ""


def _changed(case: Case, change: PromptChange, scripts: dict[str, Script | None]) -> Case | None:
    other = _other(case, change, scripts)
    if other is None:
        return None

    def under(item: Item) -> Item:
        return replace(item, id=f"{item.id}{_mark(change.value)}", prompt=other.text, script=other)

    return replace(
        case,
        id=f"{case.id}{_mark(change.value)}",
        prompt=other.text,
        first=under(case.first),
        second=under(case.second),
        change=change.value,
    )


def _other(case: Case, change: PromptChange, scripts: dict[str, Script | None]) -> Script | None:
    """The other script, the same for all cases of a source; None where there is none."""
    script = case.first.script
    assert script is not None
    rng = random.Random(case.cluster)
    if change is PromptChange.EMPTY:
        return Script(())
    if change is PromptChange.SHUFFLED:
        clips = list(script.clips)
        rng.shuffle(clips)
        return None if tuple(clips) == script.clips else Script(tuple(clips))
    others = sorted(name for name in scripts if name != case.cluster)
    return scripts[rng.choice(others)] if others else None
