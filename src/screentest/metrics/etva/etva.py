"""ETVA: the share of questions about a prompt that its video answers with yes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from screentest.core import (
    BadOption,
    Item,
    Level,
    Measurement,
    MetricInfo,
    Outcome,
    Resources,
    register,
)
from screentest.metrics.etva import agents, answering
from screentest.metrics.etva.knowledge import TEMPLATE as KNOWLEDGE
from screentest.metrics.etva.knowledge import add_knowledge
from screentest.metrics.etva.looking import MAX_FRAMES, MAX_PIXELS, MIN_FRAMES, Looking
from screentest.metrics.etva.measurement import Questioning
from screentest.metrics.etva.questions import QuestionSet
from screentest.metrics.etva.rules import rules_signature, write_by_rules
from screentest.metrics.etva.scoring import OUTPUTS
from screentest.metrics.etva.source import QuestionsFile
from screentest.metrics.etva.tokens import Compat

WRITE, KNOW, ANSWER = "chat.questions", "chat.knowledge", "chat.answer"


@register(
    "metric",
    "etva",
    version=1,
    summary="share of yes to questions about each piece of the prompt, by a chat model",
    neutral=("questions",),
)
def etva(
    *,
    writer: Literal["chat", "rules"] = "chat",
    questions: str = "",
    knowledge: bool = True,
    understanding: bool = True,
    reflection: bool = True,
    direct: bool = False,
    gating: bool = False,
    compat: Compat = Compat.STRICT,
    batch: int = 1,
    fps: float = 2.0,
    min_frames: int = MIN_FRAMES,
    max_frames: int = MAX_FRAMES,
    max_pixels: int = MAX_PIXELS,
    clips: bool = True,
) -> Etva:
    """Ask a chat model yes/no questions about a video.

    ``writer`` is who writes the questions; ``questions`` a file that has them already.
    ``knowledge``, ``understanding`` and ``reflection`` leave a stage out, ``direct`` all three.
    ``gating`` asks nothing about what is not there. ``compat=upstream`` reads answers as the
    released code did. ``batch`` is how many questions share one request. ``clips=false`` asks
    about the script of a long video as a whole.
    """
    if batch < 1 or min_frames < 1 or max_frames < min_frames or fps <= 0 or max_pixels < 1024:
        raise BadOption("batch, frames, fps and pixels of etva must be above zero")
    stages = answering.Stages(
        knowledge and not direct, understanding and not direct, reflection and not direct
    )
    looking = Looking(Fraction(str(fps)), min_frames, max_frames, max_pixels)
    saved = QuestionsFile(Path(questions)) if questions else None
    return Etva(writer, saved, stages, gating, compat, batch, looking, clips)


@dataclass(frozen=True, slots=True, eq=False)
class Etva:
    """The metric."""

    writer: str
    saved: QuestionsFile | None
    stages: answering.Stages
    gating: bool
    compat: Compat
    batch: int
    looking: Looking
    clips: bool

    @property
    def info(self) -> MetricInfo:
        """A value per category beside the score."""
        roles: list[str] = []
        prompts: list[str] = []
        if self.saved is None and self.writer == "chat":
            roles.append(WRITE)
            prompts += agents.TEMPLATES
        if self._asks_knowledge:
            roles.append(KNOW)
            prompts.append(KNOWLEDGE)
        roles.append(ANSWER)
        prompts.append(answering.ONE if self.batch == 1 else answering.MANY)
        return MetricInfo(
            OUTPUTS, Level.CLIP, roles=tuple(roles), needs=("text",), prompts=tuple(prompts)
        )

    @property
    def signature_parts(self) -> Mapping[str, object]:
        """The questions themselves where they come from a file, else the rules' lists."""
        if self.saved is not None:
            return {"questions": self.saved.digest, "writer": "file"}
        return {"rules": rules_signature().digest} if self.writer == "rules" else {}

    @property
    def _asks_knowledge(self) -> bool:
        return self.stages.knowledge and not (self.saved is not None and self.saved.all_known)

    def start(self, item: Item, resources: Resources) -> Measurement:
        """Begin on one item."""

        def write(texts: Sequence[str]) -> list[Outcome[QuestionSet]]:
            written = self._write(texts, resources)
            if self._asks_knowledge:
                return add_knowledge(written, resources.role(KNOW), resources.prompts)
            return written

        answerer = answering.ChatAnswerer(
            resources.role(ANSWER),
            resources.prompts,
            stages=self.stages,
            compat=self.compat,
            batch=self.batch,
        )
        return Questioning(item, resources, write, answerer, self.looking, self.gating, self.clips)

    def _write(self, texts: Sequence[str], resources: Resources) -> list[Outcome[QuestionSet]]:
        if self.saved is not None:
            return self.saved.write(texts)
        if self.writer == "rules":
            return [Outcome.of(write_by_rules(text)) for text in texts]
        return agents.write_by_chat(texts, resources.role(WRITE), resources.prompts)
