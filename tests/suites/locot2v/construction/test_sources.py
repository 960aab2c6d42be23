"""Where videos come from: folders as themes, and addresses."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from screentest.core import BadOption, ManifestError, UserError
from screentest.suites.locot2v.construction.build import download, sources_in


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


def test_addresses_must_be_addresses(tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("# films\nfile:///etc/passwd\n")
    with pytest.raises(BadOption, match="is not an address"):
        download(listed, tmp_path / "videos", shortest=1, longest=9)
    with pytest.raises(ManifestError, match="is not there"):
        download(tmp_path / "none.txt", tmp_path / "videos", shortest=1, longest=9)


@pytest.mark.skipif(importlib.util.find_spec("yt_dlp") is not None, reason="yt-dlp is installed")
def test_without_the_package_it_says_what_to_install(tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("https://example.org/film\n")
    with pytest.raises(UserError, match="not installed: yt_dlp"):
        download(listed, tmp_path / "videos", shortest=1, longest=9)
