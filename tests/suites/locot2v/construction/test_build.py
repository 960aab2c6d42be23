"""Construction: every stage, resumed, corrected, failed, flagged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from screentest.core import Item, Reason, UserError
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from screentest.suites.locot2v.construction.build import SuiteBuild, build_suite
from screentest.suites.locot2v.construction.stages import STAGES, Choices, SourceVideo
from screentest.suites.locot2v.data import DIMENSIONS, read_prompt_suite
from screentest.testing.chat_answers import Answer, Asked
from screentest.testing.chat_server import FakeChatServer
from screentest.testing.films import gliding, write_film
from tests.messages import names
from tests.suites.locot2v.answering import answering, chat, event, kind_of
from tests.suites.locot2v.films import CLASSICAL

FLAGS = {
    **dict.fromkeys(("burnt_in_text", "overlay", "low_quality", "off_theme"), False),
    "why": "it is fine",
}
GRADE = {"explanation": "so", "score": 7}


def written(asked: Asked) -> dict[str, str]:
    """A draft, its revision, or the final prompt: by what the template says."""
    text = "\n".join(asked.texts)
    if "You write the prompt for a film" in text:
        return {"text": "The final prompt. " + ("corrected" if "corrected" in text else "")}
    return {"text": "A revised draft." if "You correct a text" in text else "A first draft."}


REPLIES: dict[str, Any] = {
    "flags": FLAGS,
    "text": written,
    "critique": lambda asked: {
        "faults": ["a colour is wrong"] if "A first draft." in "\n".join(asked.texts) else []
    },
    "expect": dict.fromkeys(DIMENSIONS, "It is calm."),
    "questions": {"questions": [f"Is it calm, {n}?" for n in range(6)]},
    "polarity": {"polarity": "positive"},
    "events": {"events": [event("A dog runs."), event("It sleeps.")]},
    "actions": {"actions": []},
    "event_prompts": {"prompts": ["A dog runs, filmed from far.", "The dog sleeps."]},
    "complexity": {"semantic": GRADE, "structural": GRADE, "control": {**GRADE, "score": 4}},
}


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SourceVideo:
    path = write_film(tmp_path_factory.mktemp("films") / "dog.mkv", gliding(16, 1))
    return SourceVideo("pets_dog", Item("pets_dog", path), "pets")


CHOICES = Choices(shortest=1, longest=10, frames=2, long_side=64, least_quality=0.0)


def built(
    server: FakeChatServer, out: Path, *sources: SourceVideo, choices: Choices = CHOICES
) -> SuiteBuild:
    tools = Tools(Settings(models=(ModelChoice.parse(chat(server)), *CLASSICAL)))
    try:
        return build_suite(sources, out, tools, choices)
    finally:
        tools.models.close()


def edit(path: Path, change: Any) -> None:
    content = json.loads(path.read_text())
    change(content["result"])
    path.write_text(json.dumps(content))


def test_all_stages_make_a_record(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**REPLIES) as server:
        done = built(server, tmp_path, source)
    assert (done.made, done.kept, done.failures) == (len(STAGES), 0, {})
    suite = read_prompt_suite(tmp_path / "suite.json")
    assert suite.problems == ()
    record = suite.records["pets_dog"]
    assert (record.theme, record.base) == ("pets", "A revised draft.")
    assert record.prompt.startswith("The final prompt.")
    assert [one.prompt for one in record.events] == REPLIES["event_prompts"]["prompts"]
    assert sum(len(questions) for questions in record.questions.values()) == 42
    assert record.actions == ()
    assert record.complexity == {"semantic": 7, "structural": 7, "control": 4}
    assert record.duration == 2.0
    draft = json.loads((tmp_path / "stages/pets_dog/draft.json").read_text())["result"]
    assert draft["rounds"] == [{"draft": "A first draft.", "faults": ["a colour is wrong"]}]


def test_what_was_made_is_not_made_again(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
        asked = len(server.asked)
        again = built(server, tmp_path, source)
        assert len(server.asked) == asked
    assert (again.made, again.kept) == (0, len(STAGES))


def test_a_correction_reaches_what_depends_on_it(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
        edit(
            tmp_path / "stages/pets_dog/draft.json",
            lambda result: result.update(text="A corrected draft."),
        )
        before = len(server.asked)
        again = built(server, tmp_path, source)
        kinds = [kind_of(asked) for asked in server.asked[before:]]
    assert again.corrected == ["pets_dog/draft"]
    # Merge, events and complexity depend on the draft; evaluation and questions do not.
    assert again.made == 3
    assert sorted(kinds) == ["actions", "complexity", "event_prompts", "events", "text"]
    record = read_prompt_suite(tmp_path / "suite.json").records["pets_dog"]
    assert (record.base, record.prompt) == ("A corrected draft.", "The final prompt. corrected")


def test_a_correction_is_never_overwritten(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
        for stage, text in (("merge", "My own prompt."), ("draft", "My own draft.")):
            edit(
                tmp_path / f"stages/pets_dog/{stage}.json",
                lambda result, text=text: result.update(text=text),
            )
        again = built(server, tmp_path, source)
    assert again.conflicts == ["pets_dog/merge"]
    record = read_prompt_suite(tmp_path / "suite.json").records["pets_dog"]
    assert (record.base, record.prompt) == ("My own draft.", "My own prompt.")


def test_a_failure_costs_what_depends_on_it_and_is_tried_again(
    source: SourceVideo, tmp_path: Path
) -> None:
    refusing = {**REPLIES, "expect": Answer(None, refusal="no")}
    with answering(**refusing) as server:
        done = built(server, tmp_path, source)
    assert {place: one.reason for place, one in done.failures.items()} == {
        "pets_dog/evaluate": Reason.REFUSED
    }
    assert (done.made, done.records) == (2, [])
    assert not (tmp_path / "suite.json").exists()
    with answering(**REPLIES) as server:
        again = built(server, tmp_path, source)
    assert (again.kept, again.made, len(again.records)) == (2, len(STAGES) - 2, 1)


def test_a_film_of_the_wrong_length_is_left_out(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**REPLIES) as server:
        done = built(server, tmp_path, source, choices=Choices(frames=2, least_quality=0.0))
    assert done.left_out == {"pets_dog": ("duration",)}
    assert done.made == 1
    # A person may say otherwise.
    with answering(**REPLIES) as server:
        edit(tmp_path / "stages/pets_dog/collect.json", lambda result: result.update(use=True))
        again = built(server, tmp_path, source, choices=Choices(frames=2, least_quality=0.0))
    assert (again.flagged, len(again.records)) == ({"pets_dog": ("duration",)}, 1)


def test_what_the_model_sees_is_flagged(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**{**REPLIES, "flags": {**FLAGS, "off_theme": True}}) as server:
        done = built(server, tmp_path, source)
    assert done.flagged == {"pets_dog": ("off_theme",)}
    assert len(done.records) == 1


def test_prompts_that_do_not_fit_their_events(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**{**REPLIES, "event_prompts": {"prompts": ["only one"]}}) as server:
        done = built(server, tmp_path, source)
    assert done.failures["pets_dog/events"].reason is Reason.UNPARSABLE
    assert names(done.failures["pets_dog/events"].detail, 1, 2)


def test_prompts_that_fit_their_events_when_asked_anew(source: SourceVideo, tmp_path: Path) -> None:
    def prompts(asked: Asked) -> dict[str, list[str]]:
        sent_back = len(asked.messages) > 2  # after its answer, what is wrong with it
        return REPLIES["event_prompts"] if sent_back else {"prompts": ["only one"]}

    with answering(**{**REPLIES, "event_prompts": prompts}) as server:
        done = built(server, tmp_path, source)
    assert (done.failures, len(done.records)) == ({}, 1)


def test_a_film_that_is_gone_harms_only_itself(source: SourceVideo, tmp_path: Path) -> None:
    gone = SourceVideo("pets_cat", Item("pets_cat", tmp_path / "cat.mp4"), "pets")
    with answering(**REPLIES) as server:
        done = built(server, tmp_path, gone, source)
    assert done.failures["pets_cat/collect"].reason is Reason.MISSING_FILE
    assert [record.id for record in done.records] == ["pets_dog"]


@pytest.mark.parametrize(
    ("stage", "change"),
    [
        ("draft", lambda result: result.pop("text")),
        ("collect", lambda result: result.update(use="yes")),
        ("events", lambda result: result.update(events=[{"event": "x", "colour": "red"}])),
        ("questions", lambda result: result.update(themes=[{"question": "x"}])),
    ],
)
def test_files_edited_into_another_shape_are_reported(
    stage: str, change: Any, source: SourceVideo, tmp_path: Path
) -> None:
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
        edit(tmp_path / f"stages/pets_dog/{stage}.json", change)
        with pytest.raises(UserError):
            built(server, tmp_path, source)


def test_files_that_are_no_json_are_reported(source: SourceVideo, tmp_path: Path) -> None:
    with answering(**REPLIES) as server:
        built(server, tmp_path, source)
        (tmp_path / "stages/pets_dog/merge.json").write_text("{")
        with pytest.raises(UserError, match=r"cannot read .*merge\.json"):
            built(server, tmp_path, source)
