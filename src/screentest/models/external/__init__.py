"""Roles filled by a worker of the user's: any program that speaks JSON lines.

For official code that cannot live beside ours. ``docs/external.md`` has the protocol.
"""

from screentest.models.external.client import ExternalWorker, WorkerTerms, split_command
from screentest.models.external.protocol import PROTOCOL, Hello
from screentest.models.external.roles import External

__all__ = ["PROTOCOL", "External", "ExternalWorker", "Hello", "WorkerTerms", "split_command"]
