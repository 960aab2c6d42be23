"""How well an extractor agrees with labels made by hand, criterion by criterion.

Two names are the same where their last words are, singular or plural: "flower bud" and "buds"; two
actions where their first are: "leans" and "leans towards".

>>> said = CaptionFacts(subject=("red car", "dog"))
>>> print(agreement([(CaptionFacts(subject=("cars",)), said)])["subject"])
precision 0.50 (1/2), recall 1.00 (1/1)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from screentest.english.lexicon import lexicon
from screentest.testbeds.captions.facts import CRITERIA, CaptionFacts


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of one criterion over many captions."""

    right: int = 0
    found: int = 0
    labelled: int = 0

    @property
    def precision(self) -> float | None:
        """Of what was found, how much is labelled; None where nothing was found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Of what is labelled, how much was found; None where nothing is labelled."""
        return self.right / self.labelled if self.labelled else None

    def plus(self, expected: set[tuple[str, ...]], found: set[tuple[str, ...]]) -> Agreement:
        """With the counts of one more caption."""
        return Agreement(
            self.right + len(expected & found),
            self.found + len(found),
            self.labelled + len(expected),
        )

    def __str__(self) -> str:
        return (
            f"precision {_share(self.precision)} ({self.right}/{self.found}), "
            f"recall {_share(self.recall)} ({self.right}/{self.labelled})"
        )


def agreement(pairs: Iterable[tuple[CaptionFacts, CaptionFacts]]) -> dict[str, Agreement]:
    """Agreement by criterion over pairs of (labels, what was found)."""
    counts = dict.fromkeys(CRITERIA, Agreement())
    for labels, found in pairs:
        for name in CRITERIA:
            counts[name] = counts[name].plus(keys(labels, name), keys(found, name))
    return counts


def eligibility(pairs: Iterable[tuple[CaptionFacts, CaptionFacts]]) -> dict[str, Agreement]:
    """The same for the question a builder asks: does the caption say anything of this kind?"""
    counts = dict.fromkeys(CRITERIA, Agreement())
    for labels, found in pairs:
        for name in CRITERIA:
            counts[name] = counts[name].plus(_any(labels, name), _any(found, name))
    return counts


def keys(facts: CaptionFacts, name: str) -> set[tuple[str, ...]]:
    """What is compared of one criterion."""
    entries = getattr(facts, name)
    if name in ("subject", "background", "scene"):
        return {(_head(entry),) for entry in entries}
    if name in ("dynamic_degree", "human_action"):
        return {(_head(agent), _verb(action)) for agent, action in entries}
    return {(_place(first), _head(thing)) for first, thing in entries}


def _any(facts: CaptionFacts, name: str) -> set[tuple[str, ...]]:
    return {(name,)} if getattr(facts, name) else set()


def _head(text: str) -> str:
    words = text.lower().split()
    return lexicon().singular(words[-1]) if words else ""


def _verb(text: str) -> str:
    return (text.lower().split() or [""])[0]


def _place(text: str) -> str:
    return " ".join(sorted(text.lower().replace("-", " ").split()))


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
