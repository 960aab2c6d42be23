"""Add up what the soak test printed of each folder that was equal in the end; name the others.

    SCREENTEST_SLOW=1 SCREENTEST_SOAK_SECONDS=3600 pytest -s tests/run/test_soak.py -k long \\
        2> soak.log
    python bench/soak.py soak.log
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from _figures import Cell, Table, publish

COMMAND = "python bench/soak.py soak.log"
NAMES = {"frames": "score_frames", "votes": "annotate serve", "annotate": "annotate export"}
ENDS = {"done": "done", "refused": "refused or busy", "full": "disk full"}
COUNTS = ("seconds", "signals to workers", "full disks", "file limits", "moved clocks")
COUNTS += ("dated files", "votes")


def main() -> None:
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    folders = [json.loads(line) for line in lines if line.startswith('{"seed"')]
    rounds = [one for one in folders if one["equal"]]
    for one in folders:
        if not one["equal"]:
            print(f"not counted: seed {one['seed']} was not equal, or was not compared")
    sums: Counter[str] = Counter()
    endings: dict[str, Counter[str]] = {}
    for one in rounds:
        sums.update({name: one[name] for name in one.keys() - {"seed", "equal", "commands"}})
        for kind, ends in one["commands"].items():
            endings.setdefault(kind, Counter()).update(ends)
    rows: list[list[Cell]] = []
    for kind, ends in [*endings.items(), ("all", sum(endings.values(), Counter()))]:
        stopped = ends.total() - sum(ends[name] for name in ENDS)
        counted = [ends.total(), *(ends[name] for name in ENDS), stopped, ends["SIGKILL"]]
        rows.append([NAMES.get(kind, kind), *counted])
    columns = ("started", *ENDS.values(), "stopped", "by SIGKILL")
    tables = {
        "disturbed": Table(
            dict.fromkeys(("folders", *COUNTS), "{:,.0f}"),
            [[len(rounds), *(sums[name] for name in COUNTS)]],
        ),
        "commands": Table({"command": ""} | dict.fromkeys(columns, "{:,}"), rows),
    }
    publish("soak", COMMAND, tables)


if __name__ == "__main__":
    main()
