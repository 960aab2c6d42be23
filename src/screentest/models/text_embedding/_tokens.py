"""The tokenizer of a sentence model, cutting long texts as sentence-transformers does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.models.runtimes import TOKENIZERS, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 256
"""Tokens that all-MiniLM-L6-v2 reads, its two marks included; the rest of a text is cut."""


def load_tokenizer(path: Path) -> Any:
    """A tokenizer from its JSON file, without padding."""
    tokenizer = require(TOKENIZERS).Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


def token_ids(tokenizer: Any, text: str) -> NDArray[np.int64]:
    """The token ids of one text."""
    # A lone surrogate can stand in a Python string but in no UTF-8, which tokenizers needs.
    readable = text.encode("utf-8", "replace").decode("utf-8")
    return np.asarray(tokenizer.encode(readable).ids, np.int64)
