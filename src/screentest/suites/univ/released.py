"""Results as UniV-Eval writes them, so that they stand in the tables beside one's own.

<case>_format_eval.json  points of the eight dimensions; JSON, or a text that holds JSON
<case>_eval.json         what the judge found; <case>_eval_raw.txt where that is not JSON
<case>_v2t_eval.json     the checklist of V2T with a score for each entry
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from screentest._util.collect import grouped
from screentest.analysis.people.released import read_json
from screentest.analysis.results import Results, Value
from screentest.core import BadOption, Item, ManifestError, Outcome, Reason, Score
from screentest.core.errors import NoValue
from screentest.core.metric import Outcomes
from screentest.core.signature import value_name
from screentest.models.chat.parsing import NotOneObject, read_object
from screentest.suites.univ import scores, text_task
from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.schema import Match, Points, Unread, named, unread_of
from screentest.suites.univ.script import texts_of
from screentest.suites.univ.text_task import ChecklistEntry
from screentest.suites.univ.vocabulary import PAPER_NAMES, SUBDIMENSIONS, Dimension

_TEXT, _POINTS = "_v2t_eval.json", "_format_eval.json"
_FILE = re.compile(r"(.+?)(_v2t|_format)?_eval(?:_raw\.txt|\.json)")
_ACTION = SUBDIMENSIONS[Dimension.ACTION][0]
_POINTS_OF: TypeAdapter[float] = TypeAdapter(Points)


def read_released(folder: Path, task: UnivTask | None) -> Results:
    """Return the results of one model, which the folder is named after, at one task.

    The files of V2T say so themselves. A case whose result cannot be read has a reason, no value.
    """
    matches = (_FILE.fullmatch(path.name) for path in sorted(folder.iterdir()))
    kinds = grouped((match[2] == "_v2t", match[1]) for match in matches if match)
    of_text = True in kinds
    chosen = UnivTask.V2T if of_text else task
    if not kinds:
        raise ManifestError(f"{folder} holds no run, and no *_eval.json of UniV-Eval")
    if chosen is None or (chosen is UnivTask.V2T) != of_text:
        raise BadOption(f"the task of {folder} is needed", advice="Add --task, such as t2v.")
    outputs = text_task.OUTPUTS if of_text else scores.OUTPUTS
    items, values = {}, []
    for case in dict.fromkeys(kinds[of_text]):
        name = f"{chosen}/{folder.resolve().name}/{case}"
        groups = {"case": case, "task": chosen.value, "model": folder.resolve().name}
        items[name] = Item(name, folder / f"{case}.mp4", groups=groups)
        try:
            file = _object(folder / f"{case}{_TEXT if of_text else _POINTS}")
            outcomes = _of_text(file) if of_text else _of_points(file)
        except (NoValue, ManifestError, NotOneObject) as error:
            lost: Outcome[Score] = Outcome.failed(Reason.UNPARSABLE, str(error))
            outcomes = dict.fromkeys(outputs, lost)
        values += [
            Value(name, chosen.metric, output, outcome, "") for output, outcome in outcomes.items()
        ]
    info = {value_name(chosen.metric, output): held for output, held in outputs.items()}
    return Results(items, tuple(values), info)


def _object(path: Path) -> dict[str, Any]:
    """Return what a file holds; the released code writes points as a text in JSON."""
    content = read_json(path)
    if isinstance(content, str):
        content = read_object(content)
    if not isinstance(content, dict):
        raise ManifestError(f"{path.name} is not an object")
    return content


def _of_points(file: dict[str, Any]) -> Outcomes:
    given = file.get("scores")
    written = {named(name): value for name, value in given.items()} if given else {}
    result: dict[str, Outcome[Score]] = {}
    for dimension in Dimension:
        try:
            result[dimension] = Outcome.of(Score(_POINTS_OF.validate_python(written[dimension])))
        except (KeyError, ValidationError):
            result[dimension] = Outcome.failed(Reason.UNPARSABLE, f"no points of {dimension}")
    lost = next((outcome for outcome in result.values() if not outcome.ok), None)
    means = {name: outcome.value.value for name, outcome in result.items() if outcome.value}
    return {scores.AVERAGE: lost or Outcome.of(Score(sum(means.values()) / len(means))), **result}


def _of_text(file: dict[str, Any]) -> Outcomes:
    entries, matches = [], []
    for path, leaf in _leaves(file, ()):
        about = _ACTION if "actions" in path else PAPER_NAMES["checklist"].get(".".join(path[1:]))
        if texts_of(leaf.get("item"), "item"):
            entries.append(ChecklistEntry(about or path[-1], str(leaf["item"])))
            matches.append(_match(leaf) if about else Unread(f"no sub-dimension is {path[-1]}"))
    if not entries:
        raise ManifestError("no entry of the checklist has a score")
    none: Outcome[Score] = Outcome.failed(Reason.NOT_APPLICABLE, "quotations are not asked for")
    return {**text_task.outcomes_of("", entries, matches), text_task.QUOTED: none}


def _match(leaf: dict[str, Any]) -> Match | Unread:
    try:
        return Match.model_validate({"quote": "", **leaf})
    except ValidationError as error:
        return unread_of(error, leaf)


def _leaves(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield every judged entry with the names that lead to it."""
    if isinstance(node, dict) and "score" in node:
        yield path, node
    elif isinstance(node, dict):
        for name, inner in node.items():
            yield from _leaves(inner, (*path, name))
    elif isinstance(node, list):
        for inner in node:
            yield from _leaves(inner, path)
