"""Stages to people and back, through the files that the annotation app reads and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.annotate.material import read_units
from screentest.judges.votes import VoteRecord, VoteTask, as_json
from screentest.suites.locot2v.construction.documents import (
    REVIEWED,
    Unreadable,
    correct_stage,
    read_back,
)
from screentest.suites.locot2v.construction.stages import SourceVideo
from screentest.suites.locot2v.data import read_prompt_suite
from tests.suites.locot2v.answering import answering
from tests.suites.locot2v.construction.test_build import REPLIES, api_key, built, source
from tests.terminal import invoke

__all__ = ["api_key", "source"]  # fixtures


def vote(
    worker: str, text: str | None, name: str = "pets_dog", *, excluded: bool = False
) -> VoteRecord:
    """What one person said of a draft."""
    return VoteRecord(
        task=VoteTask.PROMPTS,
        unit=name,
        source=name,
        video="dog.mkv",
        name="",
        aspect="",
        severity=None,
        clips=None,
        worker=worker,
        left="",
        duration=2.0,
        seconds=9.0,
        at=0.0,
        gold=False,
        excluded=excluded,
        finished=True,
        vote=worker,
        verdict="approve" if text is None else "correct",
        text=text,
    )


def test_the_annotation_app_reads_the_drafts(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**REPLIES) as server:
        done = built(server, tmp_path, source)
    assert done.drafts is not None
    (unit,) = read_units(done.drafts, VoteTask.PROMPTS)
    assert (unit.source, unit.prompt) == ("pets_dog", "A revised draft.")
    assert unit.videos[0].path == source.item.video.resolve()


def test_a_correction_goes_all_the_way_into_the_suite(source: SourceVideo, tmp_path: Path) -> None:
    votes = tmp_path / "votes.json"
    votes.write_text(
        as_json(
            [
                vote("ann", "A corrected draft."),
                vote("bob", None),
                vote("eve", "Nonsense.", excluded=True),
                vote("bob", None, "pets_cat"),
            ]
        )
    )
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
        result = invoke("suite", "locot2v", "correct", tmp_path, votes, "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout) == [
            {"video": "pets_dog", "outcome": "changed", "reason": None},
            {"video": "pets_cat", "outcome": "unknown", "reason": None},
        ]
        again = built(server, tmp_path, source)
    assert again.corrected == ["pets_dog/draft"]
    assert read_prompt_suite(tmp_path / "suite.json").records["pets_dog"].base == (
        "A corrected draft."
    )
    # Taken over twice is taken over once.
    assert correct_stage(tmp_path, {"pets_dog": ["A corrected draft."]}).approved == ("pets_dog",)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["One.", "Another."], "disputed"),
        (["One.", " One. ", None], "changed"),
        ([None, None], "approved"),
    ],
)
def test_people_who_agree_or_not(
    texts: list[str | None], kind: str, source: SourceVideo, tmp_path: Path
) -> None:
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
    assert getattr(correct_stage(tmp_path, {"pets_dog": texts}), kind) == ("pets_dog",)


@pytest.mark.parametrize("stage", REVIEWED)
def test_every_stage_can_be_looked_over(stage: str, source: SourceVideo, tmp_path: Path) -> None:
    """The app shows its text; untouched it changes nothing, and each line can be corrected."""
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
    path = tmp_path / ("drafts.jsonl" if stage == "draft" else f"review/{stage}.jsonl")
    (unit,) = read_units(path, VoteTask.PROMPTS)
    same = correct_stage(tmp_path, {"pets_dog": [unit.prompt]}, stage)
    assert same.approved == ("pets_dog",)
    text = "7" if stage == "complexity" else "yes" if stage == "questions" else "Corrected."
    lines = unit.prompt.splitlines()
    label = lines[-1].partition(": ")[0]
    changed = f"{label}: {text}" if stage not in ("draft", "merge") else text
    if stage == "questions":  # the last line is a polarity: turn it round
        changed = f"{label}: {'no' if lines[-1].endswith('yes') else 'yes'}"
    corrected = "\n".join([*lines[:-1], changed])
    assert correct_stage(tmp_path, {"pets_dog": [corrected]}, stage).changed == ("pets_dog",)
    with answering(**REPLIES) as server:
        again = built(server, tmp_path, source)
    assert f"pets_dog/{stage}" in [*again.corrected, *again.conflicts]
    (unit,) = read_units(path, VoteTask.PROMPTS)
    assert unit.prompt == corrected


QUESTIONS = {"themes": [{"question": "Is it calm?", "positive": True}], "how": "asked"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("themes.1.question: Is it?", "themes.1.positive is missing"),
        ("themes.1.question: Is it?\nthemes.1.positive: maybe", "yes or no, not 'maybe'"),
        ("Hello\nthemes.1.question: Is it?", "'Hello' has no name in front"),
        ("themes.1.question: A?\nthemes.1.question: B?", "is there twice"),
    ],
)
def test_corrections_that_do_not_fit(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_back("questions", text, QUESTIONS)


def test_a_text_of_several_lines_with_colons() -> None:
    """A line that only looks like a name belongs to the text before it."""
    text = "themes.1.question: Is it calm\nnote: even at night?\nthemes.1.positive: no"
    assert read_back("questions", text, QUESTIONS) == {
        "themes": [{"question": "Is it calm\nnote: even at night?", "positive": False}]
    }
    assert QUESTIONS["themes"][0]["positive"] is True  # type: ignore[index]


def test_a_correction_that_cannot_be_read_is_reported(source: SourceVideo, tmp_path: Path) -> None:
    votes = tmp_path / "votes.json"
    votes.write_text(as_json([vote("ann", "semantic: a lot")]))
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
    arguments = ("suite", "locot2v", "correct", tmp_path, votes, "--stage")
    result = invoke(*arguments, "complexity")
    assert result.exit_code == 1
    assert "pets_dog  unread   structural is missing" in result.stdout
    wrong = invoke(*arguments, "collect")
    assert wrong.exit_code == 2
    assert "people do not look over 'collect'" in wrong.stderr
