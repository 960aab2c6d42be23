"""``screentest demo``: works on a fresh machine, fits the screen, and does not flatter."""

from __future__ import annotations

import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from screentest.cli.demo import NEAR, agreement
from tests.cli.conftest import Screentest, fits, invoke


def test_one_table_that_fits(screentest: Screentest) -> None:
    done = screentest("demo")

    assert (done.returncode, done.stderr) == (0, "")
    assert fits(done.stdout)
    for film in ("bbb_first30s", "frenchgp_1906", "real_5shots", "sintel_trailer_30s"):
        (row,) = [line for line in done.stdout.splitlines() if line.startswith(film)]
        assert len(row.split()) >= 9
    assert "known changes of picture found" in done.stdout


def test_json_says_the_same() -> None:
    films = json.loads(invoke("demo", "--json").stdout)

    # Frames by ffprobe's count; known changes from the caption files.
    assert [(film["id"], film["frames"], film["known_changes"]) for film in films] == [
        ("bbb_first30s", 720, 3),
        ("frenchgp_1906", 288, 0),
        ("real_5shots", 372, 4),
        ("sintel_trailer_30s", 728, 13),
    ]
    assert all(film["frames_per_second"] > 0 for film in films)
    assert all(film["found"] + film["extra"] >= len(film["shots"]) - 1 for film in films)
    assert films[2]["found"] == 4, "cuts that are exact by construction"


@given(
    known=st.sets(st.integers(0, 50)),
    shift=st.fractions(-NEAR, NEAR),
    extra=st.sets(st.integers(100, 120)),
)
def test_agreement_counts_what_is_near_and_nothing_else(
    known: set[int], shift: Fraction, extra: set[int]
) -> None:
    found = [moment + shift for moment in known] + [Fraction(moment) for moment in extra]
    assert agreement(found, [Fraction(moment) for moment in known]) == (len(known), len(extra))
