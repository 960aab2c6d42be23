from __future__ import annotations

import asyncio
import random

from screentest.models.chat.limiter import Limiter
from tests.models.chat.kit import FakeClock


def limiter(most: int = 8, clock: FakeClock | None = None) -> Limiter:
    return Limiter(most, clock or FakeClock(), random.Random(1))


async def run_together(limited: Limiter, count: int) -> int:
    most = 0

    async def work() -> None:
        nonlocal most
        async with limited.slot():
            most = max(most, limited._active)
            await asyncio.sleep(0)

    await asyncio.gather(*(work() for _ in range(count)))
    assert limited._active == 0
    return most


def test_never_more_than_allowed() -> None:
    assert asyncio.run(run_together(limiter(5), 50)) == 5


def test_halves_once_per_burst() -> None:
    clock = FakeClock()
    limited = limiter(64, clock)
    began = clock.now
    for _ in range(10):  # ten refusals of calls that began together
        clock.now += 0.01
        limited.congested(began, wait=1)
    assert limited.limit == 32
    limited.congested(clock.now, wait=1)
    assert limited.limit == 16


def test_never_below_one() -> None:
    clock = FakeClock()
    limited = limiter(4, clock)
    for _ in range(20):
        clock.now += 1
        limited.congested(clock.now, 0)
    assert limited.limit == 1
    assert asyncio.run(run_together(limited, 5)) == 1


def test_grows_by_one_for_each_round_of_successes() -> None:
    clock = FakeClock()
    limited = limiter(64, clock)
    for _ in range(3):
        clock.now += 1
        limited.congested(clock.now, 0)
    assert limited.limit == 8
    for _ in range(9):
        limited.succeeded()
    assert limited.limit == 9
    for _ in range(10_000):
        limited.succeeded()
    assert limited.limit == 64


def test_a_pause_holds_for_everyone_and_ends_spread_out() -> None:
    clock = FakeClock()
    limited = limiter(4, clock)

    async def check() -> None:
        limited.congested(clock.now, wait=10)
        until = clock.now + 10
        starts = []

        async def work() -> None:
            async with limited.slot():
                starts.append(clock.now)

        await asyncio.gather(*(work() for _ in range(4)))
        assert all(start >= until for start in starts)
        assert len(starts) == 4

    asyncio.run(check())
    assert max(clock.sleeps) <= 10 * 1.25
    assert len(set(clock.sleeps)) == len(clock.sleeps)


def test_those_who_stop_waiting_leave_no_hole() -> None:
    async def check() -> None:
        limited = limiter(1)
        held = asyncio.Event()

        async def hold() -> None:
            async with limited.slot():
                await held.wait()

        holder = asyncio.create_task(hold())
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(run_together(limited, 1)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        held.set()
        await asyncio.sleep(0)
        waiting[1].cancel()  # perhaps just being admitted
        await asyncio.gather(holder, *waiting, return_exceptions=True)
        assert limited._active == 0
        assert await run_together(limited, 3) == 1

    asyncio.run(check())
