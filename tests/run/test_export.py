"""Export: the table is what the records say, in every format, with nothing left out."""

from __future__ import annotations

import csv
import io
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from screentest.core import (
    BadOption,
    Choice,
    Outcome,
    Point,
    Reason,
    Score,
    Span,
    StorageError,
    Verdict,
)
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.export import COLUMNS, export, export_partitioned, rows
from screentest.run.reader import RunReader
from screentest.run.records import encode
from screentest.run.store import RunStore
from screentest.run.tasks import Finished, Task
from tests.run.test_store import keys, outcomes
from tests.run.work import key, measure, no_value, task

EVIL = [
    '=HYPERLINK("http://x")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1",
    " =1",
    "'=1",
    "plain",
]


@pytest.fixture
def run(store: RunStore) -> RunStore:
    """Scores with a curve, a verdict, an object, failures, and something still to come."""
    curve = (Point(Span(Fraction(0), Fraction(1, 3)), 0.25, "dark"),)
    made: list[tuple[str, dict[str, Outcome[Any]]]] = [
        ("score", {"flicker": Outcome.of(Score(0.1, curve, {"frames": 3}))}),
        ("verdict", {"judge": Outcome.of(Verdict(Choice.TIE, 0.5, None, "both blur"))}),
        ("object", {"pair": Outcome.of({"path": "a.mp4", "nested": [1, {"x": None}]})}),
        (
            "several",
            {
                "sharp": Outcome.of(Score(-0.0)),
                "noise": Outcome.failed(Reason.TIMED_OUT, "too slow", "Wait."),
            },
        ),
    ]
    planned = [*(Task((key(name),), measure) for name, _ in made), task("late")]
    store.add_to_plan([one.keys[0] for one in planned])
    for one, (_, what) in zip(planned, made, strict=False):
        store.write(Finished(one, (encode(what),), elapsed=0.5))
    return store


def read_csv(run: RunReader) -> list[dict[str, str]]:
    file = io.BytesIO()
    export(run, "csv", file)
    return list(csv.DictReader(io.StringIO(file.getvalue().decode(), newline="")))


