"""Runs: the store, the call ledger, and engines that fill them. What is finished stays finished."""

from screentest.run._signals import Stop
from screentest.run.engine import InlineEngine, LocalEngine
from screentest.run.execute import Execution, Retry, execute
from screentest.run.inputs import ABSENT, InputHashes, Stamp, hash_file, hash_item, hash_parts
from screentest.run.lease import Holder, holder
from screentest.run.ledger import Call, Ledger, Spending
from screentest.run.reader import Coverage, RunReader, Start
from screentest.run.records import TRANSIENT, Record, RecordKey
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Finished, Job, Results, Task

__all__ = [
    "ABSENT",
    "TRANSIENT",
    "Call",
    "Coverage",
    "Engine",
    "Execution",
    "Finished",
    "Holder",
    "InlineEngine",
    "InputHashes",
    "Job",
    "Ledger",
    "LocalEngine",
    "Record",
    "RecordKey",
    "Results",
    "Retry",
    "RunReader",
    "RunStore",
    "Spending",
    "Stamp",
    "Start",
    "Stop",
    "Task",
    "execute",
    "hash_file",
    "hash_item",
    "hash_parts",
    "holder",
]
