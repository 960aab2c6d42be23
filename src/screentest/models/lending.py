"""Models that are loaded elsewhere and lent: a process without a GPU uses those of one that has.

Whoever lends is told to ``Models`` by ``lend_from``; metrics and judges see the role they asked
for and not where it is filled. What a model says of itself is said by the one that is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol

from screentest.core.registry import Entry
from screentest.models.roles import Role

FACTS: Final = frozenset({"identity", "max_tokens", "scale", "max_frames"})
"""What a backend says of itself; asked for once."""

ACTS: Final[Mapping[Role, frozenset[str]]] = {
    Role.TEXT_EMBEDDING: frozenset({"embed"}),
    Role.IMAGE_TEXT: frozenset({"count_tokens", "embed_images", "embed_texts"}),
    Role.IMAGE_FEATURES: frozenset({"features"}),
    Role.FLOW: frozenset({"flow"}),
    Role.INTERPOLATION: frozenset({"midpoint"}),
    Role.AESTHETIC: frozenset({"score"}),
    Role.TECHNICAL: frozenset({"score"}),
    Role.VIDEOSCORE: frozenset({"score"}),
    Role.MATTING: frozenset({"matte"}),
    Role.DETECTION: frozenset({"detect"}),
    Role.SEGMENTATION: frozenset({"segment"}),
    Role.INPAINTING: frozenset({"inpaint"}),
    Role.IMAGE_EDIT: frozenset({"recolour"}),
}
"""What a backend does, by its role. A chat model pays for its calls and is not lent."""


class Lender(Protocol):
    """Somebody who has models loaded."""

    def ask(self, role: Role, backend: str, options: Mapping[str, Any], *call: Any) -> Any:
        """What a backend with these options says; ``call`` is its attribute and arguments."""


_lender: Lender | None = None


def lend_from(lender: Lender | None) -> None:
    """From now on, this process borrows what can be borrowed."""
    global _lender
    _lender = lender


@contextmanager
def lent_by(lender: Lender) -> Iterator[None]:
    """Meanwhile, this process borrows what can be borrowed."""
    before = _lender
    lend_from(lender)
    try:
        yield
    finally:
        lend_from(before)


def borrowed(role: Role, entry: Entry, options: Mapping[str, Any]) -> Any:
    """The backend from whoever lends; None where it is to be loaded here.

    Only what runs on a device of the user's choice is lent: the others need no GPU.
    """
    if _lender is None or role not in ACTS or "device" not in entry.parameters:
        return None
    return Borrowed(_lender, role, entry.name, options)


class Borrowed:
    """Fills any role but chat with a backend that is loaded elsewhere."""

    def __init__(
        self, lender: Lender, role: Role, backend: str, options: Mapping[str, Any]
    ) -> None:
        self._lender = lender
        self._role = role
        self._backend = backend
        self._options = dict(options)
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name in FACTS:
            if name not in self._known:
                self._known[name] = self._ask(name)
            return self._known[name]
        if name in ACTS[self._role]:
            return self._doing(name)
        raise AttributeError(name)

    def _doing(self, name: str) -> Callable[..., Any]:
        def do(*arguments: Any, **named: Any) -> Any:
            return self._ask(name, arguments, named)

        return do

    def _ask(self, *call: Any) -> Any:
        return self._lender.ask(self._role, self._backend, self._options, *call)
