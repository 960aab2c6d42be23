"""Vript downloads: whole, with gaps, and broken; and films joined from their clips."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import BadOption, Item, ManifestError, VideoError
from screentest.inputs.fields import ProblemKind
from screentest.inputs.layouts import vript
from screentest.inputs.layouts.vript import read_vript
from screentest.inputs.parted import PartedSource, SourcePart, in_groups_of, joined
from screentest.video.probe import probe
from tests.messages import names


def captions(video: str, contents: dict[int, object], **meta: object) -> str:
    data = {
        f"{video}-Scene-{number:03}": {
            "video_id": video,
            "clip_id": f"{video}-Scene-{number:03}",
            "caption": {"shot_type": "Close-up", "camera_movement": "Pan left", "content": text},
            "voiceover": ["…"],
        }
        for number, text in contents.items()
    }
    about = {"video_id": video, "video_title": "A day", "num_clips": len(contents), **meta}
    return json.dumps({"meta": about, "data": data})


def clip(folder: Path, video: str, number: int, content: bytes = b"x") -> Path:
    path = folder / f"{video}-Scene-{number:03}.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_whole_download(tmp_path: Path) -> None:
    (tmp_path / "v_caption.json").write_text(
        captions("a-b_1", {1: "A cat.", 2: "A\n dog."}, category="Pets")
    )
    files = [clip(tmp_path / "clips", "a-b_1", number) for number in (1, 2)]
    # Cut times travel with Vript's clips and are no captions file.
    (tmp_path / "clips" / "a-b_1_cut_meta.json").write_text('{"a-b_1-Scene-001": {"start": 0}}')
    reading = read_vript(tmp_path)
    assert not reading.problems
    (source,) = reading.parted
    assert source == PartedSource(
        "a-b_1",
        (SourcePart(files[0], "A cat."), SourcePart(files[1], "A dog.")),
        {"category": "Pets"},
    )


def test_gaps_are_reported_and_tolerated(tmp_path: Path) -> None:
    described = {1: "One.", 2: None, 3: "Three.", 5: "Five."}
    (tmp_path / "v.json").write_text(captions("v", described, num_clips=7, integrity=False))
    for number in (1, 2, 4, 5):
        clip(tmp_path, "v", number, b"" if number == 5 else b"x")
    clip(tmp_path, "unheard", 1)
    reading = read_vript(tmp_path)
    (source,) = reading.parted
    assert [part.caption for part in source.parts] == ["One.", "", ""]  # 1, 2 and 4
    named = {
        ProblemKind.MISSING: ("3 of 7", ": 003, 006, 007"),
        ProblemKind.UNREADABLE: ("1 of 7", ": 005"),
        ProblemKind.MISMATCH: ("2 of 7", ": 002, 004"),
        ProblemKind.UNLISTED: ("1 clip",),
    }
    told = {problem.kind: problem.message for problem in reading.problems}
    assert told.keys() == named.keys()
    assert all(names(told[kind], *parts) for kind, parts in named.items())


def test_a_thousandth_clip_is_in_order(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text(captions("v", {999: "Before.", 1000: "After."}, num_clips=0))
    for number in (1000, 999):
        clip(tmp_path, "v", number)
    (source,) = read_vript(tmp_path).parted
    assert [part.caption for part in source.parts] == ["Before.", "After."]


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff\xfe",
        b'{"meta": [], "data": {}}',
        b'{"meta": {"video_id": ""}, "data": {}}',
        b'{"meta": {"video_id": "v"}, "data": {}, "data": {}}',
        b"[" * 100_000,
    ],
    ids=["cut off", "not UTF-8", "no objects", "no id", "twice", "deep"],
)
def test_a_bad_file_harms_only_itself(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    (tmp_path / "good.json").write_text(captions("good", {1: "A cat."}))
    clip(tmp_path, "good", 1)
    reading = read_vript(tmp_path)
    assert [source.id for source in reading.parted] == ["good"]
    assert [problem.kind for problem in reading.problems] == [ProblemKind.BAD_FILE]


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs devices")
def test_devices_among_the_files_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_bytes(path: Path) -> bytes:
        assert path.is_file()  # /dev/zero has no end
        with path.open("rb") as file:
            return file.read()

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    (tmp_path / "good.json").write_text(captions("good", {1: "A cat."}))
    clip(tmp_path, "good", 1)
    for name in ("bad.json", "bad.jsonl"):
        (tmp_path / name).symlink_to("/dev/null")
    reading = read_vript(tmp_path)
    assert [source.id for source in reading.parted] == ["good"]
    assert [problem.kind for problem in reading.problems] == [ProblemKind.BAD_FILE] * 2


def test_a_row_without_end_is_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vript, "LONGEST_FILE", 1000)
    clip(tmp_path, "good", 1)
    row = {"clip_id": "good-Scene-001", "caption": "A cat."}
    (tmp_path / "rows.jsonl").write_text(f"{'0' * 10_000}\n{json.dumps(row)}\n")
    reading = read_vript(tmp_path)
    assert [source.id for source in reading.parted] == ["good"]
    assert [problem.message for problem in reading.problems if "11 rows" in problem.message]


def test_no_clips_no_source(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text(captions("v", {1: "A cat."}))
    reading = read_vript(tmp_path / "v.json")
    assert not reading.parted
    assert {problem.kind for problem in reading.problems} == {ProblemKind.MISSING}


def test_twins_are_reported(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(captions("v", {1: "A cat."}))
        clip(tmp_path / name, "v", 1)
    reading = read_vript(tmp_path)
    assert len(reading.parted) == 1
    kinds = [problem.kind for problem in reading.problems]
    assert sorted(kinds) == [ProblemKind.DUPLICATE_ID, ProblemKind.DUPLICATE_VIDEO]


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no Vript captions"):
        read_vript(tmp_path)
    with pytest.raises(ManifestError, match="not there"):
        read_vript(tmp_path / "gone")


def test_the_film_is_its_clips_in_order(
    sample: Path, tmp_path: Path, ffmpeg: str, ffprobe: str
) -> None:
    """Frames and lengths as the system's ffprobe counts them, pictures as its ffmpeg sees them."""
    parts = []
    for number, (start, frames) in enumerate([("1", 24), ("9", 31)], start=1):
        part = tmp_path / f"v-Scene-{number:03}.mp4"
        options = ["-frames:v", str(frames), "-s", "320x180", "-an"]
        cut(ffmpeg, sample, part, ["-ss", start], options)
        parts.append(SourcePart(part, f"Clip {number}."))
    item = joined(PartedSource("v", tuple(parts)), tmp_path / "film.mp4")
    assert item.script is not None
    spans = [clip.span for clip in item.script.clips]
    lengths = [probe(part.file).duration for part in parts]
    assert spans[0] is not None
    assert spans[1] is not None
    assert [span.duration for span in spans if span] == lengths
    assert (spans[0].start, spans[1].start) == (0, lengths[0])
    assert int(asked(ffprobe, item.video, "nb_read_frames")) == 24 + 31
    whole = gray(ffmpeg, item.video)
    pieces = b"".join(gray(ffmpeg, part.file) for part in parts)
    assert len(whole) == len(pieces)
    apart = sum(abs(one - two) for one, two in zip(whole[::97], pieces[::97], strict=True))
    assert apart / len(whole[::97]) < 1.5  # of 255: what an encoder at crf 8 may change


