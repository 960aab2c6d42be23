"""Verdicts: judges decide cases, and what they say is kept in a run.

Each question is one record, in both orders of presentation. A judge that looks at both videos
is asked; one that rates videos alone is worked out from the scores of its metrics, which are
measured once per video.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from screentest.core.aspects import Aspect
from screentest.core.errors import BadOption, VideoError
from screentest.core.item import Item
from screentest.core.metric import Judge, Outcomes, Question, RatingJudge
from screentest.core.outcome import Failure, Outcome, Reason, Score, guarded
from screentest.core.registry import registry
from screentest.core.signature import split_model
from screentest.core.verdict import Choice, Verdict, prefer_higher
from screentest.judges.cases import Case, Order, evidence, verdict_in
from screentest.judges.from_metrics import as_judge
from screentest.judges.spread import PlaceboSpread, PlaceboSpreads
from screentest.measure.evaluators import Evaluator, known, resolve, sign
from screentest.measure.items import must_be_outcome, refuse_faults
from screentest.measure.tasks import keep_models, roles_of, score_tasks, signed_metrics
from screentest.models.choice import chat_models
from screentest.run.execute import Execution, execute
from screentest.run.inputs import Stamp, hash_parts
from screentest.run.records import RecordKey, encode
from screentest.run.session import Session, Settings, Tools, open_tools
from screentest.run.store import RunStore
from screentest.run.tasks import Finished, Job, Task, TaskResults
from screentest.video.limits import DEFAULT_LIMITS, Limits

T = TypeVar("T")

_WRITTEN_TOGETHER = 500
_ROUNDING = 1e-9
"""Scores nearer than this share of theirs differ by the order of additions alone."""


def judge_of(text: str) -> Evaluator:
    """Return the judge that ``text`` names; of a metric's name, the judge that goes by its score.

    ``metric.output`` goes by one value of a metric, ``metric.output:option=value`` too. Of
    ``judge@model`` the chat model answers.
    """
    name, colon, options = split_model(text)[0].partition(":")
    output = ""
    if registry.has("metric", name.partition(".")[0]):
        name, _, output = name.partition(".")
    spec = f"{name}{colon}{options}"
    if not output and known(spec) == "judge":
        return resolve(text, "judge")
    metric = resolve(spec)
    return Evaluator("judge", text, metric.spec, as_judge(spec, output), metric.signature)


def with_chat_models(names: Iterable[str], settings: Settings) -> list[str]:
    """Return the names of judges, each with the chat model that answers for it; a judge that names
    none is one judge for each that was chosen."""
    result: list[str] = []
    for name in names:
        one, (spec, colon, options) = judge_of(name), name.partition(":")
        models = chat_models(settings.models, one.answers)
        named = one.settings(settings) is not settings or not models
        result += [name] if named else [f"{spec}@{label}{colon}{options}" for label in models]
        roles = (role for metric in metrics_of(one) for role in resolve(metric).info.roles)
        if any(len(chat_models(settings.models, role)) > 1 for role in roles):
            raise BadOption(
                f"{name} asks one chat model, and several were chosen",
                advice="Certify metrics in a run of their own for each chat model.",
            )
    return result


def metrics_of(one: Evaluator) -> tuple[str, ...]:
    """Return the metrics that a judge rests on; none where it looks at both videos."""
    return one.judge.metrics if isinstance(one.judge, RatingJudge) else ()


def with_metrics(names: Sequence[str]) -> list[Evaluator]:
    """Build these judges, and the metrics that they rest on."""
    named = [judge_of(name) for name in names]
    return [*named, *(resolve(spec) for one in named for spec in metrics_of(one))]


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Result of one start of judging."""

    judges: tuple[Evaluator, ...]
    executions: tuple[Execution, ...]


