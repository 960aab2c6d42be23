"""Copies of the sample that people work on."""

from __future__ import annotations

from pathlib import Path

import pytest

from screentest.core import BadOption
from screentest.inputs.importers import examine_inputs
from screentest.inputs.manifest import read_manifest
from screentest.sample.copies import copy_checkpoints, copy_films
from screentest.video.probe import probe


def test_the_films_and_their_manifest(tmp_path: Path) -> None:
    items = read_manifest(copy_films(tmp_path / "films"))
    assert len(items) == 4
    assert all(one.video.parent == tmp_path / "films" and one.video.is_file() for one in items)
    assert all(one.prompt and one.script is not None and one.script.timed for one in items)
    assert (tmp_path / "films" / "ATTRIBUTION.md").is_file()
    with pytest.raises(BadOption, match="is there already"):
        copy_films(tmp_path / "films")


def test_checkpoints_are_a_layout_that_is_recognised(tmp_path: Path) -> None:
    texts = copy_checkpoints(tmp_path / "out", prompts=2)
    found = examine_inputs([tmp_path / "out"])
    assert not found.problems
    assert [one.groups["model"] for one in found.items] == ["step-1000"] * 2 + ["step-2000"] * 2
    assert [one.prompt for one in found.items] == texts * 2
    first, *_, last = (probe(one.video) for one in found.items)
    assert 16 <= first.frames <= 40
    assert first.frames == probe(found.items[2].video).frames
    assert last.width == 320


def test_too_many_prompts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="1000") as refused:
        copy_checkpoints(tmp_path, 1000)
    assert refused.value.param == "prompts"
    assert not list(tmp_path.iterdir())
