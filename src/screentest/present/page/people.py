"""People beside metrics: what an arena's votes say of the models that a report compares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.rows import MetricRow, ModelPair, ModelValue, Part, State
from screentest.analysis.people.arena import Arena, ArenaModel, ArenaPair, arena_of
from screentest.core.metric import OutputInfo
from screentest.core.table import Table
from screentest.judges.votes import read_votes

TITLE = "people prefer"
_INFO = OutputInfo(
    "how often people prefer it to another model's video of the same prompt; a tie is half",
    label=TITLE,
)


def read_people(path: Path) -> Arena:
    """The arena in a file of votes, as `screentest annotate export` writes it."""
    return arena_of(read_votes(path))


def people_row(found: Arena, comparison: ModelComparison) -> MetricRow | None:
    """The arena as a row beside those of metrics; None where it is about other models.

    Its test is the arena's own, over prompts and people, corrected over pairs of models: it is no
    part of the metrics' correction, and changes nothing in the comparison.
    """
    known = {one.model: one for one in found.models}
    values = tuple(_value(model, known.get(model)) for model in comparison.models)
    had = [one for one in values if one.mean is not None]
    if len(had) < 2:
        return None
    pairs = tuple(
        _pair(one) for one in found.pairs if {one.better, one.worse} <= set(comparison.models)
    )
    shares = [one.mean or 0.0 for one in had]
    best = [one for one in had if one.mean == max(shares)]
    worst = [one for one in had if one.mean == min(shares)]
    shared = set.intersection(*(set(one.prompts) for one in had))
    return MetricRow(
        name="people",
        group="people",
        info=_INFO,
        part=Part.WHOLE,
        stand_ins=(),
        values=values,
        pairs=pairs,
        leader=best[0].model if len(best) == 1 else "",
        ahead=_alone(best[0], had, shared, 1) if len(best) == 1 else 0,
        last=worst[0].model if len(worst) == 1 else "",
        behind=_alone(worst[0], had, shared, -1) if len(worst) == 1 else 0,
        margin=None,
        prompts=len(shared),
        state=State.SIGNIFICANT if any(pair.significant for pair in pairs) else State.UNDECIDED,
    )


def people_tables(found: Arena | None) -> list[Table]:
    """Every model and every two models; none where nobody was asked."""
    return found.tables() if found is not None else []


def _value(model: str, found: ArenaModel | None) -> ModelValue:
    if found is None:
        return ModelValue(model, None, None, {}, 0, 0)
    votes = found.rate.votes
    interval = found.rate.interval()
    return ModelValue(
        model, found.rate.share, interval, found.prompts, votes, votes, best=found.best
    )


def _pair(found: ArenaPair) -> ModelPair:
    return ModelPair(
        better=found.better,
        worse=found.worse,
        difference=2 * found.rate.share - 1,
        gaps=found.gaps,
        margin=0.0,
        level=found.level,
        p_value=found.p_value,
        adjusted_p=found.adjusted_p,
        ahead=sum(gap > 0 for gap in found.gaps),
        behind=sum(gap < 0 for gap in found.gaps),
    )


def _alone(one: ModelValue, had: list[ModelValue], shared: set[str], sign: int) -> int:
    """Prompts on which it is above all others, or with ``sign`` -1 below them."""
    others: list[Mapping[str, float]] = [other.prompts for other in had if other is not one]
    return sum(
        all(sign * (one.prompts[case] - other[case]) > 0 for other in others) for case in shared
    )
