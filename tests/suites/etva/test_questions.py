"""Graphs and questions that hold together, and those that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from screentest.core import Reason, UserError, from_json, to_json
from screentest.suites.etva.checks import invented
from screentest.suites.etva.graph import (
    Attribute,
    Category,
    Entity,
    EntityKind,
    Relation,
    SceneGraph,
    read_category,
)
from screentest.suites.etva.questions import (
    PromptQuestion,
    QuestionSet,
    by_prompt,
    distinct,
    with_needs,
)
from screentest.suites.etva.rules.writer import write_all_by_rules

GRAPH = SceneGraph(
    (
        Entity("e1", "penguin"),
        Entity("e2", "cactus"),
        Entity("e3", "desert", EntityKind.BACKGROUND),
    ),
    (Attribute("a1", "e2", "green"),),
    (Relation("r1", "e1", "left of", "e2"),),
)


def asked(number: int, element: str = "", *needs: str) -> PromptQuestion:
    return PromptQuestion(f"q{number}", f"Question {number}?", Category.OTHER, element, needs)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (((Entity("e1", "cat"), Entity("e1", "dog")), (), ()), "the id 'e1'"),
        (((Entity("e1", " "),), (), ()), "says nothing"),
        (((Entity("e1", "cat"),), (Attribute("a1", "e2", "red"),), ()), "not an entity"),
        (((Entity("e1", "cat"),), (), (Relation("r1", "e1", "on", "a"),)), "not an entity"),
        (((Entity("", "cat"),), (), ()), "the id ''"),
    ],
)
def test_a_graph_that_contradicts_itself(parts: tuple[tuple, ...], told: str) -> None:
    with pytest.raises(UserError, match=told):
        SceneGraph(*parts)


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ((asked(1), asked(1)), "same id"),
        ((asked(1, "e9"),), "not in the graph"),
        ((asked(1, "", "q7"),), "needs 'q7'"),
        ((asked(1, "", "q2"), asked(2, "", "q1")), "circle"),
        ((PromptQuestion("q1", " ", Category.OTHER),), "empty"),
    ],
)
def test_questions_that_contradict_themselves(
    questions: tuple[PromptQuestion, ...], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        QuestionSet("A prompt.", questions, GRAPH)


def test_an_attribute_needs_its_entity_and_a_relation_both_ends() -> None:
    every = [asked(n, element.id) for n, element in enumerate(GRAPH.walk(), start=1)]
    needs = {one.id: one.needs for one in with_needs(every, GRAPH)}
    assert needs == {"q1": (), "q2": (), "q3": (), "q4": ("q2",), "q5": ("q1", "q2")}
    rounds = QuestionSet("x", tuple(with_needs(every, GRAPH)), GRAPH).round_by_round()
    assert [[one.id for one in some] for some in rounds] == [["q1", "q2", "q3"], ["q4", "q5"]]


def test_what_needed_a_double_needs_the_one_that_stays() -> None:
    first = PromptQuestion("q1", "Is there a cat?", Category.EXISTENCE)
    double = PromptQuestion("q2", "Is there any cat shown in this video?", Category.EXISTENCE)
    third = PromptQuestion("q3", "Is the cat red?", Category.COLOR, needs=("q2",))
    assert [(one.id, one.needs) for one in distinct([first, double, third])] == [
        ("q1", ()),
        ("q3", ("q1",)),
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Is there a cat?", "Is there any cat visible in this part of the video?", True),
        ("Is the cat red?", "is the cat  RED", True),
        ("Is the cat in the box?", "Is the cat of the box?", False),
        ("Is the cat in the scene?", "Is the cat on the scene?", False),
        ("Is there one cat?", "Is there a cat?", False),
    ],
)
def test_which_questions_are_the_same(one: str, other: str, same: bool) -> None:
    asked = [PromptQuestion("a", one, Category.OTHER), PromptQuestion("b", other, Category.OTHER)]
    assert (len(distinct(asked)) == 1) == same


def test_a_line_of_a_file_reads_back_as_it_was() -> None:
    every = [asked(n, element.id) for n, element in enumerate(GRAPH.walk(), start=1)]
    one = QuestionSet("A penguin.", tuple(with_needs(every, GRAPH)), GRAPH, "Deserts are dry.")
    assert from_json(QuestionSet, to_json(one)) == one


def test_labels_of_both_benchmarks() -> None:
    assert read_category(" Action ") is Category.MOTION
    assert read_category("environment") is Category.ENVIRONMENT
    assert read_category("Color") is Category.COLOR
    with pytest.raises(UserError, match="Did you mean spatial"):
        read_category("spatiall")
    with pytest.raises(UserError, match="Categories: existence"):
        read_category("?")


def test_a_released_prompt_that_is_there_twice_is_asked_once() -> None:
    """35 of the prompts of the large benchmark are, 34 of them with equal questions."""
    one, two, three = (asked(number) for number in (1, 2, 3))
    first = QuestionSet("A cat.", (one, two), writer="released")
    other = QuestionSet("a cat.", (replace(two, id="q1"), replace(three, id="q2")))
    (both,) = by_prompt([first, first, other]).values()
    assert [question.text for question in both.questions] == [one.text, two.text, three.text]
    assert [question.id for question in both.questions] == ["q1", "q2", "q3"]


def test_the_rules_say_what_they_do_not_read() -> None:
    long = "A red fox runs through a forest. " * 100
    (whole, cut, chinese) = write_all_by_rules(["A red fox runs.", long, "一只猫坐在桌子上"])
    assert whole.unwrap().left_out == ()
    assert len(cut.unwrap().left_out) == 1
    assert chinese.failure is not None
    assert chinese.failure.reason is Reason.NOT_APPLICABLE


def test_what_an_agent_names_in_english_of_another_language_is_kept() -> None:
    """The camera always went, and with one Latin word in the prompt the cat as well."""
    assert not invented("slow zoom in", "镜头缓慢推近，一只猫")
    assert not invented("orange cat", "一只橙色的猫坐在 LED 招牌下")
    assert invented("orange cat", "A dog, an LED.")
