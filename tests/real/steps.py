"""Every step of the four papers that needs no picture, on real texts, by the functions users run.

The steps that follow one another (ETVA's agents, HERD's questions and their polarity) are run as
they follow: each gets what the model said before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from screentest.core import Item, NoValue, Outcome, from_object
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

    facts: list[tuple[CaptionFacts, Outcome[CaptionFacts]]] = field(default_factory=list)
    questions: list[tuple[QuestionSet, Outcome[QuestionSet]]] = field(default_factory=list)


def labelled(count: int) -> list[tuple[str, CaptionFacts]]:
    """Captions labelled by hand that the rules were not written on; short ones first."""
    content = json.loads(LABELS.read_text(encoding="utf-8"))
    held = [one for one in content["captions"] if one["split"] == "held_out"]
    cases = []
    for entry in held[:count]:
        facts = {
            name: [list(one.values()) if isinstance(one, dict) else one for one in some]
            for name, some in entry["facts"].items()
        }
        cases.append((entry["caption"], from_object(CaptionFacts, facts)))
    return cases


def caption_step(meter: Meter, said: Said, count: int) -> None:
    cases = labelled(count)
    found = ChatExtractor(meter, "real").extract([caption for caption, _ in cases])
    said.facts += [(labels, one) for (_, labels), one in zip(cases, found, strict=True)]


def category_step(meter: Meter, said: Said, count: int) -> None:
    items = [Item(str(number), Path("none.mp4"), text) for number, text in enumerate(FILMS)]
    categorise(items[:count], CATEGORIES, meter)


def story_step(meter: Meter, said: Said, count: int) -> None:
    """Events, actions, a prompt for each event, the final prompt and how complex it is."""
    resources = TextOnly(meter)
    for text in FILMS[:count]:
        events = _tried(lambda text=text: events_of_text(text, resources)) or ()
        _tried(lambda text=text: actions_of(PromptRecord("one", text), resources))
        _tried(lambda text=text, events=events: event_prompts(text, events, resources))
        slots = {"base": text, "evaluation": EXPECTED}
        _tried(lambda slots=slots: MERGE.one(resources, slots))
        _tried(lambda text=text: complexity(text, resources))


def herd_step(meter: Meter, said: Said, count: int) -> None:
    _tried(lambda: questions_on(dict(list(EXPECTED.items())[:count]), TextOnly(meter)))


def match_step(meter: Meter, said: Said, count: int) -> None:
    task = TextTask(Truth({"one": TRUTH}), batch=60)
    for caption in CAPTIONS[:count]:
        item = Item("one", Path("one.mp4"), caption)
        _tried(lambda item=item: task.start(item, TextOnly(meter)).finish())


def etva_step(meter: Meter, said: Said, count: int, data: Path) -> None:
    folder = data / "etva"
    released = read_question_sets(folder / "qa_sample.json", folder / "question_sample.json")
    # Every tenth, so that all categories have their turn.
    chosen = released[:: max(1, len(released) // count)][:count]
    resources = TextOnly(meter)
    written = write_by_chat([one.prompt for one in chosen], meter, resources.prompts)
    known = add_knowledge(written, meter, resources.prompts)
    said.questions += list(zip(chosen, known, strict=True))


def _tried(step: Callable[[], object]) -> object:
    try:
        return step()
    except NoValue:
        return None  # the meter has noted it


STEPS: Sequence[Callable[[Meter, Said, int], None]] = (
    caption_step,
    category_step,
    story_step,
    herd_step,
    match_step,
)
