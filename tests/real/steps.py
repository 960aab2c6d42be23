"""Every step of the four papers that needs no picture, on real texts, by the functions users run.

The steps that follow one another (ETVA's agents, HERD's questions and their polarity) are run as
they follow: each gets what the model said before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from screentest.core import Item, NoValue, Outcome, from_object
from screentest.models.ask.templates import Prompts
from screentest.suites.etva.agents import add_knowledge, write_by_chat
from screentest.suites.etva.questions import QuestionSet, read_question_sets
from screentest.suites.locot2v.construction.stages import MERGE, complexity, event_prompts
from screentest.suites.locot2v.data import PromptRecord
from screentest.suites.locot2v.metrics.herd import questions_on
from screentest.suites.locot2v.requests import actions_of, events_of_text
from screentest.suites.univ.data import Truth
from screentest.suites.univ.text_task import TextTask
from screentest.testbeds.captions.facts import CaptionFacts, read_by_chat
from screentest.testbeds.chat import category_of
from tests.real.server import Meter, TextOnly
from tests.real.texts import CATEGORIES, EXPECTED, MATCHED, STORIES
from tests.real.weights import ROOT

LABELS = ROOT / "tests/testbeds/captions/labelled.json"


@dataclass(slots=True)
class Said:
    """What came of the steps, to be held against what is known."""

    facts: list[tuple[str, CaptionFacts, Outcome[CaptionFacts]]] = field(default_factory=list)
    questions: list[tuple[QuestionSet, Outcome[QuestionSet]]] = field(default_factory=list)
    checked: list[tuple[str, str, str]] = field(default_factory=list)
    """What a step was asked, what is right, and what was answered."""


Step = Callable[[Meter, Said, int], None]
"""Asks about the text of that number; what came of it is in the meter, and in what was said."""


def caption_step(meter: Meter, said: Said, number: int) -> None:
    caption, labels = labelled()[number]
    (found,) = read_by_chat([caption], meter)
    said.facts.append((caption, labels, found))


def category_step(meter: Meter, said: Said, number: int) -> None:
    story, known = STORIES[number]
    said.checked.append(("category", known, category_of(story, CATEGORIES, meter).value or "none"))


def event_step(meter: Meter, said: Said, number: int) -> None:
    """Events and a prompt for each."""
    events = events_of_text(_story(number), TextOnly(meter))
    event_prompts(_story(number), events, TextOnly(meter))


def action_step(meter: Meter, said: Said, number: int) -> None:
    actions_of(PromptRecord("one", _story(number)), TextOnly(meter))


def merge_step(meter: Meter, said: Said, number: int) -> None:
    """The final prompt, and how complex it is."""
    MERGE.one(TextOnly(meter), {"base": _story(number), "evaluation": dict(EXPECTED[:2])})
    complexity(_story(number), TextOnly(meter))


def herd_step(meter: Meter, said: Said, number: int) -> None:
    """Six questions on one dimension, and the polarity of each."""
    name, expectation = EXPECTED[number]
    questions_on({name: expectation}, TextOnly(meter))


def match_step(meter: Meter, said: Said, number: int) -> None:
    caption, truth, known = MATCHED[number]
    item = Item("one", Path("one.mp4"), caption)
    task = TextTask(Truth({"one": truth}), batch=60).start(item, TextOnly(meter))
    found: Any = task.finish()["average"].unwrap().details["items"]
    for is_there, one in zip(known, found, strict=True):
        said.checked.append(("match", "yes" if is_there else "no", _said(one["score"])))


def etva_step(meter: Meter, said: Said, number: int) -> None:
    released = released_questions()
    # Sixteen apart, which meets each once, so that all categories have their turn.
    one = released[16 * number % len(released)]
    (written,) = write_by_chat([one.prompt], meter, Prompts())
    said.questions.append((one, written))
    add_knowledge([written], meter, Prompts())


STEPS: Sequence[Step] = (
    *(category_step, action_step, caption_step, match_step),
    *(event_step, merge_step, herd_step, etva_step),
)


def texts(step: Step) -> int:
    """How many there are for a step."""
    special: dict[Step, int] = {
        caption_step: len(labelled()),
        etva_step: len(released_questions()),
        herd_step: len(EXPECTED),
        match_step: len(MATCHED),
    }
    return special.get(step, len(STORIES))


def take(step: Step, meter: Meter, said: Said, number: int) -> None:
    """One step; where it has no value, the meter has noted why."""
    with suppress(NoValue):
        step(meter, said, number)


@lru_cache(1)
def labelled() -> list[tuple[str, CaptionFacts]]:
    """Captions labelled by hand that the rules were not written on."""
    content = json.loads(LABELS.read_text(encoding="utf-8"))
    cases = []
    for entry in content["captions"]:
        if entry["split"] == "held_out":
            facts = {
                name: [list(one.values()) if isinstance(one, dict) else one for one in some]
                for name, some in entry["facts"].items()
            }
            cases.append((entry["caption"], from_object(CaptionFacts, facts)))
    return cases


@lru_cache(1)
def released_questions() -> list[QuestionSet]:
    """ETVA's prompts with their questions, which do not ship."""
    data = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data")) / "etva"
    return read_question_sets(data / "qa_sample.json", data / "question_sample.json")


def _story(number: int) -> str:
    return STORIES[number][0]


def _said(score: float | None) -> str:
    return {1.0: "yes", 0.5: "partly", 0.0: "no", None: "none"}[score]
