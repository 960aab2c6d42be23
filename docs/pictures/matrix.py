"""The matrix of all metrics and all degradations: figures of matrix.md, and its picture.

    python docs/pictures/matrix.py CERTIFICATES.json…   # figures and picture of them

The files are what `screentest certify --json` prints; `bench/evidence.py` draws those of the
package's evidence. Metrics that ask a chat model are left out: their certificates are of one model,
on one day.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.judges.matrix import PLACEBO, Matrix, matrix
from screentest.core.codec import from_object
from screentest.core.registry import build, registry
from screentest.core.signature import split_value_name
from screentest.present.charts import matrix_chart, save
from screentest.stats import Claim

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "bench"))
from _figures import Table, publish  # noqa: E402

PICTURE = HERE / "matrix.svg"
COMMAND = "python docs/pictures/matrix.py certificates.json"
LEAST = 12
"""Pairs of a cell; fewer say nothing that would be worth a colour."""
MOST_NAMED = 5
"""Metrics in a cell of the table by harm."""


def asks_chat(roles: Iterable[str]) -> bool:
    """Tell if a chat model is among the roles."""
    return any(role.partition(".")[0] == "chat" for role in roles)


def read(files: Sequence[Path]) -> list[Certificate]:
    """The certificates in some files, without those of chat models; a judge that has none of its
    answers is left out."""
    found = []
    for file in files:
        for document in json.loads(file.read_text(encoding="utf-8")):
            one = from_object(Certificate, document)
            if one.overall.ok and not asks_chat(one.models):
                found.append(one)
    return found


def describes(judge: str) -> bool:
    """Tell if a value is descriptive: then + means that it falls, − that it rises."""
    metric, output = split_value_name(judge.partition("[")[0])
    if not registry.has("metric", metric.partition(":")[0]):
        return False
    outputs = build("metric", metric).thing.info.outputs
    return bool(outputs.get(output, next(iter(outputs.values()))).descriptive)


def by_harm(found: Matrix) -> Table:
    """Who sees each kind of harm, who prefers it, and what else moves with it."""
    rows = []
    shown = {judge: describes(judge) for judge in found.rows}
    for column in found.columns:
        aspect, _, operator = column.partition("/")
        whole = any(other.startswith(f"{column}/") for other in found.columns)
        if column.startswith(PLACEBO) or whole:
            continue
        cells: dict[str, list[tuple[float, str]]] = {"seen": [], "preferred": [], "moves": []}
        for judge, row in found.rows.items():
            if column not in row or row[column].claim not in (Claim.SEES, Claim.PREFERS_DEGRADED):
                continue
            sees = row[column].claim is Claim.SEES
            strength = -abs(row[column].share - 0.5)
            if shown[judge]:
                cells["moves"].append((strength, f"`{judge}` {'↓' if sees else '↑'}"))
            else:
                cells["seen" if sees else "preferred"].append((strength, f"`{judge}`"))
        texts = [_listed([text for _, text in sorted(those)]) for those in cells.values()]
        harm = (operator or aspect).replace("_", " ")
        many = max(row[column].pairs for row in found.rows.values() if column in row)
        rows.append((harm, many, *texts))
    return Table(
        dict.fromkeys(("degradation", "pairs", "seen by", "preferred by", "moves"), ""), rows
    )


def summary(found: Matrix) -> Table:
    """Degradations that each judge sees, is fooled by, is at chance on."""
    families = {name.partition("/")[0] for name in found.columns if "/" in name}
    single = [name for name in found.columns if name not in families]
    claims = (Claim.SEES, Claim.PREFERS_DEGRADED, Claim.CHANCE, Claim.UNDECIDED)
    rows: list[tuple[Any, ...]] = []
    for judge, row in found.rows.items():
        named = [name for name in single if name in row and not name.startswith(PLACEBO)]
        made = [row[name].claim for name in named]
        if made:
            rows.append((judge, *(made.count(claim) for claim in claims)))
    rows.sort(key=lambda row: (-row[1], row[2], row[0]))
    heads = ("judge", *(claim.value for claim in claims))
    return Table(
        dict.fromkeys(heads, ""),
        [[f"{judge}\\*" if describes(judge) else judge, *counts] for judge, *counts in rows],
    )


def at_least(found: Matrix, pairs: int) -> Matrix:
    """Without the cells that rest on fewer pairs, and without columns that are empty then."""
    rows = {
        judge: {name: cell for name, cell in row.items() if cell.pairs >= pairs}
        for judge, row in found.rows.items()
    }
    left = {name for row in rows.values() for name in row}
    columns = tuple(name for name in found.columns if name in left)
    return Matrix(columns, {name: found.pairs[name] for name in columns}, rows)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more if names else "–"


def tables(found: Matrix) -> dict[str, Table]:
    """The figures of the page."""
    counts = [found.pairs[name] for name in found.columns]
    size = (len(found.rows), len(found.columns), (min(counts), max(counts)))
    return {
        "size": Table({"values": "", "columns": "", "pairs of a cell": "{} to {}"}, [size]),
        "metrics": summary(found),
        "degradations": by_harm(found),
    }


def draw(
    certificates: Sequence[Certificate], picture: Path = PICTURE, command: str = COMMAND
) -> Matrix:
    """Keep the page's figures, and draw the picture."""
    found = at_least(matrix(certificates), LEAST)
    if not found.columns:
        raise SystemExit(f"no cell has {LEAST} pairs")
    publish("matrix", command, tables(found))
    save(matrix_chart(found), picture)
    return found


def main(arguments: Sequence[str]) -> None:
    """Draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    found = draw(read(parser.parse_args(arguments).files))
    print(f"{len(found.rows)} values by {len(found.columns)} columns: {PICTURE}")


if __name__ == "__main__":
    main(sys.argv[1:])
