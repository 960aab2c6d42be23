"""``screentest suite univ caption`` as a user has it, and what its files are good for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from screentest.core import ManifestError, seconds
from screentest.core.signature import split_value_name
from screentest.inputs.manifest import read_manifest
from screentest.suites.univ.captions import read_captions, read_shots
from screentest.testing.chat_answers import Answer, Asked, Status
from screentest.testing.chat_server import FakeChatServer
from tests.suites.univ.scripted import answering, description, kind_of, matches
from tests.suites.univ.test_captions import OVERVIEW, WHOLE, scripted
from tests.suites.univ.test_schema import DOG
from tests.suites.univ.test_text_task import TRUTH
from tests.terminal import invoke

UNIV = ("suite", "univ")


def chosen(server: FakeChatServer) -> str:
    return f"chat=openai:fake,base_url={server.url},max_attempts=1"


def test_without_a_model_and_on_to_a_testbed(film: Path, tmp_path: Path) -> None:
    out = tmp_path / "described"
    told = invoke(*UNIV, "caption", film, "--out", out, "--json")
    assert told.exit_code == 0, told.output
    (video,) = read_captions(out / "captions.jsonl")
    assert json.loads(told.stdout) == [video.model_dump(mode="json")]
    # The film is two shots of a second each.
    assert [(shot.start, shot.end) for shot in video.shots] == [("0", "1"), ("1", "2")]
    (item,) = read_manifest(out / "manifest.jsonl")
    assert item.script is not None
    assert [clip.caption for clip in item.script.clips] == [shot.script for shot in video.shots]
    assert item.script.clips[1].span is not None
    assert item.script.clips[1].span.start == seconds("1")
    assert item.prompt == ""

    written = (out / "captions.jsonl").read_bytes()
    again = invoke(*UNIV, "caption", film, "--out", out)
    assert again.exit_code == 0
    assert re.search(r"film\.mp4 +2 ", again.stdout)
    assert (out / "captions.jsonl").read_bytes() == written

    testbed = tmp_path / "testbed"
    built = invoke(
        *("build", out / "manifest.jsonl", "--out", testbed, "--aspects", "aesthetics"),
        *("--clips", "1", "--long-side", "96", "--fps", "4", "--json"),
    )
    assert built.exit_code == 0, built.output
    assert json.loads(built.stdout)["pairs"] == 1


def test_with_a_model_and_on_to_a_ground_truth(film: Path, tmp_path: Path) -> None:
    """Half of what the caption is asked about is in it: the shares follow by hand."""
    out = tmp_path / "described"
    replies: dict[str, Any] = {
        "overview": OVERVIEW,
        "describe": description(**DOG),
        "script": scripted,
        "match": matches(lambda number: float(number % 2)),
    }
    with answering(**replies) as server:
        told = invoke(*(*UNIV, "caption", film, "--out", out, "--model", chosen(server)))
        assert told.exit_code == 0, told.output
        assert WHOLE in told.stdout
        scored = invoke(
            *("score", out / "manifest.jsonl"),
            *("--suite", f"univ:task=v2t,truth={out / 'captions.jsonl'}"),
            *("--out", tmp_path / "scores", "--json"),
            *("--model", chosen(server)),
        )
        (asked,) = [one for one in server.asked if kind_of(one) == "match"]
    assert scored.exit_code == 0, scored.output
    assert "A bird turns." in "\n".join(asked.texts)
    # Both shots say the same, so each statement is one item. By hand: two subjects, so their
    # kinds are items 1 and 2, their quality 3 and 4, their appearance 5 and 6; then the scene,
    # 7, and what happens, 8. Odd numbers are in the caption.
    values = json.loads(scored.stdout)["values"]
    found = {split_value_name(row["metric"])[1]: row["score"] for row in values}
    assert (found["subject"], found["background"], found["action"]) == (0.5, 1.0, 0.0)


def test_a_model_under_test_and_on_to_its_score(film: Path, tmp_path: Path) -> None:
    """One request for each video, and its words are what V2T compares with the ground truth."""
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps({"id": film.stem, "json": TRUTH}))
    said = "Towers stand. [Shot cut] A bird turns."
    with answering(
        plain=Answer(f"<think>Towers?</think>{said}"), match=matches(lambda number: 1.0)
    ) as server:
        out = tmp_path / "tested"
        done = invoke(
            *(*UNIV, "caption", film, "--by", "plain", "--out", out, "--model", chosen(server))
        )
        assert done.exit_code == 0, done.output
        (plain,) = server.asked
        assert plain.picture_sizes
        scored = invoke(
            *("score", out / "manifest.jsonl", "--suite", f"univ:task=v2t,truth={truth}"),
            *("--out", tmp_path / "scores", "--json", "--model", chosen(server)),
        )
        judged = server.asked[-1]
    assert scored.exit_code == 0, scored.output
    assert said in "\n".join(judged.texts)
    assert "<think>" not in "\n".join(judged.texts)


def test_it_goes_on_where_it_stopped(film: Path, tmp_path: Path) -> None:
    broken = [True]

    def reply(asked: Asked) -> Any:
        second = "shot 2 of 2" in "\n".join(asked.texts)
        return Status(503) if second and broken else description(**DOG)

    with answering(overview=OVERVIEW, describe=reply, script=scripted) as server:
        command = (*UNIV, "caption", film, "--out", tmp_path / "out")
        first = invoke(*command, "--model", chosen(server))
        assert first.exit_code == 1
        assert "Not described" in first.stdout
        assert not (tmp_path / "out" / "captions.jsonl").exists()
        broken.clear()
        server.asked.clear()
        second = invoke(*command, "--model", chosen(server))
        kinds = [kind_of(asked) for asked in server.asked]
    assert second.exit_code == 0, second.output
    # The overview and the first shot were paid for already.
    assert kinds == ["describe", "script", "script"]
    assert len(read_captions(tmp_path / "out" / "captions.jsonl")[0].shots) == 2


def test_a_refused_shot_is_reported_and_not_written(film: Path, tmp_path: Path) -> None:
    def reply(asked: Asked) -> Any:
        if "shot 2 of 2" in "\n".join(asked.texts):
            return Answer(None, refusal="no")
        return description(**DOG)

    with answering(overview=OVERVIEW, describe=reply, script=scripted) as server:
        told = invoke(
            *(
                *UNIV,
                "caption",
                film,
                "--out",
                tmp_path,
                "--workers",
                "1",
                "--model",
                chosen(server),
            )
        )
    assert told.exit_code == 0, told.output
    assert "1, 1 missing" in told.stdout
    assert "models: chat.caption=" in " ".join(told.stdout.split())
    (item,) = read_manifest(tmp_path / "manifest.jsonl")
    assert item.script is not None
    assert len(item.script.clips) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by", "chat"), "--model chat="),
        (("--by", "people"), "'auto', 'chat', 'plain', 'builtin'"),
        (("--whole",), "--whole is for"),
    ],
)
def test_mistakes(options: tuple[str, ...], message: str, film: Path, tmp_path: Path) -> None:
    done = invoke(*UNIV, "caption", film, "--out", tmp_path / "out", *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_video(tmp_path: Path) -> None:
    (tmp_path / "broken.mp4").write_text("no video")
    done = invoke(
        "suite",
        "univ",
        "caption",
        tmp_path / "broken.mp4",
        "--out",
        tmp_path / "out",
        "--workers",
        "1",
    )
    assert done.exit_code == 1
    assert "broken.mp4: undecodable" in done.stdout


def test_files_that_are_no_captions(tmp_path: Path) -> None:
    path = tmp_path / "captions.jsonl"
    for text in ("{}", '{"id": 3}', "nonsense", '["x"]'):
        path.write_text(f"\n{text}\n")
        with pytest.raises(ManifestError, match="line 2"):
            read_captions(path)
    path.write_bytes(b"\xff")
    with pytest.raises(ManifestError, match="UTF-8"):
        read_captions(path)
    with pytest.raises(ManifestError, match="is not there"):
        read_shots(tmp_path / "missing.jsonl")
    other = tmp_path / "paper.json"
    for text in ("[1]", "{", "[" * 100_000):
        other.write_text(text)
        with pytest.raises(ManifestError):
            read_shots(other)
