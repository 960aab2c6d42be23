"""Overall alignment: description by a server, similarity by the text role."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from screentest.core import Item, Reason, registry
from screentest.testing.chat_answers import Answer
from tests.suites.locot2v.answering import answering, chat
from tests.suites.locot2v.films import failure, score

NAME = "locot2v_overall_alignment"


def test_equals_the_cosine_of_the_two_texts(story: Item) -> None:
    told = "A brown dog runs quickly over a green field."
    with answering(describe=told) as server:
        found = score(NAME, story, chat(server))
    rows = registry.build("text_embedding", "shared_words").thing.embed([told, story.prompt])
    assert found.value == pytest.approx(float(np.clip(rows[0] @ rows[1], 0, 1)), rel=1e-6)
    assert found.details["description"] == told


def test_the_same_text_is_aligned_in_full(story: Item) -> None:
    with answering(describe=story.prompt) as server:
        assert score(NAME, story, chat(server)).value == pytest.approx(1.0)


def test_the_model_sees_frames_and_not_the_prompt(story: Item) -> None:
    with answering(describe="Something.") as server:
        score(f"{NAME}:frames=5,long_side=64", story, chat(server))
        (asked,) = server.asked
    assert asked.picture_sizes == [(64, 48)] * 5
    assert not any("dog" in text for text in asked.texts)
    # Five of the 32 frames of four seconds, from the first to the last.
    times = [text for text in asked.texts if text.startswith("[")]
    assert times == [f"[{n / 8:.2f} second]" for n in (0, 8, 16, 23, 31)]


def test_frames_by_rate_not_by_number(story: Item) -> None:
    with answering(describe="Something.") as server:
        for options, count in (("", 8), ("fps=1", 4), ("fps=30", 32), ("fps=30,frames=3", 3)):
            score(f"{NAME}:{options}" if options else NAME, story, chat(server))
            assert len(server.asked[-1].picture_sizes) == count


def test_the_base_of_the_suite_is_taken_not_the_prompt(story: Item, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    record = {"prompt": story.prompt, "main_content": "A cat sits on a wall."}
    suite.write_text(json.dumps({"pets": {"story": record}}))
    with answering(describe="A cat sits on a wall.") as server:
        assert score(f"{NAME}:records={suite}", story, chat(server)).value == pytest.approx(1.0)
        assert score(NAME, story, chat(server)).value < 0.9


def test_without_a_prompt_there_is_nothing_to_align_with(story: Item) -> None:
    lost = failure(NAME, replace(story, prompt="")).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Answer(""), Reason.UNPARSABLE),
        (Answer("Half a descr", finish="length"), Reason.TRUNCATED),
        (Answer(None, refusal="no"), Reason.REFUSED),
        (Answer('{"theme": "a dog runs'), Reason.UNPARSABLE),
    ],
)
def test_no_description_is_no_score(story: Item, reply: Answer, reason: Reason) -> None:
    with answering(describe=reply) as server:
        lost = failure(NAME, story, chat(server)).failure
    assert lost is not None
    assert lost.reason is reason


def test_without_a_model_it_says_so(story: Item) -> None:
    lost = failure(NAME, story).failure
    assert lost is not None
    assert lost.reason is Reason.MISSING_MODEL
