"""Adding up: unweighted at every level, and nothing missing is a zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Aspect, Outcome, RatingJudge, Score, build
from screentest.core.options import value_name
from screentest.judges.verdicts import judge_of
from screentest.scores.suite import read_suite
from screentest.suites.locot2v.suite import ALL, METRICS
from screentest.suites.locot2v.tables import add_up, by_group

NAMES = [one.name for one in ALL]
Items = st.lists(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1)), min_size=1, max_size=6)


def test_by_hand() -> None:
    found = add_up(
        [
            {"aesthetic_quality": 0.2, "technical_quality": 0.6},
            {"aesthetic_quality": 0.4, "overall_alignment": 0.9},
        ]
    )
    assert found.subdimensions["aesthetic_quality"].value == pytest.approx(0.3)
    assert (
        found.subdimensions["technical_quality"].had,
        found.subdimensions["technical_quality"].of,
    ) == (1, 2)
    assert found.dimensions["static_quality"].value == pytest.approx(0.45)
    # One of two sub-dimensions is there, and that is said.
    assert (
        found.dimensions["text_video_alignment"].had,
        found.dimensions["text_video_alignment"].of,
    ) == (1, 2)
    assert found.total is not None
    assert found.total.value == pytest.approx((0.45 + 0.9) / 2)
    assert (found.total.had, found.total.of) == (2, 5)
    assert "herd" not in found.dimensions


def test_nothing_adds_up_to_nothing() -> None:
    assert add_up([{}]).total is None


@given(Items)
def test_every_level_lies_within_what_it_is_made_of(items: list[dict[str, float]]) -> None:
    found = add_up(items)
    every = [value for item in items for value in item.values()]
    if not every:
        assert found.total is None
        return
    assert found.total is not None
    assert min(every) - 1e-12 <= found.total.value <= max(every) + 1e-12


def test_by_group() -> None:
    items = {"a": {"aesthetic_quality": 0.2}, "b": {"aesthetic_quality": 0.8}, "c": {}}
    found = by_group(items, {"a": "Nature", "b": "Life", "c": ""})
    assert list(found) == ["Life", "Nature"]
    assert found["Life"].subdimensions["aesthetic_quality"].value == 0.8


def test_upstream_takes_the_options_that_the_printed_numbers_fit() -> None:
    """Graded motion, exp(−5 · error) on the code's own flow, unclear answers as wrong."""
    plain, upstream = (
        dict(zip(METRICS, read_suite(f"locot2v:compat={name}").metrics, strict=True))
        for name in ("paper", "upstream")
    )
    assert plain == {name: name for name in METRICS}
    assert {name: spec for name, spec in upstream.items() if spec != name} == {
        "locot2v_dynamic_degree": "locot2v_dynamic_degree:by=degree",
        "locot2v_warping_error": "locot2v_warping_error:scale=exponential,compat=upstream",
        "locot2v_transition_smoothness": "locot2v_transition_smoothness:uncut=smooth",
        "locot2v_herd": "locot2v_herd:unclear=wrong",
    }


def test_the_suite_names_values_as_runs_do() -> None:
    """``screentest score`` finds each value of the tree among those of the metrics."""
    suite = read_suite('locot2v:records="my, suite.json",upper_bound=7.5,compat=upstream')
    assert [spec.partition(":")[0] for spec in suite.metrics] == list(METRICS)
    given = {
        value_name(spec, output)
        for spec in suite.metrics
        if "records" not in spec
        for output in build("metric", spec).thing.info.outputs
    }
    (tree,) = suite.dimensions
    wanted = {value for one in tree.walk() for value in one.values}
    assert len(wanted) == 26
    assert given <= wanted


def test_each_of_the_26_is_a_judge() -> None:
    """``screentest certify`` takes every sub-dimension by the name it has in a run."""
    for one in ALL:
        judge = judge_of(f"{one.metric}.{one.output}" if one.output else one.metric).judge
        assert isinstance(judge, RatingJudge)
        given = {
            name: Outcome.of(Score(0.25 + 0.5 * (name == (one.output or one.metric))))
            for name in build("metric", one.metric).thing.info.outputs
        }
        rated = judge.rate(Aspect.AESTHETICS, {one.metric: given})
        assert rated.unwrap().value == 0.75