def test_parts_of_other_shapes_get_bars(
    sample: Path, tmp_path: Path, ffmpeg: str, ffprobe: str
) -> None:
    parts = []
    for number, size in enumerate(("320x180", "120x180"), start=1):
        part = tmp_path / f"{number}.mp4"
        options = ["-frames:v", "5", "-r", str(10 * number), "-s", size, "-an"]
        cut(ffmpeg, sample, part, ["-ss", "9"], options)
        parts.append(SourcePart(part, "A meadow."))
    item = joined(PartedSource("v", tuple(parts)), tmp_path / "film.mp4")
    info = probe(item.video)
    assert (info.width, info.height) == (320, 180)
    # Five frames at 10 a second, then five at 20.
    assert item.script is not None
    ends = [clip.span.end for clip in item.script.clips if clip.span]
    assert ends == [Fraction(5, 10), Fraction(5, 10) + Fraction(5, 20)]
    assert asked(ffprobe, item.video, "duration") == "0.750000"
    pictures = gray(ffmpeg, item.video)
    last = pictures[-320 * 180 :]
    row = last[90 * 320 : 91 * 320]
    assert max(row[:96]) < 24  # bars of 100 columns on both sides, black
    assert max(row[-96:]) < 24
    assert max(row[104:216]) > 60


def test_a_part_without_pictures_is_named(sample: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.mp4", tmp_path / "bad.mp4"
    shutil.copy(sample / "frenchgp_1906_214x160.mp4", good)
    bad.write_bytes(good.read_bytes()[:200])
    source = PartedSource("v", (SourcePart(good), SourcePart(bad)))
    with pytest.raises(VideoError, match=r"bad\.mp4"):
        joined(source, tmp_path / "film.mp4")
    assert not (tmp_path / "film.mp4").exists()


def test_short_videos_in_groups() -> None:
    items = [
        Item(f"v{number}", Path(f"{number}.mp4"), f"Prompt {number}.", groups={"model": "m"})
        for number in range(5)
    ]
    sources = list(in_groups_of(items, 2))
    assert [source.id for source in sources] == ["v0+1", "v2+1"]
    assert sources[0].parts == (
        SourcePart(Path("0.mp4"), "Prompt 0."),
        SourcePart(Path("1.mp4"), "Prompt 1."),
    )
    assert sources[0].groups == {"model": "m"}
    with pytest.raises(BadOption):
        list(in_groups_of(items, 1))


def cut(ffmpeg: str, sample: Path, out: Path, before: list[str], after: list[str]) -> None:
    film = str(sample / "bbb_first30s_640x360.mp4")
    subprocess.run([ffmpeg, "-v", "error", *before, "-i", film, *after, str(out)], check=True)


def asked(ffprobe: str, path: Path, what: str) -> str:
    command = [ffprobe, "-v", "error", "-count_frames", "-select_streams", "v:0"]
    command += ["-show_entries", f"stream={what}", "-of", "csv=p=0", str(path)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def gray(ffmpeg: str, path: Path) -> bytes:
    command = [ffmpeg, "-v", "error", "-i", str(path), "-vsync", "passthrough"]
    command += ["-f", "rawvideo", "-pix_fmt", "gray", "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout
