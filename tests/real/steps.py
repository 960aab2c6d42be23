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

from screentest.core import Item, NoValue, Outcome, from_object
from screentest.models.templates import Prompts
from screentest.suites.etva.agents import add_knowledge, write_by_chat
from screentest.suites.etva.questions import QuestionSet, read_question_sets
from screentest.suites.locot2v.construction.forms import MERGE
from screentest.suites.locot2v.construction.stages import complexity, event_prompts
from screentest.suites.locot2v.data import PromptRecord
from screentest.suites.locot2v.events import actions_of, events_of_text
from screentest.suites.locot2v.metrics.herd import questions_on
from screentest.suites.univ.data import Truth
from screentest.suites.univ.text_task import TextTask
from screentest.testbeds.captions.facts import CaptionFacts, ChatExtractor
from screentest.testbeds.chat import categorise
from tests.real.server import Meter, TextOnly
from tests.real.weights import ROOT

LABELS = ROOT / "tests/testbeds/captions/labelled.json"
CATEGORIES = ("animals", "cooking", "nature", "people and everyday life", "science", "sport")
FILMS = (
    (
        "A fox leaves its den at dawn and trots along a frozen stream. It stops, listens, and "
        "leaps head first into the snow. At last it carries a vole back to its cubs, which tumble "
        "over each other to get at it."
    ),
    (
        "A woman in a blue apron rolls out dough on a wooden table, cuts it into strips and "
        "drops them into boiling water. She lifts the noodles out with a ladle, and her son, who "
        "has been setting the table, tastes the first one and laughs."
    ),
    (
        "Two cyclists climb a mountain pass in the rain. Near the top the younger one falls "
        "behind; the other waits at a bend and hands him a bottle. Together they reach the summit, "
        "where the clouds open over a lake."
    ),
)
"""Stories in our own words, where a paper's own texts cannot ship."""
EXPECTED = {
    "emotional_response": "The viewer should feel tension before the leap and relief at the end.",
    "visual_style": "The light is cold and blue at first and grows warm in the last scene.",
}
CAPTIONS = (
    (
        "A woman in a red coat walks along a beach at sunset. The camera follows her from "
        "behind. Warm light comes from the right, and the mood is calm."
    ),
    "A dog plays in a garden.",
)
TRUTH = {
    "global_attribute": {
        "subject_description": ["a woman in a red coat"],
        "background": ["a beach in the evening"],
        "lighting": {"lighting_direction": ["light from the left"]},
        "atmosphere": ["calm"],
    },
    "temporal_actions": [{"actions": ["she walks along the water"]}],
}


@dataclass(slots=True)
class Said:
    """What came of the steps, to be held against what is known."""

    facts: list[tuple[str, CaptionFacts, Outcome[CaptionFacts]]] = field(default_factory=list)
    questions: list[tuple[QuestionSet, Outcome[QuestionSet]]] = field(default_factory=list)


Step = Callable[[Meter, Said, int], None]
"""Asks about the text of that number; what came of it is in the meter, and in what was said."""


def caption_step(meter: Meter, said: Said, number: int) -> None:
    caption, labels = labelled()[number]
    (found,) = ChatExtractor(meter, "real").extract([caption])
    said.facts.append((caption, labels, found))


def category_step(meter: Meter, said: Said, number: int) -> None:
    categorise([Item("one", Path("one.mp4"), _story(number))], CATEGORIES, meter)


def event_step(meter: Meter, said: Said, number: int) -> None:
    """Events and a prompt for each."""
    events = events_of_text(_story(number), TextOnly(meter))
    event_prompts(_story(number), events, TextOnly(meter))


def action_step(meter: Meter, said: Said, number: int) -> None:
    actions_of(PromptRecord("one", _story(number)), TextOnly(meter))


def merge_step(meter: Meter, said: Said, number: int) -> None:
    """The final prompt, and how complex it is."""
    MERGE.one(TextOnly(meter), {"base": _story(number), "evaluation": EXPECTED})
    complexity(_story(number), TextOnly(meter))


def herd_step(meter: Meter, said: Said, number: int) -> None:
    """Six questions on one dimension, and the polarity of each."""
    name = list(EXPECTED)[number % len(EXPECTED)]
    questions_on({name: EXPECTED[name]}, TextOnly(meter))


def match_step(meter: Meter, said: Said, number: int) -> None:
    item = Item("one", Path("one.mp4"), CAPTIONS[number % len(CAPTIONS)])
    TextTask(Truth({"one": TRUTH}), batch=60).start(item, TextOnly(meter)).finish()


def etva_step(meter: Meter, said: Said, number: int) -> None:
    released = released_questions()
    # Ten apart, so that all categories have their turn.
    one = released[10 * number % len(released)]
    (written,) = write_by_chat([one.prompt], meter, Prompts())
    said.questions.append((one, written))
    add_knowledge([written], meter, Prompts())


STEPS: Sequence[Step] = (
    *(category_step, action_step, caption_step, match_step),
    *(event_step, merge_step, herd_step, etva_step),
)


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
    return FILMS[number % len(FILMS)]
