"""What becomes of votes: rules on workers, the filter, agreement, export and import."""

from __future__ import annotations

import csv
import io
import json
import secrets
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from screentest.annotate.people import exclude
from screentest.annotate.quality import agreement, review, rules_for
from screentest.annotate.records import (
    filter_records,
    import_records,
    read_records,
    without_excluded,
    write_filtered,
)
from screentest.annotate.schema import log, units
from screentest.core import UserError
from screentest.judges.votes import (
    VoteRecord,
    VoteTask,
    as_csv,
    as_json,
    pair_votes,
    read_votes,
)
from screentest.stats import Retention, Sign
from screentest.testbeds.testbed import read_testbed
from screentest.testbeds.verify import verify_testbed
from tests.annotate.stand import Stand, open_stand

UNITS = [
    f"{source}/{name}/s1/n2"
    for source in ("birds", "birds-again")
    for name in ("aesthetics", "comprehensiveness", "temporal_flow")
]


def said(
    worker: str, unit: str, rating: str = "A", choice: str = "intact", **more: object
) -> VoteRecord:
    source, name, *_ = unit.split("/")
    record = VoteRecord(
        task=VoteTask.CHECK,
        unit=unit,
        source=source,
        video=f"videos/{source}/{name}.mp4",
        name=name,
        aspect=name,
        severity=1.0,
        clips=2,
        worker=worker,
        left="intact",
        duration=31.0,
        seconds=60.0,
        at=1_700_000_000.0,
        gold=False,
        excluded=False,
        finished=True,
        vote=secrets.token_hex(16),
        choice=choice,
        rating=rating,
        watched={"left": 1.0, "right": 0.5},
    )
    return replace(record, **more)  # type: ignore[arg-type]


@pytest.fixture
def many(stand: Stand) -> Stand:
    """Six people on all six pairs; w5 is quick, contradicts the others and is always wrong."""
    records = []
    for number in range(6):
        for unit in UNITS:
            if number < 5:
                records.append(said(f"w{number}", unit, "B" if number == 4 else "A"))
            else:
                records.append(said("w5", unit, "C", "changed", seconds=3.0))
    import_records(stand.database, records)
    return stand


def test_signs_flag_and_a_person_decides(many: Stand) -> None:
    with many.database.read() as connection:
        found = review(
            connection, read_records(connection, VoteTask.CHECK), rules_for(VoteTask.CHECK)
        )
    worst = found[0]
    assert (worst.label, worst.flagged, worst.excluded) == ("w5", True, False)
    assert worst.report is not None
    assert {one.sign for one in worst.report.signs} == set(Sign) - {Sign.UNSEEN}
    assert [one.flagged for one in found[1:]] == [False] * 5
    assert worst.pace == pytest.approx(3 / 31)


def test_exclusions_are_logged_and_reversible(many: Stand) -> None:
    exclude(many.database, "w5", "always C")
    exclude(many.database, "w5", "again")  # is excluded already: nothing happens
    with many.database.read() as connection:
        records = read_records(connection, VoteTask.CHECK)
        states = review(connection, records, rules_for(VoteTask.CHECK))
    assert states[0].reason == "always C"
    assert len(records) == 36
    assert len(without_excluded(records)) == 30
    exclude(many.database, "w5", "talked to them", excluded=False)
    with many.database.read() as connection:
        happened = connection.execute(select(log).where(log.c.what != "import")).all()
    assert [(row.what, row.details["reason"]) for row in happened] == [
        ("exclude", "always C"),
        ("restore", "talked to them"),
    ]
    with pytest.raises(UserError, match="no worker"):
        exclude(many.database, "nobody", "")


def test_the_filter_by_hand() -> None:
    answers = {
        UNITS[0]: "AAAAA",  # stays
        UNITS[1]: "AAABB",  # stays
        UNITS[2]: "AAAAC",  # somebody saw nothing
        UNITS[3]: "AABBB",  # too weak
        UNITS[4]: "AAAA",  # not enough ratings
        UNITS[5]: "",
    }
    records = [
        said(f"w{n}", unit, rating)
        for unit, told in answers.items()
        for n, rating in enumerate(told)
    ]
    found = filter_records(records, units={unit: unit.split("/")[1] for unit in UNITS}, least=5)
    assert found.kept == {UNITS[0], UNITS[1]}
    assert found.unrated == 2
    assert found.total == Retention(initial=4, failed=1, weak=1)


