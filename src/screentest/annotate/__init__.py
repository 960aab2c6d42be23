"""The annotation app: people as judges."""

from screentest.annotate.answers import Task

__all__ = ["Task"]
