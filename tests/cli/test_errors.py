"""The command line speaks flags: in messages that name Python's parameters, and in its help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.main import get_command

from screentest.cli import app
from screentest.cli.errors import as_flags
from screentest.cli.loader import as_command
from screentest.cli.options import options_of
from screentest.cli.score import score
from tests.messages import names
from tests.terminal import Screentest


@pytest.mark.parametrize(
    ("message", "printed"),
    [
        ("`add` and `replace`", "--add and --replace"),
        ('give `model="chat=openai:NAME"`', "give --model chat=openai:NAME"),
        ("`generated` needs `max_cost=20`", "--videos needs --max-cost 20"),
        ("`replace=True` or `videos`", "--replace or ITEMS…"),
        ("`screentest runs`, `ids` stay", "`screentest runs`, `ids` stay"),
    ],
)
def test_parameters_become_flags(message: str, printed: str) -> None:
    assert as_flags(message, as_command("score", score)) == printed


def test_the_command_line_speaks_flags(screentest: Screentest) -> None:
    done = screentest("score", "film.mp4", "--add", "--replace")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert names(line, "error: ", "--add", "--replace")


def job(*, old_name: int = 3, flag: bool = False, names: Sequence[str] = ()) -> None:
    """Do something.

    Args:
        old_name: A number, unless
            ``flag``.
        flag: Do ``nothing``.
        names: Names.
    """


def test_options_have_the_types_defaults_and_words_of_the_job() -> None:
    made = options_of(job, old_name="--number N", flag="", names="NAMES")
    number, flag, names = ((*get_args(kind), default) for kind, default in made.values())
    assert (number[0], number[2], number[1].help) == (int, 3, "A number, unless --flag.")
    assert (flag[0], flag[2], flag[1].help) == (bool, False, "Do nothing.")
    assert (names[0], names[2]) == (list[str], [])


@pytest.mark.parametrize("name", ["build", "certify", "compare", "judge", "report", "score"])
def test_every_option_of_a_verb_has_help(name: str) -> None:
    command = get_command(app).get_command(typer.Context(get_command(app)), name)  # type: ignore[attr-defined]
    assert not [one.name for one in command.params if not getattr(one, "help", "")]


PLUGIN = """
import os, sys
import screentest

def fail(where):
    if where == os.environ["WHERE"]:
        sys.exit(0) if os.environ["WAY"] == "exit" else int("no number")

fail("at import")

@screentest.register("importer", "of_a_test")
class Importer:
    for_films, for_videos = True, True

    def accepts(self, path):
        fail("of an importer")
        return False

@screentest.suite(summary="none")
def of_a_test():
    fail("of a suite")
"""


@pytest.mark.parametrize("where", ["at import", "of an importer", "of a suite"])
@pytest.mark.parametrize("way", ["exit", "raise"])
def test_a_fault_of_a_plugin_is_named_as_that(
    where: str, way: str, process: Screentest, tmp_path: Path
) -> None:
    """Also where it leaves with the code of success: nothing was scored."""
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "a.mp4").touch()
    (tmp_path / "of_a_test.py").write_text(PLUGIN)
    variables = {"SCREENTEST_PLUGINS": "of_a_test.py", "WHERE": where, "WAY": way}
    suite = "of_a_test" if where == "of a suite" else "core"
    done = process("score", "films", "--suite", suite, TMPDIR=str(tmp_path), **variables)
    assert done.returncode == 2
    assert names(done.stderr, "plugin ", "of_a_test", "SystemExit" if way == "exit" else "Value")
    assert "fault in screentest" not in done.stderr
