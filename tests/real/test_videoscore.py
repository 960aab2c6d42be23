"""VideoScore's published outputs, where its weights are: in the hub's cache, or in folders.

SCREENTEST_VIDEOSCORE names a folder with `VideoScore` and `VideoScore-v1.1`, each with its card.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from screentest.core import Item
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.models import ModelChoice
from screentest.models.networks.pretrained import Origin
from screentest.run.session import Settings, Tools

PUBLISHED = {
    "VideoScore": (2.297, 2.469, 2.906, 2.766, 2.516),
    "VideoScore-v1.1": (2.328, 2.484, 2.562, 1.969, 2.594),
}
"""For the authors' example; visual, temporal, dynamic, text, factual."""
HALF = 0.02
"""They were computed in half precision, which moves the third digit from one GPU to another."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_authors_example(name: str, shared_data: Path) -> None:
    folder = os.environ.get("SCREENTEST_VIDEOSCORE")
    model = str(Path(folder) / name) if folder else f"TIGER-Lab/{name}"
    pytest.importorskip("transformers")
    if not Origin(model).is_here:
        pytest.skip(f"the weights of {name} are not here: hf download TIGER-Lab/{name}")
    prompt = re.search(r'video_prompt\s*=\s*"(.*?)"', Origin(model).card)
    assert prompt is not None, "the card has no example"
    item = Item("video1", shared_data / "videoscore" / "video1.mp4", prompt[1])
    tools = Tools(Settings(models=(ModelChoice.parse(f"videoscore=hf:{model}"),)))
    assert tools.role("videoscore").identity["question"].startswith("card.")
    found = measure(item, {"videoscore": resolve("videoscore").metric}, tools)["videoscore"]
    values = [outcome.unwrap().value for outcome in found.values()]
    assert values == pytest.approx(PUBLISHED[name], abs=HALF)
