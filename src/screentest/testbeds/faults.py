"""Faults of testbeds and of pairs: each a kind with values; ``faults.toml`` words every kind."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WORDINGS: Mapping[str, str] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""By kind."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it should be; ``str`` words it."""

    kind: str
    """A key of ``faults.toml``."""
    values: Mapping[str, Any] = field(default_factory=dict)
    clip: int | None = None
    """Its number; None where it concerns the whole video."""
    unchanged: bool = False
    """It is that nothing was changed."""

    def __post_init__(self) -> None:
        if self.kind not in WORDINGS:
            raise ValueError(f"unknown kind of fault {self.kind!r}")

    @classmethod
    def of(cls, kind: str, /, **values: Any) -> Fault:
        """Return a fault of the whole video, or of what lists it."""
        return cls(kind, values)

    def __str__(self) -> str:
        words = WORDINGS[self.kind].format(**{name: _text(at) for name, at in self.values.items()})
        return words if self.clip is None else f"clip {self.clip + 1}: {words}"


def _text(value: Any) -> Any:
    """Return what stands for a value in a sentence; distances by severity, and names, are listed.

    >>> _text({0.5: 2.0, 1.0: 1.0})
    '2 at 0.5, 1 at 1'
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{number:.3g} at {key:g}" for key, number in value.items())
    return ", ".join(value) if isinstance(value, tuple | list) else value
