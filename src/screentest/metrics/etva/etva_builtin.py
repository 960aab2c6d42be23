"""ETVA's idea without a chat model: questions by rules, answered as far as small parts can see.

Not ETVA's number: it answers about one question in seven, and coverage says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from screentest.core import (
    BadOption,
    Filter,
    Frame,
    FrameRequest,
    Item,
    Level,
    Measurement,
    MetricInfo,
    Outcome,
    Resources,
    Size,
    Time,
    register,
)
from screentest.metrics.etva.builtin import BuiltinAnswerer
from screentest.metrics.etva.looking import Looking
from screentest.metrics.etva.measurement import Questioning
from screentest.metrics.etva.questions import QuestionSet
from screentest.metrics.etva.rules import rules_signature, write_by_rules
from screentest.metrics.etva.scoring import OUTPUTS
from screentest.metrics.etva.source import QuestionsFile

_PIXELS = 640 * 360


@register(
    "metric",
    "etva_builtin",
    version=1,
    summary="questions by rules, answered by a small detector and flow; needs no chat model",
    neutral=("questions",),
)
def etva_builtin(
    *, questions: str = "", gating: bool = False, max_frames: int = 16, clips: bool = True
) -> EtvaBuiltin:
    """Questions about things, counts, colours, sides and camera movements.

    ``questions`` is a file that has them already; only those with a scene graph are answered.
    """
    if max_frames < 1:
        raise BadOption("etva_builtin looks at one frame at least: max_frames=16")
    saved = QuestionsFile(Path(questions)) if questions else None
    return EtvaBuiltin(saved, gating, max_frames, clips)


@dataclass(frozen=True, slots=True, eq=False)
class EtvaBuiltin:
    """The metric."""

    saved: QuestionsFile | None
    gating: bool
    max_frames: int
    clips: bool

    @property
    def info(self) -> MetricInfo:
        """The same values as ETVA's, of fewer questions."""
        return MetricInfo(OUTPUTS, Level.CLIP, roles=("detection", "flow"), needs=("text",))

    @property
    def signature_parts(self) -> Mapping[str, object]:
        """The questions themselves where they come from a file, else the rules' lists."""
        if self.saved is not None:
            return {"questions": self.saved.digest}
        return {"rules": rules_signature().digest}

    def start(self, item: Item, resources: Resources) -> Measurement:
        """Begin on one item."""

        def frames(moments: Sequence[Time], size: Size) -> Iterator[Frame]:
            request = FrameRequest(size=size, filter=Filter.AREA)
            return resources.frames(item.video, moments, request)

        answerer = BuiltinAnswerer(resources.role("detection"), resources.role("flow"), frames)
        looking = Looking(most=self.max_frames, least=min(4, self.max_frames), max_pixels=_PIXELS)
        return Questioning(item, resources, self._write, answerer, looking, self.gating, self.clips)

    def _write(self, texts: Sequence[str]) -> list[Outcome[QuestionSet]]:
        if self.saved is not None:
            return self.saved.write(texts)
        return [Outcome.of(write_by_rules(text)) for text in texts]
