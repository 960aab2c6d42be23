"""Leads that an artefact explains, and models that plainly look different.

A blurred picture has less noise, and an oversharpened one seems sharper. Where the better one of
two has such a fault, its lead makes no winner (``Traits.helped_by``). One that is both sharper
and noisier may have more detail or more noise: where nothing settles which, neither lead makes a
winner. Differences that are no fault as such, in brightness or tint, are facts of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from screentest.analysis.models.rows import (
    Explained,
    Explanation,
    MetricRow,
    ModelPair,
    State,
    apart,
)
from screentest.core.metric import SideEffect
from screentest.stats.claims import Claim
from screentest.stats.signflip import LEVEL, sign_flip_p


def with_explanations(rows: Sequence[MetricRow]) -> list[MetricRow]:
    """Return the rows with the artefacts that explain leads in them."""
    # What shows an artefact may owe its own lead to another: an oversharpened picture is not one
    # beside which the other is blurred.
    once = _explained(rows, rows)
    return _explained(rows, once)


def _explained(rows: Sequence[MetricRow], causes: Sequence[MetricRow]) -> list[MetricRow]:
    by_value = {row.name.partition(":")[0]: row for row in causes}
    explained_rows = []
    for row in rows:
        pairs = tuple(_pair(row, pair, by_value) for pair in row.pairs)
        if any(pair.explanation for pair in pairs):
            earned = [pair for pair in pairs if pair.earned]
            better, worse = {pair.better for pair in earned}, {pair.worse for pair in earned}
            explained = {p.better for p in pairs if p.significant and p.explanation}
            values = tuple(
                replace(
                    value,
                    best=value.model in better - worse,
                    worst=value.model in worse - better,
                    explained=value.model in explained,
                )
                for value in row.values
            )
            row = replace(row, pairs=pairs, values=values)
        explained_rows.append(row)
    return explained_rows


def _pair(row: MetricRow, pair: ModelPair, rows: Mapping[str, MetricRow]) -> ModelPair:
    """Return it with the artefact of the better one, certain or possible, that makes its number
    better."""
    ambiguous: Explanation | None = None
    for effect in row.helped_by:
        proof = rows.get(effect.unless)
        if proof is not None and _more(proof, pair.worse, pair.better):
            least = effect.unless_from
            if least is None or (proof.of(pair.worse).mean or 0.0) >= least:
                continue
        fault = _fault(effect, pair.better, pair.worse, rows)
        if fault is not None and fault.kind is Explained.ARTEFACT:
            tests = _tests(row, rows[effect.value], effect.more)
            return replace(pair, explanation=replace(fault, tests=tests))
        ambiguous = ambiguous or fault
    return replace(pair, explanation=ambiguous)


def _fault(
    effect: SideEffect, model: str, other: str, rows: Mapping[str, MetricRow]
) -> Explanation | None:
    """Return the artefact that a model has beside another, or may have; None where it has none."""
    cause = rows.get(effect.value)
    if cause is None or not _beyond(cause, model, effect):
        return None
    sure = Explanation(Explained.ARTEFACT, effect.value, model, effect.more)
    other_side = replace(sure, kind=Explained.AMBIGUOUS, model=other)
    if effect.more is None:
        behind = _behind(cause, model, other)
        return {None: None, Explained.ARTEFACT: sure, Explained.AMBIGUOUS: other_side}[behind]
    if effect.more:
        kind = Explained.AMBIGUOUS if effect.ambiguous else Explained.ARTEFACT
        return replace(sure, kind=kind) if _more(cause, model, other) else None
    along = rows.get(effect.along)
    if not _more(cause, other, model) or (along is not None and not _lower(along, model, other)):
        return None
    # To have less than one that has too much is no fault, and may be none if it may have.
    faults = [_fault(extra, other, model, rows) for extra in cause.helped_by if extra.more]
    kinds = [fault.kind for fault in faults if fault is not None]
    if Explained.ARTEFACT in kinds:
        return None
    return other_side if kinds else sure


def _tests(row: MetricRow, cause: MetricRow, more: bool | None) -> tuple[str, ...]:
    """Return the degradations that one metric is known to prefer, and another to show."""
    if row.evidence is None or cause.evidence is None:
        return ()
    # A judge made of the cause prefers the original where the degradation is the worse way.
    worse = more is None or more is not cause.info.higher_is_better
    shown = cause.evidence.having(Claim.SEES if worse else Claim.PREFERS_DEGRADED)
    return tuple(name for name in row.evidence.having(Claim.PREFERS_DEGRADED) if name in shown)


def _beyond(row: MetricRow, model: str, effect: SideEffect) -> bool:
    """Return True where a model has so much of the value, or so little, that it is a fault."""
    mean, more = row.of(model).mean, effect.more
    if effect.beyond is None:
        return True
    if mean is None:
        return False
    if more is None:
        more = not row.info.higher_is_better
    return mean >= effect.beyond if more else mean <= effect.beyond


def _behind(row: MetricRow, model: str, other: str) -> Explained | None:
    """Return an artefact where a model is worse than another, by more than the margin and than
    chance, and not by an artefact of the other; ambiguous where that may be one."""
    for pair in row.pairs:
        if (pair.worse, pair.better) != (model, other) or not pair.differs:
            continue
        if 2 * pair.clear > pair.prompts and _sure(np.array(pair.gaps)):
            if pair.explanation is None:
                return Explained.ARTEFACT
            if pair.explanation.kind is Explained.AMBIGUOUS:
                return Explained.AMBIGUOUS
            return None
    return None


def _lower(row: MetricRow, model: str, other: str) -> bool:
    """Return True where a model has less of it than another, by however little and more than by
    chance."""
    gaps = _gaps(row, other, model)
    if row.state is State.NOT_COMPARED or not gaps.size:
        return False
    return float(gaps.mean()) > 0 and _sure(gaps)


def _more(row: MetricRow, model: str, other: str) -> bool:
    """Return True where a model has more of it than another by more than the margin, on most
    prompts; of a look, so much more that it is seen."""
    gaps = _gaps(row, model, other)
    if row.state is State.NOT_COMPARED or not gaps.size:
        return False
    margin = max(row.least, row.visible or 0.0)
    return (
        float(gaps.mean()) > margin
        and apart(row.of(model).mean, row.of(other).mean, margin)
        and 2 * int(np.count_nonzero(gaps > margin)) > gaps.size
        and _sure(gaps)
    )


def _sure(gaps: np.ndarray) -> bool:
    """Return True where it is not one prompt's; of prompts too few to be sure of anything, all
    agree."""
    return sign_flip_p(np.sort(gaps)) <= max(LEVEL, 2.0 ** (1 - gaps.size))


def _gaps(row: MetricRow, model: str, other: str) -> np.ndarray:
    """By prompt, how much more a model has than another."""
    first, second = row.of(model).prompts, row.of(other).prompts
    both = sorted(first.keys() & second.keys())
    return np.array([first[case] - second[case] for case in both])


@dataclass(frozen=True, slots=True)
class ModelLook:
    """A model that plainly looks different from all others, in what no number judges."""

    value: str
    model: str
    more: bool
    """Return True where it has more of the value than the others, or less."""


def looks(rows: Sequence[MetricRow], models: Sequence[str]) -> Iterator[ModelLook]:
    """Yield the looks that set one model apart; of two models, that of the one with more."""
    for row in rows:
        if row.visible is None or row.state is State.NOT_COMPARED:
            continue
        for more in (True,) if len(models) == 2 else (True, False):
            for model in models:
                others = [name for name in models if name != model]
                sign = 1.0 if more else -1.0
                if all(_seen(sign * _gaps(row, model, name), row.visible) for name in others):
                    yield ModelLook(row.name, model, more)


def _seen(gaps: np.ndarray, least: float) -> bool:
    """Return True where a difference is large enough to be seen, and is not one prompt's."""
    return bool(gaps.size) and float(gaps.mean()) >= least and sign_flip_p(np.sort(gaps)) <= LEVEL
