"""The jobs of screentest: score, build, certify, compare, report. The commands call these.

>>> import screentest
>>> from screentest.sample import sample_videos
>>> film = sample_videos()[1].item
>>> scores = screentest.score(film, metrics=["contrast", "frozen"], out="scores")
>>> scores.value("frenchgp_1906", "contrast").outcome.unwrap().value.__round__(2)
0.31
>>> bed = screentest.build(film, out="bed", aspects=["aesthetics"], clips=1, long_side=160)
>>> made = screentest.certify("contrast", bed, out="certificates")
>>> made.of("contrast").overall.unwrap().value
1.0
>>> screentest.report(scores, made, out="report.html").page
PosixPath('report.html')

What is finished stays in the run's folder: the same call again goes on where the last one was.
Ctrl-C finishes what is in flight and raises ``Stopped``, a KeyboardInterrupt that has what there
is by then.

Each job imports what it needs when it is called: scoring loads nothing that builds testbeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, Unpack

from screentest.core.aspects import BUILTIN_ASPECTS, Aspect, all_aspects
from screentest.core.calls import Progress
from screentest.core.errors import BadOption, Stopped, UnknownName
from screentest.core.item import Clip, Item, Script
from screentest.core.signature import parse, write_options
from screentest.manifests.importers import read_inputs
from screentest.models.weights import cache_folder
from screentest.results import (
    BuiltTestbed,
    Certificates,
    Comparison,
    ItemScores,
    Page,
    Scores,
    Verdicts,
)
from screentest.run import Engine, Retry, RunReader, RunStore
from screentest.run.database import FILE
from screentest.run.session import (
    MODELS,
    File,
    ModelOptions,
    Settings,
    cap_of,
    open_engine,
    settings_of,
)
from screentest.scores.evaluators import metric_names, resolve
from screentest.scores.remote import Cache
from screentest.scores.results import read_results
from screentest.scores.suite import SuiteItems, read_suite
from screentest.scores.tasks import score_items
from screentest.video.limits import Limits

if TYPE_CHECKING:
    from fractions import Fraction

    from screentest.certificates.forecast import Forecast
    from screentest.certificates.plan import Certification, Plan, PromptChange
    from screentest.judges.cases import Case
    from screentest.run import Coverage
    from screentest.testbeds.options import BuildOptions

__all__ = ["build", "certify", "compare", "report", "score"]

Videos: TypeAlias = File | Item | Iterable[File | Item]
"""Manifests, videos, folders of videos, items; one or several."""


class WorkOptions(ModelOptions, total=False):
    """Models, and who does the work."""

    workers: int | None
    """Processes; one per processor where not given."""
    engine: Engine | str
    """``local``, ``ray``, or an engine that is open already."""
    address: str
    """The Ray cluster."""
    gpus: float
    """On Ray: GPUs, or the part of one, for each host of models."""
    progress: Progress | None
    retry: str
    """Which failures of earlier starts are tried again: transient, all or none."""


def score(
    videos: Videos = (),
    *,
    suite: str = "core",
    metrics: str | Sequence[str] = (),
    prompt: str = "",
    data: File | None = None,
    generated: File | None = None,
    model_name: str = "",
    out: File = "scores",
    detector: str = "default",
    allow_damaged: bool = False,
    max_file_size: float = 100.0,
    allow_remote: bool = False,
    cache_limit: float = 20.0,
    **work: Unpack[WorkOptions],
) -> Scores:
    """Score videos with a suite (``name`` or ``name:option=value,…``), or with single metrics.

    ``data`` are a suite's own files, such as its prompts; ``generated`` the folder of videos that
    the generator ``model_name`` made of them. With ``allow_remote`` videos may have addresses
    (http, s3, gs); at most ``cache_limit`` GB of them are kept at a time. Files above
    ``max_file_size`` GB are not read.
    """
    retry = _retry(work)
    given = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    read = _suite_items(suite, data, generated, model_name, metrics=bool(given))
    items = _items(videos, prompt)
    if not items and not read.items:
        raise BadOption("there is nothing to score", advice="Give a manifest, or videos.")
    if read.options:
        suite = _with_options(suite, read.options)
    names = metric_names(given) if given else list(read_suite(suite).metrics)
    for name in names:
        resolve(name)  # a misspelled name leaves no run behind
    settings = settings_of(
        work,
        detector=detector,
        allow_damaged=allow_damaged,
        limits=_limits(max_file_size),
    )
    cap = cap_of(work, settings)
    folder = Path(out)
    arguments = {"suite": "" if given else suite, "metrics": names, "models": settings.models}
    with (
        _engine(work, settings) as (engine, settings),
        RunStore(folder, command="score", arguments=arguments, max_cost=cap, retry=retry) as store,
    ):
        done = score_items(
            store,
            [*items, *read.items],
            names,
            settings,
            engine=engine,
            progress=work.get("progress"),
            cache=Cache(cache_folder() / "videos", round(cache_limit * 1e9))
            if allow_remote
            else None,
        )
        results = read_results(store)
        used = store.note(MODELS)
    scores = Scores(
        folder,
        results,
        pending=done.pending,
        changed=done.changed,
        missing=read.missing,
        problems=read.problems,
        models=used["summary"],
    )
    return Stopped.unless_done(scores, done.exit_code)


def build(
    films: Videos,
    *,
    out: File = "testbed",
    kind: str = "films",
    operators: str | Sequence[str] = "paper",
    aspects: str | Sequence[str] = "all",
    placebos: str | Sequence[str] = (),
    seed: int = 7,
    clips: int | Sequence[int] = 5,
    min_clips: int | None = None,
    severities: Sequence[float] = (1.0,),
    backgrounds: File | None = None,
    long_side: int | None = 512,
    fps: str | int | float | Fraction | None = None,
    extract: str | None = None,
    preset: str | None = None,
    categories: Sequence[str] = (),
    join: int = 1,
    form: str | None = None,
    timeout: float = 14400,
    max_file_size: float = 100.0,
    **work: Unpack[WorkOptions],
) -> BuiltTestbed:
    """Build a testbed of captioned films: pairs of an intact and a harmed video.

    With ``kind="prompts"`` no video is made: the pairs are the same video under its own prompt and
    under one that is false of it. ``films`` are then all videos that have prompts, ``operators``
    the changes (swapped, object, color, number, place, action, order; all of them by default),
    and of the other options only ``seed`` and ``form`` mean anything.

    ``films`` are items, a manifest, or the folder of a download (``form`` says which).
    ``operators`` are the paper's ten, ``family``, ``all`` or names; ``aspects`` narrows them
    down; ``placebos`` may be ``all``. A film with fewer eligible clips than ``clips`` is skipped
    with the reason, or harmed in those it has where they are ``min_clips``. ``join`` makes one
    source of so many videos; ``extract`` says who reads the captions: rules, or chat, which also
    sorts sources into ``categories``. ``preset="paper"`` fixes all this, and the models, as the
    paper has it. Films above ``max_file_size`` GB, 100 at most, are skipped unread.
    """
    from screentest.testbeds.builder import build_testbed
    from screentest.testbeds.catalogue import choose_operators
    from screentest.testbeds.options import BuildOptions, frame_rate, placebo_specs
    from screentest.testbeds.preset import preset_named
    from screentest.testbeds.sources import check_models

    if kind == "prompts":
        usual = {
            "aspects": (aspects, "all"),
            "placebos": (tuple(placebos), (), tuple("none")),
            "clips": (clips, 5, (5,)),
            "severities": (tuple(severities), (1.0,)),
            "long-side": (long_side, 512),
            "min-clips": (min_clips, None),
            "backgrounds": (backgrounds, None),
            "fps": (fps, None),
            "extract": (extract, None),
            "preset": (preset, None),
            "categories": (tuple(categories), ()),
            "join": (join, 1),
        }
        given = [name for name, (value, *without) in usual.items() if value not in without]
        if given:
            raise BadOption(f"--{given[0]} says how films are harmed, and prompts harm none")
        return _build_prompts(films, Path(out), operators, seed, form, work)
    if kind != "films":
        raise BadOption(f"invalid kind of testbed {kind!r}: must be films or prompts")
    settings, chat = _build_settings(work)
    fixed = preset_named(preset) if preset else None
    if fixed is not None:
        fixed.takes(
            operators=operators if isinstance(operators, str) else ",".join(operators),
            clips=(clips,) if isinstance(clips, int) else tuple(clips),
            severity=tuple(severities),
            min_clips=min_clips,
            long_side=long_side or 0,
            fps=frame_rate(fps),
            extract=extract,
        )
        operators, fps, extract = fixed.operators, fixed.options.rate, fixed.options.extract
    options = BuildOptions(
        degradations=_with_backgrounds(choose_operators(operators, aspects), backgrounds),
        placebos=placebo_specs(placebos or "none"),
        seed=seed,
        clips=(clips,) if isinstance(clips, int) else tuple(clips),
        least_clips=min_clips,
        severities=tuple(severities),
        long_side=long_side or None,
        rate=frame_rate(fps),
        extract=extract or "rules",
        models=tuple(choice for choice in settings.models if choice.role != "chat"),
        device=settings.device,
    )
    if fixed is not None:
        options = fixed.applied(options)
        fixed.must_be_here(options, chat=chat is not None, backgrounds=backgrounds is not None)
    if not 1 <= timeout <= 10**7:  # NaN is neither
        raise BadOption(f"invalid timeout {timeout:g}: must be 1 second or more")
    if not 0 < max_file_size <= 100:
        raise BadOption(f"invalid file size {max_file_size:g} GB: must be in (0, 100]")
    limits = replace(_limits(max_file_size), wall_seconds=timeout)
    check_models(options)
    cap = cap_of(work, settings)
    folder, progress = Path(out), work.get("progress")
    sources = _Sources(films, form, join, folder, options, work, limits)
    with _engine(work, settings, timeout=timeout) as (engine, _):
        done = build_testbed(
            sources.joined.items,
            folder,
            options,
            chat=chat,
            categories=categories,
            max_cost=cap,
            engine=engine,
            progress=progress,
            lost=sources.joined.failed,
            limits=limits,
            retry=_retry(work),
        )
    remarks = [*sources.remarks, *done.remarks]
    if done.changed:
        remarks.append(f"{done.changed} results thrown away: their source changed meanwhile")
    made = BuiltTestbed(
        folder, done.testbed, tuple(remarks), done.made, done.reused, changed=done.changed
    )
    return Stopped.unless_done(made, done.exit_code)


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
    """Measure how often judges, or metrics, prefer the intact video of a pair.

    With ``suite`` every value of its metrics is a judge, too. ``orders`` is both, or first: the
    intact video first. ``probes`` are other words for the same videos (prompts swapped, shuffled or
    empty, definitions hinted, or all), for ``probe_pairs`` pairs of each aspect. ``human`` are
    votes of people to stand beside, ``kept`` what their filter left. ``chart`` draws judges by
    aspects. Files above ``max_file_size`` GB are not read.

    ``people`` is a release of people's votes on pairs, instead of testbeds; ``form`` says which
    where its files do not. Its videos are in the folder ``videos``; or instead of judges ``scores``
    is a file of numbers that some other tool gave them, of which less is better for ``lower``.
    """
    from screentest.certificates.matrix import matrix
    from screentest.certificates.plan import certify as run_certify
    from screentest.reports.charts import matrix_chart, must_be_chart, save

    if chart is not None:
        must_be_chart(Path(chart))
    names = _judges(judges, suite, orders, needed=scores is None)
    folders = _testbeds(testbeds)
    _one_kind_of_pairs(names, folders, people, scores, videos, [form, *lower], kept, human, probes)
    settings = settings_of(work, limits=_limits(max_file_size))
    if people is not None:
        asked = _AskedOfPeople(Path(people), form, tuple(aspects), _path(scores), tuple(lower))
        work["settings"] = settings
        done, used = _against_people(asked, names, _path(videos), Path(out), orders, repeats, work)
        if chart is not None:
            save(matrix_chart(matrix(done.certificates)), Path(chart))
        made = Certificates(Path(out), done.certificates, done.pending, used)
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
        _engine(work, settings) as (engine, settings),
        RunStore(
            folder, command="certify", arguments=arguments, max_cost=cap, retry=_retry(work)
        ) as store,
    ):
        done = run_certify(store, plan, settings, engine=engine, progress=work.get("progress"))
        used = store.note(MODELS)
    if chart is not None:
        save(matrix_chart(matrix(done.certificates)), Path(chart))
    made = Certificates(folder, done.certificates, done.pending, used["summary"])
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
    """What ``certify`` with the same options would take, and what it could tell; starts nothing.

    Where ``out`` is a run that has certified a judge before, its calls are taken as a measure.
    """
    from screentest.certificates.forecast import forecast as foretell
    from screentest.certificates.plan import read_certificates

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
    return foretell(plan, settings_of(work), known)


def judge_videos(
    judge: str,
    first: File,
    second: File,
    *,
    prompt: str = "",
    script: File | None = None,
    aspects: Sequence[str] = (),
    out: File = "judged",
    **work: Unpack[WorkOptions],
) -> Verdicts:
    """Ask a judge which of two videos is better, in both orders of presentation.

    ``script`` is a file with what both were asked to show, one caption a line.
    """
    from screentest.judges.cases import Case
    from screentest.judges.verdicts import verdicts_of

    settings = settings_of(work)
    captions = _script(Path(script)) if script is not None else None
    text = prompt or (captions.text if captions is not None else "")
    one = Item("first", Path(first), text, captions)
    two = Item("second", Path(second), text, captions)
    cases = [
        Case("pair", aspect, text, one, two) for aspect in _aspects(aspects) or BUILTIN_ASPECTS
    ]
    cap = cap_of(work, settings)
    arguments = {"judge": judge, "first": str(first), "second": str(second)}
    with (
        _engine({"workers": 1, **work}, settings) as (engine, settings),
        RunStore(
            Path(out), command="judge", arguments=arguments, max_cost=cap, retry=_retry(work)
        ) as store,
    ):
        found = verdicts_of(
            store, cases, judge, settings, engine=engine, progress=work.get("progress")
        )
        used = store.note(MODELS)
    return Verdicts(Path(out), found, used["summary"])


def compare(
    *runs: File | Scores | Certificates, judges: str | Sequence[str] = (), by: str = ""
) -> Comparison:
    """Compare judges of runs of certify, or systems of runs of score, on what all of them have.

    One run, or two of a kind. ``judges`` are those to compare, where a run has several;
    ``by`` is ``GROUP`` or ``GROUP=A,B…``: groups of items of one run of score.
    """
    from screentest.certificates.compare import compare_runs

    names = metric_names([judges] if isinstance(judges, str) else judges)
    return Comparison(compare_runs(_folders(runs), names, by))


def report(
    *runs: File | Scores | Certificates,
    out: File = "report.html",
    tables: File | None = None,
    formats: Sequence[str] = ("md", "tex", "csv", "parquet"),
    by: str = "",
    suites: Sequence[str] = (),
    title: str = "screentest report",
    pictures: int = 200,
    embed: bool = False,
    progress: Progress | None = None,
) -> Page:
    """Write one page of one or several runs, and where ``tables`` is given every table.

    ``by`` is the group that the leaderboard compares; ``suites`` are added up besides those that
    the runs were made with. ``pictures`` says for how many videos the worst moments are pictured;
    ``embed`` puts the videos into the page.
    """
    from screentest.reports.data import read_report
    from screentest.reports.formats import write_tables
    from screentest.reports.html import PageOptions, write_html

    read = read_report(_folders(runs), by=by, suites=suites)
    page = Path(out)
    write_html(read, page, PageOptions(title, pictures, embed), progress=progress)
    written = write_tables(read, Path(tables), formats) if tables is not None else ()
    return Page(page, tuple(written))


def read_item(run: File, item: str = "", *, worst: int = 3) -> ItemScores:
    """What one video of a run got: ``item`` is its id, or how the id begins.

    ``worst`` is how many of the worst moments are wanted.
    """
    from screentest.reports.data import read_report
    from screentest.reports.drilldown import worst_moments

    read = read_report([Path(run)])
    chosen = _item_named(item, list(read.results.items))
    values = list(read.results.of_item(chosen).values())
    moments = tuple(worst_moments(read, values, worst))
    return ItemScores(read.results, read.results.items[chosen], moments)


def _item_named(text: str, known: Sequence[str]) -> str:
    """The item of that id, or the only one whose id begins so."""
    if text in known:
        return text
    found = [name for name in known if name.startswith(text)]
    if len(found) == 1:
        return found[0]
    near = found or get_close_matches(text, known, n=5, cutoff=0.5) or known
    more = f" and {len(near) - 5:,} more" if len(near) > 5 else ""
    what = f"{len(found):,} items begin with {text!r}" if found else f"there is no item {text!r}"
    if not text:
        what = "which item?"
    raise UnknownName(what, advice=f"Items: {', '.join(near[:5])}{more}.")


def export(
    run: File, target: File | BinaryIO, *, kind: str = "csv", partition: str = ""
) -> Coverage:
    """Write the records of a run as csv, json or parquet; ``partition`` makes a folder of parts."""
    from screentest.run.export import export as write
    from screentest.run.export import export_partitioned

    with RunReader(Path(run)) as reader:
        if not isinstance(target, str | PathLike):
            write(reader, kind, target)
        elif partition:
            export_partitioned(reader, partition, Path(target))
        else:
            write(reader, kind, Path(target))
        return reader.coverage()


def sample_films() -> list[Item]:
    """The films that come with the package."""
    from screentest.sample import sample_videos

    return [video.item for video in sample_videos()]


# ---- what the jobs share


def _retry(work: WorkOptions) -> str:
    wanted = work.get("retry", Retry.TRANSIENT.value)
    if wanted not in list(Retry):
        raise BadOption(f"invalid --retry {wanted!r}", advice=f"One of {', '.join(Retry)}.")
    return wanted


def _engine(
    work: WorkOptions, settings: Settings, *, timeout: float | None = None
) -> AbstractContextManager[tuple[Engine, Settings]]:
    return open_engine(
        work.get("engine") or "local",
        settings,
        workers=work.get("workers"),
        address=work.get("address", ""),
        gpus=work.get("gpus", 1.0),
        timeout=timeout,
    )


def _path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def _folders(runs: Sequence[File | Scores | Certificates]) -> list[Path]:
    return [one.run if isinstance(one, Scores | Certificates) else Path(one) for one in runs]


def _items(videos: Videos, prompt: str = "") -> list[Item]:
    given = [videos] if isinstance(videos, str | PathLike | Item) else list(videos)
    items = [one for one in given if isinstance(one, Item)]
    files = [Path(one) for one in given if not isinstance(one, Item)]
    return [*items, *(read_inputs(files, prompt) if files else [])]


def _aspects(names: Sequence[str]) -> list[Aspect] | None:
    """Aspects by name; None for all."""
    try:
        return [Aspect(name) for name in names] or None
    except ValueError as error:
        known = ", ".join(aspect.value for aspect in all_aspects())
        raise BadOption(f"{error}", advice=f"Aspects: {known}.") from None


# ---- score


def _suite_items(
    suite: str, data: File | None, generated: File | None, model_name: str, *, metrics: bool
) -> SuiteItems:
    """What a suite's own files hold; nothing where none are given."""
    if model_name and generated is None:
        raise BadOption("--model-name says who made --videos", advice="Give --videos DIR, too.")
    if data is None:
        if generated is not None:
            raise BadOption("--videos belong to a suite's prompts", advice="Give --data, too.")
        return SuiteItems(())
    if metrics:
        raise BadOption("--data belongs to a suite, not to single metrics")
    read = read_suite(suite).read
    if read is None:
        raise BadOption(f"the suite {suite} has no files of its own", advice="Give a manifest.")
    return read(Path(data), _path(generated), model_name)


