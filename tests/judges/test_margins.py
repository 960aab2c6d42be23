"""Margins: what placebos of other films do to a rating is no difference."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.certificate import Certificate, read_certificates
from screentest.analysis.judges.plan import Plan, certify
from screentest.core import Aspect, registry
from screentest.core.item import Item
from screentest.judges.cases import Order, read_judgements
from screentest.judges.spread import PlaceboSpread, PlaceboSpreads
from screentest.metrics.functions import metric
from screentest.run.engine import InlineEngine
from screentest.run.reader import RunReader
from screentest.run.session import Session
from screentest.run.store import RunStore
from screentest.stats import Claim
from tests.judges.written import number_in, written


@pytest.fixture(scope="module", autouse=True)
def readings() -> Iterator[None]:
    """Metrics that need no picture: the number that is written into the file, and pure luck."""

    @metric(name="written_number", summary="the number in the file")
    def written_number(item: Item) -> float:
        return 0.5 + number_in(item.video)

    @metric(name="luck_of_bytes", summary="a number drawn for each file")
    def luck_of_bytes(item: Item, *, seed: int = 0) -> float:
        digest = hashlib.sha256(f"{seed} {item.video}".encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    yield
    for name in ("written_number", "luck_of_bytes"):
        registry._entries.pop(("metric", name))


def certified(bed: Path, out: Path, *judges: str, placebos: bool = True) -> list[Certificate]:
    plan = Plan(tuple(read_cases([bed], placebos=placebos)), judges)
    with RunStore(out, command="certify") as store:
        return list(certify(Session(store, engine=InlineEngine()), plan).certificates)


def test_nine_films_of_ten_have_their_placebos_within_the_margin_of_the_others() -> None:
    # Whatever the distribution: here one with a heavy tail. Found over films left out in turn.
    rng = np.random.default_rng(0)
    for others, nominal in ((3, 3 / 4), (9, 0.9), (19, 0.9), (30, 0.9)):
        held = total = 0
        for _ in range(300):
            drawn = rng.standard_cauchy(others + 1)
            moved = [(Aspect.COLOR, str(film), moved) for film, moved in enumerate(drawn)]
            margins = PlaceboSpreads.learnt(moved)
            for _, film, difference in moved:
                held += abs(difference) <= margins.of(Aspect.COLOR, film).value
                total += 1
        # As often as promised, and with many films not much more often than that.
        assert nominal - 0.02 <= held / total <= nominal + 1.5 / (others + 1)


def test_a_film_does_not_set_its_own_margin(tmp_path: Path) -> None:
    films = {
        "a": {"reencode": 0.0625, "trim": -0.125, "blur": 0.1875},
        "b": {"reencode": 0.25, "trim": 0.0, "blur": -0.1875},
        "c": {"reencode": -0.03125, "trim": 0.0, "blur": -0.375},
    }
    bed = written(tmp_path / "bed", films, ("blur",))
    (certificate,) = certified(bed, tmp_path / "run", "written_number")
    with RunReader(tmp_path / "run") as run:
        told = {
            (one.case.source, one.case.name): one.points
            for one in read_judgements(run, read_cases([bed]), "written_number")
            if one.order is Order.AS_GIVEN
        }
        assert read_certificates(run) == [certificate]
    # Largest placebo differences: a 1/8, b 1/4, c 1/32. Margins: a 1/4 (of b), b 1/8, c 1/4.
    assert {film: told[film, "blur"] for film in films} == {"a": 0.5, "b": 1.0, "c": 1.0}
    # b's own placebo is beyond what the others' do: it stays an alarm.
    assert told["b", "reencode"] == 0.0
    assert {told["a", "trim"], told["c", "reencode"], told["b", "trim"]} == {0.5}
    (aspect,) = certificate.aspects
    assert aspect.margin is not None
    # For a film that is not among them, all three speak.
    assert (aspect.margin.value, aspect.margin.films) == (0.25, 3)
    assert "|margin:0.25|" in certificate.signature


def test_without_placebos_there_is_no_margin(tmp_path: Path) -> None:
    films = {str(n): {"reencode": 0.25, "blur": -0.1} for n in range(3)}
    bed = written(tmp_path / "bed", films, ("blur",))
    (bare,) = certified(bed, tmp_path / "run", "written_number", placebos=False)
    assert bare.overall.unwrap().value == 1.0
    assert "|margin:0|" in bare.signature
    assert bare.aspects[0].margin == PlaceboSpread()
    # The same run with placebos: verdicts are worked out anew, not kept.
    (full,) = certified(bed, tmp_path / "run", "written_number")
    assert full.overall.unwrap().value == 0.5
    assert full.signature != bare.signature
    (again,) = certified(bed, tmp_path / "run", "written_number", placebos=False)
    assert again == bare


def test_coins_earn_no_claim_on_a_testbed(tmp_path: Path) -> None:
    names = ("reencode", "trim", "blur", "noise")
    films = {str(n): dict.fromkeys(names, 0.0) for n in range(8)}
    bed = written(tmp_path / "bed", films, names[2:])
    judges = tuple(f"luck_of_bytes:seed={seed}" for seed in range(2))
    for certificate in certified(bed, tmp_path / "run", *judges):
        said = {one.finding.claim for one in certificate.aspects}
        said |= {one.finding.claim for one in certificate.operators}
        assert said <= {Claim.UNDECIDED, Claim.CHANCE}
        assert certificate.duration.value is None
