"""Runs: the store, the call ledger, and engines that fill them. What is finished stays finished."""

from screentest.run.engine import InlineEngine, LocalEngine
from screentest.run.execute import Execution, Retry, execute
from screentest.run.export import export, rows
from screentest.run.inputs import ABSENT, InputHashes, Stamp, hash_file, hash_item, hash_parts
from screentest.run.lease import Holder, holder
from screentest.run.ledger import Call, Ledger, Spending
from screentest.run.notes import EvaluatorNote
from screentest.run.reader import Coverage, RunReader, RunSummary, Start, find_runs, read_summary
from screentest.run.records import Record, RecordKey
from screentest.run.repair import Repair, repair
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Finished, Function, Job, Stop, Task, TaskResults

__all__ = [
    "ABSENT",
    "Call",
    "Coverage",
    "Engine",
    "EvaluatorNote",
    "Execution",
    "Finished",
    "Function",
    "Holder",
    "InlineEngine",
    "InputHashes",
    "Job",
    "Ledger",
    "LocalEngine",
    "Record",
    "RecordKey",
    "Repair",
    "Retry",
    "RunReader",
    "RunStore",
    "RunSummary",
    "Spending",
    "Stamp",
    "Start",
    "Stop",
    "Task",
    "TaskResults",
    "execute",
    "export",
    "find_runs",
    "hash_file",
    "hash_item",
    "hash_parts",
    "holder",
    "read_summary",
    "repair",
    "rows",
]