def _with_options(spec: str, options: Mapping[str, str]) -> str:
    """A suite with more options.

    >>> _with_options("toy:level=7", {"records": "a,b.json"})
    'toy:level=7,records="a,b.json"'
    """
    name, given = parse(spec)
    return f"{name}:{write_options({**given, **options})}"


# ---- build


def _build_prompts(
    videos: Videos,
    out: Path,
    operators: str | Sequence[str],
    seed: int,
    form: str | None,
    work: WorkOptions,
) -> BuiltTestbed:
    from screentest.manifests.importers import read_corpus
    from screentest.testbeds.prompts import build_prompts, change_names

    changes = change_names("all" if operators in ("paper", ["paper"]) else operators)
    if form is not None and isinstance(videos, str | PathLike):
        items = list(read_corpus(Path(videos), form).items)
    else:
        items = _items(videos)
    done = build_prompts(items, out, changes, seed=seed, progress=work.get("progress"))
    return BuiltTestbed(out, done.testbed, done.remarks, done.made, done.reused)


class _Sources:
    """The films of a corpus in one file each, and what there is to know of them."""

    def __init__(
        self,
        films: Videos,
        form: str | None,
        join: int,
        out: Path,
        options: BuildOptions,
        work: WorkOptions,
        limits: Limits,
    ) -> None:
        from screentest.manifests.importers import Corpus, read_corpus
        from screentest.manifests.parted import in_groups_of
        from screentest.testbeds.join import Joined, join_sources

        if isinstance(films, str | PathLike):
            corpus = read_corpus(Path(films), form)
        else:
            corpus = Corpus("manifest", tuple(_items(films)))
        if join != 1 and corpus.parted:
            raise BadOption("the films of a Vript download are joined anyway: no --join")
        parted = corpus.parted if join == 1 else tuple(in_groups_of(corpus.items, join))
        whole = corpus.items if join == 1 else ()
        self.joined = Joined(whole)
        if parted:
            made = join_sources(
                parted,
                out.absolute(),
                long_side=options.long_side,
                gaps=bool(corpus.parted),
                workers=work.get("workers"),
                limits=limits,
                progress=work.get("progress"),
            )
            self.joined = replace(made, items=(*whole, *made.items))
        self.remarks = [*map(str, corpus.problems), *self.joined.faults]
        rest = len(corpus.items) % join
        if rest:
            left = ", ".join(item.id for item in corpus.items[-rest:])
            self.remarks.append(f"left out, too few to join: {left}")


