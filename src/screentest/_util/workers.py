"""Worker processes that do not run the user's script again.

multiprocessing imports the main script in every process it starts. A script that scores videos
at its top level, as a first script does, would start its own work once more in each worker.
Ours need nothing of it, unless it is there that a task, a metric or a model comes from.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import spawn
from typing import Any

from screentest.core.registry import registry

MAIN = "__main__"
_one_at_a_time = threading.Lock()


def is_main_needed(pickled: bytes = b"") -> bool:
    """Whether workers need the main script: something is registered in it, or pickled from it."""
    return MAIN in registry.modules or MAIN.encode() in pickled


@contextmanager
def without_main() -> Iterator[None]:
    """Processes that this thread starts meanwhile do not import the main script."""
    ours, told = threading.get_ident(), spawn.get_preparation_data

    def told_without_main(name: str) -> dict[str, Any]:
        data = told(name)
        if threading.get_ident() == ours:
            data.pop("init_main_from_name", None)
            data.pop("init_main_from_path", None)
        return data

    with _one_at_a_time:
        spawn.get_preparation_data = told_without_main
        try:
            yield
        finally:
            spawn.get_preparation_data = told
