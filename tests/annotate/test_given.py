"""Cases of editing: what a model was given stands beside its result, and nobody is named."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from screentest.annotate.material import read_units
from screentest.core import Item, UserError
from screentest.inputs.manifest import write_manifest
from screentest.judges.votes import VoteTask
from screentest.testing.films import gliding, write_film
from tests.annotate.stand import OPERATOR, open_stand

WORDS = "Give the dog the red scarf of the picture."


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    for name in ("wan", "source"):
        write_film(folder / f"{name}.mkv", gliding(32, 1))
    exif = Image.Exif()
    exif[270] = "made by wan"
    Image.new("RGB", (4000, 200), (200, 0, 0)).save(folder / "scarf.jpg", exif=exif)
    item = Item(
        "rv2v/wan/1",
        folder / "wan.mkv",
        instruction=WORDS,
        source=folder / "source.mkv",
        references=(folder / "scarf.jpg",),
        groups={"model": "wan"},
    )
    write_manifest(folder / "wan.jsonl", [item])
    return folder / "wan.jsonl"


def test_original_references_and_instruction_stand_beside_the_result(
    manifest: Path, tmp_path: Path
) -> None:
    with open_stand(manifest, str(tmp_path / "a.sqlite"), "rate", by="model") as stand:
        page = stand.worker().begin()
        assert page.open
        assert len(page.videos) == 2
        assert WORDS in page.html
        sides = re.findall(r'data-side="(\w+)"\n?.*\n?<figcaption>([^<]+)', page.html)
        assert [side for side, _ in sides] == ["left", "right"]
        assert sides[0][1] != sides[1][1]
        (picture,) = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', page.html)
        with Image.open(io.BytesIO(base64.b64decode(picture))) as shown:
            assert (shown.size, dict(shown.getexif())) == ((1600, 80), {})
        assert not re.search(r"\bwan\b|scarf\.jpg|rv2v", page.html)
        both = [page.person.client.get(address).content for address in page.videos]
        assert all(both)
        assert (
            "img-src 'self' data:"
            in page.person.client.get("/work").headers["Content-Security-Policy"]
        )
        assert page.vote({"score": 3.5}).status_code == 200


def test_the_operator_sees_both_videos(manifest: Path, tmp_path: Path) -> None:
    with open_stand(manifest, str(tmp_path / "a.sqlite"), "rate", by="model") as stand:
        client = stand.client()
        client.post("/join", json={"token": OPERATOR})
        shown = client.get("/operator/unit/1").text
    assert shown.count("<video") == 2


def test_an_original_is_judged_by_nobody(manifest: Path) -> None:
    """People see it to rate the result; a text is checked, and models are compared, without."""
    (rated,) = read_units(manifest, VoteTask.RATE)
    assert [video.path.stem for video in rated.videos] == ["wan", "source"]
    (checked,) = read_units(manifest, VoteTask.PROMPTS)
    assert [video.path.stem for video in checked.videos] == ["wan"]


def test_a_picture_that_cannot_be_read_is_an_error_before_anybody_looks(manifest: Path) -> None:
    row = json.loads(manifest.read_text())
    broken = manifest.with_name("broken.jsonl")
    (manifest.parent / "broken.jpg").write_text("no picture")
    broken.write_text(json.dumps(row | {"references": ["broken.jpg"]}))
    with pytest.raises(UserError, match=r"broken\.jpg"):
        read_units(broken, VoteTask.RATE)
