"""The results of a run, read from its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from screentest.analysis.models.margins import own_margins
from screentest.analysis.results import REENCODED, Results, Value
from screentest.core.item import Item
from screentest.core.metric import OutputInfo, Traits
from screentest.core.outcome import Outcome, Reason, Score
from screentest.core.signature import value_name
from screentest.run.database import FILE
from screentest.run.inputs import ABSENT, hash_file
from screentest.run.reader import RunReader


def read_results(run: RunReader) -> Results:
    """Return the current values of a run, and which are still to come."""
    outputs: dict[str, OutputInfo] = {}
    traits: dict[str, Traits] = {}
    declared: dict[str, tuple[str, ...]] = {}
    for note in run.evaluators():
        if note.kind == "metric":
            infos, kept = note.outputs, note.traits
            declared[note.name] = tuple(infos)
            outputs |= {value_name(note.name, name): info for name, info in infos.items()}
            traits |= {value_name(note.name, name): kept[name] for name in infos}
    records = {record.key: record for record in run.records()}
    values: list[Value] = []
    pending: list[tuple[str, str]] = []
    for key in run.plan():
        if key.aspect:
            continue  # a judge, maybe of the metric's name
        record = records.get(key)
        for output in declared.get(key.evaluator, ()):
            if record is None:
                pending.append((key.item, value_name(key.evaluator, output)))
                continue
            outcome = _outcome(record.outcomes, output, key.evaluator)
            values.append(
                Value(key.item, key.evaluator, output, outcome, key.signature, record.elapsed)
            )
    items = run.items()
    contents = _contents(items, run.contents())
    results = Results(items, tuple(values), outputs, tuple(pending), _suites(run), contents, traits)
    if not (run.folder / REENCODED / FILE).is_file():
        return results
    if not all(start.arguments.get("own_margins", True) for start in run.starts()[-1:]):
        return results
    with RunReader(run.folder / REENCODED) as copies:
        return replace(results, margins=own_margins(results, read_results(copies), copies.folder))


def _contents(items: Mapping[str, Item], stored: Mapping[str, str]) -> dict[str, str]:
    """Return the hash of each video that the run has, and of new files of equal size."""
    hashes: dict[str, str] = {}
    unknown: dict[int, list[Item]] = {}
    for item in items.values():
        path = item.video.absolute()
        if held := item.sha256 or stored.get(str(path), ""):
            hashes[item.id] = held
        try:
            unknown.setdefault(path.stat().st_size, []).append(item)
        except (OSError, ValueError):  # an address, or a file that is gone
            continue
    for alike in unknown.values():
        for item in alike if len(alike) > 1 else ():
            if item.id not in hashes and (hashed := hash_file(item.video)) != ABSENT:
                hashes[item.id] = hashed
    return hashes


def _suites(run: RunReader) -> tuple[str, ...]:
    """One suite or several, as the starts of a run noted them."""
    specs: dict[str, None] = {}
    for start in run.starts():
        noted = start.arguments.get("suite") or ()
        many = noted if isinstance(noted, list | tuple) else [noted]
        specs |= dict.fromkeys(spec for spec in many if isinstance(spec, str))
    return tuple(specs)


def _outcome(outcomes: Mapping[str, Outcome[Any]], output: str, evaluator: str) -> Outcome[Score]:
    # A task that failed as a whole is written under the evaluator's own name.
    outcome = outcomes.get(output) or outcomes.get(evaluator)
    if outcome is None:
        return Outcome.failed(Reason.CRASHED, "the record has no such value")
    assert outcome.value is None or isinstance(outcome.value, Score)
    return outcome
