"""Suite: which metrics, the tree of dimensions their values add up to, and what goes with them.

A suite is registered by a factory, whose keywords are its options (``--suite name:option=value``):

    @register("suite", "name", version=1, summary="…")
    def name(*, option: int = 1) -> Suite: ...

Its dimensions are added up, printed and drawn by ``scores.standings`` and the report. What a suite
has beyond that (other aggregation, own tables, charts, file layout, commands) it says here: nothing
outside its own folder knows its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from screentest.analysis.results import Results, plain_name
from screentest.core import Item, UserError, build
from screentest.core.table import Chart, Table

if TYPE_CHECKING:
    from screentest.analysis.standings import StandingLevel

AddUp: TypeAlias = "Callable[[Results, Suite], Sequence[StandingLevel]]"
"""From the results of one group of items to levels, the one to rank by first."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A name and what it is the unweighted mean of: values, or further dimensions.

    >>> motion = Dimension("motion", values=("flicker", "dynamics.amount"))
    >>> [one.name for one in Dimension("all", parts=(motion,)).walk()]
    ['all', 'motion']
    """

    name: str
    values: tuple[str, ...] = ()
    """Names of values: ``metric.output:option=value,…`` (see ``core.signature.value_name``)."""
    parts: tuple[Dimension, ...] = ()
    title: str = ""
    """What people see; the name where empty."""

    def __post_init__(self) -> None:
        if bool(self.values) == bool(self.parts):
            raise ValueError(f"dimension {self.name!r} has either values or parts")

    def walk(self) -> Iterator[Dimension]:
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def leaves(self) -> tuple[str, ...]:
        return tuple(value for dimension in self.walk() for value in dimension.values)


@dataclass(frozen=True, slots=True)
class SuiteItems:
    """What a suite's own files hold."""

    items: tuple[Item, ...]
    missing: tuple[str, ...] = ()
    """Prompts without a video: they are listed, and never zeros."""
    problems: tuple[str, ...] = ()
    """What could not be read."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options that the files give to the suite's factory."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A named set of metrics with its aggregation, and everything else that is the suite's own."""

    name: str
    metrics: tuple[str, ...]
    """Specs, with the options that the suite wants."""
    dimensions: tuple[Dimension, ...] = ()
    """Empty: the values are side by side and add up to nothing."""
    groups: tuple[str, ...] = ()
    """By which groups of the items its tables are broken down, where items have them."""
    title: str = ""
    """What reports call it; the name where empty."""
    note: str = ""
    """What a reader of its standings must know."""
    scale: float = 1.0
    """What values are multiplied with where people read them: 100 for per cent."""
    read: Callable[[Path, Path | None, str], SuiteItems] | None = None
    """Its own file layout: from a file or folder, one generator's videos and that generator's
    name (both may be missing) to items."""
    add_up: AddUp | None = None
    """Instead of the unweighted mean at each level of the tree."""
    tables: Callable[[Results, str], Sequence[Table]] | None = None
    """Further tables, from results and the group to compare by."""
    charts: Callable[[Results, str], Sequence[Chart]] | None = None
    """Charts instead of the standard ones."""
    commands: str = ""
    """``module:name`` of a typer app with the suite's commands, loaded on use."""

    @property
    def heading(self) -> str:
        return self.title or self.name

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of all values that its dimensions add up."""
        return tuple(leaf for dimension in self.dimensions for leaf in dimension.leaves)

    @property
    def digits(self) -> int:
        """Digits behind the point in its printed values."""
        return 3 if self.scale < 10 else 1


def read_suite(text: str) -> Suite:
    """Return the suite that ``text`` names: ``name`` or ``name:option=value,…``."""
    suite: Suite = build("suite", text).thing
    return suite


def suites_in(results: Results) -> list[Suite]:
    """Return the suites that were asked for; those that differ in no number are one."""
    suites: dict[tuple[str, tuple[str, ...]], Suite] = {}
    for text in results.suites:
        try:
            suite = read_suite(text)
        except UserError:  # of a plugin that is not installed here: its values are all there
            continue
        leaves = tuple(plain_name(name) for name in suite.leaves)
        suites.setdefault((suite.name, leaves), suite)
    return list(suites.values())
