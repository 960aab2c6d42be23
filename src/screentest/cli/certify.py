"""``screentest certify``, ``certify-votes``, ``certify-scores``, ``judge``: ask and test judges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import typer

import screentest
from screentest._util.text import plural
from screentest.api.certificates import forecast, judge_videos
from screentest.cli.build import print_built, run_build
from screentest.cli.console import out as console
from screentest.cli.console import print_json
from screentest.cli.errors import until_stopped
from screentest.cli.options import (
    ASPECTS,
    ENGINE,
    MODELS,
    RETRY,
    WORKERS,
    AllOption,
    JsonOption,
    accepted,
    names,
    option,
    shares,
)
from screentest.cli.tables import (
    print_facts,
    print_heading,
    print_indented,
    print_lost,
    print_models,
    print_screen,
    show,
)
from screentest.core.errors import BadOption
from screentest.present.certificates import certificate_screen, headline_of_all
from screentest.present.forecast import forecast_tables
from screentest.present.results import BuiltTestbed, Certificates
from screentest.present.results.certificates import paper_tables


@shares(
    MODELS,
    WORKERS,
    ENGINE,
    RETRY,
    job=screentest.certify,
    aspects=ASPECTS,
    probes=names("none", "none, all, or of swapped,shuffled,empty,hinted: other prompts."),
)
def certify(
    judges: list[str] | None = None,
    testbeds: list[Path] = [],  # noqa: B006
    videos: Path | None = None,
    dry_run: bool = False,
    every: AllOption = False,
    as_json: JsonOption = False,
    **options: Any,
) -> None:
    """Measure how often judges prefer the original video of a pair."""
    if not testbeds and videos is None:
        raise BadOption(
            "there are no pairs to judge",
            advice="Give --testbed, a folder made by `build`, or videos with --on.",
        )
    if dry_run:
        given = accepted(forecast, options)
        expected = forecast(judges or (), testbeds, videos=videos, **given)
        show(*forecast_tables(expected), as_json=as_json)
        return
    beds: list[Path | BuiltTestbed] = [*testbeds]
    if videos is not None:
        shared = {name: options[name] for name in (*MODELS, *WORKERS, *RETRY) if name in options}
        aspects, folder = options["aspects"] or "all", Path(options["out"]) / "testbed"
        build = partial(screentest.build, videos, out=folder, aspects=aspects, **shared)
        printing = (lambda _: None) if as_json else partial(print_built, brief=True)
        beds.append(run_build(build, printing))
    job = partial(screentest.certify, judges or (), beds, **options)
    _run(job, brief=bool(options["suite"]), every=every, as_json=as_json)


@shares(MODELS, WORKERS, ENGINE, RETRY, job=screentest.certify_votes, aspects=ASPECTS)
def certify_votes(
    votes: Path,
    videos: Path,
    judges: list[str] | None = None,
    every: AllOption = False,
    as_json: JsonOption = False,
    **options: Any,
) -> None:
    """Compare judges with people's votes."""
    job = partial(screentest.certify_votes, judges or (), votes, videos, **options)
    _run(job, brief=bool(options["suite"]), every=every, as_json=as_json)


@shares(
    job=screentest.certify_scores,
    aspects=ASPECTS,
    lower=names("none", "The scores of which less is better, with commas."),
)
def certify_scores(
    scores: Path, votes: Path, every: AllOption = False, as_json: JsonOption = False, **options: Any
) -> None:
    """Compare scores of another tool with people's votes."""
    job = partial(screentest.certify_scores, scores, votes, **options)
    _run(job, brief=False, every=every, as_json=as_json)


def _run(job: Callable[[], Certificates], *, brief: bool, every: bool, as_json: bool) -> None:
    """Do the job and print its certificates; ``brief``: as one table."""
    made, exit_code = until_stopped(job)
    if as_json:
        print_json(made.documents())
    else:
        _print(made, brief=brief, every=every)
    if exit_code or not any(certificate.overall.ok for certificate in made.certificates):
        raise typer.Exit(exit_code or 1)


def _print(made: Certificates, *, brief: bool, every: bool) -> None:
    if brief:
        print_heading(headline_of_all(made.certificates))
        show(made.matrix())
        if every:
            print_heading("Signatures")
            for certificate in made.certificates:
                print_indented(f"{certificate.title}: {certificate.signature}")
    else:
        _print_certificates(made, every=every)
        if len(made.certificates) > 1 or every:
            show(*paper_tables(made.certificates))
    _print_lost(made)
    print_models(made.models, made.spent)
    words = ""
    if made.pending:
        words = f"{plural(made.pending, 'judgement')} left: start the same command again"
    elif any(certificate.overall.ok for certificate in made.certificates):
        words = f"Everything measured: --all, or screentest report {made.run}"
    if words:
        print_indented(words, indent=0, style="dim")


def _print_certificates(made: Certificates, *, every: bool) -> None:
    for certificate, table in zip(made.certificates, made.tables(), strict=True):
        console().print()
        print_screen(certificate_screen(certificate, table))
        if every:
            print_facts(made.details(certificate.judge))
            print_indented(certificate.signature)


def _print_lost(made: Certificates) -> None:
    """Judgements without a value and why; the same words of several judges once."""
    judges: dict[tuple[str, str], list[str]] = {}
    for row in made.not_judged.records():
        words = f"{row['reason']}: {row['detail']}" if row["detail"] else str(row["reason"])
        who = f"{row['judge']}, {row['judgements']:,} of {row['total']:,}"
        judges.setdefault((words, str(row["advice"] or "")), []).append(who)
    rows = [
        (few if len(few := "; ".join(who)) < 100 else f"{len(who):,} judges", words, advice)
        for (words, advice), who in judges.items()
    ]
    print_lost(rows, "Not judged")


@shares(
    MODELS,
    ENGINE,
    RETRY,
    job=judge_videos,
    aspects=ASPECTS,
    out=option(Path, Path("judged"), "The run's folder.", metavar="DIR"),
)
def judge(
    name: str, first: Path, second: Path, as_json: JsonOption = False, **options: Any
) -> None:
    """Ask a judge which of two videos is better, in both orders."""
    verdicts = judge_videos(name, first, second, **options)
    show(verdicts.table(), as_json=as_json)
    if not as_json:
        print_indented(f"First: {first}. Second: {second}.", indent=0)
        print_models(verdicts.models, verdicts.spent)
    if not verdicts.answered:
        raise typer.Exit(1)
