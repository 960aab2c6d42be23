"""List and show suites of metrics, and what a paper's experiment needs."""

from __future__ import annotations

from typing import Any

from screentest.api import reproduce as api
from screentest.cli.console import print_json
from screentest.cli.options import MODELS, JsonOption, shares
from screentest.cli.tables import print_heading, print_indented, print_lines, show
from screentest.core import build, registry
from screentest.core.codec import to_object
from screentest.core.table import Column, Table
from screentest.present.forecast import load_table


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


@shares(MODELS)
def reproduce(
    paper: str = "", at: list[str] | None = None, as_json: JsonOption = False, **work: Any
) -> None:
    """Show what a paper's experiment needs and takes, and its published numbers."""
    if not paper:
        rows = [(recipe.name, recipe.title) for recipe in api.read_recipes().values()]
        show(Table("recipes", "Papers", ("paper", "title"), rows), as_json=as_json)
        return
    places = dict(text.partition("=")[::2] for text in at or ())
    plan = api.plan_reproduction(paper, at=places, **work)
    if as_json:
        print_json(to_object(plan))
    else:
        _print_plan(plan)


def _print_plan(plan: api.ReproductionPlan) -> None:
    parts, missing = plan.recipe.parts, plan.missing
    print_heading(f"{plan.recipe.title}: {plan.recipe.address}")
    for name, part in parts.items():
        facts = [part["title"], part.get("revision"), part.get("gb") and f"{part['gb']:,g} GB"]
        mark = "✓" if name not in missing else "–" if part.get("optional") else "✗"
        print_indented(f"{mark}  {name}: {', '.join(filter(None, facts))}")
    print_lines("Models", [f"--model {one['choice']}" for one in parts.values() if "choice" in one])
    if missing:
        print_heading("To get what is missing (– is optional)")
    for name, failure in missing.items():
        print_indented(f"{name}: {failure.detail}")
        for line in filter(None, dict.fromkeys([parts[name]["get"], parts[name].get("start")])):
            print_indented(line, indent=4)
    print_lines("By hand", plan.recipe.by_hand)
    print_heading("What it takes")
    show(load_table(plan.recipe.loads, plan.costs))
