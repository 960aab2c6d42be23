"""The answer: what may be said of models on the same prompts, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import false_discovery_control, permutation_test

from screentest.analysis.models import comparison
from screentest.analysis.models.answer import Answer
from screentest.analysis.models.comparison import answer, side_by_side
from screentest.analysis.models.explain import with_owed
from screentest.analysis.models.margins import Margin
from screentest.analysis.models.text import number, spread_out
from screentest.analysis.models.words import headline
from screentest.analysis.results import Results, Value
from screentest.core import (
    BadOption,
    Item,
    Look,
    Outcome,
    OutputInfo,
    Point,
    Reason,
    Score,
    SideEffect,
    Span,
    build,
)
from screentest.core.outcome import FRAME_RATE

SHARP = OutputInfo("how sharp", high=100.0, group="picture")
NOISE = OutputInfo("how noisy", high=100.0, higher_is_better=False, group="picture")
JERKS = OutputInfo("how jerky", high=100.0, higher_is_better=False, group="time")
FITS = OutputInfo("how well it fits", high=100.0, group="prompt")
MOVES = OutputInfo("how much moves", high=100.0, group="time", descriptive=True)
METRICS = {"sharp": SHARP, "noise": NOISE, "jerks": JERKS, "fits": FITS, "moves": MOVES}
Numbers = Mapping[tuple[str, str], Iterable[float]]


def results(
    values: Numbers, *, prompts: bool = True, known: Mapping[str, OutputInfo] = METRICS
) -> Results:
    """By metric and model, a value for each prompt."""
    items: dict[str, Item] = {}
    found = []
    for (name, model), numbers in values.items():
        for place, one in enumerate(numbers):
            item = f"{model}/{place}"
            text = f"prompt {place}" if prompts else ""
            items[item] = Item(
                item,
                Path(f"/{model}/{place}.mp4"),
                text,
                groups={"model": model} if prompts else {},
            )
            # By a model of its own, so that no margin of the package is about it.
            signature = f"{name}|v:1|model.made:up"
            found.append(Value(item, name, name, Outcome.of(Score(float(one))), signature))
    names = dict.fromkeys(name for name, _ in values)
    return Results(items, tuple(found), {name: known[name] for name in names})


def drawn(
    count: int,
    seed: int = 1,
    models: str = "abc",
    metrics: str = "sharp noise jerks",
    **shift: float,
) -> Results:
    """Models on the same prompts: the prompt's own value, luck, and a ``shift`` by metric_model."""
    rng = np.random.default_rng(seed)
    values: dict[tuple[str, str], np.ndarray] = {}
    for name in metrics.split():
        base = rng.normal(50, 1, count)
        for model in models:
            own = rng.normal(shift.get(f"{name}_{model}", 0.0), 1, count)
            values[name, model] = base + own
    return results(values)


def said(given: Results, by: str = "") -> Answer:
    found = answer(given, by)
    assert found is not None
    return found


def test_few_prompts_settle_nothing_however_large_the_gap() -> None:
    found = said(drawn(4, sharp_a=90.0))
    assert found.winner == ""
    # Three metrics and three pairs of models: 2 / 2^n must be at most 0.05 / 9.
    assert (found.comparisons, found.fewest) == (9, 9)
    assert found.headline == (
        "No winner yet: 4 prompts cannot settle it, "
        f"about {found.needed} might show that a is first in sharp."
    )
    assert found.needed is not None
    assert found.needed >= 9
    assert "So far a leads in sharp (on 4 of 4 prompts)" in found.seen
    assert "at least" not in found.seen  # the headline has the number
    assert found.rows[0].pairs[0].interval is None
    assert not any(one.best for row in found.rows for one in row.values)


def test_a_winner_is_named_where_the_difference_holds() -> None:
    found = said(drawn(20, sharp_a=4.0, noise_a=-4.0))
    assert found.winner == "a"
    assert found.headline.startswith(
        "a is best in what was measured on 20 prompts: better than b and c in "
    )
    assert found.headline.endswith(", and in nothing surely worse.")
    row = next(one for one in found.rows if one.name == "noise")
    assert (row.leader, row.better, row.state, row.group) == ("a", "lower", "holds", "picture")
    assert row.of("a").best
    assert not row.of("b").best
    held = {(pair.better, pair.worse) for pair in row.pairs if pair.holds}
    assert held == {("a", "b"), ("a", "c")}
    assert all(pair.difference > 0 for pair in row.pairs)


def test_two_that_are_each_better_in_something_are_no_single_winner() -> None:
    found = said(drawn(20, sharp_a=4.0, jerks_b=-4.0, models="ab"))
    assert found.winner == ""
    assert "a is better than b in sharp" in found.headline
    assert "b is better than a in jerks" in found.headline


def test_those_that_share_the_lead_share_the_mark() -> None:
    found = said(drawn(30, sharp_c=-5.0, metrics="sharp"))
    assert [one.best for one in found.rows[0].values] == [True, True, False]
    assert "a and b are better than c in sharp" in found.headline
    assert (found.winner, found.loser) == ("", "c")
    assert (found.rows[0].leader, found.rows[0].last, found.rows[0].behind) == ("", "c", 30)
    assert "c is behind all others in sharp, and in nothing surely better." in found.headline


def test_behind_all_others_only_in_what_all_others_are_surely_better_in() -> None:
    # a leads all in noise; in jerks c is behind both others.
    found = said(drawn(30, jerks_c=8.0, noise_a=-8.0))
    assert found.loser == "c"
    assert "c is behind all others in jerks, and" in found.headline


def test_a_side_is_named_only_against_those_it_is_surely_better_than() -> None:
    # a and c lie steadily, b and d swing together from prompt to prompt.
    rng = np.random.default_rng(5)
    luck = {model: rng.normal(0, 1, 30) for model in "abcd"}
    swing = np.where(np.arange(30) % 2, 60, -60)
    found = said(
        results(
            {
                ("sharp", "a"): 50 + luck["a"],
                ("sharp", "b"): 48 + luck["b"] + swing,
                ("sharp", "c"): 40 + luck["c"],
                ("sharp", "d"): 38 + luck["d"] + swing,
            }
        )
    )
    held = {(pair.better, pair.worse) for pair in found.rows[0].pairs if pair.holds}
    assert held == {("a", "c"), ("b", "d")}
    assert "a is better than c in sharp; b is better than d in sharp" in found.headline


