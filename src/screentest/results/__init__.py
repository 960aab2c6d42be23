"""What the jobs of the Python API return: the results themselves, as tables and as data frames."""

from screentest.results.certificates import BuiltTestbed, Certificates
from screentest.results.choices import Comparison, Verdicts
from screentest.results.scores import WORST, ItemScores, Scores
from screentest.results.shown import Page, data_frame

__all__ = [
    "WORST",
    "BuiltTestbed",
    "Certificates",
    "Comparison",
    "ItemScores",
    "Page",
    "Scores",
    "Verdicts",
    "data_frame",
]
