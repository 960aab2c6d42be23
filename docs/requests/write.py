"""Write the pages of this folder: what is sent to a chat model, template by template.

    python docs/requests/write.py

Judges, suites and builders run on a packaged film, with a stand-in for the model that notes what it
is asked and answers with something that fits. So the pages show what the code sends, not what
somebody says it sends. A test makes them again and compares: run this after a change of a template,
and add a line to ``runs`` for a template that nothing here sends.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from screentest.annotate.language import request_for
from screentest.core import (
    Aspect,
    Borders,
    Frame,
    FrameRequest,
    Item,
    NoValue,
    Outcome,
    Question,
    Shot,
    Span,
    Time,
    attempt,
    registry,
)
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.models.ask.templates import Prompts, Rendered, Slot
from screentest.models.chat.messages import ChatAnswer, ChatRequest, ModelReply, Picture
from screentest.models.chat.parsing import conclude
from screentest.run.session import Settings, Tools
from screentest.sample import backgrounds, sample_videos
from screentest.suites.locot2v.construction.build import build_suite
from screentest.suites.locot2v.construction.stages import Choices, SourceVideo
from screentest.suites.univ.pieces import UnivTask
from screentest.testbeds.captions.facts import read_by_chat
from screentest.testbeds.chat import caption_request, category_of

HERE = Path(__file__).parent
FILM = next(one.item for one in sample_videos() if one.item.id == "real_5shots")
OTHER = next(one.item for one in sample_videos() if one.item.id == "frenchgp_1906")
STORY = "A woman in a red coat walks along the beach. She stops and waves at a boat."
TRUTH = {
    "global_attribute": {
        "subject_description": ["a woman in a red coat"],
        "background": ["a beach in the evening"],
    },
    "temporal_actions": [{"actions": ["she walks along the water"]}],
}
METRICS = {
    "etva": ("etva", "etva:batch=8", "etva:writer=vanilla"),
    "locot2v_event_consistency": (
        "locot2v_event_consistency",
        "locot2v_event_consistency:answers=tags",
    ),
    "univ_v2t": ("univ_v2t:truth=TRUTH",),
}
"""Metrics that are run with other options than their defaults."""

EXPECTED = {
    "emotional_response": "It is calm at first; the last shot makes the viewer look forward.",
    "narrative_flow": "One walk is told from beginning to end, at an even pace.",
    "character_development": "The woman says nothing, and yet one sees that she waits.",
    "visual_style": "Low evening light; the coat is the one warm colour.",
    "themes": "Waiting, and being seen at last.",
    "interpretive_depth": "Who is in the boat stays open.",
    "overall_impression": "A small, quiet film for those who have time.",
}
REMARKS = {
    "content_fidelity": "The coat is blue as asked, but for one moment.",
    "style_consistency": "Light and tone are those of the original throughout.",
    "motion_coherence": "The walk is even; the wave begins a little late.",
    "technical_quality": "Sharp, without visible faults.",
    "artistic_expression": "Bonus: the sky behind the boat has more depth than before.",
    "ip_and_privacy": "Nothing to remark.",
}
FINDING = {
    "part": "content_fidelity",
    "dimension": "subject",
    "start": 6.5,
    "end": 7.0,
    "kind": "colour flips back",
    "description": "The coat is red again for half a second, where it should stay blue.",
    "fix": "Keep the coat blue in all frames.",
    "severity": 0.4,
}
ANSWERS: Mapping[str, Any] = {
    **{
        f"univ.{task}.inspect": {"approved": False, "remarks": REMARKS, "findings": [FINDING]}
        for task in UnivTask
    },
    "univ.caption.overview": {
        "style": "Realistic",
        "subjects": ["a woman in a red coat", "a small white boat"],
        "content": "A woman walks along a beach in the evening, stops and waves at a boat.",
    },
    "univ.caption.describe": {
        "subjects": [
            {
                "kind": "human",
                "quality": "one woman, seen whole",
                "appearance": "a red coat, dark hair blown by the wind",
                "enters": None,
            }
        ],
        "position": {
            "in_frame": ["the woman on the left, then in the middle"],
            "between_subjects": ["the boat far behind the woman"],
            "to_camera": ["in profile, facing right"],
        },
        "actions": [
            {"kind": "human: daily activity", "description": "the woman walks along the water"},
            {"kind": "human: daily activity", "description": "she stops and waves at the boat"},
        ],
        "scenes": [
            {"kind": "natural background", "description": "a wide beach in the evening, calm sea"}
        ],
        "style": None,
        "atmosphere": ["calm", "hopeful"],
    },
    "locot2v.herd_expect": EXPECTED,
    "locot2v.herd_watch": EXPECTED,
    "locot2v.herd_questions": {
        "questions": [
            f"Does the {place} shot make one look forward to what comes next?"
            for place in ("last", "first", "second", "third", "fourth", "fifth")
        ]
    },
    "univ.v2t.match": {
        f"item_{number}": {"quote": "", "reason": "Nothing speaks of it.", "score": "0"}
        for number in range(1, 4)
    },
    "slvm.describe": {
        "observations": [{"seconds": 1.5, "seen": "Lit office towers at night."}],
        "overall": "Five unconnected scenes, each shown once.",
    },
    "etva.elements": {
        "background": "a beach",
        "camera": None,
        "entities": ["woman", "coat", "boat"],
        "attributes": ["red"],
        "relations": ["wears"],
    },
    "etva.graph": {
        "attributes": [{"entity": 3, "attribute": "red"}],
        "relations": [{"subject": 2, "relation": "wears", "object": 3}],
    },
    "etva.questions": {
        "questions": [
            {"element": 1, "question": "Is there a beach?", "category": "existence"},
            {"element": 2, "question": "Is there a woman?", "category": "existence"},
        ]
    },
    "locot2v.events": {
        "events": [
            {
                "event": "A woman in a red coat walks along the beach.",
                "subjects": ["a woman in a red coat"],
                "setting": "a beach",
                "action": "walks",
                "camera_motion": "static",
            }
        ]
    },
    "locot2v.actions": {"actions": [{"subject": "the woman", "action": "waves at a boat"}]},
    "locot2v.draft": {"text": STORY},
    "locot2v.critique": {"faults": ["the boat is white, which the text does not say"]},
    "locot2v.revise": {"text": STORY},
    "locot2v.merge": {"text": f"{STORY} {EXPECTED['emotional_response']}"},
}
"""Answers that a later question repeats; the form fills in all others."""


_FEWEST = r"(?:^|\. )(?:Exactly |At least )?(\d+) (?:to \d+ )?entries"


class NotingPrompts(Prompts):
    """Templates that remember what was made of them."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[str, Rendered]] = []

    def render(self, name: str, slots: Mapping[str, Slot]) -> Rendered:
        rendered = super().render(name, slots)
        self.made.append((name, rendered))
        return rendered

    def name_of(self, request: ChatRequest) -> str:
        """The template of a request."""
        return next(name for name, made in self.made if made.parts is request.parts)


