"""Where videos come from: folders as themes."""

from __future__ import annotations

from pathlib import Path

import pytest

from screentest.core import BadOption
from screentest.suites.locot2v.construction.build import sources_in


def test_folders_are_themes(tmp_path: Path) -> None:
    for name in ("pets/my_dog.mp4", "pets/cat 2.webm", "alone.mkv", "pets/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = {source.id: source.theme for source in sources_in(tmp_path)}
    assert found == {"alone": "", "pets_cat-2": "pets", "pets_my-dog": "pets"}
    # The theme is what stands before the last underscore, as in the paper's files.
    assert all(name.rpartition("_")[0] == theme for name, theme in found.items())
    assert {source.theme for source in sources_in(tmp_path, "soap_opera")} == {"soap_opera"}


def test_two_videos_of_one_name(tmp_path: Path) -> None:
    for suffix in ("mp4", "webm"):
        (tmp_path / f"a.{suffix}").write_bytes(b"x")
    with pytest.raises(BadOption, match="both be called 'a'"):
        sources_in(tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="holds no videos"):
        sources_in(tmp_path)
    with pytest.raises(BadOption, match="not a folder"):
        sources_in(tmp_path / "none")
