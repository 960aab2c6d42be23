"""What the commands under ``screentest annotate`` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from screentest.annotate.store import Database
    from screentest.judges.votes import VoteTask

Place = Annotated[
    Path,
    typer.Argument(
        metavar="TESTBED|MANIFEST",
        help="A folder made by `build`, or a manifest.",
        exists=True,
        show_default=False,
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|URL", help="SQLite file or postgresql:// URL.", show_default="beside it"
    ),
]
TaskName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Needed where the store has several tasks."),
]


def task_named(name: str) -> VoteTask:
    """The task of that name."""
    from screentest.core import BadOption
    from screentest.judges.votes import VoteTask

    try:
        return VoteTask(name)
    except ValueError:
        raise BadOption(
            f"there is no task {name!r}", advice=f"Give one of {', '.join(VoteTask)}."
        ) from None


def text_of(path: Path | None) -> str:
    """A text that the user has written."""
    from screentest.core import UserError

    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None


@contextmanager
def opened(place: Path, store: str | None) -> Iterator[Database]:
    """The store of a testbed or manifest, which must be there."""
    from screentest.annotate.store import default_store, open_database

    database = open_database(store or default_store(place))
    try:
        yield database
    finally:
        database.close()


def wanted_task(database: Database, name: str | None) -> VoteTask:
    """The task that is meant."""
    from screentest.annotate.store.project import only_task

    return only_task(database, task_named(name) if name is not None else None)
