"""Source: an item on its way to a testbed, and what is known of it so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from screentest.core import Clip, Failure, Item, Outcome
from screentest.degrade.captions.facts import CaptionFacts
from screentest.degrade.intact import Intact
from screentest.degrade.options import Rung
from screentest.run import RecordKey, Stamp


@dataclass(frozen=True, slots=True)
class Extractor:
    """Reads captions in this process. The name is part of the recipe."""

    name: str
    extract: Callable[[str], CaptionFacts]


def by_rules() -> Extractor:
    """The built-in reading."""
    from screentest.degrade.captions import builtin_extractor, rules_signature

    return Extractor(str(rules_signature()), builtin_extractor)


@dataclass(slots=True)
class Source:
    """An item on its way to a testbed."""

    item: Item
    stamps: tuple[Stamp, ...] = ()
    """Its file as it was before anything was read of it."""
    inputs: str = ""
    facts: tuple[CaptionFacts | None, ...] = ()
    """Of each caption; None where it could not be read."""
    faults: list[str] = field(default_factory=list)
    """What was wrong with it, in words."""
    lost: Failure | None = None
    """Why nothing can be made of it."""
    waiting: bool = False
    """The build was stopped before it was prepared."""
    intact_key: RecordKey = field(default_factory=lambda: RecordKey("-", "-"))
    film: Outcome[Intact] | None = None
    keys: dict[tuple[str, Rung | None], RecordKey] = field(default_factory=dict)
    """By operator and rung."""

    @property
    def usable(self) -> bool:
        """Whether it can be worked on."""
        return self.lost is None and not self.waiting

    @property
    def clips(self) -> Sequence[Clip]:
        """The clips of its script."""
        return self.item.script.clips if self.item.script is not None else ()

    @property
    def unread(self) -> tuple[int, ...]:
        """Clips whose caption could not be read."""
        return tuple(number for number, facts in enumerate(self.facts) if facts is None)


def sources_of(items: Iterable[Item], lost: Mapping[str, Failure], home: Path) -> list[Source]:
    """Items as sources, and with them those that were lost before they came here."""
    # The stamp is taken before anything is hashed: a file swapped in between is noticed.
    found = [Source(item, _stamps(item.video)) for item in items]
    return [*found, *(Source(Item(name, home), lost=failure) for name, failure in lost.items())]


def _stamps(path: Path) -> tuple[Stamp, ...]:
    stamp = Stamp.of(path)
    return () if stamp is None else (stamp,)
