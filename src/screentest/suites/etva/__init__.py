"""ETVA as a suite: tables, replayed transcripts, people's ratings, benchmarks."""

from screentest.suites.etva.runs import judge_transcripts
from screentest.suites.etva.tables import Judged, Row, rows_by_model, tabulate

__all__ = ["Judged", "Row", "judge_transcripts", "rows_by_model", "tabulate"]
