"""How much of the package a job loads: what it uses, not all there is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from screentest.sample import sample_videos

# Modules of ours, and processor time as a multiple of that of importing numpy and scipy.stats. When
# video/__init__, run/__init__ and api/__init__ listed what they offer, `score` loaded 137 and
# `report` 204, with the decoder, OpenCV and the x264 splicer, at 1.2 times. Now they load 125 and
# 124, at 0.8 and 0.7 times; of core all 13 modules, 0.1 s together, are used by every job.
JOBS = {
    "help": (["screentest.cli"], 5, 0.4),
    "score": (["screentest.cli.errors", "screentest.cli.score"], 135, 1.6),
    "report": (
        [
            "screentest.cli.errors",
            "screentest.cli.report",
            "screentest.api.reports",
            "screentest.present.files",
            "screentest.present.page.html",
        ],
        135,
        1.4,
    ),
}
VIDEO = {"av", "cv2", "screentest.video.edit.splice", "screentest.run.engine"}
"""Nothing of these is needed to read runs and to write a page."""

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


def imported(modules: list[str]) -> tuple[set[str], float]:
    """Import modules in a new process: all that is loaded then, and seconds of processor time."""
    code = (
        "import sys, time, importlib\n"
        "begun = time.process_time()\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(time.process_time() - begun, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, *loaded = done.stdout.split()
    return set(loaded), float(seconds)


@pytest.mark.parametrize("job", JOBS)
def test_imports_stay_light(job: str) -> None:
    modules, most, share = JOBS[job]
    ratios = []
    for _ in range(3):  # the quietest moment of a busy machine counts
        loaded, seconds = imported(modules)
        ratios.append(seconds / imported(["numpy", "scipy.stats"])[1])
        if ratios[-1] < share:
            break
    assert min(ratios) < share
    assert len([name for name in loaded if name.split(".")[0] == "screentest"]) <= most
    assert job == "score" or not loaded & VIDEO


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
