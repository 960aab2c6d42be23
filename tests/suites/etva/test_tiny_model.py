"""The whole of ETVA on a real vision-language model: tiny, random, and therefore without answers.

It goes through transformers as a large one does. What it writes is nonsense, so nothing it says
may become a question or an answer by chance.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from screentest.core import Item, Reason
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from screentest.suites.etva import agents, answers
from screentest.suites.etva.agents import write_by_chat

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.models import tiny
from tests.models.torchvision_here import make_importable

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

NOTHING = {Reason.UNPARSABLE, Reason.TRUNCATED, Reason.REFUSED}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    make_importable()
    folder = tiny.vision_language_model(tmp_path_factory.mktemp("model") / "tiny")
    return Tools(Settings(models=(ModelChoice("chat", "hf", str(folder)),), device="cpu"))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random model ends when it is made to; a dozen words of nonsense are enough."""
    for module, name in ((answers, "ONE"), (agents, "ELEMENTS")):
        query = getattr(module, name)
        few = replace(query.sampling, max_tokens=12, min_tokens=1)
        monkeypatch.setattr(module, name, replace(query, sampling=few))


def test_nonsense_is_neither_yes_nor_no(tools: Tools, sample: Path) -> None:
    item = Item("fox", sample / "frenchgp_1906_214x160.mp4", "A red fox runs through a forest.")
    spec = "etva:writer=rules,knowledge=false,max_frames=4,max_pixels=12544"
    outcomes = measure(item, {"etva": resolve(spec).metric}, tools)["etva"]
    coverage = outcomes["coverage"].unwrap()
    assert coverage.details["asked"] == 5
    assert coverage.value == 0.0
    assert outcomes["score"].failure is not None
    assert outcomes["score"].failure.reason in NOTHING


def test_nonsense_is_no_question(tools: Tools) -> None:
    prompts = ["A red fox runs.", "Two cats sleep on a sofa."]
    for outcome in write_by_chat(prompts, tools.role("chat.questions"), tools.prompts):
        assert outcome.failure is not None
        assert outcome.failure.reason in NOTHING
