"""Tests of real models are skipped unless ``make test-real`` names the folder of their weights."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.real.server import Served, serving
from tests.real.weights import VARIABLE


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(VARIABLE):
        return
    skip = pytest.mark.skip(reason="real models: make test-real")
    for item in items:
        if item.path.parent.name == "real":
            item.add_marker(skip)


@pytest.fixture(scope="module")
def small() -> Iterator[Served]:
    """SmolLM2 135M: quick, and so weak that only its form is looked at."""
    with serving("smollm2-135m-instruct-q4_1.gguf") as served:
        yield served


@pytest.fixture(scope="module")
def larger() -> Iterator[Served]:
    """Qwen2.5 Coder 1.5B: reads and writes English; a minute a prompt on two cores."""
    with serving("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf") as served:
        yield served
