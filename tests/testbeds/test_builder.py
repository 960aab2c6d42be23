"""The builder: what it writes, what it keeps, and what a bad source does to the others."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import Item, PairKind, Reason, UserError
from screentest.run.engine import InlineEngine, LocalEngine
from screentest.sample import sample_videos
from screentest.testbeds.builder import BuildResult, build_testbed
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.intact import folder_name
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.sources import Extractor
from screentest.testbeds.testbed import read_testbed
from tests.testbeds.stage import ALL, QUICK

PLAIN = ("aesthetics", "dynamics_degree", "comprehensiveness", "spatial_relationship")
OPTIONS = BuildOptions(
    degradations=(*PLAIN, "temporal_flow"),
    clips=(2,),
    long_side=96,
    rate=Fraction(4),
    encoder=QUICK,
)
EXTRACTOR = Extractor("stand_in", lambda caption: ALL if caption else CaptionFacts())


def film(number: int, name: str = "") -> Item:
    item = sample_videos()[number].item
    return replace(item, id=name or item.id)


def made(items: list[Item], folder: Path, options: BuildOptions = OPTIONS) -> BuildResult:
    return build_testbed(items, folder, options, extractor=EXTRACTOR, engine=InlineEngine())


def files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in (folder / "videos").rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_testbed_holds_what_its_manifest_says(testbed_folder: Path) -> None:
    item = film(2)
    testbed = made([item], testbed_folder).testbed
    assert read_testbed(testbed_folder) == testbed
    assert [pair.name for pair in testbed.pairs] == list(OPTIONS.degradations)
    (source,) = testbed.sources
    assert (testbed_folder / source.prompt).read_text(encoding="utf-8").strip() == item.text
    assert source.sha256 == hashlib.sha256(item.video.read_bytes()).hexdigest()
    listed = [*source.intact, *(pair.changed for pair in testbed.pairs)]
    for file in listed:
        content = (testbed_folder / file.path).read_bytes()
        assert (file.sha256, file.bytes) == (hashlib.sha256(content).hexdigest(), len(content))
    videos = {file.path for file in listed}
    assert {name for name in files(testbed_folder) if name.endswith(".mp4")} == videos
    assert {pair.intact for pair in testbed.pairs} == {"videos/real_5shots/intact.mp4"}


def test_touched_clips_are_where_the_manifest_says(testbed_folder: Path) -> None:
    pairs = {pair.name: pair for pair in made([film(2)], testbed_folder).testbed.pairs}
    gone = pairs["comprehensiveness"]
    assert [one.degraded for one in gone.touched] == [None, None]
    missing = sum(one.intact.duration for one in gone.touched)
    (intact,) = read_testbed(testbed_folder).sources[0].intact
    assert gone.changed.duration == intact.duration - missing
    for one in pairs["aesthetics"].touched:
        assert one.degraded == one.intact
    moved = pairs["temporal_flow"].touched
    assert all(one.degraded and one.degraded != one.intact for one in moved)
    assert all(
        one.degraded.duration == one.intact.duration for one in moved if one.degraded is not None
    )


def test_the_same_call_again_makes_nothing(testbed_folder: Path) -> None:
    first = made([film(2)], testbed_folder)
    before = {name: (testbed_folder / name).stat().st_mtime_ns for name in files(testbed_folder)}
    second = made([film(2)], testbed_folder)
    assert (first.made, first.reused) == (6, 0)
    assert (second.made, second.reused) == (0, 6)
    assert second.testbed == first.testbed
    assert before == {name: (testbed_folder / name).stat().st_mtime_ns for name in before}


def test_a_file_that_is_gone_or_changed_is_made_again(testbed_folder: Path) -> None:
    first = made([film(2)], testbed_folder)
    content = files(testbed_folder)
    folder = testbed_folder / "videos" / "real_5shots"
    (folder / "aesthetics.mp4").unlink()
    (folder / "intact.json").unlink()
    with (folder / "temporal_flow.mp4").open("ab") as file:
        file.write(b"more")
    again = made([film(2)], testbed_folder)
    assert again.made == 3
    assert files(testbed_folder) == content
    assert again.testbed == first.testbed


def test_workers_and_order_change_nothing(tmp_path: Path) -> None:
    items = [film(2, "one"), film(0, "two")]
    options = replace(OPTIONS, degradations=("aesthetics", "temporal_flow"))
    made(items, tmp_path / "a", options)
    build_testbed(
        items[::-1], tmp_path / "b", options, extractor=EXTRACTOR, engine=LocalEngine(workers=2)
    )
    assert files(tmp_path / "a") == files(tmp_path / "b")
    first, second = read_testbed(tmp_path / "a"), read_testbed(tmp_path / "b")
    assert sorted(map(str, first.pairs)) == sorted(map(str, second.pairs))


def test_another_seed_draws_other_clips(tmp_path: Path) -> None:
    chosen = set()
    for seed in range(3):
        options = replace(OPTIONS, degradations=("aesthetics",), seed=seed)
        (pair,) = made([film(2)], tmp_path / str(seed), options).testbed.pairs
        chosen.add(tuple(one.clip for one in pair.touched))
    assert len(chosen) > 1


def test_a_ladder_makes_a_file_for_every_rung(testbed_folder: Path) -> None:
    options = replace(OPTIONS, degradations=("aesthetics",), severities=(1.0, 0.25), clips=(1, 2))
    pairs = made([film(2)], testbed_folder, options).testbed.pairs
    assert [(pair.clips, pair.severity) for pair in pairs] == [
        *((1, 0.25), (1, 1.0)),
        *((2, 0.25), (2, 1.0)),
    ]
    assert len({pair.changed.sha256 for pair in pairs}) == 4
    one, two = (
        {touch.clip for touch in pairs[0].touched},
        {touch.clip for touch in pairs[3].touched},
    )
    assert one < two


def test_technical_quality_has_an_intact_video_of_its_own_size(testbed_folder: Path) -> None:
    options = replace(
        OPTIONS,
        degradations=("aesthetics", "technical_quality:base=64,low=32"),
    )
    testbed = made([film(2)], testbed_folder, options).testbed
    sizes = {file.path: file.width for file in testbed.sources[0].intact}
    assert {pair.name: sizes[pair.intact] for pair in testbed.pairs} == {
        "aesthetics": 96,
        "technical_quality": 64,
    }
    assert {pair.name: pair.changed.width for pair in testbed.pairs} == {
        "aesthetics": 96,
        "technical_quality": 64,
    }


def test_placebos_stand_beside_the_degradations(testbed_folder: Path) -> None:
    options = replace(OPTIONS, degradations=(), placebos=("trim", "container"))
    pairs = made([film(2)], testbed_folder, options).testbed.pairs
    assert [(pair.kind, pair.name, pair.aspect) for pair in pairs] == [
        (PairKind.PLACEBO, "trim", None),
        (PairKind.PLACEBO, "container", None),
    ]
    assert pairs[0].changed.path == "videos/real_5shots/placebo_trim.mp4"
    assert pairs[1].changed.path == "videos/real_5shots/placebo_container.mkv"


def test_a_source_that_kills_its_worker_harms_only_itself(testbed_folder: Path) -> None:
    items = [film(2, "good"), film(2, "deadly")]
    done = build_testbed(
        items,
        testbed_folder,
        replace(OPTIONS, degradations=("aesthetics",)),
        extractor=EXTRACTOR,
        engine=Deadly(workers=1),
    )
    assert {pair.source for pair in done.testbed.pairs} == {"good"}
    (skip,) = done.testbed.skips
    assert (skip.source, skip.failure.reason) == ("deadly", Reason.DECODER_CRASHED)
    assert not list((testbed_folder / "videos" / "deadly").glob("aesthetics*"))


class Deadly(LocalEngine):
    """Sends the pairs of one source to a function that dies half-way."""

    def run(self, tasks, ledger, stop):  # type: ignore[no-untyped-def]
        changed = [
            replace(task, function=die)
            if task.keys[0].item == "deadly" and task.keys[0].evaluator != "intact"
            else task
            for task in tasks
        ]
        return LocalEngine.run(self, changed, ledger, stop)


def die(job: object) -> object:
    """Half a file is written, then the process is gone."""
    from screentest._util.atomic import atomic_output

    payload = job.payload  # type: ignore[attr-defined]
    with atomic_output((payload.testbed / payload.intact).with_name("aesthetics.mp4")) as file:
        file.write(b"half")
        os._exit(9)


def test_folders_stay_inside_the_testbed() -> None:
    for name in ("../x", "/etc/passwd", "a/b", "..", ".", "x\0y", "é" * 300, "nul\n", "-x", "a."):
        folder = folder_name(name)
        assert "/" not in folder
        assert folder.isascii()
        assert folder[0] not in ".-"
        assert len(folder) <= 80
    assert folder_name("a/b") != folder_name("a b")


def test_a_testbed_of_another_schema_is_refused(tmp_path: Path) -> None:
    for text, words in (('{"schema": 99}', "schema 99"), ("[]", "not a testbed")):
        (tmp_path / "testbed.json").write_text(text)
        with pytest.raises(UserError, match=words):
            read_testbed(tmp_path)
    with pytest.raises(UserError, match="cannot be read"):
        read_testbed(tmp_path / "absent")
