"""Questions by a chat model, in three agents: take apart, connect, ask.

Each agent's answer is checked against the one before. What does not fit (a number that is not
there, an element asked about twice) is left out and reported; where nothing is left, the prompt has
no questions and the reason says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from screentest.core import Outcome, attempt
from screentest.models.ask import Query, send
from screentest.models.chat.messages import ChatRequest, Sampling
from screentest.models.chat.parsing import spoken
from screentest.models.roles import Chat
from screentest.models.templates import Prompts, Slot, Trusted
from screentest.suites.etva.answers import ANSWER_SAMPLING
from screentest.suites.etva.graph import (
    MEANINGS,
    Attribute,
    Element,
    ElementsAnswer,
    Entity,
    EntityKind,
    GraphAnswer,
    QuestionsAnswer,
    Relation,
    SceneGraph,
    words_of,
)
from screentest.suites.etva.questions import PromptQuestion, QuestionSet, distinct, with_needs

# The released code writes its questions greedily too, but line by line, which needs stop words, a
# limit of 150 tokens and a repetition penalty of 1.2. Our agents answer with objects, in which
# names and brackets must repeat.
SAMPLING = Sampling(temperature=0.0, top_p=0.95)


# What makes no sense is told to the agent, which may answer once more; what makes little sense is
# left out, and reported.


def _names_something(slots: Mapping[str, Any], answer: ElementsAnswer) -> None:
    if not any(_says(text) for text in (answer.background, answer.camera, *answer.entities)):
        raise ValueError("nothing is named that could be seen: the text names something")


def _connects_something(slots: Mapping[str, Any], answer: GraphAnswer) -> None:
    listed = [*slots["attributes"], *slots["relations"]]
    there = range(1, len(slots["entities"]) + 1)
    bound = [one for one in answer.attributes if one.entity in there]
    edges = [one for one in answer.relations if {one.subject, one.object} <= set(there)]
    if listed and not bound and not edges:
        raise ValueError(f"none of the {len(listed)} attributes and relations is connected")


def _asks_something(slots: Mapping[str, Any], answer: QuestionsAnswer) -> None:
    there = range(1, len(slots["elements"]) + 1)
    if not any(_is_question(one.question) and one.element in there for one in answer.questions):
        raise ValueError("there is not one question, ending in ?, about an element of the list")


ELEMENTS = Query("etva/elements", ElementsAnswer, sampling=SAMPLING, check=_names_something)
GRAPH = Query("etva/graph", GraphAnswer, sampling=SAMPLING, check=_connects_something)
QUESTIONS = Query("etva/questions", QuestionsAnswer, sampling=SAMPLING, check=_asks_something)
TEMPLATES = tuple(query.template for query in (ELEMENTS, GRAPH, QUESTIONS))
NAME = "chat"

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class _Apart:
    """A prompt taken apart."""

    prompt: str
    entities: tuple[Entity, ...]
    attributes: tuple[str, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Connected:
    """A prompt with its graph, and what could not be connected."""

    prompt: str
    graph: SceneGraph
    left_out: tuple[str, ...]


def write_by_chat(texts: Sequence[str], chat: Chat, prompts: Prompts) -> list[Outcome[QuestionSet]]:
    """One outcome per prompt. Each agent is asked about all prompts at once."""
    apart = _stage(
        chat,
        [Outcome.of(text) for text in texts],
        lambda text: ELEMENTS.request(prompts, {"prompt": text}),
        _take_apart,
    )
    connected = _stage(chat, apart, lambda one: _graph_request(prompts, one), _connect)
    return _stage(chat, connected, lambda one: _questions_request(prompts, one), _ask)


def _stage(
    chat: Chat,
    given: Sequence[Outcome[Given]],
    request: Callable[[Given], ChatRequest],
    read: Callable[[Given, BaseModel], Made],
) -> list[Outcome[Made]]:
    """Ask about everything that got this far; failures of before stay what they are."""
    waiting = [one.unwrap() for one in given if one.ok]
    answers = iter(send(chat, [request(one) for one in waiting]))
    made: list[Outcome[Made]] = []
    for one in given:
        if one.failure is not None:
            made.append(Outcome(failure=one.failure))
        else:
            made.append(attempt(partial(_read, read, one.unwrap(), next(answers))))
    return made


def _read(
    read: Callable[[Given, BaseModel], Made], given: Given, answer: Outcome[BaseModel]
) -> Made:
    return read(given, answer.unwrap())


def _take_apart(prompt: str, answer: BaseModel) -> _Apart:
    assert isinstance(answer, ElementsAnswer)
    named = [
        *((EntityKind.BACKGROUND, text) for text in (answer.background,) if _says(text)),
        *((EntityKind.CAMERA, text) for text in (answer.camera,) if _says(text)),
        *((EntityKind.THING, text) for text in answer.entities if _says(text)),
    ]
    seen: dict[str, Entity] = {}
    for kind, text in named:
        name = " ".join((text or "").split())
        seen.setdefault(name.casefold(), Entity(f"e{len(seen) + 1}", name, kind))
    attributes, relations = _once(answer.attributes), _once(answer.relations)
    return _Apart(prompt, tuple(seen.values()), attributes, relations)


def _says(text: str | None) -> bool:
    """Whether something is named; models also write out that nothing is."""
    said = (text or "").strip(" .\"'").casefold()
    return bool(said) and said not in ("none", "null", "n/a", "no mention", "not mentioned")


def _is_question(text: str) -> bool:
    return text.strip().endswith("?") and len(text.strip()) >= 5


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for text in texts:
        if _says(text):
            kept.setdefault(" ".join(text.split()).casefold(), " ".join(text.split()))
    return tuple(kept.values())


def _graph_request(prompts: Prompts, apart: _Apart) -> ChatRequest:
    slots: dict[str, Slot] = {
        "prompt": apart.prompt,
        "entities": [_named(entity) for entity in apart.entities],
        "attributes": list(apart.attributes),
        "relations": list(apart.relations),
    }
    return GRAPH.request(prompts, slots)


def _named(entity: Entity) -> str:
    return entity.name if entity.kind is EntityKind.THING else f"{entity.kind.value}: {entity.name}"


def _connect(apart: _Apart, answer: BaseModel) -> _Connected:
    assert isinstance(answer, GraphAnswer)
    places = {number: one.id for number, one in enumerate(apart.entities, start=1)}
    attributes: dict[tuple[str, str], Attribute] = {}
    relations: dict[tuple[str, str, str], Relation] = {}
    left_out = []
    for bound in answer.attributes:
        words = " ".join(bound.attribute.split())
        if bound.entity not in places or not _says(words):
            left_out.append(f"attribute {words!r} of entity {bound.entity}, which is not there")
            continue
        entity = places[bound.entity]
        made = Attribute(f"a{len(attributes) + 1}", entity, words)
        attributes.setdefault((entity, words.casefold()), made)
    for edge in answer.relations:
        words = " ".join(edge.relation.split())
        ends = places.get(edge.subject), places.get(edge.object)
        if ends[0] is None or ends[1] is None or ends[0] == ends[1] or not _says(words):
            edge_text = f"relation {words!r} from entity {edge.subject} to {edge.object}"
            left_out.append(f"{edge_text}, which is not possible")
            continue
        between = Relation(f"r{len(relations) + 1}", ends[0], words, ends[1])
        relations.setdefault((ends[0], words.casefold(), ends[1]), between)
    graph = SceneGraph(apart.entities, tuple(attributes.values()), tuple(relations.values()))
    return _Connected(apart.prompt, graph, tuple(left_out))


def _questions_request(prompts: Prompts, connected: _Connected) -> ChatRequest:
    graph = connected.graph
    slots: dict[str, Slot] = {
        "prompt": connected.prompt,
        "elements": [_described(element, graph) for element in graph.walk()],
        "categories": [Trusted(f"{kind.value}: {text}") for kind, text in MEANINGS.items()],
    }
    return QUESTIONS.request(prompts, slots)


def _described(element: Element, graph: SceneGraph) -> str:
    match element:
        case Entity():
            return (
                _named(element)
                if element.kind is not EntityKind.THING
                else f"exists: {element.name}"
            )
        case Attribute(entity=entity, value=value):
            return f"attribute of {graph.entity(entity).name}: {value}"
        case Relation(subject=subject, name=name, object=other):
            return f"{graph.entity(subject).name} – {name} – {graph.entity(other).name}"


def _ask(connected: _Connected, answer: BaseModel) -> QuestionSet:
    assert isinstance(answer, QuestionsAnswer)
    elements = list(connected.graph.walk())
    left_out = list(connected.left_out)
    written: dict[int, PromptQuestion] = {}
    for one in answer.questions:
        text = " ".join(one.question.split())
        if not 1 <= one.element <= len(elements):
            left_out.append(f"{text!r} asks about element {one.element}, which is not there")
        elif not _is_question(text):
            left_out.append(f"{text!r} is not a question")
        elif one.element in written:
            left_out.append(f"{text!r} is a second question about element {one.element}")
        else:
            element = elements[one.element - 1].id
            written[one.element] = PromptQuestion(f"q{one.element}", text, one.category, element)
    for number, element_ in enumerate(elements, start=1):
        if number not in written:
            left_out.append(f"{words_of(element_)!r} has no question")
    ordered = [written[number] for number in sorted(written)]
    questions = distinct(with_needs(ordered, connected.graph))
    return QuestionSet(
        connected.prompt, tuple(questions), connected.graph, writer=NAME, left_out=tuple(left_out)
    )


TEMPLATE = "etva/knowledge"
KNOWLEDGE = Query(TEMPLATE, sampling=ANSWER_SAMPLING)


def add_knowledge(
    sets: Sequence[Outcome[QuestionSet]], chat: Chat, prompts: Prompts
) -> list[Outcome[QuestionSet]]:
    """The sets with what each prompt leaves unsaid but its video must respect.

    Asked once per prompt; sets that have knowledge already are not asked about.
    """
    without = [one.unwrap() for one in sets if one.ok and one.unwrap().knowledge is None]
    asked = list(dict.fromkeys(one.prompt for one in without))
    answers = send(chat, [KNOWLEDGE.request(prompts, {"prompt": text}) for text in asked])
    known = dict(zip(asked, answers, strict=True))
    return [
        one
        if not one.ok or one.unwrap().knowledge is not None
        else _with(one.unwrap(), known[one.unwrap().prompt])
        for one in sets
    ]


def _with(given: QuestionSet, answer: Outcome[str]) -> Outcome[QuestionSet]:
    return answer.map(lambda said: replace(given, knowledge=spoken(said)))
