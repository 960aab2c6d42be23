"""Our statistics on ratings that others released.

The expected numbers are our own derivation from the released files, made once with scipy and
plain loops and once with this package; the releases print none of them in this form.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, kendalltau, spearmanr

from screentest.stats import (
    fleiss,
    kendall,
    krippendorff,
    mcnemar,
    paired_difference,
    rank_agreement,
    share_interval,
    spearman,
    wilson,
)
from tests.stats.published import (
    GENERATORS,
    REAL,
    Fetv,
    Preference,
    read_fetv,
    read_t2vscore,
    read_uve,
)


@pytest.fixture(scope="module")
def fetv(shared_data: Path) -> Fetv:
    return read_fetv(shared_data / "fetv")


@pytest.fixture(scope="module")
def uve(shared_data: Path) -> list[Preference]:
    return read_uve(shared_data / "uve")


def real_against_generated(fetv: Fetv, metric: str) -> tuple[list[float], list[str]]:
    """Points of a metric, and the prompt, for each pair on which the raters' means differ."""
    human, score = fetv.mean("alignment"), fetv.scores[metric]
    points, prompts = [], []
    for source, prompt in sorted(human):
        if source == REAL or (REAL, prompt) not in human:
            continue
        preferred = np.sign(human[REAL, prompt] - human[source, prompt])
        if preferred == 0:
            continue
        # A tie of the metric is wrong here, as in the derivation; there is none.
        points.append(float(np.sign(score[REAL, prompt] - score[source, prompt]) == preferred))
        prompts.append(prompt)
    return points, prompts


@pytest.mark.parametrize(("metric", "right"), [("CLIPScore", 1051), ("UMTScore", 1313)])
def test_fetv_pairwise_accuracy(fetv: Fetv, metric: str, right: int) -> None:
    points, prompts = real_against_generated(fetv, metric)
    human = fetv.mean("alignment")
    ties = sum(
        human[source, prompt] == human[REAL, prompt]
        for source, prompt in human
        if source != REAL and (REAL, prompt) in human
    )
    assert (sum(points), len(points), ties) == (right, 1892, 272)
    # Four generators share a prompt, so the honest interval is wider than the plain one.
    clustered = share_interval(points, prompts)
    assert right / 1892 in clustered
    assert clustered.width > wilson(right, 1892).width


def test_fetv_umtscore_is_better_than_clipscore(fetv: Fetv) -> None:
    clip, prompts = real_against_generated(fetv, "CLIPScore")
    umt, _ = real_against_generated(fetv, "UMTScore")
    found = mcnemar(umt, clip)
    assert (found.first_better, found.second_better) == (467, 205)
    difference = paired_difference(umt, clip, prompts)
    assert difference.value == pytest.approx((1313 - 1051) / 1892)
    assert difference.sources == 535
    assert difference.interval is not None
    assert difference.interval.low > 0.1
    assert difference.p_value < 1e-9


@pytest.mark.parametrize(("metric", "rho"), [("CLIPScore", 0.3071), ("UMTScore", 0.4579)])
def test_fetv_pooled_correlation(fetv: Fetv, metric: str, rho: float) -> None:
    human = fetv.mean("alignment")
    videos = [key for key in sorted(human) if key[0] != REAL]
    scores, ratings = [fetv.scores[metric][key] for key in videos], [human[key] for key in videos]
    found = spearman(scores, ratings).unwrap()
    assert (found.n, round(found.value, 4)) == (2476, rho)
    assert found.value == pytest.approx(spearmanr(scores, ratings).statistic)


def test_fetv_mean_ratings(fetv: Fetv) -> None:
    expected = {
        "cogvideo": (3.239, 3.303, 3.103),
        "text2video-zero": (4.109, 2.043, 3.416),
        "damo-text2video": (3.782, 4.070, 3.787),
        "zeroscope": (3.523, 3.715, 3.574),
        REAL: (4.766, 4.884, 4.887),
    }
    for source, means in expected.items():
        for quality, mean in zip(
            ("static_quality", "temporal_quality", "alignment"), means, strict=True
        ):
            rated = [value for key, value in fetv.mean(quality).items() if key[0] == source]
            assert np.mean(rated) == pytest.approx(mean, abs=0.0006)


