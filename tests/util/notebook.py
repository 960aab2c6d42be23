"""Scores clips in a real IPython kernel, and prints what a notebook was sent: JSON on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any

CELL = """
import numpy as np, screentest
clips = np.random.default_rng(0).integers(0, 256, (3, 12, 64, 96, 3), dtype=np.uint8)
scores = screentest.score_frames(clips, fps=12, metrics="flicker")
scores
"""


def main() -> None:
    from ipykernel.inprocess.manager import InProcessKernelManager  # type: ignore

    manager = InProcessKernelManager()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.execute(CELL)
    sent: list[tuple[str, Any]] = []
    while client.iopub_channel.msg_ready():
        message = client.iopub_channel.get_msg(timeout=10)
        content = message["content"]
        if message["msg_type"] == "error":
            raise RuntimeError("\n".join(content["traceback"]))
        if "data" in content:
            sent.append((message["msg_type"], content["data"].get("text/html", "")))
    sys.__stdout__.write("\n" + json.dumps(sent) + "\n")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
