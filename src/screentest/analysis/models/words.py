"""The answer in a sentence: who is best in what was measured, or why nobody is; what is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from screentest.analysis.models.answer import SENSIBLE, Answer
from screentest.analysis.models.places import firsts, lasts
from screentest.analysis.models.rows import (
    FIRST,
    AnswerRow,
    ModelPair,
    foretold,
    leads,
    surety,
    trails,
)
from screentest.analysis.models.text import about, listed, many, spread_out

_MOST_NAMED = 4
"""Rows that a sentence names."""


def headline(found: Answer) -> str:
    """One sentence: who is best in what was measured, or why nobody is; of three or more, who is
    behind all others."""
    count = found.on(found.tested)
    if not found.prompts:
        return (
            f"Nothing can be compared: the {found.by}s share no prompt. Score videos of the same"
            " prompts, or name what belongs together by the group case in a manifest."
        )
    owed = "".join(f" {one}." for one in _owed(found, "holds"))
    if found.winner:
        own = [row for row in found.rows if row.of(found.winner).best]
        best = f"{found.winner} is best in what was measured on {found.on(own)}"
        return f"{best}: {_better(found)}.{_loser(found)}{owed}"
    parts = list(_sides(found))
    if parts:
        held = [row for row in found.rows if any(one.best for one in row.values)]
        return f"No single winner on {found.on(held)}: {'; '.join(parts)}.{_loser(found)}{owed}"
    if owed:
        return f"No winner on {count}.{owed}"
    if not found.comparisons:
        skipped = [row for row in found.rows if row.state == "uncompared"]
        if found.tested:
            return f"No winner: on {count} all values are the same."
        if skipped:
            what = listed([row.merit for row in skipped if row.why == skipped[0].why], most=3)
            return f"No winner: nothing is compared in {what}, since {skipped[0].why}."
        if not found.rows:
            return f"Nothing is compared: no measure has values of two {found.by}s on one prompt."
        return "Nothing here says which is better: every number only describes."
    if not _differ(found):
        return _alike(found, count)
    if found.too_few:
        verb = "alone cannot" if count == f"1 {found.unit}" else "cannot"
        return f"No winner yet: {count} {verb} settle it, {_would(found)}."
    if found.needed is None:
        return _nothing_shown(count)
    if found.needed > SENSIBLE:
        return (
            f"No winner: {count} do not settle it, and more will hardly do: what is measured here"
            " differs about as little as if the file were saved anew."
        )
    return f"No winner yet: {count} do not settle it, {_would(found)}."


def _differ(found: Answer) -> bool:
    return any(row.differ(pair) for row in found.rows for pair in row.pairs)


def _alike(found: Answer, count: str) -> str:
    """That nothing was found; that they are the same only where each prompt says so."""
    pairs = [pair for row in found.rows for pair in row.pairs]
    within = all(abs(gap) <= pair.margin for pair in pairs for gap in pair.gaps)
    if within:
        return (
            f"No winner: in what is measured here they differ, on {count}, no more than the same"
            " frames do, saved in two ways."
        )
    return _nothing_shown(count)


def _nothing_shown(count: str) -> str:
    """Not that they are the same, nor that chance made the difference: neither was tested."""
    return f"No winner: in what is measured here no difference was shown on {count}."


def _better(found: Answer) -> str:
    """What the winner is better in, rival by rival where that is not the same."""
    sides: dict[str, list[str]] = {}
    for name in found.models:
        own = [
            row.merit
            for row in found.rows
            for pair in row.pairs
            if (pair.better, pair.worse) == (found.winner, name) and pair.holds and not pair.owed_to
        ]
        if own:
            sides.setdefault(listed(own, most=3), []).append(name)
    parts = [f"better than {listed(rivals)} in {what}" for what, rivals in sides.items()]
    beaten = any(
        pair.worse == found.winner and pair.holds for row in found.rows for pair in row.pairs
    )
    return "; ".join(parts) + ("" if beaten else ", and in nothing surely worse")


def _sides(found: Answer) -> Iterator[str]:
    """Who is surely better than whom, and in what: only what holds between those two."""
    sides: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for row in found.rows:
        best = {one.model for one in row.values if one.best}
        for one in row.values:
            over = row.under(one.model) if one.worst else ()
            better = tuple(name for name in over if name in best) or over
            if better:
                sides.setdefault((better, one.model), []).append(row.merit)
    worse: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for (better, model), what in sides.items():
        worse.setdefault((better, listed(what, most=3)), []).append(model)
    for (better, words), models in worse.items():
        verb = "is" if len(better) == 1 else "are"
        yield f"{listed(better)} {verb} better than {listed(models)} in {words}"


def _owed(found: Answer, state: str) -> Iterator[str]:
    """Leads that go with a fault: ``blurry has less noise, as blurred pictures do``; and those of
    which nothing says whose fault it is."""
    sides: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    doubts: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    for row in found.rows:
        for pair in row.pairs:
            told = pair.holds if state == "holds" else _stands_out(row, pair)
            if row.state != state or not pair.owed_to or not told:
                continue
            if not pair.doubtful:
                own = sides.setdefault((pair.better, pair.owed_to), {})
                own.setdefault(pair.worse, {})[_had(row)] = None
                continue
            cause = next((one for one in row.info.helped_by if one.words == pair.owed_to), None)
            more, less = (pair.worse, pair.better) if cause is None else (pair.better, pair.worse)
            if state != "holds" and _doubted(found, more, less):
                continue
            own = doubts.setdefault((more, less), {more: {}, less: {}})
            own[pair.better][_had(row)] = None
            if cause is not None:
                shown = [one for one in found.rows if one.name.partition(":")[0] == cause.value]
                own[less] |= dict.fromkeys(map(_had, shown))
    for (model, words), rivals in sides.items():
        alike: dict[str, list[str]] = {}
        for rival, leads_in in rivals.items():
            alike.setdefault(listed(list(leads_in), most=2), []).append(rival)
        for what, names in alike.items():
            than = f" than {listed(names)}" if len(found.models) > 2 else ""
            yield f"{model} has {what}{than}, as {words} do"
    for (more, less), own in doubts.items():
        had, lost = (listed(list(own[name]) or ["more detail"], most=2) for name in (more, less))
        yield (
            f"{less} has {lost}, {more} has {had}: whether {more} has something added or {less}"
            " lost detail, no number here says"
        )


def _doubted(found: Answer, one: str, two: str) -> bool:
    """Whether the headline says of two models that nothing tells whose fault it is."""
    return any(
        pair.doubtful and pair.holds and {pair.better, pair.worse} == {one, two}
        for row in found.rows
        for pair in row.pairs
    )


def _had(row: AnswerRow) -> str:
    """What one that is ahead has: ``less noise``."""
    much = "less" if row.better == "lower" else "more"
    return row.info.lead or f"{much} {row.label}"


def _stands_out(row: AnswerRow, pair: ModelPair) -> bool:
    """Whether the pair is of the row's leader, or of its last, that is so on most prompts."""
    first = row.leader == pair.better and 2 * row.clear > row.prompts
    return first or (row.last == pair.worse and 2 * row.clear_last > row.prompts)


