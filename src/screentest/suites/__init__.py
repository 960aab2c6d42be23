"""Suites: named sets of metrics, and how their values add up."""

from screentest.suites.contract import Dimension, Suite, read_suite

__all__ = ["Dimension", "Suite", "read_suite"]