def judge_pairs(
    session: Session,
    cases_for: Callable[[Evaluator], Sequence[Case]],
    judges: Sequence[str],
    *,
    orders: Sequence[Order] = tuple(Order),
    repeats: int = 1,
) -> JudgedPairs:
    """Have every judge decide its cases, or go on with it; the verdicts are in the run."""
    store, settings = session.store, session.settings
    named = [judge_of(text) for text in dict.fromkeys(judges)]
    specs = list(dict.fromkeys(spec for item in named for spec in metrics_of(item)))
    tools = Tools(settings)
    with closing(tools.models):
        metrics = signed_metrics(specs, tools)
        by_spec = {metric.name: metric for metric in metrics}
        tools.models.must_be_here(roles_of(named))
    signed = [_signed(item, by_spec, settings) for item in named]
    store.inputs.largest = settings.limits.file_bytes
    cases = {item.name: as_listed(store, cases_for(item), settings.limits) for item in signed}
    rating = [item for item in signed if isinstance(item.judge, RatingJudge)]
    asked = [item for item in signed if item not in rating]
    store.keep_items(_items(signed, cases))
    store.keep_evaluators([metric.note for metric in (*metrics, *signed)])
    keep_models(store, settings, [*metrics, *signed])
    questions = [
        task
        for item in asked
        for task in question_tasks(
            store, cases[item.name], item, settings, orders=orders, repeats=repeats
        )
    ]
    for entry in asked:
        keep_failures(store, cases[entry.name], entry, orders=orders, repeats=repeats)
    # Also what is not come to, for want of time, is part of the plan: coverage counts it.
    store.add_to_plan(key for task in questions for key in task.keys)
    executions: list[Execution] = []

    def run(tasks: Sequence[Task], what: str) -> None:
        engine, progress = session.engine, session.progress
        executions.append(execute(store, tasks, engine=engine, progress=progress, what=what))

    if rating:
        sound = _items(rating, cases, sound=True)
        run(score_tasks(store, sound, metrics, settings), "measuring")
        scores = _scores(store, by_spec)
        for entry in rating:
            rate_cases(store, cases[entry.name], entry, scores, orders=orders)
    if questions and not any(execution.signal for execution in executions):
        run(questions, "judging")
    return JudgedPairs(tuple(signed), tuple(executions))


def verdicts_of(
    session: Session, cases: Sequence[Case], judge: str
) -> dict[Aspect, tuple[Outcome[Verdict] | None, Outcome[Verdict] | None]]:
    """Return the verdicts of one judge on some cases, as given and swapped, by aspect."""
    name = judge_pairs(session, lambda _: cases, [judge]).judges[0].name
    result = {
        (record.key.item, record.key.aspect, record.key.order): verdict_in(record)
        for record in session.store.records()
        if record.key.evaluator == name and record.key.aspect
    }
    return {
        case.aspect: tuple(  # type: ignore[misc]
            result.get((case.id, case.aspect.value, order.value)) for order in Order
        )
        for case in cases
    }


def as_listed(
    store: RunStore, cases: Sequence[Case], limits: Limits = DEFAULT_LIMITS
) -> list[Case]:
    """Return the cases; those with a video that is not the listed one have a failure instead.

    The hashes are those that the records need anyway.
    """

    def fault(item: Item) -> Failure | None:
        if not item.sha256:
            return None
        stamp = Stamp.of(item.video)
        try:
            limits.check_file(stamp.size if stamp else 0)
        except VideoError as error:
            return error.failure
        if store.inputs.of_file(item.video) == item.sha256:
            return None
        detail = f"not the file of the testbed: the hash of {item.id} differs"
        return Failure(
            Reason.WRONG_FILE, detail, "See `screentest testbed verify`; build it again."
        )

    return [
        replace(case, failure=case.failure or fault(case.first) or fault(case.second))
        for case in cases
    ]


def _items(
    judges: Sequence[Evaluator], cases: Mapping[str, Sequence[Case]], *, sound: bool = False
) -> list[Item]:
    """Return all videos that some judges look at, once each; if asked, of sound cases only."""
    selected = [
        case for judge in judges for case in cases[judge.name] if not (sound and case.failure)
    ]
    return list(
        {item.id: item for entry in selected for item in (entry.first, entry.second)}.values()
    )


def _signed(one: Evaluator, metrics: Mapping[str, Evaluator], settings: Settings) -> Evaluator:
    """Sign a judge: a rating depends on all that its metrics depend on."""
    selected = [metrics[spec] for spec in metrics_of(one)]
    digests = {f"metric.{metric.name}": metric.signature.digest for metric in selected}
    tools = Tools(one.settings(settings))
    with closing(tools.models):
        return replace(one, signature=sign(one, tools).signature.with_parts(digests))


