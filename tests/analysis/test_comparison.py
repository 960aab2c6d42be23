"""The comparison of models: facts about models on the same prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import permutation_test

from screentest.analysis.models import comparison
from screentest.analysis.models.comparison import ModelComparison, compare_models, side_by_side
from screentest.analysis.models.coverage import PromptCoverage
from screentest.analysis.models.explain import ModelLook, with_explanations
from screentest.analysis.models.rows import (
    Explained,
    NotCompared,
    Part,
    Place,
    State,
    first_and_last,
    spread_out,
)
from screentest.analysis.results import Margin, Results, Value
from screentest.core import (
    BadOption,
    Item,
    Outcome,
    OutputInfo,
    Point,
    Reason,
    Score,
    SideEffect,
    Span,
    Traits,
    build,
)
from screentest.core.outcome import FRAME_RATE

SHARP = OutputInfo("how sharp", high=100.0)
NOISE = OutputInfo("how noisy", high=100.0, higher_is_better=False)
JERKS = OutputInfo("how jerky", high=100.0, higher_is_better=False)
FITS = OutputInfo("how well it fits", high=100.0)
MOVES = OutputInfo("how much moves", high=100.0, descriptive=True)
GROUPS = {"sharp": "picture", "noise": "picture", "fits": "prompt"}
METRICS = {"sharp": SHARP, "noise": NOISE, "jerks": JERKS, "fits": FITS, "moves": MOVES}
Numbers = Mapping[tuple[str, str], Iterable[float]]


def results(
    values: Numbers,
    *,
    prompts: bool = True,
    known: Mapping[str, OutputInfo] = METRICS,
    traits: Mapping[str, Traits] | None = None,
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
    own = traits or {}
    return Results(
        items,
        tuple(found),
        {name: known[name] for name in names},
        traits={
            name: replace(own.get(name, Traits()), group=GROUPS.get(name, "time")) for name in names
        },
    )


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


def compared(given: Results, by: str = "") -> ModelComparison:
    found = compare_models(given, by)
    assert found is not None
    return found


def test_few_prompts_settle_nothing_however_large_the_gap() -> None:
    found = compared(drawn(4, sharp_a=90.0))
    assert found.winner == ""
    # Of 2^n patterns of signs, two are as clear where all agree: 2 / 2^n must be at most 0.05.
    assert (found.comparisons, found.fewest) == (9, 6)
    assert found.too_few
    assert found.needed is not None
    assert found.needed >= 6
    row = found.rows[0]
    assert (row.name, row.state, row.claim, row.leader) == (
        *("sharp", State.UNDECIDED, Place.FIRST, "a"),
    )
    assert (row.ahead, row.prompts, row.needed) == (4, 4, found.needed)
    assert found.rows[0].pairs[0].interval is None
    assert not any(one.best for row in found.rows for one in row.values)


def test_a_winner_is_named_where_the_difference_holds() -> None:
    found = compared(drawn(20, sharp_a=4.0, noise_a=-4.0))
    assert found.winner == "a"
    row = next(one for one in found.rows if one.name == "noise")
    assert (row.leader, row.better, row.state, row.group) == (
        "a",
        "lower",
        State.SIGNIFICANT,
        "picture",
    )
    assert row.of("a").best
    assert not row.of("b").best
    held = {(pair.better, pair.worse) for pair in row.pairs if pair.significant}
    assert held == {("a", "b"), ("a", "c")}
    assert all(pair.difference > 0 for pair in row.pairs)


def test_two_that_are_each_better_in_something_are_no_single_winner() -> None:
    found = compared(drawn(20, sharp_a=4.0, jerks_b=-4.0, models="ab"))
    assert found.winner == ""
    rows = {row.name: row for row in found.rows}
    assert (rows["sharp"].over("a"), rows["jerks"].over("b")) == (("b",), ("a",))


def test_those_that_share_the_lead_share_the_mark() -> None:
    found = compared(drawn(30, sharp_c=-5.0, metrics="sharp"))
    assert [one.best for one in found.rows[0].values] == [True, True, False]
    assert (found.winner, found.loser) == ("", "c")
    assert (found.rows[0].leader, found.rows[0].last, found.rows[0].behind) == ("", "c", 30)
    assert found.rows[0].under("c") == ("a", "b")


def test_behind_all_others_only_in_what_all_others_are_surely_better_in() -> None:
    # a leads all in noise; in jerks c is behind both others.
    found = compared(drawn(30, jerks_c=8.0, noise_a=-8.0))
    assert found.loser == "c"
    rows = {row.name: row for row in found.rows}
    assert (rows["jerks"].under("c"), rows["noise"].under("c")) == (("a", "b"), ("a",))


def test_a_side_is_named_only_against_those_it_is_surely_better_than() -> None:
    # a and c lie steadily, b and d swing together from prompt to prompt.
    rng = np.random.default_rng(5)
    luck = {model: rng.normal(0, 1, 30) for model in "abcd"}
    swing = np.where(np.arange(30) % 2, 60, -60)
    found = compared(
        results(
            {
                ("sharp", "a"): 50 + luck["a"],
                ("sharp", "b"): 48 + luck["b"] + swing,
                ("sharp", "c"): 40 + luck["c"],
                ("sharp", "d"): 38 + luck["d"] + swing,
            }
        )
    )
    held = {(pair.better, pair.worse) for pair in found.rows[0].pairs if pair.significant}
    assert held == {("a", "c"), ("b", "d")}
    assert (found.rows[0].over("a"), found.rows[0].over("b")) == (("c",), ("d",))


def test_values_that_share_no_prompt_are_not_called_descriptions() -> None:
    whole = drawn(2, metrics="sharp", models="ab")
    lost: Outcome[Score] = Outcome.failed(Reason.CRASHED)
    broken = [
        replace(one, outcome=lost) if one.item in ("a/0", "b/1") else one for one in whole.values
    ]
    found = compared(replace(whole, values=tuple(broken)))
    assert (found.rows, found.comparisons, found.prompts) == ((), 0, 2)


FROZEN = OutputInfo("how long it stands", high=100.0, higher_is_better=False)


def with_faults(count: int, noise: float = 0.3, grain: float = 0.0) -> ModelComparison:
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
        known={**METRICS, "frozen": FROZEN, "grain": replace(NOISE, descriptive=True)},
        traits={
            "noise": Traits((SideEffect("sharp", unless="grain"),)),
            "jerks": Traits((SideEffect("frozen"),)),
        },
    )
    margins = {name: Margin(0.1, 9) for name in means}
    again = compare_models(found, margins=margins)
    assert again is not None
    return again


def test_a_lead_that_is_owed_to_a_fault_makes_no_winner() -> None:
    found = with_faults(14)
    assert found.winner == "good"
    rows = {row.name: row for row in found.rows}
    assert (rows["sharp"].over("good"), rows["frozen"].over("good")) == (("blurry",), ("still",))
    noise = rows["noise"]
    explained = [
        (row.name, pair.better, pair.worse, pair.explanation.kind, pair.explanation.value)
        for row in (noise, rows["jerks"])
        for pair in sorted(row.pairs, key=lambda pair: pair.worse)
        if pair.explanation is not None and pair.significant
    ]
    assert explained == [
        ("noise", "blurry", "good", Explained.ARTEFACT, "sharp"),
        ("noise", "blurry", "still", Explained.ARTEFACT, "sharp"),
        ("jerks", "still", "blurry", Explained.ARTEFACT, "frozen"),
        ("jerks", "still", "good", Explained.ARTEFACT, "frozen"),
    ]
    assert [(one.model, one.best, one.explained) for one in noise.values] == [
        ("blurry", False, True),
        ("good", False, False),
        ("still", False, False),
    ]
    last = {row.name: first_and_last(row)[1] for row in found.rows}
    assert [name for name, model in last.items() if model == "blurry"] == ["sharp"]
    assert "good" not in last.values()


def test_noise_that_changes_from_frame_to_frame_is_a_fault_of_its_own() -> None:
    """Noise seems sharp: a clean picture is not blurred because a noisy one seems sharper."""
    found = with_faults(14, grain=3.0)
    assert found.winner == ""
    assert next(row for row in found.rows if row.name == "noise").over("blurry") == (
        *("good", "still"),
    )
    # What stands still is what the picture shows, however much of it there is.
    still = with_faults(14, noise=3.0)
    assert next(row for row in still.rows if row.name == "noise").of("blurry").explained


TEXTURE = OutputInfo("fine detail", high=100.0, descriptive=True)
LIGHT = replace(TEXTURE, summary="brightness")
LOST = SideEffect("texture", more=False)


def with_texture(count: int, lost: float, light: float = 0.0) -> ModelComparison:
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
    found = compare_models(
        results(
            {key: mean + rng.normal(0, 0.5, count) for key, mean in own.items()},
            known={"noise": NOISE, "texture": TEXTURE, "light": LIGHT},
            traits={"noise": Traits((LOST,)), "light": Traits(visible=5.0)},
        ),
        margins={"texture": Margin(1.0, 20)},
    )
    assert found is not None
    return found


def beside(scatter: float = 0.1, /, **means: tuple[float, float]) -> ModelComparison:
    """An intact model beside another, by what core declares of its measures."""
    rng = np.random.default_rng(5)
    names = {"texture": "faults.texture_detail", "nature": "naturalness.unnaturalness"}
    values, known, traits = {}, {}, {}
    for short, (intact, other) in means.items():
        name = names.get(short, short)
        metric, _, output = name.partition(".")
        info = build("metric", metric).thing.info
        known[name] = info.outputs[output or metric]
        traits[name] = info.traits.get(output or metric, Traits())
        for model, mean in (("intact", intact), ("other", other)):
            values[name, model] = mean * (1 + scatter * rng.normal(0, 1, 14))
    found = compare_models(
        results(values, known=known, traits=traits),
        margins={name: Margin(0.0, 9) for name in known},
    )
    assert found is not None
    return found


def test_one_that_is_sharper_and_noisier_may_be_either() -> None:
    """A film with noise that stands still won: the intact one beside it was called blurred."""
    added = {"sharpness": (0.45, 0.6), "noise": (0.4, 6.0), "texture": (0.2, 0.4)}
    found = beside(0.1, **added, grain=(0.5, 0.7))
    assert found.winner == ""
    kinds = {
        (pair.explanation.kind, pair.explanation.model)
        for row in found.rows
        for pair in row.pairs
        if pair.explanation is not None
    }
    assert kinds == {(Explained.AMBIGUOUS, "other")}
    assert all(pair.explanation for row in found.rows for pair in row.pairs)
    # Where edges are as steep, nothing was lost.
    assert beside(0.1, **{**added, "sharpness": (0.5, 0.5)}, grain=(0.5, 0.7)).winner == "intact"
    # Noise that changes is noise; so little of it makes nothing seem sharp.
    assert beside(0.1, **added, grain=(0.5, 6.0)).winner == "intact"
    faint = beside(0.1, sharpness=(0.45, 0.6), noise=(0.2, 0.6))
    assert faint.winner == "other"
    noise = next(row for row in faint.rows if row.name == "noise")
    assert noise.of("intact").explained


def test_what_looks_sharper_and_less_natural_may_be_either() -> None:
    found = beside(0.1, sharpness=(0.45, 0.6), nature=(2.5, 3.6))
    assert found.winner == ""
    assert all(value.best is False for row in found.rows for value in row.values)
    assert {row.state for row in found.rows} == {State.SIGNIFICANT}


def test_detail_is_lost_where_edges_say_so_too() -> None:
    """A mosaic has more detail than its picture, which was said to have lost it."""
    mosaic = {"nature": (2.5, 4.1), "texture": (0.21, 0.25)}
    assert beside(0.01, sharpness=(0.46, 0.40), **mosaic).winner == "intact"
    found = beside(0.01, sharpness=(0.40, 0.41), **mosaic)
    nature = next(row for row in found.rows if row.name == "naturalness.unnaturalness")
    assert nature.of("intact").explained


def test_a_cause_by_chance_is_no_cause() -> None:
    """In one pair of equal models of six a lead was owed to what they did not differ in."""
    rng = np.random.default_rng(6)
    owed = 0
    for _ in range(60):
        own = {("noise", "good"): 9.0, ("noise", "smooth"): 3.0}
        values = {key: mean + rng.normal(0, 0.5, 12) for key, mean in own.items()}
        for model in ("good", "smooth"):
            values["texture", model] = 40 + rng.normal(0, 1.0, 12)
        known, traits = {"noise": NOISE, "texture": TEXTURE}, {"noise": Traits((LOST,))}
        found = compared(results(values, known=known, traits=traits))
        owed += any(pair.explanation for row in found.rows for pair in row.pairs)
    assert owed <= 5


def test_what_only_describes_may_explain_a_lead() -> None:
    assert with_texture(12, 0.0).winner == "smooth"
    found = with_texture(12, 9.0)
    assert found.winner == ""
    (noise,) = found.having(State.SIGNIFICANT)
    assert (noise.name, noise.of("smooth").explained) == ("noise", True)


def test_less_detail_than_an_oversharpened_picture_is_not_lost_detail() -> None:
    """An intact model has less noise than an oversharpened one by no fault of its own."""
    halos = SideEffect("light", more=True, beyond=30.0)
    explained = []
    for light in (0.0, -20.0):  # of the smooth one: the other has as much, or has too much
        rows = []
        for row in with_texture(12, 9.0, light).rows:
            pairs = tuple(replace(pair, explanation=None) for pair in row.pairs)
            effects = (halos,) if row.name == "texture" else row.helped_by
            rows.append(replace(row, helped_by=effects, pairs=pairs))
        explained += [bool(p.explanation) for row in with_explanations(rows) for p in row.pairs]
    assert explained == [True, False]


@pytest.mark.parametrize(("beyond", "explained"), [(20.0, False), (35.0, True)])
def test_a_fault_begins_where_it_is_said_to(beyond: float, explained: bool) -> None:
    rows = []
    for row in with_texture(12, 9.0).rows:
        effects = (replace(LOST, beyond=beyond),) * bool(row.pairs)
        pairs = tuple(replace(pair, explanation=None) for pair in row.pairs)
        rows.append(replace(row, helped_by=effects, pairs=pairs))
    found = [bool(pair.explanation) for row in with_explanations(rows) for pair in row.pairs]
    assert found == [explained]


def test_models_that_plainly_look_different_are_told_so() -> None:
    assert with_texture(12, 0.0).looks == ()
    assert with_texture(12, 0.0, light=2.0).looks == ()
    found = with_texture(12, 0.0, light=20.0)
    assert found.looks == (ModelLook("light", "smooth", more=True),)
    assert found.document()["looks"] == (({"value": "light", "model": "smooth", "more": True}),)


def test_with_few_prompts_the_plainest_faults_are_named() -> None:
    found = with_faults(4)
    rows = {row.name: row for row in found.having(State.UNDECIDED)}
    assert found.needed == rows["frozen"].needed
    assert [(rows[name].last, rows[name].behind) for name in ("frozen", "sharp")] == [
        *(("still", 4), ("blurry", 4)),
    ]
    assert "good" not in {first_and_last(row)[1] for row in found.rows}
    assert all(pair.explanation for pair in rows["noise"].pairs if pair.better == "blurry")


def test_the_first_of_each_metric_comes_before_the_second_of_any() -> None:
    names = ["frozen", "frozen.longest", "held", "sharp"]
    assert spread_out(names, lambda one: one.partition(".")[0]) == [
        *("frozen", "held", "sharp", "frozen.longest"),
    ]


def test_p_is_scipys_and_corrected_by_all_metrics_and_pairs_together() -> None:
    given = drawn(10, sharp_a=1.0)
    found = compared(given)
    everything = []
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
            everything.append(([one[case] - two[case] for case in both], pair))
    gaps = np.array([gap for gap, _ in everything]).T
    both_ways = np.concatenate([gaps, -gaps], axis=1)
    drawn_sums = np.array(list(product((1, -1), repeat=10))) @ both_ways
    statistics = drawn_sums / np.sqrt((both_ways**2).sum(axis=0))
    # Westfall and Young's step-down, written out: the largest of what is not settled yet.
    order, adjusted = np.argsort(-statistics[0]), 0.0
    for rank in range(9):
        most = statistics[:, order[rank:]].max(axis=1)
        adjusted = max(adjusted, float(np.mean(most >= statistics[0, order[rank]] - 1e-9)))
        assert everything[order[rank] % 9][1].adjusted_p == pytest.approx(adjusted)


@pytest.mark.parametrize("seed", range(6))
def test_no_interval_contradicts_its_test(seed: int) -> None:
    found = compared(drawn(12, seed, sharp_a=1.5, noise_b=-2.0))
    for row in found.rows:
        for pair in row.pairs:
            assert pair.interval is not None
            assert (0 in pair.interval) == (not pair.significant)
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
    one, other = compared(given), compared(many)
    assert other.prompts == one.prompts == 8
    assert (other.winner, other.needed) == (one.winner, one.needed)
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


def with_margin(count: int, margin: float, **shift: float) -> ModelComparison:
    """Two models in one metric, with a margin."""
    given = drawn(count, 1, "ab", "sharp", **shift)
    found = compare_models(given, margins={"sharp": Margin(margin, 9)})
    assert found is not None
    return found


def test_a_sure_difference_within_the_margin_is_a_tie() -> None:
    """Two encodes of the same frames differ on every prompt, and neither is better."""
    sure = with_margin(40, 0.0, sharp_a=1.5)
    assert (sure.winner, sure.rows[0].state) == ("a", State.SIGNIFICANT)
    tied = with_margin(40, 2.0, sharp_a=1.5)
    assert (tied.winner, tied.rows[0].state, tied.rows[0].leader) == ("", State.EQUIVALENT, "")
    unsure = with_margin(40, 1.5, sharp_a=1.5)
    assert (unsure.rows[0].state, unsure.winner) == (State.UNDECIDED, "")
    assert with_margin(40, 9.0, sharp_a=1.5).rows[0].state is State.EQUIVALENT
    assert with_margin(40, 2.0, sharp_a=6.0).winner == "a"


@pytest.mark.parametrize("margin", [0.5, 1.0, 2.0])
def test_no_interval_contradicts_its_margin(margin: float) -> None:
    for seed_shift in (0.3, 0.6, 1.2, 1.8, 3.0):
        pair = with_margin(14, margin, sharp_a=seed_shift).rows[0].pairs[0]
        assert pair.interval is not None
        assert (pair.interval.low > margin) == pair.significant
        assert pair.ahead == sum(gap > 0 for gap in pair.gaps)
        assert pair.clear == sum(gap > margin for gap in pair.gaps)


def test_models_that_differ_by_the_margin_are_called_better_one_time_in_twenty() -> None:
    rng = np.random.default_rng(3)
    runs, false = 60, 0
    for _ in range(runs):
        base = rng.normal(50, 1, 20)
        values = {("sharp", "a"): base + 0.5 + rng.normal(0, 1, 20), ("sharp", "b"): base}
        found = compare_models(results(values), margins={"sharp": Margin(0.5, 9)})
        assert found is not None
        false += bool(found.winner)
    assert false / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_the_last_is_named_though_the_first_are_tied() -> None:
    values = {("jerks", m): (0.0, 0.0, 0.0, 0.0) for m in "ab"}
    found = compared(results({**values, ("jerks", "c"): (10.0, 11.0, 9.0, 12.0)}))
    row = found.rows[0]
    assert (row.leader, row.last, row.behind, row.state) == ("", "c", 4, State.UNDECIDED)
    assert row.needed == max(pair.needed or 0 for pair in row.pairs if pair.worse == "c")
    assert (row.claim, row.last, found.needed) == (Place.LAST, "c", row.needed)
    assert first_and_last(row) == ("", "c")


def test_a_tie_is_decided_by_values_and_margins_not_by_printed_digits() -> None:
    """0.42004 and 0.41996 are both printed as 0.420: they were a tie however sure the lead."""
    values = {
        ("sharp", "a"): [0.42004 + 0.0001 * n for n in range(12)],
        ("sharp", "b"): [0.41996 + 0.0001 * n for n in range(12)],
    }
    (row,) = compared(results(values)).rows
    assert (row.leader, row.last, row.ahead, row.state) == ("a", "b", 12, State.SIGNIFICANT)
    found = compare_models(results(values), margins={"sharp": Margin(0.001, 9)})
    assert found is not None
    assert (found.rows[0].leader, found.rows[0].state) == ("", State.EQUIVALENT)


def test_one_prompt_has_no_leader() -> None:
    found = compared(results({("noise", "a"): (5.0,), ("noise", "b"): (7.0,)}))
    assert (found.rows[0].leader, found.rows[0].last) == ("", "")


def test_one_video_under_many_prompts_is_one_witness() -> None:
    given = drawn(20, models="ab", metrics="sharp", sharp_a=4.0)
    assert compared(given).winner == "a"
    same = {item: item[0] for item in given.items}
    found = compared(replace(given, contents=same))
    assert (found.prompts, found.winner) == (1, "")
    assert (found.merged.written, found.merged.texts, found.merged.units) == (20, 20, 1)
    spelled = {
        name: replace(item, prompt=f"A dog{' ' * place}runs{' ' * (place % 3)}")
        for place, (name, item) in enumerate(given.items.items(), start=1)
    }
    found = compared(replace(given, items=spelled))
    assert (found.prompts, found.winner) == (1, "")
    assert (found.merged.written, found.merged.texts, found.merged.units) == (40, 1, 1)


def test_what_describes_is_shown_and_never_ahead() -> None:
    found = compared(drawn(20, metrics="moves sharp", moves_a=30.0))
    row = next(one for one in found.rows if one.name == "moves")
    assert (row.state, row.better, row.leader, row.pairs) == (State.DESCRIBED, "", "", ())
    assert found.comparisons == 3  # sharp alone
    assert found.winner == ""
    only = compared(drawn(20, metrics="moves", moves_a=30.0))
    assert (only.tested, only.comparisons) == ((), 0)


def test_prompts_that_nothing_reads_are_not_covered() -> None:
    assert compared(drawn(6)).not_covered.prompts is PromptCoverage.NO_METRIC
    read = compared(drawn(6, metrics="sharp fits")).not_covered
    assert (read.prompts, read.read, read.of_prompts) == (PromptCoverage.COVERED, 6, 6)
    folders = results({("sharp", m): (1.0, 2.0 + (m == "b")) for m in "ab"}, prompts=False)
    assert compared(folders).not_covered.prompts is PromptCoverage.NO_PROMPTS


def test_folders_without_a_manifest_are_models_paired_by_name() -> None:
    folders = results({("sharp", m): (1.0, 2.0 + (m == "b"), 3.0) for m in "ab"}, prompts=False)
    found = compared(folders)
    assert (found.by, found.models, found.prompts) == ("folder", ("a", "b"), 3)
    assert (found.unit, found.too_few, found.fewest, found.needed) == ("video", True, 6, None)
    # The same where a folder of folders was given, whose names are those of models.
    models = {
        name: replace(item, groups={"model": item.video.parent.name})
        for name, item in folders.items.items()
    }
    same = compared(replace(folders, items=models))
    assert (same.unit, same.prompts, same.fewest) == ("video", 3, 6)
    # A folder for each video is not a folder for each model.
    alone = results({("sharp", m): (1.0,) for m in "abcd"}, prompts=False)
    assert compare_models(alone) is None


def test_prompts_that_only_some_models_have_are_left_out_and_counted() -> None:
    given = results({("sharp", "a"): (1, 2, 3, 4), ("sharp", "b"): (1, 2, 9)})
    found = compared(given)
    assert (found.prompts, found.left_out.prompts, found.left_out.of_prompts) == (3, 1, 4)
    assert found.left_out.missing == {"b": 1}
    assert found.rows[0].of("a").mean == 2  # of the three that both have
    assert found.rows[0].of("a").scored == 4
    apart = results({("sharp", "a"): (1.0, 2.0), ("sharp", "b"): (1.0, 2.0)})
    others = {
        name: replace(item, prompt=f"other {name}") if name.startswith("b") else item
        for name, item in apart.items.items()
    }
    lost = compared(replace(apart, items=others))
    assert (lost.rows, lost.prompts) == ((), 0)  # no ties either: nothing was compared


def test_equal_models_are_tied_and_one_prompt_is_no_proof() -> None:
    same = compared(results({("sharp", m): (1.0, 2.0, 3.0) for m in "ab"}))
    assert (same.comparisons, len(same.tested)) == (0, 1)
    assert [row.state for row in same.rows] == [State.EQUIVALENT]
    one = compared(results({("sharp", "a"): (1.0,), ("sharp", "b"): (2.0,)}))
    assert (one.winner, one.too_few, one.fewest, one.needed) == ("", True, 6, None)


def test_a_missing_value_is_no_value() -> None:
    given = drawn(6, models="ab", metrics="sharp noise")
    lost = Value("a/0", "sharp", "sharp", Outcome.failed(Reason.CRASHED), "x")
    values = [
        lost if (value.item, value.name) == ("a/0", "sharp") else value for value in given.values
    ]
    found = compared(replace(given, values=tuple(values)))
    row = next(one for one in found.rows if one.name == "sharp")
    assert (row.prompts, row.of("a").scored, row.of("a").total) == (5, 5, 6)


def test_groups_to_compare_can_be_chosen() -> None:
    given = drawn(6)
    assert compared(given, "model=c,a").models == ("c", "a")
    with pytest.raises(BadOption, match="model 'x'"):
        compare_models(given, "model=a,x")
    assert compare_models(given, "theme") is None


def test_runs_side_by_side_are_the_models() -> None:
    one, two = drawn(8, 1, models="a", metrics="sharp"), drawn(8, 2, models="a", metrics="sharp")
    found = compared(side_by_side({"x/monday": one, "x/tuesday": two}), "run")
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
    worst, mean = compare_models(kept), compare_models(kept, pool="mean")
    assert worst is not None
    assert mean is not None
    by_name = {row.name: row for row in worst.rows}
    assert by_name["sharp"].part is Part.WORST_TENTH
    assert by_name["sharp"].of("a").mean == 1.0
    # What has no worse and better has no worst part.
    assert by_name["moves"].part is Part.MEAN
    assert by_name["moves"].of("a").mean != 1.0
    assert {row.part for row in mean.rows} == {Part.MEAN}
    with pytest.raises(BadOption, match="worst or mean"):
        compare_models(kept, pool="median")  # type: ignore[arg-type]


@pytest.mark.parametrize("shots", [1, 2])
def test_a_clip_of_one_shot_counts_by_its_whole_and_has_one_margin(shots: int) -> None:
    given = drawn(8, models="ab", metrics="sharp", sharp_a=0.05)
    points = tuple(Point(Span(n, n + 1), 1.0) for n in range(shots))  # type: ignore[arg-type]
    values = tuple(
        replace(
            value,
            metric="steadiness",
            output="halting",
            signature="steadiness|v:1",
            outcome=Outcome.of(Score(0.1, points, {"mean": 0.1})),
        )
        for value in given.values
    )
    kept = replace(given, values=values, outputs={"steadiness.halting": NOISE})
    worst, mean = compare_models(kept), compare_models(kept, pool="mean")
    assert worst is not None
    assert mean is not None
    margins = {row.margin.value for one in (worst, mean) for row in one.rows if row.margin}
    assert len(margins) == shots
    assert worst.part is (Part.WORST_TENTH if shots > 1 else Part.WHOLE)
    mixed = replace(
        kept,
        values=tuple(
            replace(value, outcome=Outcome.of(Score(0.1, points[:1] * many, {"mean": 1})))
            for many, value in zip([1, 2] * len(values), values, strict=False)
        ),
    )
    assert compared(mixed).part is Part.MIXED
    (row,) = compared(mixed).rows
    assert row.part is Part.MIXED


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
    found = compared(with_cuts(*in_b))
    assert [one.mean for one in found.rows[0].values] == pytest.approx([0.6, 0.6])
    assert (found.rows[0].part, found.rows[0].state) == (Part.WHOLE, State.EQUIVALENT)
    assert found.part is Part.MIXED
    both = compared(with_cuts("a/0", "b/0", "b/1"))
    assert [dict(one.prompts) for one in both.rows[0].values] == [
        {"prompt 0": 0.2} | {f"prompt {n}": 0.6 for n in range(1, 8)}
    ] * 2


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
    assert compared(given).winner == "a"
    hard = [f"a/{place}" for place in range(12, 30)]
    found = compared(without(given, "sharp", hard))
    row = next(one for one in found.rows if one.name == "sharp")
    assert (row.state, row.leader, row.pairs, row.prompts) == (State.NOT_COMPARED, "", (), 12)
    assert row.why is not None
    assert row.why.reason is NotCompared.MISSING_VALUES
    assert [(m, own.videos, own.of_videos) for m, own in row.why.missing.items()] == [
        *(("a", 18, 30), ("b", 0, 30)),
    ]
    assert found.not_compared == {"sharp": row.why}
    assert (found.winner, found.comparisons) == ("", 1)


def test_why_a_value_does_not_apply_is_said_in_its_own_words() -> None:
    given = drawn(30, models="ab", metrics="sharp noise")
    single = [f"{model}/{place}" for model in "ab" for place in range(20)]
    detail = "a clip of one shot has none"
    why: Outcome[Score] = Outcome.failed(Reason.NOT_APPLICABLE, detail)
    values = tuple(
        replace(one, outcome=why) if one.name == "sharp" and one.item in single else one
        for one in given.values
    )
    found = compared(replace(given, values=values))
    (missing,) = found.missing
    assert (missing.name, missing.inapplicable) == ("sharp", (detail,))
    assert {own.videos for own in missing.missing.values()} == {20}


def test_rows_count_the_prompts_that_they_rest_on() -> None:
    given = drawn(30, models="ab", metrics="sharp noise", sharp_a=4.0, noise_a=-4.0)
    few = [f"{model}/{place}" for model in "ab" for place in range(12)]
    found = compared(without(given, "sharp", few))
    assert {row.name: row.prompts for row in found.rows} == {"sharp": 18, "noise": 30}
    (lost,) = found.missing
    assert {m: (own.prompts, own.of_prompts) for m, own in lost.missing.items()} == dict.fromkeys(
        "ab", (12, 30)
    )
    one = compared(
        without(given, "noise", (f"{model}/{place}" for model in "ab" for place in range(30)))
    )
    (none,) = one.missing  # nobody has a value: there is nothing to compare
    assert none.failure is not None
    assert (none.name, none.failure.reason) == ("noise", Reason.CRASHED)
    assert [row.name for row in one.rows] == ["sharp"]
    none = compared(without(given, "noise", (f"b/{place}" for place in range(30))))
    assert [(m, own.prompts) for m, own in none.missing[0].missing.items()] == [("b", 30), ("a", 0)]


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
    found = compared(seeded(given, {"a": 1, "b": 12}))
    assert found.uneven_seeds is not None
    assert found.uneven_seeds.videos == {"b": (12, 12), "a": (1, 1)}
    assert found.uneven_seeds.compared == (1, 1)
    assert [one.mean for one in found.rows[0].values] == [
        one.mean for one in compared(given).rows[0].values
    ]
    assert found.rows[0].pairs[0].gaps == compared(given).rows[0].pairs[0].gaps
    assert found.rows[0].of("b").scored == 240
    three = compared(seeded(drawn(20, metrics="sharp"), {"a": 2, "b": 2, "c": 1}))
    assert three.uneven_seeds is not None
    assert three.uneven_seeds.best_without == ("a", "b")


def test_values_that_are_missing_within_prompts_are_counted_too() -> None:
    given = seeded(drawn(20, models="ab", metrics="sharp"), {"a": 4, "b": 4})
    bad = [f"a/{place}-{seed}" for place in range(20) for seed in (2, 3)]
    row = compared(without(given, "sharp", bad)).rows[0]
    assert (row.state, row.prompts) == (State.NOT_COMPARED, 20)
    assert row.why is not None
    assert row.why.missing["a"].videos == 40
    few = compared(without(given, "sharp", bad[:4]))
    assert few.rows[0].state != State.NOT_COMPARED
    assert [(m, own.videos) for m, own in few.missing[0].missing.items()] == [("a", 4), ("b", 0)]


def test_three_models_are_compared_on_the_prompts_that_all_have() -> None:
    """The means and the verdict would contradict each other on different prompts."""
    rng = np.random.default_rng(5)
    a = np.where(np.arange(40) < 6, 49.0, 51.0) + rng.normal(0, 0.2, 40)
    rest = {name: 50 + rng.normal(0, 0.2, 40 if name == "b" else 6) for name in "bc"}
    given = results({("sharp", "a"): a, **{("sharp", name): own for name, own in rest.items()}})
    found = compared(given)
    assert found.winner == ""
    row = found.rows[0]
    assert {len(one.prompts) for one in row.values} == {pair.prompts for pair in row.pairs} == {6}
    left = found.left_out
    assert (left.prompts, left.missing, left.best_without, left.shared_without) == (
        *(34, {"c": 34}, ("a", "b"), 40),
    )
    assert compared(given, "model=a,b").winner == "a"


@pytest.mark.parametrize(
    ("signature", "settings"),
    [
        ("sharp|v:2|rate:4", {"v": ("1", "2")}),
        ("sharp|v:1|rate:2", {"rate": ("2", "4")}),
        ("sharp|v:1|rate:4|model.vlm:big", {"model.vlm": ("", "big")}),
    ],
)
def test_what_was_measured_in_two_ways_is_not_compared(
    signature: str, settings: Mapping[str, tuple[str, ...]]
) -> None:
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
    found = compared(replace(given, values=values))
    states = {row.name: row.state for row in found.rows}
    assert states == {
        "sharp": State.NOT_COMPARED,
        "noise": State.SIGNIFICANT,
        "moves": State.NOT_COMPARED,
    }
    why = found.not_compared["sharp"]
    assert (why.reason, why.settings) == (NotCompared.SETTINGS, settings)


def test_another_decoder_is_not_another_way() -> None:
    given = drawn(12, models="ab", metrics="sharp", sharp_b=20.0)
    values = tuple(
        replace(one, signature=f"sharp|v:1|decoder:{one.item[0]}") for one in given.values
    )
    assert compared(replace(given, values=values)).winner == "b"


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
    found = compared(side_by_side(runs), "run")
    assert (found.prompts, found.unit) == (3, "video")


def test_what_depends_on_the_frame_rate_is_not_compared_across_rates() -> None:
    def at(rates: Mapping[str, float], shift: float = 0.0) -> ModelComparison:
        given = drawn(20, models="abc", metrics="sharp jerks", jerks_a=-4.0 + shift)
        values = tuple(
            replace(one, outcome=Outcome.of(Score(one.outcome.unwrap().value, (), detail)))
            for one in given.values
            for rate in [rates.get(one.item) or rates[one.item[0]]]
            for detail in [{FRAME_RATE: rate} if one.name == "jerks" else {}]
        )
        return compared(replace(given, values=values))

    assert at({"a": 24, "b": 23.976, "c": 24}).winner == "a"
    found = at({"a": 24, "b": 12, "c": 12})
    row = next(one for one in found.rows if one.name == "jerks")
    assert (found.winner, row.state) == ("", State.NOT_COMPARED)
    assert row.why is not None
    assert (row.why.reason, row.why.rates) == (
        *(NotCompared.FRAME_RATES, {"a": 24, "b": 12, "c": 12}),
    )
    assert row.why.comparable == ("b", "c")
    one = at({"a": 24, "b": 24, "c": 24, "a/3": 12})
    assert next(row for row in one.rows if row.name == "jerks").prompts == 19


def test_the_larger_margin_counts() -> None:
    given = drawn(12, models="ab", metrics="noise", noise_a=-0.1)
    known = tuple(replace(one, signature="noise|v:1") for one in given.values)
    given = replace(given, values=known)
    for own, counts in ((0.0, 0.164), (2.0, 2.0)):
        found = compare_models(given, margins={"noise": Margin(own, 7, "certificates")})
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
    found = [compared(equal_models(rng, 40, ("sharp", "noise", "jerks"))) for _ in range(runs)]
    false = sum(any(row.state == State.SIGNIFICANT for row in one.rows) for one in found)
    assert false / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_a_margin_of_too_few_films_lets_nothing_be_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The largest difference of eight films was taken for a margin, and filed as a tie."""
    given = drawn(14, metrics="sharp", models="ab", sharp_a=9.0)
    monkeypatch.setattr(comparison, "margin_of", lambda *_: Margin(0.3, 8))
    found = compared(given)
    assert (found.winner, found.rows[0].state) == ("", State.NOT_COMPARED)
    why = found.not_compared["sharp"]
    assert (why.reason, why.films) == (NotCompared.FEW_FILMS, 8)
    monkeypatch.setattr(comparison, "margin_of", lambda *_: Margin(0.3, 9))
    assert compared(given).winner == "a"


