"""What judging will take, before anything is asked.

The first question about a case is made for real and counted. The second depends on the answer
to the first, so its length is a guess; how long answers may be is a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from screentest.core import Item, NoValue, Resources
from screentest.measure.items import lacking
from screentest.models.chat.costs import Price, estimate_input_tokens
from screentest.models.chat.messages import ChatRequest, Usage
from screentest.suites.univ.pieces import PieceLevel, UnivTask, shot_pieces, whole_piece
from screentest.suites.univ.requests import shown
from screentest.suites.univ.schema import Inspection, Remarks
from screentest.suites.univ.scores import Inspector
from screentest.suites.univ.text_task import TextTask

REPORT_TOKENS = 1500
"""About what an inspector writes, which is read again by whoever gives points."""
_BLANK = Inspection(
    remarks=Remarks(**dict.fromkeys(Remarks.model_fields, "")), findings=[], approved=True
)


@dataclass(frozen=True, slots=True)
class JudgingEstimate:
    """What judging some cases would take."""

    cases: int
    calls: int
    pictures: int
    tokens_in: int
    """About."""
    most_tokens_out: int
    most_cost: Decimal | None
    """At these tokens; None without a price."""
    left_out: tuple[tuple[str, str], ...]
    """Items that would have no score, each with why."""


def estimate_judging(
    items: Iterable[Item],
    task: UnivTask,
    resources: Resources,
    *,
    level: PieceLevel = "video",
    truth: TextTask | None = None,
    price: Price | None = None,
) -> JudgingEstimate:
    """Make every first question and count; nothing is sent. V2T needs its ``truth``."""
    cases = calls = pictures = tokens = most = 0
    left_out = []
    for item in items:
        try:
            asked = list(_questions(item, task, resources, level, truth))
        except NoValue as error:
            left_out.append((item.id, str(error.failure)))
            continue
        cases += 1
        for request, extra in asked:
            calls += 1
            pictures += len(request.pictures)
            tokens += estimate_input_tokens(request) + extra
            most += request.sampling.max_tokens
    cost = price.cost(Usage(tokens, most), pictures) if price is not None else None
    return JudgingEstimate(cases, calls, pictures, tokens, most, cost, tuple(left_out))


def _questions(
    item: Item, task: UnivTask, resources: Resources, level: PieceLevel, truth: TextTask | None
) -> Iterator[tuple[ChatRequest, int]]:
    """Requests, each with the tokens that an earlier answer will add to it."""
    missing = lacking(item, task.needs)
    if missing is not None:
        raise NoValue(missing.reason, missing.detail)
    if truth is not None:
        yield from ((request, 0) for request in truth.start(item, resources).requests())
        return
    inspector = Inspector(task, item, resources, shown())
    pieces = [] if level == "shots" else [whole_piece(item, resources)]
    shots = [] if level == "video" else shot_pieces(item, resources)
    # A video of one shot is asked about once, whatever the level.
    for piece in shots if len(shots) == 1 else [*pieces, *shots]:
        yield inspector.inspection_request(piece), 0
        yield inspector.score_request(piece, _BLANK), REPORT_TOKENS
