"""Certificates on prompts: who reads is seen to read, who does not is not said to, nor to guess."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

import screentest
from screentest.analysis.judges.accuracy import find_claims, reference
from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.certificate import PlaceboKind
from screentest.core import (
    Aspect,
    Item,
    MetricInfo,
    Outcome,
    OutputInfo,
    PairKind,
    Question,
    Reason,
    Score,
    Verdict,
)
from screentest.core.metric import JudgeInfo
from screentest.core.registry import register, registry
from screentest.core.verdict import prefer_higher
from screentest.judges.cases import Case, Judgement, Order
from screentest.run.engine import InlineEngine
from screentest.stats import Claim
from screentest.testbeds.prompts import build_prompts
from screentest.testbeds.subset import sample_testbed
from screentest.testing.films import write_film

THINGS = (
    "dog",
    "car",
    "boat",
    "cup",
    "horse",
    "train",
    "kite",
    "lamp",
    "bear",
    "chair",
    "owl",
    "bus",
)
PLACES = cycle(("desert", "kitchen", "street", "forest", "harbour", "library"))
COLOURS = cycle(("red", "green", "blue", "brown", "black", "yellow"))
VERBS = cycle(("eats", "waves", "sings", "walks", "reads", "sleeps"))
TEXTS = {
    thing: f"Two men left of a {colour} {thing} in a {place}; a woman {verb} after opening a door."
    for thing, place, colour, verb in zip(THINGS, PLACES, COLOURS, VERBS, strict=False)
}


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prompts")
    items = []
    for number, (thing, text) in enumerate(TEXTS.items()):
        frames = [np.full((32, 32, 3), 16 * number + n, np.uint8) for n in range(2)]
        items.append(Item(thing, write_film(folder / f"{thing}.mp4", frames, rate=4), text))
    # A second video of the first prompt: no witness of its own.
    frames = [np.full((32, 32, 3), 250, np.uint8)] * 2
    items.append(Item("twin", write_film(folder / "twin.mp4", frames, rate=4), TEXTS["dog"]))
    build_prompts(items, folder / "bed")
    return folder / "bed"


@pytest.fixture(scope="module")
def cases(bed: Path) -> list[Case]:
    return read_cases([bed])


@dataclass(frozen=True)
class Scorer:
    """A metric that goes by the item alone."""

    name: str
    needs: tuple[str, ...] = ("text",)
    consumers = ()
    item: Item | None = None

    @property
    def info(self) -> MetricInfo:
        return MetricInfo({self.name: OutputInfo("for tests")}, needs=self.needs)

    def start(self, item: Item, resources: object) -> Scorer:
        return Scorer(self.name, self.needs, item)

    def finish(self) -> Mapping[str, Outcome[Score]]:
        assert self.item is not None
        return {self.name: Outcome.of(Score(score(self.name, self.item)))}


def score(name: str, item: Item) -> float:
    match name:
        case "reader":  # knows what each video shows
            shown = item.video.parent.name
            return float(item.prompt == TEXTS["dog" if shown == "twin" else shown])
        case "fluent":  # knows good English, and does not look
            return float(item.prompt in TEXTS.values())
        case "longer":
            return float(len(item.prompt))
    text = f"{name} {item.video.parent.name} {item.prompt}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32


class Pairwise:
    """A judge that must not be asked."""

    info = JudgeInfo("looks at two videos")

    def judge(self, question: Question, resources: object) -> Outcome[Verdict]:
        raise AssertionError("asked about two prompts")


@pytest.fixture(scope="module")
def named() -> Iterator[None]:
    for name in ("reader", "fluent"):
        register("metric", name, version=1, summary="for tests")(lambda name=name: Scorer(name))
    register("metric", "looker", version=1, summary="for tests")(lambda: Scorer("looker", ()))
    register("judge", "pairwise", version=1, summary="for tests")(Pairwise)
    yield
    for kind, name in (("metric", "reader"), ("metric", "fluent"), ("metric", "looker")):
        registry._entries.pop((kind, name))
    registry._entries.pop(("judge", "pairwise"))


def judged(cases: list[Case], name: str) -> list[Judgement]:
    return [
        Judgement(case, order, 0, Outcome.of(verdict if given else verdict.flipped))
        for case in cases
        for verdict in [prefer_higher(score(name, case.first), score(name, case.second))]
        for order, given in ((Order.AS_GIVEN, True), (Order.SWAPPED, False))
    ]


def claims_of(cases: list[Case], name: str) -> dict[str, Claim]:
    judgements = judged(cases, name)
    placebos = [one for one in judgements if one.case.kind is PairKind.PLACEBO]
    found = find_claims(reference(judgements), placebos)
    return {operator: one.claim for (_, operator), one in found.items()}


def test_a_case_is_one_video_with_the_true_prompt_and_with_the_false_one(cases: list[Case]) -> None:
    for case in cases:
        assert case.aspect is Aspect.TEXT_ALIGNMENT
        assert case.first.video == case.second.video
        assert case.first.id != case.second.id
        assert case.first.prompt == TEXTS.get(case.source, TEXTS["dog"])
        assert bool(case.control_of) == (case.kind is PairKind.PLACEBO)
    twins = {case.cluster for case in cases if "/twin/" in case.id or "/dog/" in case.id}
    assert twins == {"bed/dog"}


def test_who_reads_is_seen_to_read(cases: list[Case]) -> None:
    found = claims_of(cases, "reader")
    assert set(found.values()) == {Claim.SEES}
    assert found.keys() == {"", "swapped", "object", "color", "number", "place", "action", "order"}


@pytest.mark.parametrize("name", ["fluent", "longer"])
def test_who_likes_a_text_for_its_own_sake_is_not_said_to_read(
    cases: list[Case], name: str
) -> None:
    assert {Claim.SEES, Claim.PREFERS_DEGRADED}.isdisjoint(claims_of(cases, name).values())


def test_coins_earn_no_claim(cases: list[Case]) -> None:
    claimed = sum(
        not {Claim.SEES, Claim.PREFERS_DEGRADED}.isdisjoint(
            claims_of(cases, f"coin {number}").values()
        )
        for number in range(100)
    )
    # 5%, and three standard errors of a hundred tries.
    assert claimed <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)


def test_not_to_read_is_not_to_guess(bed: Path, named: None, tmp_path: Path) -> None:
    sample_testbed(bed, tmp_path / "few", 14)
    made = screentest.certify(
        ["reader", "fluent", "looker", "pairwise"],
        tmp_path / "few",
        out=tmp_path / "run",
        engine=InlineEngine(),
    )
    assert made.of("reader").overall.unwrap().value == 1.0
    reasons = {"looker": "does not read the prompt", "pairwise": "two videos under one prompt"}
    for judge, why in reasons.items():
        failure = made.of(judge).overall.failure
        assert failure is not None
        assert failure.reason is Reason.NOT_APPLICABLE
        assert why in failure.detail
        rows = [row for row in made.records() if row["judge"] == judge and row["operator"]]
        assert {row["unsettled"] for row in rows} == {"no_answer"}
        assert {row["reason"] for row in rows} == {"not_applicable"}
    labels = {one.name: one.label for one in made.of("reader").operators}
    assert labels["color"] == "false prompts (another colour)"
    placebos = {one.name: one for one in made.of("fluent").placebos}
    assert placebos["color_elsewhere"].kind is PlaceboKind.OTHER_VIDEO
    assert placebos["color_elsewhere"].false_alarms.unwrap().value == 1.0
    assert all(one.finding.more for one in made.of("reader").claims.unsettled)
    assert "text_alignment/order" in made.matrix().records()[0]
    page = screentest.report(made, out=tmp_path / "page.html").page.read_text()
    assert "text alignment" in page
    assert screentest.compare(made, judges=["reader", "fluent"]).tables()[0].records()
