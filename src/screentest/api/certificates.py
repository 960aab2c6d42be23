"""Certifying judges on testbeds and on people's votes; asking one about two videos."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

from screentest.api.options import (
    WorkOptions,
    aspects_of,
    engine_of,
    limits_of,
    path_of,
    progress_of,
    refuse_unknown,
    retry_of,
    script_of,
)
from screentest.core.aspects import BUILTIN_ASPECTS, Aspect
from screentest.core.errors import BadOption, Stopped
from screentest.core.item import Item
from screentest.core.metric import Metric
from screentest.core.registry import build
from screentest.core.signature import value_name
from screentest.present.results import BuiltTestbed, Certificates, Verdicts
from screentest.run import RunReader, RunStore
from screentest.run.database import FILE
from screentest.run.session import MODELS, File, cap_of, settings_of

if TYPE_CHECKING:
    from screentest.analysis.forecast import Forecast
    from screentest.analysis.judges.plan import Certification, Plan, PromptChange
    from screentest.judges.cases import Case


def certify(
    judges: str | Sequence[str],
    testbeds: File | BuiltTestbed | Sequence[File | BuiltTestbed] = (),
    *,
    people: File | None = None,
    form: str = "",
    scores: File | None = None,
    lower: Sequence[str] = (),
    videos: File | None = None,
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

    With ``suite`` every value of its metrics is a judge, too. ``orders`` is both, or first: the
    original first. ``probes`` are other words for the same videos (prompts swapped, shuffled or
    empty, definitions hinted, or all), for ``probe_pairs`` pairs of each aspect. ``human`` are
    votes of people to stand beside, ``kept`` what their filter left. ``chart`` draws judges by
    aspects. Files above ``max_file_size`` GB are not read.

    ``people`` is a release of people's votes on pairs, instead of testbeds; ``form`` says which
    where its files do not. Its videos are in the folder ``videos``; or instead of judges ``scores``
    is a file of numbers that some other tool gave them, of which less is better for ``lower``.
    """
    from screentest.analysis.judges.matrix import matrix
    from screentest.analysis.judges.plan import certify as run_certify
    from screentest.present.charts import matrix_chart, must_be_chart, save

    refuse_unknown(certify, work)
    if chart is not None:
        must_be_chart(Path(chart))
    names = _judges(judges, suite, orders, needed=scores is None)
    folders = _testbeds(testbeds)
    _one_kind_of_pairs(names, folders, people, scores, videos, [form, *lower], kept, human, probes)
    settings = settings_of(work, limits=limits_of(max_file_size))
    if people is not None:
        asked = _AskedOfPeople(Path(people), form, tuple(aspects), path_of(scores), tuple(lower))
        work["settings"] = settings
        done, used, spent = _against_people(
            asked, names, path_of(videos), Path(out), orders, repeats, work
        )
        if chart is not None:
            save(matrix_chart(matrix(done.certificates)), Path(chart))
        made = Certificates(
            Path(out), done.certificates, done.pending, used, spent=spent, lost=done.lost
        )
        return Stopped.unless_done(made, done.exit_code)
    plan = _certification(
        names,
        folders,
        aspects=aspects,
        orders=orders,
        repeats=repeats,
        probes=probes,
        probe_pairs=probe_pairs,
        placebos=placebos,
        human=human,
        kept=kept,
    )
    cap = cap_of(work, settings)
    folder = Path(out)
    arguments = {"judges": list(names), "testbeds": [str(one.absolute()) for one in folders]}
    with (
        engine_of(work, settings) as (engine, settings),
        RunStore(
            folder, command="certify", arguments=arguments, max_cost=cap, retry=retry_of(work)
        ) as store,
    ):
        done = run_certify(
            store, plan, settings, engine=engine, progress=progress_of(work.get("progress"))
        )
        used, spent = store.note(MODELS), str(store.spending())
    if chart is not None:
        save(matrix_chart(matrix(done.certificates)), Path(chart))
    made = Certificates(
        folder,
        done.certificates,
        done.pending,
        used["summary"],
        spent=spent,
        lost=done.lost,
    )
    return Stopped.unless_done(made, done.exit_code)


