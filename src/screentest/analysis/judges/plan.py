"""Plan: judges on testbeds, into a run, and a certificate for each.

Beside the pairs as they are, a plan may hold pairs under another prompt (``PromptChange``). The
cost of a certificate is what the run says its judgements took.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from screentest._util.collect import grouped
from screentest.analysis.judges.accuracy import (
    accuracy,
    aspect_results,
    duration_effect,
    filter_result,
    find_claims,
    ladders,
    margins_of,
    operator_results,
    placebo_results,
    reference,
    trend,
)
from screentest.analysis.judges.cases import answerable, same_films
from screentest.analysis.judges.certificate import NOTE, Certificate, Cost, PromptResult, Remark
from screentest.analysis.judges.frames import frames_results
from screentest.core.aspects import Aspect, PairKind, all_aspects
from screentest.core.codec import to_object
from screentest.core.item import Item, Script
from screentest.core.metric import RatingJudge
from screentest.core.outcome import Reason
from screentest.core.signature import Signature
from screentest.judges.cases import (
    CASES,
    HINTED,
    Case,
    Judgement,
    Order,
    in_both_orders,
    one_aspect_per_placebo,
    read_judgements,
    strongest,
)
from screentest.judges.spread import in_signature
from screentest.judges.verdicts import judge_pairs, metrics_of, with_metrics
from screentest.measure.evaluators import Evaluator
from screentest.measure.tasks import roles_of
from screentest.models.choice import Models
from screentest.run.execute import Execution
from screentest.run.reader import RunReader
from screentest.run.records import Record
from screentest.run.session import Session, Settings
from screentest.run.store import RunStore
from screentest.stats.paired import order_effect


@dataclass(frozen=True, slots=True)
class Plan:
    """Cases, judges and options of a certification."""

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
        """Return the cases for a judge: one that rates videos alone has every placebo for
        nothing, and hints are only for one that reads the definition of the aspect."""
        cases = self.all_cases
        if isinstance(judge.judge, RatingJudge) or not judge.judge.info.prompts:
            cases = [case for case in cases if case.change != HINTED]
        cases = [answerable(case, judge.judge) for case in cases]
        return cases if isinstance(judge.judge, RatingJudge) else one_aspect_per_placebo(cases)


@dataclass(frozen=True, slots=True)
class LostJudgements:
    """Judgements of one judge that have no value, for one reason."""

    judge: str
    reason: Reason
    judgements: int
    total: int
    detail: str = ""
    """In the words of the first of them: an amount, or how an answer ends."""
    advice: str = ""


def lost_judgements(judge: str, judgements: Sequence[Judgement]) -> Iterator[LostJudgements]:
    """Reasons for missing judgements, the commonest first."""
    made = [judgement.outcome for judgement in judgements if judgement.outcome is not None]
    failures = [item.failure for item in made if item.failure is not None]
    for reason, count in Counter(failure.reason for failure in failures).most_common():
        first = next(failure for failure in failures if failure.reason is reason)
        advice = first.advice.strip()
        yield LostJudgements(judge, reason, count, len(made), first.brief, advice)


@dataclass(frozen=True, slots=True)
class Certification:
    """Result of one start of ``certify``: certificates, executions, pending judgements."""

    certificates: tuple[Certificate, ...]
    executions: tuple[Execution, ...]
    pending: int = 0
    """Judgements still to be made."""
    lost: tuple[LostJudgements, ...] = ()

    @property
    def exit_code(self) -> int:
        """Above zero where a signal stopped it."""
        return max((execution.exit_code for execution in self.executions), default=0)


def certify(session: Session, plan: Plan) -> Certification:
    """Judge all cases with all judges, or go on with it; then make the certificates."""
    return certify_cases(
        session,
        plan.all_cases,
        plan.cases_for,
        plan.judges,
        lambda answers: (make_certificate(plan, answer) for answer in answers),
        orders=plan.orders,
        repeats=plan.repeats,
    )


@dataclass(frozen=True, slots=True)
class Answers:
    """All that one judge answered."""

    judge: str
    signature: Signature
    judgements: Sequence[Judgement]
    cost: Cost
    summary: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    """The backend that answered for each of its roles."""
    margin: float | None = None
    """Of a judge that rates videos alone; None where it looks at both."""
    ratings: Mapping[tuple[str, Aspect], float] = field(default_factory=dict)
    """By video and aspect, where the certificate reads them."""
    remarks: tuple[Remark, ...] = ()


def certify_cases(
    session: Session,
    cases: Sequence[Case],
    cases_for: Callable[[Evaluator], Sequence[Case]],
    judges: Sequence[str],
    certificates_of: Callable[[Iterator[Answers]], Iterable[Certificate]],
    *,
    orders: Sequence[Order] = tuple(Order),
    repeats: int = 1,
) -> Certification:
    """Have judges decide cases, each those for it, and keep the certificates of their answers."""
    store = session.store
    store.keep_note(CASES, [case.about for case in cases])
    done = judge_pairs(session, cases_for, judges, orders=orders, repeats=repeats)
    measured = measured_in(store, done.judges)
    lost: list[LostJudgements] = []
    pending = 0

    def answers() -> Iterator[Answers]:
        nonlocal pending
        for judge in done.judges:
            judgements = read_judgements(store, cases, judge.name)
            lost.extend(lost_judgements(judge.name, judgements))
            pending += sum(judgement.outcome is None for judgement in judgements)
            yield Answers(
                judge.name,
                judge.signature,
                judgements,
                cost_of(store, judge, judgements, measured),
                getattr(judge.info, "summary", ""),
                models_of(session.settings, judge),
                judge.judge.info.margin if isinstance(judge.judge, RatingJudge) else None,
            )

    certificates = keep_certificates(store, certificates_of(answers()))
    return Certification(certificates, done.executions, pending, tuple(lost))


def keep_certificates(
    store: RunStore, certificates: Iterable[Certificate]
) -> tuple[Certificate, ...]:
    """Write certificates down in a run, as they are made."""
    kept = []
    for certificate in certificates:
        store.keep_note(f"{NOTE}: {certificate.judge}", to_object(certificate))
        kept.append(certificate)
    return tuple(kept)


def make_certificate(plan: Plan, answers: Answers) -> Certificate:
    """Return the certificate of one judge on the pairs of testbeds."""
    selected = [judgement for judgement in answers.judgements if not judgement.case.change]
    top = reference(selected)
    findings = find_claims(top, [item for item in selected if item.case.kind is PairKind.PLACEBO])
    testbeds = grouped((judgement.case.testbed, judgement) for judgement in top)
    margins = {} if answers.margin is None else margins_of(selected, answers.margin)
    kept = grouped((item.case.aspect, item) for item in top if item.case.kept)
    filtered = filter_result(top)
    if filtered is not None:
        filtered = replace(filtered, trends={name: trend(some) for name, some in kept.items()})
    signature = answers.signature
    if margins:
        signature = signature.with_parts({"margin": in_signature(margins)})
    return Certificate(
        judge=answers.judge,
        signature=str(signature),
        testbeds=tuple(dict.fromkeys(case.testbed for case in plan.cases)),
        overall=accuracy(top),
        aspects=aspect_results(top, findings, plan.human, margins),
        order=order_effect(in_both_orders(top)),
        trend=trend(top),
        duration=duration_effect(top),
        severities=ladders(selected, by="severity"),
        clip_counts=ladders(selected, by="clips"),
        placebos=placebo_results(selected),
        prompts=prompt_results(answers.judgements, plan.prompt_changes),
        cost=answers.cost,
        summary=answers.summary,
        filtered=filtered,
        by_testbed={name: accuracy(testbed) for name, testbed in testbeds.items()}
        if len(testbeds) > 1
        else {},
        operators=operator_results(top, findings),
        models=answers.models,
        frames=frames_results(top),
        remarks=tuple(same_films(plan.cases)),
    )


def models_of(settings: Settings, judge: Evaluator) -> dict[str, str]:
    """Return the backends that are asked for the roles of a judge and its metrics."""
    models = Models(judge.settings(settings).models)
    return models.used(roles_of(with_metrics([judge.name])))


class PromptChange(StrEnum):
    """A change of the prompt, or of the words about the aspect.

    Where the aspect is about the text, another prompt must matter; where it is not, it must not.
    """

    SWAPPED = "swapped"
    """That of another source."""
    SHUFFLED = "shuffled"
    """Its captions in another order."""
    EMPTY = "empty"
    HINTED = HINTED
    """The same prompt; the aspect's definition describes the degradation."""


