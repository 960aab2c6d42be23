"""What captions say, sorted by seven criteria: by built-in rules, or by a chat model."""

from screentest.degrade.captions.chat import ChatExtractor
from screentest.degrade.captions.facts import CRITERIA, Action, CaptionFacts, Coloured, Placed
from screentest.degrade.captions.rules import read_caption as builtin_extractor
from screentest.degrade.captions.rules import rules_signature

__all__ = [
    "CRITERIA",
    "Action",
    "CaptionFacts",
    "ChatExtractor",
    "Coloured",
    "Placed",
    "builtin_extractor",
    "rules_signature",
]
