"""The judge `baseline`: it sees harm in each video alone, and says where it sees nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import (
    BUILTIN_ASPECTS,
    Aspect,
    Choice,
    Clip,
    Item,
    Outcome,
    Outcomes,
    Point,
    Reason,
    Score,
    Script,
    Span,
    build,
)
from screentest.judges.baseline import baseline, tails
from screentest.judges.verdicts import verdict
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from screentest.scores.measure import measure

JUDGE = baseline()
SETTINGS = Settings(models=(ModelChoice.parse("image_text=colour_words"),))
CAPTIONS = (
    "Turquoise windows of black towers at night.",
    "A white bird before brown wood.",
    "A grey launch pad beside a blue sea.",
    "A rocket in orange flames.",
    "White clouds in a blue sky.",
)
SMALL = "fps=12,scale=320:180"
LENGTH = 15.5
Rate: TypeAlias = Callable[[str, Aspect], Outcome[Score]]


def second_shot(harm: str) -> str:
    """A filter graph that harms seconds 3 to 7, the second of five shots."""
    return f"{SMALL},split[a][b];[b]{harm}[c];[a][c]overlay=enable='between(t,3,6.99)'"


SWAPPED = (
    f"{SMALL},split=3[a][b][c];[a]trim=0:3,setpts=PTS-STARTPTS[x];"
    "[b]trim=3:7,setpts=PTS-STARTPTS[y];[c]trim=7:15.5,setpts=PTS-STARTPTS[z];"
    "[y][x][z]concat=n=3"
)
GRAPHS: Mapping[str, str] = {
    "intact": SMALL,
    "aesthetics": second_shot("eq=contrast=-0.8"),
    "technical_quality": second_shot("scale=160:90:flags=lanczos,scale=320:180:flags=lanczos"),
    "appearance_style": second_shot("elbg=l=6,unsharp=5:5:2"),
    "background_consistency": second_shot("hue=b='4*mod(n,2)'"),
    "dynamics_degree": f"{SMALL},split[a][b];[a][b]freezeframes=first=36:last=83:replace=60",
    "comprehensiveness": f"{SMALL},select='lt(t,3)+gte(t,7)',setpts=N/12/TB",
    "temporal_flow": SWAPPED,
}


@pytest.fixture(scope="module")
def films(ffmpeg: str, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Five live shots, intact and harmed in one of them, and the intact ones encoded again."""
    source = next(sample.glob("*real*"))
    folder = tmp_path_factory.mktemp("films")
    made = {}
    for name, graph in GRAPHS.items():
        made[name] = folder / f"{name}.mp4"
        _run(ffmpeg, source, made[name], graph, crf=14)
    made["reencoded"] = folder / "reencoded.mp4"
    _run(ffmpeg, made["intact"], made["reencoded"], "null", crf=18)
    return made


def _run(ffmpeg: str, source: Path, out: Path, graph: str, *, crf: int) -> None:
    coding = ["-c:v", "libx264", "-preset", "ultrafast", "-crf", str(crf), "-pix_fmt", "yuv420p"]
    command = [ffmpeg, "-v", "error", "-t", str(LENGTH), "-i", str(source), "-an"]
    subprocess.run([*command, "-filter_complex", graph, *coding, str(out)], check=True)


@pytest.fixture(scope="module")
def rate(films: dict[str, Path]) -> Rate:
    """Ratings of the films by name; each is measured once and by itself."""
    tools, known = Tools(SETTINGS), dict[str, Mapping[str, Outcomes]]()
    metrics = {name: build("metric", name).thing for name in JUDGE.metrics}

    def rated(name: str, aspect: Aspect) -> Outcome[Score]:
        if name not in known:
            script = Script(tuple(Clip(caption) for caption in CAPTIONS))
            known[name] = measure(Item(name, films[name], script=script), metrics, tools)
        return JUDGE.rate(aspect, known[name])

    return rated


SEEN = [Aspect(name) for name in GRAPHS if name != "intact"]


