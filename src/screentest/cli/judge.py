"""``screentest judge``: which of two videos is better."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from screentest.api.certificates import judge_videos
from screentest.cli.options import (
    ASPECTS,
    ENGINE,
    MODELS,
    RETRY,
    JsonOption,
    option,
    options_of,
    shares,
)
from screentest.cli.progress import watched
from screentest.cli.tables import print_indented, print_models, print_spent, show

JUDGE = options_of(
    judge_videos,
    prompt="TEXT",
    script="FILE",
    aspects=ASPECTS,
    out=option(Path, Path("judged"), "The run's folder.", metavar="DIR"),
)


@shares(MODELS, ENGINE, RETRY, first=JUDGE)
def judge(
    name: Annotated[str, typer.Argument(metavar="JUDGE", help="A judge, or a metric.")],
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="A video.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Another one.")],
    as_json: JsonOption = False,
    **options: Any,
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
    verdicts = judge_videos(name, first, second, progress=watched(), **options)
    show(verdicts.table(), as_json=as_json)
    if not as_json:
        print_indented(f"First: {first}. Second: {second}.", indent=0)
        print_models(verdicts.models)
        print_spent(verdicts.spent)
    if not verdicts.answered:
        raise typer.Exit(1)
