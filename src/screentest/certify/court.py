"""The court: judges of any kind hear contests, and their verdicts lie in the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from screentest.core import (
    Aspect,
    Item,
    Outcome,
    Outcomes,
    Progress,
    RatingJudge,
    Verdict,
    registry,
)
from screentest.evaluate.evaluators import Evaluator, Signed, known, resolve, sign
from screentest.evaluate.judging import (
    Contest,
    Order,
    asking_tasks,
    rate_contests,
    rating_signature,
)
from screentest.evaluate.scoring import score_tasks, signed_metrics
from screentest.evaluate.settings import Settings
from screentest.evaluate.tools import Tools
from screentest.judges.as_judge import as_judge
from screentest.run import Engine, Execution, RunStore, Task, execute


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
