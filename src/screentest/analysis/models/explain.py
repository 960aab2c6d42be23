"""Leads that are owed to a fault, and models that plainly look different.

A blurred picture has less noise, and an oversharpened one seems sharper. Where the better one of
two has such a fault, its lead makes no winner (``OutputInfo.helped_by``). One that is both sharper
and noisier may have more detail or more noise: where nothing settles which, neither lead makes a
winner. Differences that are no fault as such, in brightness or tint, are told in a line of their
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from screentest.analysis.models.rows import AnswerRow, ModelPair, counts
from screentest.analysis.models.text import listed
from screentest.core.metric import SideEffect
from screentest.stats.signflip import LEVEL, sign_flip_p


def with_owed(rows: Sequence[AnswerRow]) -> list[AnswerRow]:
    """The rows with what in them is owed to a fault."""
    # What shows a fault may owe its own lead to another: an oversharpened picture is not one
    # beside which the other is blurred.
    once = _marked(rows, rows)
    return _marked(rows, once)


def _marked(rows: Sequence[AnswerRow], causes: Sequence[AnswerRow]) -> list[AnswerRow]:
    known = {row.name.partition(":")[0]: row for row in causes}
    found = []
    for row in rows:
        pairs = tuple(_pair(row, pair, known) for pair in row.pairs)
        if any(pair.owed_to for pair in pairs):
            earned = [pair for pair in pairs if pair.holds and not pair.owed_to]
            better, worse = {pair.better for pair in earned}, {pair.worse for pair in earned}
            owed = {pair.better for pair in pairs if pair.holds and pair.owed_to}
            values = tuple(
                replace(
                    one,
                    best=one.model in better - worse,
                    worst=one.model in worse - better,
                    owed=one.model in owed,
                )
                for one in row.values
            )
            row = replace(row, pairs=pairs, values=values)
        found.append(row)
    return found


def _pair(row: AnswerRow, pair: ModelPair, known: Mapping[str, AnswerRow]) -> ModelPair:
    """It with the fault that the better one has, or may have, and that makes its number better."""
    doubt = ""
    for effect in row.info.helped_by:
        proof = known.get(effect.unless)
        if proof is not None and _more(proof, pair.worse, pair.better):
            least = effect.unless_from
            if least is None or (proof.of(pair.worse).mean or 0.0) >= least:
                continue
        fault, words = _fault(effect, pair.better, pair.worse, known)
        if fault and not words:
            return replace(pair, owed_to=effect.words, doubtful=False)
        doubt = doubt or words
    return replace(pair, owed_to=doubt, doubtful=bool(doubt))


def _fault(
    effect: SideEffect, model: str, other: str, known: Mapping[str, AnswerRow]
) -> tuple[bool, str]:
    """Whether a model has a fault beside another; and who has it, where it may be a merit."""
    cause = known.get(effect.value)
    if cause is None or not _beyond(cause, model, effect):
        return False, ""
    if effect.more is None:
        return _behind(cause, model, other)
    if effect.more:
        more = _more(cause, model, other)
        return more, effect.words if more and effect.doubt else ""
    along = known.get(effect.along)
    if not _more(cause, other, model) or (along is not None and not _lower(along, model, other)):
        return False, ""
    # To have less than one that has too much is no fault, and may be none if it may have.
    found = [(one, _fault(one, other, model, known)) for one in cause.info.helped_by if one.more]
    if any(fault and not words for _, (fault, words) in found):
        return False, ""
    return True, next((one.doubt for one, (fault, _) in found if fault), "")


def _beyond(row: AnswerRow, model: str, effect: SideEffect) -> bool:
    """Whether a model has so much of the value, or so little, that it is a fault."""
    mean, more = row.of(model).mean, effect.more
    if effect.beyond is None:
        return True
    if mean is None:
        return False
    if more is None:
        more = not row.info.higher_is_better
    return mean >= effect.beyond if more else mean <= effect.beyond


def _behind(row: AnswerRow, one: str, two: str) -> tuple[bool, str]:
    """Whether the first is worse than the second, surely and by more than the margin, and not by a
    fault of the second; and who is, where it may be one."""
    for pair in row.pairs:
        if (pair.worse, pair.better) != (one, two) or not row.differ(pair):
            continue
        if 2 * pair.clear > pair.prompts and _sure(np.array(pair.gaps)):
            if pair.doubtful:
                return True, _other_side(row, pair.owed_to)
            return not pair.owed_to, ""
    return False, ""


def _other_side(row: AnswerRow, words: str) -> str:
    return next(one.doubt for one in row.info.helped_by if one.doubt and one.words == words)


def _lower(row: AnswerRow, one: str, two: str) -> bool:
    """Whether the first surely has less of it, by however little."""
    gaps = _gaps(row, two, one)
    if row.state == "uncompared" or not gaps.size:
        return False
    return float(gaps.mean()) > 0 and _sure(gaps)


def _more(row: AnswerRow, one: str, two: str) -> bool:
    """Whether the first surely has more of it than the second, by more than the margin and on most
    prompts; of what is told as a look, so much more that it is seen."""
    gaps = _gaps(row, one, two)
    if row.state == "uncompared" or not gaps.size:
        return False
    margin = row.margin.value if row.margin is not None else 0.0
    margin = max(margin, row.info.look.plain if row.info.look is not None else 0.0)
    return (
        float(gaps.mean()) > margin
        and counts(row.of(one).mean, row.of(two).mean, margin)
        and 2 * int(np.count_nonzero(gaps > margin)) > gaps.size
        and _sure(gaps)
    )


def _sure(gaps: np.ndarray) -> bool:
    """Whether it is not one prompt's; of prompts too few to be sure of anything, all agree."""
    return sign_flip_p(np.sort(gaps)) <= max(LEVEL, 2.0 ** (1 - gaps.size))


def _gaps(row: AnswerRow, one: str, two: str) -> np.ndarray:
    """By prompt, what the first has more than the second."""
    first, second = row.of(one).prompts, row.of(two).prompts
    both = sorted(first.keys() & second.keys())
    return np.array([first[case] - second[case] for case in both])


def looks(rows: Sequence[AnswerRow], models: Sequence[str]) -> str:
    """That models plainly look different, which no number here judges; empty where they do not.

    Of three or more, only what sets one apart from all others.
    """
    told: dict[str, list[str]] = {}
    for row in rows:
        for model, words in _apart(row, models):
            told.setdefault(model, []).append(words)
    if not told:
        return ""
    two = len(models) == 2
    parts = [
        f"{model} is {listed(words)}" + (f" than {_other(models, model)}" if two else "")
        for model, words in told.items()
    ]
    return (
        f"They also look different: {'; '.join(parts)}. Whether that is wanted no number here says."
    )


def _other(models: Sequence[str], model: str) -> str:
    return next(name for name in models if name != model)


def _apart(row: AnswerRow, models: Sequence[str]) -> Iterator[tuple[str, str]]:
    look = row.info.look
    if look is None or row.state == "uncompared":
        return
    # Of two, one is told of: the one with more.
    sides = ((look.more, 1.0),) if len(models) == 2 else ((look.more, 1.0), (look.less, -1.0))
    for words, sign in sides:
        for model in models:
            others = [name for name in models if name != model]
            if all(_plain(sign * _gaps(row, model, name), look.plain) for name in others):
                yield model, words


def _plain(gaps: np.ndarray, least: float) -> bool:
    """Whether a difference is large enough to be seen, and is not one prompt's."""
    return bool(gaps.size) and float(gaps.mean()) >= least and sign_flip_p(np.sort(gaps)) <= LEVEL
