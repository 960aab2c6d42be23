"""A scene graph as a picture: SVG, without any library.

Entities stand in a column in the middle, their attributes to the right on lines, relations as
arcs on the left with their words.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from screentest.base.printable import printable
from screentest.metrics.etva.graph import Kind, SceneGraph

_ROW = 34
_BOX = 190
_LEFT = 330
"""Where the column of entities begins; arcs and their words stand before it."""
_RIGHT = _LEFT + _BOX + 60
_WIDTH = _RIGHT + 260
_MARGIN = 24
_COLOURS = {Kind.THING: "#dbe9f6", Kind.BACKGROUND: "#e2f0dc", Kind.CAMERA: "#f5e6cf"}
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
