"""Show suites of metrics; use what they bring of their own.

\b
Examples:
  screentest suite list
  screentest suite show core
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import JsonOption

if TYPE_CHECKING:
    from screentest.scores.suite import Dimension, Suite


def list_suites(as_json: JsonOption = False) -> None:
    """List the suites.

    \b
    Examples:
      screentest suite list
    """
    from screentest.cli.console import out, print_json
    from screentest.cli.tables import table
    from screentest.core import registry

    found = [
        (entry.name, str(entry.info.get("summary", ""))) for entry in registry.entries("suite")
    ]
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in found])
    else:
        out().print(table(["Suite", "What it is"], found))


def show(
    name: Annotated[
        str, typer.Argument(metavar="SUITE", help="A suite: NAME or NAME:option=value,…")
    ],
    as_json: JsonOption = False,
) -> None:
    """Show which metrics a suite has and how they add up.

    \b
    Examples:
      screentest suite show locot2v
      screentest suite show locot2v:compat=upstream --json
    """
    from screentest.cli.console import print_json
    from screentest.scores.suite import read_suite

    suite = read_suite(name)
    if as_json:
        print_json(
            {
                "name": suite.name,
                "metrics": list(suite.metrics),
                "dimensions": [_object(one) for one in suite.dimensions],
                "groups": list(suite.groups),
            }
        )
    else:
        _print(suite)


def _object(dimension: Dimension) -> dict[str, Any]:
    inner = {"values": list(dimension.values)} if dimension.values else {}
    parts = {"parts": [_object(one) for one in dimension.parts]} if dimension.parts else {}
    return {"name": dimension.name, **inner, **parts}


def _print(suite: Suite) -> None:
    from screentest.cli.tables import print_heading, print_indented
    from screentest.core import build, registry

    print_heading(f"{suite.name}: metrics")
    for spec in suite.metrics:
        entry = registry.entry("metric", spec.partition(":")[0])
        needs = ", ".join(build("metric", entry.name).thing.info.roles)
        print_indented(f"{spec}: {entry.info.get('summary', '')} ({needs or 'no models'})")
    for dimension in suite.dimensions:
        print_heading(f"{dimension.name}: the mean of")
        _print_parts(dimension, 2)


def _print_parts(dimension: Dimension, indent: int) -> None:
    from screentest.cli.tables import print_indented

    for value in dimension.values:
        print_indented(value, indent=indent)
    for part in dimension.parts:
        print_indented(f"{part.name}, the mean of", indent=indent)
        _print_parts(part, indent + 2)


GROUP = "suite"
COMMANDS = {"list": list_suites, "show": show}
