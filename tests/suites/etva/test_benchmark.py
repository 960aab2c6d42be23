"""How questions are spread, smaller benchmarks of the same spread, and the chart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from screentest.core import BadOption
from screentest.suites.etva.graph import ASKED, Category
from screentest.suites.etva.questions import PromptQuestion, QuestionSet, read_question_sets
from screentest.suites.etva.tables import (
    category_shares,
    distance,
    distribution,
    plot_distributions,
    sub_benchmark,
)


def made(count: int, seed: int = 0) -> list[QuestionSet]:
    """Prompts with one to nine questions of very uneven categories."""
    rng = np.random.default_rng(seed)
    odds = np.array([30, 20, 10, 8, 5, 3, 2, 2, 1, 10], float)
    sets = []
    for number in range(count):
        kinds = rng.choice(list(ASKED), size=rng.integers(1, 10), p=odds / odds.sum())
        questions = [
            PromptQuestion(f"q{n}", f"Is it {n}?", Category(k)) for n, k in enumerate(kinds)
        ]
        sets.append(QuestionSet(f"Prompt {number}.", tuple(questions)))
    return sets


def test_the_released_spread(shared_data: Path) -> None:
    # The counts of the released 105 prompts, as published.
    folder = shared_data / "etva"
    sets = read_question_sets(folder / "qa_sample.json", folder / "question_sample.json")
    assert list(distribution(sets).values()) == [*(216, 137, 48, 54, 29, 17, 12, 19, 20, 66, 0)]
    half = sub_benchmark(sets, 50)
    assert distance(distribution(half), distribution(sets)) < 0.01


def test_a_small_benchmark_is_spread_as_the_large_one() -> None:
    sets = made(400)
    small = sub_benchmark(sets, 40, seed=3)
    assert len(small) == 40
    chosen = [sets.index(one) for one in small]
    assert chosen == sorted(chosen)
    whole = distribution(sets)
    apart = distance(distribution(small), whole)
    # Random draws of the same size, for comparison.
    rng = np.random.default_rng(5)
    draws = [[sets[n] for n in rng.permutation(400)[:40]] for _ in range(50)]
    random = [distance(distribution(draw), whole) for draw in draws]
    assert apart < min(random) / 5


def test_a_seed_draws_the_same_and_another_another() -> None:
    sets = made(100)
    assert sub_benchmark(sets, 10, seed=1) == sub_benchmark(sets, 10, seed=1)
    assert sub_benchmark(sets, 10, seed=1) != sub_benchmark(sets, 10, seed=2)
    assert sub_benchmark(sets, 100) == sets


def test_what_cannot_be_drawn() -> None:
    for count in (0, 6):
        with pytest.raises(BadOption, match="`prompts`"):
            sub_benchmark(made(5), count)


def test_shares_and_distances() -> None:
    one = distribution(made(3))
    assert sum(category_shares(one).values()) == pytest.approx(1)
    assert distance(one, one) == 0
    only = dict.fromkeys(Category, 0)
    first, second = only | {Category.COLOR: 4}, only | {Category.SHAPE: 9}
    assert distance(first, second) == 1
    assert set(category_shares(only).values()) == {0.0}


def test_the_chart(tmp_path: Path) -> None:
    counts = distribution(made(50))
    plot_distributions({"ours": counts, r"$\alpha$ <b>": counts}, tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text()
    assert drawn.startswith("<?xml")
    plot_distributions({"ours": counts}, tmp_path / "chart.png")
    with Image.open(tmp_path / "chart.png") as picture:
        assert picture.size == (1200, 600)
    plot_distributions({"ours": counts}, tmp_path / "chart.pdf")
    assert (tmp_path / "chart.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(BadOption, match="invalid chart file"):
        plot_distributions({"ours": counts}, tmp_path / "chart.txt")
