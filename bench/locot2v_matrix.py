"""Which of LoCoT2V-Bench's sub-dimensions reacts to which harm, on a testbed of one's own.

    python bench/locot2v_matrix.py TESTBED [--out RUN] [--chart matrix.svg] …

The figures of docs/locot2v.md; it is `screentest suite locot2v matrix`, which has all options.
"""

from __future__ import annotations

import sys

from screentest.cli import app

if __name__ == "__main__":
    app(["suite", "locot2v", "matrix", *sys.argv[1:]])
