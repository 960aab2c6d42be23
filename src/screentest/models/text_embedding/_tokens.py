"""The tokenizer of a sentence model, cutting long texts as sentence-transformers does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.models.runtimes import TOKENIZERS, require
from screentest.models.texts import readable

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 256
"""Tokens that all-MiniLM-L6-v2 reads, its two marks included; the rest of a text is cut."""
_MARKS = 2


def load_tokenizer(path: Path) -> Any:
    """A tokenizer from its JSON file, without padding."""
    tokenizer = require(TOKENIZERS).Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


def token_ids(tokenizer: Any, text: str) -> NDArray[np.int64]:
    """The token ids of one text, cut where it is too long."""
    return windows(tokenizer, text)[0]


def windows(tokenizer: Any, text: str) -> list[NDArray[np.int64]]:
    """The token ids of a whole text, in as many pieces as it needs."""
    encoding = tokenizer.encode(readable(text))
    return [np.asarray(one.ids, np.int64) for one in (encoding, *encoding.overflowing)]


def count_tokens(tokenizer: Any, text: str) -> int:
    """How many tokens a text has, with the mark at each end."""
    return _MARKS + sum(len(window) - _MARKS for window in windows(tokenizer, text))
