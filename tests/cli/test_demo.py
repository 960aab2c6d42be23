"""``screentest demo``: all of the job on a fresh machine, and it goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path

from screentest.cli.demo import NEED_MODELS
from screentest.core import BUILTIN_ASPECTS, Aspect
from screentest.testbeds.testbed import read_testbed
from tests.terminal import Screentest, fits


def test_the_whole_job_and_then_again_for_free(screentest: Screentest, tmp_path: Path) -> None:
    out = tmp_path / "demo"
    done = screentest("demo", "--out", str(out))

    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)
    testbed = read_testbed(out / "testbed")
    served = set(BUILTIN_ASPECTS) - set(NEED_MODELS)
    assert {pair.aspect for pair in testbed.pairs if pair.aspect} == served
    assert all(pair.checks for pair in testbed.pairs if pair.aspect is Aspect.AESTHETICS)
    assert "screentest models pull light" in " ".join(done.stdout.split())
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Certificates" in page
    for film in ("bbb_first30s", "frenchgp_1906", "real_5shots", "sintel_trailer_30s"):
        assert film in page

    made = {path: path.stat().st_mtime_ns for path in (out / "testbed" / "videos").rglob("*.mp4")}
    again = screentest("demo", "--out", str(out), "--json")
    assert again.returncode == 0
    said = json.loads(again.stdout)
    assert said["pairs"] == len(testbed.pairs)
    assert all(path.stat().st_mtime_ns == moment for path, moment in made.items())
