"""Content clarity: can a viewer tell what the video is about, and follow it? (equation 2)

A chat model watches the video and gives each of four dimensions 0 to 4 points with reasons:
theme clarity, logical structure, information completeness, information consistency. It is
asked R times with some randomness, like a small panel; a dimension is the mean of its points
over 4. The printed values are multiples of a third of a point, so R was 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from screentest.core.errors import BadOption
from screentest.core.item import Item
from screentest.core.metric import MetricInfo, Outcomes, OutputInfo, Resources
from screentest.core.outcome import Outcome, Score
from screentest.core.registry import register
from screentest.models.ask import Explanation, Frames, Query
from screentest.models.chat.messages import Sampling
from screentest.suites.locot2v.requests import Work, few, mean

if TYPE_CHECKING:
    from screentest.core.outcome import Json

NAME = "locot2v_content_clarity"
MOST = 4
ASPECTS = {
    "theme_clarity": "whether there is a clear theme",
    "logical_structure": "whether scenes follow from one another",
    "information_completeness": "whether enough is shown to understand it",
    "information_consistency": "whether what is shown stays consistent across shots",
}


class Mark(BaseModel):
    """Points with a reason."""

    reason: Explanation
    score: int = Field(ge=0, le=MOST)


class Marks(BaseModel):
    """All four dimensions; the reason comes before the points."""

    theme_clarity: Mark
    logical_structure: Mark
    information_completeness: Mark
    information_consistency: Mark


@register("metric", NAME, version=1, summary="how clearly the video tells what it tells")
def content_clarity(
    *, rounds: int = 3, temperature: float = 0.7, frames: int = 32, long_side: int = 512
) -> ContentClarity:
    """``rounds`` is the paper's R; ``temperature`` the randomness between them."""
    if rounds < 1:
        raise BadOption(f"{NAME}: rounds is at least 1")
    return ContentClarity(rounds, temperature, few(frames, long_side))


@dataclass(frozen=True)
class ContentClarity:
    """Mean points over rounds, as a share of 4."""

    rounds: int
    temperature: float
    frames: Frames

    info = MetricInfo(
        outputs={name: OutputInfo(summary) for name, summary in ASPECTS.items()},
        roles=("chat.watch",),
        prompts=("locot2v/clarity",),
    )

    @property
    def query(self) -> Query:
        """Return what is asked; each round has its own seed."""
        sampling = Sampling(temperature=self.temperature, seed=1)
        return Query("locot2v/clarity", Marks, "chat.watch", sampling=sampling)

    def start(self, item: Item, resources: Resources) -> Work:

        def conclude() -> Outcomes:
            slots = {"pictures": self.frames.show(resources, item.video)}
            answers = self.query.ask(resources, [slots], repeats=self.rounds)
            rounds: list[Marks] = [answer.unwrap() for answer in answers]
            return {name: Outcome.of(_score(name, rounds)) for name in ASPECTS}

        return Work(conclude)


def _score(name: str, rounds: list[Marks]) -> Score:
    marks: list[Mark] = [getattr(item, name) for item in rounds]
    reasons: list[Json] = [{"score": mark.score, "reason": mark.reason} for mark in marks]
    return Score(mean(mark.score / MOST for mark in marks), details={"rounds": reasons})
