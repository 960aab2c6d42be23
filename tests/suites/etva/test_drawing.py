"""A graph as SVG: whole, and harmless whatever its names are."""

from __future__ import annotations

from xml.etree import ElementTree

from screentest.suites.etva.graph import Attribute, Entity, SceneGraph, graph_svg
from screentest.suites.etva.rules.writer import write_by_rules

NAME = "{http://www.w3.org/2000/svg}"
RELATION = "on the left side of"


def texts(svg: str) -> list[str]:
    return [(one.tail or "") for one in ElementTree.fromstring(svg).iter(f"{NAME}title")]


def test_every_element_is_drawn() -> None:
    written = write_by_rules(f"A red penguin standing {RELATION} a cactus in a desert")
    assert written.graph is not None
    svg = graph_svg(written.graph, written.prompt)
    shown = texts(svg)
    assert shown[0] == written.prompt
    assert {"penguin", "cactus", "desert", "red", RELATION, "in"} <= set(shown)
    drawing = ElementTree.fromstring(svg)
    boxes = [one for one in drawing.iter(f"{NAME}rect") if one.get("rx")]
    assert len(boxes) == 3
    # A line for each attribute and an arc for each relation.
    edges = len(written.graph.attributes) + len(written.graph.relations)
    assert len(list(drawing.iter(f"{NAME}path"))) == edges


def test_names_are_text_and_never_markup() -> None:
    evil = '"><script>alert(1)</script>\x1b[2J'
    graph = SceneGraph((Entity("e1", evil),), (Attribute("a1", "e1", "x" * 500),))
    svg = graph_svg(graph, evil.replace("\x1b", ""))
    drawing = ElementTree.fromstring(svg)
    assert not list(drawing.iter(f"{NAME}script"))
    assert any(shown.startswith('"><script>') for shown in texts(svg))
    assert max(map(len, texts(svg))) < 120


def test_an_empty_graph_is_an_empty_picture() -> None:
    assert texts(graph_svg(SceneGraph())) == []
