"""One film is one witness, whatever it is called and in however many testbeds it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.certificate import Certificate, Remark, RemarkKind
from screentest.analysis.judges.plan import Plan, certify
from screentest.core import Item, Outcome, Reason, Score
from screentest.core.registry import registry
from screentest.metrics.functions import metric
from screentest.run.engine import InlineEngine
from screentest.run.session import Session
from screentest.run.store import RunStore
from screentest.stats import Claim
from screentest.stats.claims import Unsettled, WhyUnsettled
from screentest.testbeds.testbed import read_testbed, write_testbed
from tests.judges.written import number_in, written

FILMS = {str(n): {"reencode": 0.0, "blur": -(10.0**15)} for n in range(8)}


@pytest.fixture(autouse=True)
def metrics() -> Iterator[None]:
    @metric(name="file_size", summary="bytes", low=-1e12, high=0)
    def file_size(item: Item) -> float:
        return -float(item.video.stat().st_size)

    @metric(name="no_placebo", summary="fails where nothing is wrong", low=-1e16, high=1)
    def no_placebo(item: Item) -> Outcome[Score]:
        if item.video.name == "reencode.mp4":
            return Outcome.failed(Reason.NOT_APPLICABLE, "it looks at harm alone")
        return Outcome.of(Score(number_in(item.video)))

    yield
    for name in ("file_size", "no_placebo"):
        registry._entries.pop(("metric", name))


def certified(out: Path, judge: str, *beds: Path) -> Certificate:
    plan = Plan(tuple(read_cases(beds)), (judge,))
    with RunStore(out, command="certify") as store:
        return certify(Session(store, engine=InlineEngine()), plan).certificates[0]


def test_eight_films_are_enough_for_the_size_of_a_file(tmp_path: Path) -> None:
    found = certified(tmp_path / "run", "file_size", written(tmp_path / "a", FILMS, ("blur",)))
    assert found.aspects[0].finding.claim is Claim.SEES
    assert found.remarks == ()


def test_one_film_under_eight_names_is_one(tmp_path: Path) -> None:
    bed = written(tmp_path / "a", FILMS, ("blur",), contents=dict.fromkeys(FILMS, "same"))
    found = certified(tmp_path / "run", "file_size", bed)
    assert found.aspects[0].finding.claim is Claim.UNDECIDED
    assert (found.aspects[0].finding.films, found.aspects[0].sources) == (1, 1)
    assert found.remarks == (Remark(RemarkKind.SAME_FILM, 8, 1),)


def test_copies_of_a_testbed_add_nothing(tmp_path: Path) -> None:
    few = {name: FILMS[name] for name in "0123"}
    beds = [written(tmp_path / name, few, ("blur",)) for name in "ab"]
    found = certified(tmp_path / "run", "file_size", *beds)
    assert (found.aspects[0].finding.films, found.aspects[0].pairs) == (4, 8)
    assert found.aspects[0].finding.claim is Claim.UNDECIDED
    assert found.remarks == (Remark(RemarkKind.SAME_FILM, 8, 4),)
    assert found.aspects[0].margin is not None
    assert found.aspects[0].margin.films == 4


def test_excerpts_of_one_work_are_one_film_where_the_manifest_says_so(tmp_path: Path) -> None:
    bed = written(tmp_path / "a", {name: FILMS[name] for name in "0123"}, ("blur",))
    assert len({case.cluster for case in read_cases([bed])}) == 4
    testbed = read_testbed(bed)
    works = [
        replace(source, groups={"work": "a trailer"} if source.id in "12" else {})
        for source in testbed.sources
    ]
    write_testbed(bed, replace(testbed, sources=tuple(works)))
    clusters = {case.source: case.cluster for case in read_cases([bed])}
    assert clusters == {"0": "a/0", "1": "a/1", "2": "a/1", "3": "a/3"}


def test_a_judge_that_fails_on_every_placebo_earns_no_claim(tmp_path: Path) -> None:
    found = certified(tmp_path / "run", "no_placebo", written(tmp_path / "a", FILMS, ("blur",)))
    assert found.overall.unwrap().value == 1.0
    assert found.aspects[0].finding.unsettled == Unsettled(WhyUnsettled.PLACEBO_UNANSWERED)
    assert (found.claims.tested, len(found.claims.unsettled)) == (1, 1)
    assert not found.claims.decided
