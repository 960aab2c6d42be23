"""``screentest annotate workers, filter, export, import``: what becomes of the votes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli._annotate import Place, Store, TaskName, opened, wanted_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.annotate.quality import Agreement, WorkerState
    from screentest.annotate.records import Filtering
    from screentest.annotate.store import Database
    from screentest.judges.votes import VoteRecord

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DropExcluded = Annotated[
    bool, typer.Option("--without-excluded", help="Leave out votes of excluded workers.")
]


def workers(
    place: Place,
    store: Store = None,
    task: TaskName = None,
    exclude: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Give this worker no more work.")
    ] = None,
    restore: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Take an exclusion back.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; stands in the log.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show the workers, and whom to look at.

    Three signs speak against a worker: too fast for the length of the videos,
    contradicting others where they agree, hardly ever right where most are. Two
    signs flag a worker for review; nobody is excluded by itself.

    \b
    Examples:
      screentest annotate workers testbed/
      screentest annotate workers testbed/ --exclude w-1a2b3c4d \\
          --reason "always C within seconds"
    """
    from screentest.annotate import people
    from screentest.annotate.quality import review, rules_for
    from screentest.annotate.records import read_records
    from screentest.cli.console import print_json

    with opened(place, store) as database:
        if exclude is not None:
            people.exclude(database, exclude, reason)
        if restore is not None:
            people.exclude(database, restore, reason, excluded=False)
        chosen = wanted_task(database, task)
        with database.read() as connection:
            found = review(connection, read_records(connection, chosen), rules_for(chosen))
    if as_json:
        print_json([_worker_object(one) for one in found])
    else:
        _print_workers(found)


def filter_(
    place: Place,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the testbed of what is kept here.")
    ] = None,
    votes: Annotated[
        int, typer.Option(min=1, help="Pairs with fewer ratings are not decided.")
    ] = 5,
    store: Store = None,
    without_excluded: DropExcluded = False,
    as_json: AsJson = False,
) -> None:
    """Keep the pairs whose degradation people confirm.

    A pair stays if nobody chose C and more chose A than B. Prints the table of
    the SLVMEval paper for your data, with accuracy and agreement, and writes the
    filtered testbed where --out says.

    \b
    Examples:
      screentest annotate filter testbed/
      screentest annotate filter testbed/ --out confirmed/
    """
    from sqlalchemy import select

    from screentest.annotate.quality import agreement
    from screentest.annotate.records import filter_records, read_records, write_filtered
    from screentest.annotate.records import without_excluded as reliable
    from screentest.annotate.store.schema import units
    from screentest.cli.console import err, plural, print_json
    from screentest.judges.votes import VoteTask

    with opened(place, store) as database, database.read() as connection:
        records = read_records(connection, wanted_task(database, VoteTask.CHECK.value))
        asked = connection.execute(
            select(units.c.key, units.c.aspect).where(
                units.c.task == VoteTask.CHECK.value,
                units.c.closed.is_(False),
                units.c.is_gold.is_(False),
            )
        )
        known = {row.key: row.aspect for row in asked}
    if without_excluded:
        records = reliable(records)
    found = filter_records(records, units=known, least=votes)
    agreed = agreement(records)
    written = write_filtered(place, out, found.kept) if out is not None else None
    if as_json:
        print_json(_filter_object(found, agreed))
    else:
        _print_filter(found, agreed)
    if written is not None:
        err().print(f"{plural(len(written.pairs), 'pair')} in {out}", soft_wrap=True)


def export(
    place: Place,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Ends in .csv or .json.", show_default=False)
    ],
    store: Store = None,
    task: TaskName = None,
    without_excluded: DropExcluded = False,
) -> None:
    """Write the votes to a CSV or JSON file.

    One row per worker and item. Texts that a spreadsheet would run as a formula
    are neutralised in CSV; JSON holds them as they are. Both can be imported
    again, and both are what `screentest certify human` reads.

    \b
    Examples:
      screentest annotate export testbed/ --out votes.csv
      screentest annotate export testbed/ --task check --out votes.json
    """
    from screentest._util.atomic import atomic_output
    from screentest.annotate.records import read_records
    from screentest.annotate.records import without_excluded as reliable
    from screentest.cli._annotate import task_named
    from screentest.cli.console import err, plural
    from screentest.core import BadOption
    from screentest.judges.votes import as_csv, as_json

    writers = {".csv": as_csv, ".json": as_json}
    if out.suffix not in writers:
        raise BadOption(f"{out} is no name for votes", advice="Name it .csv or .json.")
    with opened(place, store) as database, database.read() as connection:
        records = read_records(connection, task_named(task) if task else None)
    if without_excluded:
        records = reliable(records)
    with atomic_output(out) as file:
        file.write(writers[out.suffix](records).encode())
    err().print(f"{plural(len(records), 'row')} in {out}", soft_wrap=True)


