"""`screentest ask` against the server that misbehaves on script: money, ledger, dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.testing.chat_answers import Answer, Status
from screentest.testing.chat_server import FakeChatServer
from tests.terminal import Screentest

PRICES = '[models."judge"]\ninput = 2.0\noutput = 8.0\n'


@pytest.fixture
def prices(tmp_path: Path) -> str:
    place = tmp_path / "prices.toml"
    place.write_text(PRICES)
    return str(place)


def model(server: FakeChatServer) -> str:
    return f"chat=openai:judge,base_url={server.url}"


def test_an_answer_about_frames_is_printed_and_kept(
    screentest: Screentest, sample: Path, tmp_path: Path, prices: str
) -> None:
    film = str(sample / "frenchgp_1906_214x160.mp4")
    with FakeChatServer([Answer("Cars on a dusty road.")]) as server:
        given = ["ask", "What happens?", "--model", model(server), "--video", film, "--frames", "3"]
        given += ["--run", str(tmp_path / "run"), "--prices", prices, "--max-cost", "1"]
        first, again = screentest(*given), screentest(*given)
        asked = list(server.asked)
    assert first.returncode == 0, first.stderr
    assert first.stdout == again.stdout == "Cars on a dusty road.\n"
    assert "cost" in first.stderr
    # The same question a second time comes out of the run.
    assert len(asked) == 1
    shown = screentest("runs", str(tmp_path / "run"), "--json")
    assert json.loads(shown.stdout)[0]["folder"].endswith("run")


def test_a_dry_run_sends_nothing(screentest: Screentest, sample: Path, prices: str) -> None:
    film = str(sample / "frenchgp_1906_214x160.mp4")
    with FakeChatServer([Answer("never")]) as server:
        done = screentest(
            *("ask", "What happens?", "--model", model(server), "--video", film),
            *("--frames", "2", "--dry-run", "--prices", prices),
        )
        assert list(server.asked) == []
    assert done.returncode == 0, done.stderr
    assert "pictures  2" in done.stdout
    assert "cost      at most" in done.stdout
    assert server.url in done.stdout


def test_a_cap_without_a_price_is_refused_before_anything_is_sent(
    screentest: Screentest, tmp_path: Path
) -> None:
    with FakeChatServer([Answer("never")]) as server:
        done = screentest(
            *("ask", "Hello", "--model", model(server), "--max-cost", "1"),
            *("--run", str(tmp_path / "run")),
        )
        assert list(server.asked) == []
    assert done.returncode == 2
    assert "price" in done.stderr


def test_a_wrong_key_is_one_message(screentest: Screentest, tmp_path: Path) -> None:
    with FakeChatServer([Status(401)]) as server:
        done = screentest(
            *("ask", "Hello", "--model", model(server), "--run", str(tmp_path / "run"))
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error:")
    assert "Traceback" not in done.stderr
