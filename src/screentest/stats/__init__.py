"""Statistics as pure functions on numbers: no I/O, and scipy only when one is called."""

from screentest.stats.aggregate import (
    lower_tail,
    macro_interval,
    macro_mean,
    micro_mean,
    summarise,
)
from screentest.stats.agreement import (
    PercentAgreement,
    cohen,
    fleiss,
    krippendorff,
    percent_agreement,
)
from screentest.stats.bootstrap import bootstrap_accuracy, bootstrap_mean
from screentest.stats.dose import Dose, DoseResponse, dose_response
from screentest.stats.intervals import Interval, mean_interval, wald, wilson
from screentest.stats.order import OrderEffect, order_effect
from screentest.stats.paired import Difference, McNemar, holm, mcnemar, paired_bootstrap
from screentest.stats.power import (
    design_effect,
    detectable_difference,
    expected_discordance,
    sample_size,
)
from screentest.stats.rank import (
    Correlation,
    RankAgreement,
    kendall,
    pearson,
    rank_agreement,
    spearman,
    spearman_p,
)
from screentest.stats.retention import FilteredPairs, Retention, filter_pairs
from screentest.stats.systems import Ranking, SystemPair, compare_systems, tied_sets
from screentest.stats.trend import Bin, Trend, duration_trend
from screentest.stats.workers import (
    Evidence,
    Sign,
    Vote,
    WorkerReport,
    WorkerRules,
    review_workers,
)

__all__ = [
    "Bin",
    "Correlation",
    "Difference",
    "Dose",
    "DoseResponse",
    "Evidence",
    "FilteredPairs",
    "Interval",
    "McNemar",
    "OrderEffect",
    "PercentAgreement",
    "RankAgreement",
    "Ranking",
    "Retention",
    "Sign",
    "SystemPair",
    "Trend",
    "Vote",
    "WorkerReport",
    "WorkerRules",
    "bootstrap_accuracy",
    "bootstrap_mean",
    "cohen",
    "compare_systems",
    "design_effect",
    "detectable_difference",
    "dose_response",
    "duration_trend",
    "expected_discordance",
    "filter_pairs",
    "fleiss",
    "holm",
    "kendall",
    "krippendorff",
    "lower_tail",
    "macro_interval",
    "macro_mean",
    "mcnemar",
    "mean_interval",
    "micro_mean",
    "order_effect",
    "paired_bootstrap",
    "pearson",
    "percent_agreement",
    "rank_agreement",
    "review_workers",
    "sample_size",
    "spearman",
    "spearman_p",
    "summarise",
    "tied_sets",
    "wald",
    "wilson",
]