# Seed paper's Table 3: initial, C != 0, A <= B, final, retention in percent.
TABLE_3 = {
    "aesthetics": (446, 92, 72, 282, 63.2),
    "technical_quality": (446, 243, 72, 131, 29.4),
    "appearance_style": (446, 112, 22, 312, 70.0),
    "background_consistency": (446, 75, 17, 354, 79.4),
    "temporal_flow": (444, 115, 44, 285, 64.2),
    "comprehensiveness": (430, 83, 112, 235, 54.7),
    "object_integrity": (375, 96, 179, 100, 26.7),
    "spatial_relationship": (435, 120, 79, 236, 54.3),
    "dynamics_degree": (444, 89, 22, 333, 75.0),
    "color": (327, 56, 67, 204, 62.4),
}


def test_the_papers_table_comes_out_of_votes() -> None:
    """Votes made to have the paper's counts give the paper's table.

    The paper prints 63.3 for Aesthetics; 282/446 is 63.2.
    """
    records, known = [], {}
    for aspect, (initial, failed, weak, _, _) in TABLE_3.items():
        for number in range(initial):
            unit = f"film{number}/{aspect}/s1/n5"
            known[unit] = aspect
            told = "AAAAC" if number < failed else "AABBB" if number < failed + weak else "AAABB"
            records += [said(f"w{n}", unit, rating) for n, rating in enumerate(told)]
    found = filter_records(records, units=known, least=5)
    for aspect, (initial, failed, weak, final, rate) in TABLE_3.items():
        row = found.by_aspect[aspect].retention
        assert (row.initial, row.failed, row.weak, row.final) == (initial, failed, weak, final)
        assert row.rate is not None
        assert round(100 * row.rate, 1) == rate
    assert (found.total.initial, found.total.failed, found.total.weak) == (4239, 1081, 686)
    assert found.total.final == 2472


