"""Statistics as pure functions on numbers: no I/O, and scipy only when one is called."""

from screentest.stats.aggregate import lower_tail, lower_tails, summarise
from screentest.stats.agreement import (
    Sign,
    Vote,
    WorkerReport,
    WorkerRules,
    fleiss,
    krippendorff,
    review_workers,
)
from screentest.stats.claims import Claim, Finding, claims
from screentest.stats.intervals import (
    Interval,
    bootstrap_mean,
    coefficient_interval,
    mean_interval,
    share_interval,
    source_interval,
    wald,
    wilson,
)
from screentest.stats.paired import (
    Difference,
    holm,
    holm_levels,
    mcnemar,
    order_effect,
    paired_difference,
)
from screentest.stats.power import (
    FilteredPairs,
    Retention,
    design_effect,
    films_needed,
    filter_pairs,
    sample_size,
    smallest_found,
)
from screentest.stats.preference import bradley_terry, win_rate
from screentest.stats.rank import (
    ClusteredCorrelation,
    Correlation,
    RankAgreement,
    clustered,
    coefficient,
    compare_systems,
    kendall,
    pearson,
    rank_agreement,
    spearman,
    spearman_p,
    tied_sets,
)
from screentest.stats.signflip import fewest_sources, sources_needed
from screentest.stats.trend import dose_response, duration_trend, source_trend
