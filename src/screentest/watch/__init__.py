"""Watching a training: clips are scored as they appear, and collapse raises an alarm."""
