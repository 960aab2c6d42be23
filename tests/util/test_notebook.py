"""Progress and results in a notebook: what a real IPython kernel sends to it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.messages import names

ROOT = Path(__file__).parents[2]


def test_progress_is_one_line_that_is_gone_at_the_end_and_the_result_a_table() -> None:
    if importlib.util.find_spec("ipykernel") is None:
        pytest.skip("ipykernel is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "tests.util.notebook"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (begun, *shown, gone), result = (
        (sent := json.loads(done.stdout.splitlines()[-1]))[:-1],
        sent[-1],
    )
    assert begun == ["display_data", ""]
    assert {kind for kind, _ in shown} == {"update_display_data"}  # the same line, written anew
    assert names(shown[0][1], "<progress value=0 max=3>", "0/3 clips")
    assert names(shown[-1][1], "<progress value=3 max=3>", "3/3 clips")
    assert gone == ["update_display_data", ""]
    assert result[0] == "execute_result"
    assert "<table>" in result[1]
