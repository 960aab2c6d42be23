"""All six tasks and captions on a real vision-language model: tiny, random, without answers.

It goes through transformers as a large one does, with every picture of a task. What it writes
is nonsense, so nothing it says may become points or a description by chance.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.core import Item, Reason
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from screentest.suites.univ import pieces
from tests.suites.univ.test_text_task import TRUTH

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.models import tiny
from tests.models.torchvision_here import make_importable

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

NOTHING = {Reason.UNPARSABLE, Reason.TRUNCATED, Reason.REFUSED}
SMALL = "fps=1,short_side=56,most_frames=2"


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    make_importable()
    folder = tiny.vision_language_model(tmp_path_factory.mktemp("model") / "tiny")
    return Tools(Settings(models=(ModelChoice("chat", "hf", str(folder)),), device="cpu"))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random model ends when it is made to; a dozen words of nonsense are enough."""
    few = replace(pieces.SAMPLING, max_tokens=12, min_tokens=1)
    monkeypatch.setattr(pieces, "SAMPLING", few)


@pytest.mark.parametrize("task", ["v2t", "t2v", "r2v", "tv2v", "rv2v", "v2v", "caption"])
def test_nonsense_is_never_a_value(task: str, tools: Tools, item: Item, tmp_path: Path) -> None:
    options = SMALL
    if task == "v2t":
        (tmp_path / "case-1.json").write_text(json.dumps({"id": "case-1", **TRUTH}))
        options = f"truth={tmp_path / 'case-1.json'}"
    spec = f"univ_{task}:{options}"
    outcomes = measure(item, {spec: resolve(spec).metric}, tools)[spec]
    failures = [outcome.failure for outcome in outcomes.values()]
    assert failures
    assert {failure.reason for failure in failures if failure} <= NOTHING
    assert all(failure is not None for failure in failures)
