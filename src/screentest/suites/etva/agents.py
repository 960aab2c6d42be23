"""Questions by a chat model, in three agents: take apart, connect, ask.

Each agent's answer is checked against the one before. What does not fit (a number that is not
there, an element asked about twice, an attribute that repeats its entity) is left out and reported;
elements without a usable question are asked about once more; where nothing is left, the prompt has
no questions and the reason says so.

``write_plainly`` is the paper's comparison: all questions in one go, after examples, without a
graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from screentest.core import NoValue, Outcome, Reason, attempt
from screentest.models.ask import Query, send
from screentest.models.ask.templates import Prompts, Slot, Trusted
from screentest.models.chat.messages import ChatRequest, Sampling
from screentest.models.chat.parsing import spoken
from screentest.models.roles import Chat
from screentest.suites.etva.answers import ANSWER_SAMPLING
from screentest.suites.etva.checks import (
    complaint,
    fitting,
    invented,
    misses,
    not_a_place,
    repeats,
    same_words,
)
from screentest.suites.etva.graph import (
    ASKED,
    MEANINGS,
    Attribute,
    Category,
    Element,
    ElementsAnswer,
    Entity,
    EntityKind,
    GraphAnswer,
    PlainQuestions,
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
    named = (answer.background, answer.camera, *answer.entities, *answer.attributes)
    if not any(_says(text) for text in named):
        raise ValueError("nothing is named that could be seen: the text names something")


def _connects_something(slots: Mapping[str, Any], answer: GraphAnswer) -> None:
    listed = [*slots["attributes"], *slots["relations"]]
    there = set(range(1, len(slots["entities"]) + 1))
    ends = [{attribute.entity} for attribute in answer.attributes]
    ends += [{relation.subject, relation.object} for relation in answer.relations]
    if listed and not any(bound <= there for bound in ends):
        raise ValueError(f"none of the {len(listed)} attributes and relations is connected")


def _asks_something(slots: Mapping[str, Any], answer: QuestionsAnswer) -> None:
    there = range(1, len(slots["elements"]) + 1)
    usable = [question for question in answer.questions if question.element in there]
    if not any(complaint(item.question) is None for item in usable):
        raise ValueError("there is not one question, ending in ?, about an element of the list")


def _asks_anything(slots: Mapping[str, Any], answer: PlainQuestions) -> None:
    if not any(complaint(question.question) is None for question in answer.questions):
        raise ValueError("there is not one question that ends in ?")


ELEMENTS = Query("etva/elements", ElementsAnswer, sampling=SAMPLING, check=_names_something)
GRAPH = Query("etva/graph", GraphAnswer, sampling=SAMPLING, check=_connects_something)
QUESTIONS = Query("etva/questions", QuestionsAnswer, sampling=SAMPLING, check=_asks_something)
PLAINLY = Query("etva/vanilla", PlainQuestions, sampling=SAMPLING, check=_asks_anything)
TEMPLATES = tuple(query.template for query in (ELEMENTS, GRAPH, QUESTIONS))
NAME, PLAIN_NAME = "chat", "vanilla"
WHOLE = "the picture as a whole"
CATEGORIES: list[Slot] = [Trusted(f"{kind.value}: {MEANINGS[kind]}") for kind in ASKED]

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class _Apart:
    """A prompt taken apart."""

    prompt: str
    entities: tuple[Entity, ...]
    attributes: tuple[str, ...]
    relations: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def write_by_chat(texts: Sequence[str], chat: Chat, prompts: Prompts) -> list[Outcome[QuestionSet]]:
    """One outcome per prompt. Each agent is asked about all prompts at once."""
    apart = _stage(
        chat,
        [Outcome.of(text) for text in texts],
        lambda text: ELEMENTS.request(prompts, {"prompt": text}),
        _take_apart,
    )
    connected = _stage(chat, apart, lambda item: _graph_request(prompts, item), _connect)
    first = _stage(chat, connected, lambda item: _questions_request(prompts, item), _with_answer)
    return [attempt(partial(_finished, item)) for item in _again(first, chat, prompts)]


def write_plainly(texts: Sequence[str], chat: Chat, prompts: Prompts) -> list[Outcome[QuestionSet]]:
    """Return all questions of a prompt in one answer: the paper's vanilla baseline."""
    return _stage(
        chat,
        [Outcome.of(text) for text in texts],
        lambda text: PLAINLY.request(prompts, {"prompt": text, "categories": CATEGORIES}),
        _plain_set,
    )


WRITERS = {NAME: write_by_chat, PLAIN_NAME: write_plainly}


def _plain_set(prompt: str, answer: BaseModel) -> QuestionSet:
    assert isinstance(answer, PlainQuestions)
    left_out: list[str] = []
    written: list[PromptQuestion] = []
    for number, question in enumerate(answer.questions, start=1):
        text = " ".join(question.question.split())
        if wrong := complaint(text):
            left_out.append(f"{text!r}: {wrong}")
        else:
            written.append(PromptQuestion(f"q{number}", text, Category(question.category)))
    if not written:
        raise NoValue(Reason.UNPARSABLE, f"no question can be used: {'; '.join(left_out[:3])}")
    kept = tuple(distinct(written))
    return QuestionSet(prompt, kept, writer=PLAIN_NAME, left_out=tuple(left_out))


