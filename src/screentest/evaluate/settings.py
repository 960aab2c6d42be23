"""Settings: what an evaluation works with, as plain data that travels to workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

from screentest.core import BadOption
from screentest.models import Choice, Models, read_profile
from screentest.models.chat.pricing import Prices, read_prices
from screentest.models.roles import Role
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

    def cap(self, most: str | float | Decimal) -> Decimal:
        """The most that may be spent. Without a price for each model it could not be kept."""
        try:
            cap = Decimal(str(most))
        except InvalidOperation:
            raise BadOption(f"a cost cap cannot be {most!r}") from None
        for choice in self.models:
            if choice.role is Role.CHAT and choice.backend == "openai":
                self.prices.require(choice.model)
        return cap


def read_settings(
    models: Sequence[str] = (),
    profile: Path | None = None,
    prompts: Path | None = None,
    prices: Path | None = None,
    *,
    device: str = "auto",
    allow_damaged: bool = False,
    detector: str = "default",
) -> Settings:
    """Settings from texts and files; what ``models`` chooses comes before the profile."""
    chosen = [Choice.parse(text) for text in models]
    named = read_profile(profile) if profile else []
    places = {(choice.role, choice.use) for choice in chosen}
    return Settings(
        models=(*chosen, *(one for one in named if (one.role, one.use) not in places)),
        device=device,
        prompts=prompts.absolute() if prompts else None,
        detector=detector,
        prices=read_prices(prices) if prices else Prices(),
        allow_damaged=allow_damaged,
    )
