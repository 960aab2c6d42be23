"""Every text-only step on a real server: each question ends in an answer or a typed reason."""

from __future__ import annotations

from collections import Counter

import pytest

from screentest.core import Reason
from tests.real.server import Served, metered
from tests.real.steps import STEPS, Said, take

NO_FAULT_OF_OURS = {Reason.UNPARSABLE, Reason.TRUNCATED, Reason.REFUSED}
"""What a weak model may do; a service that fails, or a request that is refused, may not be."""


def asked(said: Said, served: Served, structured: str) -> Counter[str]:
    with metered(served, structured) as meter:
        for step in STEPS:
            take(step, meter, said, 0)
    assert {one.reason for one in meter.calls} - {None} <= NO_FAULT_OF_OURS
    return Counter(one.use for one in meter.calls if one.reason is None)


@pytest.mark.usefixtures("shared_data")
@pytest.mark.parametrize("structured", ["auto", "instructed"])
def test_a_model_of_135_million_weights(small: Served, structured: str) -> None:
    asked(Said(), small, structured)


@pytest.mark.usefixtures("shared_data")
def test_a_model_of_one_and_a_half_billion(larger: Served) -> None:
    said = Said()
    answered = asked(said, larger, "auto")
    # With the schema enforced it gets through nearly all of them.
    assert len(answered) >= 10
    assert said.questions[0][1].ok
