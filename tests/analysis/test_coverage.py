"""Coverage: prompts that are read, faults that are not seen, borders, heuristics, worst videos."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from screentest.analysis.models.coverage import (
    BorderedVideos,
    PromptCoverage,
    bordered,
    bordered_videos,
    not_covered,
    value_coverage,
    worst_videos,
)
from screentest.analysis.results import Results, Value
from screentest.core import Borders, Item, Outcome, OutputInfo, Reason, Score, Traits
from screentest.core.outcome import BORDERS, Json

SIDES: list[Json] = [280, 0, 280, 0, 1280, 720]
LABELS = "clipscore|v:1|model.image_text:label_text%7Cv%3A1"
CLIP = "clipscore|v:1|model.image_text:hf%7Cv%3A1"


def results(
    *outcomes: Outcome[Score], metric: str = "clipscore", group: str = "prompt", prompt: str = "A"
) -> Results:
    names = [f"video {number}" for number in range(len(outcomes))]
    values = tuple(
        Value(name, metric, metric, outcome, LABELS)
        for name, outcome in zip(names, outcomes, strict=True)
    )
    items = {name: Item(name, Path(f"{name}.mp4"), prompt) for name in names}
    return Results(items, values, {metric: OutputInfo("")}, traits={metric: Traits(group=group)})


SCORED: Outcome[Score] = Outcome.of(Score(0.5))


def prompts_of(given: Results) -> PromptCoverage:
    return not_covered(given).prompts


def asked(found: Results) -> Results:
    """The same with a prompt for each video."""
    items = {name: replace(item, prompt=name) for name, item in found.items.items()}
    return replace(found, items=items)


LOST: Outcome[Score] = Outcome.failed(Reason.NOT_APPLICABLE)


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        (Reason.MISSING_MODEL, PromptCoverage.NO_MODEL),
        (Reason.NOT_APPLICABLE, PromptCoverage.UNKNOWN_WORDS),
        (Reason.UNPARSABLE, PromptCoverage.FAILED),
    ],
)
def test_a_reader_without_a_value_covers_no_prompt(reason: Reason, state: PromptCoverage) -> None:
    found = not_covered(results(Outcome.failed(reason)))
    assert (found.prompts, found.prompts_read) == (state, False)
    assert found.failures == ((reason,) if state is PromptCoverage.FAILED else ())


def test_faults_that_no_number_sees_are_named_unless_something_else_might() -> None:
    plain = results(SCORED, metric="sharpness", group="picture")
    every = ("logos", "dead_pixels", "mosaics", "ghosting", "loops", "reversed_motion")
    assert not_covered(plain).faults == every
    assert not_covered(results(SCORED, metric="somebodys_judge")).faults == ()
    assert "loops" not in not_covered(results(SCORED, metric="loops")).faults
    missing = results(Outcome.failed(Reason.MISSING_MODEL), metric="sharpness")
    assert not_covered(missing).faults == ()


def test_prompts_need_a_metric_that_reads_them() -> None:
    none = results(SCORED, metric="noise", group="picture")
    assert prompts_of(none) is PromptCoverage.NO_METRIC
    assert prompts_of(replace(none, items={})) is PromptCoverage.NO_PROMPTS
    bare = results(SCORED, group="picture", prompt="")
    assert prompts_of(bare) is PromptCoverage.NO_PROMPTS


def test_heuristics_and_prompts_that_are_not_read_are_counted() -> None:
    few = not_covered(asked(results(SCORED, LOST, LOST)))
    assert (few.prompts, few.heuristics) == (PromptCoverage.HEURISTIC, ("label_text",))
    assert (few.read, few.of_prompts) == (1, 3)
    some = asked(results(SCORED, LOST))
    real = replace(some, values=tuple(replace(one, signature=CLIP) for one in some.values))
    assert prompts_of(real) is PromptCoverage.PARTLY
    every = replace(real, values=real.values[:1], items={"video 0": real.items["video 0"]})
    assert prompts_of(every) is PromptCoverage.COVERED


def test_borders_are_counted() -> None:
    boxed: Outcome[Score] = Outcome.of(Score(0.5, (), {BORDERS: SIDES}))
    found = results(boxed, SCORED, boxed)
    assert bordered(found)["video 2"] == Borders(280, 0, 280, 0, 1280, 720)
    assert bordered_videos(found) == BorderedVideos(2, 3, 0.4375, 0.4375)
    assert bordered_videos(results(SCORED)) is None


def test_a_stand_in_carries_its_name() -> None:
    found = results(SCORED)
    assert found.short_names == {"clipscore": "clipscore[label_text]"}
    real = Results(
        found.items, (Value("video 0", "clipscore", "clipscore", SCORED, CLIP),), found.outputs
    )
    assert real.short_names == {"clipscore": "clipscore"}


def test_counting_shots_does_not_read_the_prompt() -> None:
    """A script without colour words hid that nothing read it."""
    found = results(SCORED, metric="shot_count")
    counts = Traits(counts_shots=True, group="prompt")
    assert prompts_of(replace(found, traits={"shot_count": counts})) is PromptCoverage.NO_METRIC


def test_one_prompt_in_twenty_is_no_fair_share() -> None:
    few = asked(results(SCORED, *[LOST] * 19))
    assert prompts_of(few) is PromptCoverage.UNKNOWN_WORDS
    half = asked(results(*[SCORED] * 10, *[LOST] * 10))
    assert (prompts_of(half), not_covered(half).read) == (PromptCoverage.HEURISTIC, 10)


def test_the_video_that_is_worst_most_often_comes_first() -> None:
    def scored(name: str, *numbers: float) -> Results:
        return results(*(Outcome.of(Score(number)) for number in numbers), metric=name)

    given = Results.join([scored("x", 3, 1, 2), scored("y", 9, 8, 8.5), scored("z", 1, 5, 4)])
    found = worst_videos(given)
    assert (found.videos, found.scored, found.metrics, found.compared) == (3, 3, 3, 3)
    assert list(found.worst.items()) == [("video 1", {"x": 1, "y": 8}), ("video 0", {"z": 1})]


def test_missing_values_are_counted_by_reason_and_unreadable_videos_apart() -> None:
    crashed: Outcome[Score] = Outcome.failed(Reason.CRASHED, "Traceback\nboom")
    empty: Outcome[Score] = Outcome.failed(Reason.EMPTY_FILE, "is empty")
    given = replace(results(SCORED, crashed, LOST, empty), pending=(("video 0", "later"),))
    coverage = value_coverage(given)
    assert (coverage.scored, coverage.missing, coverage.planned) == (1, 1, 3)
    assert (coverage.pending, coverage.inapplicable) == (1, 1)
    assert coverage.failures == {("crashed", "boom"): {"video 1": 1}}