def _stage(
    chat: Chat,
    given: Sequence[Outcome[Given]],
    request: Callable[[Given], ChatRequest],
    read: Callable[[Given, BaseModel], Made],
) -> list[Outcome[Made]]:
    """Ask about everything that got this far; failures of before stay what they are."""
    answers = iter(send(chat, [request(item.unwrap()) for item in given if item.ok]))

    def made(item: Outcome[Given]) -> Made:
        return read(item.unwrap(), next(answers).unwrap())

    return [attempt(partial(made, item)) for item in given]


def _take_apart(prompt: str, answer: BaseModel) -> _Apart:
    assert isinstance(answer, ElementsAnswer)
    background, camera, left_out = answer.background, answer.camera, []
    if background and (other := not_a_place(background, answer.entities)):
        left_out.append(f"background {background!r} says no more than {other!r}")
        background = None
    if camera and _says(camera) and invented(camera, prompt):
        left_out.append(f"camera {camera!r} is not in the text")
        camera = None
    strange = {text for text in (*answer.entities, *answer.attributes) if invented(text, prompt)}
    if strange.issuperset((*answer.entities, *answer.attributes)):
        strange = set()  # a text in another language, perhaps
    left_out += [f"{text!r} is not in the text" for text in _once(sorted(strange))]
    things = [text for text in answer.entities if text not in strange]
    qualities = [text for text in answer.attributes if text not in strange]
    named = [
        *((EntityKind.BACKGROUND, text) for text in (background,) if _says(text)),
        *((EntityKind.CAMERA, text) for text in (camera,) if _says(text)),
        *((EntityKind.THING, text) for text in things if _says(text)),
    ]
    seen: dict[str, Entity] = {}
    for kind, text in named:
        name = " ".join((text or "").split())
        seen.setdefault(name.casefold(), Entity(f"e{len(seen) + 1}", name, kind))
    attributes, relations = _once(qualities), _once(answer.relations)
    seen[""] = Entity(EntityKind.WHOLE.value, WHOLE, EntityKind.WHOLE)
    return _Apart(prompt, tuple(seen.values()), attributes, relations, tuple(left_out))


def _says(text: str | None) -> bool:
    """Return whether something is named; models also write out that nothing is."""
    answer = (text or "").strip(" .\"'").casefold()
    return bool(answer) and answer not in ("none", "null", "n/a", "no mention", "not mentioned")


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
    bare = entity.kind in (EntityKind.THING, EntityKind.WHOLE)
    return entity.name if bare else f"{entity.kind.value}: {entity.name}"


def _connect(apart: _Apart, answer: BaseModel) -> QuestionSet:
    assert isinstance(answer, GraphAnswer)
    places = {number: item.id for number, item in enumerate(apart.entities, start=1)}
    names = {item.id: item.name for item in apart.entities}
    attributes: dict[tuple[str, str], Attribute] = {}
    relations: dict[tuple[str, str, str], Relation] = {}
    left_out = list(apart.left_out)
    for bound in answer.attributes:
        words = " ".join(bound.attribute.split())
        if bound.entity not in places or not _says(words):
            left_out.append(f"attribute {words!r} of entity {bound.entity}, which is not there")
            continue
        entity = places[bound.entity]
        if repeats(words, names[entity]):
            left_out.append(f"attribute {words!r} says no more than {names[entity]!r}")
            continue
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
    bound_words = [*(attribute.attribute for attribute in answer.attributes)]
    bound_words += [relation.relation for relation in answer.relations]
    for listed in (*apart.attributes, *apart.relations):
        if not any(same_words(listed, words) for words in bound_words):
            left_out.append(f"{listed!r} is listed, but belongs to nothing in the graph")
    # Only what has a quality of its own need stand there: the whole is always there.
    ends_of_all = {name for name, _ in attributes}
    ends_of_all |= {name for first, _, second in relations for name in (first, second)}
    whole = EntityKind.WHOLE.value in ends_of_all
    entities = tuple(item for item in apart.entities if whole or item.kind is not EntityKind.WHOLE)
    graph = SceneGraph(entities, tuple(attributes.values()), tuple(relations.values()))
    return QuestionSet(apart.prompt, (), graph, writer=NAME, left_out=tuple(left_out))


def _asked_about(written: QuestionSet) -> dict[int, Element]:
    """Return the elements by number, from 1; the picture as a whole is there without asking."""
    assert written.graph is not None
    kept = (
        element
        for element in written.graph.walk()
        if getattr(element, "kind", None) is not EntityKind.WHOLE
    )
    return dict(enumerate(kept, start=1))


def _missing(written: QuestionSet) -> dict[int, Element]:
    """Return the elements that have no question, by number."""
    asked = {question.element for question in written.questions}
    return {at: item for at, item in _asked_about(written).items() if item.id not in asked}