def _scores(store: RunStore, metrics: Mapping[str, Evaluator]) -> dict[str, dict[str, Outcomes]]:
    """By item and metric; an item is there when all its metrics are."""
    result: dict[str, dict[str, Outcomes]] = {}
    for record in store.records():
        if record.key.evaluator in metrics and not record.key.aspect:
            name = record.key.evaluator
            info = metrics[name].metric.info
            # A task that failed as a whole has one outcome, under the metric's name.
            whole = record.outcomes.get(name)
            outcomes = {output: record.outcomes.get(output) or whole for output in info.outputs}
            result.setdefault(record.key.item, {})[name] = outcomes  # type: ignore[assignment]
    return {item: scores for item, scores in result.items() if len(scores) == len(metrics)}


# A judge that looks at both videos.


@dataclass(frozen=True, slots=True)
class QuestionTask:
    """The task of a worker."""

    judge: str
    cases: Mapping[RecordKey, Case]
    settings: Settings


def ask_judge(job: Job) -> TaskResults:
    """Ask a judge about some cases, one question after the other. Runs in a worker."""
    task: QuestionTask = job.payload
    tools = open_tools(task.settings)
    tools.attach(job.ledger)
    judge = resolve(task.judge, "judge").judge
    assert isinstance(judge, Judge)
    answers: dict[RecordKey, dict[str, Outcome[Verdict]]] = {}
    for key in job.keys:
        question = task.cases[key].question(Order(key.order), key.repeat)
        with job.noting(key):
            answers[key] = {key.evaluator: _answer(judge, question, tools)}
    return answers


def _answer(judge: Judge, question: Question, tools: Tools) -> Outcome[Verdict]:
    """Return the verdict; a fault on one question is its own, not that of those beside it."""

    def ask() -> Outcome[Verdict]:
        # Whoever is shown frames would take half a film for a short one. Votes are no frames.
        looks = judge.info.roles or judge.info.sees_frames
        if looks and not tools.settings.allow_damaged:
            for item in (question.first, question.second):
                refuse_faults(tools.info(item.video))
        return must_be_outcome(judge.judge(question, tools), Verdict)

    return _guarded(ask)


def _guarded(ask: Callable[[], Outcome[T]]) -> Outcome[T]:
    result = guarded(ask, "judge")
    return Outcome(failure=result) if isinstance(result, Failure) else result


def question_key(
    store: RunStore,
    case: Case,
    signed: Evaluator,
    order: Order,
    repeat: int = 0,
    margin: float = 0.0,
) -> RecordKey:
    """Return the record of one question to one judge; where it has a margin, for that margin."""
    inputs = {
        "first": store.inputs.of_item(case.first),
        "second": store.inputs.of_item(case.second),
        "prompt": case.prompt,
    }
    if case.failure is not None:
        inputs["failure"] = str(case.failure)
    if margin:
        inputs["margin"] = repr(margin)
    return RecordKey(
        case.id,
        signed.name,
        case.aspect,
        order.value,
        repeat,
        str(signed.signature),
        hash_parts(inputs),
    )


def question_tasks(
    store: RunStore,
    cases: Iterable[Case],
    judge: Evaluator,
    settings: Settings,
    *,
    orders: Sequence[Order],
    repeats: int = 1,
) -> list[Task]:
    """One task for all questions about one first video in one aspect.

    They share what is asked of that video alone, such as its description, and its shots. In
    tasks of their own two workers could pay for the same at the same moment.
    """
    groups: dict[tuple[Path, Aspect], dict[RecordKey, Case]] = {}
    for case in cases:
        if case.failure is not None:
            continue
        group = groups.setdefault((case.first.video, case.aspect), {})
        for order in orders:
            for repeat in range(repeats):
                group[question_key(store, case, judge, order, repeat)] = case
    own = judge.settings(settings)
    return [_question_task(group, judge.name, own) for group in groups.values()]


def _question_task(group: Mapping[RecordKey, Case], judge: str, settings: Settings) -> Task:
    videos = {item.video for entry in group.values() for item in (entry.first, entry.second)}
    return Task(
        tuple(group),
        ask_judge,
        QuestionTask(judge, group, settings),
        timeout=settings.limits.wall_seconds * len(group),
        files=tuple(filter(None, map(Stamp.of, sorted(videos)))),
        on_death=Reason.CRASHED,
    )


# A judge that rates each video alone.