def test_values_that_share_no_prompt_are_not_called_descriptions() -> None:
    whole = drawn(2, metrics="sharp", models="ab")
    lost: Outcome[Score] = Outcome.failed(Reason.CRASHED)
    broken = [
        replace(one, outcome=lost) if one.item in ("a/0", "b/1") else one for one in whole.values
    ]
    found = said(replace(whole, values=tuple(broken)))
    assert found.headline.startswith("Nothing is compared: no measure has values of two models")


FROZEN = OutputInfo("how long it stands", high=100.0, higher_is_better=False, group="time")


def with_faults(count: int, noise: float = 0.3, grain: float = 0.0) -> Answer:
    """A model without faults, one that is blurred, and one that stands still."""
    rng = np.random.default_rng(3)
    means = {
        "sharp": {"good": 50.0, "blurry": 30.0, "still": 50.0},
        "noise": {"good": noise + 0.3, "blurry": noise, "still": noise + 0.3},
        "jerks": {"good": 9.0, "blurry": 9.0, "still": 5.0},
        "frozen": {"good": 0.0, "blurry": 0.0, "still": 60.0},
        "grain": {"good": grain, "blurry": 0.0, "still": grain},
    }
    found = results(
        {
            (name, model): mean + rng.normal(0, 0.01, count)
            for name, models in means.items()
            for model, mean in models.items()
        },
        known={
            **METRICS,
            "noise": replace(
                NOISE, helped_by=(SideEffect("sharp", "blurred pictures", unless="grain"),)
            ),
            "jerks": replace(JERKS, helped_by=(SideEffect("frozen", "still pictures"),)),
            "frozen": FROZEN,
            "grain": replace(NOISE, descriptive=True),
        },
    )
    margins = {name: Margin(0.1, 9) for name in means}
    again = answer(found, margins=margins)
    assert again is not None
    return again


def test_a_lead_that_is_owed_to_a_fault_makes_no_winner() -> None:
    found = with_faults(14)
    assert found.winner == "good"
    assert found.headline == (
        "good is best in what was measured on 14 prompts:"
        " better than blurry in sharp; better than still in frozen."
        " blurry has less noise than good and still, as blurred pictures do."
        " still has less jerks than blurry and good, as still pictures do."
    )
    noise = next(row for row in found.rows if row.name == "noise")
    assert [(one.model, one.best, one.owed) for one in noise.values] == [
        ("blurry", False, True),
        ("good", False, False),
        ("still", False, False),
    ]
    assert "0.295°" in str(found.table().texts())
    assert any(one.startswith("° ") for one in found.notes)
    assert [row.name for row, _ in found.best_at("blurry").rows] == ["frozen"]
    assert [row.name for row, _ in found.worst_at("blurry").rows] == ["sharp"]
    assert found.worst_at("good").rows == ()
    assert {row.name for row, _ in found.best_at("good").rows} == {"sharp", "frozen"}


def test_noise_that_changes_from_frame_to_frame_is_a_fault_of_its_own() -> None:
    """Noise seems sharp: a clean picture is not blurred because a noisy one seems sharper."""
    found = with_faults(14, grain=3.0)
    assert found.winner == ""
    assert "blurry is better than good and still in noise" in found.headline
    # What stands still is what the picture shows, however much of it there is.
    assert "as blurred pictures do" in with_faults(14, noise=3.0).headline


TEXTURE = OutputInfo("fine detail", high=100.0, group="picture", descriptive=True)
LIGHT = replace(TEXTURE, summary="brightness", look=Look("brighter", "darker", 5.0))
LOST = SideEffect("texture", "smoothed pictures", more=False)


def with_texture(count: int, lost: float, light: float = 0.0) -> Answer:
    """A model that is as good as the other, and lost some of its texture, and with it noise."""
    rng = np.random.default_rng(4)
    own = {
        ("noise", "good"): 9.0,
        ("noise", "smooth"): 3.0,
        ("texture", "good"): 40.0,
        ("texture", "smooth"): 40.0 - lost,
        ("light", "good"): 40.0,
        ("light", "smooth"): 40.0 + light,
    }
    found = answer(
        results(
            {key: mean + rng.normal(0, 0.5, count) for key, mean in own.items()},
            known={
                "noise": replace(NOISE, helped_by=(LOST,)),
                "texture": TEXTURE,
                "light": LIGHT,
            },
        ),
        margins={"texture": Margin(1.0, 20)},
    )
    assert found is not None
    return found


def beside(scatter: float = 0.1, /, **means: tuple[float, float]) -> Answer:
    """An intact model beside another, by what core declares of its measures."""
    rng = np.random.default_rng(5)
    names = {"texture": "faults.texture_detail", "nature": "naturalness.unnaturalness"}
    values, known = {}, {}
    for short, (intact, other) in means.items():
        name = names.get(short, short)
        metric, _, output = name.partition(".")
        info = build("metric", metric).thing.info.outputs[output or metric]
        known[name] = replace(info, group="picture")
        for model, mean in (("intact", intact), ("other", other)):
            values[name, model] = mean * (1 + scatter * rng.normal(0, 1, 14))
    found = answer(results(values, known=known), margins={name: Margin(0.0, 9) for name in known})
    assert found is not None
    return found


def test_one_that_is_sharper_and_noisier_may_be_either() -> None:
    """A film with noise that stands still won: the intact one beside it was called blurred."""
    added = {"sharpness": (0.45, 0.6), "noise": (0.4, 6.0), "texture": (0.2, 0.4)}
    found = beside(0.1, **added, grain=(0.5, 0.7))
    assert found.winner == ""
    assert found.headline == (
        "No winner on 14 prompts. intact has less noise, other has more sharpness: whether other"
        " has something added or intact lost detail, no number here says."
    )
    assert all(pair.doubtful for row in found.rows for pair in row.pairs)
    # Where edges are as steep, nothing was lost.
    assert beside(0.1, **{**added, "sharpness": (0.5, 0.5)}, grain=(0.5, 0.7)).winner == "intact"
    # Noise that changes is noise; so little of it makes nothing seem sharp.
    assert beside(0.1, **added, grain=(0.5, 6.0)).winner == "intact"
    faint = beside(0.1, sharpness=(0.45, 0.6), noise=(0.2, 0.6))
    assert faint.winner == "other"
    assert "intact has less noise, as blurred pictures do" in faint.headline


