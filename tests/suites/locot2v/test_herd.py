"""HERD: polarity, both conventions on unclear answers, and questions of one's own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Item, Reason, build
from screentest.measure.evaluators import resolve, sign
from screentest.run.session import Settings, Tools
from screentest.suites.locot2v.data import DIMENSIONS, PromptRecord, write_prompt_suite
from screentest.suites.locot2v.metrics.herd import realised
from screentest.testing.chat_answers import Answer, Asked
from tests.suites.locot2v.answering import answering, chat, kind_of
from tests.suites.locot2v.films import measured

NAME = "locot2v_herd"
Answers = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["yes", "no", "unclear"])), min_size=1, max_size=12
)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Two positive and one negative question per dimension, under the suite file's titles."""
    titles = (
        *("Emotional Response", "Narrative Structure and Pacing", "Visual Style"),
        *("Characterization and Relationships", "Themes and Messages"),
        *("Openness and Interpretive Depth", "Overall Evaluation"),
    )
    questions = {
        title: [
            {"question": f"{title}: good?", "q_pos": "positive"},
            {"question": f"{title}: fine?", "q_pos": "positive"},
            {"question": f"{title}: poor?", "q_pos": "negative"},
        ]
        for title in titles
    }
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"pets": {"story": {"prompt": "x", "herd_questions": questions}}}))
    return path


def test_polarity_by_hand(suite: Path, story: Item) -> None:
    """Yes to all: two of three agree with their polarity."""
    with answering(yes_no={"answer": "yes"}) as server:
        found = measured(f"{NAME}:records={suite}", story, chat(server))
        assert len(server.asked) == 21
    assert list(found) == list(DIMENSIONS)
    for outcome in found.values():
        assert outcome.unwrap().value == pytest.approx(2 / 3)


def unsure(asked: Asked) -> dict[str, str]:
    """No to what is poor, yes to what is good, unclear else."""
    text = "\n".join(asked.texts)
    return {"answer": "no" if "poor?" in text else "yes" if "good?" in text else "unclear"}


def test_unclear_is_left_out_or_wrong(suite: Path, story: Item) -> None:
    with answering(yes_no=unsure) as server:
        left_out = measured(f"{NAME}:records={suite}", story, chat(server))
        wrong = measured(f"{NAME}:records={suite},unclear=wrong", story, chat(server))
    for name in DIMENSIONS:
        found = left_out[name].unwrap()
        assert (found.value, found.details["asked"], found.details["clear"]) == (1.0, 3, 2)
        assert wrong[name].unwrap().value == pytest.approx(2 / 3)


def test_all_unclear_has_no_answer(suite: Path, story: Item) -> None:
    with answering(yes_no={"answer": "unclear"}) as server:
        left_out = measured(f"{NAME}:records={suite}", story, chat(server))
        wrong = measured(f"{NAME}:records={suite},unclear=wrong", story, chat(server))
    for name in DIMENSIONS:
        lost = left_out[name].failure
        assert lost is not None
        assert (lost.reason, lost.detail) == (Reason.NOT_APPLICABLE, "every answer was unclear")
        assert wrong[name].unwrap().value == 0.0


def test_a_lost_answer_costs_its_dimension_only(suite: Path, story: Item) -> None:
    def one_lost(asked: Asked) -> Any:
        lost = any("Visual Style: poor?" in text for text in asked.texts)
        return Answer(None, refusal="no") if lost else {"answer": "yes"}

    with answering(yes_no=one_lost) as server:
        found = measured(f"{NAME}:records={suite}", story, chat(server))
    assert [name for name, outcome in found.items() if not outcome.ok] == ["visual_style"]


@given(Answers)
def test_turning_question_and_answer_changes_nothing(answers: list[tuple[bool, str]]) -> None:
    turned = {"yes": "no", "no": "yes", "unclear": "unclear"}
    other = [(not positive, turned[answer]) for positive, answer in answers]
    for unclear in ("left_out", "wrong"):
        assert realised(answers, unclear) == realised(other, unclear)  # type: ignore[arg-type]
    strict, lenient = realised(answers, "wrong"), realised(answers, "left_out")
    assert strict is not None
    assert lenient is None or strict <= lenient


