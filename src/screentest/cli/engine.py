"""Who does the work of a command: processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from screentest.run import Engine
    from screentest.run.session import Settings

EngineOption = Annotated[
    str,
    typer.Option("--engine", metavar="NAME", help="Who does the work: local, or ray (a cluster)."),
]
AddressOption = Annotated[
    str,
    typer.Option("--address", metavar="HOST:PORT", help="The Ray cluster; else this machine's."),
]
GpusOption = Annotated[
    float,
    typer.Option("--gpus", help="On Ray: GPUs, or the part of one, for each host of models."),
]


@contextmanager
def engine_of(
    name: str,
    address: str,
    settings: Settings,
    *,
    workers: int | None = None,
    gpus: float = 1.0,
) -> Iterator[tuple[Engine, Settings]]:
    """The engine of that name, open, and the settings as they are on it.

    This process uses the cluster's models meanwhile. Where it has no GPU, none is used here
    either: a signature must not tell of a GPU that only the machine of the driver has.
    """
    from dataclasses import replace

    from screentest.core import BadOption
    from screentest.run import LocalEngine

    if name == "ray":
        from screentest.run.ray_engine import RayEngine

        share = 0.0 if settings.device == "cpu" else gpus
        with RayEngine(address or None, workers=workers, gpus=share) as engine:
            on_cpu = settings.device == "auto" and not engine.hosts
            yield engine, replace(settings, device="cpu") if on_cpu else settings
        return
    if name != "local":
        raise BadOption(f"there is no engine {name!r}", advice="Write local or ray.")
    if address:
        raise BadOption("--address is the one of a Ray cluster", advice="Add --engine ray.")
    yield LocalEngine(workers=workers), settings
