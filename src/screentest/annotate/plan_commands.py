"""``screentest annotate plan, translate, bundle``: before anybody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from screentest._util.text import plural
from screentest.analysis.forecast import Effort, forecast_people
from screentest.annotate.answers import Unit
from screentest.annotate.bundle import write_bundle
from screentest.annotate.flashes import measure_all
from screentest.annotate.language import read_language
from screentest.annotate.language import translate as translate_prompts
from screentest.annotate.material import read_units
from screentest.annotate.media import prepare_all
from screentest.annotate.options import (
    By,
    Place,
    Questions,
    ServedTask,
    Store,
    Ties,
    Votes,
    opened,
    task_named,
)
from screentest.annotate.server import media_folder
from screentest.annotate.store import default_store
from screentest.cli.console import err, out, shown, watched
from screentest.cli.options import JsonOption, PromptsOption
from screentest.cli.tables import print_models, show
from screentest.judges.votes import VoteTask
from screentest.models import ModelChoice, Models
from screentest.models.ask.templates import Prompts
from screentest.models.chat.costs import Prices
from screentest.present.forecast import people_table
from screentest.run.store import RunStore


def plan(
    place: Place,
    wage: Annotated[float, typer.Option(min=0, help="Pay for one hour.", show_default=False)],
    task: ServedTask = "pairs",
    votes: Votes = 5,
    currency: Annotated[str, typer.Option(metavar="TEXT", help="For display only.")] = "",
    fee: Annotated[
        float, typer.Option(min=0, metavar="SHARE", help="The platform's fee; 0.2 is 20%.")
    ] = 0.0,
    watching: Annotated[
        float, typer.Option(min=0, metavar="TIMES", help="Watching time, in lengths of the videos.")
    ] = 1.5,
    reading: Annotated[
        float, typer.Option(min=0.1, metavar="N", help="Characters read per second.")
    ] = 15.0,
    reading_share: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Share of the text that is read.")
    ] = 1.0,
    overhead: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Extra time for each task.")
    ] = 40.0,
    questions: Questions = None,
    by: By = "model",
    units: Annotated[bool, typer.Option("--units", help="List the items too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Estimate minutes and price before you publish a task.

    \b
    Examples:
      screentest annotate plan testbed/ --task check --wage 1200 --currency JPY
      screentest annotate plan videos.jsonl --task rate --wage 15 --fee 0.2
    """

    result = read_units(place, task_named(task), questions=questions, by=by)
    effort = Effort(watching, reading, reading_share, overhead)
    by_aspect: dict[str, list[Unit]] = {}
    for unit in result:
        by_aspect.setdefault(unit.aspect or task, []).append(unit)
    sizes = {name: _sizes(subset) for name, subset in by_aspect.items()} | {"total": _sizes(result)}
    plans = [
        (name, forecast_people(size, votes=votes, wage=wage, effort=effort, fee=fee))
        for name, size in sizes.items()
    ]
    keys = [unit.key for unit in result] if units else []
    show(people_table(plans, currency), as_json=as_json, **({"items": keys} if units else {}))
    if units and not as_json:
        for key in keys:
            out().print(shown(key), soft_wrap=True)


def translate(
    place: Place,
    to: Annotated[
        str, typer.Option(metavar="CODE", help="ja, or another that you serve.", show_default=False)
    ],
    model: Annotated[
        str, typer.Option(metavar="chat=…", help="Which model to ask.", show_default=False)
    ],
    language: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Its name in the prompt.", show_default="by its code"),
    ] = None,
    prompts: PromptsOption = None,
    store: Store = None,
) -> None:
    """Translate the prompts with a chat model.

    Workers see the translation below each passage of the original. Translations
    are kept; run the command again for those that are missing. Open the testbed
    with `serve` once before.

    \b
    Examples:
      screentest annotate translate testbed/ --to ja \\
          --model chat=openai:qwen3,base_url=http://127.0.0.1:8000/v1
    """

    choice = ModelChoice.parse(model)
    models = Models([choice])
    chat = models.role("chat")
    names = {"ja": "Japanese", "en": "English", "de": "German", "fr": "French", "es": "Spanish"}
    run = default_store(place).parent / "translation"
    with (
        opened(place, store) as database,
        RunStore(run, command="annotate translate", arguments={"to": to}) as ledger,
    ):
        # What has no translation yet is asked for at every start, and so asked anew.
        ledger.ledger.asks_again = True
        if hasattr(chat, "attach"):
            chat.attach(ledger.ledger, Prices())
        done = translate_prompts(
            database,
            chat,
            code=to,
            language=language or names.get(to, to),
            model=str(models.signature("chat")),
            prompts=Prompts(prompts) if prompts else None,
            progress=watched(),
        )
    err().print(f"{done.added:,} translated, {done.known:,} known, {len(done.failures):,} failed")
    print_models(models.summary(["chat"]))
    if done.failures:
        err().print(str(done.failures[0]), soft_wrap=True)
        raise typer.Exit(1)


def bundle(
    place: Place,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder.", show_default=False)],
    task: ServedTask = "pairs",
    language: Annotated[
        str, typer.Option(metavar="CODE|FILE", help="The language of the pages.")
    ] = "en",
    ties: Ties = False,
    questions: Questions = None,
    by: By = "model",
    prompts: PromptsOption = None,
) -> None:
    """Make pages for another platform.

    For a platform that shows an HTML page and returns what it posts. Upload the
    folder `pages`; keep `key.json`, which maps pages to videos. Import the
    answers with `screentest annotate import --key`.

    \b
    Examples:
      screentest annotate bundle testbed/ --out bundle/
      screentest annotate bundle videos.jsonl --task rate --language ja \\
          --out bundle/
    """

    words = read_language(language, Prompts(prompts))
    units = read_units(place, task_named(task), questions=questions, by=by)
    ties = ties or units[0].task is VoteTask.ARENA
    videos = [video.path for unit in units for video in unit.videos]
    prepared = prepare_all(videos, media_folder(place), progress=watched())
    flashes = dict(measure_all(videos, progress=watched()))
    keys = write_bundle(units, prepared, out, words, ties=ties, flashes=flashes)
    err().print(f"{plural(len(keys), 'page')} in {out / 'pages'}", soft_wrap=True)


def _sizes(units: list[Unit]) -> list[tuple[float, int]]:
    return [(unit.seconds, len(unit.prompt)) for unit in units]
