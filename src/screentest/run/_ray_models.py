"""Hosts of models on the GPUs of a Ray cluster, and how workers reach them.

Nothing here imports Ray before it is used. A host that is lost with its node is started again by
Ray where there is room; what it was asked is asked again, since asking twice changes nothing.
"""

from __future__ import annotations

import importlib
import os
import random
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from screentest.core import NoValue, Reason, ScreentestError
from screentest.models.hosting import ModelHost
from screentest.models.roles import Role
from screentest.run._wire import as_error, error_message

_CALLS_AT_ONCE: Final = 64  # more only wait, and the pictures of all that wait are held
_TRIES: Final = 3


class RayHost:
    """A host of models as an actor: our own errors travel as data."""

    def __init__(self) -> None:
        self._host = ModelHost()

    def ask(self, *question: Any) -> tuple[str, Any]:
        """The answer, or the error of ours that stands in its place."""
        try:
            return "answer", self._host.ask(*question)
        except ScreentestError as error:
            return "error", error_message(error)


class RayLender:
    """Asks one host after the other, so that all have about the same to do. A Lender."""

    def __init__(self, hosts: Sequence[Any]) -> None:
        self._hosts = tuple(hosts)
        # Workers start at different hosts; any start will do.
        self._turns = count(random.randrange(len(self._hosts)))

    def ask(self, role: Role, backend: str, options: Mapping[str, Any], *call: Any) -> Any:
        """What a backend with these options says, on whichever host it is."""
        ray: Any = importlib.import_module("ray")
        host = self._hosts[next(self._turns) % len(self._hosts)]
        try:
            kind, value = ray.get(host.ask.remote(role, backend, dict(options), *call))
        except ray.exceptions.RayActorError as error:
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise NoValue(
                Reason.CRASHED,
                f"the host of the model was lost {_TRIES} times: {first}",
                advice="See `ray status`, and the memory of its GPU; start the same command again.",
            ) from error
        if kind == "error":
            raise as_error(value)
        return value


def start_hosts(ray: Any, replicas: int, gpus: float) -> list[Any]:
    """As many hosts as there are to be, each with its part of a GPU."""
    actor = ray.remote(RayHost).options(
        num_cpus=0,  # they wait for the GPU, and workers for them
        num_gpus=gpus,
        max_restarts=-1,
        max_task_retries=_TRIES,
        max_concurrency=_CALLS_AT_ONCE,
        scheduling_strategy="SPREAD",
    )
    return [actor.remote() for _ in range(replicas)]


def replicas_of(nodes: Sequence[Mapping[str, Any]], gpus: float) -> int:
    """How many hosts with so many GPUs each the living nodes have room for.

    >>> replicas_of([{"Alive": True, "Resources": {"GPU": 3.0}}], 2.0)
    1
    """
    living = (node["Resources"] for node in nodes if node["Alive"])
    return sum(int(resources.get("GPU", 0) / gpus) for resources in living)


def keep_to_processors() -> None:
    """A worker without a GPU must not find one: its models are with the hosts."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
