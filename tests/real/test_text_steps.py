"""Every text-only step on a real server: each question ends in an answer or a typed reason."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from screentest.core import Reason
from tests.real.server import Served, metered
from tests.real.steps import STEPS, Said, etva_step

NO_FAULT_OF_OURS = {Reason.UNPARSABLE, Reason.TRUNCATED, Reason.REFUSED}
"""What a weak model may do; a service that fails, or a request that is refused, may not be."""


def uses(said: Said, served: Served, structured: str, data: Path) -> Counter[str]:
    with metered(served, structured) as meter:
        for step in STEPS:
            step(meter, said, 1)
        etva_step(meter, said, 1, data)
    assert {one.reason for one in meter.calls} - {None} <= NO_FAULT_OF_OURS
    return Counter(re.sub(r"\W", " ", one.use) for one in meter.calls if one.reason is None)


@pytest.mark.parametrize("structured", ["auto", "instructed"])
def test_a_model_of_135_million_weights(small: Served, structured: str, shared_data: Path) -> None:
    uses(Said(), small, structured, shared_data)


def test_a_model_of_one_and_a_half_billion(larger: Served, shared_data: Path) -> None:
    said = Said()
    answered = uses(said, larger, "auto", shared_data)
    # With the schema enforced it gets through nearly all of them.
    assert len(answered) >= 10
    assert said.questions[0][1].ok
