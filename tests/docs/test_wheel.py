"""The wheel: all of the package is in it, and what the tutorials say works with nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.examples import ROOT, TUTORIALS, examples

SRC = ROOT / "src"
LEFT_OUT = {"__pycache__", ".mypy_cache"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    line = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def test_every_file_of_the_package_is_in_it(wheel: Path) -> None:
    """Films, templates and pages are no modules, and easily forgotten."""
    there = {
        path.relative_to(SRC).as_posix()
        for path in (SRC / "screentest").rglob("*")
        if path.is_file() and not LEFT_OUT & set(path.parts) and path.suffix != ".pyc"
    }
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert there <= packed
    assert not {name for name in packed if name.startswith(("tests/", "docs/"))}


def in_empty(folder: Path) -> dict[str, str]:
    """An environment that knows nothing of this checkout."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR")
    hidden = {name: os.environ[name] for name in kept if name in os.environ}
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {**hidden, **pip, "SCREENTEST_CACHE": str(folder / "cache"), "COLUMNS": "80"}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that holds the wheel and what it asks for.

    The wheel is made of the source distribution, as ``python -m build`` does it.
    """
    folder = tmp_path_factory.mktemp("fresh")
    line = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist")]
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    pip = [folder / "env" / "bin" / "python", "-m", "pip", "install", "--quiet", wheel]
    subprocess.run(pip, check=True, env=in_empty(folder))
    return folder / "env" / "bin" / "screentest"


def run(command: Path, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [command, *arguments], cwd=folder, env=in_empty(folder), capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.slow
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
    if page.stem == "checkpoints":
        _is_what_the_page_shows(printed, page)
        _what_was_done_is_found(fresh, tmp_path)


def _is_what_the_page_shows(printed: str, page: Path) -> None:
    """The answer on the page is the one that is printed; numbers may differ by a hundredth."""
    text = page.read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(step-.*?)^```$", text, re.M | re.S)
    lines = iter(printed.splitlines())
    for shown in block.splitlines():
        if shown.strip("…─"):  # how wide a table is does not matter
            assert any(_alike(shown, line) for line in lines), f"not printed, or earlier: {shown}"


def _alike(shown: str, line: str) -> bool:
    ours, theirs = shown.removesuffix("…").split(), line.split()
    if shown.endswith("…"):
        theirs = theirs[: len(ours)]
    return len(ours) == len(theirs) and all(map(_same_word, ours, theirs))


def _same_word(one: str, two: str) -> bool:
    try:
        return float(one.rstrip("*")) == pytest.approx(float(two.rstrip("*")), rel=0.01)
    except ValueError:
        return one == two


def _what_was_done_is_found(fresh: Path, folder: Path) -> None:
    """One checkpoint is blurred and flickers: what the page says of that holds."""
    line = ["compare", "scores/", "--by", "model=step-1000,step-2000"]
    answer = run(fresh, line, folder).stdout
    assert answer.lstrip().startswith("step-2000 wins")
    found = r"^[\w ]*\b{} [↑↓].*step-2000 \d+/20 +yes"
    for name in ("sharpness", "frames thrown back"):
        assert re.search(found.format(re.escape(name)), answer, re.M), answer
    # Blur removes grain: less noise is not a lead of who is blurred.
    assert not re.search(r"^[\w ]*\bnoise .*step-1000 \d+/20", answer, re.M), answer


@pytest.mark.slow
def test_the_demo(fresh: Path, tmp_path: Path) -> None:
    done = run(fresh, ["demo", "--out", "demo"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "report.html").stat().st_size > 100_000
