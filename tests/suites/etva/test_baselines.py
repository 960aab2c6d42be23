"""The example of ETVA's baselines: BLEU by hand, BLIP-2's classes, and ViCLIP's interface."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from screentest.core.registry import registry
from tests.models import tiny
from tests.models.torchvision_here import make_importable

EXAMPLE = Path(__file__).parents[3] / "examples" / "baselines" / "baselines.py"

# What the authors' modules have, on weights of chance.
VICLIP = """
import torch

class ViCLIP(torch.nn.Module):
    def __init__(self, tokenizer):
        super().__init__()
        torch.manual_seed(1)
        self.seen = torch.nn.Linear(3, 4)

    def get_vid_features(self, tube):
        assert tube.shape == (1, 8, 3, 224, 224)
        return torch.nn.functional.normalize(self.seen(tube.mean(dim=(1, 3, 4))), dim=-1)

    def get_text_features(self, text, tokenizer, known):
        return torch.nn.functional.normalize(tokenizer(text), dim=-1)
"""
WORDS = """
import torch

class SimpleTokenizer:
    def __call__(self, text):
        return torch.tensor([[float(len(text)), text.count("a"), 1.0, 0.0]])
"""


@pytest.fixture(scope="module")
def baselines() -> Iterator[ModuleType]:
    """The example, whose metrics other tests do not see."""
    spec = importlib.util.spec_from_file_location("baselines", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["baselines"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["baselines"]
    for name in ("blip_bleu", "viclip"):
        registry._entries.pop(("metric", name))


@pytest.fixture
def frames() -> list[np.ndarray]:
    return list(np.random.default_rng(1).integers(0, 255, (8, 48, 64, 3), dtype=np.uint8))


def test_bleu_by_hand(baselines: Any) -> None:
    # No run of four words: 1e-15 of 1e-9 are right, as in pycocoevalcap.
    assert baselines.bleu("a red dog", "a red dog", 4) == pytest.approx(1e-6**0.25)
    assert baselines.bleu("a red dog runs", "a red dog runs", 4) == pytest.approx(1.0)
    # Two of three words, one of two pairs, and a reference that is one word longer.
    expected = math.exp(1 - 4 / 3) * math.sqrt(2 / 3 * 1 / 2)
    assert baselines.bleu("a red cat", "a red dog runs", 2) == pytest.approx(expected)
    # A word counts no more often than the prompt has it; capitals and full stops are not dropped.
    assert baselines.bleu("a a a a", "a dog", 1) == pytest.approx(1 / 4)
    assert baselines.bleu("A dog.", "a dog", 1) < 1e-9
    assert baselines.bleu("", "a dog", 1) == 0.0


@pytest.mark.slow
def test_descriptions_by_blip2(baselines: Any, tmp_path: Path, frames: list[np.ndarray]) -> None:
    make_importable()
    model = str(tiny.blip2(tmp_path))
    # It says "a" twenty times: one of twenty words is right.
    assert baselines.blip_bleu(frames, "a dog", model=model, orders="one") == pytest.approx(1 / 20)
    assert baselines.blip_bleu(frames, "a dog", model=model) == pytest.approx(1 / 80, rel=0.01)


@pytest.mark.models
def test_the_cosine_of_viclip(
    baselines: Any, tmp_path: Path, frames: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "viclip.py").write_text(VICLIP)
    (tmp_path / "simple_tokenizer.py").write_text(WORDS)
    first = baselines.viclip(frames, "a dog", code=str(tmp_path))
    assert -1 <= first <= 1
    assert baselines.viclip(frames, "a banana runs", code=str(tmp_path)) != first
