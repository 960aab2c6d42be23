"""screentest's own checks: black, tiny and one-frame films, both orders, the same numbers twice."""

from screentest.testing import check_degradation, check_judge, check_metric


def test_saturation() -> None:
    check_metric("saturation", "saturation:rate=4")


def test_more_vivid() -> None:
    check_judge("more_vivid")


def test_fading() -> None:
    check_degradation("fading", "fading:left=0.5")
