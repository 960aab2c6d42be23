"""Certificates against people: judges, and scores from elsewhere, before pairs with votes.

Where a testbed has an original and a degraded video, a release has the one that people prefer and
the other. A judge is right where it prefers the first; the unit is the prompt. All claims of one
call are corrected together, over aspects and judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from screentest.analysis.judges.accuracy import accuracy, by_film, shown_interval
from screentest.analysis.judges.certificate import (
    AspectResult,
    Certificate,
    Cost,
    OperatorResult,
    Remark,
    RemarkKind,
)
from screentest.analysis.judges.plan import Answers, Certification, certify_cases, keep_certificates
from screentest.analysis.people.raters import (
    Ceiling,
    generators_of,
    human_ceiling,
    people_result,
    per_model,
)
from screentest.analysis.people.releases import Release
from screentest.analysis.people.score_tables import ScoreTable
from screentest.core import BadOption, NoValue, Outcome, PairKind, Reason
from screentest.core.aspects import PEOPLE, Aspect
from screentest.core.item import Item
from screentest.core.metric import RatingJudge
from screentest.core.outcome import Failure, Json
from screentest.core.signature import Signature
from screentest.inputs.files import VIDEO_SUFFIXES
from screentest.judges.cases import CASES, Case, Judgement, Order, in_both_orders
from screentest.judges.verdicts import ask_judge, verdict, write_together
from screentest.run.inputs import hash_parts
from screentest.run.notes import EvaluatorNote
from screentest.run.records import RecordKey, encode
from screentest.run.session import Session
from screentest.run.store import RunStore
from screentest.run.tasks import Finished, Task
from screentest.stats import Claim, Finding, claims, order_effect
from screentest.stats.claims import Unsettled, WhyUnsettled
from screentest.testbeds.files import file_in

_SHOWN = 3
_NO_TIME = "people's releases do not say how long their videos are"


def people_cases(release: Release, folder: Path | None = None) -> list[Case]:
    """Return the pairs as cases, the preferred video first; ties of people are of no kind.

    With ``folder`` a video that is not in it is a failure of its cases.
    """
    places: dict[str, Path | Failure] = {}
    for video in release.clusters:
        places[video] = Path(video) if folder is None else _find(folder, video)
    # What is not there is never opened: the folder stands in for it.
    items = {
        video: Item(
            id=video,
            video=place if isinstance(place, Path) else folder or Path(),
            prompt=release.prompts[video],
        )
        for video, place in places.items()
    }
    cases = []
    for pair in release.pairs:
        result = (places[pair.first], places[pair.second])
        cases.append(
            Case(
                id=f"{release.name}/{pair.id}",
                aspect=Aspect(PEOPLE + pair.aspect),
                prompt=release.prompts[pair.first],
                first=items[pair.first],
                second=items[pair.second],
                testbed=release.name,
                source=pair.cluster,
                kind=PairKind.PREFERENCE if pair.decided else None,
                name=pair.aspect,
                failure=next((item for item in result if isinstance(item, Failure)), None),
            )
        )
    return cases


def _find(folder: Path, video: str) -> Path | Failure:
    """Return the file of a video: called as in the release, or so with a suffix."""
    bare = PurePosixPath(video).suffix.lower() not in VIDEO_SUFFIXES
    names = [video, *(f"{video}{suffix}" for suffix in sorted(VIDEO_SUFFIXES) if bare)]
    lost = Failure(Reason.MISSING_FILE)
    for name in names:
        try:
            return file_in(folder, name)
        except NoValue as error:
            if error.failure.reason is not Reason.MISSING_FILE:
                lost = error.failure
    what = f"{video} is not in {folder}" if lost.reason is Reason.MISSING_FILE else lost.detail
    return replace(lost, detail=what, advice="Put the release's videos there, by its names.")


def certify_people(
    session: Session,
    release: Release,
    judges: Sequence[str],
    folder: Path,
    *,
    orders: Sequence[Order] = tuple(Order),
    repeats: int = 1,
) -> Certification:
    """Put judges before the pairs, whose videos are in a folder; then make the certificates.

    A judge that rates videos alone rates those of ties, too: they tell how it takes ties.
    """
    cases = people_cases(release, folder)
    decided = [case for case in cases if case.kind is not None]
    if all(case.failure is not None for case in cases):
        raise BadOption(
            f"no pair of {release.name} has both videos in {folder}",
            advice=f"The first is called {release.pairs[0].first}.",
        )

    return certify_cases(
        session,
        cases,
        lambda judge: cases if isinstance(judge.judge, RatingJudge) else decided,
        judges,
        lambda judged: people_certificates(release, [*map(_rated, judged)]),
        orders=orders,
        repeats=repeats,
    )


def _rated(answers: Answers) -> Answers:
    """Return the answers with the ratings behind them, of a judge that rates videos alone."""
    if answers.margin is None:
        return answers
    result: dict[tuple[str, Aspect], float] = {}
    for judgement in answers.judgements:
        if judgement.verdict is not None:
            as_given = judgement.order is Order.AS_GIVEN
            verdict = judgement.verdict if as_given else judgement.verdict.flipped
            for item, value in (
                (judgement.case.first, verdict.first),
                (judgement.case.second, verdict.second),
            ):
                if value is not None:
                    result[item.id, judgement.case.aspect] = value
    return replace(answers, ratings=result)


# Scores from elsewhere: nothing is measured, and no video is needed.


def certify_scores(
    store: RunStore, release: Release, tables: Sequence[ScoreTable], problems: Sequence[object] = ()
) -> Certification:
    """Hold scores that some other tool computed against the votes.

    ``problems`` are the rows that could not be read; the certificates say how many.
    """
    wrong = _unreadable(RemarkKind.UNREADABLE_SCORES, problems)
    cases = people_cases(release)
    store.keep_note(CASES, [case.about for case in cases])
    answers = []
    for table, remarks in [_joined(table, release) for table in tables]:
        selected = [case for case in cases if table.covers(case.name)]
        if selected:
            read = _read_scores(store, release, table, selected)
            answers.append(replace(read, remarks=(*remarks, *wrong)))
    if not answers:
        named = sorted({aspect for item in tables for aspect in item.values})
        raise BadOption(
            f"the scores are of no aspect that people were asked about: {', '.join(named)}",
            advice=f"Aspects of {release.name}: {', '.join(release.aspects)}.",
        )
    return Certification(keep_certificates(store, people_certificates(release, answers)), ())


def _joined(table: ScoreTable, release: Release) -> tuple[ScoreTable, list[Remark]]:
    """Return a score under the names of the release, and remarks on what did not join.

    Names are the same, or the same but for the suffix of a video on either side.
    """
    available = {_bare(video): video for video in release.clusters}
    if len(available) < len(release.clusters):  # two videos differ by their suffixes alone
        available = {video: video for video in release.clusters}
    names = {
        name: name if name in release.clusters else available.get(_bare(name))
        for name in sorted(table.ids)
    }
    lost = sorted(name for name, video in names.items() if video is None)
    scored = dict[str, str]()
    for name, video in names.items():
        if video is not None and scored.setdefault(video, name) != name:
            both = f"{scored[video]!r} and {name!r}"
            raise BadOption(f"{both} of {table.name} are one video of {release.name}")
    if not scored:
        raise BadOption(
            f"none of the {len(names):,} ids of {table.name} is a video of {release.name}: "
            f"{', '.join(_first(lost))}",
            advice=f"Its videos are called {', '.join(_first(sorted(release.clusters)))}.",
        )
    without = sorted(set(release.clusters) - scored.keys())
    values = {
        aspect: {video: item for name, item in value.items() if (video := names[name]) is not None}
        for aspect, value in table.values.items()
    }
    failed = sum(not item.ok for value in values.values() for item in value.values())
    remarks = (
        Remark(RemarkKind.UNKNOWN_IDS, len(lost), len(names), _first(lost)),
        Remark(RemarkKind.NO_SCORE, len(without), len(release.clusters), _first(without)),
        Remark(RemarkKind.NOT_NUMBERS, failed),
    )
    return replace(table, values=values), [remark for remark in remarks if remark.count]


def _bare(name: str) -> str:
    path = PurePosixPath(name)
    return str(path.with_suffix("") if path.suffix.lower() in VIDEO_SUFFIXES else path)


def _first(names: Sequence[str]) -> tuple[str, ...]:
    shown = (name if len(name) <= 60 else f"{name[:59]}…" for name in names[:_SHOWN])
    return tuple(repr(name) if not name.isprintable() else name for name in shown)


def _unreadable(kind: RemarkKind, problems: Sequence[object]) -> tuple[Remark, ...]:
    return (Remark(kind, len(problems), names=(str(problems[0]),)),) if problems else ()


def _read_scores(
    store: RunStore, release: Release, table: ScoreTable, cases: Sequence[Case]
) -> Answers:
    signature = Signature.of(
        table.name,
        version=1,
        scores=table.digest,
        people=release.digest,
        better=None if table.higher_is_better else "lower",
    )
    judgements = [
        Judgement(
            case,
            Order.AS_GIVEN,
            0,
            verdict(table.of(case.first.id, case.name), table.of(case.second.id, case.name)),
        )
        for case in cases
    ]
    about: dict[str, Json] = {"summary": "scores from elsewhere", "roles": [], "options": {}}
    store.keep_evaluators([EvaluatorNote(table.name, "judge", str(signature), about)])
    _write(store, table.name, str(signature), judgements)
    return Answers(
        table.name,
        signature,
        judgements,
        Cost(0.0, judgements=len(judgements)),
        "scores from elsewhere",
        ratings={
            (video, aspect): score.value
            for aspect in dict.fromkeys(case.aspect for case in cases)
            for video in release.clusters
            if (score := table.of(video, aspect.value.removeprefix(PEOPLE)).value) is not None
        },
    )


def _write(store: RunStore, name: str, signature: str, judgements: Sequence[Judgement]) -> None:
    """Write the verdicts as records, so that reports and comparisons find them."""
    ready = []
    for judgement in judgements:
        assert judgement.outcome is not None
        inputs = hash_parts({"first": judgement.case.first.id, "second": judgement.case.second.id})
        aspect, order = judgement.case.aspect.value, judgement.order.value
        key = RecordKey(judgement.case.id, name, aspect, order, 0, signature, inputs)
        outcomes = {name: judgement.outcome}
        ready.append(Finished(Task((key,), ask_judge), (encode(outcomes),)))
    store.add_to_plan(key for item in ready for key in item.task.keys)
    write_together(store, ready)


# The certificates.


def people_certificates(release: Release, answers: Sequence[Answers]) -> Iterator[Certificate]:
    """One certificate for each judge; claims are corrected over all of them and all aspects."""
    lost = _unreadable(RemarkKind.UNREADABLE_VOTES, release.problems)
    ceilings = {aspect: human_ceiling(release, aspect) for aspect in release.aspects}
    by_judge = [_by_aspect(answer.judgements) for answer in answers]
    every = [
        (answer, *of)
        for answer, aspects in zip(answers, by_judge, strict=True)
        for of in aspects.items()
    ]
    # What people tie on in all pairs cannot be tested, and is no test to correct for.
    tested = [selected for _, _, selected in every if selected]
    made = iter(
        claims(
            [by_film(selected) for selected in tested],
            intervals=[shown_interval(selected) for selected in tested],
            unit="prompt",
        )
    )
    none = Unsettled(WhyUnsettled.NO_ANSWER)
    untested = Finding(Claim.UNDECIDED, 0, None, 1.0, None, unit="prompt", unsettled=none)
    result = iter(
        _unless_per_model(release, item, aspect, next(made)) if selected else untested
        for item, aspect, selected in every
    )
    for answer, aspects in zip(answers, by_judge, strict=True):
        findings = [next(result) for _ in aspects]
        certificate = _certificate(release, answer, aspects, findings, ceilings)
        yield replace(certificate, remarks=(*answer.remarks, *lost))


def _unless_per_model(
    release: Release, answers: Answers, aspect: Aspect, finding: Finding
) -> Finding:
    """Return the finding; a score with about one number for each model earns no claim."""
    available = generators_of(release.of(aspect.value.removeprefix(PEOPLE)))
    ratings = {video: value for (video, of), value in answers.ratings.items() if of is aspect}
    models = per_model(ratings, available)
    if not models or finding.claim is Claim.CHANCE:
        return finding
    why = Unsettled(WhyUnsettled.ONE_NUMBER_PER_MODEL, count=models)
    return replace(finding, claim=Claim.UNDECIDED, needed=None, unsettled=why)


def _by_aspect(judgements: Iterable[Judgement]) -> dict[Aspect, list[Judgement]]:
    """Return the judgements on pairs that people decided; an aspect may have none."""
    result: dict[Aspect, list[Judgement]] = {}
    for judgement in judgements:
        selected = result.setdefault(judgement.case.aspect, [])
        if judgement.case.kind is not None:
            selected.append(judgement)
    return result


def _certificate(
    release: Release,
    answers: Answers,
    by_aspect: Mapping[Aspect, Sequence[Judgement]],
    findings: Sequence[Finding],
    ceilings: Mapping[str, Ceiling | None],
) -> Certificate:
    aspects, operators, people = [], [], []
    for (aspect, selected), finding in zip(by_aspect.items(), findings, strict=True):
        name = aspect.value.removeprefix(PEOPLE)
        ceiling, right = ceilings[name], accuracy(selected)
        if not selected:
            right = Outcome.failed(Reason.NOT_APPLICABLE, "people prefer neither video of any pair")
        pairs = len({item.case.id for item in selected})
        aspects.append(
            AspectResult(
                aspect,
                pairs,
                len({item.case.cluster for item in selected}),
                right,
                order_effect(in_both_orders(selected)),
                Outcome.failed(Reason.NOT_APPLICABLE, _NO_TIME),
                finding,
                ceiling.accuracy.value if ceiling is not None else None,
            )
        )
        operators.append(OperatorResult(aspect, name, aspect.title, pairs, right, finding))
        ratings = {video: value for (video, of), value in answers.ratings.items() if of is aspect}
        people.append(people_result(release, name, ceiling, ratings.get if ratings else None))
    every = [item for members in by_aspect.values() for item in members]
    return Certificate(
        judge=answers.judge,
        signature=str(answers.signature),
        testbeds=(release.name,),
        overall=accuracy(every),
        aspects=tuple(aspects),
        order=order_effect(in_both_orders(every)),
        trend=Outcome.failed(Reason.NOT_APPLICABLE, _NO_TIME),
        duration=Outcome.failed(Reason.NOT_APPLICABLE, _NO_TIME),
        cost=answers.cost,
        summary=answers.summary,
        operators=tuple(operators),
        people=tuple(people),
        models=answers.models,
    )
