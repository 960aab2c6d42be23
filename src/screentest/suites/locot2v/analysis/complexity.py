"""How scores depend on the complexity of prompts: what figure 10 shows."""

from __future__ import annotations

from collections.abc import Mapping

from screentest.corpus.locot2v import COMPLEXITIES, PromptSuite
from screentest.suites.locot2v.analysis.scores import Scores
from screentest.suites.locot2v.dimensions import TITLES


def by_complexity(
    scores: Scores, suite: PromptSuite | None = None
) -> dict[str, dict[str, dict[int, list[float]]]]:
    """By kind of complexity and dimension, the values of items at each grade from 1 to 10.

    The grades are the suite's; of prompts that it does not hold, what the items tell.
    """
    dimensions = scores.dimensions()
    found: dict[str, dict[str, dict[int, list[float]]]] = {kind: {} for kind in COMPLEXITIES}
    for item, values in dimensions.items():
        grades = _grades(scores, suite, item)
        for kind in COMPLEXITIES:
            if kind in grades:
                for name, value in values.items():
                    column = found[kind].setdefault(TITLES[name], {})
                    column.setdefault(round(grades[kind]), []).append(value)
    return {kind: rows for kind, rows in found.items() if rows}


def _grades(scores: Scores, suite: PromptSuite | None, item: str) -> Mapping[str, float]:
    record = suite.records.get(scores.prompts.get(item, item)) if suite is not None else None
    return record.complexity if record is not None else scores.complexity.get(item, {})
