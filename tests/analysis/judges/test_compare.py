"""Judges side by side: differences by hand and by scipy, rankings, agreement of testbeds."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import binomtest, kendalltau, spearmanr

from screentest.analysis.judges.compare import (
    Points,
    agreement,
    compare,
    compare_runs,
    ranked,
)
from screentest.core import BadOption, Choice, Reason
from tests.present.runs import Said, certificate, certify_run


def points(*values: float, aspect: str = "color") -> Points:
    """One pair per source."""
    return {aspect: {f"bed/s{n:02}/{aspect}": value for n, value in enumerate(values)}}


def test_copies_of_one_film_are_one_source() -> None:
    one, two = points(*[1] * 8), points(*[0] * 8)
    apart = compare(one, two).unwrap()[0]
    assert apart.difference.sources == 8
    assert apart.significant
    copies = dict.fromkeys(one["color"], "bed/s00")
    same = compare(one, two, copies).unwrap()[0]
    assert same.difference.sources == 1
    assert not same.significant


def test_a_difference_has_mcnemar_s_exact_p() -> None:
    first = points(1, 1, 1, 1, 1, 1, 0, 1, 1, 0)
    second = points(0, 0, 0, 0, 0, 1, 1, 1, 1, 0)
    (row,) = compare(first, second).unwrap()
    assert (row.first, row.second) == (0.8, 0.4)
    assert row.exact is not None
    assert row.exact.p_value == pytest.approx(binomtest(5, 6).pvalue)
    assert row.difference.interval is not None
    assert 0.4 in row.difference.interval


def test_p_values_are_corrected_over_all_rows() -> None:
    one = points(*[1.0] * 8, aspect="color") | points(*[1.0] * 8, aspect="aesthetics")
    two = points(*[0.0] * 8, aspect="color") | points(*[1.0] * 8, aspect="aesthetics")
    rows = {row.name: row for row in compare(one, two).unwrap()}
    # All 2^8 signs: two of them are as extreme. Holm doubles the smaller of two.
    assert rows["color"].difference.p_value == pytest.approx(2 / 256)
    assert rows["color"].adjusted_p == pytest.approx(4 / 256)
    assert rows["aesthetics"].adjusted_p == 1.0
    assert rows["aesthetics"].needed is None


def test_thirds_of_points_do_not_trip_over_rounding() -> None:
    first, second = points(*[2 / 3, 1.0, 2 / 3]), points(*[1 / 3, 2 / 3, 1 / 3])
    (row,) = compare(first, second).unwrap()
    assert row.needed is not None
    assert row.needed > 3


def test_pairs_of_one_source_count_for_less() -> None:
    """Ten sources of four equal pairs know no more than ten pairs do."""
    alone = [(float(n < 7), float(n < 4)) for n in range(10)]
    first = {"color": {f"bed/s{n}/c{k}": alone[n][0] for n in range(10) for k in range(4)}}
    second = {"color": {f"bed/s{n}/c{k}": alone[n][1] for n in range(10) for k in range(4)}}
    (many,) = compare(first, second).unwrap()
    (few,) = compare(
        points(*(one for one, _ in alone)), points(*(two for _, two in alone))
    ).unwrap()
    assert many.difference.p_value == few.difference.p_value
    assert many.needed is not None
    assert few.needed is not None
    assert many.needed > 3 * few.needed


def test_what_one_side_lacks_is_left_out_and_counted() -> None:
    (row,) = compare(points(1, 1, 0), points(1, 0)).unwrap()
    assert (row.difference.pairs, row.dropped) == (2, 1)
    nothing = compare(points(1), points(1, aspect="aesthetics"))
    assert nothing.failure is not None
    assert nothing.failure.reason is Reason.NOT_APPLICABLE


def test_three_are_ranked_and_those_alike_share_a_set() -> None:
    sides = {
        "good": points(*[1.0] * 20),
        "fair": points(*[1.0] * 19, 0.0),
        "blind": points(*[0.0, 1.0] * 4, *[0.0] * 12),
    }
    (row,) = ranked(sides).unwrap()
    assert row.ranking.systems == ("good", "fair", "blind")
    assert row.ranking.tied_sets == (("good", "fair"), ("blind",))
    assert row.means == {"good": 1.0, "fair": 0.95, "blind": 0.2}
    assert ranked({"a": points(1), "b": {}}).failure is not None


def test_two_testbeds_rank_judges_alike_or_not() -> None:
    levels = {"a": 0.9, "b": 0.7, "c": 0.6, "d": 0.5}
    other = {"a": 0.8, "b": 0.85, "c": 0.4, "d": 0.3}
    first = {name: points(value) for name, value in levels.items()}
    second = {name: points(value) for name, value in other.items()} | {"e": points(0.1)}
    found = agreement(first, second).unwrap()
    given = (list(levels.values()), list(other.values()))
    assert found.spearman.value == pytest.approx(spearmanr(*given).statistic)
    assert found.kendall.value == pytest.approx(kendalltau(*given).statistic)
    assert found.left_out == ("e",)


def test_a_run_beside_itself_or_beside_an_empty_one_is_refused(tmp_path: Path) -> None:
    said = [Said("bed/a/x", Choice.FIRST), Said("bed/b/x", Choice.SECOND)]
    run = certify_run(tmp_path / "run", [certificate()], said)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "run.db").touch()
    for runs, words in (([run, run], "given twice"), ([run, empty], "has no judge")):
        with pytest.raises(BadOption, match=words):
            compare_runs(runs, ())


def test_judges_of_many_runs_are_ranked_in_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run for each chat model: the paper compares eight systems."""
    monkeypatch.setattr("screentest.analysis.judges.compare.judges_in", lambda _: ["calm"])
    runs = []
    for number, right in enumerate((True, True, False)):
        choice = Choice.FIRST if right else Choice.SECOND
        said = [Said(f"bed/{film}/x", choice) for film in "abcdef"]
        runs.append(certify_run(tmp_path / f"model-{number}", [certificate()], said))
    found = compare_runs(runs, ())
    assert len(found.names) == 3
    (row, *_) = found.ranking
    assert [row.means[name] for name in found.names] == [1.0, 1.0, 0.0]
    assert all(str(run) in name for run, name in zip(runs, found.names, strict=True))