def with_changed_prompts(
    cases: Sequence[Case], changes: Sequence[PromptChange], most: int
) -> list[Case]:
    """Cases under other prompts, ``most`` of each aspect, the same in every start.

    They are drawn from the strongest rungs: what a judge cannot see says nothing of its reading.
    """
    plain = [case for case in strongest(cases) if case.kind is PairKind.DEGRADATION]
    chosen: list[Case] = []
    for aspect in all_aspects():
        selected = [case for case in plain if case.aspect is aspect]
        selected.sort(key=lambda case: case.id)
        chosen += random.Random(7).sample(selected, min(most, len(selected)))
    scripts = {case.cluster: case.first.script for case in plain}
    return [
        changed
        for change in changes
        for case in chosen
        if (changed := _changed(case, change, scripts)) is not None
    ]


def prompt_results(
    judgements: Sequence[Judgement], changes: Sequence[PromptChange]
) -> tuple[PromptResult, ...]:
    """Compare answers under other prompts with those under the right one."""
    plain = {_place(judgement): judgement for judgement in judgements if not judgement.case.change}
    results = []
    for change in changes:
        for aspect in all_aspects():
            selected = [
                judgement
                for judgement in judgements
                if judgement.case.change == change.value and judgement.case.aspect is aspect
            ]
            both = [
                (item.choice, right.choice)
                for item in selected
                if (right := plain.get(_place(item))) is not None
                and item.choice is not None
                and right.choice is not None
            ]
            if both:
                moved = sum(item is not right for item, right in both) / len(both)
                pairs = len({item.case.id for item in selected})
                plainly = accuracy(
                    [plain[_place(item)] for item in selected if _place(item) in plain]
                )
                results.append(
                    PromptResult(change.value, aspect, pairs, moved, accuracy(selected), plainly)
                )
    return tuple(results)


