"""``certify --dry-run``: what it takes and what it can tell, and nothing is started."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from scipy.stats import binomtest

from screentest.analysis.forecast import forecast_certify
from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.certificate import Cost
from screentest.analysis.judges.plan import Plan
from screentest.api.certificates import forecast
from screentest.core import BadOption, Item, Resources, registry
from screentest.metrics.functions import metric
from screentest.run.session import settings_of
from screentest.stats.power import COIN, films_needed
from tests.judges.written import written
from tests.terminal import invoke


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve films, two operators of one aspect, two placebos."""
    edits = dict.fromkeys(("reencode", "trim", "blur", "noise"), 0.0)
    films = {f"{number:02}": edits for number in range(12)}
    return written(tmp_path_factory.mktemp("forecast") / "bed", films, ("blur", "noise"))


def test_pairs_judgements_and_calls_are_counted(bed: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."m"]\ninput = 2.0\noutput = 10.0\n')
    chosen = {"models": ["chat=openai:m"], "prices": prices}
    judges = ["vlm_video", "vlm_text", "dense", "flicker"]
    found = forecast(judges, bed, out=tmp_path / "none", **chosen)  # type: ignore[arg-type]
    video, text, dense, flicker = found.work
    # 24 harmed pairs and 24 placebos, each in the one aspect there is, in two orders.
    assert {one.judgements for one in found.work} == {96}
    # An intact file and four edits of each of twelve films.
    assert {one.videos for one in found.work} == {60}
    # One question each; a description of each video besides; the films have no captions: one clip.
    assert (video.calls, text.calls, dense.calls, flicker.calls) == (96, 96 + 60, 60, 0)
    assert video.tokens is not None
    # In and out per million: the price of what is sent, and of 96 answers of 300 tokens.
    assert video.cost == (Decimal(2) * video.tokens + Decimal(10) * 96 * 300) / 1_000_000
    assert flicker.cost is None
    assert not (tmp_path / "none").exists()


def test_a_metric_that_does_not_say_how_often_it_asks_has_no_calls(bed: Path) -> None:
    @metric(name="asks_now_and_then", summary="asks when it likes", roles=("chat",))
    def asks_now_and_then(item: Item, resources: Resources) -> float:
        raise AssertionError("a plan starts nothing")

    try:
        (judge,) = forecast("asks_now_and_then", bed, models="chat=openai:m").work
    finally:
        registry._entries.pop(("metric", "asks_now_and_then"))
    assert (judge.calls, judge.tokens, judge.cost) == (None, None, None)


def test_calls_made_before_are_a_measure(bed: Path) -> None:
    plan = Plan(tuple(read_cases([bed])), ("vlm_video",))
    before = Cost(1.5, 20, 50_000, 900, cost=Decimal("0.3"), judgements=10)
    (judge,) = forecast_certify(
        plan, settings_of({"models": "chat=openai:m"}), {"vlm_video": before}
    ).work
    # 96 judgements at two calls, 5,000 tokens and 0.03 each.
    assert (judge.calls, judge.tokens, judge.measured) == (192, 480_000, True)
    assert judge.cost == pytest.approx(Decimal("2.88"))
    assert judge.seconds == 96 * 1.5
    unknown = Cost(0.0, 20, 0, 0, uncounted=20, judgements=10)
    (judge,) = forecast_certify(
        plan, settings_of({"models": "chat=openai:m"}), {"vlm_video": unknown}
    ).work
    assert not judge.measured


def test_what_the_films_can_tell_is_the_power_of_the_test(bed: Path) -> None:
    found = forecast("flicker", bed).power
    assert found is not None
    # Two operators and the aspect of both are three claims.
    assert [(one.operator, one.pairs, one.films) for one in found.groups] == [
        ("", 24, 12),
        ("blur", 12, 12),
        ("noise", 12, 12),
    ]
    (finds,) = {one.finds for one in found.groups}
    # By hand: twelve films pass at 0.05 / 3 from eleven right answers on (scipy's exact test).
    assert binomtest(11, 12).pvalue <= 0.05 / 3 < binomtest(10, 12).pvalue
    assert finds is not None

    def power(share: float) -> float:
        return share**12 + 12 * share**11 * (1 - share)

    assert power(finds) >= 0.8 > power(finds - 0.01)
    assert list(found.needed) == [0.6, 0.75, 0.9]
    # Where its placebos, two kinds of each film, are tosses, the claim has to beat each as well.
    tossed = {share: films_needed(share, level=0.05 / 3, noise=COIN) for share in found.needed}
    assert found.needed_at_worst == tossed
    assert all(many > 1.3 * found.needed[share] for share, many in tossed.items())
    assert all((one.finds_at_worst or 1) > finds for one in found.groups)
    bare = forecast("flicker", bed, placebos=False).power
    assert bare is not None
    assert bare.needed == bare.needed_at_worst


def test_the_command_says_it_and_starts_nothing(bed: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ("certify", "flicker", "--testbed", bed, "--out", out, "--dry-run")
    result = invoke(*options)
    assert result.exit_code == 0, result.output
    shown = json.loads(invoke(*options, "--json", "--no-placebos").stdout)
    assert [one["judgements"] for one in shown["judges"]] == [48]
    assert [one["films"] for one in shown["groups"]] == [12, 12, 12]
    assert not out.exists()
    with pytest.raises(BadOption):
        forecast((), bed)
