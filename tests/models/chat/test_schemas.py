from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from screentest.models.chat.messages import DECLINED, instructions, json_schema, repair


class Side(StrEnum):
    FIRST = "first"
    SECOND = "second"


class Fault(BaseModel):
    time: float = Field(ge=0)
    what: Literal["subject", "camera"]


class Report(BaseModel):
    """What a judge found."""

    default: int
    title: str
    side: Side = Field(description="who wins")
    faults: list[Fault]
    note: str | None


def without_descriptions(node: Any, named: bool = False) -> Any:
    if isinstance(node, dict):
        return {
            key: without_descriptions(value, key in ("properties", "$defs"))
            for key, value in node.items()
            if named or key not in ("title", "description", "minimum")
        }
    return [without_descriptions(entry) for entry in node] if isinstance(node, list) else node


def test_same_as_the_sdk_makes_of_it() -> None:
    # openai.pydantic_function_tool is OpenAI's own strict form of a pydantic class.
    openai = pytest.importorskip("openai")
    theirs = openai.pydantic_function_tool(Report)["function"]["parameters"]
    ours = without_descriptions(json_schema(Report))
    assert ours["required"] == [DECLINED, *theirs["required"]]
    assert ours["properties"].pop(DECLINED) == {"anyOf": [{"type": "null"}, {"type": "string"}]}
    assert ours["$defs"] == without_descriptions(theirs["$defs"], True)
    # The SDK copies a referenced class where words stand beside the reference; we drop the words.
    theirs_side = without_descriptions(theirs["properties"].pop("side"))
    assert ours["properties"].pop("side") == {"$ref": "#/$defs/Side"}
    assert theirs_side == without_descriptions(ours["$defs"]["Side"])
    assert ours["properties"] == without_descriptions(theirs["properties"], True)


class Bounded(BaseModel):
    text: str = Field(min_length=1, max_length=200, pattern="^a")
    score: int = Field(ge=0, le=10, description="Points.")
    share: float = Field(gt=0, lt=1)
    parts: list[Fault] = Field(min_length=2, max_length=6)
    pair: list[int] = Field(min_length=2, max_length=2)
    some: list[int] = Field(min_length=1)
    note: Annotated[str, Field(max_length=300)] | None


def test_bounds_are_said_in_words_since_strict_services_refuse_them() -> None:
    schema = json_schema(Bounded)
    written = json.dumps(schema)
    for word in ("Length", "Items", "inimum", "aximum", "pattern"):
        assert f'{word}":' not in written
    fields = schema["properties"]
    assert fields["score"]["description"] == "Points. 0 to 10."
    assert fields["parts"]["description"] == "2 to 6 entries."
    assert fields["share"]["description"] == "Above 0, below 1."
    assert fields["note"]["anyOf"][0]["description"] == "At most 300 characters."
    assert fields["pair"]["description"] == "Exactly 2 entries."
    assert fields["some"]["description"] == "Not empty."


def test_fields_named_like_words_of_json_schema_stay() -> None:
    assert {"default", "title"} <= json_schema(Report)["properties"].keys()


def test_everything_is_required_and_nothing_else_allowed() -> None:
    schema = json_schema(Report)
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Fault"]["additionalProperties"] is False
    assert set(schema["required"]) == {DECLINED, *Report.model_fields}


def test_a_default_deep_inside_is_refused() -> None:
    class Inner(BaseModel):
        score: int = 3

    class Outer(BaseModel):
        inner: list[Inner]

    with pytest.raises(ValueError, match=r"Inner .*score"):
        json_schema(Outer)


def test_instructions_show_the_schema() -> None:
    assert '"required":["declined","time","what"]' in instructions(Fault)


def test_words_alone_show_the_whole_object() -> None:
    """A real model answered a list of questions with the first of them, 196 times of 200."""

    class Asked(BaseModel):
        number: int
        kind: Literal["a", "b"]
        place: str | None
        span: tuple[float, float]

    class All(BaseModel):
        asked: list[Asked]

    enforced = instructions(All)
    assert "…" not in enforced
    in_words = instructions(All, enforced=False)
    assert in_words.startswith(enforced)
    entry = '{"number": …, "kind": "…", "place": "…", "span": […, …]}'
    shown = f'{{"declined": null, "asked": [{entry}, …]}}'
    assert in_words.splitlines()[-1] == shown


def test_a_repair_covers_pictures_only_where_there_are_some() -> None:
    for text in (False, True):
        assert "picture" not in repair("no number", text=text)
        assert "cannot see the pictures" in repair("no number", text=text, pictures=True)
