"""Every operator is on its page, with a picture."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from screentest.testbeds.catalogue import OperatorSet, operators

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reference" / "operators.md"
PICTURES = DOCS / "pictures" / "degradations"
BUILTIN = {one.name for one in operators() if one.set is not OperatorSet.PLUGIN}
MOST = 1_500_000
"""Bytes of all pictures together: they are in every clone."""


def test_every_operator_is_described_and_shown() -> None:
    text = PAGE.read_text(encoding="utf-8")
    described = re.findall(r"^\*\*`(\w+)`\*\*", text, re.MULTILINE)
    shown = re.findall(r"\(\.\./pictures/degradations/(\w+)\.webp\)", text)
    assert sorted(described) == sorted(shown) == sorted(BUILTIN)


def test_every_picture_is_there_and_no_other() -> None:
    files = [path for path in PICTURES.iterdir() if path.name != "__pycache__"]
    assert {path.name for path in files} == {f"{name}.webp" for name in BUILTIN}
    assert sum(path.stat().st_size for path in files) < MOST


def test_the_list_is_as_the_script_writes_it() -> None:
    script = runpy.run_path(str(DOCS / "pictures" / "degradations.py"))
    assert script["listed"]() in PAGE.read_text(encoding="utf-8")