def _limits(max_file_size: float) -> Limits:
    """Limits of decoding, with files of so many GB at most."""
    if not 1e-6 <= max_file_size <= 1e6:  # NaN is neither
        raise BadOption(f"invalid file size {max_file_size:g} GB: must be in [0.000001, 1000000]")
    return Limits(file_bytes=round(max_file_size * 1e9))


def _with_backgrounds(specs: tuple[str, ...], folder: File | None) -> tuple[str, ...]:
    """The degradations, with the folder of backgrounds."""
    if folder is None:
        return specs
    name = "background_consistency"
    if name not in specs:
        raise BadOption(
            f"--backgrounds is for {name}, which is not asked for",
            advice="Add it to --operators, or leave --backgrounds out.",
        )
    given = write_options({"folder": str(Path(folder).absolute())})
    return tuple(f"{name}:{given}" if spec == name else spec for spec in specs)


def _build_settings(work: ModelOptions) -> tuple[Settings, Settings | None]:
    """The settings, and those of the chat models where any was chosen."""
    from screentest.models.templates import Prompts

    chosen = settings_of({**work, "prompts": None, "prices": None}).models
    chats = tuple(choice for choice in chosen if choice.role == "chat")
    if not chats and (work.get("prompts") is not None or work.get("prices") is not None):
        raise BadOption(
            "--prompts and --prices are for a chat model, and there is none",
            advice="Add --model chat=openai:NAME.",
        )
    settings = settings_of(work)
    if not chats:
        return settings, None
    Prompts(settings.prompts)  # a folder that replaces nothing is refused now
    return settings, replace(settings, models=chats)


