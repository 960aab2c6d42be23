"""``screentest certify``: how far an evaluator can be trusted, measured on testbeds."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import screentest
from screentest import api
from screentest.cli.console import out as console
from screentest.cli.console import plural, print_json
from screentest.cli.errors import until_stopped
from screentest.cli.options import (
    ENGINE,
    MODELS,
    RETRY,
    WORKERS,
    AspectsOption,
    FileSizeOption,
    JsonOption,
    OutOption,
    SignatureOption,
    names_in,
    shares,
)
from screentest.cli.progress import watched
from screentest.cli.tables import (
    print_facts,
    print_heading,
    print_indented,
    print_lost,
    print_models,
    print_spent,
    rendered,
    show,
)
from screentest.core.errors import BadOption
from screentest.core.signature import short_signature
from screentest.present.certificates import claim_lines, headline, headline_of_all
from screentest.present.forecast import forecast_tables
from screentest.present.results import Certificates

PeopleOption = Annotated[
    Path | None,
    typer.Option(metavar="RELEASE", help="People's votes on pairs, instead of a testbed."),
]
FormOption = Annotated[
    str, typer.Option(metavar="NAME", help="What --people is, where its files do not say.")
]
VideosOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The videos that people voted on.")
]
ScoresOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Instead of judges: id,value from some other tool."),
]
LowerOption = Annotated[
    str, typer.Option(metavar="NAMES", help="Those of --scores of which less is better.")
]


@shares(MODELS, WORKERS, ENGINE, RETRY)
def certify(
    judges: Annotated[
        list[str] | None,
        typer.Argument(metavar="[JUDGE…]", help="Judges, or metrics: a better score wins."),
    ] = None,
    testbed: Annotated[
        list[Path] | None,
        typer.Option("--testbed", metavar="DIR", help="A folder made by build."),
    ] = None,
    people: PeopleOption = None,
    form: FormOption = "",
    videos: VideosOption = None,
    scores: ScoresOption = None,
    lower: LowerOption = "",
    suite: Annotated[
        str, typer.Option(metavar="NAME", help="Every value of a suite's metrics, as a judge.")
    ] = "",
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw judges by aspects: .svg, .png or .pdf."),
    ] = None,
    out: OutOption = Path("certificates"),
    aspects: AspectsOption = "all",
    orders: Annotated[
        str, typer.Option(metavar="WHICH", help="both, or first: the original first.")
    ] = "both",
    repeats: Annotated[int, typer.Option(min=1, help="How often each question is asked.")] = 1,
    probes: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Other words for the same videos: none, all, or of swapped,shuffled,empty,hinted.",
        ),
    ] = "none",
    probe_pairs: Annotated[
        int, typer.Option(min=1, help="Pairs of each aspect that a probe takes.")
    ] = 20,
    placebos: Annotated[
        bool, typer.Option("--placebos/--no-placebos", help="Judge the placebos too.")
    ] = True,
    human: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Votes of people, to stand beside.")
    ] = None,
    kept: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="What people's filter left: before and after."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it takes and can tell; start nothing.")
    ] = False,
    max_file_size: FileSizeOption = 100.0,
    signature: SignatureOption = "short",
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Measure how often judges prefer the original of a pair to the degraded video.

    Any metric is a judge too. Both orders of presentation are asked by default. The
    certificates lie in the run; `screentest report` shows them as a page.

    With --people the better video of a pair is the one that people prefer: FETV, UVE,
    GenAI-Bench, Video-Bench, TVGE, or a CSV file (video_a, video_b, aspect, vote).

    \b
    Examples:
      screentest certify baseline --testbed testbed/
      screentest certify sharpness flicker --testbed testbed/ --aspects aesthetics
      screentest certify --suite core --testbed testbed/ --chart matrix.svg
      screentest certify vlm_video --testbed testbed/ --dry-run \\
          --model chat=openai:gpt-5
      screentest certify vlm_video --testbed testbed/ --probes all \\
          --model chat=openai:gpt-5 --prices prices.toml --max-cost 20
      screentest certify --people votes.csv --scores scores.csv
      screentest certify sharpness --people votes.csv --videos videos/
    """
    asked: dict[str, Any] = {
        "suite": suite,
        "out": out,
        "aspects": names_in(aspects),
        "orders": orders,
        "repeats": repeats,
        "probes": names_in(probes, every="none"),
        "probe_pairs": probe_pairs,
        "placebos": placebos,
        **work,
    }
    if dry_run:
        if people is not None or not testbed:
            raise BadOption("--dry-run is for testbeds", advice="Say --testbed DIR.")
        found = api.forecast(judges or (), testbed, **asked)
        show(*forecast_tables(found), as_json=as_json)
        return
    job = partial(
        screentest.certify,
        judges or (),
        testbed or (),
        people=people,
        form=form,
        scores=scores,
        lower=names_in(lower, every="none"),
        videos=videos,
        human=human,
        kept=kept or (),
        chart=chart,
        max_file_size=max_file_size,
        progress=watched(),
        **asked,
    )
    made, exit_code = until_stopped(job)
    if as_json:
        print_json(made.documents())
    else:
        if suite:
            print_heading(headline_of_all(made.certificates))
            show(made.matrix())
            if signature == "full":
                print_heading("Signatures")
                for one in made.certificates:
                    print_indented(f"{one.title}: {one.signature}")
        else:
            _print_certificates(made, full=signature == "full")
            if len(made.certificates) > 1:
                show(made.filtering())
        _print_lost(made)
        print_models(made.models)
        print_spent(made.spent)
        words = f"The certificates are in {out}"
        if made.pending:
            words = f"{plural(made.pending, 'judgement')} still to be made: start the same command"
            words += " again"
        print_indented(words, indent=0)
    if exit_code or not any(one.overall.ok for one in made.certificates):
        raise typer.Exit(exit_code or 1)


def _print_certificates(made: Certificates, *, full: bool) -> None:
    for one, table in zip(made.certificates, made.tables(), strict=True):
        print_heading(headline(one))
        print_facts((line.label, line.words) for line in claim_lines(one))
        console().print()
        console().print(rendered(table))
        print_facts(made.details(one.judge))
        print_indented(one.signature if full else short_signature(one.signature))


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


COMMANDS = {"certify": certify}
