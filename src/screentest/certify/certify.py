"""Certifying: judges on testbeds, into a run, and a certificate for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from screentest.certify.accuracy import accuracy
from screentest.certify.cases import Case, one_aspect_per_placebo
from screentest.certify.certificate import Certificate
from screentest.certify.cost import cost_of
from screentest.certify.court import Court
from screentest.certify.judgements import Judgement, in_both_orders, read_judgements
from screentest.certify.ladders import ladders, reference
from screentest.certify.prompts import PromptChange, prompt_results, with_changed_prompts
from screentest.certify.results import (
    aspect_results,
    by_testbed,
    filter_result,
    placebo_results,
    trend,
)
from screentest.core import Aspect, Progress, RatingJudge, from_object, to_json
from screentest.evaluate.evaluators import Evaluator, Signed
from screentest.evaluate.judging import Contest, Order
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

    def cases_for(self, judge: Evaluator) -> list[Case]:
        """What a judge is put: one that rates videos alone has every placebo for nothing."""
        cases = self.all_cases
        return cases if isinstance(judge.judge, RatingJudge) else one_aspect_per_placebo(cases)


@dataclass(frozen=True, slots=True)
class Certification:
    """What one start did."""

    certificates: tuple[Certificate, ...]
    executions: tuple[Execution, ...]
    pending: int = 0
    """Judgements still to be made."""

    @property
    def exit_code(self) -> int:
        """Above zero where a signal stopped it."""
        return max((one.exit_code for one in self.executions), default=0)


def certify(
    store: RunStore,
    plan: Plan,
    settings: Settings | None = None,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Certification:
    """Judge all cases with all judges, or go on with it; then draw the certificates up."""
    cases = plan.all_cases

    def contests_for(judge: Evaluator) -> list[Contest]:
        return [case.contest for case in plan.cases_for(judge)]

    store.keep_note(CASES, [case.about for case in cases])
    court = Court(store, settings or Settings(), engine, progress)
    judges = court.hear(contests_for, plan.judges, orders=plan.orders, repeats=plan.repeats)
    certificates, pending = [], 0
    for judge in judges:
        judgements = read_judgements(store, cases, judge.evaluator.name)
        pending += sum(one.outcome is None for one in judgements)
        certificate = draw_up(store, plan, judge, judgements)
        store.keep_note(f"{NOTE}: {certificate.judge}", json.loads(to_json(certificate)))
        certificates.append(certificate)
    return Certification(tuple(certificates), tuple(court.executions), pending)


def read_certificates(run: RunReader) -> list[Certificate]:
    """The certificates that a run keeps."""
    return [
        from_object(Certificate, body)
        for name, body in run.notes().items()
        if name.startswith(f"{NOTE}: ")
    ]


def draw_up(run: RunReader, plan: Plan, judge: Signed, judgements: list[Judgement]) -> Certificate:
    """The certificate of one judge from what the run holds."""
    own = [one for one in judgements if not one.case.change]
    top = reference(own)
    testbeds = by_testbed(top)
    return Certificate(
        judge=judge.evaluator.name,
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
        cost=cost_of(run, judge.evaluator, judgements),
        summary=getattr(judge.evaluator.info, "summary", ""),
        filtered=filter_result(top),
        by_testbed={name: accuracy(found) for name, found in testbeds.items()}
        if len(testbeds) > 1
        else {},
    )