def rate_cases(
    store: RunStore,
    cases: Sequence[Case],
    judge: Evaluator,
    scores: Mapping[str, Mapping[str, Outcomes]],
    *,
    orders: Sequence[Order],
) -> None:
    """Work the verdicts of a rating judge out and write them.

    ``scores`` has the outcomes by item and by spec of the metric; an item that is not there
    yet leaves its cases pending. Margins are learnt from the placebos among ``cases`` that there
    are scores of: where more are measured later, verdicts are worked out anew.
    """
    rating = judge.judge
    assert isinstance(rating, RatingJudge)
    available = store.reasons()
    planned: list[RecordKey] = []
    ready: list[Finished] = []
    ratings: dict[tuple[str, Aspect], Outcome[Score]] = {}

    def rated(item: Item, aspect: Aspect) -> Outcome[Score] | None:
        if item.id not in scores:
            return None
        if (item.id, aspect) not in ratings:
            ratings[item.id, aspect] = _guarded(
                lambda: must_be_outcome(rating.rate(aspect.asked, scores[item.id]), Score)
            )
        return ratings[item.id, aspect]

    sound = [case for case in cases if case.failure is None]
    margins = _margins(sound, rated)
    for case in sound:
        pair = rated(case.first, case.aspect), rated(case.second, case.aspect)
        margin = margins.of(case.aspect, case.cluster, least=rating.info.margin)
        for order in orders:
            key = question_key(store, case, judge, order, margin=margin.value)
            planned.append(key)
            first, second = pair if order is Order.AS_GIVEN else pair[::-1]
            if first is None or second is None or available.get(key) == ():
                continue
            ready.append(_finished(key, verdict(first, second, margin)))
    store.add_to_plan(planned)
    write_together(store, ready)
    keep_failures(store, cases, judge, orders=orders)


def _margins(
    cases: Sequence[Case], rated: Callable[[Item, Aspect], Outcome[Score] | None]
) -> PlaceboSpreads:
    """Spread of a judge's ratings on the placebos among the cases."""
    moved = []
    for case in cases:
        if case.is_harmless and not case.change:
            both = [rated(item, case.aspect) for item in (case.first, case.second)]
            first, second = (None if result is None else result.value for result in both)
            if first is not None and second is not None:
                moved.append((case.aspect, case.cluster, first.value - second.value))
    return PlaceboSpreads.learnt(moved)


def write_together(store: RunStore, ready: Sequence[Finished]) -> None:
    """Write what was worked out and not asked for, many records at a time."""
    for start in range(0, len(ready), _WRITTEN_TOGETHER):
        store.write(*ready[start : start + _WRITTEN_TOGETHER])


def keep_failures(
    store: RunStore,
    cases: Sequence[Case],
    judge: Evaluator,
    *,
    orders: Sequence[Order],
    repeats: int = 1,
) -> None:
    """Write why the cases that cannot be judged have no verdict: coverage counts them."""
    lost: dict[RecordKey, Outcome[Verdict]] = {
        question_key(store, case, judge, order, repeat): Outcome(failure=case.failure)
        for case in cases
        if case.failure is not None
        for order in orders
        for repeat in range(repeats)
    }
    store.add_to_plan(lost)
    available = store.reasons() if lost else {}
    write_together(store, [_finished(k, lost[k]) for k in lost if k not in available])


def _finished(key: RecordKey, outcome: Outcome[Verdict]) -> Finished:
    return Finished(Task((key,), ask_judge), (encode({key.evaluator: outcome}),))


def verdict(
    first: Outcome[Score], second: Outcome[Score], margin: PlaceboSpread | None = None
) -> Outcome[Verdict]:
    """Prefer the higher rating, or neither within the margin; without both there is no verdict."""
    for outcome in (first, second):
        if outcome.failure is not None:
            return Outcome(failure=outcome.failure)
    item, two = first.unwrap(), second.unwrap()
    # What was learnt as a difference may come back as one with another last bit.
    rounding = _ROUNDING * max(abs(item.value), abs(two.value))
    wide = margin.value if margin is not None else 0.0
    choice = prefer_higher(item.value, two.value, margin=wide + rounding).choice
    why = ""
    if choice is Choice.TIE and abs(item.value - two.value) > rounding:
        learnt = margin is not None and margin.films
        what = "which placebos of other films move it by" if learnt else "the judge's own margin"
        why = f"within {wide:.3g}, {what}"
    return Outcome.of(Verdict(choice, item.value, two.value, why, *evidence(item, two, choice)))
