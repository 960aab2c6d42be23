"""Vript's own folders: categories, untrimmed videos with their cuts, rows, and what breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.core import Item, ManifestError, Span
from screentest.core.item import seconds
from screentest.inputs.fields import ProblemKind
from screentest.inputs.layouts.vript import read_vript
from screentest.inputs.parted import Corpus
from tests.messages import each_names, names

ID = "007EvOaWFOA"


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def describe(root: Path, name: str, keys: list[str], kind: str = "long") -> Path:
    data = {key: {"clip_id": key, "caption": {"content": f"Shows {key}."}} for key in keys}
    about = {"video_id": name, "video_title": "A day", "num_clips": len(keys), "integrity": True}
    place = root / "vript_captions" / f"vript_{kind}_videos_captions"
    return write(place / f"{name}_caption.json", {"meta": about, "data": data})


def scene(number: int, name: str = ID) -> str:
    return f"{name}-Scene-{number:03}"


def cut(root: Path, entries: object, name: str = ID) -> Path:
    place = root / "vript_long_videos_clips" / "clips_1_of_1095" / name
    return write(place / f"{name}_cut_meta.json", entries)


def untrimmed(root: Path, name: str = ID) -> Path:
    return write(root / "vript_long_videos" / "video_1_of_1095" / f"{name}.mp4", "a film")


def only(reading: Corpus) -> Item:
    assert not reading.parted
    (item,) = reading.items
    return item


def spans(item: Item) -> list[Span]:
    assert item.script is not None
    return [clip.span for clip in item.script.clips if clip.span is not None]


def times(*entries: tuple[int, object, object]) -> dict[str, object]:
    listed = [
        {"clip_id": f"{scene(number)}.mp4", "start": start, "end": end}
        for number, start, end in entries
    ]
    return {"video_id": ID, "clips": listed}


def test_an_untrimmed_video_with_its_cuts(tmp_path: Path) -> None:
    describe(tmp_path, ID, [scene(1), scene(2)])
    film = untrimmed(tmp_path)
    cut(tmp_path, times((1, 0, 4.5), (2, "00:00:04.500", "00:01:02.25")))
    about = {ID: {"title": "A day", "categories": ["Travel & Events"]}, "other": {"title": "x"}}
    write(tmp_path / "vript_meta" / "vript_long_videos_meta.json", about)
    reading = read_vript(tmp_path)
    assert not reading.problems
    item = only(reading)
    assert (item.id, item.video, item.groups) == (ID, film, {"category": "Travel & Events"})
    assert spans(item) == [
        Span(seconds(0), seconds(4.5)),
        Span(seconds(4.5), seconds(62.25)),
    ]
    assert item.script is not None
    assert [clip.caption for clip in item.script.clips] == [
        f"Shows {scene(1)}.",
        f"Shows {scene(2)}.",
    ]


def test_cuts_by_clip_id_with_a_length(tmp_path: Path) -> None:
    describe(tmp_path, ID, [scene(1), scene(2)])
    untrimmed(tmp_path)
    entries = {
        scene(1): {"start_time": 0, "duration": 2},
        f"{scene(2)}.mp4": {"start_time": 2, "end_time": 3.5},
    }
    cut(tmp_path, entries)
    assert [str(span.duration) for span in spans(only(read_vript(tmp_path)))] == ["2", "3/2"]


def test_clips_are_taken_where_all_are_there(tmp_path: Path) -> None:
    describe(tmp_path, ID, [scene(1), scene(2)])
    untrimmed(tmp_path)
    folder = cut(tmp_path, times((1, 0, 2), (2, 2, 3))).parent
    write(folder / f"{scene(1)}.mp4", "x")
    assert only(read_vript(tmp_path)).id == ID  # the second clip is not there
    write(folder / f"{scene(2)}.mp4", "x")
    reading = read_vript(tmp_path)
    assert [len(source.parts) for source in reading.parted] == [2]
    assert not reading.items
    assert not reading.problems


def test_long_and_short_videos_in_one_download(tmp_path: Path) -> None:
    describe(tmp_path, ID, [scene(1)])
    untrimmed(tmp_path)
    cut(tmp_path, times((1, 0, 2)))
    short = "02toZL7p4_0"
    describe(tmp_path, short, [f"{scene(1, short)}.mp4"], kind="short")
    place = tmp_path / "vript_short_videos_clips" / "shorts_clips_1_of_42" / short
    write(place / f"{scene(1, short)}.mp4", "x")
    (tmp_path / "vript_short_videos_clips" / "shorts_clips_1_of_42" / "empty").mkdir()
    write(tmp_path / "vript_meta" / "vript_short_videos_meta.json", {short: {"categories": []}})
    write(place / f"{short}_asr.jsonl", '{"clip_id": "x", "duration": 1}')
    reading = read_vript(tmp_path)
    assert not reading.problems
    assert [item.id for item in reading.items] == [ID]
    (source,) = reading.parted
    assert (source.id, source.groups) == (short, {})
    assert source.parts[0].caption == f"Shows {scene(1, short)}.mp4."


def test_one_bad_key_costs_one_clip(tmp_path: Path) -> None:
    keys = [f"{scene(1)}.mp4", "xyz-Scene-002", scene(3), "notes"]
    file = describe(tmp_path, ID, keys)
    content = json.loads(file.read_text())
    content["meta"]["num_clips"] = 3
    write(file, content)
    place = tmp_path / "vript_long_videos_clips"
    for number in (1, 2, 3):
        write(place / f"{scene(number)}.mp4", "x")
    reading = read_vript(tmp_path)
    (source,) = reading.parted
    texts = [part.caption for part in source.parts]
    assert texts == [f"Shows {scene(1)}.mp4.", "", f"Shows {scene(3)}."]
    assert [one.kind for one in reading.problems] == [ProblemKind.BAD_ROW, ProblemKind.MISMATCH]
    assert each_names(reading.problems, ("2 key", ": 'xyz-Scene-002'"), ("1 of 3", ": 002"))


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        (times((1, 0, 2), (3, 2, 4)), ("1 of 3", "007EvOaWFOA_cut_meta.json", ": 002")),
        (times((1, 0, 2), (2, "soon", 3), (3, 3, 4)), ("times", "1 clip", scene(2))),
        (times((1, 0, 2), (2, 3, 2.5), (3, 3, 4)), ("times", "1 clip", scene(2))),
        (times((1, 0, 2), (2, 0.5, 2), (3, 2, 4)), ("1 of 3", "overlap", ": 002")),
    ],
    ids=["missing", "no time", "backwards", "overlapping"],
)
def test_a_clip_without_its_time_is_left_out(
    entries: object, named: tuple[str, ...], tmp_path: Path
) -> None:
    describe(tmp_path, ID, [scene(1), scene(2), scene(3)])
    untrimmed(tmp_path)
    cut(tmp_path, entries)
    reading = read_vript(tmp_path)
    assert len(spans(only(reading))) == 2
    assert any(names(one.message, *named) for one in reading.problems)


def test_times_of_cuts_are_rounded(tmp_path: Path) -> None:
    describe(tmp_path, ID, [scene(1), scene(2)])
    untrimmed(tmp_path)
    cut(tmp_path, times((1, 0, 2.0333), (2, 2, 4)))
    reading = read_vript(tmp_path)
    assert not reading.problems
    assert [span.start for span in spans(only(reading))] == [0, seconds(2.0333)]


@pytest.mark.parametrize("content", [None, "{", "[]", {"clips": 7}, times()])
def test_an_untrimmed_video_without_cuts(content: object, tmp_path: Path) -> None:
    describe(tmp_path, ID, [scene(1)])
    untrimmed(tmp_path)
    if content is not None:
        cut(tmp_path, content)
    reading = read_vript(tmp_path)
    assert not reading.items
    assert not reading.parted
    assert (ProblemKind.MISSING, ID) in [(one.kind, one.id) for one in reading.problems]


@pytest.mark.parametrize("content", ["[1]", "{", {ID: 7}, {ID: {"categories": [3]}}, "\x00"])
def test_a_bad_meta_file_costs_the_category(content: object, tmp_path: Path) -> None:
    describe(tmp_path, ID, [scene(1)])
    write(tmp_path / f"{scene(1)}.mp4", "x")
    write(tmp_path / "vript_meta" / "vript_long_videos_meta.json", content)
    (source,) = read_vript(tmp_path).parted
    assert source.groups == {}


def test_captions_as_rows(tmp_path: Path) -> None:
    rows = [
        {"video_id": ID, "clip_id": scene(1), "caption": {"content": "One."}},
        {"video_id": ID, "clip_id": scene(2), "caption": {"content": "Two."}},
        {"video_id": "away", "clip_id": scene(1, "away"), "caption": {"content": "Far."}},
    ]
    lines = "\n".join(map(json.dumps, rows)) + "\n{broken\n"
    write(tmp_path / "vript_captions" / "vript_long_videos_captions.jsonl", lines)
    for number in (1, 2):
        write(tmp_path / f"{scene(number)}.mp4", "x")
    reading = read_vript(tmp_path)
    (source,) = reading.parted
    assert [part.caption for part in source.parts] == ["One.", "Two."]
    assert [one.kind for one in reading.problems] == [ProblemKind.BAD_ROW, ProblemKind.MISSING]
    assert each_names(reading.problems, ("1 row", "line 4"), ("1 described video",))
    describe(tmp_path, ID, [scene(1), scene(2)])  # the same as a file: no word about that
    again = read_vript(tmp_path)
    assert {one.kind for one in again.problems} == {ProblemKind.BAD_ROW, ProblemKind.MISSING}


def test_a_row_whose_video_has_no_name_costs_that_row(tmp_path: Path) -> None:
    rows = [
        {"video_id": "a\nb", "clip_id": scene(1), "caption": {"content": "Lost."}},
        {"video_id": ID, "clip_id": scene(1), "caption": {"content": "One."}},
    ]
    lines = "\n".join(map(json.dumps, rows))
    write(tmp_path / "vript_captions" / "vript_long_videos_captions.jsonl", lines)
    write(tmp_path / f"{scene(1)}.mp4", "x")
    reading = read_vript(tmp_path)
    assert [one.id for one in reading.parted] == [ID]
    assert each_names(reading.problems, ("video_id",))


def test_packed_files_are_named(tmp_path: Path) -> None:
    write(tmp_path / "vript_captions" / "vript_long_videos_captions.zip", "PK")
    with pytest.raises(ManifestError, match=r"1 \.zip"):
        read_vript(tmp_path)


def test_films_may_be_chosen_by_links_to_their_folders(tmp_path: Path) -> None:
    whole, chosen = tmp_path / "whole", tmp_path / "chosen"
    describe(whole, ID, [scene(1)])
    clips = whole / "vript_long_videos_clips" / "clips_1_of_1095" / ID
    write(clips / f"{scene(1)}.mp4", "a clip")
    describe(chosen, ID, [scene(1)])
    (chosen / ID).symlink_to(clips, target_is_directory=True)
    (clips / "again").symlink_to(chosen, target_is_directory=True)  # round and round
    (film,) = read_vript(chosen).parted
    assert film.id == ID
