"""Verify: a whole testbed passes, and whatever is done to one is told."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import screentest
from screentest.core import register
from screentest.core.registry import registry
from screentest.models import read_models
from screentest.run.engine import InlineEngine
from screentest.sample import backgrounds, sample_videos
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.packets import read_track
from screentest.testbeds.testbed import FILE, load_testbed, read_testbed
from screentest.testbeds.verify import (
    VerificationFinding,
    check_manifest,
    check_source,
    source_tasks,
    stray_files,
    verify_testbed,
)
from tests.testbeds.stage import QUICK, BoxMatting
from tests.testbeds.testbeds import built_in, copy_of, rewrite
from tests.video.outside import Outside

FILM = "videos/real_5shots"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_in(tmp_path_factory.getbasetemp())


@pytest.fixture
def bed(built: Path, tmp_path: Path) -> Path:
    return copy_of(built, tmp_path / "bed")


def findings(folder: Path) -> list[VerificationFinding]:
    """What verify_testbed finds, without its worker processes."""
    testbed = load_testbed(folder)
    found = [*check_manifest(testbed), *stray_files(folder, testbed)]
    for task in source_tasks(folder, testbed):
        found += check_source(task)
    return found


def kinds(folder: Path) -> list[str]:
    return [finding.fault.kind for finding in findings(folder)]


def test_a_worker_tells_what_is_wrong_with_a_source(bed: Path) -> None:
    flip_a_bit(bed)
    (finding,) = verify_testbed(bed, workers=2).findings
    assert (finding.check, finding.where) == ("files", f"{FILM}/aesthetics.mp4")


def test_a_whole_testbed_passes(built: Path) -> None:
    result = verify_testbed(built)
    assert result.ok, result.findings
    # Two intact videos and two prompts; three degraded copies of the film that has five clips,
    # none of the one that has one; two placebos of each.
    assert (result.files, len(result.testbed.pairs)) == (4 + 3 + 4, 7)


def test_votes_beside_a_testbed_are_no_fault_of_it(bed: Path) -> None:
    (bed / "annotate").mkdir()
    (bed / "annotate" / "votes.sqlite").write_bytes(b"votes")
    assert not findings(bed)
    (bed / "notes.txt").write_text("mine")
    assert kinds(bed) == ["unlisted"]


def flip_a_bit(bed: Path) -> None:
    path = bed / FILM / "aesthetics.mp4"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def put_a_pipe(bed: Path) -> None:
    (bed / FILM / "aesthetics.mp4").unlink()
    os.mkfifo(bed / FILM / "aesthetics.mp4")


def link_out(bed: Path) -> None:
    path = bed / FILM / "aesthetics.mp4"
    path.rename(bed.parent / "elsewhere.mp4")
    path.symlink_to(bed.parent / "elsewhere.mp4")


@pytest.mark.parametrize(
    ("harm", "name", "kind", "error"),
    [
        (flip_a_bit, "aesthetics.mp4", "error", "not the file of the testbed: the hash"),
        (
            lambda bed: (bed / FILM / "intact.mp4").unlink(),
            "intact.mp4",
            "unreadable",
            "it is not",
        ),
        (
            lambda bed: (bed / FILM / "intact.json").unlink(),
            "intact.json",
            "unreadable",
            "",
        ),
        (
            lambda bed: (bed / FILM / "intact.json").write_text("{}"),
            "intact.json",
            "unreadable",
            "not a valid NormalizedVideo",
        ),
        (lambda bed: (bed / FILM / "extra.mp4").touch(), "extra.mp4", "unlisted", ""),
        (lambda bed: (bed / FILM / "notes.txt").touch(), "notes.txt", "unlisted", ""),
        (
            lambda bed: (bed / FILM / "prompt.txt").write_text("A cat."),
            "prompt.txt",
            "captions",
            "",
        ),
        (
            lambda bed: (bed / FILM / "prompt.txt").write_bytes(b"\xff\xfe"),
            "prompt.txt",
            "unreadable",
            "",
        ),
        (put_a_pipe, "aesthetics.mp4", "unreadable", "not a plain file"),
        (link_out, "aesthetics.mp4", "unreadable", "it is a link that leads out"),
    ],
)
def test_a_damaged_file_is_reported(
    bed: Path, harm: Callable[[Path], Any], name: str, kind: str, error: str
) -> None:
    harm(bed)
    assert any(
        finding.check == "files"
        and finding.where == f"{FILM}/{name}"
        and finding.fault.kind is kind
        and finding.fault.values.get("error", "").startswith(error)
        for finding in findings(bed)
    )


def degraded(data: Any, name: str = "aesthetics") -> Any:
    return next(pair for pair in data["pairs"] if pair["name"] == name)


def film_of(data: Any) -> Any:
    return next(source for source in data["sources"] if source["id"] == "real_5shots")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda data: degraded(data).update(source="nobody"), "no_source"),
        (lambda data: degraded(data).update(intact="videos/x.mp4"), "not_intact"),
        (lambda data: degraded(data).update(touched=[]), "none_touched"),
        (lambda data: degraded(data).update(clips=1), "many_touched"),
        (lambda data: degraded(data)["touched"].reverse(), "touched_order"),
        (lambda data: degraded(data)["touched"][0].update(clip=9), "no_such_clip"),
        (
            lambda data: degraded(data)["touched"][1]["degraded"].update(end="1000"),
            "outside_video",
        ),
        (lambda data: degraded(data)["changed"].update(frames=7), "figure"),
        (lambda data: degraded(data)["changed"].update(width=98), "sizes"),
        (lambda data: degraded(data)["changed"].update(duration="1"), "lasts"),
        (lambda data: degraded(data)["changed"].update(path="../a.mp4"), "outside"),
        (lambda data: film_of(data).update(prompt="/etc/passwd"), "outside"),
        (lambda data: film_of(data).update(lost=[7]), "lost_clip"),
        (lambda data: film_of(data)["clips"].reverse(), "error"),
        (lambda data: data["sources"].append(data["sources"][0]), "two_sources"),
        (lambda data: data["pairs"].append(degraded(data)), "two_pairs"),
        (lambda data: data.update(pending=3), "pending"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_reported(
    bed: Path, change: Callable[[Any], None], kind: str
) -> None:
    rewrite(bed, change)
    assert kind in kinds(bed)


def test_a_clip_that_is_somewhere_else_than_the_script_says_is_reported(bed: Path) -> None:
    def shift(data: Any) -> None:
        span = degraded(data)["touched"][0]["intact"]
        span.update(start=f"{span['start']}", end="15/4")

    rewrite(bed, shift)
    assert "misplaced" in kinds(bed)


# ---- packets


def test_packets_are_those_that_ffprobe_sees(built: Path, outside: Outside) -> None:
    path = built / FILM / "temporal_flow.mp4"
    track, seen = read_track(path), outside.packets(path)
    ours = [(packet.tick * track.time_base, packet.is_key) for packet in track.packets]
    assert ours == [(packet.shown, packet.key) for packet in seen]


def test_a_copy_that_went_through_an_encoder_as_a_whole_is_reported(bed: Path, ffmpeg: str) -> None:
    path = bed / FILM / "aesthetics.mp4"
    base = str(read_track(path).time_base.denominator)
    other = bed.parent / "other.mp4"
    subprocess.run(
        [
            *(ffmpeg, "-v", "error", "-i", path, "-c:v", "libx264", "-crf", "30"),
            *("-video_track_timescale", base, other),
        ],
        check=True,
    )
    path.write_bytes(other.read_bytes())
    _keep_hash(bed, path)
    assert {"headers", "packets"} <= set(kinds(bed))


def test_a_touch_that_is_not_listed_is_reported(bed: Path) -> None:
    def forget_one(data: Any) -> None:
        degraded(data)["touched"].pop()

    rewrite(bed, forget_one)
    # Two shots of the sample were touched; those of the one no longer listed now stand out.
    assert "packets" in kinds(bed)


def test_a_listed_touch_that_never_was_is_reported(bed: Path) -> None:
    path = bed / FILM / "aesthetics.mp4"
    path.write_bytes((bed / FILM / "intact.mp4").read_bytes())
    _keep_hash(bed, path)
    assert kinds(bed).count("touch_unchanged") == 2


def _keep_hash(bed: Path, path: Path) -> None:
    def note(data: Any) -> None:
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        degraded(data)["changed"].update(sha256=digest, bytes=len(content))

    rewrite(bed, note)


def test_a_testbed_can_be_moved_to_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in testbed.json says where it was built; a build elsewhere makes the same files."""
    register("matting", "middle", version=1, summary="a stand-in")(BoxMatting)
    key = ("matting", "middle")
    monkeypatch.setitem(registry._entries, key, registry._entries.pop(key))
    films, pictures = tmp_path / "old" / "films", tmp_path / "old" / "films" / "landscapes"
    pictures.mkdir(parents=True)
    for picture in backgrounds():
        shutil.copy(picture, pictures)
    item = sample_videos()[2].item
    film = Path(shutil.copy(item.video, films))
    broken = films / "broken.mp4"
    broken.write_bytes(b"no film at all")
    options = BuildOptions(
        degradations=("aesthetics", f"background_consistency:folder={pictures}"),
        placebos=("trim",),
        clips=(2,),
        long_side=96,
        rate=Fraction(4),
        encoder=QUICK,
        models=read_models("matting=middle"),
    )
    old, new = tmp_path / "old" / "bed", tmp_path / "new" / "bed"
    items = [replace(item, video=film), replace(item, id="broken", video=broken)]
    done = build_testbed(items, old, options, engine=InlineEngine())
    assert done.testbed.skips
    assert "background_consistency" in {pair.name for pair in done.testbed.pairs}
    for page in (FILE, "testbed.html"):
        assert str(tmp_path) not in (old / page).read_text(encoding="utf-8")
    assert read_testbed(old).sources[0].video == film.name
    new.parent.mkdir()
    old.rename(new)
    (tmp_path / "old").rename(tmp_path / "gone")
    assert verify_testbed(new).ok
    made = screentest.certify("contrast", new, out=tmp_path / "run", engine=InlineEngine())
    assert made.of("contrast").overall.ok
    gone = tmp_path / "gone" / "films"
    item = replace(item, video=gone / film.name)
    options = replace(
        options,
        degradations=("aesthetics", f"background_consistency:folder={gone / 'landscapes'}"),
    )
    again = build_testbed([item], tmp_path / "again", options, engine=InlineEngine())
    assert [pair.changed for pair in again.testbed.pairs] == [
        pair.changed for pair in read_testbed(new).pairs
    ]
