"""What a judge's judgements took: seconds, calls, tokens, money."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from screentest.certify.certificate import Cost
from screentest.certify.court import metrics_of
from screentest.certify.judgements import Judgement
from screentest.evaluate.evaluators import Evaluator
from screentest.run import Record, RunReader


def cost_of(run: RunReader, judge: Evaluator, judgements: Sequence[Judgement]) -> Cost:
    """All that the judgements rest on, once each, over all starts of the run.

    What metrics took counts for every judge that rests on them, as if it had come alone; the
    time of a scan that metrics of others shared cannot be told apart, so those are named.
    """
    answered = [one for one in judgements if one.outcome is not None]
    requests = {request for one in answered for request in one.requests}
    # Questions of one task have its whole time each; equal times of a video are one task.
    spent = {(str(one.case.contest.first.video), one.place[1], one.elapsed) for one in answered}
    seconds = sum(elapsed for _, _, elapsed in spent)
    own = metrics_of(judge)
    items = {
        item.id for one in answered for item in (one.case.contest.first, one.case.contest.second)
    }
    measured = [
        record
        for record in (run.records() if own else ())
        if not record.key.aspect and record.key.item in items
    ]
    seconds += sum(elapsed for _, elapsed in {_task(one) for one in measured if _of(one, own)})
    requests.update(request for one in measured if _of(one, own) for request in one.requests)
    calls = [call for call in run.calls() if call.intent.request in requests]
    receipts = [call.receipt for call in calls if call.receipt is not None]
    costs = [receipt.cost for receipt in receipts if receipt.cost is not None]
    return Cost(
        seconds=seconds / max(1, len(answered)),
        calls=len(calls),
        tokens_in=sum(receipt.tokens_in or 0 for receipt in receipts),
        tokens_out=sum(receipt.tokens_out or 0 for receipt in receipts),
        uncounted=len(calls) - sum(receipt.tokens_in is not None for receipt in receipts),
        cost=sum(costs, Decimal(0)) if costs else None,
        unpriced=len(calls) - len(costs),
        judgements=len(answered),
        measured_with=_companions(measured, own),
    )


def _of(record: Record, metrics: Sequence[str]) -> bool:
    return record.key.evaluator in metrics


def _task(record: Record) -> tuple[str, float]:
    return (record.key.item, record.elapsed)


def _companions(measured: Sequence[Record], own: Sequence[str]) -> tuple[str, ...]:
    tasks = {_task(one) for one in measured if _of(one, own)}
    others = {one.key.evaluator for one in measured if not _of(one, own) and _task(one) in tasks}
    return tuple(sorted(others))