def test_what_looks_sharper_and_less_natural_may_be_either() -> None:
    found = beside(0.1, sharpness=(0.45, 0.6), nature=(2.5, 3.6))
    assert found.winner == ""
    assert "intact has a more natural look, other has more sharpness" in found.headline


def test_detail_is_lost_where_edges_say_so_too() -> None:
    """A mosaic has more detail than its picture, which was said to have lost it."""
    mosaic = {"nature": (2.5, 4.1), "texture": (0.21, 0.25)}
    assert beside(0.01, sharpness=(0.46, 0.40), **mosaic).winner == "intact"
    found = beside(0.01, sharpness=(0.40, 0.41), **mosaic)
    assert "lost detail" in found.headline or "lost fine detail" in found.headline


def test_a_cause_by_chance_is_no_cause() -> None:
    """In one pair of equal models of six a lead was owed to what they did not differ in."""
    rng = np.random.default_rng(6)
    owed = 0
    for _ in range(60):
        own = {("noise", "good"): 9.0, ("noise", "smooth"): 3.0}
        values = {key: mean + rng.normal(0, 0.5, 12) for key, mean in own.items()}
        for model in ("good", "smooth"):
            values["texture", model] = 40 + rng.normal(0, 1.0, 12)
        known = {"noise": replace(NOISE, helped_by=(LOST,)), "texture": TEXTURE}
        found = said(results(values, known=known))
        owed += any(pair.owed_to for row in found.rows for pair in row.pairs)
    assert owed <= 5


def test_what_only_describes_may_explain_a_lead() -> None:
    assert with_texture(12, 0.0).winner == "smooth"
    found = with_texture(12, 9.0)
    assert found.winner == ""
    assert (
        found.headline == "No winner on 12 prompts. smooth has less noise, as smoothed pictures do."
    )


def test_less_detail_than_an_oversharpened_picture_is_not_lost_detail() -> None:
    """An intact model has less noise than an oversharpened one by no fault of its own."""
    halos = SideEffect("light", "oversharpened pictures", more=True, beyond=30.0)
    owed = []
    for light in (0.0, -20.0):  # of the smooth one: the other has as much, or has too much
        rows = []
        for row in with_texture(12, 9.0, light).rows:
            pairs = tuple(replace(pair, owed_to="") for pair in row.pairs)
            info = replace(row.info, helped_by=(halos,)) if row.name == "texture" else row.info
            rows.append(replace(row, info=info, pairs=pairs))
        owed += [pair.owed_to for row in with_owed(rows) for pair in row.pairs]
    assert owed == ["smoothed pictures", ""]


@pytest.mark.parametrize(("beyond", "owed"), [(20.0, ""), (35.0, "smoothed pictures")])
def test_a_fault_begins_where_it_is_said_to(beyond: float, owed: str) -> None:
    rows = []
    for row in with_texture(12, 9.0).rows:
        info = replace(row.info, helped_by=(replace(LOST, beyond=beyond),) * bool(row.pairs))
        pairs = tuple(replace(pair, owed_to="") for pair in row.pairs)
        rows.append(replace(row, info=info, pairs=pairs))
    assert [one.owed_to for row in with_owed(rows) for one in row.pairs] == [owed]


def test_models_that_plainly_look_different_are_told_so() -> None:
    assert with_texture(12, 0.0).looks == ""
    assert with_texture(12, 0.0, light=2.0).looks == ""
    found = with_texture(12, 0.0, light=20.0)
    assert found.looks == (
        "They also look different: smooth is brighter than good."
        " Whether that is wanted no number here says."
    )
    assert found.looks in str(found)
    assert found.looks in str(found.document())


def test_with_few_prompts_the_plainest_faults_are_named() -> None:
    found = with_faults(4)
    assert found.headline.endswith(" might show that still is last in frozen.")
    assert found.seen.startswith(
        "So far still is last in frozen (on 4 of 4 prompts); blurry in sharp (4 of 4);"
        " good is last in nothing. blurry has less noise than good and still, as blurred"
    )


def test_the_first_of_each_metric_comes_before_the_second_of_any() -> None:
    names = ["frozen", "frozen.longest", "held", "sharp"]
    assert spread_out(names, lambda one: one.partition(".")[0]) == [
        *("frozen", "held", "sharp", "frozen.longest"),
    ]


