"""How many tokens a request will count as: an estimate, and an upper bound.

Every model cuts text in its own way. The estimate was fitted to OpenAI's o200k vocabulary: it
is within a tenth of it on prompts, captions, transcripts and code, within a fifth on JSON
schemas. The bound holds for any tokenizer that works on bytes.

>>> estimate_text_tokens("A red car drives along the coast at sunset.")
10
"""

from __future__ import annotations

import math
import re

from screentest.models.chat.messages import ChatRequest, Picture, Text
from screentest.models.chat.schemas import instructions

PER_MESSAGE = 8
"""Tokens that mark the beginning and end of one message, about."""

_PIECES = re.compile(r"[^\W\d_]+|\d+|\n+|[^\w\s]+|_+")
_LETTERS_PER_TOKEN = 6.5
_FOREIGN_LETTERS_PER_TOKEN = 4.0
_TOKENS_PER_SIGN = 0.8
_PATCH = 28
"""Side, in pixels, of the square that one picture token stands for in Qwen-VL models."""


def estimate_text_tokens(text: str) -> int:
    """About how many tokens a text has."""
    total = 0.0
    for match in _PIECES.finditer(text):
        piece = match.group()
        if not piece[0].isalpha():
            total += math.ceil(len(piece) / 3)
        elif piece.isascii():
            total += max(1.0, len(piece) / _LETTERS_PER_TOKEN)
        elif piece.upper() != piece.lower():
            total += max(1.0, len(piece) / _FOREIGN_LETTERS_PER_TOKEN)
        else:  # a script without upper and lower case, mostly written without spaces too
            total += len(piece) * _TOKENS_PER_SIGN
    return math.ceil(total)


def estimate_picture_tokens(picture: Picture) -> int:
    """About how many tokens a picture counts as."""
    return max(1, round(picture.width / _PATCH) * round(picture.height / _PATCH))


def estimate_input_tokens(request: ChatRequest, *, instructed: bool = True) -> int:
    """About how many tokens a request has."""
    total = PER_MESSAGE * (2 if request.system else 1) + estimate_text_tokens(request.system)
    for part in request.parts:
        if isinstance(part, Text):
            total += estimate_text_tokens(part.text)
        else:
            total += estimate_picture_tokens(part)
    if request.schema is not None and instructed:
        total += estimate_text_tokens(instructions(request.schema))
    return total


def most_input_tokens(request: ChatRequest, extra_text: str = "", image_tokens: int = 0) -> int:
    """More tokens than any server will count: one per byte of text, four per patch of picture.

    ``image_tokens`` is what the user's price file says one picture counts as, where it does.
    """
    texts = [request.system, extra_text]
    texts += [part.text for part in request.parts if isinstance(part, Text)]
    if request.schema is not None:
        texts.append(instructions(request.schema) * 2)  # in words, and as response_format
    total = sum(len(text.encode("utf-8", "replace")) for text in texts) + 64
    for picture in request.pictures:
        patches = math.ceil(picture.width / _PATCH) * math.ceil(picture.height / _PATCH)
        total += max(4 * patches + 1024, image_tokens)
    return total
