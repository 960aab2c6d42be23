"""Hooks: what was scored, handed on to a tracker of experiments, with the videos."""
