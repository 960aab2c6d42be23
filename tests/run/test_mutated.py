"""Runs of others: rows that are sound to the checksum, and say what cannot be."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from screentest.analysis.judges.compare import compare_runs
from screentest.analysis.models.comparison import compare_scores
from screentest.analysis.runs import read_results
from screentest.core import Choice, ScreentestError
from screentest.present.page.data import read_report
from screentest.present.page.tables import tables
from screentest.run.database import checked_columns
from screentest.run.merge import merge
from screentest.run.reader import RunReader, read_summary
from screentest.run.records import checksum
from tests.mutations import mutated
from tests.present.runs import Said, certificate, certify_run, items, lost, score_run, scored

COLUMNS = (
    ("notes", "body"),
    ("items", "body"),
    ("records", "outcomes"),
    ("records", "reasons"),
    ("evaluators", "about"),
    ("starts", "arguments"),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    films = [*items("a", model="x"), *items("b", model="y")]
    values = {(name, "calm"): scored(0.5, 0.2) for name in "ab"} | {("a", "busy"): lost()}
    said = [Said("bed/a/x", Choice.FIRST), Said("bed/b/x", Choice.SECOND)]
    return {
        "score": score_run(folder / "score", films, values),
        "certify": certify_run(folder / "certify", [certificate()], said),
    }


def read_all(run: Path, into: Path) -> list[Callable[[], object]]:
    def results() -> object:
        with RunReader(run) as reader:
            return read_results(reader).names

    return [
        results,
        lambda: [list(table.texts()) for table in tables(read_report([run]))],
        lambda: compare_runs([run], ()),
        lambda: compare_scores([run], "model"),
        lambda: compare_scores([run]),
        lambda: read_summary(run),
        lambda: merge([run], into),
    ]


def rows(run: Path, table: str, column: str) -> list[dict[str, Any]]:
    names = checked_columns()[table]
    listed = ", ".join(f'"{name}"' for name in names)
    with sqlite3.connect(run / "run.db") as database:
        found = [
            dict(zip(names, row, strict=True))
            for row in database.execute(f"SELECT {listed} FROM {table}")
        ]
    database.close()
    return [row for row in found if row[column]][: None if table == "notes" else 1]


def put(run: Path, table: str, row: dict[str, Any]) -> None:
    cells = [row[name] for name in checked_columns()[table]]
    changes = ", ".join(f'"{name}" = ?' for name in checked_columns()[table])
    with sqlite3.connect(run / "run.db") as database:
        database.execute(
            f"UPDATE {table} SET {changes}, checksum = ? WHERE id = ?",
            [*cells, checksum(table, cells), row["id"]],
        )
    database.close()


def sweep(run: Path, folder: Path, most: int, texts: int = 100, readers: int = 6) -> int:
    count = 0
    work, into = folder / "work", folder / "into"
    for table, column in COLUMNS:
        for row in rows(run, table, column):
            try:
                document = json.loads(row[column])
            except ValueError:
                document = [row[column]]
            for what, text in islice(mutated(document, most), texts):
                shutil.rmtree(work, ignore_errors=True)
                shutil.copytree(run, work)
                put(work, table, {**row, column: text})
                for number, read in enumerate(read_all(work, into)[:readers]):
                    shutil.rmtree(into, ignore_errors=True)
                    count += 1
                    try:
                        read()
                    except ScreentestError:
                        pass
                    except Exception as error:
                        raise AssertionError(f"{table}.{column}: {what}, {number}") from error
    return count


@pytest.mark.parametrize("kind", ["score", "certify"])
def test_nobody_falls_over_a_mutated_run(runs: dict[str, Path], tmp_path: Path, kind: str) -> None:
    assert sweep(runs[kind], tmp_path, 0, texts=4, readers=5) >= 80


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["score", "certify"])
def test_nobody_falls_over_many_mutated_runs(
    runs: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    assert sweep(runs[kind], tmp_path, 80, texts=1000) > 1000
