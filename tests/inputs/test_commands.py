"""``screentest validate``: exit codes, all problems, readable at 80 columns."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.messages import names
from tests.terminal import CLEAN, Screentest, fits


@pytest.fixture
def folder(tmp_path: Path, sample: Path) -> Path:
    shutil.copy(sample / "frenchgp_1906_214x160.mp4", tmp_path / "film.mp4")
    return tmp_path


def test_a_good_manifest_ends_with_0(screentest: Screentest, folder: Path) -> None:
    (folder / "m.csv").write_text("id,video,prompt\na,film.mp4,A race.\n")
    done = screentest("validate", "m.csv", "--deep")

    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    assert names(line, "m.csv: 1 good row", "1 file")


def test_all_problems_are_printed_and_it_ends_with_1(screentest: Screentest, folder: Path) -> None:
    long = "x" * 100
    (folder / "m.jsonl").write_text(
        '{"id": "a", "video": "film.mp4", "promt": "?"}\n'
        '{"id": "b", "video": "gone.mp4"}\n'
        f'{{"id": "{long}", "video": "{long}.mp4"}}\n'
        "nonsense\n"
    )
    (folder / "empty.mp4").touch()
    done = screentest("validate", "m.jsonl")

    assert (done.returncode, done.stderr) == (1, "")
    assert fits(done.stdout)
    for told in (
        *("m.jsonl: 2 good rows", "0 files", "5 problems"),
        *("Bad rows (2)", "line 1 (a): ", "'promt'", "'prompt'", "line 4: ", "JSON at character 1"),
        *("video (2)", "line 2 (b): ", "'gone.mp4'", "prompt (1)", "'empty.mp4'"),
    ):
        assert told in done.stdout
    # Even names wider than the screen are printed whole.
    unwrapped = done.stdout.replace("\n", "").replace(" ", "")
    assert names(unwrapped, f"line3({long}):", f"'{long}.mp4'")


def test_json_for_machines(screentest: Screentest, folder: Path) -> None:
    (folder / "m.jsonl").write_text('{"id": "b", "video": "gone.mp4"}')
    done = screentest("validate", "m.jsonl", "--partial", "--json")

    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "manifest": "m.jsonl",
        "layout": "manifest",
        "seen": "",
        "rows": 1,
        "opened": 0,
        "ok": False,
        "problems": [
            {
                "kind": "missing",
                "line": 1,
                "row": None,
                "id": "b",
                "path": "gone.mp4",
                "message": "the video 'gone.mp4' is not there",
                "advice": None,
            }
        ],
    }


def test_faults_of_the_manifest_are_reported_before_the_engine_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("id,vidoe\na,film.mp4\n")
    code = (
        "import sys\n"
        "from screentest.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'av', 'cv2', 'numpy', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "validate", "m.csv"],
        cwd=tmp_path,
        env=CLEAN,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no column 'video'" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_manifest_at_all_ends_with_2(screentest: Screentest) -> None:
    done = screentest("validate", "none.jsonl")
    assert done.returncode == 2
    what, advice = done.stderr.splitlines()
    assert names(what, "error: none.jsonl")
    assert names(advice, ".jsonl", ".csv", ".json")


def test_a_prompt_cannot_steer_the_terminal(screentest: Screentest, folder: Path) -> None:
    row = {"id": "[bold red]a", "video": "\x1b[2J\x07[link=x]film.mp4"}
    (folder / "m.jsonl").write_text(json.dumps(row))
    done = screentest("validate", "m.jsonl", FORCE_COLOR="1")

    assert "\x1b[2J" not in done.stdout
    assert "\x07" not in done.stdout
    assert "([bold red]a)" in done.stdout
