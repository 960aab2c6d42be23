"""Stages to people and back, through the files that the annotation app reads and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.annotate.material import read_units
from screentest.core import BadOption
from screentest.judges.votes import VoteRecord, VoteTask, as_json
from screentest.suites.locot2v.construction.documents import (
    REVIEWED,
    correct_stage,
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
            {"video": "pets_dog", "outcome": "changed"},
            {"video": "pets_cat", "outcome": "unknown"},
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
def test_texts_can_be_looked_over(stage: str, source: SourceVideo, tmp_path: Path) -> None:
    """The app shows its text; untouched it changes nothing."""
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
    path = tmp_path / ("drafts.jsonl" if stage == "draft" else f"review/{stage}.jsonl")
    (unit,) = read_units(path, VoteTask.PROMPTS)
    same = correct_stage(tmp_path, {"pets_dog": [unit.prompt]}, stage)
    assert same.approved == ("pets_dog",)
    corrected = "A corrected text."
    assert correct_stage(tmp_path, {"pets_dog": [corrected]}, stage).changed == ("pets_dog",)
    with answering(**REPLIES) as server:
        again = built(server, tmp_path, source)
    assert f"pets_dog/{stage}" in [*again.corrected, *again.conflicts]
    (unit,) = read_units(path, VoteTask.PROMPTS)
    assert unit.prompt == corrected


def test_no_other_stage_is_looked_over(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="'collect'"):
        correct_stage(tmp_path, {}, "collect")
