"""The figures of a certificate from judgements made up by hand; origins beside the numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint

from screentest.analysis.judges.accuracy import (
    accuracy,
    by_pair,
    duration_effect,
    filter_agreement,
    filter_result,
    find_claims,
    ladders,
    placebo_results,
    reference,
    trend,
)
from screentest.analysis.judges.certificate import (
    Certificate,
    PlaceboBias,
    PlaceboKind,
    PromptResult,
)
from screentest.analysis.judges.plan import PromptChange, prompt_results, with_changed_prompts
from screentest.core import Aspect, Choice, Clip, Item, Outcome, PairKind, Reason, Script, Verdict
from screentest.judges.cases import Case, Judgement, Order
from screentest.stats import Claim, order_effect
from screentest.stats.claims import Unsettled, WhyUnsettled

INTACT = {Order.AS_GIVEN: Choice.FIRST, Order.SWAPPED: Choice.SECOND}


def case(
    source: str,
    aspect: Aspect = Aspect.COLOR,
    *,
    severity: float = 1.0,
    clips: int = 5,
    kept: bool | None = None,
    kind: PairKind = PairKind.DEGRADATION,
    name: str = "",
    duration: float = 60.0,
    change: str = "",
) -> Case:
    script = Script((Clip(f"{source} begins."), Clip("It goes on."), Clip("It ends.")))
    item = Item(f"bed/{source}", Path(f"{source}.mp4"), script.text, script)
    name = name or aspect.value
    return Case(
        f"bed/{source}/{name}@{severity}x{clips}",
        aspect,
        script.text,
        item,
        item,
        "bed",
        source,
        kind,
        name,
        duration,
        severity=severity,
        clips=clips,
        kept=kept,
        change=change,
    )


def said(one: Case, points: float | None, order: Order = Order.AS_GIVEN) -> Judgement:
    """A judgement worth so many points; None for an answer that could not be read."""
    if points is None:
        return Judgement(one, order, 0, Outcome.failed(Reason.UNPARSABLE, "no answer"))
    choice = Choice.TIE if points == 0.5 else INTACT[order] if points else INTACT[order].flipped
    return Judgement(one, order, 0, Outcome.of(Verdict(choice)))


def both(one: Case, first: float | None, second: float | None) -> list[Judgement]:
    return [said(one, first), said(one, second, Order.SWAPPED)]


def test_points_are_of_the_intact_video_in_either_order() -> None:
    pair = case("a")
    assert [one.points for one in both(pair, 1, 0)] == [1.0, 0.0]
    assert [one.choice for one in both(pair, 1, 1)] == [Choice.FIRST, Choice.SECOND]


def test_a_judge_that_ignores_order_gains_nothing_by_being_asked_twice() -> None:
    pairs = [case(f"s{n}") for n in range(20)]
    right = [float(n < 15) for n in range(20)]
    once = [said(pair, points) for pair, points in zip(pairs, right, strict=True)]
    twice = [one for pair, p in zip(pairs, right, strict=True) for one in both(pair, p, p)]
    alone, doubled = accuracy(once).unwrap(), accuracy(twice).unwrap()
    # statsmodels 0.14, 15 of 20. How much films differ is known from 20 of them only.
    low, high = proportion_confint(15, 20, method="beta")
    assert (alone.interval.low, alone.interval.high) == pytest.approx((low, high), abs=0.01)
    assert doubled.interval.width == pytest.approx(alone.interval.width, rel=0.06)
    # The paper's own, over the 20 pairs.
    low, high = proportion_confint(15, 20, method="normal")
    assert (doubled.wald.low, doubled.wald.high) == pytest.approx((low, high))


def test_failures_are_counted_and_are_no_points() -> None:
    judgements = [*both(case("a"), 1, None), *both(case("b"), None, None), *both(case("c"), 0.5, 1)]
    found = accuracy(judgements).unwrap()
    assert (found.points, found.judgements, found.total, found.pairs) == (2.5, 3, 6, 2)
    assert (found.ties, found.failures) == (1, {Reason.UNPARSABLE: 3})
    assert found.coverage == 0.5


def test_nothing_answered_has_the_reason() -> None:
    lost = accuracy(both(case("a"), None, None))
    assert lost.failure is not None
    assert lost.failure.reason is Reason.UNPARSABLE


def test_one_source_is_one_trial() -> None:
    assert accuracy(both(case("a"), 1, 0)).unwrap().interval.width > 0.9


def test_an_answer_counts_with_its_counterpart_in_the_other_order() -> None:
    found = by_pair([*both(case("a"), 1, 0), *both(case("b"), 1, None)])
    assert [points for _, points in found.values()] == [0.5]
    # Where one order was asked, there is none to wait for.
    alone = by_pair([said(case("a"), 1), said(case("b"), 0), said(case("c"), None)])
    assert [points for _, points in alone.values()] == [1.0, 0.0]


def test_a_judge_that_says_first_and_fails_in_the_other_order_sees_nothing() -> None:
    judgements = [one for n in range(30) for one in both(case(f"s{n}"), 1, None)]
    assert accuracy(judgements).unwrap().value == 1.0
    assert {one.claim for one in find_claims(judgements, []).values()} == {Claim.UNDECIDED}


def test_the_table_shows_the_strongest_rung_of_each_source() -> None:
    ladder = [case("a", severity=s, clips=c) for s in (0.5, 1.0) for c in (1, 5)]
    judgements = [said(one, 1) for one in [*ladder, case("b", severity=0.5, clips=2)]]
    assert [one.case.rung for one in reference(judgements)] == [(1.0, 5), (0.5, 2)]


def test_a_ladder_counts_pairs_and_only_sources_with_every_rung() -> None:
    judgements = []
    for source, points in {"a": (0, 1, 1), "b": (0.5, 0.5, 1)}.items():
        for severity, earned in zip((0.25, 0.5, 1.0), points, strict=True):
            judgements += both(case(source, severity=severity), earned, earned)
    judgements += both(case("c", severity=1.0), 0, 0)  # has one rung only
    judgements += both(case("d", severity=0.25), 1, 1)
    judgements += both(case("d", severity=0.5), None, None)  # no answer on one rung
    judgements += both(case("d", severity=1.0), 1, 1)
    dose = ladders(judgements, by="severity")["color"]
    assert [(one.severity, one.accuracy, one.n) for one in dose.doses] == [
        (0.25, 0.25, 2),
        (0.5, 0.75, 2),
        (1.0, 1.0, 2),
    ]
    assert dose.monotone
    assert not ladders(judgements, by="clips")


def test_a_trend_takes_each_pair_once() -> None:
    pairs = [case(f"s{n}", duration=10.0 * n) for n in range(12)]
    judgements = [one for n, pair in enumerate(pairs) for one in both(pair, n < 6, n < 6)]
    found = trend(judgements).unwrap()
    assert sum(one.n for one in found.bins) == 12
    assert found.correlation.value < -0.8


def test_bins_of_few_films_make_no_trend() -> None:
    # Nine films of six pairs each are 27 bins: perfectly ordered, and of nine durations.
    judgements = []
    for film in range(9):
        for pair in range(6):
            judged = replace(case(f"s{film}", duration=10.0 * film), id=f"{film}/{pair}")
            judgements += both(judged, film < 5, film < 5)
    assert trend(judgements).failure == duration_effect(judgements).failure
    assert trend(judgements).failure is not None


def test_before_and_after_people_s_filter() -> None:
    judgements = []
    # By hand: before 3/4, 2/4, 1/4; after 2/2, 1/2, 0/2; a straight line.
    for aspect, points in {
        Aspect.COLOR: (1, 1, 1, 0),
        Aspect.AESTHETICS: (1, 0, 1, 0),
        Aspect.TEMPORAL_FLOW: (0, 0, 1, 0),
    }.items():
        for number, earned in enumerate(points):
            pair = case(f"s{number}", aspect, kept=number < 2)
            judgements += both(pair, earned, earned)
    found = filter_result(judgements)
    assert found is not None
    assert (found.kept, found.pairs) == (6, 12)
    after = {aspect: one.unwrap().value for aspect, one in found.aspects.items()}
    assert after == {Aspect.AESTHETICS: 0.5, Aspect.COLOR: 1.0, Aspect.TEMPORAL_FLOW: 0.0}
    before = {aspect: one.unwrap().value for aspect, one in found.before.items()}
    assert before.keys() == after.keys()
    assert filter_result([said(case("a"), 1)]) is None


def test_the_filter_is_held_against_judges_in_each_aspect() -> None:
    """Three judges with accuracies 1/4, 2/4, 3/4 before; after, on the kept half, 0, 1/2, 1."""
    kept = [case(str(n), kept=n < 2) for n in range(4)]
    made = []
    for right in ((0, 0, 0, 1), (1, 0, 1, 0), (1, 1, 0, 1)):
        judgements = [said(one, points) for one, points in zip(kept, right, strict=True)]
        made.append(replace(_certificate([]), filtered=filter_result(judgements)))
    (found,) = filter_agreement(made).values()
    assert found.unwrap().value == pytest.approx(1.0)
    assert found.unwrap().n == 3
    (few,) = filter_agreement(made[:2]).values()
    assert few.failure is not None
    assert filter_agreement([_certificate([])]) == {}


def _certificate(judgements: list[Judgement]) -> Certificate:
    nothing = (accuracy(judgements), (), order_effect([]), trend([]), duration_effect([]))
    return Certificate("judge", "judge|v:1", ("bed",), *nothing)


def test_people_count_by_votes_and_not_by_majorities() -> None:
    four_of_five = Verdict(Choice.FIRST, share=0.8)
    one = Judgement(case("a"), Order.AS_GIVEN, 0, Outcome.of(four_of_five))
    other = Judgement(case("a"), Order.SWAPPED, 0, Outcome.of(four_of_five.flipped))
    assert one.points == 0.8
    assert other.points == pytest.approx(0.8)
    assert accuracy([one, other]).unwrap().value == pytest.approx(0.8)


def test_placebos_tell_alarms_and_ties() -> None:
    quiet = case("a", kind=PairKind.PLACEBO, name="trim")
    (found,) = placebo_results([*both(quiet, 0.5, 1), said(case("b"), 1)])
    assert (found.name, found.pairs, found.tie_share) == ("trim", 1, 0.5)
    assert found.false_alarms.unwrap().value == 0.75


@pytest.mark.parametrize(
    ("on_pixels", "why"),
    [
        (1.0, Unsettled(WhyUnsettled.LIKE_PLACEBO, ("noise",), 0, 1.0, 1.0)),
        (None, Unsettled(WhyUnsettled.PLACEBO_UNANSWERED, ("noise", "reencode", "trim"))),
    ],
)
def test_placebos_that_change_no_pixel_hide_none_that_do(
    on_pixels: float | None, why: Unsettled
) -> None:
    harmed = [said(case(str(film), name="blocks"), 1) for film in range(40)]
    kinds: dict[str, float | None] = dict.fromkeys(("noise", "reencode", "trim"), on_pixels)
    kinds |= {"container": 0.5, "severity_zero": 0.5}
    placebos = [
        said(case(str(film), kind=PairKind.PLACEBO, name=kind), points)
        for film in range(40)
        for kind, points in kinds.items()
    ]
    found = find_claims(harmed, placebos)["color", "blocks"]
    assert (found.claim, found.unsettled) == (Claim.UNDECIDED, why)
    quiet = [one for one in placebos if one.points == 0.5]
    assert find_claims(harmed, quiet)["color", "blocks"].claim is Claim.SEES


def test_a_placebo_of_one_aspect_counts_in_the_others() -> None:
    """A judge that is paid is put each placebo in one aspect."""
    harmed = [said(case(str(film), name="blocks"), 1) for film in range(20)]
    elsewhere = [
        said(case(str(film), Aspect.AESTHETICS, kind=PairKind.PLACEBO, name="trim"), 1)
        for film in range(20)
    ]
    assert find_claims(harmed, elsewhere)["color", "blocks"].claim is Claim.UNDECIDED
    # What was put in the aspect itself and has no answer is not made up for by another aspect.
    failed = [said(case(str(n), kind=PairKind.PLACEBO, name="trim"), None) for n in range(20)]
    fair = [replace(one, outcome=Outcome.of(Verdict(Choice.TIE))) for one in elsewhere]
    found = find_claims(harmed, [*failed, *fair])["color", "blocks"]
    assert found.unsettled == Unsettled(WhyUnsettled.PLACEBO_UNANSWERED)


def test_a_placebo_that_is_not_treated_as_one_is_named() -> None:
    """Exact: seven films one way are 2 / 2^7, twice that for two placebos; three prove nothing."""

    def found(films: int, points: float, name: str) -> PlaceboBias | None:
        own = [case(str(n), kind=PairKind.PLACEBO, name=name) for n in range(films)]
        fair = [case(str(n), kind=PairKind.PLACEBO, name="trim") for n in range(films)]
        judged = [said(one, points) for one in own] + [said(one, 0.5) for one in fair]
        one, other = placebo_results(judged)
        assert other.bias is None
        return one.bias

    edit = PlaceboKind.EDIT
    assert found(7, 1, "reencode") == PlaceboBias("reencode", edit, True, True, 1.0, 7)
    assert found(7, 0, "reencode") == PlaceboBias("reencode", edit, False, True, 1.0, 7)
    obeys = found(7, 0, "painted_instruction")
    assert obeys is not None
    assert (obeys.kind, obeys.toward_original) == (PlaceboKind.INSTRUCTION, False)
    assert found(3, 1, "reencode") == PlaceboBias("reencode", edit, True, False, 1.0, 3)
    assert found(3, 0.5, "reencode") is None


def test_a_probe_finds_its_question_whatever_the_source_is_called() -> None:
    plain = [case("take #2"), case("b#empty")]
    (probe, other) = with_changed_prompts(plain, [PromptChange.EMPTY], 9)
    assert {probe.change, other.change} == {"empty"}
    assert probe.prompt == ""
    judgements = [said(one, 1) for one in plain] + [said(probe, 0), said(other, 1)]
    (found,) = prompt_results(judgements, [PromptChange.EMPTY])
    assert (found.pairs, found.changed_share) == (2, 0.5)


@pytest.mark.parametrize(
    ("change", "aspect", "matters"),
    [
        ("shuffled", Aspect.TEMPORAL_FLOW, True),
        ("shuffled", Aspect.COLOR, False),
        ("swapped", Aspect.COLOR, True),
        ("empty", Aspect.AESTHETICS, False),
    ],
)
def test_where_words_should_matter(change: str, aspect: Aspect, matters: bool) -> None:
    nothing = accuracy([])
    assert PromptResult(change, aspect, 1, 0.0, nothing, nothing).should_matter is matters