def test_p_is_scipys_and_corrected_over_metrics_and_pairs() -> None:
    given = drawn(10, sharp_a=1.0)
    found = said(given)
    raw: dict[tuple[str, frozenset[str]], float] = {}
    for row in found.rows:
        for pair in row.pairs:
            one, two = (row.of(name).prompts for name in (pair.better, pair.worse))
            both = sorted(one)
            theirs = permutation_test(
                ([one[case] for case in both], [two[case] for case in both]),
                lambda a, b: np.mean(a - b),
                permutation_type="samples",
            )
            assert pair.p_value == pytest.approx(theirs.pvalue)
            raw[row.name, frozenset((pair.better, pair.worse))] = pair.p_value
    ordered = sorted(raw.values())
    holm = np.maximum.accumulate([(9 - rank) * p for rank, p in enumerate(ordered)])
    assert sorted(pair.adjusted_p for row in found.rows for pair in row.pairs) == pytest.approx(
        np.minimum(holm, 1).tolist()
    )
    # Never less strict than Benjamini and Hochberg's, which promises less.
    weaker = false_discovery_control(ordered)
    assert all(np.minimum(holm, 1) >= weaker - 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_no_interval_contradicts_its_test(seed: int) -> None:
    found = said(drawn(12, seed, sharp_a=1.5, noise_b=-2.0))
    for row in found.rows:
        for pair in row.pairs:
            assert pair.interval is not None
            assert (0 in pair.interval) == (not pair.holds)
            assert pair.difference in pair.interval


def test_copies_of_a_video_change_nothing() -> None:
    """Five seeds that are the same file: no more is known than from one."""
    given = drawn(8, sharp_a=2.0)
    copies = {
        f"{item.id} #{copy}": replace(item, id=f"{item.id} #{copy}")
        for item in given.items.values()
        for copy in range(5)
    }
    values = tuple(
        replace(value, item=f"{value.item} #{copy}") for value in given.values for copy in range(5)
    )
    many = Results(copies, values, given.outputs)
    one, other = said(given), said(many)
    assert other.prompts == one.prompts == 8
    assert other.headline == one.headline
    for row, same in zip(one.rows, other.rows, strict=True):
        assert [pair.p_value for pair in same.pairs] == [pair.p_value for pair in row.pairs]
        for value, twin in zip(row.values, same.values, strict=True):
            assert value.interval is not None
            assert twin.interval is not None
            assert twin.interval.low == pytest.approx(value.interval.low)
    parts = many.by_group("model")
    for group, part in given.by_group("model").items():
        for total, twin_total in zip(part.totals(), parts[group].totals(), strict=True):
            assert total.summary is not None
            assert twin_total.summary is not None
            assert twin_total.summary.low == pytest.approx(total.summary.low)
            assert twin_total.summary.high == pytest.approx(total.summary.high)


def with_margin(count: int, margin: float, **shift: float) -> Answer:
    """Two models in one metric, with a margin."""
    given = drawn(count, 1, "ab", "sharp", **shift)
    found = answer(given, margins={"sharp": Margin(margin, 9)})
    assert found is not None
    return found


def test_a_sure_difference_within_the_margin_is_a_tie() -> None:
    """Two encodes of the same frames differ on every prompt, and neither is better."""
    sure = with_margin(40, 0.0, sharp_a=1.5)
    assert (sure.winner, sure.rows[0].state) == ("a", "holds")
    tied = with_margin(40, 2.0, sharp_a=1.5)
    assert (tied.winner, tied.rows[0].state, tied.rows[0].leader) == ("", "tied", "")
    nothing = "No winner: in what is measured here no difference was shown on 40 prompts."
    assert tied.headline == nothing
    same = with_margin(40, 9.0, sharp_a=1.5)
    assert same.headline.startswith("No winner: in what is measured here they differ, on 40 ")
    assert same.headline.endswith(" no more than the same frames do, saved in two ways.")
    assert tied.seen == ""
    # Nor is it said that chance made a difference that more prompts are not foreseen to show.
    unforeseen = replace(with_margin(40, 0.0, sharp_a=0.05), needed=None)
    assert headline(unforeseen) == nothing
    assert with_margin(40, 2.0, sharp_a=6.0).winner == "a"


@pytest.mark.parametrize("margin", [0.5, 1.0, 2.0])
def test_no_interval_contradicts_its_margin(margin: float) -> None:
    for seed_shift in (0.3, 0.6, 1.2, 1.8, 3.0):
        pair = with_margin(14, margin, sharp_a=seed_shift).rows[0].pairs[0]
        assert pair.interval is not None
        assert (pair.interval.low > margin) == pair.holds
        assert pair.ahead == sum(gap > 0 for gap in pair.gaps)
        assert pair.clear == sum(gap > margin for gap in pair.gaps)


def test_models_that_differ_by_the_margin_are_called_better_one_time_in_twenty() -> None:
    rng = np.random.default_rng(3)
    runs, false = 60, 0
    for _ in range(runs):
        base = rng.normal(50, 1, 20)
        values = {("sharp", "a"): base + 0.5 + rng.normal(0, 1, 20), ("sharp", "b"): base}
        found = answer(results(values), margins={"sharp": Margin(0.5, 9)})
        assert found is not None
        false += bool(found.winner)
    assert false / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_the_last_is_named_though_the_first_are_tied() -> None:
    values = {("jerks", m): (0.0, 0.0, 0.0, 0.0) for m in "ab"}
    found = said(results({**values, ("jerks", "c"): (10.0, 11.0, 9.0, 12.0)}))
    row = found.rows[0]
    assert (row.leader, row.last, row.behind, row.state) == ("", "c", 4, "open")
    assert row.needed == max(pair.needed or 0 for pair in row.pairs if pair.worse == "c")
    assert "So far c is last in jerks (on 4 of 4 prompts)." in found.seen
    assert "that c is last in jerks" in found.headline
    assert "c last 4/4" in found.table().column("lead")
    assert found.worst_at("c").rows[0][0] is row
    assert found.best_at("a").rows == ()


def test_what_is_printed_the_same_leads_nowhere() -> None:
    values = {
        ("sharp", "a"): (1.00001, 2.00001, 3.00001),
        ("sharp", "b"): (1.0, 2.0, 3.0),
        ("noise", "a"): (5.0,),
        ("noise", "b"): (7.0,),
    }
    found = said(results(values))
    assert {row.name: (row.leader, row.last) for row in found.rows} == {
        "sharp": ("", ""),
        "noise": ("", ""),  # one prompt
    }
    for model in "ab":
        assert found.best_at(model).rows == found.worst_at(model).rows == ()


def test_one_video_under_many_prompts_is_one_witness() -> None:
    given = drawn(20, models="ab", metrics="sharp", sharp_a=4.0)
    assert said(given).winner == "a"
    same = {item: item[0] for item in given.items}
    found = said(replace(given, contents=same))
    assert (found.prompts, found.winner) == (1, "")
    assert found.remarks == ("20 prompts count as 1: the others have a video in common.",)
    spelled = {
        name: replace(item, prompt=f"A dog{' ' * place}runs{' ' * (place % 3)}")
        for place, (name, item) in enumerate(given.items.items(), start=1)
    }
    found = said(replace(given, items=spelled))
    assert (found.prompts, found.winner) == (1, "")
    assert "differ in spaces or capitals only" in found.remarks[0]


def test_what_describes_is_shown_and_never_ahead() -> None:
    found = said(drawn(20, metrics="moves sharp", moves_a=30.0))
    row = next(one for one in found.rows if one.name == "moves")
    assert (row.state, row.better, row.leader, row.pairs) == ("describes", "", "", ())
    assert found.comparisons == 3  # sharp alone
    assert found.winner == ""
    assert row in found.shown
    only = said(drawn(20, metrics="moves", moves_a=30.0))
    assert only.headline == "Nothing here says which is better: every number only describes."


def test_what_nothing_measures_is_said() -> None:
    assert "nothing here reads the prompt" in said(drawn(6)).unmeasured[0]
    assert said(drawn(6, metrics="sharp fits")).unmeasured == ()
    folders = results({("sharp", m): (1.0, 2.0 + (m == "b")) for m in "ab"}, prompts=False)
    assert said(folders).unmeasured == ("Anything about prompts, since the videos have none.",)


def test_folders_without_a_manifest_are_models_paired_by_name() -> None:
    folders = results({("sharp", m): (1.0, 2.0 + (m == "b"), 3.0) for m in "ab"}, prompts=False)
    found = said(folders)
    assert (found.by, found.models, found.prompts) == ("folder", ("a", "b"), 3)
    assert found.headline == "No winner yet: 3 videos cannot settle it, at least 6 might."
    assert found.remarks == (
        "Videos of the same name are compared with each other, since none has a prompt.",
    )
    # The same where a folder of folders was given, whose names are those of models.
    models = {
        name: replace(item, groups={"model": item.video.parent.name})
        for name, item in folders.items.items()
    }
    assert said(replace(folders, items=models)).headline == found.headline
    # A folder for each video is not a folder for each model.
    alone = results({("sharp", m): (1.0,) for m in "abcd"}, prompts=False)
    assert answer(alone) is None


def test_prompts_that_only_some_models_have_are_left_out_and_counted() -> None:
    given = results({("sharp", "a"): (1, 2, 3, 4), ("sharp", "b"): (1, 2, 9)})
    found = said(given)
    assert (found.prompts, found.left_out) == (3, 1)
    assert found.remarks == ("1 of 4 prompts are left out: b lacks 1.",)
    assert found.rows[0].of("a").mean == 2  # of the three that both have
    assert found.rows[0].of("a").scored == 4
    apart = results({("sharp", "a"): (1.0, 2.0), ("sharp", "b"): (1.0, 2.0)})
    others = {
        name: replace(item, prompt=f"other {name}") if name.startswith("b") else item
        for name, item in apart.items.items()
    }
    lost = said(replace(apart, items=others))
    assert (lost.rows, lost.notes) == ((), ())  # no ties either: nothing was compared
    assert lost.headline.startswith("Nothing can be compared: the models share no prompt. Score ")


def test_equal_models_are_tied_and_one_prompt_is_no_proof() -> None:
    same = said(results({("sharp", m): (1.0, 2.0, 3.0) for m in "ab"}))
    assert same.headline == "No winner: on 3 prompts all values are the same."
    assert [row.state for row in same.rows] == ["tied"]
    one = said(results({("sharp", "a"): (1.0,), ("sharp", "b"): (2.0,)}))
    assert one.headline == "No winner yet: 1 prompt alone cannot settle it, at least 6 might."


def test_a_missing_value_is_no_value() -> None:
    given = drawn(6, models="ab", metrics="sharp noise")
    lost = Value("a/0", "sharp", "sharp", Outcome.failed(Reason.CRASHED), "x")
    values = [
        lost if (value.item, value.name) == ("a/0", "sharp") else value for value in given.values
    ]
    found = said(replace(given, values=tuple(values)))
    row = next(one for one in found.rows if one.name == "sharp")
    assert (row.prompts, row.of("a").scored, row.of("a").total) == (5, 5, 6)


def test_which_groups_are_compared_can_be_said() -> None:
    given = drawn(6)
    assert said(given, "model=c,a").models == ("c", "a")
    with pytest.raises(BadOption, match="no item has model 'x'"):
        answer(given, "model=a,x")
    assert answer(given, "theme") is None


def test_runs_side_by_side_are_the_models() -> None:
    one, two = drawn(8, 1, models="a", metrics="sharp"), drawn(8, 2, models="a", metrics="sharp")
    found = said(side_by_side({"x/monday": one, "x/tuesday": two}), "run")
    assert found.models == ("monday", "tuesday")
    assert found.prompts == 8


def test_by_the_worst_tenth_or_by_the_mean() -> None:
    given = drawn(6, models="ab", metrics="sharp moves")
    curve = (Point(Span(0, 1), 1.0), Point(Span(1, 2), 3.0))  # type: ignore[arg-type]
    values = tuple(
        replace(value, outcome=Outcome.of(Score(1.0, curve, {"mean": 2.0 + place})))
        for place, value in enumerate(given.values)
    )
    kept = replace(given, values=values)
    worst, mean = answer(kept), answer(kept, pool="mean")
    assert worst is not None
    assert mean is not None
    by_name = {row.name: row for row in worst.rows}
    assert by_name["sharp"].pooled == "worst tenth"
    assert by_name["sharp"].of("a").mean == 1.0
    # What has no worse and better has no worst part.
    assert by_name["moves"].pooled == "mean"
    assert by_name["moves"].of("a").mean != 1.0
    assert {row.pooled for row in mean.rows} == {"mean"}
    with pytest.raises(BadOption, match="worst or mean"):
        answer(kept, pool="median")  # type: ignore[arg-type]


@pytest.mark.parametrize("shots", [1, 2])
def test_a_clip_of_one_shot_counts_by_its_whole_and_has_one_margin(shots: int) -> None:
    given = drawn(8, models="ab", metrics="sharp", sharp_a=0.05)
    points = tuple(Point(Span(n, n + 1), 1.0) for n in range(shots))  # type: ignore[arg-type]
    values = tuple(
        replace(
            value,
            metric="steadiness",
            output="halting",
            signature="steadiness|v:3",
            outcome=Outcome.of(Score(0.1, points, {"mean": 0.1})),
        )
        for value in given.values
    )
    kept = replace(given, values=values, outputs={"steadiness.halting": NOISE})
    worst, mean = answer(kept), answer(kept, pool="mean")
    assert worst is not None
    assert mean is not None
    margins = {row.margin.value for one in (worst, mean) for row in one.rows if row.margin}
    assert len(margins) == shots
    assert bool(worst.counted) == (shots > 1)
    mixed = replace(
        kept,
        values=tuple(
            replace(value, outcome=Outcome.of(Score(0.1, points[:1] * many, {"mean": 1})))
            for many, value in zip([1, 2] * len(values), values, strict=False)
        ),
    )
    assert said(mixed).counted == (
        "A prompt counts by the worst tenth of its videos where all of them have several shots,"
        " else by the whole (--pool mean: always)."
    )
    (row,) = said(mixed).rows
    assert (
        row.pooled == "worst tenth where all videos of a prompt have several shots, else the whole"
    )


def test_all_videos_of_a_prompt_are_pooled_in_one_way() -> None:
    """A fault that was taken for a cut made its model count by the worst tenth, others whole."""
    given = drawn(8, models="ab", metrics="sharp")
    shots = tuple(Point(Span(n, n + 1), 1.0) for n in range(2))  # type: ignore[arg-type]

    def with_cuts(*cut: str) -> Results:
        values = tuple(
            replace(
                value,
                outcome=Outcome.of(
                    Score(0.2, shots, {"mean": 0.6}) if value.item in cut else Score(0.6)
                ),
            )
            for value in given.values
        )
        return replace(given, values=values)

    in_b = [item for item in given.items if item.startswith("b/")]
    found = said(with_cuts(*in_b))
    assert [one.mean for one in found.rows[0].values] == pytest.approx([0.6, 0.6])
    assert (found.rows[0].pooled, found.rows[0].state) == ("", "tied")
    assert found.counted.endswith("else by the whole (--pool mean: always).")
    both = said(with_cuts("a/0", "b/0", "b/1"))
    assert [dict(one.prompts) for one in both.rows[0].values] == [
        {"prompt 0": 0.2} | {f"prompt {n}": 0.6 for n in range(1, 8)}
    ] * 2


def test_the_table_fits_many_long_names_by_letters() -> None:
    given = drawn(4, models="abcdefgh", metrics="sharp", sharp_a=60.0)
    long = {
        name: replace(item, groups={"model": f"a_model_called_{item.groups['model']}"})
        for name, item in given.items.items()
    }
    table = said(replace(given, items=long)).table()
    assert "A: a_model_called_a, B: a_model_called_b" in table.note
    assert [column.heading for column in table.short().columns][2:10] == list("ABCDEFGH")
    assert said(drawn(4)).table().note == ""


def test_numbers_have_three_digits() -> None:
    assert [number(one) for one in (0.5, 16.54, -0.0616, 100.4, 0.99951)] == [
        *("0.500", "16.5", "-0.0616", "100", "1.000"),
    ]


# ---- what is compared, and what is not


def without(given: Results, name: str, items: Iterable[str]) -> Results:
    """The same, with no value of a metric on some items."""
    gone = set(items)
    lost: Outcome[Score] = Outcome.failed(Reason.CRASHED)
    values = tuple(
        replace(one, outcome=lost) if one.name == name and one.item in gone else one
        for one in given.values
    )
    return replace(given, values=values)


def test_nothing_is_claimed_where_one_model_lacks_more_values() -> None:
    given = drawn(30, models="ab", metrics="sharp noise", sharp_a=4.0)
    assert said(given).winner == "a"
    hard = [f"a/{place}" for place in range(12, 30)]
    found = said(without(given, "sharp", hard))
    row = next(one for one in found.rows if one.name == "sharp")
    assert (row.state, row.leader, row.pairs, row.prompts) == ("uncompared", "", (), 12)
    assert row.why == "a lacks 18 of 30 values, b none; what is missing may be its worst"
    assert found.remarks == (f"Not compared: sharp: {row.why}.",)
    assert (found.winner, found.comparisons) == ("", 1)
    assert row not in (*found.shown, *found.tied)
    alone = said(without(drawn(30, models="ab", metrics="sharp"), "sharp", hard))
    assert alone.headline == f"No winner: nothing is compared in sharp, since {row.why}."


def test_why_a_value_does_not_apply_is_said_in_its_own_words() -> None:
    given = drawn(30, models="ab", metrics="sharp noise")
    single = [f"{model}/{place}" for model in "ab" for place in range(20)]
    why: Outcome[Score] = Outcome.failed(Reason.NOT_APPLICABLE, "a clip of one shot has none")
    values = tuple(
        replace(one, outcome=why) if one.name == "sharp" and one.item in single else one
        for one in given.values
    )
    found = said(replace(given, values=values))
    told = "No value of sharp on 40 of 60 videos: a clip of one shot has none."
    assert found.remarks == (told,)


def test_the_headline_counts_the_prompts_that_it_rests_on() -> None:
    given = drawn(30, models="ab", metrics="sharp noise", sharp_a=4.0, noise_a=-4.0)
    few = [f"{model}/{place}" for model in "ab" for place in range(12)]
    found = said(without(given, "sharp", few))
    assert found.headline.startswith(
        "a is best in what was measured on 18 to 30 prompts: better than b in "
    )
    assert found.remarks == ("a has no value of sharp on 12 of 30 prompts, b on 12.",)
    one = said(
        without(given, "noise", (f"{model}/{place}" for model in "ab" for place in range(30)))
    )
    assert one.headline.startswith("a is best in what was measured on 30 prompts: ")
    assert one.remarks == ()  # nobody has a value: there is nothing to compare
    none = said(without(given, "noise", (f"b/{place}" for place in range(30))))
    assert none.remarks == ("b has no value of noise on 30 of 30 prompts, a on 0.",)


def seeded(given: Results, seeds: Mapping[str, int]) -> Results:
    """Every video as often as its model has seeds; of all but the first the value is far off."""
    items, values = {}, []
    for value in given.values:
        item = given.items[value.item]
        for seed in range(seeds[item.groups["model"]]):
            name = f"{item.id}-{seed}"
            groups = {**item.groups, "seed": str(seed)}
            items[name] = replace(item, id=name, video=Path(f"/{name}.mp4"), groups=groups)
            more = Outcome.of(Score(value.outcome.unwrap().value + 30.0 * seed))
            values.append(replace(value, item=name, outcome=more))
    return Results(dict(reversed(items.items())), tuple(reversed(values)), given.outputs)


def test_as_many_videos_of_each_model_are_compared() -> None:
    given = drawn(20, models="ab", metrics="sharp")
    found = said(seeded(given, {"a": 1, "b": 12}))
    assert found.remarks == ("b has 12 videos a prompt, a 1: the first of each is compared.",)
    assert [one.mean for one in found.rows[0].values] == [
        one.mean for one in said(given).rows[0].values
    ]
    assert found.rows[0].pairs[0].gaps == said(given).rows[0].pairs[0].gaps
    assert found.rows[0].of("b").scored == 240
    three = said(seeded(drawn(20, metrics="sharp"), {"a": 2, "b": 2, "c": 1}))
    assert three.remarks[0].endswith("the first of each is compared (or --by model=a,b).")


def test_values_that_are_missing_within_prompts_are_counted_too() -> None:
    given = seeded(drawn(20, models="ab", metrics="sharp"), {"a": 4, "b": 4})
    bad = [f"a/{place}-{seed}" for place in range(20) for seed in (2, 3)]
    row = said(without(given, "sharp", bad)).rows[0]
    assert (row.state, row.prompts) == ("uncompared", 20)
    assert row.why.startswith("a lacks 40 of 80 values, b none")
    few = said(without(given, "sharp", bad[:4]))
    assert few.rows[0].state != "uncompared"
    assert few.remarks == ("a has no value of sharp on 4 of 80 videos, b on 0 of 80.",)


def test_three_models_are_compared_on_the_prompts_that_all_have() -> None:
    """The means and the verdict would contradict each other on different prompts."""
    rng = np.random.default_rng(5)
    a = np.where(np.arange(40) < 6, 49.0, 51.0) + rng.normal(0, 0.2, 40)
    rest = {name: 50 + rng.normal(0, 0.2, 40 if name == "b" else 6) for name in "bc"}
    given = results({("sharp", "a"): a, **{("sharp", name): own for name, own in rest.items()}})
    found = said(given)
    assert found.winner == ""
    row = found.rows[0]
    assert {len(one.prompts) for one in row.values} == {pair.prompts for pair in row.pairs} == {6}
    assert found.remarks == (
        "34 of 40 prompts are left out: c lacks 34; --by model=a,b has 40 in common.",
    )
    assert said(given, "model=a,b").winner == "a"


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ("sharp|v:2|rate:4", "version 1 and 2"),
        ("sharp|v:1|rate:2", "rate 2 and 4"),
        ("sharp|v:1|rate:4|model.vlm:big", "vlm big and none"),
    ],
)
def test_what_was_measured_in_two_ways_is_not_compared(signature: str, words: str) -> None:
    """The same frames measured by two versions of a metric named a winner."""
    given = drawn(12, models="ab", metrics="sharp noise moves", sharp_b=20.0, noise_b=-20.0)
    old = {"sharp": "sharp|v:1|rate:4", "moves": "moves|v:1"}
    new = {"sharp": signature, "moves": "moves|v:2"}
    values = tuple(
        replace(
            one,
            signature=(new if one.item.startswith("b/") else old).get(
                one.name, "x|v:1|model.made:up"
            ),
        )
        for one in given.values
    )
    found = said(replace(given, values=values))
    states = {row.name: row.state for row in found.rows}
    assert states == {"sharp": "uncompared", "noise": "holds", "moves": "uncompared"}
    assert "better than a in noise" in found.headline
    why = f"values were measured in different ways ({words})"
    assert any("sharp" in one and why in one for one in found.remarks)


