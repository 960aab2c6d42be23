"""Models that are loaded elsewhere and lent: a process without a GPU uses those of one that has.

Whoever lends is told to ``Models`` by ``lend_from``; metrics and judges see the role they asked
for and not where it is filled. What a model says of itself is said by the one that is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Final, Protocol

from screentest.core.registry import Entry
from screentest.models import roles
from screentest.models.roles import Role

_PROTOCOLS: Final[Mapping[Role, type]] = {
    Role.TEXT_EMBEDDING: roles.TextEmbedding,
    Role.IMAGE_TEXT: roles.ImageText,
    Role.IMAGE_FEATURES: roles.ImageFeatures,
    Role.FLOW: roles.Flow,
    Role.INTERPOLATION: roles.Interpolation,
    Role.AESTHETIC: roles.Aesthetic,
    Role.TECHNICAL: roles.Technical,
    Role.VIDEOSCORE: roles.VideoScore,
    Role.MATTING: roles.Matting,
    Role.DETECTION: roles.Detector,
    Role.SEGMENTATION: roles.Segmentation,
    Role.INPAINTING: roles.Inpainting,
    Role.IMAGE_EDIT: roles.ImageEdit,
}
"""What can be lent. A chat model pays for its calls, which are written down where they are made."""


def _named(protocol: type, kind: type) -> frozenset[str]:
    found = {**vars(roles.Backend), **vars(protocol)}
    return frozenset(
        name for name, value in found.items() if isinstance(value, kind) and name[0] != "_"
    )


ACTS: Final = {role: _named(protocol, FunctionType) for role, protocol in _PROTOCOLS.items()}
"""What a backend does, by its role."""

FACTS: Final = frozenset().union(*(_named(one, property) for one in _PROTOCOLS.values()))
"""What a backend says of itself; asked for once."""


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
