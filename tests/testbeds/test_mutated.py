"""testbed.json with one thing wrong: a clear error or a finding, whoever reads it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from screentest.analysis.judges.cases import read_cases
from screentest.annotate.material import read_units
from screentest.core import ScreentestError, UserError
from screentest.judges.votes import VoteTask
from screentest.testbeds.page import write_page
from screentest.testbeds.statistics import statistics_of
from screentest.testbeds.subset import sample_testbed
from screentest.testbeds.testbed import FILE, load_testbed, read_testbed
from screentest.testbeds.verify import check_manifest, stray_files
from tests.mutations import DEEP, mutated
from tests.testbeds.testbeds import built_in, copy_of, rewrite


@pytest.fixture
def bed(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    return copy_of(built_in(tmp_path_factory.getbasetemp()), tmp_path / "bed")


def pair(data: Any) -> Any:
    return next(one for one in data["pairs"] if one["name"] == "aesthetics")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda data: pair(data).update(severity=float("nan")), "severity: invalid severity nan"),
        (lambda data: pair(data).update(severity=2), "invalid severity 2.0: must be in [0, 1]"),
        (lambda data: pair(data).update(severity=-0.1), "invalid severity -0.1"),
        (lambda data: pair(data).update(source="nobody"), "source: there is no source 'nobody'"),
        (lambda data: pair(data).update(intact="x.mp4"), "'x.mp4' is not an intact video of its"),
        (lambda data: pair(data).update(aspect="charm"), "'charm' is not an aspect"),
        (lambda data: pair(data).pop("aspect"), "aspect: a degradation needs one"),
        (lambda data: pair(data).update(clips=-1), "clips: invalid number -1"),
        (lambda data: pair(data).update(kind="harm"), "kind: Input should be"),
        (lambda data: pair(data).pop("changed"), "changed: Field required"),
        (lambda data: data["pairs"].append(pair(data)), "2 pairs are real_5shots degradation"),
        (lambda data: data["sources"].append(data["sources"][0]), "2 sources have the id"),
        (lambda data: pair(data)["changed"].update(duration="-1"), "invalid duration -1"),
        (lambda data: pair(data)["changed"].update(duration="1e300"), "duration"),
        (lambda data: pair(data)["changed"].update(frames=10**30), "frames"),
        (lambda data: pair(data)["changed"].update(bytes="many"), "bytes: Input should be a valid"),
        (lambda data: pair(data)["touched"][0]["intact"].update(start="-3"), "invalid times -3"),
        (lambda data: pair(data)["touched"][0]["intact"].update(end="-3"), "invalid span"),
        (lambda data: data["sources"][0].update(clips=7), "clips"),
    ],
)
def test_what_cannot_be_is_named_with_its_place(
    bed: Path, change: Callable[[Any], None], place: str
) -> None:
    rewrite(bed, change)
    with pytest.raises(UserError) as error:
        read_testbed(bed)
    assert place in error.value.message
    assert str(bed / FILE) in error.value.message


def test_a_thousand_faults_are_a_short_message(bed: Path) -> None:
    rewrite(bed, lambda data: data.update(pairs=[{**pair(data), "severity": "x"}] * 1000))
    with pytest.raises(UserError, match="more"):
        read_testbed(bed)
    rewrite(bed, lambda data: data.update(pairs=[{**pair(data), "severity": 3.0}] * 1000))
    with pytest.raises(UserError) as error:
        read_testbed(bed)
    assert len(error.value.message) < 1000


def test_deep_nesting_is_no_testbed(bed: Path) -> None:
    for text in (DEEP, '{"schema": 1, "recipe": ' + DEEP + "}"):
        (bed / FILE).write_text(text)
        with pytest.raises(UserError, match="not a"):
            read_testbed(bed)


def sweep(bed: Path, most: int) -> int:
    document = json.loads((bed / FILE).read_text())
    sample = bed.parent / "sample"
    readers: list[Callable[[], object]] = [
        lambda: read_cases([bed]),
        *(lambda task=task: read_units(bed, task) for task in (VoteTask.CHECK, VoteTask.RATE)),
        lambda: statistics_of(read_testbed(bed)),
        lambda: write_page(bed, read_testbed(bed)),
        lambda: sample_testbed(bed, sample, 2),
        lambda: [*check_manifest(load_testbed(bed)), *stray_files(bed, load_testbed(bed))],
    ]
    count = 0
    for what, text in mutated(document, most):
        (bed / FILE).write_text(text)
        for number, reader in enumerate(readers):
            shutil.rmtree(sample, ignore_errors=True)
            try:
                reader()
            except ScreentestError as error:
                if len(error.message) > 2000:
                    raise AssertionError(what) from error
            except Exception as error:
                raise AssertionError(f"{what}, reader {number}") from error
            count += 1
    return count


def test_no_reader_falls_over_a_mutated_testbed(bed: Path) -> None:
    assert sweep(bed, 50) == 63 * 7


@pytest.mark.slow
def test_no_reader_falls_over_many_mutated_testbeds(bed: Path) -> None:
    assert sweep(bed, 1500) == 1513 * 7


def test_what_is_no_plain_file_is_not_read(bed: Path) -> None:
    """Nobody writes into the pipe, and nobody has a terabyte of memory."""
    place = bed / FILE
    os.truncate(place, 15 << 40)
    with pytest.raises(UserError, match="not a plain file"):
        read_testbed(bed)
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(UserError, match="not a plain file"):
        read_testbed(bed)
