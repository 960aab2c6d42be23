from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from screentest.models.chat import session as loop


def test_one_loop_for_all_threads() -> None:
    seen = []

    async def where() -> int:
        return threading.get_ident()

    threads = [threading.Thread(target=lambda: seen.append(loop.run(where()))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1
    assert threading.get_ident() not in seen


def test_errors_come_back() -> None:
    async def fail() -> None:
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        loop.run(fail())


def test_it_does_not_wait_for_itself() -> None:
    async def nested() -> None:
        async def inner() -> None: ...

        loop.run(inner())

    with pytest.raises(RuntimeError, match="cannot wait for itself"):
        loop.run(nested())


def test_an_interrupt_waits_until_all_is_tidied(monkeypatch: pytest.MonkeyPatch) -> None:
    started, tidied = threading.Event(), threading.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            tidied.set()

    real = Future.result
    calls = 0

    def interrupted(self: object, timeout: float | None = None) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:
            started.wait()
            raise KeyboardInterrupt
        return real(self, timeout)  # type: ignore[arg-type]

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop.run(work())
    assert tidied.is_set()
