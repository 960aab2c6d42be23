"""human: the votes of people, as a judge like any other.

Votes are a file as `screentest annotate export` writes it (see ``judges/votes.py``). Only votes on
pairs count that were finished, are of a reliable worker, and are not gold. What nobody voted on has
no verdict. A certificate counts votes, as the SLVMEval paper does, and not majorities: four
votes of five for the intact video are 0.8 of a point.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from screentest.core.aspects import Aspect
from screentest.core.item import Item
from screentest.core.metric import JudgeInfo, Question, Resources
from screentest.core.outcome import Outcome, Reason
from screentest.core.registry import register
from screentest.core.verdict import Choice, Verdict
from screentest.judges.votes import VoteRecord, pair_votes

POINTS: Mapping[str | None, float] = {"intact": 1.0, "tie": 0.5, "changed": 0.0}


def share_for_intact(
    votes: Iterable[VoteRecord], videos: Iterable[Path] | None = None
) -> dict[Aspect, float]:
    """Share of votes for the original, by aspect; a tie is half a vote.

    With ``videos``, the changed videos of some pairs, only votes on those count.
    """
    tails = None if videos is None else {_tail(video) for video in videos}
    by_aspect: dict[Aspect, list[float]] = defaultdict(list)
    for vote in votes:
        if vote.counts and (tails is None or _tail(Path(vote.video)) in tails):
            by_aspect[Aspect(vote.aspect)].append(POINTS[vote.choice])
    return {aspect: sum(result) / len(result) for aspect, result in by_aspect.items()}


@dataclass(frozen=True, slots=True)
class Human:
    """The majority of a pair, with the share of its votes."""

    votes: Mapping[tuple[str, Aspect], Sequence[VoteRecord]]
    signature_parts: Mapping[str, str] = field(default_factory=dict)

    info = JudgeInfo("people's votes, each counting alike")

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """Return the side with more votes; as many on both sides are a tie."""
        for item, changed in ((question.second, Choice.SECOND), (question.first, Choice.FIRST)):
            votes = self._votes(item, question.aspect)
            if votes:
                return Outcome.of(_counted(votes, changed))
        return Outcome.failed(Reason.NOT_APPLICABLE, "nobody has voted on this pair")

    def _votes(self, item: Item, aspect: Aspect) -> Sequence[VoteRecord]:
        return self.votes.get((_tail(item.video), aspect), ())


def _tail(video: Path) -> str:
    """Return the name of a video wherever its testbed is: folder, source and file."""
    return "/".join(video.parts[-3:])


def _counted(votes: Sequence[VoteRecord], changed: Choice) -> Verdict:
    counts = Counter(vote.choice for vote in votes)
    for_intact = sum(POINTS[vote.choice] for vote in votes)
    for_changed = len(votes) - for_intact
    message = f"{counts['intact']} for the original, {counts['changed']} for the changed video"
    first = for_changed if changed is Choice.FIRST else for_intact
    choice = Choice.TIE
    if for_intact != for_changed:
        choice = changed if for_changed > for_intact else changed.flipped
    return Verdict(choice, rationale=message, share=first / len(votes))


@register("judge", "human", version=2, summary="people's votes from the annotation app or a CSV")
def human(*, votes: str) -> Human:
    """``votes`` is the file."""
    path = Path(votes)
    by_pair: dict[tuple[str, Aspect], list[VoteRecord]] = defaultdict(list)
    for vote in pair_votes(path):
        by_pair[_tail(Path(vote.video)), Aspect(vote.aspect)].append(vote)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return Human(dict(by_pair), {"votes": digest})
