"""The same metrics on the classes of the paper's models: tiny, random, loaded as published."""

from __future__ import annotations

from pathlib import Path

import pytest

from screentest.core import Item, Reason
from tests.models.tiny_backend import MARKS
from tests.suites.locot2v.films import measured, score

pytestmark = list(MARKS)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.models import tiny
    from tests.models.torchvision_here import make_importable

    make_importable()
    folder = tmp_path_factory.mktemp("models")
    return {
        "chat": tiny.vision_language_model(folder / "chat"),
        "text": tiny.sentence_model(folder / "text"),
        "image": tiny.siglip2(folder / "image"),
    }


def test_a_real_model_describes_the_film(story: Item, models: dict[str, Path]) -> None:
    """It talks nonsense, but every step of the way is the real one."""
    found = score(
        "locot2v_overall_alignment:frames=2,long_side=64",
        story,
        f"chat=hf:{models['chat']},device=cpu",
        f"text_embedding=hf:{models['text']},device=cpu",
    )
    assert 0 <= found.value <= 1
    assert str(found.details["description"])


def test_a_model_that_cannot_answer_in_form_is_no_score(
    story: Item, models: dict[str, Path]
) -> None:
    found = measured(
        "locot2v_content_clarity:frames=2,long_side=64,rounds=1",
        story,
        f"chat=hf:{models['chat']},device=cpu",
    )
    reasons = {one.failure.reason for one in found.values() if one.failure is not None}
    assert reasons <= {Reason.UNPARSABLE, Reason.TRUNCATED}
    assert reasons


def test_siglip_features(story: Item, models: dict[str, Path]) -> None:
    found = score(
        "locot2v_semantic_consistency", story, f"image_features=hf:{models['image']},device=cpu"
    )
    assert -1 <= found.value <= 1 + 1e-6
