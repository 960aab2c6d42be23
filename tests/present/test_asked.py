"""The questions behind a score, as ETVA itself keeps them, in the page."""

from __future__ import annotations

import doctest
from fractions import Fraction
from pathlib import Path

import screentest.present.page.drilldown as asked_module
from screentest.core import Failure, Item, Outcome, OutputInfo, Reason, Span
from screentest.present.page.data import read_report
from screentest.present.page.drilldown import LONGEST, questions_asked
from screentest.present.page.html import write_html
from screentest.suites.etva.answers import Answered
from screentest.suites.etva.graph import Category
from screentest.suites.etva.metric import AskedScene, outcomes_of
from screentest.suites.etva.questions import PromptQuestion, QuestionSet
from tests.present.conftest import Open
from tests.present.runs import score_run

HOSTILE = "Is there a <img src=x onerror=alert(1)> dog?"


def scenes() -> list[AskedScene]:
    """Two clips: one answered in three ways, one without questions."""
    questions = (
        PromptQuestion("1", HOSTILE, Category.EXISTENCE),
        PromptQuestion("2", "Does it run?", Category.MOTION),
        PromptQuestion("3", "Is it red?", Category.COLOR),
    )
    answers = (
        Answered(questions[0], Outcome.of(True), "x" * (LONGEST + 1)),
        Answered(questions[1], Outcome.of(False), "It stands. [NO]"),
        Answered(questions[2], Outcome.failed(Reason.UNPARSABLE, "both tokens")),
    )
    first = Span(Fraction(0), Fraction(2))
    return [
        AskedScene("A red dog runs.", first, QuestionSet("A red dog runs.", questions), answers),
        AskedScene(
            "Then it sleeps.", Span(Fraction(2), Fraction(4)), failure=Failure(Reason.REFUSED, "no")
        ),
    ]


def test_the_examples_in_the_texts() -> None:
    assert doctest.testmod(asked_module).failed == 0


def test_what_etva_keeps_is_what_is_shown() -> None:
    first, second = questions_asked(outcomes_of(scenes(), floor=0.0)["score"].unwrap().details)
    assert [(one["category"], one["answer"]) for one in first["questions"]] == [
        ("existence", "yes"),
        ("motion", "no"),
        ("color", None),
    ]
    assert [len(one["why"]) <= LONGEST for one in first["questions"]] == [True] * 3
    assert first["questions"][2]["why"] == "unparsable: both tokens"
    assert (second["start"], second["failed"]) == (2.0, "refused: no")


def test_questions_of_one_video(tmp_path: Path, opened: Open) -> None:
    info = OutputInfo("share of yes")
    run = score_run(
        tmp_path / "run",
        [Item("dog", Path("/nowhere/dog.mp4"), "A red dog runs.")],
        {("dog", "etva"): outcomes_of(scenes(), floor=0.0)["score"]},
        metrics={"etva": info},
    )
    write_html(read_report([run]), tmp_path / "report.html", pictures=0)
    seen = opened(tmp_path / "report.html", viewport={"width": 360, "height": 800})
    page = seen.page
    page.click("#grid .frame")
    summary = page.locator(".asked summary")
    assert summary.inner_text() == "Questions behind etva: 1 yes, 1 no, 1 without an answer"
    summary.click()
    rows = page.locator(".asked li")
    rows.first.wait_for()
    assert [row.split("\n")[0] for row in rows.all_inner_texts()] == ["yes", "no", "no answer"]
    assert page.locator(".question").first.inner_text() == HOSTILE
    assert "refused: no" in page.inner_text(".asked")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert seen.troubles == []
