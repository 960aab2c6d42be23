"""Who answers is part of who judges: a stand-in is named wherever its judge is."""

from __future__ import annotations

import json
from pathlib import Path

from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.plan import Plan
from screentest.core.codec import to_json
from screentest.present.page.certified import card
from screentest.present.results import Certificates
from tests.analysis.judges.stage import certified
from tests.judges.written import written

NAMED = "clipscore[colour_words]"


def test_a_stand_in_is_named_beside_its_judge(tmp_path: Path) -> None:
    bed = written(tmp_path / "bed", {"a": {"blur": 0.0}, "b": {"blur": 0.0}}, ("blur",))
    done = certified(tmp_path / "run", Plan(tuple(read_cases([bed])), ("clipscore", "frozen")))
    made = Certificates(tmp_path / "run", done.certificates)
    clip, frozen = made.certificates
    assert (clip.title, frozen.title) == (NAMED, "frozen")
    assert json.loads(to_json(clip))["models"] == {"image_text": "colour_words"}
    assert made.records()[0]["models"] == {"image_text": "colour_words"}
    assert [table.title for table in made.tables()] == [f"{NAMED} on bed", "frozen on bed"]
    assert made.matrix().column("judge") == [NAMED, "frozen", "pairs"]
    assert [card(one).judge for one in made.certificates] == [NAMED, "frozen"]
