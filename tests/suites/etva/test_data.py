"""ETVA's released files: whole, of another benchmark, and broken."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from screentest.core import ManifestError
from screentest.suites.etva.data import read_prompts, read_questions, read_transcripts
from screentest.suites.etva.questions import read_question_sets


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
    return path


def test_the_released_benchmark(shared_data: Path) -> None:
    # 105 prompts and 618 questions, as published; 773 before they were thinned out.
    folder = shared_data / "etva"
    prompts = read_prompts(folder / "qa_sample.json", folder / "question_sample.json")
    assert len(prompts) == 105
    labels = Counter(question.label for prompt in prompts for question in prompt.questions)
    assert labels.total() == 618
    assert labels["existence"] == 216
    assert all(prompt.knowledge for prompt in prompts)
    before = read_prompts(folder / "prompts_sample.json")
    assert sum(len(prompt.questions) for prompt in before) == 773
    said = read_transcripts(folder / "vidu_sample_output.json")
    assert sum(len(one.questions) for one in said) == 618


def test_types_count_where_there_is_one_for_each_question(tmp_path: Path) -> None:
    row = {"number": 7, "prompt": "A cat runs.", "questions": [" A cat? ", "Does it run?"]}
    file = lines(tmp_path / "a.json", row | {"types": ["existence", "action"]})
    (prompt,) = read_prompts(file)
    assert prompt.number == "7"
    assert [(one.text, one.label) for one in prompt.questions] == [
        ("A cat?", "existence"),
        ("Does it run?", "action"),
    ]
    file = lines(tmp_path / "a.json", row | {"types": ["existence"]})
    assert [one.label for one in read_prompts(file)[0].questions] == ["", ""]


def test_a_text_may_hold_line_ends_of_unicode(tmp_path: Path) -> None:
    file = lines(tmp_path / "a.json", {"prompt": "A cat\u2028 runs.", "questions": []})
    assert read_prompts(file)[0].prompt == "A cat\u2028 runs."


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "line 1: wrong JSON"),
        (b'{"prompt": "x", "questions": [1]}', "line 1: questions"),
        (b"\n[]", r"line 2: .*object"),
        (b'{"questions": []}', "it has no prompt"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_broken_files_are_reported_by_line(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(content)
    with pytest.raises(ManifestError, match=told):
        read_prompts(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_a_pipe_in_the_place_of_questions_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    os.write(pipe, b"{}\n")
    with pytest.raises(ManifestError, match="not a plain file"):
        read_question_sets(path)
    assert os.read(pipe, 10) == b"{}\n"
    os.close(pipe)


def test_broken_transcripts(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no question_answer"):
        read_transcripts(lines(tmp_path / "a.json", {"prompt": "x"}))
    pair = {"question": "A cat?"}
    with pytest.raises(ManifestError, match="without question and answer"):
        read_transcripts(lines(tmp_path / "a.json", {"prompt": "x", "question_answer": [pair]}))
    with pytest.raises(ManifestError, match="is not there"):
        read_transcripts(tmp_path / "missing.json")


def test_files_of_two_benchmarks_do_not_go_together(tmp_path: Path) -> None:
    prompts = lines(tmp_path / "p.json", {"prompt": "x", "questions": ["A cat?", "A dog?"]})
    few = lines(tmp_path / "q.json", {"question": "A cat?", "type": "existence"})
    with pytest.raises(ManifestError, match=r"\b1 question\b.* 2\b"):
        read_prompts(prompts, few)
    kinds = [{"question": "A dog?", "type": "other"}, {"question": "A cat?", "type": "other"}]
    with pytest.raises(ManifestError, match="question 1"):
        read_prompts(prompts, lines(tmp_path / "q.json", *kinds))
    assert len(read_questions(tmp_path / "q.json")) == 2
