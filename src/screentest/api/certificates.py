"""Certifying judges: on testbeds, on people's votes, by scores from elsewhere; asking one judge."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

from screentest.analysis.models.margins import margin_of
from screentest.analysis.results import Value
from screentest.analysis.suites import read_suite
from screentest.api import at_least, names_of, path_of
from screentest.api.options import limits_of, open_run, refuse_unknown, script_of
from screentest.api.testbeds import pairs_at_most
from screentest.core.aspects import BUILTIN_ASPECTS, Aspect, PairKind, aspects_of
from screentest.core.errors import BadOption, Stopped
from screentest.core.item import File, Item
from screentest.core.metric import Metric
from screentest.core.outcome import Outcome, Score
from screentest.core.registry import build
from screentest.core.signature import split_value_name, value_name
from screentest.core.verdict import Verdict
from screentest.present.results import BuiltTestbed, Certificates, Verdicts
from screentest.run.database import FILE
from screentest.run.reader import RunReader
from screentest.run.session import Settings, WorkOptions, settings_of
from screentest.run.store import RunStore

if TYPE_CHECKING:
    from screentest.analysis.forecast import Forecast
    from screentest.analysis.judges.plan import Certification, PromptChange
    from screentest.judges.cases import Case, Order

Testbeds = File | BuiltTestbed | Sequence[File | BuiltTestbed]


def certify(
    judges: str | Sequence[str],
    testbeds: Testbeds,
    *,
    suite: str = "",
    out: File = "certificates",
    aspects: Sequence[str] = (),
    orders: str = "both",
    repeats: int = 1,
    probes: Sequence[str] = (),
    probe_pairs: int = 20,
    placebos: bool = True,
    human: File | None = None,
    kept: Sequence[File] = (),
    chart: File | None = None,
    max_file_size: float = 100.0,
    **work: Unpack[WorkOptions],
) -> Certificates:
    """Measure how often judges, or metrics, prefer the original of a pair to the degraded video.

    Args:
        judges: Names of judges or metrics; may be empty where ``suite`` is given.
        testbeds: Folders made by ``build``, or what it returned.
        suite: A suite; every value of its metrics is a judge.
        out: The run's folder.
        aspects: Only pairs of these; all where empty.
        orders: ``both``, or ``first``: the original first.
        repeats: How often each question is asked.
        probes: Other words for the same videos: ``swapped``, ``shuffled``, ``empty``, ``hinted``,
            or ``all``.
        probe_pairs: Pairs of each aspect that a probe takes.
        placebos: Judge the placebos too.
        human: People's votes on the same pairs, for comparison.
        kept: The pairs that people's filter kept: folders.
        chart: Draw judges by aspects: .svg, .png or .pdf.
        max_file_size: A larger file is not read.
        **work: Models, engine, workers, progress: see ``WorkOptions``.

    Returns:
        The certificates, one for each judge.
    """
    from screentest.analysis.judges.plan import Plan
    from screentest.analysis.judges.plan import certify as run_certify
    from screentest.judges.verdicts import with_metrics

    refuse_unknown(certify, work)
    _must_be_chart(chart)
    settings = settings_of(work, limits=limits_of(max_file_size))
    at_least(1, repeats=repeats, probe_pairs=probe_pairs)
    names, folders = _judges(judges, suite, settings), _folders(testbeds)
    both, changes = _orders(orders), _prompt_changes(probes)
    cases = tuple(_cases(folders, aspects, placebos, kept))
    shares = None if human is None else _people(Path(human), cases)
    plan = Plan(cases, names, both, repeats, changes, probe_pairs, shares)
    arguments = {"judges": list(plan.judges), "testbeds": [str(bed.absolute()) for bed in folders]}
    judging = with_metrics(plan.judges)
    with open_run(Path(out), "certify", arguments, work, settings, judging) as run:
        done = run_certify(run, plan)
        models, spent = run.models, run.spent
    return _certificates(Path(out), done, chart, models, spent)


def certify_votes(
    judges: str | Sequence[str],
    votes: File,
    videos: File,
    *,
    form: str = "",
    suite: str = "",
    out: File = "certificates",
    aspects: Sequence[str] = (),
    orders: str = "both",
    repeats: int = 1,
    chart: File | None = None,
    max_file_size: float = 100.0,
    **work: Unpack[WorkOptions],
) -> Certificates:
    """Measure how often judges, or metrics, prefer the video that people prefer.

    Args:
        judges: Names of judges or metrics; may be empty where ``suite`` is given.
        votes: A release of people's votes on pairs: a folder or file.
        videos: The folder of the videos that they voted on.
        form: The format of the votes, if the files do not tell.
        suite: A suite; every value of its metrics is a judge.
        out: The run's folder.
        aspects: Only votes on these; all where empty.
        orders: ``both``, or ``first``: the preferred video first.
        repeats: How often each question is asked.
        chart: Draw judges by aspects: .svg, .png or .pdf.
        max_file_size: A larger file is not read.
        **work: Models, engine, workers, progress: see ``WorkOptions``.

    Returns:
        The certificates, one for each judge.
    """
    from screentest.analysis.people.certify import certify_people
    from screentest.analysis.people.releases import read_release
    from screentest.judges.verdicts import with_metrics

    refuse_unknown(certify_votes, work)
    _must_be_chart(chart)
    at_least(1, repeats=repeats)
    settings = settings_of(work, limits=limits_of(max_file_size))
    names, both = _judges(judges, suite, settings), _orders(orders)
    release = read_release(Path(votes), form, tuple(aspects))
    arguments = {"judges": list(names), "people": str(Path(votes).absolute())}
    judging = with_metrics(names)
    with open_run(Path(out), "certify", arguments, work, settings, judging) as run:
        done = certify_people(run, release, names, Path(videos), orders=both, repeats=repeats)
        models, spent = run.models, run.spent
    return _certificates(Path(out), done, chart, models, spent)


def certify_scores(
    scores: File,
    votes: File,
    *,
    lower: Sequence[str] = (),
    form: str = "",
    out: File = "certificates",
    aspects: Sequence[str] = (),
    chart: File | None = None,
) -> Certificates:
    """Measure how often scores from another tool agree with people; no video is opened.

    Args:
        scores: A file of ids with their values, and where there are several scores their names.
        votes: A release of people's votes on pairs: a folder or file.
        lower: The scores of which less is better.
        form: The format of the votes, if the files do not tell.
        out: The run's folder.
        aspects: Only votes on these; all where empty.
        chart: Draw scores by aspects: .svg, .png or .pdf.

    Returns:
        The certificates, one for each score.
    """
    from screentest.analysis.people.certify import certify_scores as run_certify
    from screentest.analysis.people.releases import read_release
    from screentest.analysis.people.score_tables import read_scores

    _must_be_chart(chart)
    release = read_release(Path(votes), form, tuple(aspects))
    tables, problems = read_scores(Path(scores), tuple(lower))
    arguments = {
        name: str(Path(file).absolute()) for name, file in [("people", votes), ("scores", scores)]
    }
    with open_run(Path(out), "certify", arguments, {}, settings_of({})) as run:
        done = run_certify(run.store, release, tables, problems)
    return _certificates(Path(out), done, chart)


def forecast(
    judges: str | Sequence[str],
    testbeds: Testbeds,
    *,
    videos: File | None = None,
    suite: str = "",
    out: File = "certificates",
    aspects: Sequence[str] = (),
    orders: str = "both",
    repeats: int = 1,
    probes: Sequence[str] = (),
    probe_pairs: int = 20,
    placebos: bool = True,
    **work: Unpack[WorkOptions],
) -> Forecast:
    """Forecast ``certify`` with the same options, and what it can settle; start nothing.

    Of ``videos`` a testbed would be built first: all pairs that might be in it count.
    Where ``out`` is a run that has certified a judge before, its calls are taken as a measure.
    """
    from screentest.analysis.forecast import forecast_certify
    from screentest.analysis.judges.certificate import read_certificates
    from screentest.analysis.judges.plan import Plan

    refuse_unknown(forecast, work)
    settings = settings_of(work)
    names = _judges(judges, suite, settings)
    folders = _folders(testbeds) if videos is None or testbeds else []
    planned = () if videos is None else pairs_at_most(videos, aspects)
    at_least(1, repeats=repeats, probe_pairs=probe_pairs)
    both, changes = _orders(orders), _prompt_changes(probes)
    cases = [case for case in planned if placebos or case.kind is not PairKind.PLACEBO]
    cases += _cases(folders, aspects, placebos)
    plan = Plan(tuple(cases), names, both, repeats, changes, probe_pairs)
    costs = {}
    if (Path(out) / FILE).is_file():
        with RunReader(Path(out)) as run:
            costs = {certificate.judge: certificate.cost for certificate in read_certificates(run)}
    return forecast_certify(plan, settings, costs)


def judge_videos(
    judge: str,
    first: File,
    second: File,
    *,
    prompt: str = "",
    script: File | None = None,
    aspects: Sequence[str] = (),
    out: File | None = None,
    **work: Unpack[WorkOptions],
) -> Verdicts:
    """Ask a judge which of two videos is better, in both orders of presentation.

    Args:
        judge: A judge or metric. A metric with the same value for every aspect is asked once.
        first: A video.
        second: Another video.
        prompt: The text that both were made from.
        script: The same shot by shot: a file with one caption a line.
        aspects: What to compare; all of the paper's where empty.
        out: A folder for the answers: the same call again asks nobody twice. None keeps nothing.
        **work: Models, engine, workers, progress: see ``WorkOptions``.

    Returns:
        A verdict for each aspect and order, or the reason why there is none.
    """
    from screentest.judges.cases import Case
    from screentest.judges.from_metrics import value_of
    from screentest.judges.verdicts import judge_of, verdicts_of, with_chat_models, with_metrics

    refuse_unknown(judge_videos, work)
    settings = settings_of(work)
    judge, *others = with_chat_models([judge], settings)
    if others:
        raise BadOption("several chat models were chosen", advice=f"Name one, as in {judge}.")
    captions = script_of(Path(script)) if script is not None else None
    text = prompt or (captions.text if captions is not None else "")
    left = Item("first", Path(first), text, captions)
    right = Item("second", Path(second), text, captions)
    given = aspects_of(aspects)
    chosen = list(BUILTIN_ASPECTS) if given is None else given
    value = value_of(judge_of(judge).judge, chosen)
    chosen = chosen[:1] if value and given is None else chosen
    cases = [Case("pair", aspect, text, left, right) for aspect in chosen]
    arguments = {"judge": judge, "first": str(first), "second": str(second)}
    alone: WorkOptions = {"workers": 1, **work}
    with (
        nullcontext(out) if out is not None else TemporaryDirectory("-screentest") as folder,
        open_run(Path(folder), "judge", arguments, alone, settings, with_metrics([judge])) as run,
    ):
        verdicts = verdicts_of(run, cases, judge)
        models, spent = run.models, run.spent
        margin = _margin_of(value, run.store) if value else None
    if margin is not None:
        counted = partial(_counted, margin=margin)
        verdicts = {aspect: (counted(a), counted(b)) for aspect, (a, b) in verdicts.items()}
    by = value if given is None else ""
    return Verdicts(path_of(out), verdicts, models, spent, by, margin)


def _counted(outcome: Outcome[Verdict] | None, margin: float) -> Outcome[Verdict] | None:
    """Return a verdict by the differences that count."""
    if outcome is None or outcome.value is None:
        return outcome
    return replace(outcome, value=outcome.value.within(margin))


def _margin_of(name: str, store: RunStore) -> float | None:
    """Return what encoding a video anew may change in a value; None where that is not known."""
    metric, output = split_value_name(name)
    for record in store.records():
        if record.key.evaluator == metric and not record.key.aspect:
            score = Outcome.of(Score(0.0))  # a margin depends on the signature alone
            value = Value(record.key.item, metric, output, score, record.key.signature)
            margin = margin_of(value, "worst")
            return margin.value if margin is not None else None
    return None


def _judges(judges: str | Sequence[str], suite: str, settings: Settings) -> tuple[str, ...]:
    """List the judges with their chat models, and every value of the suite's metrics as
    ``metric.output:option=…``."""
    from screentest.judges.verdicts import with_chat_models

    names = list(names_of(judges))
    for spec in read_suite(suite).metrics if suite else ():
        metric = build("metric", spec).thing
        assert isinstance(metric, Metric)
        names += [value_name(spec, output) for output in metric.info.outputs]
    if not names:
        raise BadOption("there is no judge to certify", advice="Name judges, or give `suite`.")
    # A misspelled name leaves no run behind.
    return tuple(dict.fromkeys(with_chat_models(names, settings)))


def _orders(text: str) -> tuple[Order, ...]:
    from screentest.judges.cases import Order

    if text not in ("both", "first"):
        raise BadOption.of("orders", text, "both or first")
    return tuple(Order) if text == "both" else (Order.AS_GIVEN,)


def _folders(testbeds: Testbeds) -> list[Path]:
    beds = [testbeds] if isinstance(testbeds, str | PathLike | BuiltTestbed) else testbeds
    if not beds:
        raise BadOption(
            "there are no pairs to judge", advice="Give `testbeds`, folders made by `build`."
        )
    return [bed.folder if isinstance(bed, BuiltTestbed) else Path(bed) for bed in beds]


def _cases(
    folders: Sequence[Path], aspects: Sequence[str], placebos: bool, kept: Sequence[File] = ()
) -> list[Case]:
    from screentest.analysis.judges.cases import read_cases

    if not folders:
        return []
    named = aspects_of(aspects)
    return read_cases(folders, aspects=named, placebos=placebos, kept=tuple(map(Path, kept)))


def _prompt_changes(names: Sequence[str]) -> tuple[PromptChange, ...]:
    from screentest.analysis.judges.plan import PromptChange

    if tuple(names) == ("all",):
        return tuple(PromptChange)
    try:
        return tuple(PromptChange(name) for name in names)
    except ValueError as error:
        raise BadOption(f"{error}", advice=f"Probes: {', '.join(PromptChange)}.") from None


def _people(votes: Path, cases: Sequence[Case]) -> dict[Aspect, float]:
    """Share of people who prefer the intact video, on the pairs that the table counts."""
    from screentest.judges.cases import strongest
    from screentest.judges.votes import pair_votes, share_for_intact

    videos = [case.second.video for case in strongest(cases)]
    shares = share_for_intact(pair_votes(votes), videos)
    if not shares:
        raise BadOption(
            f"{votes} has no vote on a pair of these testbeds",
            advice="The column video has the path of the changed video in its testbed.",
        )
    return shares


def _must_be_chart(file: File | None) -> None:
    """Refuse a file that no chart can be written to, before any work is done."""
    if file is not None:
        from screentest.present.charts import must_be_chart

        must_be_chart(Path(file))


def _certificates(
    folder: Path, done: Certification, chart: File | None, models: str = "", spent: str = ""
) -> Certificates:
    """Draw the chart where one is wanted, and give what was certified."""
    if chart is not None:
        from screentest.analysis.judges.matrix import matrix
        from screentest.present.charts import matrix_chart, save

        save(matrix_chart(matrix(done.certificates)), Path(chart))
    made = Certificates(
        folder, done.certificates, done.pending, models, spent=spent, lost=done.lost
    )
    return Stopped.unless_done(made, done.exit_code)
