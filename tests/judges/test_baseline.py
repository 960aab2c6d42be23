"""The judge `baseline`: it sees harm in each video alone, and says where it sees nothing.

Films are a few shots of the packaged sample, harmed in memory (see ``harmed_shots.py``); the
operators that the judge was not tuned on are among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import (
    BUILTIN_ASPECTS,
    Aspect,
    Clip,
    Image,
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
from screentest.judges.baseline import MARGIN, RULES, BaselineJudge, Measure, tails
from screentest.measure.items import measure
from screentest.run.session import Settings, Tools
from tests.judges.harmed_shots import (
    decoded,
    encoded,
    film_scores,
    harmed_shot,
    placebo,
    values_of,
)
from tests.metrics.test_sameness import excerpt

JUDGE = BaselineJudge()
SIDE, FRAMES = 192, 10
SHOTS = ((0.0, 3.0), (3.0, 7.0), (7.0, 9.5), (9.5, 13.0), (13.0, 15.5))
"""Of the five live shots: towers, a bird, a launch pad, a rocket, towers again."""
HARMED = (1, 3)
TUNED = ("sensor_noise", "banding", "desaturated", "overexposed", "harsh_contrast", "stuttering")
KEPT_BACK = ("oversharpened", "motion_blur", "interlaced", "underexposed", "garish", "jittering")
OTHERS = (
    *("technical_quality", "blocks", "ringing", "dropped_frames", "compression"),
    *("colour_bleeding", "aesthetics", "colour_cast", "washed_out", "tilted", "bad_crop"),
    *("appearance_style", "posterised", "line_drawing", "duotone", "halftone", "old_film"),
    *("dynamics_degree", "slowed", "sped_up", "reversed_motion"),
)


@pytest.fixture(scope="module")
def shots(sample: Path) -> list[list[Image]]:
    film = next(sample.glob("*real*"))
    return [decoded(film, start, end, SIDE)[:FRAMES] for start, end in SHOTS]


@pytest.fixture(scope="module")
def intact(shots: list[list[Image]]) -> list[dict[str, float]]:
    return [values_of(encoded(shot)) for shot in shots]


Rate = Callable[[str, float], float]


@pytest.fixture(scope="module")
def rate(shots: list[list[Image]], intact: list[dict[str, float]]) -> Rate:
    """The rating of the film, two of its shots harmed, in the aspect that the operator harms."""

    def rated(operator: str, severity: float) -> float:
        values = list(intact)
        for number in HARMED if severity else ():
            made = harmed_shot(operator, shots[number], severity, f"film/{number}")
            values[number] = values_of(encoded(made or shots[number]))
        return _rating(aspect_of(operator), values)

    return rated


def aspect_of(operator: str) -> Aspect:
    aspect: Aspect = build("degradation", operator).thing.info.aspect
    return aspect


def _rating(aspect: Aspect, values: Sequence[Mapping[str, float]]) -> float:
    return JUDGE.rate(aspect, film_scores(values)).unwrap().value


@pytest.mark.parametrize("operator", [*TUNED, *KEPT_BACK])
def test_more_harm_is_worse(operator: str, rate: Rate) -> None:
    """Step by step, whether the judge was tuned on the operator or not."""
    none, half, full = (rate(operator, severity) for severity in (0.0, 0.5, 1.0))
    assert full < none - MARGIN
    assert full - MARGIN <= half <= none + MARGIN


@pytest.mark.parametrize("operator", OTHERS)
def test_harm_is_never_preferred(operator: str, rate: Rate) -> None:
    assert rate(operator, 1.0) <= rate(operator, 0.0) + MARGIN


@pytest.mark.parametrize("name", ["reencode", "noise", "painted_instruction", "trim"])
def test_placebos_are_ties(
    name: str, shots: list[list[Image]], intact: list[dict[str, float]]
) -> None:
    """All shots are edited: encoded once more, grain of one level, letters at the rim, a frame
    less.
    """
    first = [encoded(shot) for shot in shots]
    edited = [values_of(placebo(name, shot, "film")) for shot in first]
    for aspect in ASPECTS:
        assert abs(_rating(aspect, edited) - _rating(aspect, intact)) <= MARGIN, aspect


ASPECTS = (
    Aspect.TECHNICAL_QUALITY,
    Aspect.AESTHETICS,
    Aspect.APPEARANCE_STYLE,
    Aspect.DYNAMICS_DEGREE,
)


def test_the_evidence_points_at_the_harm(
    shots: list[list[Image]], intact: list[dict[str, float]]
) -> None:
    noisy = harmed_shot("sensor_noise", shots[2], 1.0, "film/2") or []
    values = [*intact[:2], values_of(encoded(noisy)), *intact[3:]]
    curve = JUDGE.rate(Aspect.TECHNICAL_QUALITY, film_scores(values)).unwrap().curve
    worst = min(range(5), key=lambda number: curve[number].value)
    assert worst == 2
    assert curve[worst].note.startswith("luma noise: ")


def test_a_whole_film_through_the_product(sample: Path, tmp_path: Path) -> None:
    """One decode of a file, its shots found, and a rating in every aspect that it claims."""
    film = excerpt(next(sample.glob("*real*")), tmp_path / "film.mp4", 8)
    script = Script(tuple(Clip(f"Scene {number}.") for number in range(3)))
    metrics = {name: build("metric", name).thing for name in JUDGE.metrics}
    scores = measure(Item("film", film, script=script), metrics, Tools(Settings()))
    for aspect in RULES:
        assert JUDGE.rate(aspect, scores).ok, aspect
    assert not JUDGE.rate(Aspect.SPATIAL_RELATIONSHIP, scores).ok


def test_what_it_cannot_see_has_no_rating() -> None:
    """Things, their colours and their places: a failure, not a guess."""
    for aspect in set(BUILTIN_ASPECTS) - set(RULES):
        failure = JUDGE.rate(aspect, {}).failure
        assert failure is not None
        assert failure.reason is Reason.NOT_APPLICABLE
    assert {*BUILTIN_ASPECTS} - {*RULES} >= {
        Aspect.BACKGROUND_CONSISTENCY,
        Aspect.COLOR,
        Aspect.SPATIAL_RELATIONSHIP,
    }


def test_a_failed_metric_is_no_rating() -> None:
    lost: Outcome[Score] = Outcome.failed(Reason.UNDECODABLE, "half a film")
    scores: dict[str, Outcomes] = {
        name: dict.fromkeys(build("metric", name).thing.info.outputs, lost)
        for name in JUDGE.metrics
    }
    for aspect in RULES:
        failure = JUDGE.rate(aspect, scores).failure
        assert failure is not None
        assert failure.reason is Reason.UNDECODABLE


# What the numbers of shots become.


def _curve(values: Sequence[float], length: int = 2) -> tuple[Point, ...]:
    return tuple(
        Point(Span(Fraction(length * place), Fraction(length * (place + 1))), value)
        for place, value in enumerate(values)
    )


def test_missing_repeated_and_cut_short_shots_tell_less() -> None:
    def rated(lengths: Sequence[int], again: Sequence[int] = ()) -> float:
        edges = [sum(lengths[:place]) for place in range(len(lengths) + 1)]
        spans = [Span(Fraction(one), Fraction(two)) for one, two in pairwise(edges)]
        shots = tuple(Point(span, 1.0) for span in spans)
        seen = tuple(Point(span, float(place in again)) for place, span in enumerate(spans))
        scores: dict[str, Outcomes] = {
            "shot_count": {"shots_had": Outcome.of(Score(1.0, shots, {"clips": 6}))},
            "repeated_shots": {"repeated_shots": Outcome.of(Score(0.0, seen))},
        }
        return JUDGE.rate(Aspect.COMPREHENSIVENESS, scores).unwrap().value

    whole = rated([4] * 6)
    assert rated([4] * 7) == whole
    for less in (rated([4] * 5), rated([4] * 6, again=[3]), rated([4, 4, 1, 4, 4, 4])):
        assert less < whole - MARGIN


def test_an_order_counts_where_chance_does_not_make_it() -> None:
    """Of twelve unrelated shots any order is as good; what comes again counts all the same."""

    def rated(nearer: float, again: float = 0.0) -> float:
        scores: dict[str, Outcomes] = {
            "continuity": {"continuity": Outcome.of(Score(nearer, _curve([nearer] * 11)))},
            "repeated_shots": {"repeated_shots": Outcome.of(Score(again))},
        }
        return JUDGE.rate(Aspect.TEMPORAL_FLOW, scores).unwrap().value

    assert rated(0.15) == rated(-0.2) == 0
    assert rated(0.5) > rated(0.3) + MARGIN
    assert rated(0.1, again=0.1) < rated(0.1) - MARGIN


def test_a_shot_is_compared_with_its_film() -> None:
    """Usual by itself, and unlike the others: that is a fault, of which the others have none."""
    measure_of = Measure("any", "any", unit=0.1, low=0.0, high=1.0, apart=2.0)
    found = measure_of.faults(np.array([0.2, 0.2, 0.25, 0.8]))
    assert found[:3].max() == 0
    assert found[3] == pytest.approx(3.75)  # (0.8 − 0.225) / 0.1 − 2


@pytest.mark.parametrize(
    ("aspect", "name", "usual", "harmed"),
    [
        # An enlarged or turned picture is resampled; a film that moves little moves more.
        (Aspect.AESTHETICS, "faults.fine_detail", 0.22, 0.18),
        (Aspect.DYNAMICS_DEGREE, "steadiness.lively", 1.0, 9.0),
    ],
)
def test_what_the_ladders_showed_preferred(
    aspect: Aspect, name: str, usual: float, harmed: float, intact: list[dict[str, float]]
) -> None:
    """Two of five shots unlike the others: softer, or four times as fast."""
    film = [{**shot, name: usual} for shot in intact]
    changed = [{**shot, name: harmed} if n in HARMED else shot for n, shot in enumerate(film)]
    assert _rating(aspect, changed) < _rating(aspect, film) - MARGIN


EXTRA = {
    "lens.vignette": 2.5,
    "lens.fringes": 2.0,
    "lens.doubled": 0.3,
    "lens.seams": 0.05,
    "coherence.dirt": 0.06,
    "coherence.warping": 1.0,
    "coherence.popping": 1.5,
    "coherence.jitter": 2.0,
    "coherence.skipped": 0.8,
    "melting.melting": 0.1,
}


@pytest.mark.parametrize("name", EXTRA)
def test_a_fault_of_lens_or_motion_counts_whatever_else_is_wrong(
    name: str, intact: list[dict[str, float]]
) -> None:
    """Beside a film with much noise and warping, in all of its shots."""
    aspect, wrong = Aspect.TECHNICAL_QUALITY, {"noise.luma_noise": 9.0, "coherence.warping": 0.8}
    for film in (intact, [{**shot, **wrong} for shot in intact]):
        harmed = [{**shot, name: EXTRA[name]} for shot in film]
        assert _rating(aspect, harmed) < _rating(aspect, film) - (0 if "warp" in name else MARGIN)


def test_a_fault_that_does_not_apply_leaves_the_others(intact: list[dict[str, float]]) -> None:
    """Dark corners show no fall-off of light, and a black film still has no rating."""
    rest = [{key: shot[key] for key in shot if key not in EXTRA} for shot in intact]
    assert JUDGE.rate(Aspect.TECHNICAL_QUALITY, film_scores(rest)).ok
    black = [{key: shot[key] for key in shot if not key.startswith("noise")} for shot in intact]
    assert not JUDGE.rate(Aspect.TECHNICAL_QUALITY, film_scores(black)).ok


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
    points = _curve([0.1] * 5 + [0.9] * 55)
    # By hand: tails of 6, 15, 30 and 60 shots, of which five are bad.
    by_hand = sum(0.9 - 0.8 * 5 / size for size in (6, 15, 30, 60)) / 4
    assert tails(points) == pytest.approx(by_hand)
    assert by_hand < 0.64
