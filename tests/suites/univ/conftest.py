"""The films of the metrics' tests, and the folder of real and generated videos."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from screentest.run.session import close_tools
from tests.suites.univ.metric_conftest import api_key, cut, edited, film, item

__all__ = ["api_key", "cut", "edited", "film", "item"]


@pytest.fixture(autouse=True)
def clean_tools() -> Iterator[None]:
    """No connection to a server of the test before."""
    close_tools()
    yield
    close_tools()
