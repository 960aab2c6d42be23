"""Questions files: written, edited, read again; and the released ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.core import UserError
from screentest.suites.etva.graph import Category
from screentest.suites.etva.questions import (
    by_prompt,
    digest_of,
    key_of,
    read_question_sets,
    write_question_sets,
)
from screentest.suites.etva.rules.writer import write_by_rules


def test_written_and_read_again(tmp_path: Path) -> None:
    sets = [write_by_rules("A red fox runs."), write_by_rules("Two cats sleep on a sofa.")]
    write_question_sets(tmp_path / "questions.jsonl", sets)
    assert read_question_sets(tmp_path / "questions.jsonl") == sets


def test_a_person_may_edit_a_line(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    write_question_sets(file, [write_by_rules("A red fox runs.")])
    row = json.loads(file.read_text())
    text = "Can a fox be seen?"
    row["questions"][0]["text"] = text
    row["questions"].append({"id": "mine", "text": "Is it winter?", "category": "other"})
    file.write_text(json.dumps(row, indent=None))
    (edited,) = read_question_sets(file)
    assert edited.questions[0].text == text
    assert edited.questions[-1].category is Category.OTHER
    assert digest_of([edited]) != digest_of([write_by_rules("A red fox runs.")])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda row: row["questions"][0].update(category="weather"), "category"),
        (lambda row: row["questions"][0].update(element="e99"), "not in the graph"),
        (lambda row: row.pop("prompt"), "prompt"),
        (lambda row: row["questions"][1].update(id="q1"), "same id"),
    ],
)
def test_a_wrong_edit_is_reported_by_line(tmp_path: Path, change: object, told: str) -> None:
    file = tmp_path / "questions.jsonl"
    write_question_sets(file, [write_by_rules("A red fox runs.")])
    row = json.loads(file.read_text())
    change(row)  # type: ignore[operator]
    file.write_text(f"\n{json.dumps(row)}\n")
    with pytest.raises(UserError, match="line 2") as error:
        read_question_sets(file)
    assert told in str(error.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    with pytest.raises(UserError, match="is not there"):
        read_question_sets(file)
    for content, told in ((b"", "no questions"), (b"\xff", "UTF-8"), (b"film", "line 1")):
        file.write_bytes(content)
        with pytest.raises(UserError, match=told):
            read_question_sets(file)


def test_the_same_prompt_twice(tmp_path: Path) -> None:
    one = write_by_rules("A red fox runs.")
    assert key_of(" a  red\nFox runs.") == key_of(one.prompt)
    assert by_prompt([one])[key_of("A RED fox runs.")] == one
    assert len(by_prompt([one, write_by_rules("a red fox  runs.")])) == 1
    # Two graphs of one prompt cannot both be right.
    other = replace(write_by_rules("A dog sleeps."), prompt="a red fox  runs.")
    with pytest.raises(UserError, match=r"(?i)'a red fox +runs\.'"):
        by_prompt([one, other])


def test_released_files(shared_data: Path) -> None:
    folder = shared_data / "etva"
    sets = read_question_sets(folder / "qa_sample.json", folder / "question_sample.json")
    assert len(sets) == len(by_prompt(sets)) == 105
    assert sum(len(one.questions) for one in sets) == 618
    assert all(one.knowledge for one in sets)
    with pytest.raises(UserError, match="which category"):
        read_question_sets(folder / "qa_sample.json")


@pytest.mark.parametrize(
    ("name", "option"),
    [("question_sample.json", "--categories"), ("vidu_sample_output.json", "etva replay")],
)
def test_another_released_file_is_told_what_reads_it(
    shared_data: Path, name: str, option: str
) -> None:
    with pytest.raises(UserError) as error:
        read_question_sets(shared_data / "etva" / name)
    assert option in error.value.advice
