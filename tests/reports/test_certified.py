"""A certificate stands beside the value it tested, and beside no other."""

from __future__ import annotations

import doctest
from dataclasses import replace

import screentest.reports.cards as certified_module
from screentest.core import Aspect, Signature
from screentest.reports.cards import certificates_of, is_of_other_settings
from screentest.reports.sections import trust
from tests.reports.runs import certificate

NAMES = ["calm", "calm.longest", "etva.score", "etva.color"]


def test_the_examples_in_the_texts() -> None:
    assert doctest.testmod(certified_module).failed == 0


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
