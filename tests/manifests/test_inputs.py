"""Videos and folders as people name them become items, whatever the files are called."""

from __future__ import annotations

import os
from pathlib import Path

from screentest.manifests.importers import read_inputs


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