def _place(one: Judgement) -> tuple[str, str, str, int]:
    """Return the question, whatever the prompt."""
    case = one.case.id.removesuffix(_mark(one.case.change))
    return (case, one.case.aspect.value, one.order.value, one.repeat)


def _mark(change: str) -> str:
    return f"#{change}" if change else ""


def _changed(case: Case, change: PromptChange, scripts: dict[str, Script | None]) -> Case | None:
    if change is PromptChange.HINTED:
        if not case.aspect.info.hint:
            return None
        return replace(case, id=f"{case.id}{_mark(change.value)}", change=change.value)
    other = _other(case, change, scripts)
    if other is None:
        return None

    def under(item: Item) -> Item:
        return replace(item, id=f"{item.id}{_mark(change.value)}", prompt=other.text, script=other)

    return replace(
        case,
        id=f"{case.id}{_mark(change.value)}",
        prompt=other.text,
        first=under(case.first),
        second=under(case.second),
        change=change.value,
    )


def _other(case: Case, change: PromptChange, scripts: dict[str, Script | None]) -> Script | None:
    """Return the other script, the same for all cases of a source; None where there is none."""
    script = case.first.script
    assert script is not None
    rng = random.Random(case.cluster)
    if change is PromptChange.EMPTY:
        return Script(())
    if change is PromptChange.SHUFFLED:
        clips = list(script.clips)
        rng.shuffle(clips)
        return None if tuple(clips) == script.clips else Script(tuple(clips))
    others = sorted(name for name in scripts if name != case.cluster)
    return scripts[rng.choice(others)] if others else None


def measured_in(run: RunReader, judges: Iterable[Evaluator]) -> list[Record]:
    """Return all that metrics have measured, where any of these judges rests on metrics."""
    if not any(map(metrics_of, judges)):
        return []
    return [record for record in run.records() if not record.key.aspect]


def cost_of(
    run: RunReader, judge: Evaluator, judgements: Sequence[Judgement], measured: Sequence[Record]
) -> Cost:
    """Return all that the judgements rest on, once each, over all starts of the run.

    What metrics took counts for every judge that rests on them, as if it had come alone; the
    time of a scan that metrics of others shared cannot be separated, so those are named.
    """
    answered = [judgement for judgement in judgements if judgement.outcome is not None]
    requests = {request for entry in answered for request in entry.requests}
    # Questions of one task have its whole time each; equal times of a video are one task.
    spent = {(str(entry.case.first.video), entry.place[1], entry.elapsed) for entry in answered}
    seconds = sum(elapsed for _, _, elapsed in spent)
    selected = metrics_of(judge)
    items = {item.id for entry in answered for item in (entry.case.first, entry.case.second)}
    rated = [
        record
        for record in measured
        if record.key.evaluator in selected and record.key.item in items
    ]
    # Metrics of one scan have its whole time each.
    tasks = {(record.key.item, record.elapsed) for record in rated}
    seconds += sum(elapsed for _, elapsed in tasks)
    requests.update(request for record in rated for request in record.requests)
    calls = [call for call in run.calls() if call.intent.request in requests]
    together = {
        record.key.evaluator for record in measured if (record.key.item, record.elapsed) in tasks
    }
    return replace(
        Cost.of(calls, len(answered)),
        seconds=seconds / max(1, len(answered)),
        measured_with=tuple(sorted(together.difference(selected))),
    )
