"""A chat model for tests: reads prompts by our own rules, and answers as a test says.

It sees nothing but the requests, as a real one would.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from screentest.suites.etva.graph import Attribute, EntityKind, Relation
from screentest.suites.etva.rules.writer import write_by_rules
from screentest.testing.chat_answers import Act, Answer, Asked

Judge = Callable[[str, Asked], str]
"""What to say to a question."""


def always_yes(question: str, asked: Asked) -> str:
    return f"Video Understanding: seen.\nConclusion: [YES] {question}"


def stage_of(asked: Asked) -> str:
    """Which agent a request is for, told by the schema it sends."""
    if asked.schema is None:
        pictured = any(part["type"] in ("image_url", "video_url") for part in asked.parts)
        return "answer" if pictured else "knowledge"
    fields = set(asked.fields)
    if "entities" in fields:
        return "elements"
    if "answers" in fields:
        return "answers"
    return "questions" if "questions" in fields else "graph"


def prompt_of(asked: Asked) -> str:
    """The prompt between its fences."""
    return fenced(asked, "prompt")


def fenced(asked: Asked, name: str) -> str:
    told = "\n".join(asked.texts)
    found = re.search(rf"<<<BEGIN {name}>>>\n(.*?)\n<<<END {name}>>>", told, re.DOTALL)
    assert found is not None, told
    return found[1]


def numbered(asked: Asked) -> list[str]:
    """The lines ``1. "…"`` of a request."""
    return re.findall(r'^\d+\. "(.*)"$', "\n".join(asked.texts), re.MULTILINE)


def well_behaved(judge: Judge = always_yes) -> Callable[[Asked], Act]:
    """A model that does as it is told."""

    def act(asked: Asked) -> Act:
        match stage_of(asked):
            case "elements":
                return Answer(json.dumps(elements(prompt_of(asked))))
            case "graph":
                return Answer(json.dumps(connections(asked)))
            case "questions":
                return Answer(json.dumps(questions(asked)))
            case "knowledge":
                return Answer(f"1. Gravity. In the video: things fall. ({prompt_of(asked)[:20]})")
            case "answers":
                return Answer(json.dumps(answers(asked, judge)))
            case _:
                return Answer(judge(fenced(asked, "question"), asked))

    return act


def elements(prompt: str) -> dict[str, object]:
    graph = write_by_rules(prompt).graph
    assert graph is not None
    backgrounds = [one.name for one in graph.entities if one.kind is EntityKind.BACKGROUND]
    things = [one.name for one in graph.entities if one.kind is EntityKind.THING]
    return {
        "background": backgrounds[0] if backgrounds else None,
        "camera": None,
        "entities": things + backgrounds[1:],
        "attributes": [one.value for one in graph.attributes],
        "relations": [one.name for one in graph.relations],
    }


def connections(asked: Asked) -> dict[str, object]:
    names = [name.removeprefix("background: ") for name in numbered(asked)]
    graph = write_by_rules(prompt_of(asked)).graph
    assert graph is not None
    place = {
        entity.id: names.index(entity.name) + 1 for entity in graph.entities if entity.name in names
    }
    attributes = [
        {"entity": place[one.entity], "attribute": one.value}
        for one in graph.attributes
        if isinstance(one, Attribute) and one.entity in place
    ]
    relations = [
        {"subject": place[one.subject], "relation": one.name, "object": place[one.object]}
        for one in graph.relations
        if isinstance(one, Relation) and {one.subject, one.object} <= place.keys()
    ]
    return {"attributes": attributes, "relations": relations}


def questions(asked: Asked) -> dict[str, object]:
    written = [
        {
            "element": number,
            "question": f"Does the video show this: {element.replace(' – ', ' ')}?",
            "category": "existence" if element.startswith(("exists", "background")) else "other",
        }
        for number, element in enumerate(numbered(asked), start=1)
    ]
    return {"questions": written}


def answers(asked: Asked, judge: Judge) -> dict[str, object]:
    said = []
    for number, question in enumerate(numbered(asked), start=1):
        token = "[YES]" if "[YES]" in judge(question, asked) else "[NO]"
        said.append({"number": number, "reasoning": "as seen", "token": token})
    return {"answers": said}
