"""Ask people: a web app for judgements of videos."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from screentest._util.text import plural
from screentest.annotate.assignment import Rules
from screentest.annotate.language import read_language
from screentest.annotate.options import (
    By,
    Place,
    Questions,
    ServedTask,
    Store,
    Ties,
    Votes,
    Watch,
    task_named,
    text_of,
)
from screentest.annotate.people import invite as make_links
from screentest.annotate.people import invite_all, link_again
from screentest.annotate.server import (
    DEFAULT_LANGUAGES,
    bind,
    check_address,
    make_site,
    open_project,
    run,
)
from screentest.annotate.store import default_store, open_database
from screentest.annotate.web.visitor import Finish, allowed_origins
from screentest.cli.console import err, out, watched
from screentest.cli.options import PromptsOption
from screentest.core import BadOption
from screentest.judges.votes import VoteTask
from screentest.models.ask.templates import Prompts


def serve(
    place: Place,
    task: ServedTask = "pairs",
    store: Store = None,
    votes: Votes = 5,
    host: Annotated[str, typer.Option(help="Any other address needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free port.")] = 8765,
    public_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The address that people open.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="SECRET",
            help="The operator's token.",
            envvar="SCREENTEST_ANNOTATE_TOKEN",
            show_envvar=True,
            show_default="a new one",
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE|FILE",
            help="Can be repeated; the first is the default.",
            show_default="en, ja",
        ),
    ] = None,
    lease: Annotated[
        float,
        typer.Option(metavar="MINUTES", min=1, help="Idle work is given to others after this."),
    ] = 60.0,
    gold: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Items with known answers (JSON lines).")
    ] = None,
    gold_every: Annotated[
        int, typer.Option(metavar="N", min=1, help="One gold item after N others.")
    ] = 10,
    ties: Ties = False,
    watch: Watch = 0.5,
    most: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Items per worker.", show_default="all there are"),
    ] = None,
    code: Annotated[
        str, typer.Option(metavar="TEXT", help="Completion code, shown at the end.")
    ] = "",
    return_url: Annotated[
        str,
        typer.Option(metavar="URL", help="Shown at the end; may hold {participant} and {code}."),
    ] = "",
    by: By = "model",
    questions: Questions = None,
    consent: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own consent text.")
    ] = None,
    prompts: PromptsOption = None,
) -> None:
    """Start the web app.

    On your own machine it prints a link for judging and one for the operator's
    page. For others, make personal links with `screentest annotate invite`.
    Ctrl-C stops it; the same command continues.

    \b
    Examples:
      screentest annotate serve testbed/ --task check
      screentest annotate serve videos.jsonl --task rate --votes 3
      screentest annotate serve videos.jsonl --task arena --by model
      screentest annotate serve testbed/ --host 0.0.0.0 \\
          --public-url https://judge.example.org
    """

    chosen = task_named(task)
    check_address(host, port, public_url, token)
    templates = Prompts(prompts)
    languages = [read_language(name, templates) for name in language or DEFAULT_LANGUAGES]
    own_consent = text_of(consent)
    finish = Finish(code, return_url)
    # Equal models are equal: an arena without ties would make coins of them.
    ties = ties or chosen is VoteTask.ARENA
    rules = Rules(chosen, votes, lease * 60, gold_every, ties, watch, most)
    with watched() as progress:
        database, units = open_project(
            place,
            store or default_store(place),
            chosen,
            questions=questions,
            gold=gold,
            by=by,
            progress=progress,
        )
    listening = bind(host, port)
    port = listening.getsockname()[1]
    operator = token or secrets.token_urlsafe(24)
    site = make_site(
        database,
        rules,
        origins=allowed_origins(host, port, public_url),
        operator_token=operator,
        languages=languages,
        consent=own_consent,
        finish=finish,
        port=port,
    )

    def ready() -> None:
        say = err().print
        say(
            f"{plural(len(units), 'item')}, {plural(votes, 'vote')} each; store: {database.shown}",
            soft_wrap=True,
        )
        address = public_url.rstrip("/") if public_url else f"http://{host}:{port}"
        if token is None:
            mine = link_again(database, "local", create=True)
            say(f"To judge:      {address}/join#{mine.token}", soft_wrap=True)
            say(f"To supervise:  {address}/join#{operator}", soft_wrap=True)
        else:
            say(
                f"Serving {address}; the operator's page is {address}/join# with your token",
                soft_wrap=True,
            )

    with listening:
        run(site, listening, proxied=public_url is not None, ready=ready)
    database.close()


def invite(
    place: Place,
    count: Annotated[int, typer.Option(min=1, max=10_000, help="How many links.")] = 1,
    url: Annotated[
        str, typer.Option(metavar="URL", help="The address of the app.")
    ] = "http://127.0.0.1:8765",
    days: Annotated[float, typer.Option(min=0.01, help="How long the links are valid.")] = 30.0,
    worker: Annotated[
        str | None, typer.Option(metavar="LABEL", help="A new link for a known worker.")
    ] = None,
    platform: Annotated[
        bool, typer.Option("--platform", help="One link for all participants of a platform.")
    ] = False,
    store: Store = None,
) -> None:
    """Make personal links for workers.

    Prints a label and a link per worker. A link is shown once; only its hash is
    stored. Who received which link is not stored.

    With --platform it is one link for all; the platform adds each participant's
    id, as in ?PROLIFIC_PID=…, ?workerId=… or ?participant=…

    \b
    Examples:
      screentest annotate invite testbed/ --count 50 \\
          --url https://judge.example.org > links.tsv
      screentest annotate invite testbed/ --worker w-1a2b3c4d
      screentest annotate invite videos.jsonl --platform \\
          --url https://judge.example.org
    """

    if platform and (worker or count != 1):
        raise BadOption("--platform makes one link, for everybody")
    database = open_database(store or default_store(place))
    if platform:
        token = invite_all(database, days=days)
        address = f"{url.rstrip('/')}/join?participant=ID#{token}"
        out().print(f"ID\t{address}", soft_wrap=True)
        database.close()
        return
    made = (
        [link_again(database, worker, days=days)]
        if worker
        else make_links(database, count, days=days)
    )
    for item in made:
        out().print(f"{item.label}\t{url.rstrip('/')}/join#{item.token}", soft_wrap=True)
    database.close()
