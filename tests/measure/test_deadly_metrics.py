"""Metrics of a user's own that end, hang or exhaust their process: the others are scored."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.core import Reason, registry
from screentest.measure.tasks import score_items
from screentest.run.engine import LocalEngine
from screentest.run.session import Settings
from screentest.run.store import RunStore
from screentest.testing.films import captioned_film
from screentest.video.limits import DEFAULT_LIMITS

MODULE = "deadly_metrics_for_a_test"
CODE = """
import asyncio, ctypes, os, signal, sys
import screentest

def killed():
    os.kill(os.getpid(), signal.SIGKILL)

def segfault():
    ctypes.string_at(0)

def quits():
    os._exit(0)

def hangs():
    # It holds the interpreter, as a loop in C does, and takes no time of a processor.
    ctypes.PyDLL(None).sleep(3600)

def raises(error):
    raise error

WAYS = {
    "killed": killed,
    "segfault": segfault,
    "quits": quits,
    "hangs": hangs,
    "system_exit": lambda: sys.exit(0),
    "interrupt": lambda: raises(KeyboardInterrupt),
    "memory": lambda: raises(MemoryError),
    "cancelled": lambda: raises(asyncio.CancelledError),
    "generator_exit": lambda: raises(GeneratorExit),
    "bytes": lambda: bytearray(1 << 62),
    "recursion": lambda: (lambda f: f(f))(lambda f: f(f)),
}

def deadly(name, way):
    def per_frame(image):
        way()
        return 0.5
    def per_item(item):
        way()
        return 0.5
    screentest.metric(name=f"frame_{name}")(per_frame)
    screentest.metric(name=f"item_{name}")(per_item)

for name, way in WAYS.items():
    deadly(name, way)
"""
CRASHED, DIED = Reason.CRASHED, Reason.DECODER_CRASHED
WAYS = {
    "killed": DIED,
    "segfault": DIED,
    "quits": DIED,
    "hangs": Reason.TIMED_OUT,
    "system_exit": CRASHED,
    "interrupt": DIED,  # nobody can tell it from that of the user
    "memory": CRASHED,
    "cancelled": DIED,
    "generator_exit": DIED,
    "bytes": CRASHED,
    "recursion": CRASHED,
}


@pytest.fixture(scope="module", autouse=True)
def _registered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have them registered by a module of the user's, as a plugin's are."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / f"{MODULE}.py").write_text(CODE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        importlib.import_module(MODULE)
        yield
    for way in WAYS:
        for level in ("frame", "item"):
            registry._entries.pop(("metric", f"{level}_{way}"))


@pytest.mark.parametrize(
    "metrics",
    [
        ["frame_hangs"],
        ["item_hangs"],
        ["frame_segfault"],
        [f"{level}_{way}" for way in WAYS for level in ("frame", "item") if way != "hangs"],
    ],
    ids=["hangs at a frame", "hangs at a video", "dies at a frame", "all others at once"],
)
def test_each_has_a_reason_and_the_others_a_value(metrics: list[str], tmp_path: Path) -> None:
    films = [captioned_film(tmp_path, f"film{n}", clips=1, seconds=1) for n in range(2)]
    # 4 s for all, so 2 s for each alone: a film of 8 small frames takes a small part of one, but a
    # busy machine may need longer.
    for seconds in (4, 40, 400) if len(metrics) == 1 else (600,):
        limits = replace(DEFAULT_LIMITS, wall_seconds=seconds)
        with RunStore(tmp_path / f"run{seconds}", command="test") as store:
            done = score_items(
                store,
                films,
                [*metrics, "contrast"],
                Settings(limits=limits),
                engine=LocalEngine(workers=2),
            )
            records = {(one.key.item, one.key.evaluator): one for one in store.records()}
        others = [records[film.id, "contrast"].outcomes.values() for film in films]
        if all(one.ok for outcomes in others for one in outcomes):
            break
    assert (done.total, done.made) == (len(records), len(records))
    for film in films:
        for metric in metrics:
            reason = WAYS[metric.partition("_")[2]]
            assert set(records[film.id, metric].reasons) == {reason}, metric
    assert all(one.ok for outcomes in others for one in outcomes)
