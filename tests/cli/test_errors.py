"""Messages name Python's parameters; the command line prints its own flags."""

from __future__ import annotations

import pytest

from screentest.cli.errors import as_flags
from screentest.cli.loader import as_command
from screentest.cli.score import score
from tests.terminal import Screentest


@pytest.mark.parametrize(
    ("message", "printed"),
    [
        (
            "`add` and `replace` are mutually exclusive",
            "--add and --replace are mutually exclusive",
        ),
        ('give `model="chat=openai:NAME"`', "give --model chat=openai:NAME"),
        ("`generated` needs `max_cost=20`", "--videos needs --max-cost 20"),
        ("`replace=True` or `videos`", "--replace or ITEMS…"),
        ("`screentest runs` and `ids` stay", "`screentest runs` and `ids` stay"),
    ],
)
def test_parameters_become_flags(message: str, printed: str) -> None:
    assert as_flags(message, as_command("score", score)) == printed


def test_the_command_line_speaks_flags(screentest: Screentest) -> None:
    done = screentest("score", "film.mp4", "--add", "--replace")
    assert done.returncode == 2
    assert done.stderr == "error: --add and --replace are mutually exclusive\n"
