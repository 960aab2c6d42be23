"""Saying which numbers rest on a built-in stand-in, not on the model that a paper names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screentest.run.session import Settings


def stand_ins(metrics: Sequence[str], settings: Settings) -> dict[str, str]:
    """The built-in backend of each role that these metrics ask for and that one fills."""
    from screentest.core import registry
    from screentest.scores.evaluators import resolve

    roles = tuple(dict.fromkeys(role for name in metrics for role in resolve(name).info.roles))
    asked = {role.partition(".")[0] for role in roles}
    return {
        choice.role.value: choice.backend
        for choice in settings.pinned(roles).models
        if choice.role.value in asked
        and "builtin" in registry.entry(choice.role.value, choice.backend).info
    }


def print_stand_ins(found: Mapping[str, str]) -> None:
    """One paragraph under the numbers; nothing where there are none."""
    from screentest.cli.tables import print_indented

    if found:
        named = ", ".join(f"{role}={backend}" for role, backend in sorted(found.items()))
        print_indented(
            f"With built-in backends, not the models of the papers: {named}. "
            "`screentest models` shows others.",
            indent=0,
        )
