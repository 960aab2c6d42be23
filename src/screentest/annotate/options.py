"""Arguments that the commands under ``screentest annotate`` share, and what they open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from screentest.annotate.store import Database, default_store, open_database
from screentest.annotate.store.project import only_task
from screentest.core import BadOption, UserError
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
        metavar="FILE|URL",
        help="SQLite file or postgresql:// URL.",
        show_default="annotate/votes.sqlite beside it",
    ),
]
ServedTask = Annotated[
    str,
    typer.Option("--task", metavar="NAME", help="pairs, check, rate, questions, prompts or arena."),
]
By = Annotated[
    str,
    typer.Option("--by", metavar="GROUP", help="For arena: what is compared; or model=A,B."),
]
Votes = Annotated[int, typer.Option("--votes", min=1, help="How many people judge each item.")]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="Questions per item (JSON lines)."),
]
Watch = Annotated[
    float,
    typer.Option(
        "--watch",
        min=0,
        max=1,
        metavar="SHARE",
        help="Of each video, long films too, that must be played before an answer is taken. "
        "0 asks for nothing.",
    ),
]
Ties = Annotated[bool, typer.Option("--ties", help="Allow 'no difference'.")]
TaskName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Needed if the store has several tasks."),
]


def task_named(name: str) -> VoteTask:
    """Return the task of that name."""

    try:
        return VoteTask(name)
    except ValueError:
        raise BadOption(f"invalid task {name!r}: must be one of {', '.join(VoteTask)}") from None


def text_of(path: Path | None) -> str:
    """Return the text of a file that the user has written."""

    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None


@contextmanager
def opened(place: Path, store: str | None) -> Iterator[Database]:
    """Return the store of a testbed or manifest, which must exist."""

    database = open_database(store or default_store(place))
    try:
        yield database
    finally:
        database.close()


def wanted_task(database: Database, name: str | None) -> VoteTask:
    """Return the named task, or the only one in the store."""

    return only_task(database, task_named(name) if name is not None else None)
