"""What a corpus is made of, counted by hand and drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from screentest.suites.univ.schema import NOTHING, Description
from screentest.suites.univ.tables import OTHER, distribution
from screentest.suites.univ.vocabulary import ALL_SUBDIMENSIONS
from tests.suites.univ.paper_form import paper_form
from tests.suites.univ.test_schema import DOG
from tests.terminal import invoke


def shot(**camera: Any) -> Description:
    return Description.model_validate(DOG | {"camera": DOG["camera"] | camera})


def test_counted_by_hand() -> None:
    shots = [
        shot(motion=["pan left", "The camera slowly pushes in"]),
        shot(motion=["like a $leaf$ in the wind"], angle=[]),
        NOTHING,
    ]
    found = distribution(shots)
    assert tuple(found) == ALL_SUBDIMENSIONS
    motion = found["camera_motion"]
    # Free words that mean a term are that term; those that mean none are counted as such, last.
    assert motion.counts == {"dolly in": 1, "pan left": 1, OTHER: 1}
    assert list(motion.counts)[-1] == OTHER
    assert (motion.said, motion.silent) == (3, 1)
    assert found["subject_category"].counts == {"animal": 2, "human": 2}
    assert found["camera_angle"].silent == 2
    assert found["camera_height"].counts == {}
    # Appearance is told in words alone: it is said, or not.
    assert found["subject_appearance"].counts == {"said": 4}


def test_as_a_user_has_it(tmp_path: Path) -> None:
    video = {
        "id": "a",
        "described_by": "x",
        "overview": None,
        "shots": [{"start": "0", "end": "1", "description": DOG, "script": "x"}],
        "script": "x",
    }
    captions, paper = tmp_path / "captions.jsonl", tmp_path / "paper.json"
    captions.write_text(json.dumps(video) + "\n")
    paper.write_text(json.dumps(paper_form(Description.model_validate(DOG))))
    told = invoke("suite", "univ", "distribution", captions, paper, "--json")
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    # The same shot in our form and in the paper's counts the same.
    counts: dict[str, dict[str, int]] = {}
    for row in found:
        counts.setdefault(row["sub-dimension"], {})[row["term"]] = row["shots"]
    assert counts["camera shot size"] == {"long shot": 2, "medium shot": 2, "nothing said": 0}
    assert counts["style kind"] == {"Realistic": 2, "nothing said": 0}
    for name in ("d.svg", "again.svg"):
        drawn = invoke("suite", "univ", "distribution", captions, "--out", tmp_path / name)
        assert drawn.exit_code == 0, drawn.output
    assert (tmp_path / "d.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
    assert "colour: hue" in (tmp_path / "d.svg").read_text()
    wrong = invoke("suite", "univ", "distribution", captions, "--out", tmp_path / "d.doc")
    assert wrong.exit_code == 2


def test_the_schema_is_one_that_others_can_read() -> None:
    found = json.loads(invoke("suite", "univ", "schema").stdout)
    assert found["title"] == "VideoDescription"
    assert "pan left" in json.dumps(found["$defs"]["CameraMotion"])