def import_(
    place: Place,
    votes: Annotated[
        Path, typer.Argument(metavar="FILE", help="An export, .csv or .json.", show_default=False)
    ],
    store: Store = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For answers to a bundle: its key.json."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For a bundle of questions.")
    ] = None,
) -> None:
    """Bring in votes that were cast elsewhere.

    Rows that are in the store already are left alone, so a file can be imported
    twice. Where one row is wrong, nothing is imported.

    \b
    Examples:
      screentest annotate import testbed/ votes.json
      screentest annotate import testbed/ answers.jsonl --key bundle/key.json
    """
    from screentest.annotate.records import import_records
    from screentest.cli.console import err

    if key is not None:
        database, records = _answers(place, store, votes, key, questions)
        done = import_records(database, records)
        database.close()
    else:
        from screentest.judges.votes import read_votes

        records = read_votes(votes, whole=True)
        with opened(place, store) as database:
            done = import_records(database, records)
    told = f"{done.added:,} added, {done.known:,} known already"
    err().print(told + (f", {done.unfinished:,} unfinished left out" * bool(done.unfinished)))


def _answers(
    place: Path, store: str | None, votes: Path, key: Path, questions: Path | None
) -> tuple[Database, list[VoteRecord]]:
    """The answers to a bundle, and the store for them, which need not be there yet."""
    from screentest.annotate.bundle import read_answers, task_of
    from screentest.annotate.server import open_project
    from screentest.annotate.store import default_store

    where = store or default_store(place)
    database, units = open_project(place, where, task_of(key), questions=questions)
    return database, read_answers(votes, key, units)


def _print_workers(found: Sequence[WorkerState]) -> None:
    from screentest.cli.console import out
    from screentest.cli.tables import table

    rows = [
        (
            one.label,
            f"{one.votes:,}",
            f"{one.right}/{one.asked}" if one.asked else "–",
            f"{one.gold_right}/{one.gold_asked}" if one.gold_asked else "–",
            f"{one.pace:.2f}" if one.pace is not None else "–",
            _signs(one),
            "excluded" if one.excluded else "look" if one.flagged else "",
        )
        for one in found
    ]
    out().print(table(["Worker", ">Votes", ">Right", ">Gold", ">Pace", "Signs", ""], rows))


def _signs(one: WorkerState) -> str:
    signs = one.report.signs if one.report is not None else ()
    return ", ".join(f"{each.sign.value} {each.count}/{each.of}" for each in signs)


def _worker_object(one: WorkerState) -> dict[str, Any]:
    signs = one.report.signs if one.report is not None else ()
    return {
        "worker": one.label,
        "votes": one.votes,
        "right": one.right,
        "asked": one.asked,
        "gold_right": one.gold_right,
        "gold_asked": one.gold_asked,
        "pace": one.pace,
        "signs": {each.sign.value: {"count": each.count, "of": each.of} for each in signs},
        "flagged": one.flagged,
        "excluded": one.excluded,
        "reason": one.reason,
    }


def _print_filter(found: Filtering, agreed: Sequence[Agreement]) -> None:
    from screentest.cli.console import out, plural
    from screentest.cli.tables import print_heading, table

    rows = [*((name, one.retention) for name, one in found.by_aspect.items())]
    lines = [
        (
            name,
            f"{one.initial:,}",
            f"{one.failed:,}",
            f"{one.weak:,}",
            f"{one.final:,}",
            f"{one.rate:.1%}" if one.rate is not None else "–",
        )
        for name, one in [*rows, ("total", found.total)]
    ]
    out().print(table(["Aspect", ">Initial", ">C ≠ 0", ">A ≤ B", ">Final", ">Kept"], lines))
    if found.unrated:
        out().print(f"Not decided, too few ratings: {plural(found.unrated, 'pair')}")
    print_heading("Accuracy and agreement")
    out().print(
        table(
            ["Aspect", ">Votes", ">Accuracy", "95%", ">α", ">κ"],
            [
                (
                    one.aspect,
                    f"{one.votes:,}",
                    f"{one.accuracy:.1%}" if one.accuracy is not None else "–",
                    f"{one.interval.low:.1%}–{one.interval.high:.1%}" if one.interval else "–",
                    f"{one.alpha:.3f}" if one.alpha is not None else "–",
                    f"{one.kappa:.3f}" if one.kappa is not None else "–",
                )
                for one in agreed
            ],
        )
    )


def _filter_object(found: Filtering, agreed: Sequence[Agreement]) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "aspects": {
            name: asdict(one.retention) | {"final": one.retention.final, "kept": list(one.kept)}
            for name, one in found.by_aspect.items()
        },
        "total": asdict(found.total) | {"final": found.total.final},
        "undecided": found.unrated,
        "agreement": [asdict(one) for one in agreed],
    }


GROUP = "annotate"
COMMANDS = {"workers": workers, "filter": filter_, "export": export, "import": import_}
