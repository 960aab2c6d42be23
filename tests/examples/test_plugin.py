"""Plugins, installed as a user installs them, from a folder and offline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from screentest.inputs.manifest import write_manifest
from screentest.testing.films import captioned_film
from tests.terminal import CLEAN, SOURCE

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
EVERY_KIND = Path(__file__).parent / "every_kind"
# What the plugins call a section of theirs and say of a command.
SECTION = "How long the texts are"
ABOUT = "One of every kind that a plugin can bring."


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


def environment(installed: Path) -> dict[str, str]:
    return CLEAN | {"PYTHONPATH": os.pathsep.join([str(installed), SOURCE])}


COMMANDS = """
import json, os, sys
from typer.testing import CliRunner
from screentest.cli import app
if __name__ == "__main__":
    for line in sys.stdin:
        folder, arguments = json.loads(line)
        os.chdir(folder)
        done = CliRunner().invoke(app, arguments)
        print(json.dumps([done.exit_code, done.stdout, done.stderr]), flush=True)
"""
"""One command after the other: to load everything for each would take most of the time."""

Command = Callable[..., str]


@pytest.fixture(scope="module")
def screentest(installed: Path) -> Iterator[Command]:
    """Run a command in a folder, in a process that finds the plugins; gives what is printed."""
    with subprocess.Popen(
        [sys.executable, "-c", COMMANDS],
        env=environment(installed),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def run(folder: Path, *arguments: str) -> str:
            process.stdin.write(json.dumps([str(folder), arguments]) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            code, printed, errors = json.loads(process.stdout.readline())  # type: ignore[union-attr]
            assert code == 0, errors
            return str(printed)

        yield run


def as_json(screentest: Command, folder: Path, *arguments: str) -> Any:
    return json.loads(screentest(folder, *arguments, "--json"))


@pytest.mark.parametrize(("name", "most"), [("saturation", 12), ("more_vivid", 15), ("fading", 15)])
def test_the_example_is_short(name: str, most: int) -> None:
    path = EXAMPLE / "src" / "screentest_fading" / f"{name}.py"
    assert len(path.read_text().splitlines()) <= most


def test_the_page_on_asking_a_model_shows_the_example() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "ask_a_model.md").read_text(encoding="utf-8")
    package = EXAMPLE / "src" / "screentest_fading"
    for file in (package / "mood.py", package / "prompts" / "mood.jinja"):
        assert file.read_text(encoding="utf-8") in page
    tests = (EXAMPLE / "tests" / "test_mood.py").read_text(encoding="utf-8")
    assert tests.partition("\n\n")[2] in page


@pytest.fixture(scope="module")
def bed(screentest: Command, folder: Path) -> str:
    """Two films, degraded by both plugins: one in an aspect of ours, one in its own."""
    as_json(
        *(screentest, folder, "build", "films.jsonl", "--out", "bed"),
        *("--operators", "fading,nightfall", "--clips", "1", "--long-side", "128", "--fps", "8"),
    )
    return "bed"


def test_metric_judge_and_degradation_at_work(screentest: Command, folder: Path, bed: str) -> None:
    """The judge and the metric notice what the degradation does, on two films."""
    said = as_json(
        *(screentest, folder, "certify", "saturation", "more_vivid", "--testbed", bed),
        *("--aspects", "aesthetics", "--out", "faded"),
    )
    for certificate in said:
        accuracy = certificate["overall"]["value"]
        # Two pairs, each in both orders, all right.
        assert (accuracy["points"], accuracy["total"]) == (4, 4), certificate["judge"]
    scored = as_json(screentest, folder, "score", "films.jsonl", "--metrics", "saturation:rate=1")
    (total,) = scored["summary"]
    assert (total["scored"], total["metric"]) == (2, "saturation:rate=1")
    assert 0.02 < total["mean"] < 0.5


def test_doctor_lists_it(screentest: Command, tmp_path: Path) -> None:
    shown = screentest(tmp_path, "doctor", "--all")
    for name in ("saturation", "more_vivid", "fading"):
        assert name in shown


def test_its_own_tests_pass(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE / "tests"],
        cwd=tmp_path,
        env=environment(installed),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "6 passed" in done.stdout, done.stdout + done.stderr


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


def test_a_suite_is_added_up(screentest: Command, folder: Path) -> None:
    """In score, in the report, in suite show."""
    shown = screentest(folder, "suite", "show", "daylight")
    for text in ("total", "tones", "light"):
        assert text in shown.lower()
    scored = screentest(folder, "score", "videos.jsonl", "--suite", "daylight", "--out", "scored")
    means = {
        cells[0]: float(cells[1])
        for cells in ([c for c in line.split() if c not in "↑↓"] for line in scored.splitlines())
        if len(cells) > 2 and cells[0] in ("total", "lit", "tones") and cells[1] != "/"
    }
    assert means["total"] == pytest.approx((means["lit"] + means["tones"]) / 2, abs=0.1)
    screentest(folder, "report", "scored", "--out", "page.html")
    page = (folder / "page.html").read_text()
    for text in ("Daylight", "tones", "lit"):
        assert text in page
    # The section that the same package brings.
    assert SECTION in page
    assert "Counted by a plugin." in page


def test_an_aspect_of_its_own_is_certified(screentest: Command, folder: Path, bed: str) -> None:
    (certificate,) = as_json(
        screentest, folder, "certify", "light", "--testbed", bed, "--aspects", "daytime"
    )
    assert [row["aspect"] for row in certificate["aspects"]] == ["daytime"]
    accuracy = certificate["overall"]["value"]
    assert (accuracy["points"], accuracy["total"]) == (4, 4)
    shown = screentest(folder, "certify", "--suite", "daylight", "--testbed", bed)
    assert "daytime" in shown


def test_a_command(screentest: Command, folder: Path) -> None:
    assert ABOUT in screentest(folder, "--help")
    assert screentest(folder, "brightest", "one.mkv").startswith("light 0.")


def test_an_importer(screentest: Command, folder: Path, tmp_path: Path) -> None:
    """A folder with a list in it is what the list says, in its order."""
    (tmp_path / "one.mkv").symlink_to(folder / "one.mkv")
    (tmp_path / "other.mkv").symlink_to(folder / "two.mkv")
    (tmp_path / "list.txt").write_text("one.mkv\n")
    scored = as_json(screentest, tmp_path, "score", str(tmp_path), "--metrics", "light")
    assert [one["item"] for one in scored["values"]] == ["one"]


def test_a_role_with_its_backend(screentest: Command, folder: Path) -> None:
    """Asked by a metric, chosen like any other, and in the signature."""

    def cosiness(*options: str) -> dict[str, Any]:
        scored = as_json(
            *(
                screentest,
                folder,
                "score",
                "one.mkv",
                "--metrics",
                "cosiness",
                "--all",
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
    listed = as_json(screentest, folder, "models")
    assert "warmth" in json.dumps(listed)