@dataclass
class StandIn:
    """A chat model that keeps the first question of each template and answers all of them."""

    prompts: NotingPrompts
    asked: dict[str, ChatRequest] = field(default_factory=dict)
    identity: Mapping[str, str] = field(default_factory=dict)

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        """One outcome per request."""
        return [attempt(partial(self._answer, request)) for request in requests]

    def _answer(self, request: ChatRequest) -> ChatAnswer:
        self.asked.setdefault(self.prompts.name_of(request), request)
        return conclude(request, ModelReply(_answer(request)))


def _answer(request: ChatRequest) -> str:
    if request.schema is None:
        if request.use == "etva.knowledge":
            return "1. Wind at the sea. In the video: coat and hair are moved by it."
        return "It is as described. Conclusion: [YES]"
    form = request.form or {}
    return json.dumps(_filled(form, form.get("$defs", {})) | ANSWERS.get(request.use, {}))


def _filled(form: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
    """The plainest value that fits."""
    if "$ref" in form:
        return _filled(defs[form["$ref"].rsplit("/", 1)[-1]], defs)
    if "const" in form or "enum" in form:
        return form["const"] if "const" in form else form["enum"][0]
    if "anyOf" in form:
        return _filled(form["anyOf"][0], defs)
    if form.get("type") == "object":
        return {name: _filled(one, defs) for name, one in form["properties"].items()}
    if form.get("type") == "array":
        fewest = re.search(_FEWEST, form.get("description", ""))
        return [_filled(form["items"], defs)] * max(1, int(fewest[1]) if fewest else 1)
    plain = {"boolean": True, "integer": 1, "number": 1, "null": None}
    return plain.get(str(form.get("type")), "as described")


class Stage(Tools):
    """The tools of a run, with the stand-in for every chat model."""

    def __init__(self) -> None:
        super().__init__(Settings())
        self.prompts = self.noting = NotingPrompts()
        self.chat = StandIn(self.noting)

    def shots(self, video: Path, detector: str = "") -> Sequence[Shot]:
        clips = FILM.script.clips if FILM.script is not None else ()
        return [Shot(clip.span) for clip in clips if clip.span is not None]

    def frames(
        self,
        video: Path,
        moments: Sequence[Time],
        request: FrameRequest,
        cut: Borders | None = None,
    ) -> Iterator[Frame]:
        """Grey pictures of the right size at the right times: no page shows what is in them."""
        info = self.info(video)
        width, height = request.size.of(info.width, info.height)
        image = np.full((height, width, 3), 128, np.uint8)
        for moment in moments:
            yield Frame(moment, 0, image)

    def role(self, name: str) -> Any:
        return self.chat if name.partition(".")[0] == "chat" else super().role(name)


def runs(stage: Stage, work: Path) -> Iterator[Callable[[], object]]:
    """Everything that asks a chat model, once."""
    prompts, chat = stage.noting, stage.chat
    item = replace(
        FILM,
        prompt=STORY,
        source=OTHER.video,
        references=(backgrounds()[0],),
        instruction="Make the coat blue.",
    )
    plain = replace(item, script=None)
    (work / "truth.json").write_text(json.dumps({"id": FILM.id, **TRUTH}), encoding="utf-8")
    for name in registry.names("judge"):
        if name != "human":  # it reads a file of votes
            judge = resolve(name, "judge").judge
            if judge.info.prompts:
                question = Question(Aspect("temporal_flow"), FILM.text, item, item)
                yield partial(judge.judge, question, stage)
    for name in registry.names("metric"):
        for spec in METRICS.get(name, (name,)):
            metric = resolve(spec.replace("TRUTH", str(work / "truth.json"))).metric
            if metric.info.prompts:
                yield partial(measure, item if name == "dense" else plain, {name: metric}, stage)
    yield partial(read_by_chat, [_caption()], chat, prompts=prompts)
    yield partial(category_of, plain.text, ["nature", "sport", "people"], chat, prompts=prompts)
    frames = stage.frames(FILM.video, [_span().centre], FrameRequest())
    yield lambda: chat.ask([caption_request(prompts, frames)])
    yield lambda: chat.ask([request_for(_caption(), "Japanese", prompts)])
    source = SourceVideo("travel_1", Item("travel_1", FILM.video), "travel")
    yield partial(build_suite, [source], work / "suite", stage, Choices(shortest=1))


def _caption() -> str:
    assert FILM.script is not None
    return FILM.script.clips[1].caption


def _span() -> Span:
    assert FILM.script is not None
    span = FILM.script.clips[1].span
    assert span is not None
    return span


def requests() -> dict[str, ChatRequest]:
    """The first request of every template, by the template's name."""
    stage = Stage()
    with tempfile.TemporaryDirectory() as work:
        for run in runs(stage, Path(work)):
            with suppress(NoValue):
                run()
    stage.models.close()
    return dict(sorted(stage.chat.asked.items()))


def pages(sent: Mapping[str, ChatRequest]) -> dict[str, str]:
    """Every page by the name of its file: one for each folder of templates."""
    by_space: dict[str, list[str]] = {}
    for name, request in sent.items():
        by_space.setdefault(name.partition("/")[0], []).append(_section(name, request))
    return {
        f"{space}.md": f"# What `{space}` sends\n\n{_HEAD}\n\n" + "\n".join(sections)
        for space, sections in by_space.items()
    }


_HEAD = """\
Requests as they reach a server, made by [write.py](write.py) from a packaged film. Pictures are
left out here and sent there; where an answer is an object, its schema is sent as `response_format`,
and in words at the end of the message. [Any of these texts can be replaced](../templates.md)."""


def _section(name: str, request: ChatRequest) -> str:
    sampling = ", ".join(f"{key} {value}" for key, value in request.sampling.given.items())
    lines = [f"## {name}", "", f"Sampling: {sampling}."]
    if request.system:
        lines += ["", "System:", *_fenced(request.system)]
    lines += ["", "User:", *_fenced("\n".join(_shown(request)))]
    if request.form is not None:
        form = json.dumps(request.form, indent=1, ensure_ascii=False)
        lines += ["", "Answer:", *_fenced(_closed(form), "json")]
    return "\n".join([*lines, ""])


def _shown(request: ChatRequest) -> Iterator[str]:
    """The texts, and a line in the place of each picture; of a row of pictures the first two."""
    waiting: list[str] = []
    for part in request.parts:
        if isinstance(part, Picture):
            waiting.append(f"(picture: {part.width} × {part.height}, {part.media_type})")
        elif _SECOND.fullmatch(part.text.strip()):
            waiting.append(part.text.strip())
        else:
            yield from _row(waiting)
            waiting = []
            yield part.text.strip("\n")
    yield from _row(waiting)
    if request.schema is not None:
        yield ""
        yield request.instructions(enforced=True).partition("\n")[0] + " (the schema below)"


_SECOND = re.compile(r"\[[\d.]+ second\]")
_MOST_LINES = 4


def _row(lines: list[str]) -> Iterator[str]:
    yield from lines[:_MOST_LINES]
    if more := sum(line.startswith("(") for line in lines[_MOST_LINES:]):
        yield f"(… and {more} more, each after its second)"


def _closed(form: str) -> str:
    """Short lists on one line."""
    return re.sub(
        r"\[\s*((?:\"[^\"\n]*\"|[\d.]+)(?:,\s*(?:\"[^\"\n]*\"|[\d.]+))*)\s*\]",
        lambda found: "[" + " ".join(found[1].split()) + "]",
        form,
    )


def _fenced(text: str, kind: str = "text") -> list[str]:
    return [f"````{kind}", text, "````"]


def main() -> None:
    """Write every page."""
    for name, text in pages(requests()).items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
