"""What models see in the pictures of a touched clip, before and after.

The part of a pair's check that needs to know what is shown: whether the thing is gone or has its
new colour, whether the subject is still there, whether what lies beside it was left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from screentest.core import Image
from screentest.models import Models
from screentest.testbeds.contract import Details, Region


@dataclass(frozen=True, slots=True)
class ClipSample:
    """Some pictures of a touched clip, before and after, RGB; and what was settled for it."""

    pictures: Sequence[tuple[Image, Image]]
    details: Details
    severity: float
    models: Models | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What a check of a clip measured; a fault in words where it is not as it should be."""

    figures: Mapping[str, float] = field(default_factory=dict)
    fault: str = ""
    most: frozenset[str] = frozenset()
    """Figures of which the largest is the worst."""


ClipCheck: TypeAlias = Callable[[ClipSample], Measured]


def check_region(sample: ClipSample, region: Region) -> Measured:
    """Whether what lies outside the region was left alone, and what is in it was changed."""
    return Measured()


CLIP_CHECKS: Mapping[str, ClipCheck] = {}
"""By name, what `DegradationInfo.checks` may ask for."""
