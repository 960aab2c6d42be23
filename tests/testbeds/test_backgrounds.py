"""The folder of backgrounds: what is no picture is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from screentest.core import BadOption
from screentest.testbeds.operators.backgrounds import Backgrounds


def test_a_broken_picture_is_left_out(tmp_path: Path) -> None:
    Image.new("RGB", (40, 20), (200, 10, 10)).save(tmp_path / "red.png")
    whole = (tmp_path / "red.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[:40])
    (tmp_path / "text.jpg").write_text("no picture")
    (tmp_path / "notes.txt").write_text("not even called one")
    found = Backgrounds.of(tmp_path)
    assert [path.name for path in found.paths] == ["red.png"]
    assert found.unreadable == ("cut.png", "text.jpg")
    assert found.picture(0, (30, 30)).tolist() == np.full((30, 30, 3), (200, 10, 10)).tolist()


def test_a_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(BadOption, match="no picture in"):
        Backgrounds.of(tmp_path)
    with pytest.raises(BadOption, match="is not a folder"):
        Backgrounds.of(tmp_path / "absent")


def test_the_digest_is_that_of_the_content(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8), (1, 2, 3)).save(tmp_path / "a.png")
    before = Backgrounds.of(tmp_path).digest
    assert before == Backgrounds.of(tmp_path).digest
    Image.new("RGB", (8, 8), (3, 2, 1)).save(tmp_path / "a.png")
    assert before != Backgrounds.of(tmp_path).digest
