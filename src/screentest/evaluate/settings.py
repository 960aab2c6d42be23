"""Settings: what an evaluation works with, as plain data that travels to workers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from screentest.models import Choice, Models
from screentest.models.chat.pricing import Prices
from screentest.video import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class Settings:
    """Which models, templates, detector and limits. Equal settings give equal numbers."""

    models: tuple[Choice, ...] = ()
    device: str = "auto"
    prompts: Path | None = None
    """A folder of templates that replace ours."""
    detector: str = "default"
    """Who finds the shots."""
    limits: Limits = DEFAULT_LIMITS
    prices: Prices = field(default_factory=Prices)
    allow_damaged: bool = False
    """Score what can be decoded of a damaged film; else it has no score."""

    def pinned(self, roles: tuple[str, ...]) -> Settings:
        """The same with ``builtin`` replaced by what it stands for on this machine."""
        models = Models(self.models, device=self.device)
        return replace(self, models=models.pinned(roles))
