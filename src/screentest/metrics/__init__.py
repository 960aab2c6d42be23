"""Metrics, one file each, grouped by what they look at."""
