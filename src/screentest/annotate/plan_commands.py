"""``screentest annotate plan, translate``: before anybody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from screentest.cli._annotate import Place, Store, opened, task_named

if TYPE_CHECKING:
    from screentest.annotate.answers import Unit


def plan(
    place: Place,
    wage: Annotated[float, typer.Option(min=0, help="Pay for one hour.", show_default=False)],
    task: Annotated[str, typer.Option(metavar="NAME", help="As for serve.")] = "pairs",
    votes: Annotated[int, typer.Option(min=1, help="How many people judge each item.")] = 5,
    currency: Annotated[str, typer.Option(metavar="TEXT", help="Only for display.")] = "",
    fee: Annotated[
        float, typer.Option(min=0, metavar="SHARE", help="The platform's, 0.2 is 20%.")
    ] = 0.0,
    watching: Annotated[
        float, typer.Option(min=0, metavar="TIMES", help="Times the videos' length.")
    ] = 1.5,
    reading: Annotated[
        float, typer.Option(min=0.1, metavar="N", help="Characters read a second.")
    ] = 15.0,
    reading_share: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Of the text that is read.")
    ] = 1.0,
    overhead: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="For each task besides.")
    ] = 40.0,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For the task questions.")
    ] = None,
    units: Annotated[bool, typer.Option("--units", help="List the items too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Estimate minutes and price before you publish a task.

    \b
    Examples:
      screentest annotate plan testbed/ --task check --wage 1200 --currency JPY
      screentest annotate plan videos.jsonl --task rate --wage 15 --fee 0.2
    """
    from dataclasses import asdict

    from screentest.annotate.material import read_units
    from screentest.annotate.plan import Effort, estimate
    from screentest.cli.console import out, print_json
    from screentest.cli.tables import table

    found = read_units(place, task_named(task), questions=questions)
    effort = Effort(watching, reading, reading_share, overhead)
    by_aspect: dict[str, list[Unit]] = {}
    for unit in found:
        by_aspect.setdefault(unit.aspect or task, []).append(unit)
    plans = {
        name: estimate(_sizes(some), votes=votes, wage=wage, effort=effort, fee=fee)
        for name, some in by_aspect.items()
    }
    plans["total"] = estimate(_sizes(found), votes=votes, wage=wage, effort=effort, fee=fee)
    if as_json:
        told = {name: asdict(one) for name, one in plans.items()}
        print_json(told | {"items": [unit.key for unit in found]} if units else told)
        return
    money = f" {currency}" if currency else ""
    out().print(
        table(
            [
                "Aspect",
                ">Items",
                ">Tasks",
                ">Min each",
                ">Longest",
                ">Price each",
                ">Hours",
                ">Cost",
            ],
            [
                (
                    name,
                    f"{one.units:,}",
                    f"{one.tasks:,}",
                    f"{one.minutes_per_task:.1f}",
                    f"{one.longest_minutes:.1f}",
                    f"{one.price_per_task:,.2f}",
                    f"{one.hours:,.1f}",
                    f"{one.cost:,.2f}{money}",
                )
                for name, one in plans.items()
            ],
        )
    )
    if units:
        for unit in found:
            out().print(unit.key, soft_wrap=True)


def translate(
    place: Place,
    to: Annotated[
        str, typer.Option(metavar="CODE", help="ja, or one that you serve.", show_default=False)
    ],
    model: Annotated[
        str, typer.Option(metavar="chat=…", help="Which model to ask.", show_default=False)
    ],
    language: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="As the model is told.", show_default="by its code"),
    ] = None,
    prompts: Annotated[Path | None, typer.Option(metavar="DIR", help="Your own templates.")] = None,
    store: Store = None,
) -> None:
    """Translate the prompts by a chat model.

    Workers see the translation below each passage of the original. What is
    translated once is kept; start again to do what is missing. Open the testbed
    with `serve` once before.

    \b
    Examples:
      screentest annotate translate testbed/ --to ja \\
          --model chat=openai:qwen3,base_url=http://127.0.0.1:8000/v1
    """
    from screentest.annotate.language import translate as work
    from screentest.annotate.store import default_store
    from screentest.cli.console import err
    from screentest.cli.progress import watched
    from screentest.models import Choice, Models
    from screentest.models.chat.costs import Prices
    from screentest.models.templates import Prompts
    from screentest.run import RunStore

    choice = Choice.parse(model)
    models = Models([choice])
    chat = models.role("chat")
    names = {"ja": "Japanese", "en": "English", "de": "German", "fr": "French", "es": "Spanish"}
    run = default_store(place).parent / "translation"
    with (
        opened(place, store) as database,
        RunStore(run, command="annotate translate", arguments={"to": to}) as ledger,
    ):
        if hasattr(chat, "attach"):
            chat.attach(ledger.ledger, Prices())
        done = work(
            database,
            chat,
            code=to,
            language=language or names.get(to, to),
            model=str(models.signature("chat")),
            prompts=Prompts(prompts) if prompts else None,
            progress=watched(),
        )
    err().print(f"{done.added:,} translated, {done.known:,} known, {len(done.failures):,} failed")
    if done.failures:
        err().print(str(done.failures[0]), soft_wrap=True)
        raise typer.Exit(1)


def bundle(
    place: Place,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder.", show_default=False)],
    task: Annotated[str, typer.Option(metavar="NAME", help="As for serve.")] = "pairs",
    language: Annotated[str, typer.Option(metavar="CODE|FILE", help="Of the pages.")] = "en",
    ties: Annotated[bool, typer.Option("--ties", help="Allow 'no difference'.")] = False,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For the task questions.")
    ] = None,
) -> None:
    """Make pages for another platform.

    For one that shows an HTML page and returns what it posts. Upload the folder
    `pages`; keep `key.json`, which says what is what. Bring answers back with
    `screentest annotate import --key`.

    \b
    Examples:
      screentest annotate bundle testbed/ --out bundle/
      screentest annotate bundle videos.jsonl --task rate --language ja \\
          --out bundle/
    """
    from screentest.annotate.bundle import write_bundle
    from screentest.annotate.language import read_language
    from screentest.annotate.material import read_units
    from screentest.annotate.media import prepare_all
    from screentest.annotate.server import media_folder
    from screentest.cli.console import err, plural
    from screentest.cli.progress import watched

    words = read_language(language)
    units = read_units(place, task_named(task), questions=questions)
    videos = [video.path for unit in units for video in unit.videos]
    prepared = prepare_all(videos, media_folder(place), progress=watched())
    keys = write_bundle(units, prepared, out, words, ties=ties)
    err().print(f"{plural(len(keys), 'page')} in {out / 'pages'}", soft_wrap=True)


def _sizes(units: list[Unit]) -> list[tuple[float, int]]:
    return [(unit.seconds, len(unit.prompt)) for unit in units]


GROUP = "annotate"
COMMANDS = {"plan": plan, "translate": translate, "bundle": bundle}
