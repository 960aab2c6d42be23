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
from screentest.certify.judgements import Judgement, in_both_orders, read_judgements
from screentest.certify.prompts import PromptChange, prompt_results, with_changed_prompts
from screentest.core import (
    Aspect,
    Judge,
    Outcomes,
    Progress,
    RatingJudge,
    from_object,
    registry,
    to_json,
)
from screentest.evaluate.evaluators import Evaluator, Signed, known, resolve, sign
from screentest.evaluate.judging import (
    Order,
    asking_tasks,
    rate_contests,
    rating_signature,
)
from screentest.evaluate.scoring import score_tasks, signed_metrics
from screentest.evaluate.settings import Settings
from screentest.evaluate.tools import Tools
from screentest.judges.as_judge import as_judge
from screentest.run import Engine, Execution, RunReader, RunStore, execute
from screentest.stats.order import order_effect

NOTE = "certificate"


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


def judge_of(text: str) -> Evaluator:
    """The judge that ``text`` names; of a metric's name, the judge that goes by its score.

    ``metric.output`` goes by one value of a metric, ``metric.output:option=value`` too.
    """
    name, colon, options = text.partition(":")
    output = ""
    if name.partition(".")[0] in registry.names("metric"):
        name, _, output = name.partition(".")
    spec = f"{name}{colon}{options}"
    if known(spec) == "judge":
        return resolve(spec, "judge")
    metric = resolve(spec)
    return Evaluator("judge", text, metric.spec, as_judge(spec, output))


def certify(
    store: RunStore,
    plan: Plan,
    settings: Settings | None = None,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Certification:
    """Judge all cases with all judges, or go on with it; then draw the certificates up."""
    settings = settings or Settings()
    judges = [judge_of(text) for text in dict.fromkeys(plan.judges)]
    cases = plan.all_cases
    items = {item.id: item for case in cases for item in (case.contest.first, case.contest.second)}
    ratings = [one for one in judges if isinstance(one.judge, RatingJudge)]
    asked = [one for one in judges if isinstance(one.judge, Judge)]
    specs = list(dict.fromkeys(spec for one in ratings for spec in _metrics_of(one)))
    metrics, settings = signed_metrics(specs, _pinned(settings, judges))
    tools = Tools(settings)
    by_spec = {one.evaluator.text: one for one in metrics}
    signed: dict[str, Signed] = {}
    for one in judges:
        base = sign(one, tools)
        own = [by_spec[spec] for spec in _metrics_of(one)]
        signed[one.name] = Signed(one, rating_signature(one, base.signature, own))
    store.keep_items(items.values())
    store.keep_evaluators([one.note for one in (*metrics, *signed.values())])
    executions: list[Execution] = []
    if metrics:
        tasks = score_tasks(store, list(items.values()), metrics, settings)
        executions.append(execute(store, tasks, engine=engine, progress=progress, what="measuring"))
    contests = [case.contest for case in cases]
    scores = _scores(store, by_spec)
    for one in ratings:
        rate_contests(store, contests, signed[one.name], scores, orders=plan.orders)
    questions = [
        task
        for one in asked
        for task in asking_tasks(
            store,
            contests,
            signed[one.name],
            settings,
            orders=plan.orders,
            repeats=plan.repeats,
        )
    ]
    if questions and not any(one.signal for one in executions):
        executions.append(
            execute(store, questions, engine=engine, progress=progress, what="judging")
        )
    certificates = tuple(draw_up(store, plan, signed[one.name]) for one in judges)
    for certificate in certificates:
        store.keep_note(f"{NOTE}: {certificate.judge}", json.loads(to_json(certificate)))
    return Certification(certificates, tuple(executions))


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


def _pinned(settings: Settings, judges: Sequence[Evaluator]) -> Settings:
    roles = tuple(dict.fromkeys(role for one in judges for role in one.info.roles))
    return settings.pinned(roles)


def _metrics_of(one: Evaluator) -> tuple[str, ...]:
    return one.judge.metrics if isinstance(one.judge, RatingJudge) else ()


def _scores(store: RunStore, metrics: Mapping[str, Signed]) -> dict[str, dict[str, Outcomes]]:
    """By item and metric; an item is there when all its metrics are."""
    found: dict[str, dict[str, Outcomes]] = {}
    for record in store.records():
        if record.key.evaluator in metrics and not record.key.aspect:
            name = record.key.evaluator
            info = metrics[name].evaluator.metric.info
            # A task that failed as a whole has one outcome, under the metric's name.
            whole = record.outcomes.get(name)
            outcomes = {output: record.outcomes.get(output) or whole for output in info.outputs}
            found.setdefault(record.key.item, {})[name] = outcomes  # type: ignore[assignment]
    return {item: scores for item, scores in found.items() if len(scores) == len(metrics)}


def _cost(run: RunReader, judge: Signed, judgements: Sequence[Judgement]) -> Cost:
    """Seconds, calls and tokens; what metrics took counts for the judge that rests on them."""
    answered = [one for one in judgements if one.outcome is not None]
    seconds = sum(one.elapsed for one in answered)
    requests = {request for one in answered for request in one.requests}
    metrics = _metrics_of(judge.evaluator)
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
