"""Files of votes that others made: every one is read, or refused with the place."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.core import BadOption, ScreentestError
from screentest.judges import votes as reading
from screentest.judges.votes import Human, VoteRecord, as_csv, as_json, pair_votes, read_votes
from tests.mutations import mutated

VOTES = [
    VoteRecord(
        unit=f"film/color/s1/n{number}",
        source="film",
        video=f"videos/film/color_{number}.mp4",
        name="color",
        aspect="color",
        severity=1.0,
        clips=number,
        worker="w-1",
        left="intact",
        duration=20.0,
        seconds=12.5,
        at=1e9,
        vote=f"vote-{number:020}",
        choice="intact",
        watched={"left": 1.0, "right": 0.5},
    )
    for number in (1, 2)
]


def whole(path: Path) -> list[VoteRecord]:
    return read_votes(path, whole=True)


def test_no_reader_falls_over_mutated_votes(tmp_path: Path) -> None:
    document = json.loads(as_json(VOTES))
    path = tmp_path / "votes.json"
    for what, text in mutated(document, 150):
        path.write_text(text, encoding="utf-8")
        for read in (pair_votes, whole, lambda one: Human(votes=str(one))):
            try:
                read(path)
            except ScreentestError:
                pass
            except Exception as error:
                raise AssertionError(what) from error


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("score", float("nan")),
        ("seconds", float("inf")),
        ("severity", "strong"),
        ("choice", ["intact"]),
        ("at", "0001-01-01T00:00:00"),
        ("at", 7),
        ("worker", "a\0b"),
        ("unit", "\ud800"),
        ("watched", {"left": float("nan")}),
        ("answers", {"a": "yes"}),
    ],
)
def test_a_value_that_cannot_be_is_named(tmp_path: Path, name: str, value: object) -> None:
    document = json.loads(as_json(VOTES))
    document["votes"][1][name] = value
    path = tmp_path / "votes.json"
    path.write_text(json.dumps(document))
    with pytest.raises(BadOption, match="vote 2: "):
        read_votes(path)


def test_formulas_byte_order_marks_and_nul_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    odd = replace(VOTES[0], comment='=HYPERLINK("http://x","y")', unit="=1+1")
    path.write_bytes(b"\xef\xbb\xbf" + as_csv([odd]).encode())
    assert "'=HYPERLINK" in path.read_text(encoding="utf-8-sig")
    assert read_votes(path) == [odd]
    path.write_text(as_csv([VOTES[0]]).replace("w-1", "w\0"))
    with pytest.raises(BadOption):
        read_votes(path)
    path.write_bytes(as_csv(VOTES).encode("utf-16"))
    with pytest.raises(BadOption, match="cannot be read"):
        read_votes(path)
    with pytest.raises(BadOption, match="not a plain file"):
        read_votes(Path(os.devnull))


@pytest.mark.parametrize("size", [17 << 20, pytest.param(100 << 20, marks=pytest.mark.slow)])
def test_a_very_long_line_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    page = io.StringIO()
    writer = csv.writer(page)
    writer.writerows([["video", "aspect", "choice"], ["x" * size, "color", "intact"]])
    path = tmp_path / "votes.csv"
    path.write_text(page.getvalue())
    before = csv.field_size_limit()
    with pytest.raises(BadOption, match=r"vote 1: .*field limit"):
        read_votes(path)
    path.write_text("x" * size)
    with pytest.raises(BadOption, match=r"vote 1: .*field limit"):
        read_votes(path)
    assert csv.field_size_limit() == before
    monkeypatch.setattr(reading, "LARGEST", 1 << 20)
    with pytest.raises(BadOption, match="more than 1,048,576 bytes"):
        read_votes(path)
