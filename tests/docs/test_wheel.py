"""The wheel: all of the package is in it, and what the tutorials say works with nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.examples import ROOT, TUTORIALS, examples, must_be_printed, shown

SRC = ROOT / "src"
LEFT_OUT = {"__pycache__", ".mypy_cache"}
ENVIRONMENT = Path(os.environ.get("SCREENTEST_WHEEL", ROOT / ".venv-wheel"))
"""The wheel and what it asks for, freshly installed: ``make test-wheel``."""


def of_checkout() -> dict[str, bytes]:
    """Every file of the package: films and pages are no modules, and easily forgotten."""
    return {
        path.relative_to(SRC).as_posix(): path.read_bytes()
        for path in (SRC / "screentest").rglob("*")
        if path.is_file() and not LEFT_OUT & set(path.parts) and path.suffix != ".pyc"
    }


def test_every_file_of_the_package_is_in_it(tmp_path: Path) -> None:
    """Made of the source distribution, as ``python -m build`` does it."""
    line = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True)
    (made,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(made) as wheel:
        packed = {name: wheel.read(name) for name in wheel.namelist()}
    files = {name: held for name, held in packed.items() if ".dist-info/" not in name}
    assert files == of_checkout()


@pytest.fixture(scope="module")
def fresh() -> Path:
    """The command of the environment that holds the wheel, and nothing of this checkout."""
    command = ENVIRONMENT / "bin" / "screentest"
    if not command.exists():
        pytest.skip("the wheel is not installed (make test-wheel)")
    (packages,) = ENVIRONMENT.glob("lib/python*/site-packages")
    python = [
        ENVIRONMENT / "bin" / "python",
        "-c",
        "import screentest; print(screentest.__path__[0])",
    ]
    found = subprocess.run(
        python,
        cwd=ENVIRONMENT,
        env=in_empty(ENVIRONMENT),
        check=True,
        capture_output=True,
        text=True,
    )
    assert Path(found.stdout.strip()) == packages / "screentest"
    old = [name for name, held in of_checkout().items() if (packages / name).read_bytes() != held]
    assert not old, f"installed before these changed (make test-wheel): {old}"
    return command


def in_empty(folder: Path) -> dict[str, str]:
    """An environment that knows nothing of this checkout."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR")
    hidden = {name: os.environ[name] for name in kept if name in os.environ}
    return {**hidden, "SCREENTEST_CACHE": str(folder / "cache"), "COLUMNS": "80"}


def run(command: Path, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [command, *arguments], cwd=folder, env=in_empty(folder), capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_from_the_first_line_to_the_last(
    page: Path, fresh: Path, tmp_path: Path
) -> None:
    printed = ""
    for example in examples(page):
        if not example.not_run:
            done = run(fresh, example.arguments, tmp_path)
            assert done.returncode == 0, f"{example}\n{done.stdout}{done.stderr}"
            printed += done.stdout
    must_be_printed(shown(page), printed)
    if page.stem == "checkpoints":
        _what_was_done_is_found(fresh, tmp_path)


def _what_was_done_is_found(fresh: Path, folder: Path) -> None:
    """One checkpoint is blurred and flickers: what the page says of that holds."""
    line = ["compare", "scores/", "--by", "model=step-1000,step-2000"]
    answer = run(fresh, line, folder).stdout
    assert answer.lstrip().startswith("step-2000 beats step-1000")
    better = r"^[\w ]*\b{} [↑↓] +[\d.]+ +[\d.]+\* +\d+:\d+"
    for name in ("sharpness", "out-of-order frames"):
        assert re.search(better.format(re.escape(name)), answer, re.M), answer
    # Blur removes grain: less noise is not a lead of the blurred checkpoint.
    assert not re.search(r"^[\w ]*\bnoise [↑↓].*\*", answer, re.M), answer


@pytest.mark.slow
def test_the_demo(fresh: Path, tmp_path: Path) -> None:
    done = run(fresh, ["demo", "--out", "demo"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "report.html").stat().st_size > 100_000
