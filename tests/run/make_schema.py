"""Write the text of a store as this version makes it: python -m tests.run.make_schema

Run once when a release adds a step to the migrations; the file is then never touched again.
"""

from __future__ import annotations

import sqlite3
import tempfile
from decimal import Decimal
from pathlib import Path

from screentest.core import CallIntent, CallReceipt, CallStatus
from screentest.run.database import APPLICATION_ID, newest
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.notes import EvaluatorNote
from screentest.run.store import RunStore
from tests.run.work import item, task


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with RunStore(Path(folder), command="test", arguments={"for": "later releases"}) as store:
            tasks = [task(1), task(2), task(3, "no_value", "refused")]
            execute(store, tasks, engine=InlineEngine())
            store.keep_items([item(1), item(2)])
            store.keep_evaluators([EvaluatorNote("brightness", "metric", "brightness|v:1")])
            store.keep_note("remark", {"text": "kept"})
            paid = store.ledger.intend(CallIntent("request", "fake-1", max_cost=Decimal("0.02")))
            receipt = CallReceipt(CallStatus.ANSWERED, "fake-1", cost=Decimal("0.01"), answer="yes")
            store.ledger.settle(paid, receipt)
            store.ledger.intend(CallIntent("cut off", "fake-1", max_cost=Decimal("0.02")))
        connection = sqlite3.connect(Path(folder) / "run.db")
        lines = list(connection.iterdump())
        connection.close()
    lines += [f"PRAGMA application_id = {APPLICATION_ID};", f"PRAGMA user_version = {newest()};"]
    target = Path(__file__).parent / f"schema_{newest()}.sql"
    target.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
