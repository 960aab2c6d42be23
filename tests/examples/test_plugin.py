"""The example of a plugin, installed as a user installs it, from a folder and offline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from screentest.manifests.manifest import write_manifest
from screentest.sample import sample_videos
from tests.terminal import CLEAN

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin in it and nothing else."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-index", "--no-deps", "--no-build-isolation", "--target", folder, PLUGIN),
        ],
        check=True,
        capture_output=True,
        timeout=600,
    )
    return folder


def run(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=CLEAN
        | {"PYTHONPATH": os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_all_three_at_work(installed: Path, tmp_path: Path) -> None:
    """The judge and the metric notice what the degradation does, on two films."""
    films = [video.item for video in sample_videos() if video.item.id != "frenchgp_1906"]
    write_manifest(tmp_path / "films.jsonl", films[:2])

    def screentest(*arguments: str) -> object:
        done = run(installed, tmp_path, "-m", "screentest", *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    screentest(
        *("build", "films.jsonl", "--out", "bed", "--aspects", "fading", "--clips", "1"),
        *("--long-side", "128", "--fps", "8"),
    )
    said = screentest("certify", "saturation", "more_vivid", "--testbed", "bed")
    assert isinstance(said, list)
    for certificate in said:
        accuracy = certificate["overall"]["value"]
        # Two pairs, each in both orders, all right.
        assert (accuracy["points"], accuracy["total"]) == (4, 4), certificate["judge"]
    scored = screentest("score", "films.jsonl", "--metrics", "saturation:rate=1")
    assert isinstance(scored, dict)
    (row,) = scored["summary"]
    assert (row["scored"], row["metric"]) == (2, "saturation:rate=1")
    assert 0.02 < row["mean"] < 0.5


def test_doctor_lists_it(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "-m", "screentest", "doctor")
    for name in ("saturation", "more_vivid", "fading"):
        assert name in done.stdout


def test_the_examples_in_its_texts(installed: Path, tmp_path: Path) -> None:
    code = (
        "import doctest, screentest_fading as plugin\n"
        "for one in (plugin.saturation, plugin.fading):\n"
        "    found = doctest.testmod(one)\n"
        "    assert found.attempted and not found.failed, found\n"
    )
    done = run(installed, tmp_path, "-c", code)
    assert done.returncode == 0, done.stdout + done.stderr
