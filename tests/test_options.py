"""Options of the right type that cannot be: told before anything runs, never a silent score."""

from __future__ import annotations

import pytest

from screentest.core import BadOption, build


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("metric", "repeated_shots:rate=-1"),
        ("metric", "sharpness:rate=0"),
        ("metric", "locot2v_warping_error:alpha=-1"),
        ("metric", "dense:window=-1"),
        ("degradation", "technical_quality:base=0"),
        ("degradation", "technical_quality:base=256,low=512"),
        ("placebo", "noise:clips=-1"),
    ],
)
def test_what_cannot_be_is_refused(kind: str, text: str) -> None:
    with pytest.raises(BadOption):
        build(kind, text)
