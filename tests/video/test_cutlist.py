"""Cut lists: what is written can be read back; timecode is what an editor expects."""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import BadOption, Shot, Span, Transition
from screentest.video.probe import probe
from screentest.video.shots import (
    CSV_COLUMNS,
    csv_text,
    edl_text,
    find_shots,
    frame_timecode,
    json_text,
)

NTSC = Fraction(30000, 1001)
FILM = Fraction(24000, 1001)

SHOTS = [
    Shot(Span(Fraction(0), Fraction(3))),
    Shot(Span(Fraction(3), Fraction(7)), Transition.CUT, None, ("abrupt",)),
    Shot(
        Span(Fraction(7), Fraction(10)),
        Transition.DISSOLVE,
        Span(Fraction(13, 2), Fraction(15, 2)),
        ("abrupt", "gradual"),
    ),
]

times = st.fractions(0, 10_000, max_denominator=90_000)
spans = st.builds(lambda one, two: Span(min(one, two), max(one, two)), times, times)
any_shots = st.lists(
    st.builds(
        Shot,
        spans,
        st.sampled_from(Transition),
        st.none() | spans,
        st.lists(st.text(min_size=1), max_size=3).map(tuple),
    )
)


@given(any_shots)
def test_json_keeps_shots_exactly(shots: list[Shot]) -> None:
    told = json.loads(json_text(shots, {"video": "a.mp4"}))
    assert [_read(row) for row in told["shots"]] == shots


def _read(row: dict[str, Any]) -> Shot:
    gradual = row.get("gradual")
    return Shot(
        _span(row["start"], row["end"]),
        Transition(row["transition"]),
        _span(*gradual) if gradual else None,
        tuple(row.get("found_by", ())),
    )


def _span(start: str, end: str) -> Span:
    return Span(Fraction(start), Fraction(end))


def test_csv_reads_as_a_table() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(SHOTS))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert rows[2] == {
        "shot": "3",
        "start": "0:00:07.000",
        "end": "0:00:10.000",
        "start_seconds": "7.000000",
        "end_seconds": "10.000000",
        "transition": "dissolve",
        "gradual_start_seconds": "6.500000",
        "gradual_end_seconds": "7.500000",
        "found_by": "abrupt gradual",
    }


# One hour is 107,892 frames at 29.97 and 86,314 at 23.976: SMPTE's count without dropping.
@pytest.mark.parametrize(
    ("moment", "rate", "expected"),
    [
        (Fraction(0), Fraction(25), "00:00:00:00"),
        (Fraction(3600), Fraction(25), "01:00:00:00"),
        (Fraction(3600), NTSC, "00:59:56:12"),
        (Fraction(3600), FILM, "00:59:56:10"),
        (1001 * Fraction(1, 30000), NTSC, "00:00:00:01"),
        (Fraction(1001, 1000), NTSC, "00:00:01:00"),
        (Fraction(59 * 1001, 60000), Fraction(60000, 1001), "00:00:00:59"),
        (Fraction(100 * 3600), Fraction(24), "100:00:00:00"),
    ],
)
def test_timecode(moment: Fraction, rate: Fraction, expected: str) -> None:
    assert frame_timecode(moment, rate) == expected


@given(
    frame=st.integers(0, 10**7),
    rate=st.sampled_from([Fraction(24), Fraction(25), NTSC, FILM, Fraction(60000, 1001)]),
)
def test_timecode_counts_every_frame(frame: int, rate: Fraction) -> None:
    assert _frame(frame_timecode(frame / rate, rate), round(rate)) == frame


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(120)])
def test_rates_that_timecode_cannot_count(rate: Fraction) -> None:
    with pytest.raises(BadOption, match="timecode cannot count"):
        frame_timecode(Fraction(1), rate)


def test_edl_word_for_word() -> None:
    """CMX 3600: event, reel, track, transition, source in and out, record in and out."""
    assert edl_text(SHOTS, Fraction(24), title="film.mp4").splitlines() == [
        "TITLE: film.mp4",
        "FCM: NON-DROP FRAME",
        "",
        "001  AX       V     C        00:00:00:00 00:00:03:00 00:00:00:00 00:00:03:00",
        "* FROM CLIP NAME: film.mp4",
        "002  AX       V     C        00:00:03:00 00:00:07:00 00:00:03:00 00:00:07:00",
        "* FROM CLIP NAME: film.mp4",
        "* FOUND BY: abrupt",
        "003  AX       V     C        00:00:07:00 00:00:10:00 00:00:07:00 00:00:10:00",
        "* FROM CLIP NAME: film.mp4",
        "* DISSOLVE 00:00:06:12 00:00:07:12",
        "* FOUND BY: abrupt, gradual",
    ]


def test_edl_of_a_real_film_round_trips(sample: Path) -> None:
    video = sample / "real_5shots_640x360.mp4"
    shots, rate = find_shots(video), probe(video).rate
    events = _events(edl_text(shots, rate, title=video.name), round(rate))
    assert events == [(shot.start * rate, shot.end * rate) for shot in shots]
    assert [start for start, _ in events] == [0, 72, 168, 228, 312]


def test_edl_counts_from_where_the_video_starts() -> None:
    late = [Shot(Span(Fraction(100), Fraction(101))), Shot(Span(Fraction(101), Fraction(102)))]
    assert _events(edl_text(late, Fraction(25), title="x"), 25) == [(0, 25), (25, 50)]


def test_a_file_name_cannot_add_a_line_to_an_edl() -> None:
    name = "a\n002  AX       V     C        00:00:00:00\r\x85\u2028.mp4"
    text = edl_text(SHOTS[:1], Fraction(24), title=name)
    assert len(text.splitlines()) == 5
    assert len(_events(text, 24)) == 1


def _events(edl: str, base: int) -> list[tuple[int, int]]:
    """A reader of EDLs, as small as it can be."""
    code = r"(\d+:\d\d:\d\d:\d\d)"
    line = re.compile(rf"^\d+  AX       V     C        {code} {code} {code} {code}$", re.MULTILINE)
    found = []
    for start, end, record_start, record_end in line.findall(edl):
        assert (start, end) == (record_start, record_end)
        found.append((_frame(start, base), _frame(end, base)))
    return found


def _frame(code: str, base: int) -> int:
    hours, minutes, seconds, frames = (int(part) for part in code.split(":"))
    assert frames < base
    return ((hours * 60 + minutes) * 60 + seconds) * base + frames
