"""The annotation app: people as judges."""

from screentest.judges.votes import VoteTask

__all__ = ["VoteTask"]