def test_a_version_whose_margin_is_not_known_is_not_compared() -> None:
    """A run of the noise before colours counted had a winner by what two ways of saving make."""
    given = drawn(14, metrics="noise", models="ab", noise_a=9.0)
    old = tuple(replace(one, signature="noise|v:0") for one in given.values)
    found = compared(replace(given, values=old))
    assert (found.winner, found.rows[0].state) == ("", State.NOT_COMPARED)
    why = found.not_compared["noise"]
    assert (why.reason, why.version) == (NotCompared.OLD_VERSION, "1")


def test_nobody_is_sent_for_thousands_of_prompts() -> None:
    values = {("sharp", "a"): [51.0, 49.9] * 6, ("sharp", "b"): [50.0, 50.0] * 6}
    found = compare_models(results(values), margins={"sharp": Margin(0.3, 20)})
    assert found is not None
    row = found.rows[0]
    assert (row.leader, row.ahead, row.clear) == ("a", 6, 6)


def of_one(numbers: Mapping[str, Sequence[float]], name: str = "sharp") -> ModelComparison:
    """One metric of some models."""
    found = compare_models(results({(name, model): own for model, own in numbers.items()}))
    assert found is not None
    return found


def test_one_question_has_one_number() -> None:
    """The headline said 18 for "cedar is last", its row 35, and a third sentence at least 11."""
    worse = [30.0, 33.0, 28.0, 31.0]
    found = of_one({"a": [50.0, 51.0, 49.0, 50.5], "b": [48.0, 52.0, 32.0, 47.0], "c": worse})
    (row,) = found.rows
    assert (row.claim, row.last) == (Place.LAST, "c")
    assert min(pair.needed or 0 for pair in row.claimed) < (row.needed or 0) == found.needed


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
    assert {(p.better, p.worse) for p in row.pairs if p.significant} == {("a", "c"), ("b", "c")}
    assert (row.claim, row.settled, row.last, row.behind) == (Place.LAST, True, "c", 12)
    assert [row.over("b"), row.under("c")] == [("c",), ("a", "b")]
    # Of c as uneven as a, only one difference is shown, and the row names that one.
    shaky = [50 - 1.2 * gap for gap in wide[::-1]]
    one = of_one({"a": shaky, "b": [50.0] * 12, "c": [44.0 + n / 9 for n in range(12)]})
    (row,) = one.rows
    assert [(pair.better, pair.worse) for pair in row.pairs if pair.significant] == [("b", "c")]
    assert (row.claim, row.settled, row.leader, row.ahead) == (Place.FIRST, False, "b", 8)
    assert row.p == max(pair.adjusted_p for pair in row.pairs if pair.significant)
    assert one.document()["rows"][0]["settled"] is False


def test_on_one_prompt_there_are_places_and_no_claims() -> None:
    values = {"sharp": (9, 5, 4), "fits": (8, 2, 3), "noise": (7, 3, 1)}
    one = {(name, m): (v,) for name, own in values.items() for m, v in zip("abc", own, strict=True)}
    found = compared(results(one))
    places = {row.name: first_and_last(row) for row in found.rows}
    assert places == {"sharp": ("a", "c"), "fits": ("a", "b"), "noise": ("c", "a")}
