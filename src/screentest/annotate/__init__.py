"""The annotation app: people as judges."""

from screentest.annotate.tasks import Task

__all__ = ["Task"]
