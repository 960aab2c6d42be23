"""Statistics and charts of testbeds that were counted by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from screentest.core import Aspect, Clip, Failure, PairKind, Reason, Span
from screentest.present.charts import charts_of_testbed
from screentest.testbeds.statistics import AspectCount, Spread, statistics_of
from screentest.testbeds.testbed import Pair, Skip, SourceFilm, Testbed, VideoFile

NASTY = r"$\frac{1}{</text><script>alert(1)</script> 猫"


def film(name: str, seconds: int, captions: list[str], **groups: str) -> SourceFilm:
    video = VideoFile(f"videos/{name}/intact.mp4", "0" * 64, 1, 1, Fraction(seconds), 4, 2)
    clips = tuple(
        Clip(caption, Span(Fraction(number), Fraction(number + 1)))
        for number, caption in enumerate(captions)
    )
    return SourceFilm(
        name, f"{name}.mp4", "0" * 64, name, f"{name}.txt", clips, (video,), groups=groups
    )


def pair(source: str, name: str, kind: PairKind = PairKind.DEGRADATION) -> Pair:
    video = VideoFile(f"videos/{source}/{name}.mp4", "0" * 64, 1, 1, Fraction(1), 4, 2)
    aspect = Aspect(name) if kind is PairKind.DEGRADATION else None
    return Pair(source, kind, name, f"videos/{source}/intact.mp4", video, name, aspect)


def skip(source: str, name: str, reason: Reason) -> Skip:
    return Skip(source, PairKind.DEGRADATION, name, Failure(reason))


@pytest.fixture
def testbed() -> Testbed:
    return Testbed(
        schema=1,
        screentest="0",
        seed=7,
        recipe={},
        sources=(
            film("a", 99, ["one two", "three"], category="sport"),
            film("b", 100, ["four"], category=NASTY),
            film("c", 10486, ["", "five six seven"]),
        ),
        pairs=(pair("a", "color"), pair("a", "trim", PairKind.PLACEBO), pair("c", "aesthetics")),
        skips=(
            skip("b", "color", Reason.NOT_APPLICABLE),
            skip("c", "color", Reason.DECODER_CRASHED),
        ),
    )


def test_counts_per_aspect(testbed: Testbed) -> None:
    counts = statistics_of(testbed).aspects
    assert counts == (
        AspectCount(PairKind.DEGRADATION, "aesthetics", "aesthetics", 1, 1, 1),
        AspectCount(PairKind.DEGRADATION, "color", "color", 3, 2, 1),
        AspectCount(PairKind.PLACEBO, "trim", "", 1, 1, 1),
    )
    assert statistics_of(testbed).reasons == {"not_applicable": 1, "decoder_crashed": 1}


@pytest.mark.parametrize(
    ("initial", "kept", "share"),
    # SLVMEval, Table 3: technical quality, object integrity, color, total. (It prints 63.3 for
    # aesthetics, where 282 of 446 are 63.2.)
    [(446, 131, 29.4), (375, 100, 26.7), (327, 204, 62.4), (4239, 2472, 58.3)],
)
def test_retention_is_that_of_the_paper(initial: int, kept: int, share: float) -> None:
    retention = AspectCount(
        PairKind.DEGRADATION, "color", "color", initial, initial, kept
    ).retention
    assert retention is not None
    assert round(100 * retention, 1) == share


def test_nothing_asked_for_is_no_share() -> None:
    assert AspectCount(PairKind.DEGRADATION, "color", "color", 0, 0, 0).retention is None


def test_durations_fall_into_steps_of_100_seconds(testbed: Testbed) -> None:
    bins = statistics_of(testbed).durations
    # 99 s is in the first, 100 s in the second; 10,486 s, the paper's longest, in the last.
    assert {(one.start, one.end): one.sources for one in bins if one.sources} == {
        (0, 100): 1,
        (100, 200): 1,
        (10400, 10500): 1,
    }
    assert len(bins) == 105
    assert bins[0].pairs == 2


def test_groups_and_prompts(testbed: Testbed) -> None:
    statistics = statistics_of(testbed)
    assert {one.value: (one.sources, one.pairs) for one in statistics.groups["category"]} == {
        "sport": (1, 2),
        NASTY: (1, 0),
        "(none)": (1, 1),
    }
    assert statistics.words == (3, 1, 3)
    # "one two three", "four", "five six seven"
    assert statistics.spreads["prompt, characters"] == Spread(4, 13, 31 / 3, 14, 31)


def test_an_empty_testbed_has_statistics_too() -> None:
    empty = statistics_of(Testbed(1, "0", 7, {}, (), ()))
    assert (empty.durations, empty.spreads, empty.groups) == ((), {}, {})


def test_charts_are_whole_the_same_each_time_and_take_no_text_for_anything_else(
    testbed: Testbed, tmp_path: Path
) -> None:
    statistics = statistics_of(testbed)
    written = charts_of_testbed(statistics, tmp_path / "one")
    again = charts_of_testbed(statistics, tmp_path / "two")
    names = {"aspects", "durations", "prompts", "category"}
    assert {path.name for path in written} == {f"{n}.{e}" for n in names for e in ("svg", "png")}
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]
    for path in written:
        if path.suffix == ".png":
            with Image.open(path) as picture:
                picture.verify()
    svg = ElementTree.parse(tmp_path / "one" / "category.svg")
    texts = {"".join(node.itertext()) for node in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert any(text.startswith(r"$\frac{1}{</text><script>") for text in texts)
    assert not list(svg.iter("{http://www.w3.org/2000/svg}script"))
