"""Suite: which metrics, and the tree of dimensions that their values add up to.

A suite is registered by a factory: ``@register("suite", "name", version=1, summary="…")``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from screentest.core import build


@dataclass(frozen=True, slots=True)
class Dimension:
    """A name and what it is the unweighted mean of: values, or further dimensions.

    >>> motion = Dimension("motion", values=("flicker", "dynamics.amount"))
    >>> [one.name for one in Dimension("all", parts=(motion,)).walk()]
    ['all', 'motion']
    """

    name: str
    values: tuple[str, ...] = ()
    """``metric.output``, or ``metric`` where the output has the metric's own name."""
    parts: tuple[Dimension, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.values) == bool(self.parts):
            raise ValueError(f"dimension {self.name!r} has either values or parts")

    def walk(self) -> Iterator[Dimension]:
        """This dimension and all below it."""
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class Suite:
    """A named set of metrics with its aggregation."""

    name: str
    metrics: tuple[str, ...]
    """Specs, with the options that the suite wants."""
    dimensions: tuple[Dimension, ...] = ()
    """Empty: the values stand side by side and add up to nothing."""
    groups: tuple[str, ...] = field(default=())
    """By which groups of the items its tables are broken down, where items have them."""


def read_suite(text: str) -> Suite:
    """The suite that ``text`` names: ``name`` or ``name:option=value,…``."""
    suite: Suite = build("suite", text).thing
    return suite
