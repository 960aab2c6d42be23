"""Records as text that may not depend on when or where they were made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from screentest.run.records import Record, encode


def canonical(records: Iterable[Record]) -> Iterator[str]:
    """One line for each record."""
    for record in sorted(records, key=lambda record: record.key):
        outcomes = json.loads(encode(record.outcomes).text)
        row = {**record.key.row, "outcomes": outcomes, "requests": list(record.requests)}
        yield json.dumps(row, sort_keys=True, ensure_ascii=False, allow_nan=False)
