"""Scores: metrics at work on items, the results of a run, and suites that add them up."""
