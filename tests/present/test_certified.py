"""A certificate stands beside the value it tested, and beside no other."""

from __future__ import annotations

import doctest
from dataclasses import replace
from pathlib import Path

import screentest.present.page.trust as trust_module
from screentest.core import Aspect, Choice, Signature
from screentest.present.page.certified import card, certified, verdicts
from screentest.present.page.data import read_report
from screentest.present.page.trust import certificates_of, is_of_other_settings, trust
from tests.present.runs import Said, certificate, certify_run

NAMES = ["calm", "calm.longest", "etva.score", "etva.color"]


def test_the_examples_in_the_texts() -> None:
    assert doctest.testmod(trust_module).failed == 0


def test_another_value_of_the_metric_is_not_certified() -> None:
    assert len(certificates_of("calm", [certificate("calm")], NAMES)) == 1
    assert certificates_of("calm.longest", [certificate("calm")], NAMES) == []
    assert certificates_of("calm", [certificate("calm.longest")], NAMES) == []


def test_a_value_named_like_an_aspect_is_certified_in_that_aspect_alone() -> None:
    made = [certificate("etva")]
    (colour,) = certificates_of("etva.color", made, NAMES)
    (score,) = certificates_of("etva.score", made, NAMES)
    assert [one.aspect for one in colour.aspects] == [Aspect.COLOR]
    assert [one.aspect for one in score.aspects] == [Aspect.AESTHETICS, Aspect.DYNAMICS_DEGREE]


def test_what_was_certified_with_other_settings() -> None:
    metric = Signature.of("calm", version=1, rate=2)
    judge = Signature.of("calm", version=1).with_parts({"metric.calm": metric.digest})
    made = replace(certificate(), signature=str(judge))
    assert not is_of_other_settings(made, str(metric))
    other = str(Signature.of("calm", version=1, rate=4))
    assert is_of_other_settings(made, other)
    assert trust(made, other) == (
        "sees harmed aesthetics; cannot tell on 1 of 2 operators: 34 more films are needed "
        "(tested with other settings)"
    )


def test_trust_in_words() -> None:
    # 36 of 40 in aesthetics, 20 of 40 in colour; dynamics could not be judged.
    good, chance, unknown = certificate().aspects
    told = [trust(replace(certificate(), aspects=(one,))) for one in (good, chance, unknown)]
    assert told == [
        "sees harmed aesthetics",
        "cannot tell on all operators: 34 more films are needed",
        "could not be tested",
    ]


def test_a_card_says_what_the_judge_sees_and_what_could_not_be_judged() -> None:
    lines = {line.label: line.words for line in card(certificate()).lines}
    assert lines["Sees"] == "harmed aesthetics"
    assert lines["Open"].startswith("cannot tell on 1 of 2 operators")
    assert lines["dynamics degree failed"] == "missing_model: no weights"


def test_the_heat_map_has_full_colour_only_where_something_may_be_said() -> None:
    found = certified([certificate(), certificate("other")])
    assert found is not None
    kinds = {
        row.key: [cell and cell.kind for cell in row.cells]
        for group in found.groups
        for row in group.rows
    }
    assert kinds["aesthetics/aesthetics"] == ["sees", "sees"]
    assert kinds["color/color"] == ["unknown", "unknown"]  # 20 of 40: nothing may be said
    assert kinds["placebo container"] == ["fair", "fair"]


def test_answers_alike_in_both_orders_are_one(tmp_path: Path) -> None:
    said = [
        Said("alike", Choice.FIRST),
        Said("alike", Choice.SECOND, order="second_first"),
        Said("apart", Choice.FIRST),
        Said("apart", Choice.FIRST, order="second_first"),
    ]
    run = certify_run(tmp_path / "run", [certificate()], said)
    found = verdicts(read_report([run]), tmp_path)["verdicts"]
    assert [(one["id"], one["order"], one["points"]) for one in found] == [
        ("alike", "in both orders", 1.0),
        ("apart", "intact first", 1.0),
        # Shown second, the intact one was not chosen.
        ("apart", "intact second", 0.0),
    ]
