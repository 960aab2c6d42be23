"""Bad sources and bad files beside them: clear words, the rest goes on, nothing half-written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import Clip, Item, LedgerClient, Reason, Script, Span
from screentest.run.engine import InlineEngine, LocalEngine
from screentest.run.tasks import Finished, Stop, Task
from screentest.sample import backgrounds, sample_videos
from screentest.testbeds.builder import BuildResult, build_testbed
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.sources import Extractor
from tests.testbeds.stage import ALL, QUICK

OPTIONS = BuildOptions(
    degradations=("aesthetics", "temporal_flow"),
    clips=(2,),
    long_side=96,
    rate=Fraction(4),
    encoder=QUICK,
)
EXTRACTOR = Extractor("stand_in", lambda caption: ALL if caption else CaptionFacts())


def film(number: int = 2, name: str = "") -> Item:
    item = sample_videos()[number].item
    return replace(item, id=name or item.id)


def script_of(item: Item) -> Script:
    assert item.script is not None
    return item.script


def made(items: list[Item], folder: Path, options: BuildOptions = OPTIONS) -> BuildResult:
    return build_testbed(items, folder, options, extractor=EXTRACTOR, engine=InlineEngine())


def files(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in found}


def test_bad_sources_harm_only_themselves(tmp_path: Path, testbed_folder: Path) -> None:
    good = film()
    clips = script_of(good).clips
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(good.video.read_bytes()[:5000])
    late = Script((*clips, Clip("Beyond the end.", Span(Fraction(100), Fraction(110)))))
    items = [
        replace(good, id="broken", video=broken),
        replace(good, id="broken too", video=broken, script=None),
        replace(good, id="absent", video=tmp_path / "absent.mp4"),
        replace(good, id="one clip", script=Script(clips[:1])),
        replace(good, id="late", script=late),
        good,
    ]
    testbed = made(items, testbed_folder).testbed
    assert {pair.source for pair in testbed.pairs} == {"late", "real_5shots"}
    assert len(testbed.pairs) == 4
    why = {skip.source: skip.failure for skip in testbed.skips}
    assert {source: failure.reason for source, failure in why.items()} == {
        "broken": Reason.UNDECODABLE,
        "broken too": Reason.UNDECODABLE,
        "absent": Reason.MISSING_FILE,
        "one clip": Reason.NOT_APPLICABLE,
    }
    assert "2 clips are needed" in why["one clip"].detail
    assert {source.id: source.lost for source in testbed.sources}["late"] == (5,)
    left = {name for name in files(testbed_folder / "videos") if "broken" in name or "part" in name}
    assert not left


def test_without_captions_only_what_needs_none_is_made(testbed_folder: Path) -> None:
    good = film()
    empty = Script(tuple(Clip(" ", clip.span) for clip in script_of(good).clips))
    items = [
        replace(good, id="none", script=None, prompt="Five places."),
        replace(good, id="no times", script=Script((Clip("A bird."),))),
        replace(good, id="empty", script=empty),
    ]
    done = made(items, testbed_folder)
    assert {(pair.source, pair.name) for pair in done.testbed.pairs} == {
        (name, "aesthetics") for name in ("none", "no times", "empty")
    }
    assert {skip.name for skip in done.testbed.skips} == {"temporal_flow"}
    (skip,) = {skip.failure for skip in done.testbed.skips}
    assert skip.reason is Reason.NOT_APPLICABLE
    assert "2 captioned clips" in skip.detail
    # The ranges are those of the shots: cuts after 3, 7, 10 and 12.5 s, exact by construction.
    found = {source.id: source for source in done.testbed.sources}
    starts = [clip.span.start for clip in found["none"].clips if clip.span]
    assert starts == [clip.span.start for clip in script_of(good).clips if clip.span]
    texts = [(testbed_folder / found[name].prompt).read_text().strip() for name in found]
    assert texts == ["Five places.", "A bird.", ""]
    assert "no_captions" in {remark.kind for remark in done.remarks}


def test_overlapping_ranges_never_become_a_script() -> None:
    with pytest.raises(ValueError, match="starts before clip 1"):
        Script(
            (
                Clip("One.", Span(Fraction(0), Fraction(5))),
                Clip("Two.", Span(Fraction(4), Fraction(9))),
            )
        )


def test_a_source_that_breaks_off_half_way_gives_what_it_has(
    tmp_path: Path, testbed_folder: Path
) -> None:
    """The index of an MP4 is at its end: a Matroska file can be read up to where it breaks."""
    import av

    whole, half = tmp_path / "whole.mkv", tmp_path / "half.mkv"
    with av.open(str(film().video)) as source, av.open(str(whole), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    content = whole.read_bytes()
    half.write_bytes(content[: len(content) * 6 // 10])
    testbed = made([replace(film(), id="half", video=half), film()], testbed_folder).testbed
    assert {pair.source for pair in testbed.pairs} == {"half", "real_5shots"}
    source = next(source for source in testbed.sources if source.id == "half")
    assert source.lost
    assert source.faults
    touched = [pair.touched for pair in testbed.pairs if pair.source == "half"]
    assert not {one.clip for clips in touched for one in clips} & set(source.lost)


def test_a_broken_background_is_named_and_left_out(tmp_path: Path, testbed_folder: Path) -> None:
    folder = tmp_path / "backgrounds"
    folder.mkdir()
    for path in backgrounds()[:2]:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "broken.jpg").write_bytes(backgrounds()[2].read_bytes()[:2000])
    spec = f'background_consistency:folder="{folder}"'
    options = replace(OPTIONS, degradations=(spec, "aesthetics"), clips=(1,))
    options = replace(options, models=(), rate=Fraction(1))
    done = made([film()], testbed_folder, options)
    assert any("broken.jpg" in str(remark) for remark in done.remarks)
    assert "aesthetics" in {pair.name for pair in done.testbed.pairs}


class Swapping(InlineEngine):
    """Puts another film in the place of one while it is being read."""

    def run(
        self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop
    ) -> Iterator[list[Finished]]:  # type: ignore[override]
        for ended in InlineEngine.run(self, tasks, ledger, stop):
            for one in ended:
                video = one.task.payload.item.video
                if video.name == "swapped.mp4" and one.task.keys[0].evaluator == "intact":
                    video.write_bytes(film(0).video.read_bytes())
            yield list(ended)


def test_a_source_swapped_meanwhile_is_not_recorded(tmp_path: Path, testbed_folder: Path) -> None:
    video = tmp_path / "swapped.mp4"
    video.write_bytes(film().video.read_bytes())
    items = [replace(film(), id="swapped", video=video), film()]
    done = build_testbed(items, testbed_folder, OPTIONS, extractor=EXTRACTOR, engine=Swapping())
    assert done.changed == 1
    assert done.testbed.pending == 2
    assert {source.id for source in done.testbed.sources} == {"real_5shots"}
    again = made(items, testbed_folder)  # the other film is a source like any
    assert (again.changed, again.testbed.pending) == (0, 0)
    assert {pair.source for pair in again.testbed.pairs} == {"swapped", "real_5shots"}


def test_a_task_that_never_ends_is_ended(testbed_folder: Path) -> None:
    done = build_testbed(
        [film(2, "good"), film(2, "endless")],
        testbed_folder,
        replace(OPTIONS, degradations=("aesthetics",)),
        extractor=EXTRACTOR,
        engine=Endless(workers=1, timeout=600),
    )
    assert {pair.source for pair in done.testbed.pairs} == {"good"}
    (skip,) = done.testbed.skips
    assert (skip.source, skip.failure.reason) == ("endless", Reason.TIMED_OUT)


class Endless(LocalEngine):
    """Sends one source to a function that waits for ever, with a second to do it in."""

    def run(self, tasks, ledger, stop):  # type: ignore[no-untyped-def]
        changed = [
            replace(task, function=wait, timeout=1.0) if task.keys[0].item == "endless" else task
            for task in tasks
        ]
        return LocalEngine.run(self, changed, ledger, stop)


def wait(job: object) -> object:
    """Reads from a pipe that nobody writes to."""
    reading, _ = os.pipe()
    return os.read(reading, 1)


def test_a_film_above_the_limit_is_skipped_unread(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse.mp4"
    with sparse.open("wb") as file:
        file.truncate(15 << 40)
    items = [replace(film(), id="sparse", video=sparse)]
    built = build_testbed(items, tmp_path / "bed", OPTIONS, extractor=EXTRACTOR)
    assert {skip.failure.reason for skip in built.testbed.skips} == {Reason.TOO_LARGE}
