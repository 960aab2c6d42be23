"""Models that are loaded in another process: one without a GPU uses those of one that has it.

``use_remote`` says which process has them; metrics and judges see the role they asked
for and not where it is filled. What a model says of itself is said by the one that is loaded.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import FunctionType
from typing import Any, Final, Protocol

from screentest.core.registry import Entry, registry
from screentest.models.roles import CHAT, Backend, role_entry


@cache
def acts(role: str) -> frozenset[str]:
    """Return the methods of a role's backends."""
    return _named(role, FunctionType)


@cache
def facts(role: str) -> frozenset[str]:
    """Return the properties of a role's backends; asked for once."""
    return _named(role, property)


def _named(role: str, kind: type) -> frozenset[str]:
    members = {**vars(Backend), **vars(role_entry(role).factory)}
    return frozenset(
        name for name, value in members.items() if isinstance(value, kind) and name[0] != "_"
    )


class RemoteModels(Protocol):
    """A process that has models loaded."""

    def ask(self, role: str, backend: str, options: Mapping[str, Any], *call: Any) -> Any:
        """Ask a backend with these options; ``call`` is its attribute and arguments."""


_remote: RemoteModels | None = None


def use_remote(remote: RemoteModels | None) -> None:
    """From now on, this process uses remote models where it can."""
    global _remote
    _remote = remote


def is_remote(role: str, entry: Entry) -> bool:
    """Tell whether a backend is loaded in the remote process.

    Only what runs on a device of the user's choice is remote: the others need no GPU. A chat
    model pays for its calls, which are noted where they are made.
    """
    return _remote is not None and role != CHAT and "device" in entry.parameters


def remote_backend(role: str, entry: Entry, options: Mapping[str, Any]) -> Any:
    """Return the backend in the remote process; None where it is to be loaded here."""
    if _remote is None or not is_remote(role, entry):
        return None
    return RemoteBackend(_remote, role, entry.name, options)


class RemoteBackend:
    """Fills any role but chat with a backend that is loaded elsewhere."""

    def __init__(
        self, remote: RemoteModels, role: str, backend: str, options: Mapping[str, Any]
    ) -> None:
        self._remote = remote
        self._role = role
        self._backend = backend
        self._options = dict(options)
        self._facts: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name in facts(self._role):
            if name not in self._facts:
                self._facts[name] = self._ask(name)
            return self._facts[name]
        if name in acts(self._role):
            return self._doing(name)
        raise AttributeError(name)

    def _doing(self, name: str) -> Callable[..., Any]:
        def do(*arguments: Any, **named: Any) -> Any:
            return self._ask(name, arguments, named)

        return do

    def _ask(self, *call: Any) -> Any:
        return self._remote.ask(self._role, self._backend, self._options, *call)


_MOST: Final = 512  # things in one joined call; the memory they take is bounded with it


class ModelHost:
    """Loads each backend once and answers many callers. Any number of threads may ask.

    One call is answered at a time. Calls that ask the same model the same are joined into one, so
    that a GPU gets large batches although each caller has few pictures.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}
        self._waiting: dict[str, deque[_Call]] = {}
        self._listing = threading.Lock()
        self._turn = threading.Lock()

    def ask(
        self,
        role: str,
        backend: str,
        options: Mapping[str, Any],
        name: str,
        arguments: Sequence[Any] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        """Ask a backend for a property, or for its result for these arguments."""
        named = named or {}
        which = json.dumps([role, backend, dict(options)], sort_keys=True, default=str)
        joinable = name in role_entry(role).info["joined"]
        joins = joinable and len(arguments) == 1 and len(arguments[0]) > 0
        if not joins:
            with self._turn:
                attribute = getattr(self._backend(which, role, backend, options), name)
                return attribute if name in facts(role) else attribute(*arguments, **named)
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

    def _backend(self, which: str, role: str, name: str, options: Mapping[str, Any]) -> Any:
        if which not in self._loaded:
            entry = registry.entry(role, name)
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