def _loser(found: Answer) -> str:
    if not found.loser:
        return ""
    rivals = len(found.models) - 1
    own = [row.merit for row in found.rows if len(row.under(found.loser)) == rivals]
    ahead = any(
        pair.better == found.loser and pair.holds for row in found.rows for pair in row.pairs
    )
    rest = "" if ahead else ", and in nothing surely better"
    what = f" in {listed(own, most=3)}" if own else ", each in something"
    return f" {found.loser} is behind all others{what}{rest}."


def _would(found: Answer) -> str:
    """What the row takes that would be settled first: the number that the table has there."""
    row = next(iter(foretold(found.rows)), None)
    if row is None or (row.needed or 0) > SENSIBLE:
        return f"at least {found.fewest} might"
    pair = row.named[0]
    what = f"{pair.worse} is behind {pair.better} in {row.merit}"
    if row.says and len(row.named) > 1:
        place = f"{row.leader} is first" if row.says == FIRST else f"{row.last} is last"
        what = f"{place} in {row.merit}"
    return f"about {about(row.needed or 0)} might show that {what}"


def seen(found: Answer) -> str:
    """What is last, of three or more, and what leads, without being settled; the surest first."""
    ordered = sorted((row for row in found.rows if row.state == "open"), key=surety)
    rows = spread_out(ordered, lambda row: row.metric)
    last = [(row.last, row, row.behind) for row in rows if trails(row, row.last)]
    first = [(row.leader, row, row.ahead) for row in rows if leads(row, row.leader)]
    parts: list[str] = []
    # Of the same size, who leads is said before who is last.
    order = [first, last] if _share(first) >= _share(last) else [last, first]
    for told in order:
        if not told or (told is last and len(found.models) < 3):
            continue
        verb = "is last in" if told is last else "leads in"
        words = _named(told, found, verb, plain=bool(parts))
        spotless = [name for name in found.models if not _faults(found, name)]
        if told is last and len(spotless) == 1 and not found.winner:
            words += f"; {spotless[0]} is last in nothing"
        parts.append(words)
    parts += _owed(found, "open")
    if found.prompts == 1 and (alone := _on_one(found)):
        return f"{alone} {_least(found)}".strip()
    text = " ".join(f"{'' if place else 'So far '}{one}." for place, one in enumerate(parts))
    return f"{text} {_least(found)}".strip()


