"""A judge beside people: by hand, by simulation, and as a user does it."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from screentest.analysis.people.agreement import score_agreement, self_preference
from screentest.analysis.people.sheets import (
    draw_sample,
    on_one_scale,
    rateable,
    read_sheet,
    write_sheet,
)
from screentest.analysis.results import Results, Value
from screentest.core import BadOption, Item, ManifestError, NoValue, Outcome, OutputInfo, Score
from screentest.suites.univ.agree_commands import _values as values_of

DIMENSIONS = ("subject", "colour")


def results(
    scores: Mapping[str, tuple[float, ...]], *, low: float = 0, high: float = 10
) -> Results:
    """A run of T2V with two dimensions and their average."""
    metric = "univ_t2v"
    items = {
        name: Item(name, Path(f"{name}.mp4"), "x", groups={"model": name.partition("/")[0]})
        for name in scores
    }
    outputs = {f"{metric}.{name}": OutputInfo(name, low, high) for name in ("average", *DIMENSIONS)}
    values = [
        Value(item, metric, output, Outcome.of(Score(value)), "s")
        for item, points in scores.items()
        for output, value in zip(("average", *DIMENSIONS), (sum(points) / 2, *points), strict=True)
    ]
    return Results(items, tuple(values), outputs)


def test_agreement_by_hand() -> None:
    judge = {("a", "x"): 0.8, ("b", "x"): 0.5, ("c", "x"): 0.2, ("d", "x"): 1.0}
    votes = {
        ("a", "x"): [0.9, 0.7, 0.7],  # median 0.7: within a tenth
        ("b", "x"): [0.5, 0.9, 0.9],  # median 0.9: not
        ("c", "x"): [0.2, 0.2, 0.3],  # median 0.2
        ("z", "x"): [0.5],  # the judge never saw it
    }
    found = score_agreement(judge, votes, tolerance=0.1)
    assert found.within.n == 3
    assert found.within.value == pytest.approx(2 / 3)
    # 0.1, −0.4 and 0: the judge is less kind.
    assert found.bias == pytest.approx(-0.1)
    assert found.votes_each == 3
    assert found.within.value in found.within.interval
    assert found.within.value in found.wilson
    assert found.people.unwrap() < 1
    with pytest.raises(NoValue):
        score_agreement(judge, {("z", "x"): [1.0]}, tolerance=0.1)


def test_the_interval_knows_that_values_of_one_video_hang_together() -> None:
    """Eight values of each video that agree or disagree all at once are worth one, not eight."""
    rng = random.Random(5)
    judge, votes = {}, {}
    for number in range(30):
        good = rng.random() < 0.8
        for name in "abcdefgh":
            judge[str(number), name] = 0.9
            votes[str(number), name] = [0.9 if good else 0.1] * 3
    found = score_agreement(judge, votes, tolerance=0.1)
    clustered, alone = found.within.interval, found.wilson
    assert clustered.high - clustered.low > 1.8 * (alone.high - alone.low)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """A judge that agrees on 85% of videos, in 200 studies of 40: at least 88% hold it."""
    rng, held = random.Random(11), 0
    for study in range(200):
        judge = {(str(n), "x"): 0.5 for n in range(40)}
        votes = {unit: [0.5 if rng.random() < 0.85 else 0.0] * 3 for unit in judge}
        found = score_agreement(judge, votes, tolerance=0.1, seed=study)
        held += found.wilson.low <= 0.85 <= found.wilson.high
    # Wilson's at 95%; three standard errors of 200 studies below are 0.90.
    assert held >= 180


def test_self_preference_by_hand() -> None:
    makers = {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}
    strict = {(item, "x"): 0.5 for item in makers}
    # Kind to all by 0.1, and to its own by 0.2 more.
    fond = {(item, "x"): 0.6 + 0.2 * (maker == "A") for item, maker in makers.items()}
    (found,) = self_preference({"fond": fond, "strict": strict}, makers, {"fond": "A"})
    assert found.value == pytest.approx(0.2)
    assert (found.own_items, found.other_items) == (2, 2)
    assert found.interval is None  # no spread to go by
    noisy = {unit: value + 0.01 * number for number, (unit, value) in enumerate(fond.items())}
    (found,) = self_preference({"fond": noisy, "strict": strict}, makers, {"fond": "A"})
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high
    votes = {unit: [0.5, 0.5, 0.5] for unit in strict}
    (by_people,) = self_preference({"fond": fond}, makers, {"fond": "A"}, votes)
    assert by_people.value == pytest.approx(0.2)
    with pytest.raises(NoValue, match="its own"):
        self_preference({"fond": fond, "strict": strict}, makers, {"fond": "C"})
    # Votes that are about other things are no votes, and no other judge takes their place.
    with pytest.raises(NoValue):
        self_preference({"fond": fond, "strict": strict}, makers, {"fond": "A"}, {})


def test_a_tenth_is_drawn_and_the_same_tenth_again() -> None:
    names = [f"case {n}" for n in range(200)]
    drawn = draw_sample(names, 0.1)
    assert len(drawn) == 20
    assert drawn == draw_sample(names[::-1], 0.1)
    assert drawn != draw_sample(names, 0.1, seed=8)
    assert len(draw_sample(names[:3], 0.1)) == 1
    assert draw_sample([], 0.1) == []


def test_people_rate_dimensions_and_not_what_follows_from_them() -> None:
    run = results({"m/1": (8, 6)})
    assert values_of(run, ()) == ["univ_t2v.subject", "univ_t2v.colour"]
    assert values_of(run, ["univ_t2v.average"]) == ["univ_t2v.average"]
    with pytest.raises(BadOption, match="no value 'x'"):
        rateable(run, ["x"])
    endless = results({"m/1": (8, 6)}, high=float("inf"))
    assert rateable(endless) == []
    with pytest.raises(BadOption, match="cannot be rated"):
        rateable(endless, ["univ_t2v.colour"])


def test_one_scale_has_the_best_at_its_top() -> None:
    info = OutputInfo("flicker", 0, 4, higher_is_better=False)
    item = Item("a", Path("a.mp4"))
    run = Results({"a": item}, (Value("a", "f", "f", Outcome.of(Score(1.0)), "s"),), {"f": info})
    scores, people = on_one_scale(run, {("a", "f"): [0.0, 4.0], ("a", "other"): [1.0]}, ["f"])
    assert scores == {("a", "f"): 0.75}
    assert people == {("a", "f"): [1.0, 0.0]}


def test_sheets_and_back(tmp_path: Path) -> None:
    run = results({f"=m/{n}": (n % 10, 5) for n in range(40)})
    path = tmp_path / "sheet.csv"
    assert write_sheet(path, run, values_of(run, ()), share=0.1, votes=3, seed=7) == 4
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 2 * 3
    assert {row["score"] for row in rows} == {""}
    # No spreadsheet takes an id for a formula.
    assert all(row["item"].startswith("'=m/") for row in rows)
    # Every rater has an order of their own.
    orders = [[r["item"] + r["value"] for r in rows if r["rater"] == n] for n in "123"]
    assert len({tuple(order) for order in orders}) == 3
    assert len({tuple(sorted(order)) for order in orders}) == 1
    for number, row in enumerate(rows):
        row["score"] = "7,5" if number else ""  # one left open; commas as many people write
    fill(path, rows)
    votes = read_sheet(path)
    assert all(item.startswith("=m/") for item, _ in votes)
    assert sum(map(len, votes.values())) == 23
    assert {one for some in votes.values() for one in some} == {7.5}


def test_a_sheet_of_negative_scores(tmp_path: Path) -> None:
    """Limits below zero are numbers, not formulas."""
    info = OutputInfo("warmth", -4, 4)
    item = Item("-a", Path("a.mp4"))
    run = Results({"-a": item}, (Value("-a", "w", "w", Outcome.of(Score(1.0)), "s"),), {"w": info})
    path = tmp_path / "sheet.csv"
    write_sheet(path, run, ["w"], share=1.0, votes=1, seed=0)
    with path.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["item"], row["lowest"]) == ("'-a", "-4")
    fill(path, [row | {"score": "-3"}])
    assert read_sheet(path) == {("-a", "w"): [-3.0]}


def test_votes_that_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(
        "item,value,score,finished,gold,excluded\n"
        "a,x,1,True,False,False\na,x,2,,,\n"
        "a,x,3,false,False,False\na,x,4,True,true,False\na,x,5,True,False,TRUE\n"
    )
    assert read_sheet(path) == {("a", "x"): [1.0, 2.0]}


def fill(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,value,score\na,x,high\n", "'high'"),
        ("item,value,lowest,highest,score\na,x,0,10,11\n", "11 .* 0 to 10"),
        ("item,value,score\na,x,nan\n", "nan is outside"),
        ("item,value,rater,score\na,x,1,3\na,x,1,4\n", "votes twice"),
        ("item,value,score,gold\na,x,3,perhaps\n", "invalid gold 'perhaps'"),
        ("video,points\na,3\n", "item, value, score"),
        ("", "no column"),
    ],
)
def test_sheets_that_cannot_be(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(text)
    with pytest.raises(ManifestError, match=message):
        read_sheet(path)
    path.write_bytes(b"item,value,score\n\xff,x,1\n")
    with pytest.raises(ManifestError, match="is not UTF-8"):
        read_sheet(path)
    with pytest.raises(ManifestError, match="is not there"):
        read_sheet(tmp_path / "missing.csv")


def test_json_has_no_numbers_that_json_lacks() -> None:
    """People who all say the same leave no alpha; that is a None, not a NaN."""
    judge = {("a", "x"): 0.5, ("b", "x"): 0.5}
    found = score_agreement(judge, {unit: [0.5, 0.5] for unit in judge}, tolerance=0.1)
    assert found.people.value is None
    assert found.rank.value is None
    json.dumps([found.within.value, found.wilson.high], allow_nan=False)


def test_people_against_people(shared_data: Path) -> None:
    """FETV: three people rate 3,000 videos; each in turn stands in the judge's place.

    The share within one point of five of the others' median is counted with plain loops.
    """
    folder = shared_data / "fetv"
    sources = ("cogvideo", "damo-text2video", "ground-truth", "text2video-zero", "zeroscope")
    rated: list[dict[tuple[str, str], float]] = []
    for person in range(3):
        mine = {}
        for source in sources:
            for line in (folder / f"human{person}" / f"{source}.json").read_text().splitlines():
                for prompt, given in json.loads(line).items():
                    mine[f"{source}/{prompt}", "alignment"] = (float(given["alignment"]) - 1) / 4
        rated.append(mine)
    shares = []
    for person, judge in enumerate(rated):
        others = [one for number, one in enumerate(rated) if number != person]
        votes = {unit: [one[unit] for one in others] for unit in judge}
        found = score_agreement(judge, votes, tolerance=0.25)
        same = sum(abs(judge[unit] - sum(votes[unit]) / 2) <= 0.25 for unit in judge)
        assert found.within.value == pytest.approx(same / len(judge))
        assert found.within.n == len(judge) > 3000
        # Each value is of a video of its own: both intervals are much alike.
        assert found.within.interval.low == pytest.approx(found.wilson.low, abs=0.01)
        assert found.people.unwrap() > 0.5
        assert found.with_judge.unwrap() == pytest.approx(found.people.unwrap(), abs=0.15)
        shares.append(found.within.value)
    # They agree with one another more often than not, and none as a copy would.
    assert all(0.7 < share < 0.99 for share in shares), shares
