"""Which of LoCoT2V-Bench's sub-dimensions reacts to which harm, on a testbed of one's own.

    python bench/locot2v_matrix.py TESTBED [--out RUN] [--chart matrix.svg] …

It is `screentest certify --suite locot2v`, which has all options.
"""

from __future__ import annotations

import sys

from screentest.cli import app

if __name__ == "__main__":
    app(["certify", "--suite", "locot2v", "--testbed", *sys.argv[1:]])
