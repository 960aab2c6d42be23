"""Write the figures of docs/evidence/results into the pages beside this file.

    python docs/evidence/write.py

A script of bench/ leaves what it measured in ``results/NAME.json``. In a page each table stands
between ``<!-- figures: NAME/TABLE -->`` and ``<!-- end -->``; nothing there is edited by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PLACE = re.compile(r"<!-- figures: (?P<name>\w+)/(?P<table>\w+) -->\n.*?<!-- end -->", re.DOTALL)


def rendered(page: str) -> str:
    """The page with every table as its results have it."""
    return PLACE.sub(lambda place: block(place["name"], place["table"]), page)


def block(name: str, table: str) -> str:
    """What stands in one place of a page, its marks included."""
    results = HERE / "results" / f"{name}.json"
    if not results.exists():
        return f"<!-- figures: {name}/{table} -->\n\n*Not measured yet.*\n\n<!-- end -->"
    made = json.loads(results.read_text(encoding="utf-8"))
    lines = "\n".join(rows_of(made["tables"][table]))
    return f"<!-- figures: {name}/{table} -->\n\n{lines}\n\n{origin(made)}\n\n<!-- end -->"


def rows_of(table: dict[str, Any]) -> Iterator[str]:
    """The lines of a table."""
    forms = table["columns"].values()
    yield f"| {' | '.join(table['columns'])} |"
    yield f"|{'---|' * len(forms)}"
    for row in table["rows"]:
        yield f"| {' | '.join(shown(*pair) for pair in zip(row, forms, strict=True))} |"


def shown(cell: str | float | Sequence[float] | None, form: str) -> str:
    """A text as it is, numbers by the format of their column, a dash for nothing."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    numbers = cell if isinstance(cell, list) else [cell]
    return (form or "{}").format(*numbers)


def origin(made: dict[str, Any]) -> str:
    """When, where and by which command it was measured."""
    void = f"**Void: {made['void']}.** " if "void" in made else ""
    how = f": `{made['command']}`" if made["command"] else "; no script of it is kept"
    if "measured_at" in made:
        return f"{void}*Measured at {made['measured_at']}, not again since{how}.*"
    return f"{void}*Measured {made['date']} at `{made['commit']}`, {made['machine']}{how}.*"


def main() -> None:
    """Write all pages, and name those that changed."""
    for page in sorted(HERE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if rendered(text) != text:
            page.write_text(rendered(text), encoding="utf-8")
            print(page.name)


if __name__ == "__main__":
    main()