# ---- judge and certify


def _script(path: Path) -> Script:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"the script {path} cannot be read: {error}") from None
    captions = [line.strip() for line in lines if line.strip()]
    if not captions:
        raise BadOption(f"{path} has no captions", advice="Write one caption a line.")
    return Script(tuple(Clip(caption) for caption in captions))


def _judges(
    judges: str | Sequence[str], suite: str, orders: str, *, needed: bool = True
) -> tuple[str, ...]:
    """The judges that are named, and those that a suite brings."""
    from screentest.judges.from_metrics import judges_of_suite
    from screentest.judges.verdicts import judge_of

    if orders not in ("both", "first"):
        raise BadOption(f"invalid --orders {orders!r}: must be both or first")
    given = (judges,) if isinstance(judges, str) else tuple(judges)
    names = (*given, *(judges_of_suite(suite) if suite else ()))
    if not names and needed:
        raise BadOption("there is no judge to certify", advice="Name judges, or give --suite.")
    for name in names:
        judge_of(name)  # a misspelled name leaves no run behind
    return names


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
    from screentest.certificates.cases import read_cases
    from screentest.certificates.plan import Plan
    from screentest.judges.cases import Order

    cases = read_cases(
        folders, aspects=_aspects(aspects), placebos=placebos, kept=tuple(map(Path, kept))
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
    from screentest.certificates.plan import PromptChange

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
) -> tuple[Certification, str]:
    """Certificates against people's votes, and one line on the models that were used."""
    from screentest.certificates.people import certify_people, certify_scores
    from screentest.certificates.releases import read_release
    from screentest.judges.cases import Order
    from screentest.manifests.score_tables import read_scores

    release = read_release(asked.release, asked.form, asked.aspects)
    arguments = {"judges": list(judges), "people": str(asked.release.absolute())}
    if asked.scores is not None:
        tables, problems = read_scores(asked.scores, asked.lower)
        arguments["scores"] = str(asked.scores.absolute())
        with RunStore(out, command="certify", arguments=arguments) as store:
            return certify_scores(store, release, tables, problems), ""
    assert videos is not None
    settings = settings_of(work)
    cap = cap_of(work, settings)
    with (
        _engine(work, settings) as (engine, settings),
        RunStore(
            out, command="certify", arguments=arguments, max_cost=cap, retry=_retry(work)
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
            progress=work.get("progress"),
        )
        return done, store.note(MODELS)["summary"]


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
