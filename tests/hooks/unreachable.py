"""Scores clips with hooks whose servers are away, with the trackers' real packages: JSON on stdout.

The argument is an empty folder.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np

import screentest
from screentest.hooks.contract import close_hooks

FOLDER = Path(sys.argv[1])
NOBODY = "http://127.0.0.1:9"
os.chdir(FOLDER)
os.environ |= {
    "WANDB_BASE_URL": NOBODY,
    "WANDB_API_KEY": "0" * 40,
    "WANDB_SILENT": "true",
    "WANDB_INIT_TIMEOUT": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "2",
}
os.environ.pop("WANDB_MODE", None)


def main() -> None:
    clip = np.random.default_rng(0).integers(0, 256, (12, 64, 96, 3), dtype=np.uint8)
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", screentest.hooks.contract.HookWarning)
        for step in range(4):
            hooks = ["wandb:project=x,mode=online", f'mlflow:uri="{NOBODY}",experiment=x']
            one = screentest.score_frames(clip, fps=12, metrics="flicker", hooks=hooks, step=step)
            found.append(one.means)
        close_hooks()
    ours = [str(one.message) for one in caught if one.category.__name__ == "HookWarning"]
    # Whether the run is there is seen by its films, which W&B keeps as files.
    kept = len(list(FOLDER.glob("wandb/offline-run-*/files/media/videos/**/*.mp4")))
    held = {"scores": sum("flicker" in one for one in found), "warnings": ours, "kept": kept}
    sys.__stdout__.write("\n" + json.dumps(held) + "\n")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
