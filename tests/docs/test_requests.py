"""The pages of docs/requests show what is sent today, and every template is on one of them."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from screentest.models.chat.messages import ChatRequest, Picture, Text
from screentest.models.templates import Prompts

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
