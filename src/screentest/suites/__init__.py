"""Suites: one folder per paper, with everything of it; ``core`` is plain measurements."""
