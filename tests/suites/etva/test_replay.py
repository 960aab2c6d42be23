"""The released transcripts give the published numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import binomtest

from screentest.core import Reason, UserError
from screentest.models.chat.messages import ChatRequest, ModelReply, Text
from screentest.models.chat.parsing import conclude
from screentest.suites.etva.answers import Compat, read_answer
from screentest.suites.etva.data import ReleasedPrompt, ReleasedQuestion, read_transcripts
from screentest.suites.etva.graph import ASKED, Category, QuestionsAnswer
from screentest.suites.etva.runs import judge_transcripts
from screentest.suites.etva.tables import Averages, averages

# Yes and asked per category, counted by hand in the released files of Vidu 1.5.
COUNTED = {
    Category.EXISTENCE: (171, 216),
    Category.MOTION: (105, 137),
    Category.MATERIAL: (41, 48),
    Category.SPATIAL: (46, 54),
    Category.NUMBER: (21, 29),
    Category.SHAPE: (9, 17),
    Category.COLOR: (8, 12),
    Category.CAMERA: (8, 19),
    Category.PHYSICS: (12, 20),
    Category.OTHER: (49, 66),
}
# ETVA's table for Vidu 1.5 on the benchmark of 105 prompts. The counts contradict two of its
# cells: 46/54 is .852 where it prints .862, and 21/29 is .724 where it prints .714.
PUBLISHED_AVERAGE = 0.761
OFF = {Category.SPATIAL: 0.862, Category.NUMBER: 0.714}


@pytest.fixture(scope="module")
def row(shared_data: Path) -> Averages:
    folder = shared_data / "etva"
    read = read_transcripts(folder / "vidu_sample_output.json", folder / "question_sample.json")
    return averages(judge_transcripts(read), model="vidu")


def test_the_published_average_is_micro(row: Averages) -> None:
    assert row.total == (470, 618, 618)
    micro, macro = row.micro.unwrap(), row.macro.unwrap()
    assert micro.value == pytest.approx(470 / 618)
    assert round(micro.value, 3) == pytest.approx(PUBLISHED_AVERAGE, abs=5e-4)
    # Over prompts it is another number, so the two cannot be confused.
    assert macro.value == pytest.approx(0.7560, abs=5e-5)
    assert (micro.scored, micro.total, macro.scored, macro.total) == (618, 618, 105, 105)
    # As if all 618 questions were about different videos, the interval would be too narrow.
    alone = binomtest(470, 618).proportion_ci(method="wilson")
    assert micro.high - micro.low > 1.2 * (alone.high - alone.low)


@pytest.mark.parametrize("category", ASKED)
def test_every_category(row: Averages, category: Category) -> None:
    yes, asked = COUNTED[category]
    assert row.counts[category] == (yes, asked, asked)
    assert row.categories[category].unwrap().value == pytest.approx(yes / asked)
    if category in OFF:
        assert round(yes / asked, 3) != OFF[category]


def test_upstream_counting_agrees_where_every_answer_has_one_token(shared_data: Path) -> None:
    folder = shared_data / "etva"
    read = read_transcripts(folder / "vidu_sample_output.json", folder / "question_sample.json")
    upstream = averages(judge_transcripts(read, compat=Compat.UPSTREAM))
    assert upstream.total == (470, 618, 618)


def transcript(*answers: str) -> list[ReleasedPrompt]:
    exchanges = tuple(
        ReleasedQuestion(f"Question {n}?", "color", text) for n, text in enumerate(answers)
    )
    return [ReleasedPrompt("1", "A red cat.", exchanges)]


def test_an_answer_without_one_token_is_none_and_upstream_says_no() -> None:
    said = transcript("[YES]", "perhaps", "[YES] or [NO]", "Conclusion: [NO].")
    strict = averages(judge_transcripts(said))
    assert strict.counts[Category.COLOR] == (1, 2, 4)
    assert strict.micro.unwrap().value == 0.5
    assert strict.micro.unwrap().coverage == 0.5
    upstream = averages(judge_transcripts(said, compat=Compat.UPSTREAM))
    assert upstream.counts[Category.COLOR] == (2, 4, 4)


def test_nothing_answered_is_no_zero() -> None:
    row = averages(judge_transcripts(transcript("perhaps")))
    for outcome in (row.micro, row.macro, row.categories[Category.COLOR]):
        assert outcome.failure is not None
    failure = row.categories[Category.SHAPE].failure
    assert failure is not None
    assert failure.reason is Reason.NOT_APPLICABLE


def test_a_transcript_without_categories_asks_for_them() -> None:
    said = [ReleasedPrompt("1", "A cat.", (ReleasedQuestion("Is there a cat?", answer="[YES]"),))]
    with pytest.raises(UserError, match="category") as told:
        judge_transcripts(said)
    assert "`categories`" in (told.value.advice or "")


def test_the_label_of_no_column_is_its_own_and_upstream_leaves_it_out() -> None:
    exchanges = (
        ReleasedQuestion("Is there a cat?", "existence", "[YES]"),
        ReleasedQuestion("Is it a garden?", "environment", "[NO]"),
    )
    said = [ReleasedPrompt("1", "A cat in a garden.", exchanges)]
    strict = averages(judge_transcripts(said))
    assert (strict.total, strict.counts[Category.ENVIRONMENT]) == ((1, 2, 2), (0, 1, 1))
    upstream = averages(judge_transcripts(said, compat=Compat.UPSTREAM))
    assert upstream.total == (1, 1, 1)


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Conclusion: YES. A girl walks.", True),
        ("**Conclusion:** [NO] Nobody walks.", False),
        ("I have to say [YES] or [NO].\nConclusion: [YES] A girl walks.", True),
        (
            "Conclusion: [YES] at first.\nOn reflection it is not.\nConclusion: [NO] She stands.",
            False,
        ),
    ],
)
def test_the_last_conclusion_counts(text: str, yes: bool) -> None:
    assert read_answer(text).unwrap() is yes


@pytest.mark.parametrize(
    "text",
    [
        "Conclusion: perhaps. YES and NO could both be said.",
        "Conclusion: [YES] or [NO]?",
        "[YES] or [NO].\nConclusion: YES, if the frames had been sent.",
        "No images were attached.\nConclusion: NO",
        "Yes, it does.",
        "Conclusion: Notable is the girl.",
    ],
)
def test_a_conclusion_that_is_none(text: str) -> None:
    assert not read_answer(text).ok


@pytest.mark.parametrize(
    ("label", "category"),
    [("Existence", Category.EXISTENCE), ("action", Category.MOTION), ("colour", Category.COLOR)],
)
def test_a_writer_may_use_the_labels_of_released_files(label: str, category: Category) -> None:
    reply = {"questions": [{"element": "1", "question": "Is there a cat?", "category": label}]}
    request = ChatRequest((Text("Write."),), schema=QuestionsAnswer)
    answer = conclude(request, ModelReply(json.dumps(reply))).value
    assert isinstance(answer, QuestionsAnswer)
    assert answer.questions[0].category == category
    assert answer.questions[0].element == 1