def forecast(
    judges: str | Sequence[str],
    testbeds: File | BuiltTestbed | Sequence[File | BuiltTestbed],
    *,
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
    """Forecast ``certify`` with the same options, and what it could settle; starts nothing.

    Where ``out`` is a run that has certified a judge before, its calls are taken as a measure.
    """
    from screentest.analysis.forecast import forecast_certify
    from screentest.analysis.judges.plan import read_certificates

    refuse_unknown(forecast, work)
    plan = _certification(
        _judges(judges, suite, orders),
        _testbeds(testbeds),
        aspects=aspects,
        orders=orders,
        repeats=repeats,
        probes=probes,
        probe_pairs=probe_pairs,
        placebos=placebos,
    )
    known = {}
    if (Path(out) / FILE).is_file():
        with RunReader(Path(out)) as run:
            known = {one.judge: one.cost for one in read_certificates(run)}
    return forecast_certify(plan, settings_of(work), known)


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

    ``script`` is a file with what both were asked to show, one caption a line. ``out`` is a folder
    for what was said: the same call again asks nobody twice. Without it nothing is kept. A metric
    that goes by one value, whatever the aspect, is asked once where no ``aspects`` are named.
    """
    from screentest.judges.cases import Case
    from screentest.judges.from_metrics import value_of
    from screentest.judges.verdicts import judge_of, verdicts_of

    refuse_unknown(judge_videos, work)
    settings = settings_of(work)
    captions = script_of(Path(script)) if script is not None else None
    text = prompt or (captions.text if captions is not None else "")
    one = Item("first", Path(first), text, captions)
    two = Item("second", Path(second), text, captions)
    asked, by = aspects_of(aspects), ""
    if asked is None:
        asked = list(BUILTIN_ASPECTS)
        by = value_of(judge_of(judge).judge, asked)
        asked = asked[:1] if by else asked
    cases = [Case("pair", aspect, text, one, two) for aspect in asked]
    cap = cap_of(work, settings)
    arguments = {"judge": judge, "first": str(first), "second": str(second)}
    with (
        nullcontext(out) if out is not None else TemporaryDirectory("-screentest") as folder,
        engine_of({"workers": 1, **work}, settings) as (engine, settings),
        RunStore(
            Path(folder), command="judge", arguments=arguments, max_cost=cap, retry=retry_of(work)
        ) as store,
    ):
        found = verdicts_of(
            store, cases, judge, settings, engine=engine, progress=progress_of(work.get("progress"))
        )
        used, spent = store.note(MODELS), str(store.spending())
    return Verdicts(path_of(out), found, used["summary"], spent, by)


def _judges(
    judges: str | Sequence[str], suite: str, orders: str, *, needed: bool = True
) -> tuple[str, ...]:
    """The judges that are named, and those that a suite brings."""
    from screentest.judges.verdicts import judge_of

    if orders not in ("both", "first"):
        raise BadOption(f"invalid --orders {orders!r}: must be both or first")
    given = (judges,) if isinstance(judges, str) else tuple(judges)
    names = (*given, *(_judges_of_suite(suite) if suite else ()))
    if not names and needed:
        raise BadOption("there is no judge to certify", advice="Name judges, or give --suite.")
    for name in names:
        judge_of(name)  # a misspelled name leaves no run behind
    return names


def _judges_of_suite(suite: str) -> list[str]:
    """Every value that the metrics of a suite give, each as a judge: ``metric.output:option=…``."""
    from screentest.analysis.suites import read_suite

    judges: list[str] = []
    for spec in read_suite(suite).metrics:
        thing = build("metric", spec).thing
        assert isinstance(thing, Metric)
        judges += [value_name(spec, output) for output in thing.info.outputs]
    return judges


def _testbeds(given: File | BuiltTestbed | Sequence[File | BuiltTestbed]) -> list[Path]:
    beds = [given] if isinstance(given, str | PathLike | BuiltTestbed) else given
    return [bed.folder if isinstance(bed, BuiltTestbed) else Path(bed) for bed in beds]


def _certification(
    names: tuple[str, ...],
    folders: Sequence[Path],
    *,
    aspects: Sequence[str],
    orders: str,
    repeats: int,
    probes: Sequence[str],
    probe_pairs: int,
    placebos: bool,
    human: File | None = None,
    kept: Sequence[File] = (),
) -> Plan:
    """What is to be certified on testbeds."""
    from screentest.analysis.judges.cases import read_cases
    from screentest.analysis.judges.plan import Plan
    from screentest.judges.cases import Order

    cases = read_cases(
        folders, aspects=aspects_of(aspects), placebos=placebos, kept=tuple(map(Path, kept))
    )
    return Plan(
        cases=tuple(cases),
        judges=names,
        orders=tuple(Order) if orders == "both" else (Order.AS_GIVEN,),
        repeats=repeats,
        prompt_changes=_prompt_changes(probes),
        probe_pairs=probe_pairs,
        human=None if human is None else _people(Path(human), cases),
    )


def _prompt_changes(names: Sequence[str]) -> tuple[PromptChange, ...]:
    from screentest.analysis.judges.plan import PromptChange

    if tuple(names) == ("all",):
        return tuple(PromptChange)
    try:
        return tuple(PromptChange(name) for name in names)
    except ValueError as error:
        raise BadOption(f"{error}", advice=f"Probes: {', '.join(PromptChange)}.") from None


def _one_kind_of_pairs(
    judges: Sequence[str],
    testbeds: Sequence[Path],
    people: File | None,
    scores: File | None,
    videos: File | None,
    of_people: Sequence[str],
    kept: Sequence[File],
    human: File | None,
    probes: Sequence[str],
) -> None:
    """Raise where options of testbeds and of people's votes are mixed."""
    if people is None:
        if scores is not None or videos is not None or any(of_people):
            raise BadOption(
                "--scores, --videos, --form and --lower go with people's votes",
                advice="Give --people RELEASE.",
            )
        if not testbeds:
            raise BadOption(
                "there are no pairs to judge",
                advice="Give --testbed DIR, or --people RELEASE.",
            )
        return
    if testbeds:
        raise BadOption(
            "--testbed and --people are two kinds of pairs",
            advice="Certify on each in a run of its own; `compare` holds them side by side.",
        )
    if kept or human is not None or probes:
        raise BadOption("--kept, --human and --probes are for testbeds")
    if (scores is None) == (not judges):
        raise BadOption("give judges or --scores, not both")
    if scores is not None and videos is not None:
        raise BadOption("--scores need no --videos")
    if scores is None and videos is None:
        raise BadOption(
            "judges need the videos of the release",
            advice="Give --videos DIR, or --scores FILE instead of judges.",
        )


@dataclass(frozen=True)
class _AskedOfPeople:
    """Which votes, and which scores from elsewhere."""

    release: Path
    form: str
    aspects: tuple[str, ...]
    scores: Path | None
    lower: tuple[str, ...]


def _against_people(
    asked: _AskedOfPeople,
    judges: Sequence[str],
    videos: Path | None,
    out: Path,
    orders: str,
    repeats: int,
    work: WorkOptions,
) -> tuple[Certification, str, str]:
    """Certificates against people's votes, and a line each on models and what was spent."""
    from screentest.analysis.people.certify import certify_people, certify_scores
    from screentest.analysis.people.releases import read_release
    from screentest.analysis.people.score_tables import read_scores
    from screentest.judges.cases import Order

    release = read_release(asked.release, asked.form, asked.aspects)
    arguments = {"judges": list(judges), "people": str(asked.release.absolute())}
    if asked.scores is not None:
        tables, problems = read_scores(asked.scores, asked.lower)
        arguments["scores"] = str(asked.scores.absolute())
        with RunStore(out, command="certify", arguments=arguments) as store:
            return certify_scores(store, release, tables, problems), "", ""
    assert videos is not None
    settings = settings_of(work)
    cap = cap_of(work, settings)
    with (
        engine_of(work, settings) as (engine, settings),
        RunStore(
            out, command="certify", arguments=arguments, max_cost=cap, retry=retry_of(work)
        ) as store,
    ):
        done = certify_people(
            store,
            release,
            judges,
            videos,
            settings,
            orders=tuple(Order) if orders == "both" else (Order.AS_GIVEN,),
            repeats=repeats,
            engine=engine,
            progress=progress_of(work.get("progress")),
        )
        return done, store.note(MODELS)["summary"], str(store.spending())


def _people(votes: Path, cases: Sequence[Case]) -> dict[Aspect, float]:
    """What people say of the very pairs that the table of aspects counts."""
    from screentest.judges.cases import strongest
    from screentest.judges.human import share_for_intact
    from screentest.judges.votes import pair_votes

    videos = [case.second.video for case in strongest(cases)]
    shares = share_for_intact(pair_votes(votes), videos)
    if not shares:
        raise BadOption(
            f"{votes} has no vote on a pair of these testbeds",
            advice="`video` is the path of the changed video in its testbed.",
        )
    return shares
