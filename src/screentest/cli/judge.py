"""``screentest judge``: which of two videos is better."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from screentest.api.certificates import judge_videos
from screentest.cli.options import (
    ENGINE,
    MODELS,
    RETRY,
    AspectsOption,
    JsonOption,
    OutOption,
    names_in,
    shares,
)
from screentest.cli.progress import watched
from screentest.cli.tables import print_indented, print_models, print_spent, show


@shares(MODELS, ENGINE, RETRY)
def judge(
    name: Annotated[str, typer.Argument(metavar="JUDGE", help="A judge, or a metric.")],
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="A video.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Another one.")],
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="What both were asked to show.")] = "",
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same shot by shot: one caption a line."),
    ] = None,
    aspects: AspectsOption = "all",
    out: OutOption = Path("judged"),
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Ask a judge which of two videos is better, in both orders.

    Where the two orders disagree, that is said: the judge goes by the order then.

    \b
    Examples:
      screentest judge baseline one.mp4 two.mp4
      screentest judge sharpness one.mp4 two.mp4 --aspects technical_quality
      screentest judge vlm_video one.mp4 two.mp4 --prompt "A red kite rises" \\
          --model chat=openai:gpt-5
    """
    verdicts = judge_videos(
        name,
        first,
        second,
        prompt=prompt,
        script=script,
        aspects=names_in(aspects),
        out=out,
        progress=watched(),
        **work,
    )
    show(verdicts.table(), as_json=as_json)
    if not as_json:
        print_indented(f"First: {first}. Second: {second}.", indent=0)
        print_models(verdicts.models)
        print_spent(verdicts.spent)
    if not verdicts.answered:
        raise typer.Exit(1)
