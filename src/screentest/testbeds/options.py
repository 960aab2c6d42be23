"""What a build is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from screentest.core import BUILTIN_ASPECTS, BadOption, seconds
from screentest.core.registry import BUILTIN, registry
from screentest.models import ModelChoice
from screentest.video.edit.encode import EncoderSettings

EXTRACTORS = ("rules", "chat")
REQUIRE, REPORT, OFF = "require", "report", "off"
MOST_CLIPS, MOST_RUNGS = 1000, 100
SMALLEST, LARGEST = 16, 8192
"""Long sides, in pixels."""
FASTEST = 240
"""Frames a second."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of a ladder: how hard, in how many clips."""

    severity: float
    clips: int


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Everything that decides what a testbed holds, the corpus apart."""

    degradations: tuple[str, ...] = tuple(aspect.value for aspect in BUILTIN_ASPECTS)
    """Names, with options where wanted: ``appearance_style:style=cartoon``."""
    placebos: tuple[str, ...] = ()
    seed: int = 7
    clips: tuple[int, ...] = (5,)
    least_clips: int | None = None
    """A film with fewer eligible clips than asked for, but so many, is harmed in those it has.
    None skips it, as the paper does."""
    severities: tuple[float, ...] = (1.0,)
    long_side: int | None = 512
    """The long side of all videos, in pixels; None keeps that of the source."""
    rate: Fraction | None = None
    """Frames per second; None keeps the frames of the source."""
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    extract: str = "rules"
    """Who reads the captions: the built-in rules, or "chat"."""
    models: tuple[ModelChoice, ...] = ()
    device: str = "auto"
    detector: str = "default"
    """Who finds the clips of films whose captions have no times."""
    check: str = REQUIRE
    """Whether a pair must pass its check, is kept with what the check found, or is not checked."""
    preset: str = ""
    """The preset that fixed all of this; empty where there was none."""

    def __post_init__(self) -> None:
        for severity in self.severities:
            if not 0 < severity <= 1:  # NaN is neither
                raise BadOption.of("severities", severity, "in (0, 1]")
        for count in self.clips:
            if not 1 <= count <= MOST_CLIPS:
                raise BadOption.of("clips", count, f"1 to {MOST_CLIPS:,}")
        if len(self.rungs) > MOST_RUNGS:
            raise BadOption(
                f"invalid ladder of {len(self.rungs)} rungs: must have {MOST_RUNGS} or fewer"
            )
        self._check_least()
        if self.extract not in EXTRACTORS:
            raise BadOption.of("extract", self.extract, " or ".join(EXTRACTORS))
        if self.check not in (REQUIRE, REPORT, OFF):
            raise BadOption.of("check", self.check, f"{REQUIRE}, {REPORT} or {OFF}")
        if self.long_side is not None and not SMALLEST <= self.long_side <= LARGEST:
            sides, advice = f"{SMALLEST} to {LARGEST:,} pixels", "0 keeps the source's."
            raise BadOption.of("long_side", self.long_side, sides, advice=advice)
        if self.rate is not None and not 0 < self.rate <= FASTEST:
            raise BadOption.of("fps", self.rate, f"in (0, {FASTEST}]")
        if not (self.degradations or self.placebos) or not self.clips or not self.severities:
            raise BadOption("there is nothing to build", advice="Give `operators` or `placebos`.")
        for kind, specs in (("degradation", self.degradations), ("placebo", self.placebos)):
            names = [spec.partition(":")[0] for spec in specs]
            for name in names:
                registry.entry(kind, name)  # an unknown one is refused before any work
                if names.count(name) > 1:
                    raise BadOption(f"{name} is asked for twice")

    def _check_least(self) -> None:
        if self.least_clips is None:
            return
        if len(set(self.clips)) > 1:
            raise BadOption(
                "`min_clips` goes with one number of `clips`",
                advice="With several, a film needs as many clips as the largest.",
            )
        if not 1 <= self.least_clips <= self.clips[0]:
            raise BadOption.of("min_clips", self.least_clips, f"1 to {self.clips[0]}")

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """All steps, gentle ones first."""
        steps = product(sorted(set(self.clips)), sorted(set(self.severities)))
        return tuple(Rung(severity, clips) for clips, severity in steps)


def placebo_specs(given: str | Sequence[str]) -> tuple[str, ...]:
    """Placebos: ``all``, ``none``, names with commas, or one with options.

    ``all`` are the built-in ones; those of plugins are named, so that no testbed changes because
    a package was installed.
    """
    specs: list[str] = []
    for text in [given] if isinstance(given, str) else given:
        if text == "all":
            specs += [
                entry.name for entry in registry.entries("placebo") if entry.origin == BUILTIN
            ]
        elif ":" in text:
            specs.append(text)
        elif text != "none":
            specs += [name.strip() for name in text.split(",") if name.strip()]
    return tuple(specs)


def frame_rate(given: str | float | Fraction | None) -> Fraction | None:
    """Frames per second, exactly; None keeps those of the source."""
    if given is None or isinstance(given, Fraction):
        return given
    try:
        return seconds(given) if isinstance(given, str) else Fraction(given).limit_denominator(1001)
    except (BadOption, ValueError, OverflowError):
        advice = "Write 24, 29.97 or 30000/1001."
        raise BadOption.of("fps", given, "a frame rate", advice=advice) from None