def read_parquet(run: RunReader, folder: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet

    export(run, "parquet", folder / "table.parquet")
    table: list[dict[str, Any]] = pyarrow.parquet.read_table(folder / "table.parquet").to_pylist()
    return table


def read_json(run: RunReader) -> dict[str, Any]:
    file = io.BytesIO()
    export(run, "json", file)
    whole: dict[str, Any] = json.loads(file.getvalue(), parse_constant=pytest.fail)
    return whole


def test_one_row_for_each_value_and_each_missing_one(run: RunStore) -> None:
    found = {(row["item"], row["name"]): row for row in rows(run)}
    assert {place: row["status"] for place, row in found.items()} == {
        ("film-score", "brightness.flicker"): "value",
        ("film-verdict", "brightness.judge"): "value",
        ("film-object", "brightness.pair"): "value",
        ("film-several", "brightness.sharp"): "value",
        ("film-several", "brightness.noise"): "timed_out",
        ("film-late", "brightness"): "pending",
    }
    assert found["film-score", "brightness.flicker"]["value"] == 0.1
    assert json.loads(str(found["film-score", "brightness.flicker"]["details"])) == {
        "curve": [{"note": "dark", "span": {"start": "0", "end": "1/3"}, "value": 0.25}],
        "details": {"frames": 3},
    }
    verdict = found["film-verdict", "brightness.judge"]
    assert (verdict["choice"], verdict["first"], verdict["second"]) == ("tie", 0.5, None)
    assert verdict["text"] == "both blur"
    lost = found["film-several", "brightness.noise"]
    assert (lost["value"], lost["text"], lost["advice"]) == (None, "too slow", "Wait.")


def test_parquet_and_csv_and_json_agree(run: RunStore, tmp_path: Path) -> None:
    """pyarrow, the csv module and the json module read what we wrote."""
    table = list(rows(run))
    assert read_parquet(run, tmp_path) == table
    for written, row in zip(read_csv(run), table, strict=True):
        assert list(written) == list(COLUMNS)
        for name, cell in row.items():
            if isinstance(cell, float):
                assert float(written[name]) == cell
            else:
                assert written[name] == ("" if cell is None else str(cell))
    whole = read_json(run)
    assert whole["coverage"] == {
        "total": 5,
        "scored": 3,
        "failed": 1,
        "inapplicable": 0,
        "pending": 1,
        "reasons": {"timed_out": 1},
    }
    assert whole["spending"]["cost"] == "0"
    for written, row in zip(whole["records"], table, strict=True):
        details = row.pop("details")
        assert written.pop("details", None) == (json.loads(str(details)) if details else None)
        assert written == {name: cell for name, cell in row.items() if cell is not None}


def test_parquet_types(run: RunStore, tmp_path: Path) -> None:
    """A column keeps its type even where every cell is empty."""
    import pyarrow.parquet

    export(run, "parquet", tmp_path / "table.parquet")
    schema = pyarrow.parquet.read_schema(tmp_path / "table.parquet")
    assert {field.name: str(field.type) for field in schema} == {
        name: {str: "string", int: "int64", float: "double"}[kind] for name, kind in COLUMNS.items()
    }


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(keys, outcomes)
def test_no_outcome_is_lost_or_changed(
    store: RunStore, tmp_path: Path, one: Any, outcome: Outcome[Any]
) -> None:
    """An aggregate over the export is the aggregate over the records; NaN enters neither."""
    store._writer.do(lambda db: db.execute("DELETE FROM records"))
    store._writer.do(lambda db: db.execute("DELETE FROM plan"))
    store.add_to_plan([one])
    store.write(Finished(Task((one,), measure), (encode({"x": outcome}),)))
    (row,) = read_parquet(store, tmp_path)
    (written,) = read_csv(store)
    (filled,) = read_json(store)["records"]
    assert {name: row[name] for name in one.row} == one.row
    if outcome.failure is not None:
        assert row["status"] == filled["status"] == outcome.failure.reason.value
        assert row["value"] is None
        assert written["value"] == ""
    elif isinstance(outcome.value, Score):
        assert row["value"] == filled["value"] == float(written["value"]) == outcome.value.value
        assert math.isfinite(row["value"])


def test_formulas_are_harmless_in_csv_and_exact_elsewhere(store: RunStore, tmp_path: Path) -> None:
    tasks = [Task((key(1, name),), no_value, "refused") for name in EVIL]
    execute(store, tasks, engine=InlineEngine())
    names = sorted(EVIL)
    assert [row["evaluator"] for row in read_parquet(store, tmp_path)] == names
    assert [row["evaluator"] for row in read_json(store)["records"]] == names
    harmless = {name: name if name == "plain" else f"'{name}" for name in EVIL}
    assert [row["evaluator"] for row in read_csv(store)] == [harmless[name] for name in names]


def test_numbers_stay_numbers_in_csv(run: RunStore) -> None:
    (row,) = [row for row in read_csv(run) if row["name"] == "brightness.sharp"]
    assert row["value"] == "-0.0"


def test_a_file_is_whole_or_not_there(run: RunStore, tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text("before")
    run._writer.do(lambda db: db.execute("UPDATE records SET outcomes = 'x' WHERE id = 3"))
    with pytest.raises(Exception, match="row 3 of records"):
        export(run, "csv", target)
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["table.csv"]


def test_where_nothing_can_be_written(run: RunStore, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        export(run, "csv", tmp_path / "nowhere" / "table.csv")
    with pytest.raises(StorageError, match="is not a file"):
        export(run, "csv", tmp_path)
    with pytest.raises(BadOption, match="csv, json, parquet"):
        export(run, "xlsx", tmp_path / "table.xlsx")


def test_parquet_in_parts_is_the_same_table(store: RunStore, tmp_path: Path) -> None:
    """Names that a folder cannot have as they are come back as they were."""
    import pyarrow.dataset

    names = ["flicker", "noise:rate=2,size=8", "a/b", "=1+2"]
    made = [key(1, evaluator=name) for name in names]
    store.add_to_plan([*made, key(2, evaluator="flicker")])
    for one in made:
        outcome: Outcome[Any] = Outcome.of(Score(0.5))
        store.write(Finished(Task((one,), measure), (encode({one.evaluator: outcome}),)))
    export_partitioned(store, "evaluator", tmp_path / "parts")
    assert len(list((tmp_path / "parts").iterdir())) == len(names)
    table = pyarrow.dataset.dataset(tmp_path / "parts", partitioning="hive").to_table().to_pylist()

    def sort(row: Any) -> Any:
        return row["evaluator"], row["item"]

    whole = read_parquet(store, tmp_path)
    assert sorted(({n: row[n] for n in COLUMNS} for row in table), key=sort) == sorted(
        whole, key=sort
    )
    with pytest.raises(BadOption, match="there already"):
        export_partitioned(store, "evaluator", tmp_path / "parts")
    with pytest.raises(BadOption, match="cannot part by"):
        export_partitioned(store, "value", tmp_path / "other")
    assert not (tmp_path / "other").exists()
