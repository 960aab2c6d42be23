"""``screentest watch``: score validation clips as a training writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer

from screentest._util.text import plural
from screentest.cli.console import out as console
from screentest.cli.console import shown
from screentest.cli.options import MODELS, WORKERS, JsonOption, shares
from screentest.cli.tables import print_indented
from screentest.core.signature import metric_names
from screentest.watch.alarms import METRICS
from screentest.watch.loop import SETTLED, Round, Watch
from screentest.watch.loop import watch as run_watch

FOUND, STOPPED = 1, 130
"""Exit codes, as everywhere: something was found; stopped by Ctrl-C."""


@shares(MODELS, WORKERS)
def watch(
    folder: Path,
    out: Path | None = None,
    hook: list[str] | None = None,
    metrics: list[str] | None = None,
    prompt: str = "",
    step_pattern: str = "",
    every: float = 10.0,
    patience: float = 600.0,
    once: bool = False,
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Score validation clips as they appear, and raise alarms on collapse."""
    watching = Watch(
        folder,
        out or folder.with_name(f"{folder.absolute().name}-scores"),
        metrics=metric_names(metrics) if metrics else METRICS,
        prompt=prompt,
        hooks=hook or (),
        pattern=step_pattern,
        patience=patience,
        at_rest=once,
        work=work,
    )
    begun, number, problem = watching.known, 0, ""

    def tell(look: Round) -> None:
        nonlocal number, problem
        number, before, problem = number + 1, problem, str(look.problem or "")
        if problem and problem != before and not once:  # a lasting one is printed once
            if as_json:
                _write({"problem": type(look.problem).__name__, "message": problem})
            else:
                first, *_ = problem.split("\n")
                print_indented(f"Will try again: {shown(first)}", indent=0)
        _print(look, as_json=as_json)
        if number == SETTLED and watching.known == begun and not (look.again or problem or as_json):
            _print_nothing_new(watching, look)

    try:
        count = run_watch(watching, 1.0 if once else every, tell, looks=SETTLED if once else None)
    except KeyboardInterrupt:
        if not as_json:
            print_indented(f"Stopped; the same command goes on. Scores: {watching.out}", indent=0)
        raise typer.Exit(STOPPED) from None
    if once and count:
        raise typer.Exit(FOUND)


def _print(look: Round, *, as_json: bool) -> None:
    """One line for each step that was scored, and one for each alarm."""
    for alarm in (*look.withdrawn, *look.alarms):
        event, style = ("alarm", "bold red") if alarm in look.alarms else ("withdrawn", "bold")
        if as_json:
            held = {event: alarm.kind, "metric": alarm.metric, "began": alarm.step}
            _write({**held, "seen": alarm.seen, "message": alarm.message, "clips": alarm.clips})
        else:
            console().print(f"{event.upper()} {alarm.kind}: {shown(alarm.message)}", style=style)
    scores = look.scores
    if scores is None:
        return
    if as_json:
        for name in (*look.new, *look.again):
            clip = scores[name]
            lost = {key: failure.reason.value for key, failure in clip.reasons.items()}
            step = clip.item.groups.get("step")
            values = {"values": clip.numbers, "failed": lost, "again": name in look.again}
            _write({"clip": name, "step": int(step) if step else None, **values})
        return
    if look.new or look.again:
        steps = ", ".join(map(str, look.steps[:5])) + (" …" if len(look.steps) > 5 else "")
        where = f"step{'s' if len(look.steps) > 1 else ''} {steps}: " if look.steps else ""
        parts = [f"{plural(len(look.new), 'clip')} scored"] if look.new else []
        if look.again:
            parts.append(f"{plural(len(look.again), 'replaced clip')} scored again")
        if look.without_step:
            parts.append(f"{look.without_step:,} without a step in the name (in no alarm)")
        if look.left:
            parts.append(f"{look.left:,} to go")
        if look.waiting:
            parts.append(f"{plural(len(look.waiting), 'file')} still being written")
        print_indented(where + ", ".join(parts), indent=0)


def _print_nothing_new(watching: Watch, look: Round) -> None:
    words = f"nothing new: {plural(watching.known, 'clip')} known"
    if not watching.known:
        words = f"no clips in {shown(str(watching.folder))} yet"
    if look.waiting:
        words += f", {plural(len(look.waiting), 'file')} still being written"
    print_indented(words, indent=0)


def _write(record: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()