def _on_one(found: Answer) -> str:
    """On one prompt: who is ahead there, in words that claim no more."""
    sides = {name: [one.row.merit for one in firsts(found, name)] for name in found.models}
    most = sorted((name for name in sides if sides[name]), key=lambda name: -len(sides[name]))
    parts = [f"{name} is ahead in {listed(sides[name], most=3)}" for name in most[:_MOST_NAMED]]
    if not parts:
        return ""
    behind = [one.row.merit for one in lasts(found, most[0])] if len(found.models) > 2 else []
    if behind:
        parts[0] += f", and last in {listed(behind, most=3)}"
    none = [name for name in found.models if not sides[name]]
    if none:
        parts.append(f"{listed(none)} in nothing")
    return f"On this one {found.unit} {'; '.join(parts)}."


def _least(found: Answer) -> str:
    """How many prompts it takes at least, where there are fewer and the headline has no number."""
    if not (found.too_few and found.comparisons) or _differ(found):
        return ""
    compared = many(found.comparisons, "comparison")
    return f"With {compared} at least {found.fewest} {found.unit}s are needed, even if all agree."


def _faults(found: Answer, model: str) -> bool:
    return any(trails(row, model) or row.of(model).worst for row in found.rows)


def _share(told: Sequence[tuple[str, AnswerRow, int]]) -> float:
    return told[0][2] / max(1, told[0][1].prompts) if told else 0.0


def _named(
    told: Sequence[tuple[str, AnswerRow, int]], found: Answer, verb: str, *, plain: bool = False
) -> str:
    """``a is last in noise (on 4 of 4 prompts), b in flicker (3 of 4)``."""
    sides: dict[str, list[str]] = {}
    for place, (model, row, count) in enumerate(told[:_MOST_NAMED]):
        of = f"{count} of {row.prompts}"
        counted = of if place or plain else f"on {of} {found.unit}s"
        sides.setdefault(model, []).append(f"{row.merit} ({counted})")
    parts = [f"{model} in {listed(own)}" for model, own in sides.items()]
    return "; ".join(parts).replace(" in ", f" {verb} ", 1)
