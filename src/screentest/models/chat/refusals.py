"""Recognise an answer that is about itself: the model declines, saw nothing, or guesses.

Forms have a field for this, ``declined``. The word lists in ``refusals.toml`` are for free text and
for objects that leave that field empty. An answer with a finding is never a refusal: a refusal
speaks of the model, the request and the material, and of nothing else.

>>> declines("[NO] I am unable to view the video.")
True
>>> declines("I can't see any cat in the frames. [NO]")
False
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from pathlib import Path

_HELPLESS = re.compile(
    r"\b(?:i|i'm|we)(?: am)?(?: \w+)? (?:cannot|can't|won't|unable to|not able to) (?:\w+ly )?"
    r"(?:help|assist|comply|continue|fulfil|watch it|describe it|(?:answer|provide|give) (?:an?|any"
    r"|that|this))\b|\bi(?:'m| am| must| will)? (?:declin|refus)|^ *(?:error|fatal) *$"
    r"|\bas an? (?:[\w-]+ ){0,3}(?:ai|model),? i\b"
)
# Quoted words are what a video shows; tokens and objects are the answer, not what is said of it.
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|「[^」\n]{1,300}」")
_ANSWER = re.compile(r"\[\s*\w+\s*\]|\b(?:in|dans) (?:your|votre) \w+")
_PARTICLES = re.compile(r"[\u3040-\u309f了到的]")


_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _pattern(*lists: str) -> re.Pattern[str]:
    words = " ".join(_WORDS[name] for name in lists).replace("*", r"\w*").split()
    spaced = "|".join(word for word in words if word < "\u3000")
    unspaced = "|".join(sorted((w for w in words if w > "\u3000"), key=len, reverse=True))
    return re.compile(rf"\b(?:{spaced})(?![\w'])|{unspaced}")


_DENIED, _DONE, _NAMED = _pattern("denials"), _pattern("deeds"), _pattern("material")
_GUESSED = _pattern("guesses")
_LISTED = _pattern(*_WORDS)


def declines(text: str) -> bool:
    """Tell whether a text is about itself and holds no finding."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").lower()
    before, _, rest = plain.partition("{")
    plain = f"{before} {rest.rpartition('}')[2]}"
    sentences = re.split(r"[.!?;:\n。！？]+", _ANSWER.sub(" ", _QUOTED.sub("quoted", plain)))
    helpless = [sentence for sentence in sentences if _HELPLESS.search(sentence)]
    rest = " ".join(sentence for sentence in sentences if sentence not in helpless)
    if re.search(r"\w", _PARTICLES.sub("", _LISTED.sub("", rest))):
        return False
    denied = _DENIED.search(rest) and _DONE.search(rest) and _NAMED.search(rest)
    return bool(helpless or denied or _GUESSED.search(rest))