def test_a_filtered_testbed_is_a_testbed(testbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "confirmed"
    written = write_filtered(testbed, out, frozenset({UNITS[0]}))
    assert read_testbed(out) == written
    (pair,) = written.pairs
    (source,) = written.sources
    assert (pair.source, pair.name) == ("birds", "aesthetics")
    for name in (pair.intact, pair.changed.path, source.prompt):
        assert (out / name).read_bytes() == (testbed / name).read_bytes()
    assert not verify_testbed(out).findings
    with pytest.raises(UserError, match="not empty"):
        write_filtered(testbed, out, frozenset())


def test_agreement_and_accuracy(many: Stand) -> None:
    with many.database.read() as connection:
        rows = {row.aspect: row for row in agreement(read_records(connection, VoteTask.CHECK))}
    assert set(rows) == {"aesthetics", "comprehensiveness", "temporal_flow", "all"}
    everything = rows["all"]
    assert (everything.units, everything.votes) == (6, 36)
    assert everything.accuracy == pytest.approx(30 / 36)
    assert everything.interval is not None
    assert everything.interval.low < 30 / 36 < everything.interval.high
    # Every unit was rated alike, so all agreement is chance or worse: by hand, Fleiss' kappa with
    # 4 A, 1 B, 1 C of 6: P = (12 + 0 + 0) / 30 = 0.4, Pe = (4/6)^2 + 2 (1/6)^2 = 0.5.
    assert everything.kappa == pytest.approx((0.4 - 0.5) / 0.5)


def test_csv_and_json_come_back_as_they_were(many: Stand, tmp_path: Path) -> None:
    nasty = '=HYPERLINK("http://x","y")\n\r\t,"\u2028é\U0001f600'
    with many.database.read() as connection:
        records = read_records(connection, VoteTask.CHECK)
    records[0] = replace(records[0], comment=nasty, worker="@SUM(A1)", text="-1+1")
    for name, write in (("v.csv", as_csv), ("v.json", as_json)):
        path = tmp_path / name
        path.write_bytes(write(records).encode())
        assert read_votes(path, whole=True) == records


def test_no_cell_is_a_formula(many: Stand) -> None:
    nasty = [
        said(cell, UNITS[0], comment=cell) for cell in ("=1+1", "+1", "-1", "@x", "\tx", "\r=x")
    ]
    rows = list(csv.DictReader(io.StringIO(as_csv(nasty), newline="")))
    for row in rows:
        assert not row["comment"].startswith(("=", "+", "-", "@", "\t", "\r"))
        assert not row["worker"].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_the_export_is_what_certify_human_reads(many: Stand, tmp_path: Path) -> None:
    with many.database.read() as connection:
        records = read_records(connection, VoteTask.CHECK)
    for name, write in (("v.csv", as_csv), ("v.json", as_json)):
        path = tmp_path / name
        path.write_bytes(write(records).encode())
        read = pair_votes(path)
        assert read == [record for record in records if record.counts]
        assert len(read) == 36
        assert sum(vote.choice == "intact" for vote in read) == 30
        assert read[0].video == "videos/birds-again/aesthetics.mp4"
        assert read[0].aspect == "aesthetics"


def test_importing_twice_is_importing_once(testbed: Path, many: Stand, tmp_path: Path) -> None:
    with many.database.read() as connection:
        records = read_records(connection, VoteTask.CHECK)
    with open_stand(testbed, str(tmp_path / "other.sqlite"), "check") as other:
        first = import_records(other.database, records)
        second = import_records(other.database, records)
        assert (first.added, first.known) == (36, 0)
        assert (second.added, second.known) == (0, 36)
        with other.database.read() as connection:
            again = read_records(connection, VoteTask.CHECK)
            counts = set(connection.execute(select(units.c.votes)).scalars())
    assert again == records
    assert counts == {6}


def test_a_wrong_row_imports_nothing(stand: Stand) -> None:
    good = said("w1", UNITS[0])
    for bad in (
        replace(good, unit="no/such/unit"),
        replace(good, worker="w2", rating="D"),
        replace(good, worker="w2", choice="left"),
        replace(good, worker="w2", left=""),
        replace(good, worker="w2"),  # the same vote id for somebody else
    ):
        with pytest.raises(UserError):
            import_records(stand.database, [good, bad])
        with stand.database.read() as connection:
            assert read_records(connection) == []


def test_files_that_are_no_exports(tmp_path: Path) -> None:
    for name, text in (
        ("a.json", "{"),
        ("b.json", "[]"),
        ("c.json", json.dumps({"schema": 9, "votes": []})),
        ("d.json", json.dumps({"schema": 1, "votes": [{"task": "check"}]})),
        ("e.csv", "a,b\n1,2\n"),
    ):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(UserError):
            read_votes(path, whole=True)


def test_the_operator_sees_it_all(many: Stand) -> None:
    from tests.annotate.stand import OPERATOR, Person

    operator = Person(many.client())
    operator.join(OPERATOR)
    page = operator.client.get("/operator").text
    assert "36 <small>of 30" not in page  # six voted, five were asked for: counted as five
    assert "30 <small>of 30" in page
    assert "too fast 6/6" in page
    assert '<strong class="flag">look</strong>' in page
    worker = operator.client.get("/operator/worker/w5").text
    assert "changed C" in worker
    assert ", ".join([*["intact A"] * 4, "intact B"]) in worker
    import re

    found = re.search(r'name="csrf" content="(\w+)"', page)
    assert found is not None
    fields = {"csrf": found.group(1), "label": "w5", "act": "exclude", "reason": "always <b>C</b>"}
    assert operator.client.post("/operator/worker", data=fields).status_code == 303
    assert "always &lt;b&gt;C&lt;/b&gt;" in operator.client.get("/operator/worker/w5").text
    assert operator.client.post("/operator/worker", data=fields | {"label": "x"}).status_code == 404
    assert operator.client.post("/operator/worker", data=fields | {"csrf": "x"}).status_code == 403
