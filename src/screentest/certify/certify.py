"""Certifying: judges on testbeds, into a run, and a certificate for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from screentest.certify.cases import Case
from screentest.certify.certificate import (
    Certificate,
    Cost,
    accuracy,
    aspect_results,
    ladders,
    placebo_results,
    reference,
    trend,
)
from screentest.certify.court import Court, metrics_of
from screentest.certify.judgements import Judgement, in_both_orders, read_judgements
from screentest.certify.prompts import PromptChange, prompt_results, with_changed_prompts
from screentest.core import Aspect, Progress, from_object, to_json
from screentest.evaluate.evaluators import Signed
from screentest.evaluate.judging import Order
from screentest.evaluate.settings import Settings
from screentest.run import Engine, Execution, RunReader, RunStore
from screentest.stats.order import order_effect

NOTE = "certificate"
CASES = "cases"
"""The note with what each case is: a record has only its id."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be certified, and how."""

    cases: tuple[Case, ...]
    judges: tuple[str, ...]
    """Specs of judges, or of metrics, of which judges are made."""
    orders: tuple[Order, ...] = tuple(Order)
    repeats: int = 1
    prompt_changes: tuple[PromptChange, ...] = ()
    probe_pairs: int = 20
    """For how many pairs of an aspect the prompt is changed."""
    human: Mapping[Aspect, float] | None = None

    @property
    def all_cases(self) -> list[Case]:
        """The cases, and those with another prompt."""
        changed = with_changed_prompts(self.cases, self.prompt_changes, self.probe_pairs)
        return [*self.cases, *changed]


@dataclass(frozen=True, slots=True)
class Certification:
    """What one start did."""

    certificates: tuple[Certificate, ...]
    executions: tuple[Execution, ...]

    @property
    def exit_code(self) -> int:
        """Above zero where a signal stopped it."""
        return max((one.exit_code for one in self.executions), default=0)

    @property
    def pending(self) -> int:
        """Records still to be made."""
        return sum(one.pending for one in self.executions)


def certify(
    store: RunStore,
    plan: Plan,
    settings: Settings | None = None,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Certification:
    """Judge all cases with all judges, or go on with it; then draw the certificates up."""
    contests = [case.contest for case in plan.all_cases]
    court = Court(store, settings or Settings(), engine, progress)
    judges = court.hear(contests, plan.judges, orders=plan.orders, repeats=plan.repeats)
    store.keep_note(CASES, [case.about for case in plan.all_cases])
    certificates = tuple(draw_up(store, plan, one) for one in judges)
    for certificate in certificates:
        store.keep_note(f"{NOTE}: {certificate.judge}", json.loads(to_json(certificate)))
    return Certification(certificates, tuple(court.executions))


def read_certificates(run: RunReader) -> list[Certificate]:
    """The certificates that a run keeps."""
    return [
        from_object(Certificate, body)
        for name, body in run.notes().items()
        if name.startswith(f"{NOTE}: ")
    ]


def draw_up(run: RunReader, plan: Plan, judge: Signed) -> Certificate:
    """The certificate of one judge from what the run holds."""
    name = judge.evaluator.name
    judgements = read_judgements(run, plan.all_cases, name)
    plain = {case.id for case in plan.cases}
    own = [one for one in judgements if one.case.id in plain]
    top = reference(own)
    return Certificate(
        judge=name,
        signature=str(judge.signature),
        testbeds=tuple(dict.fromkeys(case.testbed for case in plan.cases)),
        overall=accuracy(top),
        aspects=aspect_results(top, plan.human),
        order=order_effect(in_both_orders(top)),
        trend=trend(top),
        severities=ladders(own, by="severity"),
        clip_counts=ladders(own, by="clips"),
        placebos=placebo_results(own),
        prompts=prompt_results(judgements, plan.prompt_changes),
        cost=_cost(run, judge, own),
        summary=getattr(judge.evaluator.info, "summary", ""),
    )


def _cost(run: RunReader, judge: Signed, judgements: Sequence[Judgement]) -> Cost:
    """Seconds, calls and tokens; what metrics took counts for the judge that rests on them."""
    answered = [one for one in judgements if one.outcome is not None]
    seconds = sum(one.elapsed for one in answered)
    requests = {request for one in answered for request in one.requests}
    metrics = metrics_of(judge.evaluator)
    if metrics:
        seen: dict[str, float] = {}
        for record in run.records():
            if record.key.evaluator in metrics and not record.key.aspect:
                # Metrics of one task share its time.
                seen[record.key.item] = max(seen.get(record.key.item, 0.0), record.elapsed)
                requests.update(record.requests)
        seconds += sum(seen.values())
    calls = [call for call in run.calls() if call.intent.request in requests]
    receipts = [call.receipt for call in calls if call.receipt is not None]
    costs = [receipt.cost for receipt in receipts if receipt.cost is not None]
    return Cost(
        seconds=seconds / max(1, len(answered)),
        calls=len(calls),
        tokens_in=sum(receipt.tokens_in or 0 for receipt in receipts),
        tokens_out=sum(receipt.tokens_out or 0 for receipt in receipts),
        cost=sum(costs, Decimal(0)) if costs else None,
        judgements=len(answered),
    )
