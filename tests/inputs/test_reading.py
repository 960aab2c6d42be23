"""Manifests and Vript downloads, told apart by what they hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.core import BadOption, Item, ManifestError, register, registry
from screentest.inputs.importers import format_of, read_corpus, read_inputs
from screentest.inputs.manifest import write_manifest
from screentest.inputs.parted import Corpus

CAPTIONS = {"meta": {"video_id": "v"}, "data": {"v-Scene-001": {"caption": {"content": "A."}}}}


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("rows.jsonl", '{"id": "a", "video": "a.mp4"}\n', "manifest"),
        ("rows.jsonl", '{"id": "a", "video": "a"}\n{"id": "b", "video": "b"}\n', "manifest"),
        ("rows.csv", "id,video\na,a.mp4\n", "manifest"),
        ("captions.json", json.dumps(CAPTIONS), "vript"),
        ("captions.json", json.dumps([CAPTIONS, CAPTIONS], indent=1), "vript"),
        ("captions.txt", json.dumps(CAPTIONS), "vript"),  # the name does not matter
        ("one.jsonl", '{"id": "a", "video": "a.mp4", "groups": {"meta": "x"}}', "manifest"),
        ("broken.json", "{", "manifest"),
        ("empty.jsonl", "", "manifest"),
        ("list.json", "[]", "manifest"),
    ],
)
def test_the_content_decides(tmp_path: Path, name: str, content: str, form: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert format_of(path) == form


def test_a_folder_is_a_download(tmp_path: Path) -> None:
    (tmp_path / "captions.json").write_text(json.dumps(CAPTIONS))
    (tmp_path / "v-Scene-001.mp4").write_bytes(b"x")
    corpus = read_corpus(tmp_path)
    assert corpus.format == "vript"
    assert [source.id for source in corpus.parted] == ["v"]


def test_a_folder_for_each_model_may_use_the_same_names(tmp_path: Path) -> None:
    """Where nothing describes the videos, it is no download with a video in two places."""
    for model in ("one", "two"):
        (tmp_path / model).mkdir()
        for name in ("cat.mp4", "dog.mp4"):
            (tmp_path / model / name).write_bytes(b"x")
    corpus = read_corpus(tmp_path)
    assert len({item.id for item in corpus.items}) == 4


def test_a_manifest_has_items(tmp_path: Path) -> None:
    write_manifest(tmp_path / "rows.jsonl", [Item("a", tmp_path / "a.mp4")])
    assert [item.id for item in read_corpus(tmp_path / "rows.jsonl").items] == ["a"]


def test_a_bad_row_is_reported_and_the_others_are_taken(tmp_path: Path) -> None:
    """Ranges that overlap can only be a mistake; they are that film's alone."""
    clips = [
        {"start": 0, "end": 5, "caption": "One."},
        {"start": 4, "end": 9, "caption": "Two."},
    ]
    rows = [
        {"id": "bad", "video": "a.mp4", "script": clips},
        {"id": "good", "video": "b.mp4", "script": clips[:1]},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = read_corpus(path)
    assert [item.id for item in corpus.items] == ["good"]
    (problem,) = corpus.problems
    assert "starts before clip 1" in str(problem)


def test_a_manifest_of_bad_rows_only_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a"}\n{"id": "b"}\n')
    with pytest.raises(ManifestError, match="2 problems"):
        read_corpus(path)


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "captions.json"
    path.write_text(json.dumps(CAPTIONS))
    with pytest.raises(ManifestError):
        read_corpus(path, "manifest")
    with pytest.raises(BadOption, match="unknown layout 'x'"):
        read_corpus(path, "x")


def test_captions_without_any_clip_are_no_corpus(tmp_path: Path) -> None:
    path = tmp_path / "captions.json"
    path.write_text(json.dumps(CAPTIONS))
    with pytest.raises(ManifestError, match="1 of 1 clip"):
        read_corpus(path)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(ManifestError):
        read_corpus(tmp_path / "absent")


def test_inputs_to_score_have_no_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "video": "a.mp4"}\n{"id": "b"}\n')
    assert [one.id for one in read_corpus(path).items] == ["a"]
    with pytest.raises(ManifestError, match="1 problem"):
        read_inputs([path])


class _Lists:
    """A folder with a list of videos in it."""

    for_films, for_videos = True, True

    def accepts(self, path: Path) -> bool:
        return (path / "list.txt").is_file()

    def read(self, path: Path) -> Corpus:
        names = (path / "list.txt").read_text().split()
        return Corpus("toy_lists", tuple(Item(name, path / name) for name in names))


def test_an_importer_from_elsewhere_comes_before_ours(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("b.mp4 a.mp4")
    (tmp_path / "a.mp4").touch()
    assert format_of(tmp_path) == "vript"
    register("importer", "toy_lists", version=1, summary="lists")(_Lists)
    try:
        assert read_corpus(tmp_path).format == "toy_lists"
        assert [one.id for one in read_inputs([tmp_path])] == ["b.mp4", "a.mp4"]
        assert [one.id for one in read_inputs([tmp_path], form="videos")] == ["a.mp4"]
    finally:
        del registry._entries["importer", "toy_lists"]
