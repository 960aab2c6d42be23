"""Whole videos where a server takes them, frames everywhere else; what it refuses has a name."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import (
    Aspect,
    BadOption,
    Frame,
    Item,
    Question,
    Reason,
    ServiceError,
    Time,
    registry,
)
from screentest.measure.evaluators import resolve
from screentest.models import ModelChoice
from screentest.models.chat.messages import ChatRequest, Encoding, Film, Text, timed
from screentest.models.chat.openai import OpenAIChat
from screentest.run.session import Settings, Tools
from screentest.testing.chat_answers import Answer, Status
from screentest.testing.chat_server import FakeChatServer
from screentest.testing.films import gliding, write_film
from tests.models.chat.kit import GOOD, Rating


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "degraded film.mp4"
    path.write_bytes(b"not a real film")
    return path


def about(*videos: Path, whole: bool = True) -> ChatRequest:
    """Two frames of each, which are the same for all."""
    grey = np.full((16, 16, 3), 128, np.uint8)
    frames = [Frame(Time(second), second, grey) for second in (0, 1)]
    parts: list[Any] = []
    for path in videos:
        film = Film(path) if whole else None
        parts += [Text("A film:"), *timed(frames, Encoding(), film=film)]
    return ChatRequest((*parts, Text("Rate it.")), schema=Rating)


@contextmanager
def asking(
    *acts: Any, video: str = "video_url", **options: Any
) -> Iterator[tuple[OpenAIChat, FakeChatServer]]:
    with FakeChatServer(list(acts) or [Answer(GOOD)]) as server:
        built = registry.build(
            "chat", "openai", model="sees", base_url=server.url, video=video, **options
        )
        with built.thing as chat:
            yield chat, server


def test_the_file_takes_the_place_of_its_frames_and_their_times(video: Path) -> None:
    with asking() as (chat, server):
        assert chat.ask([about(video)])[0].ok
        (asked,) = server.asked
    kinds = [part["type"] for part in asked.parts]
    assert kinds == ["text", "video_url", "text", "text"]  # the last is the schema in words
    head, _, data = asked.parts[1]["video_url"]["url"].partition(",")
    assert head == "data:video/mp4;base64"
    assert base64.b64decode(data) == video.read_bytes()
    assert "second]" not in "\n".join(asked.texts)
    assert asked.schema is not None
    assert "pictures_seen" in asked.schema["properties"]


def test_a_file_part_says_nothing_of_the_files_name(video: Path) -> None:
    with asking(video="file") as (chat, server):
        chat.ask([about(video)])
        held = server.asked[0].parts[1]
    assert held["file"]["filename"] == "video.mp4"
    assert held["file"]["file_data"].startswith("data:video/mp4;base64,")
    assert b"degraded" not in server.asked[0].raw


def test_a_server_that_reads_the_folder_gets_an_address(video: Path, tmp_path: Path) -> None:
    options = {"video_root": str(tmp_path), "video_base": "file:///films/", "video_limit": 1e-6}
    with asking(**options) as (chat, server):
        assert chat.ask([about(video)])[0].ok
        url = server.asked[0].parts[1]["video_url"]["url"]
    assert url == "file:///films/degraded%20film.mp4"


@pytest.mark.parametrize("whole", [True, False])
def test_frames_are_sent_unless_videos_are_asked_for(video: Path, whole: bool) -> None:
    with asking(video="frames" if whole else "video_url") as (chat, server):
        chat.ask([about(video, whole=whole)])
        kinds = [part["type"] for part in server.asked[0].parts]
    assert kinds.count("image_url") == 2
    assert about(video).key == about(video, whole=False).key


def test_two_films_of_the_same_frames_are_two_questions(video: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mp4"
    other.write_bytes(b"another film")
    with asking() as (chat, server):
        chat.ask([about(video)])
        chat.ask([about(other)])
        chat.ask([about(video)])
        chat.ask([about(video, other)])
    assert len(server.asked) == 3
    assert [part["type"] for part in server.asked[2].parts].count("video_url") == 2


@pytest.mark.parametrize(
    ("name", "limit", "reason"),
    [
        ("film.mp4", 1e-6, Reason.TOO_LARGE),
        ("film.y4m", 20, Reason.NOT_APPLICABLE),
        ("gone.mp4", 20, Reason.MISSING_FILE),
    ],
)
def test_a_file_that_cannot_be_sent_is_its_own_failure(
    name: str, limit: float, reason: Reason, tmp_path: Path
) -> None:
    path = tmp_path / name
    if "gone" not in name:
        path.write_bytes(b"a film")
    with asking(video_limit=limit) as (chat, server):
        (outcome,) = chat.ask([about(path)])
        assert not server.asked
    assert outcome.failure is not None
    assert outcome.failure.reason is reason


@pytest.mark.parametrize(
    "said",
    [
        "At most 1 video(s) may be provided in one prompt.",
        "Unknown part type: video_url",
        "This model does not support video input.",
        "Cannot load local files without --allowed-local-media-path",
    ],
)
def test_a_server_that_takes_no_video_stops_the_run_with_what_to_do(said: str, video: Path) -> None:
    with asking(Status(400, said)) as (chat, server):
        with pytest.raises(ServiceError, match="video not taken") as caught:
            chat.ask([about(video)])
        assert len(server.asked) == 1
    assert "video=frames" in caught.value.advice


def test_a_video_too_long_for_the_server_costs_itself_only(video: Path) -> None:
    with asking(Status(413, "payload too large"), Answer(GOOD)) as (chat, _):
        first, second = (chat.ask([about(*some)])[0] for some in ((video,), (video, video)))
    assert first.failure is not None
    assert first.failure.reason is Reason.TOO_LARGE
    assert second.ok


@pytest.mark.parametrize(
    "options",
    [
        {"video": "native"},
        {"video": "video_url", "video_root": "."},
        {"video": "video_url", "video_base": "file:///"},
        {"video": "video_url", "video_root": "nowhere", "video_base": "file:///"},
        {"video": "video_url", "video_limit": 0},
        {"video": "file", "record": "answers.jsonl"},
    ],
)
def test_options_that_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        registry.build("chat", "openai", model="sees", **options)


def test_the_choice_is_in_the_signature() -> None:
    specs = [
        str(registry.entry("chat", "openai").spec({"model": "m", "video": one}))
        for one in ("frames", "video_url")
    ]
    assert specs[0] != specs[1]


def test_judges_and_pieces_of_films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole film is sent as one; a judge that saw all of it says nothing of frames."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    path = write_film(tmp_path / "one.mkv", gliding(8, 1))
    question = Question(Aspect("color"), "A ball.", Item("a", path), Item("b", path))
    judge = resolve("vlm_video:frames=2,long_side=32", "judge").judge
    for video, kind, same in (("video_url", "video_url", None), ("frames", "image_url", True)):
        with FakeChatServer() as server:
            choice = f"chat=openai:m,base_url={server.url},video={video}"
            tools = Tools(Settings(models=(ModelChoice.parse(choice),)))
            shown = judge.judge(question, tools).unwrap().shown
            tools.models.close()
            (asked,) = server.asked
        assert (None if shown is None else shown.same) is same
        assert {part["type"] for part in asked.parts} == {"text", kind}
