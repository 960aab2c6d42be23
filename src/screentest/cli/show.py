"""``screentest show``: one video's scores, over time and in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.core import Point
    from screentest.scores.results import Results, Value

WIDTH = 22
MOMENTS = 3


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run of score.")],
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Its id, or how the id begins.")] = "",
    worst: Annotated[int, typer.Option(min=0, help="How many worst moments.")] = MOMENTS,
    as_json: JsonOption = False,
) -> None:
    """Show one video's scores over time.

    Each curve is drawn on its own scale, from its lowest to its highest value.
    Worst moments are those where the curves together stand lowest.

    \b
    Examples:
      screentest show scores/ castle-7
      screentest show scores/ castle-7 --worst 10
      screentest show scores/ castle-7 --json | jq '.values[].value'
    """
    from screentest.cli.console import print_json
    from screentest.reports.data import read_report
    from screentest.reports.drilldown import worst_moments

    report = read_report([run])
    chosen = _chosen(report.results, item)
    values = [value for value in report.results.values if value.item == chosen]
    pending = [name for owner, name in report.results.pending if owner == chosen]
    moments = worst_moments(report, values, worst)
    if as_json:
        print_json(_object(report.results, chosen, values, pending, moments))
    else:
        _print(report.results, chosen, values, pending, moments)
    if not any(value.outcome.ok for value in values):
        raise typer.Exit(1)


def _chosen(results: Results, text: str) -> str:
    """The item of that id, or the only one whose id begins so."""
    from difflib import get_close_matches

    from screentest.core import UnknownName

    known = list(results.items)
    if text in known:
        return text
    found = [name for name in known if name.startswith(text)]
    if len(found) == 1:
        return found[0]
    near = found or get_close_matches(text, known, n=5, cutoff=0.5) or known
    more = f" and {len(near) - 5:,} more" if len(near) > 5 else ""
    what = f"{len(found):,} items begin with {text!r}" if found else f"there is no item {text!r}"
    if not text:
        what = "which item?"
    raise UnknownName(what, advice=f"Items: {', '.join(near[:5])}{more}.")


def _print(
    results: Results, chosen: str, values: Sequence[Value], pending: Sequence[str], moments: Any
) -> None:
    from screentest.cli.console import out as console
    from screentest.cli.console import shown
    from screentest.cli.tables import print_facts, print_heading, print_indented, table

    item = results.items[chosen]
    console().print(shown(chosen), style="bold")
    text = " ".join(item.text.split())
    facts = [("Video", str(item.video))]
    if text:
        facts.append(("Prompt", text if len(text) <= 300 else f"{text[:300]}…"))
    facts += [(name, value) for name, value in item.groups.items()]
    print_facts(facts)
    rows = [_row(results, value) for value in values if value.outcome.ok]
    if rows:
        console().print()
        console().print(table(["Value", ">Score", "", "Over time", "Worst"], rows))
    low = [(moment, said) for moment in moments if (said := _said(results, values, moment))]
    if low:
        print_heading("Worst moments")
    for moment, said in low:
        print_indented(f"{_clock(moment)}  {said}")
    lost = [value for value in values if not value.outcome.ok]
    if lost or pending:
        print_heading("Not scored")
    for words, names in _reasons(lost).items():
        print_indented(f"{', '.join(names)}: {words}")
    if pending:
        print_indented(f"{', '.join(pending)}: still to come; start the same command again")


def _row(results: Results, value: Value) -> tuple[str, ...]:
    from screentest.reports.drilldown import sparkline

    info, score = results.outputs[value.name], value.outcome.unwrap()
    better = "↑" if info.higher_is_better else "↓"
    if len(score.curve) < 2:
        return (value.name, _number(score.value), better, "", "")
    low = _worst(score.curve, higher=info.higher_is_better)
    flat = len({point.value for point in score.curve}) == 1
    line = sparkline(score.curve, WIDTH, _levels())
    return (
        value.name,
        _number(score.value),
        better,
        line,
        "" if flat else f"{_number(low.value)} at {_clock(low.span.start)}",
    )


def _worst(curve: Sequence[Point], *, higher: bool) -> Point:
    return min(curve, key=lambda point: point.value if higher else -point.value)


def _levels() -> str:
    """Blocks, where the terminal's encoding has them."""
    from screentest.cli.console import out as console
    from screentest.reports.drilldown import BLOCKS, PLAIN

    try:
        BLOCKS.encode(console().encoding)
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return BLOCKS


def _said(results: Results, values: Sequence[Value], moment: Any) -> str:
    """What is low at a moment, each curve by its own scale, with the note."""
    told = []
    for value in values:
        score, info = value.outcome.value, results.outputs[value.name]
        numbers = [point.value for point in score.curve] if score is not None else []
        for point in score.curve if score is not None else ():
            middle = (min(numbers) + max(numbers)) / 2
            low = point.value < middle if info.higher_is_better else point.value > middle
            if moment in point.span and low:
                note = f" ({' '.join(point.note.split())[:200]})" if point.note else ""
                told.append(f"{value.name} {_number(point.value)}{note}")
    return ", ".join(told)


def _reasons(lost: Sequence[Value]) -> dict[str, list[str]]:
    """Values by why they are missing; a traceback is told by its last line."""
    told: dict[str, list[str]] = {}
    for value in lost:
        failure = value.outcome.failure
        assert failure is not None
        lines = failure.detail.strip().splitlines()
        parts = (failure.reason.value, lines[-1] if lines else "", failure.advice)
        told.setdefault(": ".join(part for part in parts if part), []).append(value.name)
    return told


def _object(
    results: Results, chosen: str, values: Sequence[Value], pending: Sequence[str], moments: Any
) -> dict[str, Any]:
    item = results.items[chosen]
    return {
        "item": chosen,
        "video": str(item.video),
        "prompt": item.text,
        "groups": dict(item.groups),
        "values": [_value_object(results, value) for value in values],
        "pending": list(pending),
        "worst_moments": [str(moment) for moment in moments],
    }


def _value_object(results: Results, value: Value) -> dict[str, Any]:
    info, score, failure = results.outputs[value.name], value.outcome.value, value.outcome.failure
    told: dict[str, Any] = {
        "name": value.name,
        "higher_is_better": info.higher_is_better,
        "signature": value.signature,
    }
    if score is None:
        assert failure is not None
        lost = {"reason": failure.reason.value, "detail": failure.detail, "advice": failure.advice}
        return told | {"value": None, "failed": lost}
    curve = [
        {"start": str(p.span.start), "end": str(p.span.end), "value": p.value, "note": p.note}
        for p in score.curve
    ]
    return told | {"value": score.value, "curve": curve, "details": dict(score.details)}


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"


def _clock(moment: Any) -> str:
    from screentest.core import timecode

    return timecode(moment)[:-2]


COMMANDS = {"show": show}