@pytest.mark.parametrize("aspect", SEEN)
def test_one_harmed_shot_of_five_is_seen(aspect: Aspect, rate: Rate) -> None:
    intact, harmed = rate("intact", aspect), rate(aspect.value, aspect)
    assert verdict(intact, harmed).unwrap().choice is Choice.FIRST
    assert verdict(harmed, intact).unwrap().choice is Choice.SECOND


@pytest.mark.parametrize("aspect", SEEN)
def test_the_partner_does_not_matter(aspect: Aspect, rate: Rate) -> None:
    """Against a re-encoded partner, with which it shares no frame, the harmed film loses too;
    and its rating, made of its own scores alone, is the same number.
    """
    harmed, again = rate(aspect.value, aspect), rate("reencoded", aspect)
    against_intact = verdict(harmed, rate("intact", aspect)).unwrap()
    against_other = verdict(harmed, again).unwrap()
    assert against_other.choice is against_intact.choice is Choice.SECOND
    assert against_other.first == against_intact.first
    assert against_other.evidence_first == against_intact.evidence_first


@pytest.mark.parametrize("aspect", [Aspect.AESTHETICS, Aspect.COMPREHENSIVENESS])
def test_another_encoding_is_a_tie(aspect: Aspect, rate: Rate) -> None:
    assert verdict(rate("intact", aspect), rate("reencoded", aspect)).unwrap().choice is Choice.TIE


def test_the_evidence_points_at_the_harm(rate: Rate) -> None:
    for aspect in (Aspect.TECHNICAL_QUALITY, Aspect.BACKGROUND_CONSISTENCY, Aspect.DYNAMICS_DEGREE):
        curve = rate(aspect.value, aspect).unwrap().curve
        worst = min(curve, key=lambda point: point.value)
        assert worst.span.overlaps(Span(Fraction(3), Fraction(7))), aspect


def test_left_and_right_are_not_seen(rate: Rate) -> None:
    failure = rate("intact", Aspect.SPATIAL_RELATIONSHIP).failure
    assert failure is not None
    assert failure.reason is Reason.NOT_APPLICABLE


def test_a_failed_metric_is_no_rating() -> None:
    lost: Outcome[Score] = Outcome.failed(Reason.UNDECODABLE, "half a film")
    scores = {
        name: dict.fromkeys(build("metric", name).thing.info.outputs, lost)
        for name in JUDGE.metrics
    }
    for aspect in BUILTIN_ASPECTS:
        outcome = JUDGE.rate(aspect, scores)
        expected = (
            Reason.NOT_APPLICABLE if aspect is Aspect.SPATIAL_RELATIONSHIP else Reason.UNDECODABLE
        )
        assert outcome.failure is not None
        assert outcome.failure.reason is expected


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 100)), min_size=1, max_size=30),
    st.data(),
)
def test_any_shot_that_gets_worse_lowers_the_rating(
    shots: list[tuple[int, int]], data: st.DataObject
) -> None:
    """However good the shot was and however bad the others are."""
    number = data.draw(st.integers(0, len(shots) - 1))
    points, worse, start = [], [], Fraction(0)
    for place, (value, length) in enumerate(shots):
        span = Span(start, start + length)
        start = span.end
        points.append(Point(span, float(value)))
        worse.append(Point(span, value - 50.0 if place == number else float(value)))
    assert tails(tuple(worse)) < tails(tuple(points))


def test_a_few_bad_shots_weigh_more_than_in_a_mean() -> None:
    """Five of sixty at 0.1, the others at 0.9: the mean is 0.833."""
    values = [0.1] * 5 + [0.9] * 55
    points = tuple(
        Point(Span(Fraction(n), Fraction(n + 1)), value) for n, value in enumerate(values)
    )
    # By hand: tails of 6, 15, 30 and 60 shots, of which five are bad.
    by_hand = sum(0.9 - 0.8 * 5 / size for size in (6, 15, 30, 60)) / 4
    assert tails(points) == pytest.approx(by_hand)
    assert by_hand < 0.64
