"""List and show suites of metrics."""

from __future__ import annotations

from typing import Any

from screentest.cli.options import JsonOption
from screentest.cli.tables import print_heading, print_indented, show
from screentest.core import build, registry
from screentest.core.table import Column, Table


def list_suites(as_json: JsonOption = False) -> None:
    """List the suites."""
    columns = (Column("name", "Suite"), Column("summary", "What it is"), Column("origin", "From"))
    rows = [
        (entry.name, str(entry.info.get("summary", "")), entry.origin)
        for entry in registry.entries("suite")
    ]
    show(Table("suites", "Suites", columns, rows), as_json=as_json)


def show_suite(name: str, as_json: JsonOption = False) -> None:
    """Show which metrics a suite has and how they add up."""
    suite = build("suite", name).thing
    facts = {"name": suite.name, "groups": list(suite.groups)}
    metrics, dimensions = _metrics(suite), _dimensions(suite)
    if as_json:
        show(metrics, dimensions, as_json=True, **facts)
        return
    print_heading(f"{suite.name}: metrics")
    for row in metrics.records():
        print_indented(f"{row['metric']}: {row['summary']} ({row['roles'] or 'no models'})")
    for path, node, parts, value in dimensions.rows:
        assert isinstance(path, list)
        depth = len(path) - 1
        words = f"{node}, the mean of" if parts else f"{node}: {value}"
        words = str(node) if node == value else words
        if depth:
            print_indented(words, indent=2 * depth)
        else:
            print_heading(words)


def _metrics(suite: Any) -> Table:
    columns = (Column("metric"), Column("summary"), Column("roles"))
    rows = []
    for spec in suite.metrics:
        entry = registry.entry("metric", spec.partition(":")[0])
        roles = build("metric", spec).thing.info.roles
        rows.append((spec, str(entry.info.get("summary", "")), ", ".join(roles)))
    return Table("metrics", "Metrics", columns, rows)


def _dimensions(suite: Any) -> Table:
    """Return every node of the tree after its parent; those without parts are values."""
    rows: list[tuple[list[str], str, int, str]] = []

    def walk(dimension: Any, above: list[str]) -> None:
        path = [*above, dimension.name]
        if len(dimension.values) == 1:  # a dimension of one value is that value
            rows.append((path, dimension.name, 0, dimension.values[0]))
            return
        rows.append((path, dimension.name, len(dimension.parts) + len(dimension.values), ""))
        for part in dimension.parts:
            walk(part, path)
        rows.extend(([*path, value], value, 0, value) for value in dimension.values)

    for root in suite.dimensions:
        walk(root, [])
    return Table("dimensions", "Dimensions", ("path", "name", "parts", "value"), rows)