def _questions_request(
    prompts: Prompts, written: QuestionSet, *, again: bool = False
) -> ChatRequest:
    assert written.graph is not None
    slots: dict[str, Slot] = {
        "prompt": written.prompt,
        "elements": [_described(item, written.graph) for item in _missing(written).values()],
        "categories": CATEGORIES,
        "again": again,
    }
    return QUESTIONS.request(prompts, slots)


def _described(element: Element, graph: SceneGraph) -> str:
    match element:
        case Entity(kind=EntityKind.THING, name=name):
            return f"exists: {name}"
        case Entity():
            return _named(element)
        case Attribute(entity=entity, value=value):
            return f"attribute of {graph.entity(entity).name}: {value}"
        case Relation(subject=subject, name=name, object=other):
            return f"{graph.entity(subject).name} – {name} – {graph.entity(other).name}"


def _with_answer(written: QuestionSet, answer: BaseModel) -> QuestionSet:
    """With the usable questions of an answer about the elements that had none."""
    assert isinstance(answer, QuestionsAnswer)
    assert written.graph is not None
    asked = list(_missing(written).items())
    questions: dict[int, PromptQuestion] = {}
    left_out = list(written.left_out)
    for question in answer.questions:
        text = " ".join(question.question.split())
        if not 1 <= question.element <= len(asked):
            left_out.append(f"{text!r} asks about element {question.element}, which is not there")
            continue
        number, element = asked[question.element - 1]
        if wrong := complaint(text):
            left_out.append(f"{text!r}: {wrong}")
        elif name := misses(text, element):
            left_out.append(f"{text!r} does not ask about {name!r}")
        elif number in questions:
            left_out.append(f"{text!r} is a second question about element {number}")
        else:
            statement = Category(question.category)
            kind = fitting(statement, element, written.graph, text)
            if kind is not statement:
                left_out.append(f"category {statement.value} of {text!r}, which is {kind.value}")
            questions[number] = PromptQuestion(f"q{number}", text, kind, element.id)
    together = (*written.questions, *questions.values())
    return replace(written, questions=together, left_out=tuple(left_out))


def _again(
    first: Sequence[Outcome[QuestionSet]], chat: Chat, prompts: Prompts
) -> list[Outcome[QuestionSet]]:
    """Ask once more about elements without a usable question. What is lost then stays lost."""
    short = {at: item.unwrap() for at, item in enumerate(first) if item.ok}
    short = {at: written for at, written in short.items() if _missing(written)}
    requests = [_questions_request(prompts, item, again=True) for item in short.values()]
    done = list(first)
    for (at, written), answer in zip(short.items(), send(chat, requests), strict=True):
        if answer.ok:
            done[at] = Outcome.of(_with_answer(written, answer.unwrap()))
        elif answer.failure is not None and answer.failure.reason.transient:
            done[at] = Outcome(failure=answer.failure)
    return done


def _finished(outcome: Outcome[QuestionSet]) -> QuestionSet:
    written = outcome.unwrap()
    if not written.questions:
        some = "; ".join(written.left_out[:3])
        raise NoValue(Reason.UNPARSABLE, f"no question can be used: {some}")
    assert written.graph is not None
    lost = [f"{words_of(item)!r} has no question" for item in _missing(written).values()]
    order = [element.id for element in written.graph.walk()]
    ordered = sorted(written.questions, key=lambda question: order.index(question.element))
    questions = distinct(with_needs(ordered, written.graph))
    return replace(written, questions=tuple(questions), left_out=(*written.left_out, *lost))


TEMPLATE = "etva/knowledge"
KNOWLEDGE = Query(TEMPLATE, sampling=ANSWER_SAMPLING)


def add_knowledge(
    sets: Sequence[Outcome[QuestionSet]], chat: Chat, prompts: Prompts
) -> list[Outcome[QuestionSet]]:
    """Return the sets with what each prompt leaves unsaid but its video must respect.

    Asked once per prompt; sets that have knowledge already are not asked about. Knowledge that a
    model refuses is left out, and the questions stay.
    """
    without = [item.unwrap() for item in sets if item.ok and item.unwrap().knowledge is None]
    asked = list(dict.fromkeys(item.prompt for item in without))
    answers = send(chat, [KNOWLEDGE.request(prompts, {"prompt": text}) for text in asked])
    available = dict(zip(asked, answers, strict=True))
    return [
        item
        if not item.ok or item.unwrap().knowledge is not None
        else _with(item.unwrap(), available[item.unwrap().prompt])
        for item in sets
    ]


def _with(given: QuestionSet, answer: Outcome[str]) -> Outcome[QuestionSet]:
    if (lost := answer.failure) is None or lost.reason.transient:
        return answer.map(lambda statement: replace(given, knowledge=spoken(statement)))
    note = f"knowledge: {lost}"
    return Outcome.of(replace(given, left_out=tuple(dict.fromkeys((*given.left_out, note)))))
