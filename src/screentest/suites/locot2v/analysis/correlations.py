"""Which scores go together: table 5, over single items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screentest.core import Outcome
from screentest.stats import Correlation, kendall, pearson, spearman
from screentest.suites.locot2v.analysis.scores import Scores, paired

TABLE_5: tuple[tuple[str, str], ...] = (
    ("static_quality", "temporal_quality"),
    ("static_quality", "text_video_alignment"),
    ("static_quality", "content_clarity"),
    ("static_quality", "herd"),
    ("event_alignment", "intra_event_subject"),
    ("event_alignment", "intra_event_background"),
    ("event_alignment", "inter_event_subject"),
    ("event_alignment", "inter_event_background"),
)
"""The pairs that the paper looks at."""


@dataclass(frozen=True, slots=True)
class Together:
    """How two scores go together; each coefficient or the reason why there is none."""

    first: str
    second: str
    items: int
    pearson: Outcome[Correlation]
    spearman: Outcome[Correlation]
    kendall: Outcome[Correlation]


def correlations(scores: Scores, pairs: Sequence[tuple[str, str]] = TABLE_5) -> list[Together]:
    """Pearson's r, Spearman's ρ and Kendall's τ of each pair, on items that have both."""
    found = []
    for first, second in pairs:
        left, right = paired(scores, first, second)
        found.append(
            Together(
                *(first, second, len(left)),
                pearson(left, right),
                spearman(left, right),
                kendall(left, right),
            )
        )
    return found