def test_another_decoder_is_not_another_way() -> None:
    given = drawn(12, models="ab", metrics="sharp", sharp_b=20.0)
    values = tuple(
        replace(one, signature=f"sharp|v:1|decoder:{one.item[0]}") for one in given.values
    )
    assert said(replace(given, values=values)).winner == "b"


def test_runs_of_videos_without_prompts_are_counted_in_videos() -> None:
    runs = {
        name: Results(
            {f"{place}.mp4": Item(f"{place}.mp4", Path(f"/{name}/{place}.mp4")) for place in "xyz"},
            tuple(
                Value(f"{place}.mp4", "sharp", "sharp", Outcome.of(Score(50.0)), "sharp|v:1")
                for place in "xyz"
            ),
            {"sharp": SHARP},
        )
        for name in ("a", "b")
    }
    found = said(side_by_side(runs), "run")
    assert (found.prompts, found.unit) == (3, "video")


def test_what_depends_on_the_frame_rate_is_not_compared_across_rates() -> None:
    def at(rates: Mapping[str, float], shift: float = 0.0) -> Answer:
        given = drawn(20, models="abc", metrics="sharp jerks", jerks_a=-4.0 + shift)
        values = tuple(
            replace(one, outcome=Outcome.of(Score(one.outcome.unwrap().value, (), detail)))
            for one in given.values
            for rate in [rates.get(one.item) or rates[one.item[0]]]
            for detail in [{FRAME_RATE: rate} if one.name == "jerks" else {}]
        )
        return said(replace(given, values=values))

    assert at({"a": 24, "b": 23.976, "c": 24}).winner == "a"
    found = at({"a": 24, "b": 12, "c": 12})
    row = next(one for one in found.rows if one.name == "jerks")
    assert (found.winner, row.state) == ("", "uncompared")
    assert found.remarks == (
        "Not compared: jerks: frame rates differ (a 24, b 12, c 12), and the numbers depend on"
        " them; or --by model=b,c.",
    )
    one = at({"a": 24, "b": 24, "c": 24, "a/3": 12})
    assert next(row for row in one.rows if row.name == "jerks").prompts == 19


