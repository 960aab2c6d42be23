"""Evaluating: metrics and judges at work on items, into a run."""

from screentest.evaluate.evaluators import Evaluator, Signed, metric_names, resolve, sign
from screentest.evaluate.measuring import measure
from screentest.evaluate.scoring import score_items, score_tasks
from screentest.evaluate.settings import Settings
from screentest.evaluate.tools import Tools, open_tools

__all__ = [
    "Evaluator",
    "Settings",
    "Signed",
    "Tools",
    "measure",
    "metric_names",
    "open_tools",
    "resolve",
    "score_items",
    "score_tasks",
    "sign",
]
