from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import binom, binomtest

from screentest.core import NoValue
from screentest.stats import (
    design_effect,
    paired_difference,
    sample_size,
)


def exact_power(pairs: int, difference: float, discordance: float) -> float:
    """The power of the exact test, summed over all that can come of it."""
    favour = (discordance + difference) / (2 * discordance)
    power = 0.0
    for discordant in range(pairs + 1):
        weight = float(binom.pmf(discordant, pairs, discordance))
        if weight < 1e-9 or discordant == 0:
            continue
        lost = int(binom.ppf(0.025, discordant, 0.5))
        while lost >= 0 and binomtest(lost, discordant).pvalue > 0.05:
            lost -= 1
        power += weight * float(
            binom.cdf(lost, discordant, favour)
            + binom.sf(discordant - lost - 1, discordant, favour)
        )
    return power


@pytest.mark.parametrize(
    ("difference", "discordance"), [(0.1, 0.3), (0.15, 0.25), (0.2, 0.5), (0.1, 0.15), (0.3, 0.4)]
)
def test_that_many_pairs_have_that_power(difference: float, discordance: float) -> None:
    pairs = sample_size(difference, discordance=discordance)
    power = exact_power(pairs, difference, discordance)
    assert 0.78 < power < 0.83


def test_power_by_simulation() -> None:
    pairs = sample_size(0.1, discordance=0.3, power=0.9)
    generator = np.random.default_rng(7)
    draws = generator.choice([1.0, -1.0, 0.0], p=[0.2, 0.1, 0.7], size=(500, pairs))
    found = [paired_difference(row, np.zeros(pairs)).p_value <= 0.05 for row in draws]
    assert 0.85 < np.mean(found) < 0.94


def test_clusters_cost_pairs() -> None:
    assert sample_size(0.1, discordance=0.3, design_effect=2) == pytest.approx(
        2 * sample_size(0.1, discordance=0.3), abs=1
    )


def test_design_effect_is_the_cluster_robust_variance_over_the_plain_one() -> None:
    generator = np.random.default_rng(4)
    source = np.repeat(np.arange(50), 4)
    values = generator.normal(size=50)[source] + generator.normal(size=200)
    constant = np.ones(200)
    plain = sm.OLS(values, constant).fit()
    robust = plain.get_robustcov_results("cluster", groups=source)
    theirs = (robust.bse[0] / plain.bse[0]) ** 2
    assert design_effect(values, source.tolist()) == pytest.approx(theirs)
    # Half of the variance lies between sources of four: 1 + 3 · ½.
    assert design_effect(values, source.tolist()) == pytest.approx(2.5, abs=0.7)
    with pytest.raises(NoValue):
        design_effect([1, 1, 1], ["a", "b", "c"])


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="discordant"):
        sample_size(0.4, discordance=0.3)
    with pytest.raises(ValueError, match="discordant"):
        sample_size(0.0, discordance=0.3)
