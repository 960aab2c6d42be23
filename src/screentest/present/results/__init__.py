"""What the jobs of the Python API return: the results themselves, as tables and as data frames."""

from screentest.present.notebook import Page, data_frame
from screentest.present.results.certificates import BuiltTestbed, Certificates
from screentest.present.results.choices import Comparison, Verdicts
from screentest.present.results.scores import WORST, ItemScores, Scores
