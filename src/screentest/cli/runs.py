"""Commands about runs: ``runs`` lists them, ``merge`` joins those of several machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from screentest._util.text import plural
from screentest.cli.console import err, out, shown
from screentest.cli.options import JsonOption
from screentest.cli.tables import columns, print_indented, print_record, show
from screentest.core import BadOption
from screentest.core.table import Table
from screentest.run.merge import Prefer
from screentest.run.merge import merge as merge_runs
from screentest.run.reader import RunReader, RunSummary, Start, find_runs
from screentest.run.repair import repair


def runs(folder: Path = Path(), as_json: JsonOption = False, rescue: bool = False) -> None:
    """List runs with coverage and cost."""
    if rescue:
        _repair(folder, as_json)
        return
    summaries = list(find_runs(folder))
    table = _runs_table(summaries, folder)
    if as_json:
        show(table, as_json=True)
    elif not summaries:
        err().print(f"No runs under {shown(str(folder))}")
    elif [run.folder for run in summaries] == [folder]:
        print_record(table)
    else:
        out().print(f"In {shown(str(folder))}")
        show(table)
    damaged = [run for run in summaries if run.problem]
    if damaged and not as_json:
        print_indented(f"To repair: screentest runs --repair {damaged[0].folder}", indent=0)


def _runs_table(summaries: Sequence[RunSummary], folder: Path) -> Table:
    def relative(run: str) -> str:
        return str(Path(run).relative_to(folder)) if Path(run) != folder else run

    notes = [run.problem for run in summaries if run.problem]
    notes += [
        f"{relative(str(run.folder))}: calls that were cut off may add "
        f"{run.spending.at_risk:,.2f} to the cost"
        for run in summaries
        if run.spending.at_risk
    ]
    notes += [
        f"{relative(str(run.folder))}: what {run.spending.unpriced:,} of "
        f"{plural(run.spending.calls, 'call')} cost is not known, for lack of a price list"
        for run in summaries
        if run.spending.unpriced
    ]
    shown = columns(
        "runs",
        folder=relative,
        arguments=_pairs,
        started=_minute,
        ended=_minute,
        reasons=_pairs,
        cost=_money,
        cost_at_risk=_money,
    )
    return Table.of("runs", "Runs", shown, map(_record, summaries), "\n".join(notes))


def _record(run: RunSummary) -> dict[str, Any]:
    record: dict[str, Any] = {"folder": run.folder, "state": run.state, "problem": run.problem}
    if run.problem:  # nothing else is known
        return record
    last = run.starts[-1] if run.starts else Start(0, "", {}, "", "", 0, "")
    coverage, spending = run.coverage, run.spending
    state, who = run.state, run.held_by
    if who is not None:
        state += f" by process {who.pid} on {who.host}, since {who.since}"
    # Of calls without any price nothing is known: 0.00 would say that they were free.
    free = spending.calls and spending.unpriced == spending.calls
    record |= asdict(last) | asdict(coverage) | asdict(spending)
    return record | {
        "started": run.starts[0].started if run.starts else "",
        "starts": len(run.starts),
        "state": state,
        "share": coverage.share,
        "pending": coverage.pending,
        "cost": None if free else f"{spending.cost:f}",
        "cost_at_risk": f"{spending.at_risk:f}",
    }


def _repair(folder: Path, as_json: bool) -> None:
    done = repair(folder)
    rows = [(name, count, len(done.lost.get(name, ()))) for name, count in done.kept.items()]
    note = f"The damaged files are in {done.backup.name}. Run the same command again for the rest."
    table = Table("repaired", "Repaired", columns("repaired"), rows, note)
    show(table, as_json=as_json)


def _pairs(given: dict[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in given.items())


def _money(amount: str) -> str:
    return f"{Decimal(amount):,.2f}"


def _minute(moment: str) -> str:
    """Return a stored moment (UTC) as a person reads it, in local time."""
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M") if moment else ""


def merge(folders: list[Path], into: Path, prefer: str = "", as_json: JsonOption = False) -> None:
    """Merge runs that several machines made of one job."""
    if prefer not in list(Prefer):
        raise BadOption.of("prefer", prefer, "first or newest")
    shares = merge_runs(folders, into, prefer=prefer)
    with RunReader(into) as merged:
        coverage = merged.coverage()
    note = f"{into}: {coverage.scored:,} of {coverage.total:,} records have all their values"
    decided = sum(share.conflicts for share in shares)
    if decided:
        note += f"; of {decided:,} with two values, the {prefer} was taken"
    show(Table.of("merged", "Merged", columns("merged"), shares, note), as_json=as_json)
