"""Data files of suites with one thing wrong: read, or refused with the place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from screentest.core import ScreentestError
from screentest.core.codec import to_json
from screentest.suites.etva.data import read_prompts, read_questions, read_transcripts
from screentest.suites.etva.graph import read_category
from screentest.suites.etva.questions import PromptQuestion, QuestionSet, read_question_sets
from screentest.suites.locot2v.data import items_of_suite, read_prompt_suite
from screentest.suites.univ.captions import read_shots
from screentest.suites.univ.data import read_truth, read_univbench
from screentest.suites.univ.text_task import read_checklist
from tests.mutations import mutated
from tests.suites.locot2v.test_data import FIRST, SECOND
from tests.suites.univ.test_text_task import TRUTH

OWN = QuestionSet(
    "A red bus passes.",
    (
        PromptQuestion("q1", "Is there a bus?", read_category("existence")),
        PromptQuestion("q2", "Is it red?", read_category("color"), needs=("q1",)),
    ),
)
RELEASED = {"prompt": "A bus.", "questions": ["Is there a bus?"], "types": ["Existence"]}
SAID = {"prompt": "A bus.", "question_answer": [{"question": "Is there?", "answer": "Yes"}]}


def _univ(path: Path) -> None:
    for document in read_truth(path).documents.values():
        read_checklist(document)
    case = path.parent / "full_list" / "1"
    case.mkdir(parents=True, exist_ok=True)
    (case / "caption.json").write_bytes(path.read_bytes())
    read_univbench(path.parent)


def _locot2v(path: Path) -> None:
    items_of_suite(read_prompt_suite(path), path.parent)


FILES: dict[str, tuple[str, Any, Callable[[Path], object]]] = {
    "etva questions": ("q.jsonl", json.loads(to_json(OWN)), read_question_sets),
    "etva released": ("p.jsonl", RELEASED, read_prompts),
    "etva types": ("t.jsonl", {"question": "Is it?", "type": "Color"}, read_questions),
    "etva transcripts": ("s.jsonl", SAID, read_transcripts),
    "locot2v first": ("f.json", FIRST, _locot2v),
    "locot2v second": ("s.json", SECOND, _locot2v),
    "univ truth": ("gt.json", {"caption": "A film.", "json": TRUTH}, _univ),
    "univ paper form": ("d.json", TRUTH, read_shots),
}


@pytest.mark.parametrize(("name", "document", "read"), FILES.values(), ids=FILES.keys())
def test_no_reader_falls_over_a_mutated_file(
    tmp_path: Path, name: str, document: Any, read: Callable[[Path], object]
) -> None:
    path = tmp_path / name
    for what, text in mutated(document, 50):
        path.write_text(text, encoding="utf-8")
        try:
            read(path)
        except ScreentestError:
            pass
        except Exception as error:
            raise AssertionError(what) from error
