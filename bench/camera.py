"""How often a rendered camera movement is named right: a table of docs/evidence/captions.md.

    python bench/camera.py

Every photograph of the data folder (SCREENTEST_DATA, or shared/data beside the checkout), every
movement and three speeds, each rendered in three ways.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

from _figures import ROOT, Table, publish

sys.path.insert(0, str(ROOT))

from tests.suites.univ.test_builtin import MOVES, picture, seen, shaken, shot, walker

SPEEDS = (0.06, 0.15, 0.4)
"""Of the picture, a second."""
WAYS = (
    "as it is",
    "with a striped figure of a fifth of the width walking through",
    "with a trembling hand and grain",
)


def main() -> None:
    data = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data"))
    right: Counter[str] = Counter()
    total = 0
    for path in sorted((data / "video" / "backgrounds").glob("*.jpg")):
        image = picture(path)
        for move in MOVES:
            for speed in SPEEDS:
                total += 1
                frames = list(shot(image, move, speed))
                made = (frames, walker(frames, 0.3), shaken(frames))
                right.update(
                    way for way, some in zip(WAYS, made, strict=True) if seen(some) == [move]
                )
        print(path.stem, dict(right), total, flush=True)
    rows = [(way, (right[way], total)) for way in WAYS]
    table = Table({"rendered": "", "right": "{} of {}"}, rows)
    publish("camera", "python bench/camera.py", {"right": table})


if __name__ == "__main__":
    main()