# CLIPScore puts one generator above the real videos. By hand: of the 120 orders of five, 5
# have a rho of at least 0.9 and 5 of at most -0.9; Student's t would call that p = 0.037.
@pytest.mark.parametrize(
    ("metric", "rho", "p"), [("CLIPScore", 0.9, 10 / 120), ("UMTScore", 1.0, 2 / 120)]
)
def test_fetv_order_of_the_generators(fetv: Fetv, metric: str, rho: float, p: float) -> None:
    human, score = fetv.mean("alignment"), fetv.scores[metric]
    people, machine = (
        {
            source: float(np.mean([table[key] for key in human if key[0] == source]))
            for source in (*GENERATORS, REAL)
        }
        for table in (human, score)
    )
    found = rank_agreement(people, machine).unwrap()
    assert found.spearman.value == pytest.approx(rho)
    assert found.spearman.p_value == pytest.approx(p)


def test_fetv_raters(fetv: Fetv) -> None:
    # From the released ratings: 3,017 videos, three raters each.
    expected = {
        "static_quality": (0.3350, 0.6850, 0.6885),
        "temporal_quality": (0.3357, 0.7255, 0.7118),
        "alignment": (0.3083, 0.6919, 0.6737),
    }
    for quality, alphas in expected.items():
        units = list(fetv.ratings[quality].values())
        assert len(units) == 3017
        found = [
            krippendorff(units, level=level).unwrap()
            for level in ("nominal", "ordinal", "interval")  # type: ignore[arg-type]
        ]
        assert found == pytest.approx(alphas, abs=0.0001)
        # With three ratings everywhere, Fleiss' kappa is nominal alpha but for 1 / 9,051.
        assert fleiss(units).unwrap() == pytest.approx(alphas[0], abs=0.0002)


@pytest.mark.parametrize(
    ("metric", "rho", "tau"),
    [
        ("CLIP Score", 0.3428, 0.2361),
        ("X-CLIP Score", 0.2568, 0.1749),
        ("BLIP-BLEU", 0.1513, 0.1036),
        ("T2VScore-A (GPT-4V)", 0.4769, 0.3529),
    ],
)
def test_t2vscore(shared_data: Path, metric: str, rho: float, tau: float) -> None:
    metrics, human = read_t2vscore(shared_data / "t2vscore")
    ranks, pairs = (measure(metrics[metric], human).unwrap() for measure in (spearman, kendall))
    assert ranks.n == 2543
    assert (round(ranks.value, 4), round(pairs.value, 4)) == (rho, tau)
    assert ranks.value == pytest.approx(spearmanr(metrics[metric], human).statistic)
    assert pairs.value == pytest.approx(kendalltau(metrics[metric], human).statistic)


# UVE's release has one label per question and no single votes, so what can agree are its
# questions: how often people's answer to one is their answer to another on the same videos.
UVE_AGREEMENT = """
dynamic_degree static_visual_quality 83 29
dynamic_degree temporal_visual_quality 69 21
dynamic_degree tv_alignment_appearance 59 17
dynamic_degree tv_alignment_motion 53 25
static_visual_quality temporal_visual_quality 157 146
static_visual_quality tv_alignment_appearance 46 16
static_visual_quality tv_alignment_motion 44 17
temporal_visual_quality tv_alignment_appearance 61 15
temporal_visual_quality tv_alignment_motion 58 17
tv_alignment_appearance tv_alignment_motion 91 30
"""


def test_uve_agreement_of_questions(uve: list[Preference]) -> None:
    answers: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for one in uve:
        answers[one.pair][one.question] = one.choice
    rows = [line.split() for line in UVE_AGREEMENT.strip().splitlines()]
    questions = sorted({question for row in rows for question in row[:2]})
    assert [tuple(row[:2]) for row in rows] == list(itertools.combinations(questions, 2))
    for first, second, pairs, agreed in rows:
        both = [
            (given[first], given[second])
            for given in answers.values()
            if first in given and second in given
        ]
        assert (len(both), sum(a == b for a, b in both)) == (int(pairs), int(agreed))


def test_uve_shows_no_side_more_often_as_the_better(uve: list[Preference]) -> None:
    wins = Counter(one.a_wins for one in uve)
    assert wins == {True: 635, False: 632, None: 609}
    assert binomtest(635, 635 + 632).pvalue > 0.9
    assert 0.5 in wilson(635, 635 + 632)
