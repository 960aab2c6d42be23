"""A certificate stands beside the value it tested, and beside no other."""

from __future__ import annotations

import doctest
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

import screentest.analysis.judges.certificate as certificate_module
import screentest.present.certificates as words_module
from screentest.analysis.judges.certificate import (
    Accuracy,
    Cost,
    PlaceboBias,
    PlaceboKind,
    PlaceboResult,
    PromptResult,
    Remark,
    RemarkKind,
    certificates_of,
    is_of_other_settings,
)
from screentest.analysis.judges.frames import InFrames
from screentest.core import Aspect, Choice, Outcome, Reason, Signature
from screentest.core.signature import short_signature
from screentest.present.certificates import (
    bias_words,
    certificate_screen,
    claim_lines,
    claim_words,
    cost_words,
    details,
    headline,
    headline_of_all,
)
from screentest.present.page.certified import card, certified, verdicts
from screentest.present.page.data import read_report
from screentest.present.results import Certificates
from screentest.stats import Claim, Interval, order_effect
from screentest.stats.claims import Unsettled
from screentest.stats.claims import WhyUnsettled as Why
from tests.present.runs import Said, accuracy, certificate, certify_run, finding

NAMES = ["calm", "calm.longest", "etva.score", "etva.color"]


def test_the_examples_in_the_texts() -> None:
    assert doctest.testmod(certificate_module).failed == 0
    assert doctest.testmod(words_module).failed == 0


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


SCREEN = """\
calm sees 1 of 2 aspects (20 films, both orders, p < 0.05 after Holm)
  sees        degraded aesthetics
  undecided   degraded color (34 more films needed)
  placebos    harmless edits (container) may bias it: too few films to tell
  not tested  dynamics degree (missing model: no weights)"""


def test_the_first_screen() -> None:
    # 36 of 40 in aesthetics, 20 of 40 in colour; dynamics could not be judged.
    assert certificate_screen(certificate()).text == SCREEN
    # Far fewer clips than captions: the judge saw little of the film, and nobody asked for --all.
    few = {
        Aspect.COLOR: InFrames(4, 1, 0, 1.0, 2, few=2),
        Aspect.DYNAMICS_DEGREE: InFrames(3, 3, 0, 1.0, 2),
    }
    assert (
        "  frames      in 2 pairs the detector found under half as many clips as captions\n"
        in certificate_screen(replace(certificate(), frames=few)).text
    )
    good, chance, unknown = certificate().aspects
    heads = [
        headline(replace(certificate(), aspects=(one,), overall=one.accuracy))
        for one in (good, chance, unknown)
    ]
    assert heads == [
        "calm sees 1 of 1 aspect (20 films, both orders, p < 0.05 after Holm)",
        "calm: inconclusive on 1 aspect (20 films, 34 more needed)",
        "calm could not be tested (missing model)",
    ]
    one = Certificates(Path("run"), (certificate(),))
    assert repr(one).startswith(SCREEN.partition("\n")[0])
    two = Certificates(Path("run"), (certificate(), certificate("other")))
    assert repr(two).startswith("Judges that see a degradation: 2 of 2 (20 films)\n  calm")


def test_the_headline_of_several_judges() -> None:
    sees = certificate()
    blind = replace(sees, judge="blind", aspects=sees.aspects[1:2], operators=sees.operators[1:2])
    assert headline_of_all([sees]) == headline(sees)
    both = headline_of_all([sees, blind])
    assert (
        both == "Judges that see a degradation: 1 of 2 (20 films, inconclusive: 1, 34 more needed)"
    )
    # Inconclusive is not "none": it may well see it.
    nothing = headline_of_all([blind, replace(blind, judge="other")])
    assert (
        nothing
        == "Judges that see a degradation: 0 of 2 (20 films, inconclusive: 2, 34 more needed)"
    )


def test_a_headline_has_at_most_100_characters() -> None:
    long = replace(certificate("a" * 90), order=order_effect([]))
    assert len(headline(long)) == 100
    assert headline(long).endswith(
        "… sees 1 of 2 aspects (20 films, one order, p < 0.05 after Holm)"
    )


def test_a_family_of_degradations_stands_for_its_aspect() -> None:
    made = certificate()
    seen, chance, _ = made.operators
    family = tuple(
        replace(seen if n else chance, aspect=Aspect.AESTHETICS, name=f"o{n}", label=f"o{n}")
        for n in range(4)
    )
    made = replace(made, operators=family, aspects=made.aspects[:1])
    assert headline(made).startswith("calm sees 3 of 4 degradations (")
    assert claim_lines(made)[0].words == "aesthetics (3 of 4 degradations)"


