"""Event consistency: equations 10–15 by hand and by brute force, and a small film."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import BadOption, Item, NoValue, Reason, Span, build, seconds
from screentest.models.roles import Detection
from screentest.suites.locot2v import similarity as consistency
from screentest.suites.locot2v.data import Event
from screentest.suites.locot2v.metrics.consistency import Seen, same
from screentest.suites.locot2v.requests import Grounded, read_times
from screentest.suites.locot2v.similarity import cut
from screentest.testing.chat_answers import Asked
from screentest.testing.films import texture, write_film
from tests.messages import names
from tests.suites.locot2v.answering import answering, chat, event
from tests.suites.locot2v.films import measured, score

NAME = "locot2v_event_consistency"
Rows = np.ndarray


def unit(count: int, seed: int) -> Rows:
    rows = np.random.default_rng(seed).normal(size=(count, 8))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.integers(0, 99))
def test_across_events_equals_all_pairs_of_frames(counts: list[int], seed: int) -> None:
    """Equations 13 and 14 written out."""
    events = [unit(count, seed + n) for n, count in enumerate(counts)]
    plain = np.mean(
        [
            np.mean([float(one @ two) for one in first for two in second])
            for first, second in combinations(events, 2)
        ]
    )
    assert consistency.across(events) == pytest.approx(float(plain), abs=1e-12)


def test_within_events_by_hand() -> None:
    same_twice = np.array([[1.0, 0], [1, 0]])
    turning = np.array([[1.0, 0], [0, 1]])
    # Event 0 has two subjects (1 and 0), event 1 has one (1), event 2 too few frames.
    events = {0: [same_twice, turning], 1: [same_twice], 2: [same_twice[:1]]}
    assert consistency.intra(events, {0: 1, 1: 1, 2: 1}) == pytest.approx(0.75)
    assert consistency.intra(events, {0: 3, 1: 1, 2: 9}) == pytest.approx((3 * 0.5 + 1) / 4)
    assert consistency.intra({2: events[2]}, {2: 1}) is None


def test_inter_leaves_out_subjects_of_one_event() -> None:
    same_twice = np.array([[1.0, 0], [1, 0]])
    assert consistency.inter([[same_twice, same_twice], [same_twice]]) == 1.0
    assert consistency.inter([[same_twice]]) is None


class Roles:
    """A detector with a box per phrase, and masks that fill the box."""

    def __init__(self, boxes: dict[str, tuple[float, float, float, float]]) -> None:
        self._boxes = boxes

    def role(self, name: str) -> Any:
        return self

    def detect(self, image: Any, phrases: list[str]) -> list[Detection]:
        return [Detection(p, 0.9, self._boxes[p]) for p in phrases if p in self._boxes]

    def segment(self, image: Any, boxes: list[tuple[float, ...]]) -> list[Rows]:
        masks = []
        for left, top, right, bottom in boxes:
            mask = np.zeros(image.shape[:2], np.float32)
            mask[int(top) : int(bottom), int(left) : int(right)] = 1
            masks.append(mask)
        return masks

    def embed(self, texts: list[str]) -> Rows:
        """Texts of the same first word are the same."""
        words = sorted({text.split()[0] for text in texts})
        return np.array([np.eye(8)[words.index(text.split()[0])] for text in texts])


def test_subjects_are_cut_out_and_the_background_is_the_rest() -> None:
    image = texture(1, 50, 80)
    ((subjects, background),) = cut([image], ["dog", "cat"], Roles({"dog": (10, 5, 30, 25)}), 0.5)  # type: ignore[arg-type]
    assert list(subjects) == ["dog"]
    assert (subjects["dog"] == image[5:25, 10:30]).all()
    assert background is not None
    assert not background[5:25, 10:30].any()
    assert (background[30:, 40:] == image[30:, 40:]).all()


def test_weak_detections_do_not_count() -> None:
    ((subjects, _),) = cut([texture(1)], ["dog"], Roles({"dog": (0, 0, 40, 40)}), 0.95)  # type: ignore[arg-type]
    assert not subjects


def test_a_subject_that_fills_the_frame_leaves_no_background() -> None:
    whole = Roles({"dog": (0, 0, 128, 96)})
    ((_, background),) = cut([texture(1)], ["dog"], whole, 0.5)  # type: ignore[arg-type]
    assert background is None


class Together(Roles):
    """The same for several pictures in one call; it keeps how many it was handed."""

    def __init__(self, boxes: dict[str, tuple[float, float, float, float]]) -> None:
        super().__init__(boxes)
        self.handed: list[int] = []

    def detect_all(self, images: list[Any], phrases: list[list[str]]) -> list[list[Detection]]:
        self.handed.append(len(images))
        return [self.detect(*one) for one in zip(images, phrases, strict=True)]

    def segment_all(self, images: list[Any], boxes: list[Any]) -> list[list[Rows]]:
        self.handed.append(len(images))
        return [self.segment(*one) for one in zip(images, boxes, strict=True)]


def test_frames_are_handed_over_together_where_a_model_takes_several() -> None:
    images = [texture(n) for n in range(5)]
    box = {"dog": (10.0, 5.0, 30.0, 25.0)}
    models = Together(box)
    found = cut(images, ["dog"], models, 0.5)  # type: ignore[arg-type]
    assert models.handed == [5, 5]
    one_by_one = cut(images, ["dog"], Roles(box), 0.5)  # type: ignore[arg-type]
    for (subjects, ground), (others, other) in zip(found, one_by_one, strict=True):
        assert np.array_equal(subjects["dog"], others["dog"])
        assert ground is not None
        assert np.array_equal(ground, other)


def test_events_have_an_encoder_of_their_own(story: Item, monkeypatch: pytest.MonkeyPatch) -> None:
    """What frames are told apart by need not tell events apart."""
    monkeypatch.setenv("SCREENTEST_OFFLINE", "1")
    with answering(events=EVENTS, ground=places) as server:
        found = measured(NAME, story, chat(server), "image_features.events=hf:none")
    (reason,) = {outcome.failure.reason for outcome in found.values() if outcome.failure}
    assert reason is Reason.MISSING_MODEL
    assert score("locot2v_semantic_consistency", story).value > 0


def test_phrases_of_one_meaning_are_one_subject() -> None:
    span = Span(seconds(0), seconds(1))
    first = Seen(Grounded(Event("one"), span), {"A dog": unit(2, 1)}, unit(2, 2))
    second = Seen(
        Grounded(Event("two"), span), {"the dog": unit(3, 3), "a cat": unit(1, 4)}, unit(2, 5)
    )
    third = Seen(Grounded(Event("three"), span), {"dog on a lead": unit(1, 6)}, unit(1, 7))
    found = same([first, second, third], Roles({}), 0.9)  # type: ignore[arg-type]
    assert {name: [len(rows) for rows in parts] for name, parts in found.items()} == {
        "dog": [2, 3, 1],
        "cat": [1],
    }


EVENTS = {"events": [event("A disc moves."), event("The disc moves on.", "the dog")]}


def places(asked: Asked) -> dict[str, Any]:
    """The first event in the first two seconds, the second in the others."""
    later = any("moves on" in text for text in asked.texts)
    return {"happens": True, "start": 2.0 if later else 0.0, "end": 4.0 if later else 2.0}


def test_on_a_film(story: Item) -> None:
    """The ground changes between events, the disc does not."""
    with answering(events=EVENTS, ground=places) as server:
        found = {
            name: outcome.unwrap() for name, outcome in measured(NAME, story, chat(server)).items()
        }
    assert found["intra_event_background"].value > 0.98
    assert found["intra_event_subject"].value > 0.95
    assert found["inter_event_subject"].value > found["inter_event_background"].value
    curve = found["intra_event_background"].curve
    assert [(float(one.span.start), float(one.span.end)) for one in curve] == [(0, 2), (2, 4)]
    assert [one.note for one in curve] == ["A disc moves.", "The disc moves on."]


def test_one_event_has_nothing_to_be_consistent_with(story: Item) -> None:
    with answering(events={"events": EVENTS["events"][:1]}, ground=places) as server:
        found = measured(NAME, story, chat(server))
    assert found["intra_event_background"].ok
    for name in ("inter_event_subject", "inter_event_background"):
        lost = found[name].failure
        assert lost is not None
        assert (lost.reason, names(lost.detail, "event")) == (Reason.NOT_APPLICABLE, True)


def test_no_detection_costs_the_subjects_only(story: Item) -> None:
    """Events without a subject: a landscape."""
    landscape = [{**one, "subjects": []} for one in EVENTS["events"]]
    with answering(events={"events": landscape}, ground=places) as server:
        found = measured(NAME, story, chat(server))
    assert found["inter_event_background"].ok
    for name in ("intra_event_subject", "inter_event_subject"):
        lost = found[name].failure
        assert lost is not None
        assert lost.reason is Reason.NOT_APPLICABLE


def test_a_subject_that_is_not_found_costs_the_subjects_only(story: Item) -> None:
    """No detection is good enough, so nothing is cut out, and all of it is background."""
    with answering(events=EVENTS, ground=places) as server:
        found = measured(f"{NAME}:least_score=2", story, chat(server))
    assert found["intra_event_background"].ok
    reasons = {
        "intra_event_subject": "no subject was found in two frames of an event",
        "inter_event_subject": "no subject was found in two events",
    }
    for name, why in reasons.items():
        lost = found[name].failure
        assert lost is not None
        assert (lost.reason, lost.detail) == (Reason.NOT_APPLICABLE, why)


def test_events_in_the_dark(story: Item, tmp_path: Path) -> None:
    """Black frames are alike, but no background stays the same in them."""
    dark = write_film(tmp_path / "dark.mkv", [np.zeros((96, 128, 3), np.uint8)] * 32)
    with answering(events=EVENTS, ground=places) as server:
        found = measured(NAME, replace(story, video=dark), chat(server))
    for outcome in found.values():
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.NOT_APPLICABLE


def test_times_as_time_r1_gives_them(story: Item) -> None:
    """Its own form: thoughts, then a range between tags; no form is sent."""

    def tagged(asked: Asked) -> str:
        place = places(asked)
        return f"<think>It is at 1.</think><answer>{place['start']} to {place['end']}</answer>"

    with answering(events=EVENTS, describe=tagged) as server:
        found = measured(f"{NAME}:answers=tags", story, chat(server))
        asked = [one for one in server.asked if one.schema is None]
    assert len(asked) == 2
    curve = found["intra_event_background"].unwrap().curve
    assert [(float(one.span.start), float(one.span.end)) for one in curve] == [(0, 2), (2, 4)]
    # Two seconds at two frames a second are four; finding them took eight of the four seconds.
    assert len(asked[0].picture_sizes) == 8


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("<answer>12.54 to 17.83</answer>", (12.54, 17.83)),
        ("<think>3 to 4?</think> <answer> 5s to 9 seconds </answer>", (5, 9)),
        ("3.0 to 4.5", (3, 4.5)),
        ("<answer>00:58 to 01:02.50</answer>", (58, 62.5)),
        ("<answer>from the beginning</answer>", None),
        ("<answer>1 to 2, or 3 to 4</answer>", None),
        ("He waves at 3 and then, from 5 to 6, he walks.", None),
    ],
)
def test_tagged_times(text: str, times: tuple[float, float] | None) -> None:
    if times is None:
        with pytest.raises(NoValue):
            read_times(text)
    else:
        place = read_times(text)
        assert (place.start, place.end) == times


def test_events_that_are_nowhere(story: Item) -> None:
    with answering(events=EVENTS, ground={"happens": False, "start": 0, "end": 0}) as server:
        found = measured(NAME, story, chat(server))
    for outcome in found.values():
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize("times", [(3, 3), (3, 1), (9, 12)])
@pytest.mark.parametrize("form", ["object", "tags"])
def test_times_outside_the_film_are_asked_for_again(
    form: str, times: tuple[int, int], story: Item
) -> None:
    """What happens, but never, is a bad answer; it was counted as an event that is not shown."""

    def said(asked: Asked) -> Any:
        repaired = "invalid range" in asked.texts[-1]
        start, end = (0, 2) if repaired else times
        if form == "tags":
            return f"<answer>{start} to {end}</answer>"
        return {"happens": True, "start": start, "end": end}

    kind = {"describe" if form == "tags" else "ground": said}
    with answering(events=EVENTS, **kind) as server:
        found = measured(f"{NAME}:answers={form}", story, chat(server))
    curve = found["intra_event_background"].unwrap().curve
    assert [(float(one.span.start), float(one.span.end)) for one in curve] == [(0, 2), (0, 2)]


def test_without_a_prompt(story: Item) -> None:
    for outcome in measured(NAME, replace(story, prompt="")).values():
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.NOT_APPLICABLE


def test_options_that_cannot_be() -> None:
    with pytest.raises(BadOption):
        build("metric", f"{NAME}:per_event=1")
