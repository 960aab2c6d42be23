"""Certifying: judges on testbeds, into a run, and a certificate for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from screentest.certificates.accuracy import (
    accuracy,
    aspect_results,
    by_testbed,
    filter_result,
    ladders,
    placebo_results,
    reference,
    trend,
)
from screentest.certificates.cases import (
    Case,
    Judgement,
    in_both_orders,
    one_aspect_per_placebo,
    read_judgements,
)
from screentest.certificates.certificate import Certificate, Cost
from screentest.certificates.prompt_changes import (
    PromptChange,
    prompt_results,
    with_changed_prompts,
)
from screentest.core import (
    Aspect,
    Item,
    Outcome,
    Outcomes,
    Progress,
    RatingJudge,
    Verdict,
    from_object,
    registry,
    to_json,
)
from screentest.judges.from_metrics import as_judge
from screentest.judges.judging import Contest, Order, asking_tasks, rate_contests, rating_signature
from screentest.run import Engine, Execution, Record, RunReader, RunStore, Task, execute
from screentest.run.session import Settings, Tools
from screentest.score.evaluators import Evaluator, Signed, known, resolve, sign
from screentest.score.tasks import score_tasks, signed_metrics
from screentest.stats.paired import order_effect

# The court: judges of any kind hear contests, and their verdicts lie in the run.


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


def metrics_of(one: Evaluator) -> tuple[str, ...]:
    """The metrics that a judge rests on; none where it looks at both videos."""
    return one.judge.metrics if isinstance(one.judge, RatingJudge) else ()


class Court:
    """Where judges are heard: the run, the engine, and what was done."""

    def __init__(
        self,
        store: RunStore,
        settings: Settings,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._engine = engine
        self._progress = progress
        self.executions: list[Execution] = []

    def hear(
        self,
        contests_for: Callable[[Evaluator], Sequence[Contest]],
        judges: Sequence[str],
        *,
        orders: Sequence[Order] = tuple(Order),
        repeats: int = 1,
    ) -> list[Signed]:
        """Have every judge decide its contests, or go on with it."""
        named = [judge_of(text) for text in dict.fromkeys(judges)]
        roles = tuple(dict.fromkeys(role for one in named for role in one.info.roles))
        specs = list(dict.fromkeys(spec for one in named for spec in metrics_of(one)))
        metrics, settings = signed_metrics(specs, self._settings.pinned(roles))
        by_spec = {one.evaluator.text: one for one in metrics}
        tools = Tools(settings)
        signed = [_signed(one, by_spec, tools) for one in named]
        tools.models.close()
        put = {one.evaluator.name: contests_for(one.evaluator) for one in signed}
        rating = [one for one in signed if isinstance(one.evaluator.judge, RatingJudge)]
        asked = [one for one in signed if one not in rating]
        self._store.keep_items(_items(signed, put))
        self._store.keep_evaluators([one.note for one in (*metrics, *signed)])
        questions = [
            task
            for one in asked
            for task in asking_tasks(
                self._store,
                put[one.evaluator.name],
                one,
                settings,
                orders=orders,
                repeats=repeats,
            )
        ]
        # Also what is not come to, for want of time, is part of the plan: coverage counts it.
        self._store.add_to_plan(key for task in questions for key in task.keys)
        if rating:
            films = _items(rating, put)
            self._execute(score_tasks(self._store, films, metrics, settings), "measuring")
            scores = _scores(self._store, by_spec)
            for one in rating:
                rate_contests(self._store, put[one.evaluator.name], one, scores, orders=orders)
        if questions and not any(one.signal for one in self.executions):
            self._execute(questions, "judging")
        return signed

    def _execute(self, tasks: Sequence[Task], what: str) -> None:
        self.executions.append(
            execute(
                self._store,
                tasks,
                engine=self._engine,
                progress=self._progress,
                what=what,
            )
        )


def judged(
    store: RunStore,
    contests: Sequence[Contest],
    judge: str,
    settings: Settings,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> dict[Aspect, tuple[Outcome[Verdict] | None, Outcome[Verdict] | None]]:
    """The verdicts of one judge on some contests, as given and swapped, by aspect."""
    (signed,) = Court(store, settings, engine, progress).hear(lambda _: contests, [judge])
    name = signed.evaluator.name
    found = {
        (record.key.item, record.key.aspect, record.key.order): record.outcomes[name]
        for record in store.records()
        if record.key.evaluator == name and record.key.aspect
    }
    return {
        contest.aspect: tuple(  # type: ignore[misc]
            found.get((contest.id, contest.aspect.value, order.value)) for order in Order
        )
        for contest in contests
    }


def _items(judges: Sequence[Signed], put: Mapping[str, Sequence[Contest]]) -> list[Item]:
    """All videos that some judges look at, once each."""
    contests = [contest for one in judges for contest in put[one.evaluator.name]]
    return list({item.id: item for one in contests for item in (one.first, one.second)}.values())


def _signed(one: Evaluator, metrics: Mapping[str, Signed], tools: Tools) -> Signed:
    own = [metrics[spec] for spec in metrics_of(one)]
    return Signed(one, rating_signature(one, sign(one, tools).signature, own))


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


# What a judge's judgements took: seconds, calls, tokens, money.


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
