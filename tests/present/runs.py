"""Runs written record by record, so that a report's numbers are known beforehand."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from screentest.analysis.judges.certificate import (
    Accuracy,
    AspectResult,
    Certificate,
    OperatorResult,
    PlaceboResult,
)
from screentest.analysis.judges.plan import NOTE
from screentest.core import (
    Aspect,
    Choice,
    Item,
    MetricInfo,
    Outcome,
    OutputInfo,
    Point,
    Reason,
    Score,
    Span,
    Traits,
    Verdict,
    to_json,
)
from screentest.judges.cases import CASES
from screentest.run.notes import EvaluatorNote
from screentest.run.records import RecordKey, encode
from screentest.run.store import RunStore
from screentest.run.tasks import Finished, Job, Task, TaskResults
from screentest.stats import Claim, Finding, Interval, wald
from screentest.stats.paired import order_effect
from screentest.stats.trend import Trend, dose_response

CALM = OutputInfo("how calm it is")
BUSY = OutputInfo("how busy it is, in pictures a second", 0.0, 60.0, False, "1/s")
METRICS = {"calm": CALM, "busy": BUSY}
NEAT = OutputInfo("how neat it is")
Values = Mapping[tuple[str, str], Outcome[Score]]


def unused(job: Job) -> TaskResults:
    raise NotImplementedError


def curve(*values: float, note: str = "") -> tuple[Point, ...]:
    """A point a second."""
    return tuple(
        Point(Span(Fraction(place), Fraction(place + 1)), value, note)
        for place, value in enumerate(values)
    )


def score_run(
    folder: Path,
    items: Sequence[Item],
    values: Values,
    *,
    metrics: Mapping[str, OutputInfo] = METRICS,
    traits: Mapping[str, Traits] | None = None,
    suite: str = "",
) -> Path:
    """A run of `score`; what ``values`` does not have is planned and still to come."""
    with RunStore(folder, command="score", arguments={"suite": suite}) as store:
        store.keep_items(items)
        store.keep_evaluators(
            EvaluatorNote.of_metric(
                name,
                f"{name}|v:1|decoder:x|model.made:up",
                MetricInfo(
                    {name: info}, traits={name: traits[name]} if traits and name in traits else {}
                ),
            )
            for name, info in metrics.items()
        )
        keys = [
            RecordKey(item.id, name, signature=f"{name}|v:1|decoder:x|model.made:up")
            for item in items
            for name in metrics
        ]
        store.add_to_plan(keys)
        store.write(
            *(
                Finished(
                    Task((key,), unused),
                    (encode({key.evaluator: values[key.item, key.evaluator]}),),
                )
                for key in keys
                if (key.item, key.evaluator) in values
            )
        )
    return folder


def items(*names: str, folder: Path = Path("/nowhere"), **groups: str) -> list[Item]:
    return [
        Item(name, folder / f"{name}.mp4", f"Prompt of {name}.", groups=groups) for name in names
    ]


def scored(value: float, *points: float, note: str = "") -> Outcome[Score]:
    return Outcome.of(Score(value, curve(*points, note=note)))


def lost(reason: Reason = Reason.UNDECODABLE, detail: str = "no picture") -> Outcome[Score]:
    return Outcome.failed(reason, detail, "Make it again.")


def accuracy(points: float, judged: int, total: int, ties: int = 0) -> Outcome[Accuracy]:
    found = Accuracy(
        points,
        judged,
        total,
        ties,
        Interval(max(0.0, points / judged - 0.1), min(1.0, points / judged + 0.1)),
        wald(points, judged),
        pairs=judged,
    )
    return Outcome.of(found)


def finding(claim: Claim, films: int, share: float | None) -> Finding:
    seen = claim is Claim.SEES
    return Finding(
        claim, films, share, 0.001 if seen else 1.0, 54, strict=seen, wins=int((share or 0) * films)
    )


def certificate(judge: str = "calm", testbed: str = "bed") -> Certificate:
    """Sees aesthetics (36 of 40), does not see colour (20 of 40), could not judge dynamics."""
    unknown: Outcome[Accuracy] = Outcome.failed(Reason.MISSING_MODEL, "no weights")
    none = order_effect([])
    no_trend: Outcome[Trend] = Outcome.failed(Reason.NOT_APPLICABLE)
    results = (
        (Aspect.AESTHETICS, accuracy(36, 40, 40, 2), finding(Claim.SEES, 20, 0.9), 0.95),
        (Aspect.COLOR, accuracy(20, 40, 40), finding(Claim.UNDECIDED, 20, 0.5), None),
        (Aspect.DYNAMICS_DEGREE, unknown, finding(Claim.UNDECIDED, 0, None), None),
    )
    return Certificate(
        judge=judge,
        signature=f"{judge}|v:1|decoder:x",
        testbeds=(testbed,),
        overall=accuracy(56, 80, 80, 2),
        aspects=tuple(
            AspectResult(aspect, 20, 20, found, none, no_trend, said, human)
            for aspect, found, said, human in results
        ),
        operators=tuple(
            OperatorResult(aspect, aspect.value, f"degraded {aspect.title}", 20, found, said)
            for aspect, found, said, _ in results
        ),
        order=order_effect([(Choice.FIRST, Choice.SECOND)] * 9 + [(Choice.FIRST, Choice.FIRST)]),
        trend=no_trend,
        duration=Outcome.failed(Reason.NOT_APPLICABLE, "too few durations"),
        severities={"aesthetics": dose_response([0.5, 1.0], [12, 18], [20, 20]).unwrap()},
        placebos=(PlaceboResult("container", 10, accuracy(10, 20, 20, 20), 1.0),),
        summary="A judge of calm.",
    )


@dataclass(frozen=True, slots=True)
class Said:
    """One verdict on one pair."""

    item: str
    choice: Choice
    order: str = "first_second"
    rationale: str = ""


def certify_run(
    folder: Path, certificates: Sequence[Certificate], verdicts: Sequence[Said] = ()
) -> Path:
    with RunStore(folder, command="certify") as store:
        for one in certificates:
            store.keep_note(f"{NOTE}: {one.judge}", json.loads(to_json(one)))
        store.keep_note(
            CASES,
            [
                {
                    "id": said.item,
                    "aspect": "aesthetics",
                    "testbed": "bed",
                    "source": said.item,
                    "kind": "degradation",
                    "name": "aesthetics",
                    "severity": 1.0,
                    "clips": 1,
                }
                for said in verdicts
            ],
        )
        keys = {
            RecordKey(said.item, "calm", "aesthetics", said.order, signature="calm|v:1"): said
            for said in verdicts
        }
        store.add_to_plan(keys)
        for key, said in keys.items():
            outcome = Outcome.of(Verdict(said.choice, rationale=said.rationale))
            store.write(Finished(Task((key,), unused), (encode({"calm": outcome}),)))
    return folder


def two_systems(folder: Path, gap: float = 0.3, count: int = 20) -> Path:
    """``ours`` is better than ``theirs`` in calm by about ``gap``; in busy all are alike."""
    rng = random.Random(7)
    films, values = [], {}
    for shift, (system, better) in enumerate((("ours", gap), ("theirs", 0.0), ("third", 0.0))):
        for number in range(count):
            item = Item(
                f"{system}-{number}",
                Path("/nowhere/x.mp4"),
                f"Prompt {number}.",
                groups={"model": system},
            )
            films.append(item)
            values[item.id, "calm"] = scored(0.3 + better + rng.random() / 10)
            values[item.id, "busy"] = scored(20.0 + (7 * number + shift) % count)
            values[item.id, "neat"] = scored(0.2 + 0.3 * shift)
    return score_run(folder, films, values, metrics=METRICS | {"neat": NEAT})
