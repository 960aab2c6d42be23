"""Files of ours that the documents name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = [ROOT / name for name in ("", "src/screentest", "tests", "bench", "examples")]
DOCUMENTS = sorted(
    [
        *ROOT.glob("design/*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/evidence/*.md"),
        ROOT / "SECURITY.md",
    ]
)
PROMISES = [path for path in sorted(ROOT.glob("design/*.md")) if path.stem != "architecture"]
THEIRS = {"setup.py", "worker.py", "amt_worker.py", "evaluate_one_video.py", "my_metric.py"}
"""Files of the reader, or of other projects."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_files_that_a_document_names(document: Path) -> None:
    spans = re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8"))
    named = {path for span in spans for path in re.findall(r"[\w./-]+\.(?:py|js)\b", span)}
    lost = [path for path in named if not any((place / path).exists() for place in PLACES)]
    assert set(lost) <= THEIRS


@pytest.mark.parametrize("page", PROMISES, ids=lambda path: path.stem)
def test_a_page_of_promises_names_the_tests_that_hold_them(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"(tests/[\w/]+\.py)(?:::(\w+))?", text)
    assert any(Path(path).name.startswith("test_") for path, _ in named), "no test is named"
    for path, test in named:
        content = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"def {test}\b" if test else "", content), f"{path}::{test}"
