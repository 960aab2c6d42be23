"""Recipes of papers: their numbers are those printed, and what agrees with them is decided."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from itertools import pairwise
from pathlib import Path

import pytest

from screentest.api.reproduce import plan_reproduction, read_recipes
from screentest.core import BadOption, UnknownName, registry
from screentest.models.choice import ModelChoice
from screentest.testbeds.preset import PAPER
from tests.suites.etva.test_published import TABLE_6
from tests.suites.locot2v import published

PAPERS = ("etva", "locot2v", "slvmeval", "univ")


@pytest.mark.parametrize("paper", PAPERS)
def test_a_recipe_is_whole(paper: str) -> None:
    """It names functions, parts and steps that exist; its rows are as long as its columns."""
    recipe = read_recipes()[paper]
    names = set(recipe.parts)
    for step in recipe.steps:
        assert callable(EntryPoint("", step["call"], "").load())
        assert {*step.get("models", ()), *step.get("needs", ())} <= names
        names.add(step["name"])
    for part in recipe.parts.values():
        if "choice" in part:
            choice = ModelChoice.parse(part["choice"])
            model = {"model": choice.model} if choice.model else {}
            registry.entry(choice.role, choice.backend).spec({**model, **choice.options})
    assert {load.get("model", "") for load in recipe.loads} <= {"", *recipe.parts}
    for table in recipe.tables:
        assert set(table.get("steps", ())) <= names
        assert set(table.get("sources", ())) <= set(table["rows"])
        assert len(table.get("keys", ())) in (0, len(table["columns"]))
        assert all(len(row) == len(table["columns"]) for row in table["rows"].values())


def rows_of(paper: str, name: str) -> dict[str, tuple[float, ...]]:
    (table,) = [table for table in read_recipes()[paper].tables if table["name"] == name]
    return {row: tuple(values) for row, values in table["rows"].items()}


def test_the_numbers_are_those_that_other_tests_recompute() -> None:
    """Origin: tables 2 to 6 of LoCoT2V-Bench, and table 6 of ETVA, as typed for those tests."""
    assert rows_of("locot2v", "locot2v_table2") == published.TABLE_2
    assert rows_of("locot2v", "locot2v_table4") == published.TABLE_4
    two_k = rows_of("etva", "etva_2k")
    for name, (*categories, average) in TABLE_6.items():
        assert two_k[name.removesuffix("-1-preview")] == (*categories, average)
    groups = {f"{group}, {name}": row for (group, name), row in published.TABLE_6.items()}
    assert rows_of("locot2v", "locot2v_table6") == groups


def test_the_misprint_of_table_3_is_corrected() -> None:
    """The mean of eleven columns is printed in table 2, to a hundredth, in all ten rows."""
    temporal = rows_of("locot2v", "locot2v_table3")
    for name, (*parts, mean) in temporal.items():
        assert sum(parts) / 11 == pytest.approx(mean, abs=0.0101), name
    assert temporal["CausVid"][1] == 98.90


def test_the_pairs_of_table_3_add_up() -> None:
    rows = rows_of("slvmeval", "slvmeval_table3")
    total = rows.pop("Total")
    for initial, failed, weak, final in rows.values():
        assert initial - failed - weak == final
    assert tuple(map(sum, list(zip(*rows.values(), strict=True))[:4])) == total


def test_the_models_of_the_testbed_are_the_presets() -> None:
    parts = read_recipes()["slvmeval"].parts
    ours = {f"{role}={model}" for role, model in PAPER.models.items()}
    assert ours <= {part.get("choice") for part in parts.values()}


def test_costs_follow_from_prices(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."Qwen/Qwen2-VL-72B-Instruct"]\ninput = 1.0\noutput = 10.0\n')
    plan = plan_reproduction("etva", prices=prices)
    # 9,270 calls of 4,300 and 300 tokens: 39.861 M in and 2.781 M out, by hand.
    costs = dict(zip((load["what"] for load in plan.recipe.loads), plan.costs, strict=True))
    assert float(costs["answers, 105"] or 0) == pytest.approx(39.86 + 27.8)
    assert costs["knowledge, 2k"] is None


def test_a_part_that_the_recipe_lacks_is_refused() -> None:
    with pytest.raises(BadOption):
        plan_reproduction("etva", at={"film": "x"})


def test_a_paper_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownName):
        plan_reproduction("no such paper")


def test_durations_sort_the_bins() -> None:
    """Origin: SLVMEval's tables 7 and 8. The larger the coefficient of 50 bins, the smaller p."""
    rho, p = rows_of("slvmeval", "slvmeval_table7"), rows_of("slvmeval", "slvmeval_table8")
    both = sorted((abs(r), q) for row in rho for r, q in zip(rho[row], p[row], strict=True))
    assert all(first[1] >= second[1] - 0.01 for first, second in pairwise(both))
