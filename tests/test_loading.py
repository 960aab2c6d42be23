"""How much of the package a job loads: what it uses, not all there is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from screentest.sample import sample_videos

MOST = 200
"""Modules of ours for ``score --suite core``; 435 of 652 before modules were imported by name."""

LOADED = "len([name for name in sys.modules if name.split('.')[0] == 'screentest'])"

COUNTING = f"""
import sys
from screentest.core import Level, MetricInfo, Outcome, OutputInfo, Score, register

class Loaded:
    info = MetricInfo(outputs={{"loaded": OutputInfo("modules")}}, level=Level.VIDEO)
    consumers = ()

    def start(self, item, resources):
        return self

    def finish(self):
        return {{"loaded": Outcome.of(Score({LOADED}))}}

register("metric", "loaded", version=1)(Loaded)
"""


def test_scoring_loads_what_it_uses_here_and_in_its_workers(tmp_path: Path) -> None:
    film = sample_videos()[1].item.video
    (tmp_path / "counting.py").write_text(COUNTING)
    code = (
        "import sys, screentest, counting\n"
        "from screentest.suites.core import core\n"
        "if __name__ == '__main__':\n"
        f"    scores = screentest.score({str(film)!r}, metrics=[*core().metrics, 'loaded'],"
        " workers=1)\n"
        "    (one,) = [v for v in scores.results.values if v.name == 'loaded']\n"
        f"    print({LOADED}, one.outcome.unwrap().value)\n"
    )
    (tmp_path / "job.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    here, there = map(float, done.stdout.split())
    assert 0 < here < MOST
    assert 0 < there < MOST


def test_the_command_loads_what_it_uses(tmp_path: Path) -> None:
    film = str(sample_videos()[1].item.video)
    code = (
        "import sys\n"
        "from screentest.cli import main\n"
        f"sys.argv = ['screentest', 'score', {film!r}, '--workers', '1']\n"
        "try: main()\n"
        f"finally: print({LOADED}, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.splitlines()[-1]) < MOST
