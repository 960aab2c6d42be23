"""``screentest annotate workers, filter, results, export, import``: what is done with the votes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select

from screentest._util.atomic import atomic_output
from screentest._util.text import plural
from screentest.analysis.people.arena import arena_of
from screentest.annotate import people
from screentest.annotate.commands import opened, wanted_task
from screentest.annotate.quality import AspectAgreement, WorkerState, agreement, review, rules_for
from screentest.annotate.records import (
    Filtering,
    filter_records,
    import_records,
    read_records,
    write_filtered,
)
from screentest.annotate.records import without_excluded as reliable
from screentest.annotate.schema import units
from screentest.annotate.store import default_store
from screentest.cli.console import err, out, shown
from screentest.cli.options import JsonOption
from screentest.cli.tables import columns, show
from screentest.core import BadOption, UserError
from screentest.core.table import Table
from screentest.judges.votes import VoteTask, as_csv, read_votes
from screentest.judges.votes import as_json as as_json_text
from screentest.present.people import arena_headline, people_tables


def workers(
    place: Path,
    store: str | None = None,
    task: VoteTask | None = None,
    exclude: str | None = None,
    restore: str | None = None,
    reason: str = "",
    as_json: JsonOption = False,
) -> None:
    """Show the workers, and which ones to review."""
    with opened(place, store) as database:
        if exclude is not None:
            people.exclude(database, exclude, reason)
        if restore is not None:
            people.exclude(database, restore, reason, excluded=False)
        with database.read() as connection:
            chosen = wanted_task(connection, task)
            result = review(connection, read_records(connection, chosen), rules_for(chosen))
    show(_workers_table(result), as_json=as_json)


def filter_(
    place: Path,
    out: Path | None = None,
    votes: int = 5,
    store: str | None = None,
    without_excluded: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Keep the pairs whose degradation people confirm."""
    with opened(place, store) as database, database.read() as connection:
        records = read_records(connection, wanted_task(connection, VoteTask.CHECK))
        asked = connection.execute(
            select(units.c.key, units.c.aspect).where(
                units.c.task == VoteTask.CHECK.value,
                units.c.closed.is_(False),
                units.c.is_gold.is_(False),
            )
        )
        available = {row.key: row.aspect for row in asked}
    if without_excluded:
        records = reliable(records)
    result = filter_records(records, units=available, least=votes)
    agreed = agreement(records)
    written = write_filtered(place, out, result.kept) if out is not None else None
    undecided = {"undecided": result.unrated}
    show(_retention_table(result), _agreement_table(agreed), as_json=as_json, **undecided)
    if written is not None:
        err().print(f"{plural(len(written.pairs), 'pair')} in {out}", soft_wrap=True)


def results(
    place: Path, votes: Path | None = None, store: str | None = None, as_json: JsonOption = False
) -> None:
    """Show which model people prefer."""
    if votes is not None:
        records = read_votes(votes)
    elif store is None and not default_store(place).exists():
        raise UserError(
            f"there are no votes on {place} yet",
            advice=f"Collect some: screentest annotate serve {place} --task arena; or give a file"
            " of votes: --votes FILE.",
        )
    else:
        with opened(place, store) as database, database.read() as connection:
            chosen = wanted_task(connection, VoteTask.ARENA)
            records = read_records(connection, chosen, only_finished=True)
    result = arena_of(records)
    if not as_json:
        out().print(shown(arena_headline(result)), soft_wrap=False)
    show(*people_tables(result), as_json=as_json, headline=arena_headline(result))


def export(
    place: Path,
    out: Path,
    store: str | None = None,
    task: VoteTask | None = None,
    without_excluded: bool = False,
) -> None:
    """Write the votes to a CSV or JSON file."""
    writers = {".csv": as_csv, ".json": as_json_text}
    if out.suffix not in writers:
        raise BadOption(f"invalid --out {out}: must end in .csv or .json")
    with opened(place, store) as database, database.read() as connection:
        records = read_records(connection, task)
    if without_excluded:
        records = reliable(records)
    with atomic_output(out) as file:
        file.write(writers[out.suffix](records).encode())
    err().print(f"{plural(len(records), 'row')} in {out}", soft_wrap=True)


def import_(place: Path, votes: Path, store: str | None = None) -> None:
    """Import votes that were cast elsewhere."""
    records = read_votes(votes, whole=True)
    with opened(place, store) as database:
        done = import_records(database, records)
    message = f"{done.added:,} added, {done.known:,} known already"
    err().print(message + (f", {done.unfinished:,} unfinished skipped" * bool(done.unfinished)))


def _workers_table(found: Sequence[WorkerState]) -> Table:
    of = {"signs": _sign_counts}
    shown = columns("workers", of, signs=_signs, flagged=_mark, excluded=_mark)
    return Table.of("workers", "Workers", shown, found)


def _sign_counts(worker: WorkerState) -> dict[str, dict[str, int]]:
    signs = worker.report.signs if worker.report is not None else ()
    return {each.sign.value: {"count": each.count, "of": each.of} for each in signs}


def _mark(yes: bool) -> str:
    return "✗" if yes else ""


def _signs(signs: dict[str, dict[str, int]]) -> str:
    return ", ".join(f"{name} {sign['count']}/{sign['of']}" for name, sign in signs.items())


def _retention_table(found: Filtering) -> Table:
    rows = [
        {"aspect": name, "pairs": item.retention, "kept": item.kept}
        for name, item in found.by_aspect.items()
    ]
    rows.append({"aspect": "total", "pairs": found.total, "kept": sorted(found.kept)})
    undecided = plural(found.unrated, "pair")
    note = f"Not decided, too few ratings: {undecided}" if found.unrated else ""
    return Table.of("retention", "Retention", columns("retention"), rows, note)


def _agreement_table(agreed: Sequence[AspectAgreement]) -> Table:
    shown = columns("agreement", {"why": lambda item: item.why and str(item.why)})
    return Table.of("agreement", "Accuracy and agreement", shown, agreed)
