"""A host of models: loads each once and answers many at a time, what waits together together.

Calls of several callers that ask the same model the same are joined into one, so that a GPU
gets large batches although each caller has few pictures.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from screentest.core.registry import registry
from screentest.models.lending import FACTS
from screentest.models.roles import Role

_JOINED: Final = frozenset(
    {
        (Role.TEXT_EMBEDDING, "embed"),
        (Role.IMAGE_TEXT, "embed_images"),
        (Role.IMAGE_TEXT, "embed_texts"),
        (Role.IMAGE_FEATURES, "features"),
        (Role.FLOW, "flow"),
        (Role.INTERPOLATION, "midpoint"),
        (Role.AESTHETIC, "score"),
        (Role.MATTING, "matte"),
    }
)
"""What takes a sequence and gives one thing for each: such sequences can be joined."""

_MOST: Final = 512  # things in one joined call; the memory they take is bounded with it


class ModelHost:
    """Holds loaded backends. Any number of threads may ask; one at a time is answered."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}
        self._waiting: dict[str, deque[_Call]] = {}
        self._listing = threading.Lock()
        self._turn = threading.Lock()

    def ask(
        self,
        role: Role,
        backend: str,
        options: Mapping[str, Any],
        name: str,
        arguments: Sequence[Any] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        """What a backend says of itself, or gives for some arguments."""
        named = named or {}
        which = json.dumps([role.value, backend, dict(options)], sort_keys=True, default=str)
        joins = (role, name) in _JOINED and len(arguments) == 1 and len(arguments[0]) > 0
        if not joins:
            with self._turn:
                said = getattr(self._backend(which, role, backend, options), name)
                return said if name in FACTS else said(*arguments, **named)
        mine = _Call(arguments[0])
        place = f"{which}.{name}({json.dumps(dict(named), sort_keys=True)})"
        with self._listing:
            self._waiting.setdefault(place, deque()).append(mine)
        with self._turn:
            act = partial(getattr(self._backend(which, role, backend, options), name), **named)
            # Whoever had the turn before may have answered this one too.
            while not mine.answered:
                _answer(self._next(place), act)
        return mine.result()

    def _next(self, place: str) -> list[_Call]:
        """Those who wait, the first one first, up to what a joined call may hold."""
        with self._listing:
            waiting = self._waiting[place]
            together = [waiting.popleft()]
            held = len(together[0].things)
            while waiting and held + len(waiting[0].things) <= _MOST:
                held += len(waiting[0].things)
                together.append(waiting.popleft())
            return together

    def _backend(self, which: str, role: Role, name: str, options: Mapping[str, Any]) -> Any:
        if which not in self._loaded:
            entry = registry.entry(role.value, name)
            self._loaded[which] = entry.factory(**dict(entry.spec(options).options))
        return self._loaded[which]


@dataclass(slots=True, eq=False)
class _Call:
    """One caller's things, and what came of them."""

    things: Sequence[Any]
    answered: bool = False
    value: Any = None
    trouble: Exception | None = None

    def result(self) -> Any:
        if self.trouble is not None:
            raise self.trouble
        return self.value


def _answer(calls: Sequence[_Call], act: Callable[[Sequence[Any]], Any]) -> None:
    """One call for all of them; where that fails, one for each, so that a fault has one owner."""
    try:
        everything = act([thing for call in calls for thing in call.things])
    except Exception as error:  # noqa: BLE001 - a backend may raise anything
        if len(calls) > 1:
            for call in calls:
                _answer([call], act)
            return
        calls[0].trouble, calls[0].answered = error, True
        return
    start = 0
    for call in calls:
        call.value = everything[start : start + len(call.things)]
        start += len(call.things)
        call.answered = True
