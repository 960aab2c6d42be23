from __future__ import annotations

from pathlib import Path

import pytest

from screentest.core import BadOption, Reason, build
from screentest.models.chat.openai import openai_chat
from screentest.models.chat.replay import Recorder, ReplayChat
from screentest.testing.chat_answers import Act, Answer, Asked, Status
from screentest.testing.chat_server import FakeChatServer
from tests.models.chat.kit import GOOD, Rating, plain, rating


def script(asked: Asked) -> Act:
    text = asked.texts[0]
    if "film 1" in text:
        return Answer(None, refusal="No.")
    if "film 2" in text:
        return Answer("cut", finish="length")
    if "film 3" in text:
        return Status(500)
    return Answer(GOOD if asked.schema else "A dog runs.", model="judge-2026", fingerprint="fp")


REQUESTS = [plain(0), plain(1), plain(2), plain(3), rating(4), plain(0, repeat=1)]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "deep" / "answers.jsonl"
    with FakeChatServer(script) as server:
        chat = openai_chat(
            model="judge", base_url=server.url, record=str(path), max_attempts=1, longest_wait=0.01
        )
        with chat:
            assert isinstance(chat, Recorder)
            assert chat.settings.model == "judge"  # whatever the model can do, it still can
            chat.ask(REQUESTS[:3])
            chat.ask(REQUESTS[3:])
    return path


def test_replays_what_was_recorded(recording: Path) -> None:
    chat = ReplayChat(recording)
    outcomes = chat.ask(REQUESTS)
    assert outcomes[0].unwrap().text == "A dog runs."
    assert (outcomes[0].unwrap().model, outcomes[0].unwrap().fingerprint) == ("judge-2026", "fp")
    assert outcomes[4].unwrap().value == Rating(score=4, reason="fine")
    assert outcomes[5].ok
    reasons = [outcome.failure.reason for outcome in outcomes[1:4]]
    # The model's own failures are replayed; what the service failed to answer is missing.
    assert reasons == [Reason.REFUSED, Reason.TRUNCATED, Reason.MISSING_MODEL]
    assert "record=FILE" in outcomes[3].failure.advice


def test_another_repeat_is_another_question(recording: Path) -> None:
    assert not ReplayChat(recording).ask([plain(0, repeat=2)])[0].ok


def test_its_identity_is_what_it_holds_not_where_it_lies(recording: Path, tmp_path: Path) -> None:
    other = tmp_path / "moved.jsonl"
    other.write_bytes(recording.read_bytes())
    here, there = (build("chat", f"replay:model={path}") for path in (recording, other))
    assert here.spec.signature == there.spec.signature
    assert here.thing.identity == there.thing.identity
    assert here.thing.identity["served"] == "judge-2026"
    with other.open("a") as file:
        file.write(recording.read_text().splitlines()[0] + "\n")
    assert ReplayChat(other).identity != here.thing.identity


def test_a_torn_last_line_is_passed_over(recording: Path) -> None:
    whole = recording.read_bytes()
    recording.write_bytes(whole[:-20])
    chat = ReplayChat(recording)
    assert chat.ask(REQUESTS[:1])[0].ok
    assert not chat.ask(REQUESTS[5:])[0].ok


@pytest.mark.parametrize("line", ["not json", '{"use": "x"}', '{"key": 3}', "[]"])
def test_a_wrong_line_is_named(recording: Path, line: str) -> None:
    with recording.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(BadOption, match="line 6"):
        ReplayChat(recording)


def test_no_recording(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="cannot read"):
        build("chat", f"replay:model={tmp_path / 'nowhere.jsonl'}")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOption, match="cannot record"):
        openai_chat(
            model="m", base_url="http://127.0.0.1/v1", record=str(tmp_path / "file" / "x.jsonl")
        )
