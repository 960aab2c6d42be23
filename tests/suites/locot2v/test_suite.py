"""The suite: its tree adds up unweighted at every level, and nothing missing is a zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.analysis.standings import StandingLevel, add_up
from screentest.analysis.suites import read_suite
from screentest.core import Aspect, BadOption, Outcome, RatingJudge, Score, build
from screentest.core.signature import parse, value_name
from screentest.judges.verdicts import judge_of
from screentest.suites.locot2v.tables import ALL, METRICS
from tests.suites.locot2v.made import SUITE, results_of

NAMES = [one.name for one in ALL]
Items = st.lists(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1)), min_size=1, max_size=6)


def levels(items: list[dict[str, float]]) -> dict[str, StandingLevel]:
    numbered = {str(n): values for n, values in enumerate(items)}
    return {level.path[-1]: level for level in add_up(results_of(numbered), SUITE)}


def test_by_hand() -> None:
    found = levels(
        [
            {"aesthetic_quality": 0.2, "technical_quality": 0.6},
            {"aesthetic_quality": 0.4, "overall_alignment": 0.9},
        ]
    )
    assert found["aesthetic_quality"].value == pytest.approx(0.3)
    assert (found["technical_quality"].scored, found["technical_quality"].total) == (1, 2)
    assert found["static_quality"].value == pytest.approx(0.45)
    # One of two sub-dimensions is there, and that is said.
    assert (found["text_video_alignment"].parts, found["text_video_alignment"].of_parts) == (1, 2)
    assert found["overall"].value == pytest.approx((0.45 + 0.9) / 2)
    assert (found["overall"].parts, found["overall"].of_parts) == (3, 26)
    assert found["herd"].value is None


def test_nothing_adds_up_to_nothing() -> None:
    assert levels([{}])["overall"].value is None


@given(Items)
def test_every_level_is_within_what_it_is_made_of(items: list[dict[str, float]]) -> None:
    total = levels(items)["overall"].value
    every = [value for item in items for value in item.values()]
    if not every:
        assert total is None
        return
    assert total is not None
    assert min(every) - 1e-12 <= total <= max(every) + 1e-12


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


def test_printed_is_upstream_without_its_slip() -> None:
    printed = dict(zip(METRICS, read_suite("locot2v:compat=printed").metrics, strict=True))
    assert {name: spec for name, spec in printed.items() if spec != name} == {
        "locot2v_warping_error": "locot2v_warping_error:scale=exponential",
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


def test_options_of_metrics_go_to_those_that_have_them() -> None:
    """What the page names can be given to the suite, to all metrics or to one by its name."""
    text = "locot2v:records=s.json,answers=tags,fps=1,herd.frames=64,uncut=smooth,compat=printed"
    found = dict(map(parse, read_suite(text).metrics))
    assert found["locot2v_event_consistency"] == {"records": "s.json", "fps": 1, "answers": "tags"}
    assert found["locot2v_herd"] == {"records": "s.json", "unclear": "wrong", "frames": 64}
    assert found["locot2v_human_action"] == {"records": "s.json", "fps": 1}
    assert found["locot2v_transition_smoothness"] == {"uncut": "smooth"}
    assert found["locot2v_content_clarity"] == {}
    # What is given counts more than what `compat` says.
    (herd,) = (
        one
        for one in read_suite("locot2v:compat=printed,unclear=left_out").metrics
        if "herd" in one
    )
    assert parse(herd)[1]["unclear"] == "left_out"


@pytest.mark.parametrize(
    ("option", "near"), [("answer=tags", "answers"), ("herd.fps=2", "herd.frames")]
)
def test_an_option_that_no_metric_has(option: str, near: str) -> None:
    with pytest.raises(BadOption) as told:
        read_suite(f"locot2v:{option}")
    assert near in told.value.advice
