"""``screentest runs``: what was started, how far it got, what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.run import RunSummary, Spending


def runs(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="A run, or a folder with runs.")
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    rescue: Annotated[
        bool, typer.Option("--repair", help="Rebuild a damaged run from what is intact.")
    ] = False,
) -> None:
    """List runs with coverage and cost.

    Of a folder that is a run itself, everything is told. Works while a run is
    being written.

    \b
    Examples:
      screentest runs
      screentest runs results/tuesday
      screentest runs --repair results/tuesday
      screentest runs --json | jq '.[] | select(.state == "killed").folder'
    """
    from screentest.cli.console import err, print_json, shown
    from screentest.run import find_runs

    if rescue:
        _repair(folder)
        return
    found = list(find_runs(folder))
    if as_json:
        print_json([_object(run) for run in found])
    elif not found:
        err().print(f"No runs under {shown(str(folder))}")
    elif [run.folder for run in found] == [folder]:
        _print_one(found[0])
    else:
        _print_many(folder, found)


def _print_one(run: RunSummary) -> None:
    from screentest.cli.console import out, plural, shown
    from screentest.cli.tables import print_facts

    out().print(shown(str(run.folder)), style="bold")
    if run.problem:
        facts = [("State", "damaged"), ("Problem", run.problem)]
        print_facts([*facts, ("Next", f"screentest runs --repair {run.folder}")])
        return
    if not run.starts:
        print_facts([("State", "empty: stopped before it began")])
        return
    last, coverage = run.starts[-1], run.coverage
    given = ", ".join(f"{name}={value}" for name, value in last.arguments.items())
    holder = f" by {run.held_by}" if run.held_by else ""
    facts = [
        ("Command", last.command),
        ("Arguments", given or "none"),
        ("Version", last.package),
        ("Started", f"{_minute(run.starts[0].started)}, {plural(len(run.starts), 'start')}"),
        ("State", run.state + holder),
        ("Scored", f"{coverage.scored:,} of {coverage.total:,}{_share(run)}"),
        *((f"  {reason.value}", f"{count:,}") for reason, count in coverage.reasons.items()),
        ("Pending", f"{coverage.pending:,}"),
        *_calls(run.spending),
    ]
    print_facts(facts)


def _calls(spending: Spending) -> Sequence[tuple[str, str]]:
    from screentest.cli.console import plural

    if not spending.calls:
        return [("Calls", "none")]
    facts = [
        ("Calls", f"{plural(spending.calls, 'call')}, {spending.answered:,} answered"),
        ("Tokens", f"{spending.tokens_in:,} in, {spending.tokens_out:,} out"),
        ("Cost", _cost(spending)),
    ]
    if spending.unknown:
        facts.append(("Unknown", f"{plural(spending.unknown, 'call')} cut off, maybe billed"))
    if spending.unpriced:
        facts.append(("Unpriced", f"{plural(spending.unpriced, 'call')} of unknown price"))
    return facts


def _print_many(folder: Path, found: Sequence[RunSummary]) -> None:
    from screentest.cli.console import out, shown
    from screentest.cli.tables import print_heading, print_indented, table

    lines = []
    for run in (run for run in found if not run.problem):
        started = _minute(run.starts[0].started) if run.starts else ""
        name = run.starts[-1].command if run.starts else ""
        scored = f"{run.coverage.scored:,}/{run.coverage.total:,}"
        place = str(run.folder.relative_to(folder))
        lines.append([place, name, started, run.state, scored, _cost(run.spending)])
    out().print(f"In {shown(str(folder))}")
    if lines:
        columns = ["Run", "Command", "Started", "State", ">Scored", ">Cost"]
        out().print(table(columns, lines))
    damaged = [run for run in found if run.problem]
    if damaged:
        print_heading(f"Cannot be read ({len(damaged):,} of {len(found):,})")
    for run in damaged:
        print_indented(run.problem)


def _repair(folder: Path) -> None:
    from screentest.cli.console import out, shown
    from screentest.cli.tables import print_facts
    from screentest.run import repair

    done = repair(folder)
    out().print(shown(str(folder)), style="bold")
    facts = []
    for name, count in done.kept.items():
        lost = len(done.lost.get(name, ()))
        facts.append((name.capitalize(), f"{count:,} kept" + (f", {lost:,} lost" if lost else "")))
    print_facts([*facts, ("Damaged", f"files are in {done.backup.name}")])
    out().print("Start the run's command again to make what is missing.")


def _object(run: RunSummary) -> dict[str, Any]:
    coverage, spending = run.coverage, run.spending
    last = run.starts[-1] if run.starts else None
    return {
        "folder": str(run.folder),
        "state": run.state,
        "problem": run.problem,
        "command": last.command if last else "",
        "arguments": dict(last.arguments) if last else {},
        "version": last.package if last else "",
        "started": run.starts[0].started if run.starts else "",
        "ended": last.ended if last else "",
        "starts": len(run.starts),
        "total": coverage.total,
        "scored": coverage.scored,
        "failed": coverage.failed,
        "pending": coverage.pending,
        "reasons": {reason.value: count for reason, count in coverage.reasons.items()},
        "calls": spending.calls,
        "calls_unknown": spending.unknown,
        "calls_unpriced": spending.unpriced,
        "tokens_in": spending.tokens_in,
        "tokens_out": spending.tokens_out,
        "cost": f"{spending.cost:f}",
        "cost_at_risk": f"{spending.at_risk:f}",
    }


def _share(run: RunSummary) -> str:
    if not run.coverage.total:
        return ""
    return f" ({run.coverage.scored / run.coverage.total:.1%})"


def _cost(spending: Spending) -> str:
    if not spending.calls:
        return "–"
    risk = f" (+{spending.at_risk:.2f}?)" if spending.at_risk else ""
    return f"{spending.cost:.2f}{risk}"


def _minute(moment: str) -> str:
    """A stored moment (UTC) as a person reads it, in local time."""
    from datetime import datetime

    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")


COMMANDS = {"runs": runs}
