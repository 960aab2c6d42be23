"""Models that are loaded in another process: one without a GPU uses those of one that has it.

``use_remote`` says which process has them; metrics and judges see the role they asked
for and not where it is filled. What a model says of itself is said by the one that is loaded.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache, partial
from types import FunctionType
from typing import Any, Final, Protocol, TypeAlias

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
            return lambda *arguments, **named: self._ask(name, arguments, named)
        raise AttributeError(name)

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
        self._waiting: dict[str, deque[_Call]] = defaultdict(deque)
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
        mine: Future[Any] = Future()
        place = f"{which}.{name}({json.dumps(dict(named), sort_keys=True)})"
        with self._listing:
            self._waiting[place].append((arguments[0], mine))
        with self._turn:
            act = partial(getattr(self._backend(which, role, backend, options), name), **named)
            # Whoever had the turn before may have answered this one too.
            while not mine.done():
                _answer(self._next(place), act)
        return mine.result()

    def _next(self, place: str) -> list[_Call]:
        """Those who wait, the first one first, up to what a joined call may hold."""
        with self._listing:
            waiting = self._waiting[place]
            together, held = [], 0
            while waiting and (not held or held + len(waiting[0][0]) <= _MOST):
                together.append(waiting.popleft())
                held += len(together[-1][0])
            return together

    def _backend(self, which: str, role: str, name: str, options: Mapping[str, Any]) -> Any:
        if which not in self._loaded:
            entry = registry.entry(role, name)
            self._loaded[which] = entry.factory(**dict(entry.spec(options).options))
        return self._loaded[which]


_Call: TypeAlias = tuple[Sequence[Any], Future[Any]]
"""One caller's things, and what will come of them."""


def _answer(calls: Sequence[_Call], act: Callable[[Sequence[Any]], Any]) -> None:
    """One call for all of them; where that fails, one for each, so that a fault has one owner."""
    try:
        everything = act([thing for things, _ in calls for thing in things])
    except Exception as error:  # noqa: BLE001 - a backend may raise anything
        if len(calls) > 1:
            for call in calls:
                _answer([call], act)
            return
        calls[0][1].set_exception(error)
        return
    start = 0
    for things, result in calls:
        result.set_result(everything[start : start + len(things)])
        start += len(things)
