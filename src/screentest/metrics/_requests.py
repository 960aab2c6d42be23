"""The frames that the metrics of the base install ask for.

They share a few sizes, since each distinct one is a conversion of every frame.
"""

from __future__ import annotations

from fractions import Fraction

from screentest.core import Filter, FrameRequest, Layout, Size

SAMPLED = 4.0
"""Frames a second, where not every one is needed: a shot of a quarter of a second has one."""


def detail(rate: float) -> FrameRequest:
    """Luma as it is coded and in its own size, for what scaling would hide."""
    return FrameRequest(rate=_rate(rate), layout=Layout.LUMA)


def colour(rate: float) -> FrameRequest:
    """Small colour pictures."""
    return FrameRequest(
        rate=_rate(rate), size=Size(long_side=160), layout=Layout.RGB, filter=Filter.AREA
    )


def motion(rate: float | None) -> FrameRequest:
    """Small grey pictures; None for every frame."""
    return FrameRequest(
        rate=None if rate is None else _rate(rate), size=Size(long_side=160), layout=Layout.GRAY
    )


def _rate(rate: float) -> Fraction:
    return Fraction(str(rate))
