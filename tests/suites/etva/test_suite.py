"""The suites are found by name, and their metrics are there."""

from __future__ import annotations

import pytest

from screentest.analysis.suites import read_suite
from screentest.core.signature import split_value_name
from screentest.measure.evaluators import resolve


@pytest.mark.parametrize("name", ["etva", "etva_builtin"])
def test_a_suite_names_a_metric_with_all_its_values(name: str) -> None:
    suite = read_suite(name)
    (metric,) = suite.metrics
    outputs = resolve(metric).metric.info.outputs
    for dimension in suite.dimensions:
        for value in dimension.values:
            assert split_value_name(value)[1] in outputs


def test_options_go_to_the_metric() -> None:
    suite = read_suite('etva:metric="etva:gating=true,batch=4"')
    (metric,) = suite.metrics
    assert resolve(metric).spec.options[6] == ("gating", True)
