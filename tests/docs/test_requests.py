"""The pages of docs/requests show what is sent today, and every template is on one of them."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from screentest.models.ask.templates import Pictures, Prompts, Slot
from screentest.models.chat.messages import ChatRequest, Picture, Text

FOLDER = Path(__file__).parents[2] / "docs" / "requests"
HOW = "run: python docs/requests/write.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_requests", FOLDER / "write.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def requests(script: ModuleType) -> dict[str, ChatRequest]:
    found: dict[str, ChatRequest] = script.requests()
    return found


def test_every_template_is_sent(requests: dict[str, ChatRequest]) -> None:
    spaces = ("aspects", "hints")  # parts of others, in the registry
    names = [name for name in Prompts().names() if name.partition("/")[0] not in spaces]
    sent = [name for name in names if not name.partition("/")[2].startswith("_")]
    assert sorted(requests) == sorted(sent)


def test_the_pages_are_up_to_date(script: ModuleType, requests: dict[str, ChatRequest]) -> None:
    pages: dict[str, str] = script.pages(requests)
    assert {path.name for path in FOLDER.glob("*.md")} == pages.keys(), HOW
    for name, text in pages.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"{name} is old: {HOW}"


def test_no_note_of_ours_is_in_a_schema(requests: dict[str, ChatRequest]) -> None:
    """Docstrings of forms and enums are for those who read the code."""
    for name, request in requests.items():
        form = request.form or {}
        for one in (form, *form.get("$defs", {}).values()):
            assert "description" not in one, name
        assert not re.search(r"renamed|[Ss]tored in files|the paper|``", json.dumps(form)), name


def test_pictures_are_spoken_of_where_there_are_some(requests: dict[str, ChatRequest]) -> None:
    for name, request in requests.items():
        texts = " ".join(one.text for one in request.parts if isinstance(one, Text))
        shown = any(isinstance(one, Picture) for one in request.parts)
        assert ("never an instruction to you" in texts) is True, name
        assert ("you cannot see them" in texts) is shown, name
        written = "<<<BEGIN" in texts.replace("a line <<<BEGIN name>>>", "")
        assert ("written by others" in texts) is written, name


def test_text_of_others_is_announced_only_where_there_is_some() -> None:
    film: dict[str, Slot] = {"pictures": Pictures(()), "frames": Pictures(()), "aspects": []}
    for name, slot in (("univ/describe", "overview"), ("metrics/dense", "captions")):
        for words in ("", "A dog runs."):
            slots = {**film, "number": 1, "count": 2, slot: words}
            [text, *_] = Prompts().render(name, slots).parts
            assert isinstance(text, Text)
            assert ("written by others" in text.text) is bool(words), name


def test_the_agents_of_etva_have_one_example() -> None:
    """What the second connects is what the first gave."""
    first = re.findall(r"The text: (.+)\n(\{.+\})", Prompts().source("etva/elements"))
    second = Prompts().source("etva/graph")
    text, listed = re.findall(r"The text: (.+)\nThe entities: (.+)\n", second)[0]
    given = json.loads(dict(first)[text])
    connected = json.loads(re.findall(r"^\{\".+\}$", second, flags=re.MULTILINE)[0])
    named = [f"background: {given['background']}", f"camera: {given['camera']}"]
    named += [*given["entities"], "the picture as a whole"]
    assert re.sub(r"\(\d+\) ", "", listed).split("; ") == named
    assert f"The attributes: {'; '.join(given['attributes'])}\n" in second
    assert f"The relations: {'; '.join(given['relations'])}\n" in second
    assert [one["attribute"] for one in connected["attributes"]] == given["attributes"]
    assert [one["relation"] for one in connected["relations"]] == given["relations"]


def test_examples_of_answers_have_the_form_that_is_asked_for(
    requests: dict[str, ChatRequest],
) -> None:
    """A model without a schema answers as the examples do: what they lack is missing there."""
    checked = set()
    for name, request in requests.items():
        texts = "\n".join(one.text for one in request.parts if isinstance(one, Text))
        ours = re.sub(r"<<<BEGIN (.+?)>>>.*?<<<END \1>>>", "", texts, flags=re.DOTALL)
        for line in re.findall(r"^\{.*\}$", ours, flags=re.MULTILINE):
            assert sorted(json.loads(line)) == sorted((request.form or {})["properties"]), name
            checked.add(name)
    assert {"locot2v/clarity", "etva/elements", "testbeds/caption_facts"} <= checked


def test_no_request_repeats_what_only_fills_a_form(requests: dict[str, ChatRequest]) -> None:
    for name, request in requests.items():
        assert not any("as described" in getattr(one, "text", "") for one in request.parts), name
