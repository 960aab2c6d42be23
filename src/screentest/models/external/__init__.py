"""Roles filled by a worker of the user's: any program that speaks JSON lines.

For official code that cannot live beside ours. ``docs/external.md`` has the protocol.
"""

from screentest.models.external.client import Terms, Worker, split_command
from screentest.models.external.protocol import PROTOCOL, Hello
from screentest.models.external.roles import filled_by

__all__ = ["PROTOCOL", "Hello", "Terms", "Worker", "filled_by", "split_command"]
