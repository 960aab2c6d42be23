"""What the first screen says is what the answer, the certificates and the run say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.analysis.models.coverage import unread_videos
from screentest.analysis.models.grid import prompt_grid
from screentest.analysis.models.moments import lowest, scales_of
from screentest.core import Item, Outcome, OutputInfo, Reason, Score, SideEffect, Traits
from screentest.judges.votes import VoteRecord, VoteTask, as_csv
from screentest.present.page.checks import Check, checks
from screentest.present.page.data import Report, read_report
from screentest.present.page.html import tile_labels
from screentest.present.page.tables import tables
from screentest.present.page.view import View, page_view
from screentest.present.screens import comparison_screen, scores_screen
from screentest.stats import Claim
from tests.present.runs import (
    BUSY,
    CALM,
    certificate,
    certify_run,
    curve,
    items,
    lost,
    score_run,
    scored,
)


def view_of(report: Report) -> View:
    return page_view(report, list(report.results.items))


def models(folder: Path, numbers: dict[str, list[float]], metric: str = "calm") -> Report:
    """Each model with a value for each prompt."""
    films, values = [], {}
    for model, row in numbers.items():
        for place, number in enumerate(row):
            name = f"{model}{place}"
            films.append(Item(name, Path("/x.mp4"), f"Prompt {place}.", groups={"model": model}))
            values[name, metric] = scored(number)
    info = {"calm": CALM, "busy": BUSY}[metric]
    return read_report([score_run(folder / "run", films, values, metrics={metric: info})])


def test_the_first_screen_is_that_of_the_terminal(tmp_path: Path) -> None:
    report = models(tmp_path, {"a": [0.9, 0.8, 0.9], "b": [0.1, 0.3, 0.2]})
    assert report.comparison is not None
    view, screen = view_of(report), comparison_screen(report.comparison)
    assert view.screen == screen
    assert list(view.lines) == screen.labelled
    assert screen.table is not None
    (row,) = view.rows
    (cells,) = screen.table.short().texts()
    assert (row.wins, row.p) == (cells[-2], cells[-1]) == ("3:0", "0.25")
    assert [cell.text for cell in row.cells] == [text.strip() for text in cells[-4:-2]]
    (look,) = view.cards[1].looks
    assert (look.metric, look.link, look.video) == ("calm", "b0", 3)


def test_a_significant_row(tmp_path: Path) -> None:
    high = [0.8 + 0.01 * n for n in range(8)]
    report = models(tmp_path, {"a": high, "b": [one - 0.5 for one in high]})
    view = view_of(report)
    (row,) = view.rows
    assert (row.holds, row.wins, row.p, row.needed) == (True, "8:0", "0.008", "")
    assert [(cell.text, cell.best) for cell in row.cells] == [("0.835*", True), ("0.335", False)]
    assert [(check.kind, check.label) for check in view.checks] == [
        ("Warning", "certificates"),
        ("OK", "values"),
    ]


def test_a_lead_that_an_artefact_explains_is_marked(tmp_path: Path) -> None:
    clean = OutputInfo("noise", higher_is_better=False)
    traits = {"noise": Traits((SideEffect("sharp"),))}
    films, values = [], {}
    for model, numbers in (("clear", (0.9, 0.8)), ("dim", (0.2, 0.1))):
        for place in range(10):
            name = f"{model}{place}"
            films.append(Item(name, Path("/x.mp4"), f"P {place}.", groups={"model": model}))
            values[name, "sharp"], values[name, "noise"] = (
                scored(one + 0.001 * place) for one in numbers
            )
    metrics = {"sharp": OutputInfo("detail"), "noise": clean}
    run = score_run(tmp_path / "run", films, values, metrics=metrics, traits=traits)
    view = view_of(read_report([run]))
    cells = {row.title: [cell.text[-1] for cell in row.cells] for row in view.rows}
    assert cells == {"sharp": ["*", "4"], "noise": ["4", "°"]}
    clear, dim = view.cards
    assert clear.looks == ()  # behind in noise only, which the blur of the other explains
    assert [look.metric for look in dim.looks] == ["sharp"]


def test_a_model_that_is_behind_in_nothing_has_its_furthest_fall(tmp_path: Path) -> None:
    films, values = [], {}
    for model in "ab":
        for place in range(3):
            name = f"{model}{place}"
            films.append(Item(name, Path("/x.mp4"), f"P {place}.", groups={"model": model}))
            fall = 0.1 if place == 1 else 0.8
            values[name, "calm"] = scored(0.8, 0.9, fall, 0.8, 0.8)
    report = read_report([score_run(tmp_path / "run", films, values, metrics={"calm": CALM})])
    for card in view_of(report).cards:
        (look,) = card.looks
        assert (look.link, look.t) == (f"{card.name}1 at 0:01.5", 1.5)


def test_a_forecast_stands_beside_the_wins(tmp_path: Path) -> None:
    """Two that are alike are ahead of a third: it is last, and nobody is first."""
    rest = [0.5, 0.52, 0.48, 0.51]
    report = models(tmp_path, {"a": rest, "b": rest, "c": [0.3, 0.31, 0.29, 0.45]})
    (row,) = view_of(report).rows
    assert row.wins == "c last 4/4"
    assert row.needed.startswith("about ")


def test_lower_is_better_turns_the_axis_and_the_lead(tmp_path: Path) -> None:
    report = models(tmp_path, {"a": [5.0, 6.0, 7.0], "b": [25.0, 26.0, 27.0]}, "busy")
    view = view_of(report)
    (row,) = view.rows
    assert (row.arrow, row.wins) == ("↓", "3:0")
    # The lowest value, 5, is at the right end of the axis.
    assert '<circle cx="98.00%"' in row.plot.partition('class="series-2"')[0]


def test_what_each_video_is_worst_at_against_the_others(tmp_path: Path) -> None:
    report = models(tmp_path, {"a": [0.9, 0.5], "b": [0.1, 0.5], "c": [0.7, 0.9]})
    found = prompt_grid(report.results, report.comparison)
    weak = found.weak["b0"]
    # The others have 0.9 and 0.7, 0.7 behind their mean of a spread of 0.8.
    assert (weak.value, weak.low, weak.high) == (0.1, 0.7, 0.9)
    assert weak.behind == pytest.approx(0.7 / 0.8)
    # Nobody else is last alone: a and b share the last place on the second prompt.
    assert list(found.weak) == ["b0"]
    assert [round(row.gap, 3) for row in found.rows] == [1.0, 0.5]


def test_one_group_has_links_to_its_worst_videos(tmp_path: Path) -> None:
    values = {(name, "calm"): scored(0.2 if name == "c" else 0.8) for name in "abc"}
    values |= {(name, "busy"): scored(50.0 if name == "c" else 5.0) for name in "abc"}
    values["a", "busy"] = lost(Reason.CRASHED, "Traceback\nboom")
    report = read_report([score_run(tmp_path / "run", items(*"abc"), values)])
    view = view_of(report)
    assert view.screen == scores_screen(report.results)
    assert [look.item for look in view.cards[0].looks] == ["c"]
    (missing,) = (check for check in view.checks if check.label == "missing values")
    assert (missing.text, missing.more) == ("1 of 6 values (crashed 1)", ("a: crashed: boom",))
    assert [row.wins for row in view.rows] == ["0.200 to 0.800", "5.00 to 50.0"]


def test_files_that_could_not_be_read_are_named_and_are_why_nothing_is_compared(
    tmp_path: Path,
) -> None:
    films = [
        Item(f"{model}{place}", Path(f"/clips/{model}{place}.mp4"), f"P {place}.", groups=groups)
        for model in "ab"
        for groups in ({"model": model},)
        for place in range(3)
    ]
    unread = {"a2": (Reason.EMPTY_FILE, "is empty"), "b0": (Reason.UNDECODABLE, "has no picture")}
    unread["b1"] = unread["b0"]
    info = {"calm": CALM, "moves": OutputInfo("how much moves", descriptive=True)}
    values = {}
    for film in films:
        for name in info:
            values[film.id, name] = scored(0.5)
            if film.id in unread:
                reason, seen = unread[film.id]
                values[film.id, name] = lost(reason, f"'/clips/{film.id}.mp4' {seen}")
    report = read_report([score_run(tmp_path / "run", films, values, metrics=info)])
    view = view_of(report)
    why = "3 of 6 videos (undecodable 2, empty file 1)"
    assert view.screen.headline == f"Nothing to compare: {why} could not be read"
    check = view.checks[0]
    assert (check.kind, check.label, check.text) == ("Problem", "unreadable", why)
    assert check.more[0] == "/clips/a2.mp4: the file is empty"
    assert check.more[2] == "/clips/b1.mp4: the file has no picture"
    # Once: neither as a line, nor as missing values.
    assert not {"unreadable", "missing values"} & {label for label, _ in view.lines}
    assert "missing values" not in {check.label for check in view.checks}
    alone = report.results.by_group("model")["b"]
    assert [one.reason for one in unread_videos(alone)] == ["undecodable", "undecodable"]


def test_moments_of_several_curves_are_one_and_a_flat_curve_has_none(tmp_path: Path) -> None:
    values = {
        ("a", "calm"): scored(0.2, 0.9, 0.2, 0.9, 0.9, note="a flash"),
        ("a", "busy"): scored(50.0, 5.0, 50.0, 5.0, 5.0),
        ("b", "calm"): scored(1.0, 1.0, 1.0, 1.0),
    }
    report = read_report([score_run(tmp_path / "run", items("a", "b"), values)])
    results = report.results
    (moment,) = lowest(results, results.of_item("a").values(), scales_of(results))
    assert moment.time == Fraction(3, 2)
    assert {(low.name, low.value) for low in moment.lows} == {("calm", 0.2), ("busy", 50.0)}
    assert lowest(results, results.of_item("b").values(), scales_of(results)) == []


def test_a_clip_of_one_shot_has_moments_and_its_seed_is_named(tmp_path: Path) -> None:
    films, values = [], {}
    for model, low in (("a", 0.5), ("b", 0.1)):
        for number in range(6):  # two seeds of three prompts
            name = f"{model}-{number}"
            groups = {"model": model, "seed": str(number % 2), "kind": "test"}
            films.append(Item(name, Path("/x.mp4"), f"Prompt {number // 2}.", groups=groups))
            pieces = [[0.0, 0.25, 0.9], [0.25, 0.5, low], [0.5, 0.75, 0.9], [0.75, 1.0, 0.9]]
            score = Score(low + 0.3, curve(low + 0.3), details={"within": pieces})
            values[name, "calm"] = Outcome.of(score)
    run = score_run(tmp_path / "run", films, values, metrics={"calm": CALM})
    report = read_report([run])
    of_b = report.results.of_item("b-0").values()
    (moment,) = lowest(report.results, of_b, scales_of(report.results))
    assert moment.time == Fraction(3, 8)
    (look,) = view_of(report).cards[1].looks
    assert (look.link, look.t) == ("b-0 at 0:00.2", 0.25)
    row, *_ = prompt_grid(report.results, report.comparison).rows
    assert tile_labels(report, row)["b-1"] == "seed 1"  # and not the kind, which is the same


def test_the_worst_moment_of_a_frozen_clip_is_its_freeze(tmp_path: Path) -> None:
    moving, frozen = [4.0, 4.2, 4.1, 4.0, 4.1, 4.0], [4.1, 4.2, 0.0, 0.0, 0.0, 0.0]
    still = [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    metrics = {
        "flicker": OutputInfo("steps", 0.0, 255.0, higher_is_better=False),
        "frozen": OutputInfo("share", higher_is_better=False),
    }
    for name, others in (("beside", "bcd"), ("alone", "")):
        values = {("a", "flicker"): scored(1.4, *frozen), ("a", "frozen"): scored(0.7, *still)}
        values |= {(one, "flicker"): scored(4.0, *moving) for one in others}
        values |= {(one, "frozen"): scored(0.0, *[0.0] * 6) for one in others}
        run = score_run(tmp_path / name, items("a", *others), values, metrics=metrics)
        results = read_report([run]).results
        margined = [replace(one, signature=f"{one.name}|v:1") for one in results.values]
        results = replace(results, values=tuple(margined))
        first, *_ = lowest(
            results, results.of_item("a").values(), scales_of(results), by_time=False
        )
        assert first.lows[0].name == "frozen", name
        assert first.time == Fraction(5, 2)


def test_a_piece_that_is_on_another_scale_is_a_time_and_no_value(tmp_path: Path) -> None:
    """Where the longest freeze is cut at the edges of pieces, their numbers are not its own."""
    info = OutputInfo("frames", 0.0, 1e6, higher_is_better=False)
    films, values = [], {}
    for model, longest in (("a", 0.0), ("b", 19.0)):
        for number in range(6):
            name = f"{model}-{number}"
            films.append(Item(name, Path("/x.mp4"), f"P {number}.", groups={"model": model}))
            pieces = [[0.0, 1.0, 0.0], [1.0, 2.0, min(4.0, longest)], [2.0, 3.0, 0.0]]
            score = Score(longest, curve(longest), details={"within": pieces})
            values[name, "hold"] = Outcome.of(score)
    report = read_report([score_run(tmp_path / "run", films, values, metrics={"hold": info})])
    results = report.results
    assert lowest(results, results.of_item("b-0").values(), scales_of(results)) == []
    (look,) = view_of(report).cards[1].looks
    assert look.t == 1.0


def test_of_many_models_those_at_the_ends_have_cards(tmp_path: Path) -> None:
    """Ten steps in the order of numbers."""
    values = {str(step): [1.0] for step in range(100, 900, 100)} | {"900": [0.3], "1000": [0.1]}
    report = models(tmp_path, values)
    view = view_of(replace(report, alarms=("2 of 2 clips are black since step 900",)))
    assert view.models[-3:] == ("800", "900", "1000")
    assert view.alarms == ("2 of 2 clips are black since step 900",)
    assert [(card.name, card.series) for card in view.cards] == [("1000", 9)]


def test_a_metric_that_is_not_compared_has_its_reason(tmp_path: Path) -> None:
    films, values = [], {}
    for model in "ab":
        for place in range(6):
            name = f"{model}{place}"
            films.append(Item(name, Path("/x.mp4"), f"P {place}.", groups={"model": model}))
            lacks = model == "b" and place < 3
            values[name, "calm"] = lost() if lacks else scored(0.5 + 0.01 * place)
    run = score_run(tmp_path / "run", films, values, metrics={"calm": CALM})
    view = view_of(read_report([run]))
    ((title, (row,)),) = view.folds
    assert (title, row.wins, row.p) == ("1 metric: not compared", "b lacks 3 of 6 values", "")


def test_who_is_behind_only_what_owes_it_to_a_fault_is_not_called_worst(tmp_path: Path) -> None:
    """Less noise in blurred pictures: the sharp ones are not the noisy ones."""
    noise = OutputInfo("noise", higher_is_better=False)
    traits = {"noise": Traits((SideEffect("sharp"),))}
    films, values = [], {}
    for model, numbers in (("clear", (0.9, 0.8)), ("dim", (0.2, 0.1))):
        for place in range(8):
            name = f"{model}{place}"
            films.append(Item(name, Path("/x.mp4"), f"P {place}.", groups={"model": model}))
            values[name, "sharp"], values[name, "noise"] = map(scored, numbers)
    metrics = {"sharp": OutputInfo("detail"), "noise": noise}
    run = score_run(tmp_path / "run", films, values, metrics=metrics, traits=traits)
    report = read_report([run])
    weak = prompt_grid(report.results, report.comparison).weak
    assert weak["dim0"].name == "sharp"
    assert "clear0" not in weak


def test_what_only_describes_has_no_worst_moment_and_no_leader(tmp_path: Path) -> None:
    info = OutputInfo("how much moves", descriptive=True)
    films = [*items("a", model="x"), *items("b", model="y")]
    values = {("a", "moves"): scored(0.1, 0.9, 0.1, 0.9), ("b", "moves"): scored(0.9)}
    run = score_run(tmp_path / "run", films, values, metrics={"moves": info})
    report = read_report([run])
    results = report.results
    assert lowest(results, results.of_item("a").values(), scales_of(results)) == []
    assert prompt_grid(results, report.comparison).weak == {}


def test_certificates_and_borders_stand_among_the_reasons(tmp_path: Path) -> None:
    film = items("a", "b")
    bars = [100, 0, 100, 0, 400, 300]
    one = scored(0.5)
    boxed = one.map(lambda score: type(score)(score.value, score.curve, {"borders": bars}))
    values = {("a", "calm"): boxed, ("b", "calm"): one}
    run = score_run(tmp_path / "run", film, values, metrics={"calm": CALM})
    assert {check.label for check in checks(read_report([run]))} == {
        *("certificates", "borders", "values"),
    }
    judged = certify_run(tmp_path / "certificates", [certificate()])
    report = read_report([run, judged])
    made = {check.label: check for check in checks(report)}
    certified = made["certificates"]
    assert certified.text == "1 of 1 metric known to see a degradation"
    assert certified.more == ("calm: inverted tones",)
    borders = "1 of 2 videos (50% of the frame; pictures are measured inside)"
    assert made["borders"] == Check("Note", "borders", borders, ("a: 50%",))
    (row,) = view_of(report).rows
    assert row.sees == "inverted tones"
    assert ("sees", "inverted tones (18 of 20)") in row.card


def test_a_certificate_that_cannot_tell_certifies_nothing(tmp_path: Path) -> None:
    run = score_run(
        tmp_path / "run", items("a"), {("a", "calm"): scored(0.5)}, metrics={"calm": CALM}
    )
    told = certificate()
    parts = {
        name: tuple(
            replace(one, finding=replace(one.finding, claim=Claim.UNDECIDED))
            for one in getattr(told, name)
            if one.finding
        )
        for name in ("operators", "aspects")
    }
    judged = certify_run(tmp_path / "certificates", [replace(told, **parts)])
    report = read_report([run, judged])
    (check,) = (check for check in checks(report) if check.label == "certificates")
    assert check.kind == "Warning"
    assert view_of(report).rows[0].sees == "nothing shown on 20 films"


def test_people_stand_beside_the_metrics(tmp_path: Path) -> None:
    votes = [
        VoteRecord(
            task=VoteTask.ARENA,
            unit=f"{prompt}",
            source=f"Prompt {prompt}.",
            worker=f"w{worker}",
            first="a",
            second="b",
            left="first",
            choice="second",
        )
        for prompt in range(8)
        for worker in range(8)
    ]
    path = tmp_path / "votes.csv"
    path.write_text(as_csv(votes), newline="")
    numbers = {"a": [0.5, 0.6] * 4, "b": [0.5, 0.6] * 4}
    plain = models(tmp_path, numbers)
    asked = read_report([tmp_path / "run"], votes=path)
    before, view = view_of(plain), view_of(asked)
    # The metrics' answer is what it was: people are a test of their own.
    assert view.screen == before.screen
    assert view.lines[0] == ("people", "People prefer b to a (64 votes by 8 people on 8 prompts)")
    row = view.rows[0]
    assert (row.title, row.group, row.holds) == ("people prefer", "People", True)
    assert row.wins == "0:8"
    assert [cell.best for cell in row.cells] == [False, True]
    names = [table.name for table in tables(asked)]
    assert {"people", "people_pairs"} <= set(names)
    others = [replace(one, first="x", second="y") for one in votes]
    path.write_text(as_csv(others), newline="")
    elsewhere = view_of(read_report([tmp_path / "run"], votes=path))
    assert [row.title for row in elsewhere.rows] == [row.title for row in before.rows]