def test_questions_are_written_where_there_are_none(story: Item) -> None:
    expected = dict.fromkeys(DIMENSIONS, "The dog is happy.") | {"themes": ""}
    with answering(
        expect=expected,
        questions={"questions": [f"Is it so, {n}?" for n in range(6)]},
        polarity=lambda asked: {
            "polarity": "negative" if any("so, 5?" in text for text in asked.texts) else "positive"
        },
        yes_no={"answer": "yes"},
    ) as server:
        found = measured(NAME, story, chat(server))
        judged = [asked for asked in server.asked if kind_of(asked) == "polarity"]
    assert len(judged) == 6  # the same six of each dimension
    # As in the paper: from the question alone.
    assert not any("The dog is happy" in text for asked in judged for text in asked.texts)
    assert found["visual_style"].unwrap().value == pytest.approx(5 / 6)
    lost = found["themes"].failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize("expected", [{}, {"themes": "Dogs are free."}])
def test_expectations_are_the_records_or_of_its_whole_prompt(
    expected: dict[str, str], story: Item, tmp_path: Path
) -> None:
    """The base is the prompt without what concerns evaluation: nothing is expected there."""
    prompt = "A dog runs. It should feel free."
    record = PromptRecord("dog_1", prompt, base="A dog runs.", expectations=expected)
    write_prompt_suite(tmp_path / "suite.json", [record])
    with answering(
        expect=dict.fromkeys(DIMENSIONS, "") | {"themes": "It feels free."},
        questions={"questions": [f"Is it so, {n}?" for n in range(6)]},
        polarity={"polarity": "positive"},
        yes_no={"answer": "yes"},
    ) as server:
        item = replace(story, groups={"prompt_id": "dog_1"})
        found = measured(f"{NAME}:records={tmp_path / 'suite.json'}", item, chat(server))
        asked = {kind_of(one): "\n".join(one.texts) for one in server.asked}
    assert found["themes"].unwrap().value == 1.0
    if expected:
        assert "expect" not in asked
        assert "Dogs are free." in asked["questions"]
    else:
        assert prompt in asked["expect"]


@pytest.mark.parametrize(
    ("kind", "told"), [("rewordings", "different wordings"), ("different", "No two ask")]
)
def test_six_rewordings_or_six_questions(kind: str, told: str, story: Item) -> None:
    with answering(
        expect=dict.fromkeys(DIMENSIONS, "") | {"themes": "Dogs are free."},
        questions={"questions": [f"Is it so, {n}?" for n in range(6)]},
        polarity={"polarity": "positive"},
        yes_no={"answer": "yes"},
    ) as server:
        measured(f"{NAME}:questions={kind}", story, chat(server))
        (asked,) = [one for one in server.asked if kind_of(one) == "questions"]
    assert told in "\n".join(asked.texts)


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("What is the mood of the light?", "yes or no"),
        ("is it so - 5", "twice"),
        ("Is one afraid in the storm and at ease in the harbour?", "example"),
    ],
)
def test_what_is_no_sixth_question_is_sent_back(first: str, told: str, story: Item) -> None:
    """A real model asked for the mood of the light, which yes does not answer."""
    good = {"questions": [f"Is it so, {n}?" for n in range(6)]}
    bad = {"questions": [first, *good["questions"][1:]]}
    with answering(
        expect=dict.fromkeys(DIMENSIONS, "") | {"themes": "Dogs are free."},
        questions=lambda asked: good if told in asked.texts[-1] else bad,
        polarity={"polarity": "positive"},
        yes_no={"answer": "yes"},
    ) as server:
        found = measured(NAME, story, chat(server))
        asked = [one for one in server.asked if kind_of(one) == "questions"]
    assert found["themes"].unwrap().value == 1.0
    assert len(asked) == 2


def test_the_signature_follows_the_suites_content_not_its_place(suite: Path) -> None:
    tools = Tools(Settings())
    other = suite.with_name("elsewhere.json")
    other.write_bytes(suite.read_bytes())
    before = sign(resolve(f"{NAME}:records={suite}"), tools).signature
    assert sign(resolve(f"{NAME}:records={other}"), tools).signature == before
    other.write_text(other.read_text().replace("poor?", "bad?"))
    assert sign(resolve(f"{NAME}:records={other}"), tools).signature != before
    assert "records" not in dict(build("metric", NAME).spec.signature.parts)
