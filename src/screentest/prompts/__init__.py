"""Prompt templates, one folder per suite, in our own words; a user may replace any of them."""

from screentest.prompts.slots import fence, inline, neutralise
from screentest.prompts.templates import Prompts, Rendered
from screentest.prompts.values import Pictures, Slot, Trusted

__all__ = [
    "Pictures",
    "Prompts",
    "Rendered",
    "Slot",
    "Trusted",
    "fence",
    "inline",
    "neutralise",
]
