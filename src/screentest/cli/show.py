"""``screentest show``: one video's scores, over time and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from screentest._util.collect import grouped
from screentest.analysis.evidence import (
    Evidence,
    Standing,
    is_current,
    people_of,
    recipe,
    values_named,
)
from screentest.api.reports import show as show_video
from screentest.cli.console import out as console
from screentest.cli.console import shown
from screentest.cli.options import JsonOption
from screentest.cli.tables import print_facts, print_heading, print_indented, rendered, show
from screentest.core import Failure, Reason, build, registry, timecode
from screentest.core.signature import split_value_name
from screentest.present.results import ItemScores
from screentest.present.tables import evidence_lines, evidence_table, people_lines
from screentest.present.text import phrase

MOMENTS = 3
WIDTH = 14
FEW = 3
"""Missing values that are named one by one."""
DESCRIBED = 2
"""Values that only describe, in the line that stands for them."""


def show_item(
    run: Path,
    item: str = "",
    worst: int = MOMENTS,
    every: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Show one video's scores over time."""
    scores = show_video(run, item, worst=worst)
    if as_json:
        show(scores.table(), as_json=True, **scores.about())
    else:
        _print(scores, every=every)
    if not any(value.outcome.ok for value in scores.values):
        raise typer.Exit(1)


def evidence(metric: str = "", as_json: JsonOption = False) -> None:
    """Show what metrics are known to see, and what fools them."""
    known = [one for one in values_named(metric) if is_current(one)]
    people = people_of(metric) if metric else []
    if metric and not known and not people:
        registry.entry("metric", metric.partition(".")[0])  # an unknown name is refused
        why = Standing.OTHER_VERSION if values_named(metric) else Standing.NONE
        known = [Evidence(metric, why)]
    if as_json:
        documents = [one.document() for one in known]
        show(evidence_table(known), as_json=True, values=documents, people=people, recipe=recipe())
        return
    if not metric:
        show(evidence_table(known))
        if not known:
            print_indented(phrase("nothing"), indent=0)
        return
    for one in known:
        print_heading(one.value)
        print_facts(evidence_lines(one, _has_direction(one.value)))
    if people:
        print_heading(people[0]["score"])
        print_facts(people_lines(people))


def _has_direction(value: str) -> bool:
    metric, output = split_value_name(value)
    infos = build("metric", metric).thing.info.outputs if registry.has("metric", metric) else {}
    return output not in infos or not infos[output].descriptive


def _print(scores: ItemScores, *, every: bool) -> None:
    item = scores.item
    console().print(shown(item.id), style="bold")
    text = " ".join(item.text.split())
    facts = [("Video", str(item.video))]
    if text:
        facts.append(("Prompt", text if len(text) <= 300 else f"{text[:300]}…"))
    facts += [(name, value) for name, value in item.groups.items()]
    print_facts(facts)
    if any(value.outcome.ok for value in scores.values):
        console().print()
        table = scores.scored(WIDTH, blocks=_has_blocks(), described=every)
        console().print(rendered(table))
        if table.note:
            print_indented(table.note, indent=0, style="dim")
    described = scores.described
    if described and not every:
        more = f" and {len(described) - DESCRIBED} more" if len(described) > DESCRIBED else ""
        text = f"Only described (--all): {', '.join(described[:DESCRIBED])}{more}"
        print_indented(text, indent=0, style="dim")
    low = scores.moments
    if low:
        print_heading("Worst moments, the worst first" if len(low) > 1 else "Worst moment")
    for moment, words in low:
        print_indented(f"{timecode(moment)[:-2]}  {words}")
    if not low and scores.most_moments and any(value.outcome.ok for value in scores.values):
        console().print()
        print_indented("No moment stands out: no curve falls far below its own middle.", indent=0)
    short = scores.names
    lost = [
        (short[value.name], value.outcome.failure)
        for value in scores.values
        if value.outcome.failure
        and (every or value.outcome.failure.reason is not Reason.NOT_APPLICABLE)
    ]
    if lost or scores.pending:
        print_heading("Not scored")
    for words, names in _reasons(lost).items():
        who = names if len(names) <= FEW else _metrics(names, short)
        print_indented(f"{', '.join(who)}: {words}")
    if scores.pending:
        coming = ", ".join(short[value] for value in scores.pending)
        print_indented(f"{coming}: still to come; start the same command again")


def _has_blocks() -> bool:
    """Test if the terminal's encoding has the letters that curves are drawn with."""
    try:
        "▁█".encode(console().encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _metrics(names: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """List the metrics of values, by their labels."""
    owners = {label: split_value_name(name)[0].partition(":")[0] for name, label in labels.items()}
    return list(dict.fromkeys(owners[name] for name in names))


def _reasons(lost: Sequence[tuple[str, Failure]]) -> dict[str, list[str]]:
    """Values by the reason that they are missing; of a traceback the last line."""
    return grouped(
        (": ".join(filter(None, (failure.reason.value, failure.brief, failure.advice))), name)
        for name, failure in lost
    )
