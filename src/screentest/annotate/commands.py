"""``screentest annotate serve, invite, plan, translate``: prepare and collect votes."""

from __future__ import annotations

import secrets
from contextlib import closing
from pathlib import Path

import typer
from sqlalchemy import Connection, select

from screentest._util.collect import grouped
from screentest._util.progress import watched
from screentest._util.text import plural
from screentest.analysis.forecast import Effort, forecast_people
from screentest.analysis.people.released import read_text
from screentest.annotate import people
from screentest.annotate.answers import Unit
from screentest.annotate.assignment import Rules, share_to_watch
from screentest.annotate.language import read_language
from screentest.annotate.language import translate as translate_prompts
from screentest.annotate.material import read_units
from screentest.annotate.records import harmed_seconds
from screentest.annotate.schema import units as units_table
from screentest.annotate.server import bind, check_address, open_project, run
from screentest.annotate.store import Database, default_store, open_database
from screentest.annotate.web.visitor import Finish, Site, allowed_origins
from screentest.cli.console import err, out, shown
from screentest.cli.options import JsonOption, PromptsOption
from screentest.cli.tables import print_models, show
from screentest.core import BadOption, UserError
from screentest.judges.votes import VoteTask, of_pair
from screentest.models import ModelChoice, Models
from screentest.models.ask.templates import Prompts
from screentest.models.chat.costs import Prices
from screentest.present.forecast import people_table
from screentest.run.store import RunStore


def serve(
    place: Path,
    task: VoteTask = VoteTask.PAIRS,
    store: str | None = None,
    votes: int = 5,
    host: str = "127.0.0.1",
    port: int = 8765,
    public_url: str | None = None,
    token: str | None = None,
    language: list[str] | None = None,
    lease: float = 60.0,
    gold: Path | None = None,
    gold_every: int = 10,
    ties: bool = False,
    watch: float | None = None,
    most: int | None = None,
    per_source: int = 1,
    code: str = "",
    return_url: str = "",
    by: str = "model",
    questions: Path | None = None,
    consent: Path | None = None,
    prompts: PromptsOption = None,
) -> None:
    """Start the web app."""
    check_address(host, port, public_url, token)
    templates = Prompts(prompts)
    languages = [read_language(name, templates) for name in language or ("en", "ja")]
    own_consent = read_text(consent).strip() if consent is not None else ""
    finish = Finish(code, return_url)
    # Equal models are equal: an arena without ties would make coins of them.
    ties = ties or task is VoteTask.ARENA
    share = share_to_watch(task) if watch is None else watch
    rules = Rules(task, votes, lease * 60, gold_every, ties, share, most, per_source)
    with watched() as progress:
        database, units = open_project(
            place,
            store or default_store(place),
            task,
            questions=questions,
            gold=gold,
            by=by,
            progress=progress,
        )
    with closing(database), bind(host, port) as listening:
        port = listening.getsockname()[1]
        operator = token or secrets.token_urlsafe(24)
        site = Site(
            database,
            rules,
            {language.code: language for language in languages},
            allowed_origins(host, port, public_url),
            people.hashed(operator),
            # Cookies do not know ports: two apps on one machine would sign each other out.
            cookie=f"screentest-{port}",
            consent=own_consent,
            finish=finish,
        )

        def ready() -> None:
            say = err().print
            limit = f", {per_source} of each source per worker" if of_pair(task) else ""
            say(
                f"{plural(len(units), 'item')}, {plural(votes, 'vote')} each{limit}; "
                f"store: {database.shown}",
                soft_wrap=True,
            )
            address = public_url.rstrip("/") if public_url else f"http://{host}:{port}"
            if token is None:
                mine = people.link_again(database, "local", create=True)
                say(f"To judge:      {address}/join#{mine.token}", soft_wrap=True)
                say(f"To supervise:  {address}/join#{operator}", soft_wrap=True)
            else:
                say(
                    f"Serving {address}; the operator's page is {address}/join# with your token",
                    soft_wrap=True,
                )

        run(site, listening, proxied=public_url is not None, ready=ready)


def invite(
    place: Path,
    count: int = 1,
    url: str = "http://127.0.0.1:8765",
    days: float = 30.0,
    worker: str | None = None,
    platform: bool = False,
    store: str | None = None,
) -> None:
    """Make personal links for workers."""
    if platform and (worker or count != 1):
        raise BadOption("--platform makes one link, for everybody")
    join = f"{url.rstrip('/')}/join"
    with opened(place, store) as database:
        if platform:
            links = [("ID", f"?participant=ID#{people.invite_all(database, days=days)}")]
        elif worker:
            links = [(worker, f"#{people.link_again(database, worker, days=days).token}")]
        else:
            made = people.invite(database, count, days=days)
            links = [(item.label, f"#{item.token}") for item in made]
    for label, rest in links:
        out().print(f"{label}\t{join}{rest}", soft_wrap=True)


def plan(
    place: Path,
    wage: float,
    task: VoteTask = VoteTask.PAIRS,
    votes: int = 5,
    currency: str = "",
    fee: float = 0.0,
    watching: float = 1.5,
    reading: float = 15.0,
    reading_share: float = 1.0,
    overhead: float = 40.0,
    questions: Path | None = None,
    by: str = "model",
    units: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Estimate minutes and price before you publish a task."""
    result = read_units(place, task, questions=questions, by=by)
    effort = Effort(watching, reading, reading_share, overhead)
    sizes = grouped((unit.aspect or str(task), size_of(unit)) for unit in result)
    sizes["total"] = [size_of(unit) for unit in result]
    plans = [
        (name, forecast_people(size, votes=votes, wage=wage, effort=effort, fee=fee))
        for name, size in sizes.items()
    ]
    keys = [unit.key for unit in result] if units else []
    show(people_table(plans, currency), as_json=as_json, **({"items": keys} if units else {}))
    if units and not as_json:
        for key in keys:
            out().print(shown(key), soft_wrap=True)


def size_of(unit: Unit) -> tuple[float, int]:
    """Return the seconds and characters that the instructions of a task ask somebody to take in.

    The check asks for the harmed parts of both videos and what their captions say.
    """
    if unit.task is not VoteTask.CHECK:
        return unit.seconds, len(unit.prompt)
    captions = {mark.clip: unit.clips[mark.clip].caption for mark in unit.marks}
    return harmed_seconds(unit.marks), sum(map(len, captions.values()))


def translate(
    place: Path,
    to: str,
    model: str,
    language: str | None = None,
    prompts: PromptsOption = None,
    store: str | None = None,
) -> None:
    """Translate the prompts with a chat model."""
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


def opened(place: Path, store: str | None) -> closing[Database]:
    """Return the store of a testbed or manifest, which must exist."""
    return closing(open_database(store or default_store(place)))


def wanted_task(connection: Connection, wanted: VoteTask | None) -> VoteTask:
    """Return the given task if the store has it, or the only one in the store."""
    result = [VoteTask(name) for name in connection.scalars(select(units_table.c.task).distinct())]
    if wanted is None and len(result) != 1:
        names = ", ".join(sorted(result)) or "none"
        raise UserError(f"the store has the tasks {names}", advice="Say which with --task.")
    if wanted is not None and wanted not in result:
        raise UserError(f"the store has no task {wanted}")
    return wanted or result[0]
