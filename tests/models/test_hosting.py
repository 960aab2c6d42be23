"""A host of models joins what waits together, and a fault has one owner."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from screentest.core import NoValue, Reason
from screentest.core.registry import registry
from screentest.models import ModelChoice, Models
from screentest.models.remote import ModelHost, use_remote


class Counting:
    """A backend that notes how many pictures each call had; it cannot see black ones."""

    identity: Mapping[str, str] = {"weights": "abc"}

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.open = threading.Event()
        self.entered = threading.Event()

    def features(self, images: Sequence[Any]) -> Any:
        self.entered.set()
        self.open.wait()
        self.calls.append(len(images))
        if any(image.max() == 0 for image in images):
            raise NoValue(Reason.NOT_APPLICABLE, "black")
        return np.array([[image.mean()] for image in images], np.float32)


@pytest.fixture
def backend() -> Iterator[Counting]:
    made = Counting()
    registry.names("image_features")

    @registry.register("image_features", "counting", version=1)
    def counting(*, device: str = "auto") -> Counting:
        """Counts."""
        return made

    yield made
    del registry._entries["image_features", "counting"]


def picture(value: int) -> Any:
    return np.full((2, 2, 3), value, np.uint8)


def ask(host: ModelHost, *values: int) -> Any:
    pictures = [picture(value) for value in values]
    return host.ask("image_features", "counting", {}, "features", (pictures,)).tolist()


def wait_for(host: ModelHost, count: int) -> None:
    while sum(len(waiting) for waiting in host._waiting.values()) < count:
        pass


def test_what_waits_together_is_one_call(backend: Counting) -> None:
    host = ModelHost()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(ask, host, 1)
        backend.entered.wait()  # it has the turn; the others wait for it
        others = [pool.submit(ask, host, 2, 3), pool.submit(ask, host, 4), pool.submit(ask, host)]
        wait_for(host, 2)
        backend.open.set()
        assert first.result() == [[1.0]]
        assert [other.result() for other in others] == [[[2.0], [3.0]], [[4.0]], []]
    assert sorted(backend.calls) == [0, 1, 3]


def test_a_fault_has_one_owner(backend: Counting) -> None:
    host = ModelHost()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(ask, host, 1)
        backend.entered.wait()
        black, other = pool.submit(ask, host, 0), pool.submit(ask, host, 5)
        wait_for(host, 2)
        backend.open.set()
        assert first.result() == [[1.0]]
        assert other.result() == [[5.0]]
        with pytest.raises(NoValue, match="black"):
            black.result()


def test_a_joined_call_is_bounded(backend: Counting) -> None:
    host = ModelHost()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(ask, host, 1)
        backend.entered.wait()
        others = [pool.submit(ask, host, *[9] * 300) for _ in range(3)]
        wait_for(host, 3)
        backend.open.set()
        assert all(len(other.result()) == 300 for other in others)
        assert first.result() == [[1.0]]
    assert max(backend.calls) == 300  # two of them would be more than 512


def test_remote_models_are_used_for_what_has_a_device(backend: Counting) -> None:
    backend.open.set()
    choice = ModelChoice("image_features", "counting")
    loaded = Models([choice])
    use_remote(ModelHost())
    try:
        models = Models([choice, ModelChoice("flow", "dis")])
        remote = models.role("image_features")
        assert remote is not backend
        assert remote.features([picture(7)]).tolist() == [[7.0]]
        assert models.signature("image_features") == loaded.signature("image_features")
        assert type(models.role("flow")).__module__ == "screentest.models.backends.flow"
        with pytest.raises(AttributeError):
            _ = remote.attach
    finally:
        use_remote(None)
    assert Models([choice]).role("image_features") is backend
