"""One event loop per process, in a thread of its own, so that plain code can ask async code.

A process that was forked gets its own on first use. Ctrl-C in the asking thread cancels what
it asked for, waits until that has tidied up, and goes on as Ctrl-C.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")

_TIDYING = 10.0
_lock = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, done in the event loop of this process."""
    loop = event_loop()
    if threading.current_thread().name == _name():
        work.close()
        raise RuntimeError("the event loop cannot wait for itself; await instead")
    result: Future[T] = Future()
    tasks: list[asyncio.Task[T]] = []

    def start() -> None:
        task = loop.create_task(work)
        tasks.append(task)
        task.add_done_callback(lambda task: _hand_over(task, result))

    loop.call_soon_threadsafe(start)
    try:
        return result.result()
    except BaseException:
        if not result.done():  # interrupted while waiting
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            wait([result], timeout=_TIDYING)
        raise


def event_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process, started where it was not."""
    global _running
    with _lock:
        if _running is None or _running[0] != os.getpid() or _running[1].is_closed():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name=_name(), daemon=True).start()
            _running = os.getpid(), loop
        return _running[1]


def _name() -> str:
    return f"screentest-chat-{os.getpid()}"


def _hand_over(task: asyncio.Task[T], result: Future[T]) -> None:
    if task.cancelled():
        result.set_exception(asyncio.CancelledError())
    elif (error := task.exception()) is not None:
        result.set_exception(error)
    else:
        result.set_result(task.result())


def _new_lock() -> None:
    # The lock could have been held by a thread that does not exist after a fork.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)
