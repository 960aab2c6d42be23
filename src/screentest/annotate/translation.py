"""Translation: prompts in the workers' language, by a chat model, shown beside the original."""

from __future__ import annotations

import hashlib


def passage_hash(passage: str) -> str:
    """How a passage is known: its translation is kept once, whichever units show it."""
    return hashlib.sha256(passage.encode("utf-8", "replace")).hexdigest()
