"""Drafts to people and back, through the files that the annotation app reads and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.annotate.export import as_json
from screentest.annotate.material import read_units
from screentest.annotate.records import Record
from screentest.annotate.tasks import Task
from screentest.corpus.locot2v import read_prompt_suite
from screentest.suites.locot2v.building.reviewing import correct_drafts
from screentest.suites.locot2v.building.stages import Source
from tests.cli.conftest import invoke
from tests.metrics.locot2v.answering import answering
from tests.suites.locot2v.building.test_build import REPLIES, api_key, built, source

__all__ = ["api_key", "source"]  # fixtures


def vote(
    worker: str, text: str | None, name: str = "pets_dog", *, excluded: bool = False
) -> Record:
    """What one person said of a draft."""
    return Record(
        task=Task.PROMPTS,
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


def test_the_annotation_app_reads_the_drafts(source: Source, tmp_path: Path) -> None:
    with answering(**REPLIES) as server:
        done = built(server, tmp_path, source)
    assert done.drafts is not None
    (unit,) = read_units(done.drafts, Task.PROMPTS)
    assert (unit.source, unit.prompt) == ("pets_dog", "A revised draft.")
    assert unit.videos[0].path == source.item.video.resolve()


def test_a_correction_goes_all_the_way_into_the_suite(source: Source, tmp_path: Path) -> None:
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
        assert json.loads(result.stdout) == {
            "changed": ["pets_dog"],
            "approved": [],
            "disputed": [],
            "unknown": ["pets_cat"],
        }
        again = built(server, tmp_path, source)
    assert again.corrected == ["pets_dog/draft"]
    assert read_prompt_suite(tmp_path / "suite.json").records["pets_dog"].base == (
        "A corrected draft."
    )
    # Taken over twice is taken over once.
    assert correct_drafts(tmp_path, {"pets_dog": ["A corrected draft."]}).approved == ("pets_dog",)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["One.", "Another."], "disputed"),
        (["One.", " One. ", None], "changed"),
        ([None, None], "approved"),
    ],
)
def test_people_who_agree_or_not(
    texts: list[str | None], kind: str, source: Source, tmp_path: Path
) -> None:
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
    assert getattr(correct_drafts(tmp_path, {"pets_dog": texts}), kind) == ("pets_dog",)
