"""What captions say, sorted by seven criteria: by built-in rules, or by a chat model."""

from screentest.testbeds.captions.facts import (
    CRITERIA,
    CaptionAction,
    CaptionFacts,
    ChatExtractor,
    Coloured,
    Placed,
)
from screentest.testbeds.captions.rules import read_caption as builtin_extractor
from screentest.testbeds.captions.rules import rules_signature

__all__ = [
    "CRITERIA",
    "CaptionAction",
    "CaptionFacts",
    "ChatExtractor",
    "Coloured",
    "Placed",
    "builtin_extractor",
    "rules_signature",
]