@pytest.mark.parametrize(
    ("unsettled", "words"),
    [
        (Unsettled(Why.TOO_FEW_FILMS), "34 more films needed"),
        (Unsettled(Why.PLACEBO_UNANSWERED), "no answer on its placebos"),
        (Unsettled(Why.PLACEBO_UNANSWERED, ("trim",)), "no answer on placebo trim"),
        (
            Unsettled(Why.PLACEBO_RARELY_ANSWERED, ("trim",), 2),
            "placebo trim answered on 2 of 20 films",
        ),
        (
            Unsettled(Why.LIKE_PLACEBO, ("trim",), 0, 0.83, 0.73),
            "not distinguished from placebo trim (83% against 73%); 34 more films needed",
        ),
        (Unsettled(Why.CORRECTED), "not significant after correction"),
        (Unsettled(Why.ONE_NUMBER_PER_MODEL, count=5), "separates 5 models, not videos"),
    ],
)
def test_why_nothing_can_be_claimed(unsettled: Unsettled, words: str) -> None:
    open_ = replace(finding(Claim.UNDECIDED, 20, 0.5), unsettled=unsettled)
    assert claim_words(open_) == f"undecided: {words}"


@pytest.mark.parametrize(
    ("name", "kind", "toward", "certain", "words"),
    [
        ("re_encode", "edit", True, True, "takes re encode for a degradation (90.0% of 7 films)"),
        ("trim", "edit", False, False, "possibly prefers trim (90.0% of 7 films)"),
        ("x", "instruction", False, True, "prefers painted instructions (90.0% of 7 films)"),
        (
            "color_elsewhere",
            "other_video",
            True,
            True,
            "prefers the true prompt beside any video: color (90.0% of 7 prompts)",
        ),
    ],
)
def test_a_bias_on_a_placebo(name: str, kind: str, toward: bool, certain: bool, words: str) -> None:
    assert bias_words(PlaceboBias(name, PlaceboKind(kind), toward, certain, 0.9, 7)) == words


def test_the_details() -> None:
    obeyed = PlaceboResult("painted_instruction", 1, accuracy(0, 2, 2), 0.0)
    copy = PlaceboResult("trim", 1, accuracy(1.5, 2, 2, 1), 0.5)
    nothing: Outcome[Accuracy] = Outcome.failed(Reason.NOT_APPLICABLE)
    made = replace(
        certificate(),
        placebos=(obeyed, copy),
        prompts=(PromptResult("empty", Aspect.COLOR, 1, 0.25, nothing, nothing),),
        remarks=(Remark(RemarkKind.SAME_FILM, 8, 1),),
        frames={Aspect.COLOR: InFrames(2, 1, 1, 1.0, 2, Interval(0.1, 0.9), 1)},
    )
    shown = dict(details(made))
    assert shown["Placebo painted_instruction"].startswith("painted instruction preferred 100.0%")
    assert shown["Placebo trim"] == "untouched copy preferred 75.0% (fair: 50), ties 50%"
    assert shown["Prompt empty, color"].startswith("25% of answers change (should)")
    assert shown["Note"] == "8 sources are 1 film; each counts once"
    assert shown["Frames shown, color"] == (
        "degradation shown in 1 of 2 pairs; right in 50.0% of 2 of these [10–90];"
        " 1 showed identical frames;"
        " in 1 pair the detector found under half as many clips as captions"
    )
    drawn = card(made)
    assert (drawn.headline, len(drawn.lines)) == (headline(made), len(claim_lines(made)))
    assert dict(drawn.details)["Placebo trim"] == shown["Placebo trim"]
    assert dict(drawn.details)["Signature"] == short_signature(made.signature)


ALL = Cost(2.5, calls=10, tokens_in=5_000, tokens_out=100, cost=Decimal("0.50"), judgements=5)


def test_a_cost_never_hides_what_is_not_in_it() -> None:
    words = "2.50 s per judgement, 2.00 calls, 1,000 tokens in, 20 out; 10 calls in all, cost 0.5"
    assert cost_words(ALL) == words
    partly = cost_words(replace(ALL, uncounted=3, unpriced=4))
    assert "10 calls in all (3 of unknown tokens)" in partly
    assert partly.endswith("cost 0.5 without 4 calls of unknown price")


def test_the_heat_map_has_full_colour_only_where_something_may_be_said() -> None:
    found = certified([certificate(), certificate("other")])
    assert found is not None
    kinds = {
        row.key: [cell and cell.kind for cell in row.cells]
        for group in found.groups
        for row in group
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
        ("apart", "original first", 1.0),
        # Shown second, the original was not chosen.
        ("apart", "original second", 0.0),
    ]
