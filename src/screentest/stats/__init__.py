"""Statistics as pure functions on numbers: no I/O, and scipy only when one is called."""

from screentest.stats.bootstrap import bootstrap_accuracy, bootstrap_mean
from screentest.stats.intervals import Interval, mean_interval, wald, wilson
from screentest.stats.paired import Difference, McNemar, holm, mcnemar, paired_bootstrap
from screentest.stats.power import detectable_difference, expected_discordance, sample_size
from screentest.stats.rank import (
    Correlation,
    RankAgreement,
    kendall,
    pearson,
    rank_agreement,
    spearman,
    spearman_p,
)
from screentest.stats.systems import Ranking, SystemPair, compare_systems, tied_sets

__all__ = [
    "Correlation",
    "Difference",
    "Interval",
    "McNemar",
    "RankAgreement",
    "Ranking",
    "SystemPair",
    "bootstrap_accuracy",
    "bootstrap_mean",
    "compare_systems",
    "detectable_difference",
    "expected_discordance",
    "holm",
    "kendall",
    "mcnemar",
    "mean_interval",
    "paired_bootstrap",
    "pearson",
    "rank_agreement",
    "sample_size",
    "spearman",
    "spearman_p",
    "tied_sets",
    "wald",
    "wilson",
]
