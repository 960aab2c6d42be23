"""From answers to the table of a benchmark: averages and categories, each with its interval.

The published averages are micro: all questions of all prompts in one pool. The macro average
gives every prompt the same weight. Intervals come from resampling prompts, since the questions
of one prompt are about one video.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from screentest._util.text import printable
from screentest.core import Outcome, Reason, Summary, UserError
from screentest.manifests.manifest import read_manifest
from screentest.suites.etva.data import read_prompts
from screentest.suites.etva.graph import Category, EntityKind, SceneGraph
from screentest.suites.etva.questions import key_of


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question about one video, and its answer."""

    prompt: str
    """Which prompt, by number or id."""
    category: Category
    answer: Outcome[bool]
    question: str = ""
    model: str = ""
    """Whose video it was."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    model: str
    micro: Outcome[Summary]
    """Over all questions."""
    macro: Outcome[Summary]
    """Over prompts."""
    categories: Mapping[Category, Outcome[Summary]]
    counts: Mapping[Category, tuple[int, int, int]]
    """Yes, answered, asked."""

    @property
    def total(self) -> tuple[int, int, int]:
        """Yes, answered and asked of all categories together."""
        yes, answered, asked = zip(*self.counts.values(), strict=True)
        return sum(yes), sum(answered), sum(asked)


def tabulate(judged: Sequence[JudgedQuestion], *, model: str = "", signature: str = "etva") -> Row:
    """The table row of some answers."""
    by_category = {
        category: [one for one in judged if one.category is category] for category in Category
    }
    return Row(
        model,
        micro=_pooled(judged, signature),
        macro=_summary(_per_prompt(judged).values(), None, signature),
        categories={kind: _pooled(some, signature) for kind, some in by_category.items()},
        counts={kind: _count(some) for kind, some in by_category.items()},
    )


def rows_by_model(judged: Iterable[JudgedQuestion], *, signature: str = "etva") -> list[Row]:
    """A row for each model, in order of appearance."""
    models: dict[str, list[JudgedQuestion]] = {}
    for one in judged:
        models.setdefault(one.model, []).append(one)
    return [tabulate(some, model=model, signature=signature) for model, some in models.items()]


def _pooled(judged: Sequence[JudgedQuestion], signature: str) -> Outcome[Summary]:
    values: list[Outcome[float]] = [one.answer.map(float) for one in judged]
    return _summary(values, [one.prompt for one in judged], signature)


def _summary(
    values: Iterable[Outcome[float]], sources: Sequence[str] | None, signature: str
) -> Outcome[Summary]:
    from screentest.stats.aggregate import summarise

    listed = list(values)
    if not listed:
        return Outcome.failed(Reason.NOT_APPLICABLE, "no question of this kind")
    return summarise(listed, signature=signature, sources=sources, bounds=(0.0, 1.0))


def _per_prompt(judged: Sequence[JudgedQuestion]) -> dict[str, Outcome[float]]:
    """The share of yes of each prompt, among the questions that have an answer."""
    prompts: dict[str, list[JudgedQuestion]] = {}
    for one in judged:
        prompts.setdefault(one.prompt, []).append(one)
    return {name: _share(some) for name, some in prompts.items()}


def _share(judged: Sequence[JudgedQuestion]) -> Outcome[float]:
    yes, answered, asked = _count(judged)
    if not answered:
        return Outcome.failed(Reason.NOT_APPLICABLE, f"none of {asked} questions has an answer")
    return Outcome.of(yes / answered)


def _count(judged: Sequence[JudgedQuestion]) -> tuple[int, int, int]:
    answers = [one.answer.unwrap() for one in judged if one.answer.ok]
    return sum(answers), len(answers), len(judged)


# A scene graph as a picture: SVG, without any library.
#
# Entities stand in a column in the middle, their attributes to the right on lines, relations as
# arcs on the left with their words.

_ROW = 34
_BOX = 190
_LEFT = 330
"""Where the column of entities begins; arcs and their words stand before it."""
_RIGHT = _LEFT + _BOX + 60
_WIDTH = _RIGHT + 260
_MARGIN = 24
_COLOURS = {
    EntityKind.THING: "#dbe9f6",
    EntityKind.BACKGROUND: "#e2f0dc",
    EntityKind.CAMERA: "#f5e6cf",
}
_LONGEST = 34
_STYLE = "font-family:system-ui,sans-serif;font-size:13px"


def graph_svg(graph: SceneGraph, title: str = "") -> str:
    """The graph as an SVG document. Everything in it is text: nothing in a name is markup."""
    rows = _rows(graph)
    height = _MARGIN * 2 + _ROW * max(1, sum(rows.values())) + (20 if title else 0)
    top = _MARGIN + (20 if title else 0)
    middles, at = {}, top
    for name, count in rows.items():
        middles[name] = at + _ROW // 2
        at += _ROW * count
    shapes = [*_relations(graph, middles), *_attributes(graph, middles), *_entities(graph, middles)]
    if title:
        shapes.insert(0, _text(_MARGIN, _MARGIN, title, 110, weight="bold"))
    label = escape(title or "scene graph", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-label="{label}" style="{_STYLE}">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(shapes)}</svg>\n'
    )


def _rows(graph: SceneGraph) -> dict[str, int]:
    """How many rows each entity takes: one for each attribute, at least one."""
    rows = dict.fromkeys((entity.id for entity in graph.entities), 0)
    for attribute in graph.attributes:
        rows[attribute.entity] += 1
    return {name: max(1, count) for name, count in rows.items()}


def _entities(graph: SceneGraph, middles: dict[str, int]) -> Iterator[str]:
    for entity in graph.entities:
        middle = middles[entity.id]
        yield (
            f'<rect x="{_LEFT}" y="{middle - 13}" width="{_BOX}" height="26" rx="5" '
            f'fill="{_COLOURS[entity.kind]}" stroke="#333333"/>'
        )
        yield _text(_LEFT + 10, middle + 4, entity.name, 24)


def _attributes(graph: SceneGraph, middles: dict[str, int]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for attribute in graph.attributes:
        middle = middles[attribute.entity]
        row = middle + _ROW * seen.get(attribute.entity, 0)
        seen[attribute.entity] = seen.get(attribute.entity, 0) + 1
        start = _LEFT + _BOX
        yield _line(f"M{start},{middle} L{_RIGHT - 6},{row}")
        yield _text(_RIGHT, row + 4, attribute.value, _LONGEST)


def _relations(graph: SceneGraph, middles: dict[str, int]) -> Iterator[str]:
    for number, relation in enumerate(graph.relations):
        first, second = middles[relation.subject], middles[relation.object]
        bend = _LEFT - 60 - 26 * (number % 4)
        yield _line(f"M{_LEFT},{first} C{bend},{first} {bend},{second} {_LEFT},{second}")
        yield f'<circle cx="{_LEFT}" cy="{second}" r="4" fill="#333333"/>'
        at = (first + second) // 2 + 4
        yield _text(bend + 4, at, relation.name, _LONGEST, anchor="end")


def _line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="#777777"/>'


def _text(
    left: int, base: int, words: str, longest: int, *, anchor: str = "start", weight: str = "normal"
) -> str:
    shown = printable(words, "�")
    shown = shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
    return (
        f'<text x="{left}" y="{base}" text-anchor="{anchor}" font-weight="{weight}">'
        f"<title>{escape(words if words.isprintable() else shown)}</title>{escape(shown)}</text>"
    )


# Prompts to write questions for: plain lines, a manifest, or a released file.


def read_texts(path: Path) -> list[str]:
    """The prompts of a file, each once.

    A ``.txt`` has one per line. Of a manifest come the prompts of its items; of an item with a
    script, the captions of its clips, since that is how it will be asked about. A released file
    has prompts with questions, which are not looked at.
    """
    kept: dict[str, str] = {}
    for text in _texts(path):
        if text.strip():
            kept.setdefault(key_of(text), text.strip())
    if not kept:
        raise UserError(f"there are no prompts in {path}")
    return list(kept.values())


def _texts(path: Path) -> list[str]:
    if path.suffix.lower() == ".csv" or _is_manifest(path):
        texts = []
        for item in read_manifest(path):
            clips = item.script.clips if item.script is not None else ()
            texts += [clip.caption for clip in clips] or [item.text]
        return texts
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        return [one.prompt for one in read_prompts(path)]
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UserError(f"{path} does not open: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8", advice="Give a text file with prompts.") from None


def _is_manifest(path: Path) -> bool:
    """Whether the first row names a video."""
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return False
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            first = next((line for line in file if line.strip()), "")
        row = json.loads(first)
    except (OSError, ValueError):
        return False
    return isinstance(row, dict) and "video" in row
