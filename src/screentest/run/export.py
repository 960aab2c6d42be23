"""Records as tables for other programs: CSV, Parquet, JSON.

One row for each value, and one for each value that is missing, with its reason: nothing is
left out. JSON and Parquet hold texts exactly; in CSV a text that a spreadsheet would take for
a formula gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from screentest._util.atomic import atomic_output
from screentest._util.optional import need, optional
from screentest._util.text import safe_cell
from screentest.core import BadOption, Outcome, Score, StorageError, Verdict
from screentest.core.signature import value_name
from screentest.run.reader import RunReader
from screentest.run.records import RecordKey, RecordValue, encode

ExportCell: TypeAlias = str | int | float | None

_TYPES = {"str": str, "int": int, "float": float}
COLUMNS: Final[Mapping[str, type]] = {
    name: _TYPES[kind]
    for name, kind in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
"""``status`` is ``value``, the reason why there is none, or ``pending``. ``text`` is a judge's
rationale or what is known of a failure; ``details`` is JSON: curve, evidence and the like."""

PENDING: Final = "pending"
PARTITIONS: Final = ("evaluator", "aspect", "name", "status")
_ROWS_AT_ONCE: Final = 20_000


def rows(run: RunReader) -> Iterator[dict[str, ExportCell]]:
    """Yield the table: current records and those still to come, by key and name."""
    # Both come by key, so that a run of millions is never held at once.
    made = run.records()
    ahead = next(made, None)
    for key in run.plan():
        if ahead is None or ahead.key != key:
            yield _row(key, key.evaluator, status=PENDING)
            continue
        record, ahead = ahead, next(made, None)
        for name, outcome in sorted(record.outcomes.items()):
            yield _row(key, name, elapsed=record.elapsed, attempts=record.attempts) | _cells(
                outcome
            )


def _row(key: RecordKey, output: str, **cells: ExportCell) -> dict[str, ExportCell]:
    # A judge has one value, which is named like it; so has a task that failed as a whole.
    whole = bool(key.aspect) or output == key.evaluator
    name = key.evaluator if whole else value_name(key.evaluator, output)
    return dict.fromkeys(COLUMNS) | key.row | {"name": name} | cells


def _cells(outcome: Outcome[RecordValue]) -> dict[str, ExportCell]:
    if outcome.failure is not None:
        failure = outcome.failure
        return {
            "status": failure.reason.value,
            "text": failure.detail or None,
            "advice": failure.advice or None,
        }
    whole = json.loads(encode({"": outcome}).text)[""]
    value = outcome.unwrap()
    cells: dict[str, ExportCell] = {"status": "value"}
    if isinstance(value, Score):
        cells["value"] = value.value
        rest = {k: v for k, v in whole["score"].items() if k != "value"}
    elif isinstance(value, Verdict):
        cells |= {"choice": value.choice.value, "first": value.first, "second": value.second}
        cells["text"] = value.rationale or None
        rest = {k: v for k, v in whole["verdict"].items() if k.startswith("evidence")}
    else:
        rest = whole["data"]
    return cells | {"details": _json(rest) if rest else None}


def export(run: RunReader, kind: str, target: Path | IO[bytes]) -> None:
    """Write the table of a run: to a path whole or not at all, to an open file as it comes."""
    if kind not in WRITERS:
        raise BadOption(
            f"cannot export to {kind!r}", advice=f"Known: {', '.join(sorted(WRITERS))}."
        )
    if kind == "parquet":
        need("pyarrow")
    if isinstance(target, Path):
        with atomic_output(target) as file, io.BufferedWriter(file) as buffered:
            WRITERS[kind](run, buffered)
    else:
        WRITERS[kind](run, target)


def _write_csv(run: RunReader, file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    table = csv.writer(text)
    table.writerow(COLUMNS)
    for row in rows(run):
        cells = (row[name] for name in COLUMNS)
        table.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in cells])
    text.detach()


def _write_parquet(run: RunReader, file: IO[bytes]) -> None:
    parquet = optional("pyarrow.parquet")
    batches = _batches(run)
    with parquet.ParquetWriter(file, _schema()) as writer:
        for batch in batches:
            writer.write_batch(batch)


def export_partitioned(run: RunReader, by: str, folder: Path) -> None:
    """Write Parquet as a folder with a part for each value of a column: whole or not at all.

    The folders are named as Hive and what reads its tables expect: ``evaluator=flicker``.
    """
    dataset = optional("pyarrow.dataset")
    if by not in PARTITIONS:
        raise BadOption(f"cannot part by {by!r}", advice=f"One of {', '.join(PARTITIONS)}.")
    if folder.exists():
        raise BadOption(f"{folder} is there already", advice="Remove it, or choose another.")
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        arrow, schema = optional("pyarrow"), _schema()
        reader = arrow.RecordBatchReader.from_batches(schema, _batches(run))
        parts = dataset.partitioning(arrow.schema([schema.field(by)]), flavor="hive")
        dataset.write_dataset(reader, unfinished, format="parquet", partitioning=parts)
        unfinished.rename(folder)
    except OSError as error:
        raise StorageError(f"cannot write {folder}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _schema() -> Any:
    arrow = optional("pyarrow")
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    return arrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])


def _batches(run: RunReader) -> Iterator[Any]:
    arrow = optional("pyarrow")
    table, schema = rows(run), _schema()
    while piece := list(islice(table, _ROWS_AT_ONCE)):
        yield arrow.RecordBatch.from_pylist(piece, schema=schema)


def _write_json(run: RunReader, file: IO[bytes]) -> None:
    coverage, spending, starts = run.coverage(), run.spending(), run.starts()
    whole = {
        "run": {
            "command": starts[-1].command if starts else "",
            "arguments": starts[-1].arguments if starts else {},
            "screentest": starts[-1].package if starts else "",
            "started": starts[0].started if starts else "",
            "starts": len(starts),
        },
        "coverage": {
            name: getattr(coverage, name)
            for name in ("total", "scored", "failed", "inapplicable", "pending", "reasons")
        },
        "spending": {name: _exact(getattr(spending, name)) for name in spending.__slots__},
        "records": [_filled(row) for row in rows(run)],
    }
    file.write((json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def _filled(row: Mapping[str, ExportCell]) -> dict[str, Any]:
    """Return a row without its empty cells; its details as an object."""
    filled: dict[str, Any] = {name: cell for name, cell in row.items() if cell is not None}
    if "details" in filled:
        filled["details"] = json.loads(filled["details"])
    return filled


def _exact(value: Any) -> Any:
    return f"{value:f}" if isinstance(value, Decimal) else value


def _json(value: Any) -> str:
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


WRITERS: Final[Mapping[str, Callable[[RunReader, IO[bytes]], None]]] = {
    "csv": _write_csv,
    "json": _write_json,
    "parquet": _write_parquet,
}
