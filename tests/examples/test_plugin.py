"""Plugins, installed as a user installs them, from a folder and offline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from screentest.inputs.manifest import write_manifest
from screentest.testing.films import captioned_film
from tests.terminal import CLEAN

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
EVERY_KIND = Path(__file__).parent / "every_kind"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugins in it and nothing else."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-index", "--no-deps", "--no-build-isolation", "--target", folder),
            *(EXAMPLE, EVERY_KIND),
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


def screentest(installed: Path, folder: Path, *arguments: str) -> str:
    done = run(installed, folder, "-m", "screentest", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_json(installed: Path, folder: Path, *arguments: str) -> Any:
    return json.loads(screentest(installed, folder, *arguments, "--json"))


@pytest.mark.parametrize(("name", "most"), [("saturation", 12), ("more_vivid", 15), ("fading", 15)])
def test_the_example_is_short(name: str, most: int) -> None:
    path = EXAMPLE / "src" / "screentest_fading" / f"{name}.py"
    assert len(path.read_text().splitlines()) <= most


@pytest.fixture(scope="module")
def bed(installed: Path, folder: Path) -> str:
    """Two films, degraded by both plugins: one in an aspect of ours, one in its own."""
    as_json(
        *(installed, folder, "build", "films.jsonl", "--out", "bed"),
        *("--operators", "fading,nightfall", "--clips", "1", "--long-side", "128", "--fps", "8"),
    )
    return "bed"


def test_metric_judge_and_degradation_at_work(installed: Path, folder: Path, bed: str) -> None:
    """The judge and the metric notice what the degradation does, on two films."""
    said = as_json(
        *(installed, folder, "certify", "saturation", "more_vivid", "--testbed", bed),
        *("--aspects", "aesthetics", "--out", "faded"),
    )
    for certificate in said:
        accuracy = certificate["overall"]["value"]
        # Two pairs, each in both orders, all right.
        assert (accuracy["points"], accuracy["total"]) == (4, 4), certificate["judge"]
    scored = as_json(installed, folder, "score", "films.jsonl", "--metrics", "saturation:rate=1")
    (total,) = scored["summary"]
    assert (total["scored"], total["metric"]) == (2, "saturation:rate=1")
    assert 0.02 < total["mean"] < 0.5


def test_doctor_lists_it(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "-m", "screentest", "doctor", "--all")
    for name in ("saturation", "more_vivid", "fading"):
        assert name in done.stdout


def test_its_own_tests_pass(installed: Path, tmp_path: Path) -> None:
    done = run(
        *(installed, tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        str(EXAMPLE / "tests"),
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two films of two models, in a manifest."""
    folder = tmp_path_factory.mktemp("films")
    films = [captioned_film(folder, name) for name in ("one", "two")]
    rows = [
        {
            "id": film.id,
            "video": film.video.name,
            "prompt": "A red car.",
            "groups": {"model": film.id.upper()},
        }
        for film in films
    ]
    (folder / "videos.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    write_manifest(folder / "films.jsonl", films)
    return folder


def test_a_suite_is_added_up(installed: Path, folder: Path) -> None:
    """In score, in the report, in suite show."""
    shown = screentest(installed, folder, "suite", "show", "daylight")
    for text in ("total", "tones", "light"):
        assert text in shown.lower()
    scored = screentest(
        installed, folder, "score", "videos.jsonl", "--suite", "daylight", "--out", "scored"
    )
    means = {
        cells[0]: float(cells[1])
        for cells in map(str.split, scored.splitlines())
        if len(cells) > 2 and cells[0] in ("total", "lit", "tones") and cells[1] != "/"
    }
    assert means["total"] == pytest.approx((means["lit"] + means["tones"]) / 2, abs=0.1)
    screentest(installed, folder, "report", "scored", "--out", "page.html")
    page = (folder / "page.html").read_text()
    for text in ("Daylight", "tones", "lit"):
        assert text in page
    # The section that the same package brings.
    assert "How long the texts are" in page
    assert "Counted by a plugin." in page


def test_an_aspect_of_its_own_is_certified(installed: Path, folder: Path, bed: str) -> None:
    (certificate,) = as_json(
        installed, folder, "certify", "light", "--testbed", bed, "--aspects", "daytime"
    )
    assert [row["aspect"] for row in certificate["aspects"]] == ["daytime"]
    accuracy = certificate["overall"]["value"]
    assert (accuracy["points"], accuracy["total"]) == (4, 4)
    shown = screentest(installed, folder, "certify", "--suite", "daylight", "--testbed", bed)
    assert "daytime" in shown


def test_a_command(installed: Path, folder: Path) -> None:
    assert "One of every kind that a plugin can bring." in screentest(installed, folder, "--help")
    assert screentest(installed, folder, "brightest", "one.mkv").startswith("light 0.")


def test_an_importer(installed: Path, folder: Path, tmp_path: Path) -> None:
    """A folder with a list in it is what the list says, in its order."""
    (tmp_path / "one.mkv").symlink_to(folder / "one.mkv")
    (tmp_path / "other.mkv").symlink_to(folder / "two.mkv")
    (tmp_path / "list.txt").write_text("one.mkv\n")
    scored = as_json(installed, tmp_path, "score", str(tmp_path), "--metrics", "light")
    assert [one["item"] for one in scored["values"]] == ["one"]


def test_a_role_with_its_backend(installed: Path, folder: Path) -> None:
    """Asked by a metric, chosen like any other, and in the signature."""

    def cosiness(*options: str) -> dict[str, Any]:
        scored = as_json(
            *(
                installed,
                folder,
                "score",
                "one.mkv",
                "--metrics",
                "cosiness",
                "--signature",
                "full",
            ),
            *("--out", f"cosy{len(options)}", *options),
        )
        (total,) = scored["summary"]
        return dict(total)

    plain, doubled = cosiness(), cosiness("--model", "warmth=red_over_blue,gain=2")
    assert 0.2 < plain["mean"] < 0.8
    assert doubled["mean"] > plain["mean"]
    assert "model.warmth:red_over_blue" in plain["signature"]
    assert plain["signature"] != doubled["signature"]
    listed = as_json(installed, folder, "models")
    assert "warmth" in json.dumps(listed)