def test_the_larger_margin_counts() -> None:
    given = drawn(12, models="ab", metrics="noise", noise_a=-0.1)
    known = tuple(replace(one, signature="noise|v:3") for one in given.values)
    given = replace(given, values=known)
    for own, counts in ((0.0, 0.164), (2.0, 2.0)):
        found = answer(given, margins={"noise": Margin(own, 7, "placebos")})
        assert found is not None
        margin = found.rows[0].margin
        assert margin is not None
        assert margin.value == pytest.approx(counts, rel=0.5)


# ---- does it hold?


def equal_models(rng: np.random.Generator, prompts: int, metrics: Sequence[str]) -> Results:
    """One system three times, with metrics that hang together; the last is mostly zero."""
    base = rng.normal(size=prompts)
    values: dict[tuple[str, str], np.ndarray] = {}
    for name in metrics:
        for model in "abc":
            own = base + rng.normal(size=prompts) + 0.5 * rng.normal(size=prompts)
            values[name, model] = np.maximum(own, 0) if name == metrics[-1] else own
    return results(values)


def test_of_equal_models_none_is_better_but_one_time_in_twenty() -> None:
    """Here a few; bench/calibration.py has the many."""
    rng = np.random.default_rng(11)
    runs = 25
    found = [said(equal_models(rng, 40, ("sharp", "noise", "jerks"))) for _ in range(runs)]
    false = sum(any(row.state == "holds" for row in one.rows) for one in found)
    assert false / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert all(
        ("is best in what was measured" in one.headline) == bool(one.winner) for one in found
    )


