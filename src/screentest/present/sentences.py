"""Every sentence that people may see, errors aside: the templates of ``sentences.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

SENTENCES: Mapping[str, str] = tomllib.loads(
    Path(__file__).with_name("sentences.toml").read_text("utf-8")
)


def say(sentence: str, **values: object) -> str:
    """Return a sentence with its values filled in."""
    return SENTENCES[sentence].format_map(values)
