"""Videos and folders as people name them become items, whatever the files are called."""

from __future__ import annotations

import os
from pathlib import Path

from screentest.inputs.importers import read_inputs


def test_a_link_to_nothing_in_a_folder_is_an_item_that_can_be_reported(tmp_path: Path) -> None:
    (tmp_path / "here.mp4").touch()
    (tmp_path / "gone.mp4").symlink_to(tmp_path / "unmounted" / "gone.mp4")
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "notes.txt").touch()

    assert [item.id for item in read_inputs([tmp_path])] == ["gone.mp4", "here.mp4"]


def test_a_name_that_is_not_utf8_gives_an_id_that_is_text_and_a_path_that_opens(
    tmp_path: Path,
) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.mp4")).write_bytes(b"film")

    (item,) = read_inputs([tmp_path])

    assert item.id == r"caf\udce9.mp4"
    assert item.video.read_bytes() == b"film"


def test_a_prompt_is_for_all_videos_that_have_none(tmp_path: Path) -> None:
    for name in ("ours/0001.mp4", "theirs/0001.mp4"):
        (tmp_path / "models" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "models" / name).touch()
    manifest = tmp_path / "some.jsonl"
    manifest.write_text(
        '{"id": "a", "video": "a.mp4", "prompt": "a cat"}\n{"id": "b", "video": "b.mp4"}\n'
    )

    items = read_inputs([tmp_path / "models", manifest], "a dog runs")

    assert [item.prompt for item in items] == ["a dog runs", "a dog runs", "a cat", "a dog runs"]
    assert [item.groups.get("model") for item in items[:2]] == ["ours", "theirs"]
