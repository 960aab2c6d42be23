"""``screentest suite locot2v build``: a prompt suite from real videos, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from screentest._util.text import plural
from screentest.cli.console import err, shown
from screentest.cli.options import MODELS, JsonOption, shares
from screentest.cli.tables import print_indented, print_models, show
from screentest.core import BadOption, Table
from screentest.run.session import Tools, cap_of, settings_of
from screentest.run.store import RunStore
from screentest.suites.locot2v.construction.build import SuiteBuild, build_suite
from screentest.suites.locot2v.construction.forms import ROLES
from screentest.suites.locot2v.construction.sources import download, sources_in
from screentest.suites.locot2v.construction.stages import Choices
from screentest.suites.locot2v.metrics.herd import Sixfold


@shares(MODELS)
def build(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where stages, run and suite are kept.")
    ] = Path("suite"),
    videos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Real videos; folders in it are themes."),
    ] = None,
    urls: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Addresses to fetch with yt-dlp, one per line."),
    ] = None,
    theme: Annotated[str, typer.Option(metavar="TEXT", help="The theme of all videos.")] = "",
    shortest: Annotated[float, typer.Option(metavar="SECONDS", help="No video below.")] = 30.0,
    longest: Annotated[float, typer.Option(metavar="SECONDS", help="No video above.")] = 60.0,
    refinements: Annotated[
        int, typer.Option(min=0, max=10, help="Rounds of criticism for a draft.")
    ] = 2,
    frames: Annotated[int, typer.Option(min=1, max=512, help="Frames a model is shown.")] = 32,
    questions: Annotated[
        Sixfold, typer.Option(metavar="KIND", help="The six: rewordings of one, or different.")
    ] = "rewordings",
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Make a prompt suite from your own videos.

    Each stage of each video is a file under DIR/stages that you may correct: what
    was made is not made again, and what depends on a correction is made anew.
    Videos with burnt-in text, overlays, poor quality or another theme are flagged;
    set "use" in their collect.json to false to leave them out.

    \b
    Examples:
      screentest suite locot2v build --videos films/ --out suite/ \\
          --model chat=openai:NAME
      screentest suite locot2v build --urls list.txt --theme pets \\
          --model chat.watch=openai:SEEING --model chat.extract=openai:WRITING
    """
    if (videos is None) == (urls is None):
        raise BadOption("give either --videos or --urls")
    settings = settings_of(work)
    cap = cap_of(work, settings)
    if urls is not None:
        videos = out / "videos"
        for lost in download(urls, videos, shortest=shortest, longest=longest):
            err().print(f"could not be fetched: {shown(lost)}")
    assert videos is not None
    sources = sources_in(videos, theme)
    choices = Choices(
        shortest, longest, refinements=refinements, frames=frames, questions=questions
    )
    arguments = {"suite": "locot2v", "models": [str(model) for model in settings.models]}
    tools = Tools(settings)

    def notice(source: str, stage: str) -> None:
        err().print(f"{shown(source)}: {stage}")

    with RunStore(out, command="suite build", arguments=arguments, max_cost=cap) as store:
        # A stage that failed is tried again at every start; so is the answer that failed it.
        store.ledger.asks_again = True
        tools.attach(store.ledger)
        try:
            done = build_suite(sources, out, tools, choices, notice=notice)
        finally:
            tools.models.close()
    show(
        *_tables(done),
        as_json=as_json,
        folder=str(out),
        records=[record.id for record in done.records],
        made=done.made,
        kept=done.kept,
        corrected=done.corrected,
    )
    if not as_json:
        _print_end(done, out, len(sources))
        print_models(settings.summary(ROLES))
    if done.failures:
        raise typer.Exit(1)


def _tables(done: SuiteBuild) -> list[Table]:
    def flags(found: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        return [(name, ", ".join(subset) or "by hand") for name, subset in found.items()]

    places = [(place,) for place in done.conflicts]
    failures = [(place, str(failure)) for place, failure in done.failures.items()]
    return [
        Table("left_out", "Left out", ("video", "flags"), flags(done.left_out)),
        Table("flagged", "To be looked at", ("video", "flags"), flags(done.flagged)),
        Table(
            "conflicts",
            "Corrected by hand, though what they rest on has changed",
            ("stage",),
            places,
        ),
        Table("failures", "Not made", ("stage", "reason"), failures),
    ]


def _print_end(done: SuiteBuild, out: Path, total: int) -> None:
    words = f"{plural(done.made, 'stage')} made, {done.kept:,} kept"
    if done.corrected:
        words += f" ({len(done.corrected):,} corrected by hand)"
    print_indented(f"{words}; {len(done.records):,} of {plural(total, 'video')} complete", indent=0)
    if done.records:
        print_indented(f"The suite is {out / 'suite.json'}", indent=0)
    if done.drafts is not None:
        hint = f"screentest annotate serve {done.drafts} --task prompts"
        print_indented(f"To have people look over the drafts: {hint}", indent=0)
    if done.failures:
        again = "what failed is asked again, nothing else is."
        print_indented(f"Start the same command again to go on: {again}", indent=0)
