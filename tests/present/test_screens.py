"""First screens: headlines, lines and tables, as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np
import pytest

from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.results import Value
from screentest.core import Outcome, OutputInfo, Reason, Score
from screentest.present.screens import LONGEST, comparison_screen, scores_screen
from screentest.present.tables import WIDTH, comparison_table, table_lines
from screentest.present.text import SENTENCES, frames_words, labels, number, say, words
from screentest.video.arrays import read_frames
from tests.analysis.test_comparison import (
    compared,
    drawn,
    of_one,
    results,
    with_faults,
    with_margin,
    with_texture,
    without,
)

MOST = 40
GOLDEN = Path(__file__).with_name("sentences.txt")
EXAMPLES: Mapping[str, object] = {
    "basis": "12 films, both orders, p < 0.05 after Holm",
    "better": "a",
    "count": 1,
    "films": 8,
    "failures": "crashed",
    "judge": "sharpness",
    "level": 0.05,
    "levels": "look / colour",
    "looks": "brighter and redder",
    "metrics": "3 of 14 metrics",
    "missing": "step-1000 lacks 18 of 30 values",
    "model": "step-2000",
    "models": "a and b",
    "needed": "about 65",
    "of": "12 films",
    "of_prompts": 20,
    "other": "step-1000",
    "others": "step-1000",
    "pairs": "a to b and c",
    "part": "its worst tenth",
    "place": "ahead",
    "prompts": "20 prompts",
    "rates": "a 24, b 12",
    "read": 5,
    "reason": "the models share no prompt",
    "seen": 3,
    "settings": "versions (1 and 2)",
    "shares": "12% to 44%",
    "tested": "10 aspects",
    "sees": 3,
    "units": 12,
    "loser": "turbo",
    "values": "12 values",
    "version": 3,
    "verb": "sees",
    "video": "bbb_first30s",
    "videos": "4 videos",
    "what": "noise",
    "why": "blur in step-2000",
    "winner": "step-2000",
    "worse": "b",
    "written": "20 prompts",
}


OTHERS: Mapping[str, Mapping[str, object]] = {
    "beats_each": {"others": "4 others"},
    "left_out": {"part": "charts", "why": "install matplotlib"},
    "certified": {"metrics": "14 metrics"},
    "sees": {"films": 41},
    "certificate_open": {"basis": "4 films, up to 18 more needed"},
    "certificate_untested": {"basis": "missing model"},
    "certificates": {"verb": "see a degradation", "tested": 5, "basis": "12 films"},
    "equal": {"models": "run-a and run-b", "metrics": "13 of 14 metrics"},
    "inconclusive": {"needed": "about 35 needed for sharpness"},
    "loses": {"others": "both others"},
    "counted": {"part": "the mean of its worst 10% of time"},
    "identical": {"metrics": "14 metrics"},
    "people_open": {
        "basis": "7 votes by 1 person on 3 prompts",
        "why": "at least 6 people and 6 prompts needed",
    },
    "people_prefer": {"basis": "64 votes by 8 people on 8 prompts"},
    "people_same": {"basis": "64 votes by 8 people on 8 prompts"},
    "no_difference": {"metrics": "14 metrics"},
    "no_margin": {"metrics": "flicker, noise"},
    "scored": {"metrics": "14 metrics"},
    "same_film": {"count": 20},
    "seeds": {"videos": "step-1000 12, step-2000 1"},
}


def example(name: str) -> str:
    return say(name, **{**EXAMPLES, **OTHERS.get(name, {})})


def rendered() -> str:
    """Every template with examples, and every phrase for the members of enums."""
    lines = [f"{name}: {example(name)}" for name in sorted(SENTENCES)]
    for section in ("prompt_coverage", "not_compared", "parts"):
        found = sorted(words(section).items())
        lines += ["", *(f"{section}.{name}: {text.format(**EXAMPLES)}" for name, text in found)]
    return "\n".join([*lines, ""])


def test_the_golden_file_has_every_sentence() -> None:
    """Write it again with ``python -m tests.present.test_screens``; then read it aloud."""
    assert rendered() == GOLDEN.read_text(encoding="utf-8")
    assert len(SENTENCES) <= MOST
    fields = {key for text in SENTENCES.values() for _, key, _, _ in Formatter().parse(text) if key}
    assert fields <= EXAMPLES.keys()
    assert max(len(example(name)) for name in SENTENCES) <= LONGEST


def headline(found: ModelComparison) -> str:
    return comparison_screen(found).headline


def line(found: ModelComparison, name: str) -> list[str]:
    return [text for label, text in comparison_screen(found).lines if label == name]


def test_one_winner() -> None:
    found = compared(drawn(20, models="ab", sharp_a=4.0, noise_a=-4.0))
    assert str(comparison_screen(found)).splitlines() == [
        "a beats b on 2 of 3 metrics (20 prompts, adjusted p < 0.05)",
        "  better       noise, sharp",
        "  undecided    jerks (ahead on 12 of 20; about 160 prompts needed)",
        "  not covered  prompt following (no metric reads prompts)",
        "",
        "                      a      b  wins       p",
        "Picture  noise ↓  45.8*  49.9   20:0  < .001",
        "         sharp ↑  54.0*  49.9   20:0  < .001",
        "Time     jerks ↓  49.5   49.8   12:8    0.37",
        "* significantly better; p: is the lead beyond re-encoding noise? "
        "Adjusted for all metrics.",
        "Re-encoding noise is not known for noise, sharp, jerks.",
        "To measure prompt following: screentest models pull light, then --models light.",
    ]


def test_a_winner_over_several_models() -> None:
    found = compared(drawn(20, sharp_a=4.0, noise_a=-4.0))
    assert headline(found).startswith("a beats both others on 2 of 3 metrics (20 prompts, ")
    assert line(found, "better") == ["a than all others: sharp, noise"]
    assert line(found, "worse") == ["b: sharp, noise", "c: sharp, noise"]
    each = with_faults(14)
    assert headline(each).startswith("good beats each of 2 others on some metric (14 prompts, ")
    assert line(each, "worse") == ["blurry: sharp", "still: frozen time"]


def test_no_single_winner() -> None:
    found = compared(drawn(20, models="ab", sharp_a=4.0, jerks_b=-4.0))
    assert headline(found).startswith("No single winner: differences on 2 of 3 metrics (20 ")
    assert line(found, "better") == ["a: sharp", "b: jerks"]
    last = compared(drawn(30, sharp_c=-5.0, metrics="sharp"))
    assert headline(last).startswith("c loses to both others on 1 of 1 metric (30 prompts, ")
    assert line(last, "worse") == ["c: sharp"]


def test_too_few_prompts() -> None:
    found = compared(drawn(4, sharp_a=90.0))
    assert headline(found) == f"Inconclusive: 4 prompts, about {found.needed} needed for sharp"
    assert line(found, "undecided")[:2] == [
        f"a ahead: sharp (4 of 4; about {found.needed} prompts needed)",
        "b ahead: noise (3 of 4; about 35)",
    ]
    one = compared(results({("sharp", "a"): (1.0,), ("sharp", "b"): (2.0,)}))
    assert headline(one) == "Inconclusive: 1 prompt, at least 6 needed"
    assert line(one, "undecided") == ["b ahead: sharp (1 of 1)"]


def test_equal_models() -> None:
    same = compared(results({("sharp", m): (1.0, 2.0, 3.0) for m in "ab"}))
    assert headline(same) == "All values are identical on 1 metric (3 prompts)"
    near = with_margin(40, 9.0, sharp_a=1.5)
    assert headline(near) == "a and b are equal within re-encoding noise on 1 metric (40 prompts)"
    unsure = with_margin(40, 2.0, sharp_a=1.5)
    assert headline(unsure) == headline(near)


def test_leads_that_an_artefact_explains() -> None:
    found = with_texture(12, 9.0)
    assert headline(found) == (
        "No winner: an artefact explains every significant difference (12 prompts)"
    )
    assert line(found, "discounted") == ["smooth ahead: noise (due to its texture)"]
    notes = comparison_screen(found).notes
    assert "° significant, but due to an artefact" in notes
    bright = with_texture(12, 0.0, light=20.0)
    assert line(bright, "looks") == ["smooth is higher in light"]


def test_nothing_to_compare() -> None:
    apart = results({("sharp", "a"): (1.0, 2.0), ("sharp", "b"): (1.0, 2.0)})
    others = {
        name: replace(item, prompt=f"other {name}") if name.startswith("b") else item
        for name, item in apart.items.items()
    }
    lost = compared(replace(apart, items=others))
    assert headline(lost) == "Nothing to compare: the models share no prompt"
    only = compared(drawn(20, metrics="moves"))
    assert headline(only) == "Nothing to compare: no metric here says which is better"
    table = comparison_table(only).short()
    assert [column.heading for column in table.columns[-3:]] == ["a", "b", "c"]


def test_missing_values_and_low_coverage() -> None:
    given = drawn(30, models="ab", metrics="sharp noise", sharp_a=4.0, noise_a=-4.0)
    hard = [f"a/{place}" for place in range(12, 30)]
    uneven = compared(without(given, "sharp", hard))
    assert line(uneven, "not compared") == ["sharp (a lacks 18 of 30 values)"]
    even = [f"{model}/{place}" for model in "ab" for place in range(12)]
    found = compared(without(given, "sharp", even))
    assert headline(found).startswith("a beats b on 2 of 2 metrics (18 to 30 prompts, ")
    assert line(found, "missing") == ["sharp: 24 of 60 videos (a 12, b 12; crashed)"]
    few = results({("sharp", "a"): (1, 2, 3, 4), ("sharp", "b"): (1, 2, 9)})
    assert line(compared(few), "left out") == ["1 of 4 prompts (b lacks 1)"]


@pytest.mark.parametrize("models", ["ab", "abc", "abcdefgh"])
def test_every_headline_fits_whatever_the_names(models: str) -> None:
    given = drawn(14, models=models, metrics="sharp", sharp_a=9.0)
    long = {
        name: replace(item, groups={"model": f"a_model_called_{item.groups['model'] * 60}"})
        for name, item in given.items.items()
    }
    screen = comparison_screen(compared(replace(given, items=long)))
    assert len(screen.headline) <= LONGEST
    assert screen.table is not None
    assert screen.table.note.startswith("A: a_model_called_a")
    shown = [column.heading for column in screen.table.short().columns]
    assert [heading for heading in shown if heading not in ("", "wins", "p")] == [*models.upper()]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 12])
def test_a_table_of_many_models_fits_a_terminal(count: int) -> None:
    models = "abcdefghijkl"[:count]
    found = compared(drawn(12, models=models, metrics="sharp noise jerks", sharp_a=9.0))
    table = comparison_table(found)
    assert max(map(len, table_lines(table))) <= WIDTH
    (sharp,) = (row for row in found.rows if row.name == "sharp")
    best = max(value.mean or 0.0 for value in sharp.values)
    (line,) = (row for row in table.short().texts() if "sharp ↑" in row)
    assert any(number(best) in cell for cell in line)


def test_models_that_share_an_end_are_counted() -> None:
    values = {("sharp", m): [50.0 + n % 3 for n in range(12)] for m in "abcdefghijk"}
    values["sharp", "z"] = [20.0 + n % 3 for n in range(12)]
    table = comparison_table(compared(results(values)))
    # Eleven have (50 + 51 + 52) / 3.
    assert table.column("best") == ["11 models 51.0*"]
    assert table.column("worst") == ["z 21.0 "]


def test_of_many_models_each_has_the_metrics_in_which_it_is_worse() -> None:
    found = compared(drawn(30, models="abcde", sharp_c=-9.0, noise_d=9.0))
    assert line(found, "worse") == ["c: sharp", "d: noise"]


def test_one_model_alone_fits_a_screen() -> None:
    """Sixty values: those with a direction and a number have a row, the others a line."""
    given = drawn(12, models="a", metrics="sharp noise moves")
    extra = {f"p{n}": OutputInfo("read from prompts") for n in range(57)}
    none = Outcome[Score].failed(Reason.NOT_APPLICABLE, "the video has no prompt")
    lost = [Value(item, name, name, none, f"{name}|v:1") for item in given.items for name in extra]
    lost.append(Value("a/0", "late", "late", none, "late|v:1"))
    had = [Value(f"a/{n}", "late", "late", Outcome.of(Score(n / 9)), "late|v:1") for n in range(9)]
    outputs = {**given.outputs, **extra, "late": OutputInfo("")}
    full = replace(given, values=(*given.values, *lost, *had), outputs=outputs)
    screen = scores_screen(full)
    assert screen.table is not None
    assert sorted(screen.table.column("metric")) == ["late ↑", "noise ↓", "sharp ↑"]
    assert screen.table.column("scored") == ["12/12", "12/12", "9/10"]
    lines = dict(screen.lines)
    assert lines["no value"] == "p0, p1, p2 and 54 more (the video has no prompt)"
    assert lines["missing"] == "late: 1 of 10 videos (the video has no prompt)"
    assert max(map(len, table_lines(screen.table))) <= WIDTH


def test_a_table_of_several_models_names_whom_it_is_about() -> None:
    wide = [9.0, 9.0, -9.0, 9.0, 9.0, -9.0, 9.0, 9.0, -9.0, 9.0, -9.0, 9.0]
    steady = [50.0] * 12
    found = of_one({"a": [50 - gap for gap in wide], "b": steady, "c": [n / 12 for n in range(12)]})
    assert comparison_table(found).column("wins") == ["c last 12/12"]
    shaky = [50 - 1.2 * gap for gap in wide[::-1]]
    part = of_one({"a": shaky, "b": steady, "c": [44.0 + n / 9 for n in range(12)]})
    assert comparison_table(part).column("wins") == ["b over c"]


def test_nobody_is_sent_for_thousands_of_prompts() -> None:
    values = {("sharp", "a"): [51.0, 49.9] * 6, ("sharp", "b"): [50.0, 50.0] * 6}
    found = compared(results(values))
    row = replace(found.rows[0], needed=4300)
    text = str(comparison_screen(replace(found, rows=(row,), needed=4300)))
    assert "4,300" not in text


def test_the_video_that_ranks_worst() -> None:
    def alone(*numbers: tuple[float, float]) -> str:
        given = drawn(len(numbers), models="a", metrics="sharp noise")
        values = tuple(
            replace(
                value,
                outcome=Outcome.of(Score(numbers[place % len(numbers)][value.name == "noise"])),
            )
            for place, value in enumerate(given.values)
        )
        return scores_screen(replace(given, values=values)).text

    text = alone((1.0, 90.0), (3.0, 20.0), (2.0, 30.0))
    assert text.splitlines()[:2] == [
        "a/0 ranks worst on 2 of 2 metrics",
        "  worst        a/0 (sharp 1.00, noise 90.0)",
    ]
    assert alone((1.0, 9.0), (2.0, 8.0)).splitlines()[0] == "2 videos scored on 2 metrics"


def test_two_values_with_one_label_go_by_their_names() -> None:
    given = drawn(2, models="a", metrics="sharp")
    outputs = {"sharp": OutputInfo("", label="one"), "sharp.other": OutputInfo("", label="one")}
    assert labels(replace(given, outputs=outputs)) == {
        "sharp": "sharp",
        "sharp.other": "sharp.other",
    }


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (np.zeros((2, 5, 16, 24, 3), np.uint8), "2 clips of 5 frames, 24×16, NTHWC uint8 read"),
        ([np.zeros((n, 16, 24, 3), np.uint8) for n in (1, 2)], "2 clips of 1 to 2 frames, 24×16"),
        (np.zeros((1, 16, 24, 3), np.uint8), "1 frame, 24×16, THWC uint8 read as 0 to 255, 8 fps"),
    ],
)
def test_frames_are_described_as_they_were_read(frames: Any, expected: str) -> None:
    assert frames_words(read_frames(frames), 8.0).startswith(expected)


if __name__ == "__main__":
    GOLDEN.write_text(rendered(), encoding="utf-8")
