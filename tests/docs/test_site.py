"""The pages as a site: each has its place; ``make test`` builds it with ``mkdocs --strict``."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_page_has_its_place() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    named = re.findall(r": ([\w/]+\.md)$", nav, re.MULTILINE)
    docs = ROOT / "docs"
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*.md")}
    pages = {page for page in pages if not page.startswith("requests/")}
    assert sorted(named) == sorted({*pages, "reference/commands.md"})
