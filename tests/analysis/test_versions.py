"""Values of two versions of a metric, in runs of real processes: nothing is claimed from them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.terminal import Screentest

JOB = """
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import screentest
from screentest.testing.films import captioned_film

out, version = Path(sys.argv[1]), int(sys.argv[2])
numbers = range(*map(int, sys.argv[4].split("-")))

@screentest.metric(version=version)
def glow(image) -> float:
    return float(np.mean(image)) / 255 / version

@screentest.metric()
def steady(image) -> float:
    return float(np.mean(image)) / 255

if __name__ == "__main__":
    items = []
    for model in sys.argv[3].split(","):
        for number in numbers:
            film = captioned_film(out.parent, f"{model}-{number}", clips=1, seconds=1)
            groups = {"model": model}
            items.append(replace(film, prompt=f"prompt {number}", groups=groups))
    screentest.score(items, metrics=["glow", "steady"], out=out, add=True, workers=1)
"""
# Out, version, models, prompts: of which the second call has the other version.
CALLS = {
    "a run each": [("one", "1", "ours", "0-8"), ("two", "2", "theirs", "0-8")],
    "one run": [("one", "1", "ours", "0-8"), ("one", "2", "theirs", "0-8")],
    "half of each": [("one", "1", "ours,theirs", "0-4"), ("one", "2", "ours,theirs", "4-8")],
}


@pytest.mark.parametrize("calls", CALLS)
def test_versions_are_not_compared(calls: str, tmp_path: Path, screentest: Screentest) -> None:
    """The second version halves every value of the same films, so a claim would be certain."""
    (tmp_path / "job.py").write_text(JOB)
    for call in CALLS[calls]:
        subprocess.run([sys.executable, "job.py", *call], cwd=tmp_path, env=os.environ, check=True)
    runs = sorted({call[0] for call in CALLS[calls]})
    assert screentest("merge", *runs, "--into", "merged").returncode == 0
    for compared in (runs, ["merged"]):
        found: dict[str, Any] = json.loads(screentest("compare", *compared, "--json").stdout)
        assert found["winner"] == ""
        (row,) = [row for row in found["rows"] if row["name"] == "glow"]
        assert (row["state"], row["pairs"], row["claim"]) == ("not_compared", [], "")
        why = found["not_compared"]["glow"]
        assert (why["reason"], why["settings"]["v"]) == ("settings", ["1", "2"])
        words = screentest("compare", *compared).stdout
        assert "versions (1 and 2)" in " ".join(words.split())
