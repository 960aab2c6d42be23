"""Whether anything reads the prompt, which videos have borders, and who stands in for whom."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from screentest.analysis.models.remarks import (
    bordered,
    borders_remark,
    prompt_partly,
    prompt_readers,
    prompt_unread,
    unseen,
)
from screentest.analysis.results import Results, Value
from screentest.core import Borders, Item, Outcome, OutputInfo, Reason, Score
from screentest.core.outcome import BORDERS, Json

SIDES: list[Json] = [280, 0, 280, 0, 1280, 720]
LABELS = "clipscore|v:2|model.image_text:label_text%7Cv%3A1"
CLIP = "clipscore|v:2|model.image_text:hf%7Cv%3A1"


def results(
    *outcomes: Outcome[Score], metric: str = "clipscore", group: str = "prompt", prompt: str = "A"
) -> Results:
    names = [f"video {number}" for number in range(len(outcomes))]
    values = tuple(
        Value(name, metric, metric, outcome, LABELS)
        for name, outcome in zip(names, outcomes, strict=True)
    )
    items = {name: Item(name, Path(f"{name}.mp4"), prompt) for name in names}
    return Results(items, values, {metric: OutputInfo("", group=group)})


SCORED: Outcome[Score] = Outcome.of(Score(0.5))


def test_a_metric_that_reads_the_prompt_and_has_a_value_counts() -> None:
    found = results(SCORED)
    assert prompt_readers(found) == ["clipscore"]
    assert prompt_unread(found) == ""


@pytest.mark.parametrize(
    ("reason", "words"),
    [(Reason.MISSING_MODEL, "not chosen"), (Reason.NOT_APPLICABLE, "names nothing")],
)
def test_one_that_has_none_does_not(reason: Reason, words: str) -> None:
    found = prompt_unread(results(Outcome.failed(reason)))
    assert found.startswith("Nothing here reads the prompt")
    assert words in found
    assert "--models light" in found


def test_what_no_number_sees_is_named_unless_something_else_might_see_it() -> None:
    plain = results(SCORED, metric="sharpness", group="picture")
    assert unseen(plain).startswith("Logos or dead pixels, mosaic patches, doubled outlines, ")
    assert unseen(plain).endswith(" loops and reversed motion: look at the videos.")
    assert len(unseen(plain)) < 140  # four lines on a telephone
    assert unseen(results(SCORED, metric="somebodys_judge")) == ""
    assert " pictures and reversed motion: look" in unseen(results(SCORED, metric="loops"))
    assert unseen(results(Outcome.failed(Reason.MISSING_MODEL), metric="sharpness")) == ""


def test_one_that_fails_is_not_told_to_choose_a_model() -> None:
    """A run of ETVA whose answers could not be read was told to pull models."""
    found = prompt_unread(results(Outcome.failed(Reason.UNPARSABLE)))
    assert found == "What reads the prompt has no value here (unparsable)."


def test_a_run_without_such_a_metric_says_how_to_get_one() -> None:
    assert "--suite core" in prompt_unread(results(SCORED, metric="noise", group="picture"))


def test_videos_without_prompts_lack_nothing() -> None:
    assert prompt_unread(results(SCORED, group="picture", prompt="")) == ""


def test_what_of_the_prompts_is_read_is_said() -> None:
    def asked(found: Results) -> Results:
        items = {name: replace(item, prompt=name) for name, item in found.items.items()}
        return replace(found, items=items)

    lost: Outcome[Score] = Outcome.failed(Reason.NOT_APPLICABLE)
    assert prompt_partly(asked(results(SCORED, lost, lost))) == (
        "Most of what the prompts ask for: only a stand-in reads it (label text),"
        " on 1 of 3 prompts."
    )
    assert prompt_partly(asked(results(SCORED, SCORED))).endswith("reads it (label text).")
    some = asked(results(SCORED, lost))
    real = replace(some, values=tuple(replace(one, signature=CLIP) for one in some.values))
    assert prompt_partly(real) == "What every prompt asks for: it is read on 1 of 2 prompts."
    every = replace(real, values=real.values[:1], items={"video 0": real.items["video 0"]})
    assert prompt_partly(every) == prompt_partly(results(lost)) == ""


def test_borders_are_counted() -> None:
    boxed: Outcome[Score] = Outcome.of(Score(0.5, (), {BORDERS: SIDES}))
    found = results(boxed, SCORED, boxed)
    assert bordered(found)["video 2"] == Borders(280, 0, 280, 0, 1280, 720)
    assert borders_remark(found) == (
        "2 of 3 videos have borders (44% of the frame): pictures are measured inside them."
    )
    assert borders_remark(results(SCORED)) == ""


def test_a_stand_in_carries_its_name() -> None:
    found = results(SCORED)
    assert found.short_names == {"clipscore": "clipscore[label_text]"}
    real = Results(
        found.items, (Value("video 0", "clipscore", "clipscore", SCORED, CLIP),), found.outputs
    )
    assert real.short_names == {"clipscore": "clipscore"}


def test_what_only_counts_shots_does_not_read_the_prompt() -> None:
    """A script without colour words hid that nothing read it."""
    found = results(SCORED, metric="shot_count")
    counted = replace(found, outputs={"shot_count": OutputInfo("", group="prompt", reads=False)})
    assert prompt_readers(counted) == []
    assert prompt_unread(counted).startswith("Nothing here reads the prompt")


def test_one_prompt_in_twenty_is_no_fair_share() -> None:
    few = results(SCORED, *[Outcome.failed(Reason.NOT_APPLICABLE)] * 19)
    items = {name: replace(item, prompt=name) for name, item in few.items.items()}
    assert prompt_readers(replace(few, items=items)) == []
    half = results(*[SCORED] * 10, *[Outcome.failed(Reason.NOT_APPLICABLE)] * 10)
    items = {name: replace(item, prompt=name) for name, item in half.items.items()}
    assert prompt_readers(replace(half, items=items)) == ["clipscore"]