def test_a_margin_of_too_few_films_lets_nothing_be_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The largest difference of eight films was taken for a margin, and filed as a tie."""
    given = drawn(14, metrics="sharp", models="ab", sharp_a=9.0)
    monkeypatch.setattr(comparison, "margin_of", lambda *_: Margin(0.3, 8))
    found = said(given)
    assert (found.winner, found.rows[0].state) == ("", "uncompared")
    (remark,) = found.remarks
    assert remark.startswith("Not compared: sharp (a 58.8, b 50.2): ")
    assert remark.endswith("is known from 8 films only.")
    monkeypatch.setattr(comparison, "margin_of", lambda *_: Margin(0.3, 9))
    assert said(given).winner == "a"


def test_a_version_whose_margin_is_not_known_is_not_compared() -> None:
    """A run of the noise before colours counted had a winner by what two ways of saving make."""
    given = drawn(14, metrics="noise", models="ab", noise_a=9.0)
    old = tuple(replace(one, signature="noise|v:2") for one in given.values)
    found = said(replace(given, values=old))
    assert (found.winner, found.rows[0].state) == ("", "uncompared")
    assert "of another version than 3, of which margins are known: score again" in found.remarks[0]


def test_nobody_is_sent_for_thousands_of_prompts() -> None:
    values = {("sharp", "a"): [51.0, 49.9] * 6, ("sharp", "b"): [50.0, 50.0] * 6}
    found = answer(results(values), margins={"sharp": Margin(0.3, 20)})
    assert found is not None
    row = found.rows[0]
    assert (row.leader, row.ahead, row.clear) == ("a", 6, 6)
    for row in found.rows:
        assert "~" not in str(
            replace(found, rows=(replace(row, state="open", needed=4300),)).table()
        )


def test_a_label_that_names_a_fault_has_a_merit_for_sentences() -> None:
    ugly = replace(NOISE, label="unnatural look", merit="natural look")
    rng = np.random.default_rng(2)
    values = {("noise", m): mean + rng.normal(0, 1, 14) for m, mean in (("a", 50), ("b", 60))}
    found = said(results(values, known={"noise": ugly}))
    assert found.headline.startswith(
        "a is best in what was measured on 14 prompts: better than b in natural look, and"
    )
    # Sentences have the one name, rows the other, whose number the arrow is of.
    assert "unnatural look ↓" in str(found.table())
    # Those that are tied are listed by their rows' names.
    alike = said(results(dict.fromkeys(values, values["noise", "a"]), known={"noise": ugly}))
    assert "unnatural" not in alike.headline
    assert "told: unnatural look" in " ".join(alike.notes)


def of_one(numbers: Mapping[str, Sequence[float]], name: str = "sharp") -> Answer:
    """One metric of some models."""
    found = answer(results({(name, model): own for model, own in numbers.items()}))
    assert found is not None
    return found


def test_one_question_has_one_number() -> None:
    """The headline said 18 for "cedar is last", its row 35, and a third sentence at least 11."""
    worse = [30.0, 33.0, 28.0, 31.0]
    found = of_one({"a": [50.0, 51.0, 49.0, 50.5], "b": [48.0, 52.0, 32.0, 47.0], "c": worse})
    (row,) = found.rows
    assert (row.says, row.last) == ("last", "c")
    assert min(pair.needed or 0 for pair in row.named) < (row.needed or 0) == found.needed
    assert found.headline.endswith(f"about {found.needed} might show that c is last in sharp.")
    assert found.table().short().texts()[0][-1] == f"~{found.needed}"
    assert "at least" not in str(found)


def test_settled_is_about_what_the_row_says() -> None:
    """A row said "b 12/12, yes" where b was shown to be ahead of c alone."""
    wide = [9.0, 9.0, -9.0, 9.0, 9.0, -9.0, 9.0, 9.0, -9.0, 9.0, -9.0, 9.0]
    found = of_one(
        {
            "a": [50 - gap for gap in wide],
            "b": [50.0] * 12,
            "c": [place / 12 for place in range(12)],
        }
    )
    (row,) = found.rows
    assert {(p.better, p.worse) for p in row.pairs if p.holds} == {("a", "c"), ("b", "c")}
    assert (row.says, row.settled, row.last) == ("last", True, "c")
    assert found.table().short().texts()[0][-2:] == ("c last 12/12", "yes")
    assert not found.best_at("b").sure
    assert [row.over("b"), row.under("c")] == [("c",), ("a", "b")]
    assert found.worst_at("c").sure
    # Of c as uneven as a, only one difference is shown, and the row names that one.
    shaky = [50 - 1.2 * gap for gap in wide[::-1]]
    one = of_one({"a": shaky, "b": [50.0] * 12, "c": [44.0 + n / 9 for n in range(12)]})
    (row,) = one.rows
    assert [(pair.better, pair.worse) for pair in row.pairs if pair.holds] == [("b", "c")]
    assert (row.says, row.settled) == ("first", False)
    assert one.table().short().texts()[0][-2:] == ("b 8/12", "b > c")
    assert not one.best_at("b").sure
    assert one.document()["rows"][0]["settled"] is False


def test_what_only_describes_is_folded_where_all_else_is_tied() -> None:
    """The table was rows without arrows, below empty columns."""
    found = with_margin(12, 9.0)
    both = drawn(12, 1, "ab", "sharp moves")
    tied = answer(both, margins={"sharp": Margin(9.0, 9)})
    assert tied is not None
    assert not tied.table().rows
    assert not found.table().rows
    told = next(one for one in tied.notes if one.startswith("Only described (--json): moves a "))
    assert ", b " in told
    # Where nothing can be compared, there are the values without columns for who is ahead.
    alone = said(drawn(6, metrics="moves")).table().short()
    assert [one.heading for one in alone.columns[-3:]] == ["a", "b", "c"]


def test_on_one_prompt_the_leader_is_told_what_it_is_last_in() -> None:
    values = {"sharp": (9, 5, 4), "fits": (8, 2, 3), "noise": (7, 3, 1)}
    one = {(name, m): (v,) for name, own in values.items() for m, v in zip("abc", own, strict=True)}
    assert said(results(one)).seen.startswith(
        "On this one prompt a is ahead in fits and sharp, and last in noise; c is ahead in noise;"
    )


def test_one_measure_more_is_one() -> None:
    names = "sharp noise jerks fits"
    given = drawn(40, models="ab", metrics=names)
    for place, name in enumerate(names.split()):
        given = without(given, name, {f"a/{n}" for n in range(place, 2 * place + 1)})
    assert "Values of 1 more measure are missing (--json)." in said(given).remarks
