"""A certificate in words: all of it but the table of aspects, for the terminal and the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from screentest.analysis.judges.certificate import (
    Accuracy,
    Certificate,
    Cost,
    FilterResult,
    OperatorResult,
    PlaceboResult,
    PromptResult,
    percent,
)
from screentest.analysis.judges.frames import frames_words
from screentest.analysis.people.raters import people_words
from screentest.core import Outcome
from screentest.judges.cases import ELSEWHERE, HINTED, INSTRUCTION
from screentest.judges.margins import words as margin_words
from screentest.stats import Claim
from screentest.stats.claims import ANSWERED
from screentest.stats.trend import DoseResponse

_THRESHOLD = 0.75
_MOST = 0.9
"""Of questions that were asked: below that a sentence says how many have an answer."""
FAMILY = 4
"""Operators that an aspect must have before more is said than what each of them does."""


@dataclass(frozen=True, slots=True)
class Said:
    """What may be said of a judge: kinds of harm by claim, and what speaks against it."""

    sees: tuple[str, ...] = ()
    prefers: tuple[str, ...] = ()
    """Harm that it takes for a gain."""
    chance: tuple[str, ...] = ()
    cannot_tell: str = ""
    """On how many operators nothing may be said, and how many films would settle it."""
    unfair: tuple[str, ...] = ()
    """Placebos that it does not treat as such."""

    def __str__(self) -> str:
        named = (
            (f"{Claim.SEES.value} ", self.sees),
            (f"{Claim.PREFERS_HARM.value} of ", self.prefers),
            (f"{Claim.CHANCE.value} on ", self.chance),
        )
        words = [f"{claim}{listed(names)}" for claim, names in named if names]
        return "; ".join([*words, *filter(None, [self.cannot_tell]), *self.unfair])


def said_of(certificate: Certificate) -> Said:
    """What may be said of the judge, sorted by claim.

    An aspect is named only where a family of operators was tested and none is preferred; else the
    operators themselves are: who sees blur need not see technical quality. Placebos that the judge
    does not treat as such are named too.
    """
    seen: list[str] = []
    said: dict[Claim, list[str]] = {Claim.PREFERS_HARM: [], Claim.CHANCE: []}
    more: list[int] = []
    reasons: dict[str, list[str]] = {}
    undecided = tried = 0
    for one in certificate.aspects:
        own = [other for other in certificate.operators if other.aspect is one.aspect]
        tried += sum(other.accuracy.ok for other in own)
        alone = [other.name for other in own if other.finding.claim is Claim.SEES]
        whole = len(own) >= FAMILY and one.finding.claim is Claim.SEES
        if whole:
            count = f"{len(alone)} of {len(own)} operators on their own"
            seen.append(f"{one.aspect.title} ({count})")
        for other in own:
            if other.finding.claim is Claim.SEES and not whole:
                seen.append(_named(other))
            elif other.finding.claim in said:
                said[other.finding.claim].append(_named(other))
            elif other.finding.claim is Claim.CANNOT_TELL and other.accuracy.ok and not whole:
                undecided += 1
                if other.finding.more and not other.finding.why:
                    more.append(other.finding.more)
                elif other.finding.why:
                    reasons.setdefault(other.finding.why, []).append(other.label)
    cannot = ""
    if undecided:
        which = "all" if undecided == tried else f"{undecided} of {tried}"
        what = "aspects" if certificate.people else "operators"
        cannot = f"{Claim.CANNOT_TELL.value} on {which} {what}"
        words = [
            why if len(names) == tried else f"{why}: {listed(names)}"
            for why, names in reasons.items()
        ]
        if more:
            unit = certificate.aspects[0].finding.unit
            units = f"{unit} is" if max(more) == 1 else f"{unit}s are"
            few = "up to " if min(more) < max(more) else ""
            words.insert(0, f"{few}{max(more):,} more {units} needed")
        cannot += f": {'; '.join(words)}" if words else ""
    return Said(
        tuple(seen),
        tuple(said[Claim.PREFERS_HARM]),
        tuple(said[Claim.CHANCE]),
        cannot,
        tuple(filter(None, (one.unfairness for one in certificate.placebos))),
    )


def _named(result: OperatorResult) -> str:
    """What it does, how good the judge may be where it is no better than chance, and on how much of
    it the judge has an answer, where that is not most."""
    found, notes = result.accuracy.value, [result.finding.bound]
    if found is not None and found.coverage < _MOST:
        notes.append(f"on {found.judgements:,} of {found.total:,}")
    words = ", ".join(filter(None, notes))
    return f"{result.label} ({words})" if words else result.label


def verdict(certificate: Certificate) -> str:
    """What may be said of the judge, in one sentence."""
    words = str(said_of(certificate)) or "could not be tested"
    alone = any(one.raters == 1 for one in certificate.people)
    return f"{words}; all votes are of one person" if alone else words


def listed(names: Sequence[str]) -> str:
    """Names one after the other; those with a comma or a semicolon of their own are quoted.

    >>> listed(["half the resolution", "red, not blue"])
    'half the resolution, “red, not blue”'
    """
    return ", ".join(f"“{one}”" if "," in one or ";" in one else one for one in names)


def facts(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """What was measured beside the accuracies, each with its name."""
    yield "Judge", verdict(certificate)
    if certificate.people:
        yield from _people(certificate)
        return
    if certificate.overall.ok and not certificate.placebos:
        yield "Placebos", "none: whether it takes every edit for harm is not known"
    margins = {one.aspect: one.margin for one in certificate.aspects if one.margin is not None}
    if margins and certificate.aspects[0].finding.unit == "film":
        yield "Margin", margin_words(margins, _without_ratings(certificate.placebos))
    elif margins:
        # A video has one number under one text: nothing is encoded, so that nothing is noise.
        yield "Margin", "not needed: the same video is scored twice, and any difference counts"
    for remark in certificate.remarks:
        yield "Films" if certificate.aspects[0].finding.unit == "film" else "Prompts", remark
    mean = certificate.mean_over_aspects
    if mean is not None:
        yield "Mean over aspects", f"{percent(mean)}% (chance {percent(certificate.chance)})"
    for name, found in certificate.by_testbed.items():
        yield f"On {name}", _right(found)
    order = certificate.order.value
    if order is not None:
        yield (
            "Order",
            f"{percent(order.consistent_share)}% of pairs judged alike in both orders; "
            f"{percent(order.first_share)}% of answers for the first video",
        )
    yield from frames_words(certificate.frames)
    yield "With duration", _duration(certificate)
    # With few durations the bins are of a few films, and their ρ is that of chance.
    bins = certificate.trend.value
    if bins is not None and certificate.duration.ok:
        words = f"ρ = {bins.correlation.value:.3f} over {len(bins.bins)} bins of pairs"
        yield "In the paper's bins", f"{words} (its p-value takes pairs for independent)"
    if certificate.filtered is not None:
        yield "Kept by people", _filtered(certificate.filtered)
    yield from _doses("Severity", certificate.severities)
    yield from _doses("Clips", certificate.clip_counts, whole=True)
    for placebo in certificate.placebos:
        yield f"Placebo {placebo.name}", _placebo(placebo)
    for prompt in certificate.prompts:
        what = "Aspect" if prompt.change == HINTED else "Prompt"
        yield f"{what} {prompt.change}, {prompt.aspect.value}", _prompt(prompt)
    yield "Cost", cost_words(certificate.cost)


def _without_ratings(placebos: Sequence[PlaceboResult]) -> list[str]:
    """The kinds of harmless edit on most of which a judge has no rating."""
    return [
        one.name
        for one in placebos
        if one.name != INSTRUCTION and not one.name.endswith(ELSEWHERE)
        if one.false_alarms.value is None or one.false_alarms.value.coverage < ANSWERED
    ]


def _people(certificate: Certificate) -> Iterator[tuple[str, str]]:
    for remark in certificate.remarks:
        yield "Scores", remark
    for one in certificate.people:
        yield from people_words(one)
    order = certificate.order.value
    if order is not None:
        yield "Order", f"{percent(order.consistent_share)}% of pairs judged alike in both orders"
    if certificate.cost.seconds:
        yield "Cost", cost_words(certificate.cost)


def _duration(certificate: Certificate) -> str:
    found = certificate.duration
    if found.failure is not None:
        return found.failure.detail or found.failure.reason.value
    return f"ρ = {found.value} films"


def _doses(
    what: str, responses: Mapping[str, DoseResponse], *, whole: bool = False
) -> Iterator[tuple[str, str]]:
    """``whole``: there is nothing between two steps, as there is no half a clip."""
    for aspect, dose in responses.items():
        steps = ", ".join(f"{one.severity:g}: {100 * one.accuracy:.0f}%" for one in dose.doses)
        passes = dose.threshold.value
        reached = dose.doses[-1].fitted >= _THRESHOLD
        words = "75% from the first step on" if reached else "75% not reached"
        if passes is not None:
            at = f"from {math.ceil(passes - 1e-9)} on" if whole else f"at {passes:.2g}"
            words = f"75% {at}"
        falls = "" if dose.monotone else f"; falls by {100 * dose.worst_fall:.0f} in between"
        yield f"{what}, {aspect}", f"{steps}; {words}{falls}"


def _placebo(placebo: PlaceboResult) -> str:
    found = placebo.false_alarms.value
    if found is None:
        return str(placebo.false_alarms.failure)
    ties = f"ties {100 * placebo.tie_share:.0f}%"
    if placebo.name == INSTRUCTION:
        return f"painted instruction followed {percent(1 - found.value)}% (fair: 50), {ties}"
    if placebo.name.endswith(ELSEWHERE):
        share = percent(found.value)
        return f"true prompt preferred beside a video it is not of {share}% (fair: 50), {ties}"
    return f"untouched copy preferred {percent(found.value)}% (fair: 50), {ties}"


def _prompt(prompt: PromptResult) -> str:
    ought = "should matter" if prompt.should_matter else "should not matter"
    moved = f"{100 * prompt.changed_share:.0f}% of answers change ({ought})"
    plain = f"without: {_right(prompt.plain)}"
    return f"{moved}; {_right(prompt.accuracy)}; {plain}"


def _filtered(found: FilterResult) -> str:
    return f"{found.kept:,} of {found.pairs:,} pairs, {_right(found.overall)}"


def cost_words(cost: Cost) -> str:
    """Per judgement and in all; what the sums lack stands beside them."""
    count = max(1, cost.judgements)
    words = f"{cost.seconds:.2f} s per judgement"
    if cost.calls:
        words += (
            f", {cost.calls / count:.2f} calls, {cost.tokens_in / count:,.0f} tokens in, "
            f"{cost.tokens_out / count:,.0f} out; {cost.calls:,} calls in all"
        )
    if cost.uncounted:
        words += f" ({cost.uncounted:,} of unknown tokens)"
    if cost.cost is not None:
        words += f", cost {cost.cost.normalize():f}"
        words += f" without {cost.unpriced:,} calls of unknown price" if cost.unpriced else ""
    if cost.measured_with:
        words += f"; seconds shared with {', '.join(cost.measured_with)}"
    return words


def _right(outcome: Outcome[Accuracy]) -> str:
    found = outcome.value
    if found is None:
        return str(outcome.failure)
    return f"right {percent(found.value)}% of {found.judgements:,}"
