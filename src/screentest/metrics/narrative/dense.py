"""dense: a long video judged clip by clip against its script, by a vision-language model.

Five bad clips in sixty vanish in one glance at all of them, and in a mean. So every clip is
looked at on its own, beside the captions that may belong to it, and the clips' scores are
added up by their lower tails. Which caption a clip shows tells what is missing and what comes
out of order. One call per clip, asked once per video.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from screentest.core.aspects import BUILTIN_ASPECTS
from screentest.core.errors import BadOption
from screentest.core.frames import Consumer
from screentest.core.item import Item, Shot
from screentest.core.metric import (
    Calls,
    Level,
    Measurement,
    MetricInfo,
    Outcomes,
    OutputInfo,
    Resources,
)
from screentest.core.registry import register
from screentest.metrics.narrative.clips import (
    OF_A_CLIP,
    ClipAnswer,
    SeenClip,
    added_up,
    offered_to,
    read_clip,
)
from screentest.models.ask import Frames, Query
from screentest.models.ask.templates import ASPECTS, Slot, Trusted
from screentest.models.chat.messages import Sampling

TEMPLATE = "metrics/dense"
# As the paper's judge samples: SLVMEval, appendix G.1.
SAMPLING = Sampling(temperature=0.7, top_p=0.8, top_k=20, min_p=0.0, max_tokens=8192)
CLIP = Query(TEMPLATE, ClipAnswer, "chat.judge", "slvm.dense", SAMPLING)
OUTPUTS = {
    aspect.value: OutputInfo(f"{aspect.value.replace('_', ' ')}, worst clips first")
    for aspect in BUILTIN_ASPECTS
}
_AT_ONCE = 64
"""Clips whose frames are held together: a film of hours must not be held as a whole."""


@dataclass(frozen=True, slots=True)
class Dense:
    """The metric; one value per aspect, from 0 to 1."""

    frames: Frames
    window: int
    most_failed: float
    hints: bool = False

    @property
    def info(self) -> MetricInfo:
        shown = self.frames
        return MetricInfo(
            outputs=OUTPUTS,
            level=Level.CLIP,
            roles=(CLIP.role,),
            shots=True,
            prompts=(TEMPLATE, ASPECTS),
            optional_text=True,
            calls=(Calls(CLIP.role, "clip", shown.count or 1, shown.long_side or 512),),
        )

    def start(self, item: Item, resources: Resources) -> Measurement:
        """Nothing streams: each clip is fetched when it is asked about."""
        return _DenseMeasurement(self, item, resources)


@dataclass(slots=True)
class _DenseMeasurement:
    dense: Dense
    item: Item
    resources: Resources
    consumers: Sequence[Consumer] = field(default=())

    def finish(self) -> Outcomes:
        shots = list(self.resources.shots(self.item.video))
        clips = self.item.script.clips if self.item.script else ()
        # One line each, so that no caption can pass for the number and text of another.
        captions = {number: " ".join(clip.caption.split()) for number, clip in enumerate(clips, 1)}
        seen: list[SeenClip] = []
        for start in range(0, len(shots), _AT_ONCE):
            seen += self._asked(shots, range(start, min(start + _AT_ONCE, len(shots))), captions)
        dense, written = self.dense, frozenset(n for n, text in captions.items() if text)
        return added_up(seen, written, most_failed=dense.most_failed)

    def _asked(
        self, shots: Sequence[Shot], places: range, captions: Mapping[int, str]
    ) -> list[SeenClip]:
        offers = [self._offer(place, len(shots), captions) for place in places]
        questions = (
            self._slots(shots[place], {number: captions[number] for number in offer})
            for place, offer in zip(places, offers, strict=True)
        )
        answers = CLIP.ask(self.resources, questions)
        return [
            SeenClip(shots[place], frozenset(offer), read_clip(answer, frozenset(offer)))
            for place, offer, answer in zip(places, offers, answers, strict=True)
        ]

    def _offer(self, place: int, shots: int, captions: Mapping[int, str]) -> list[int]:
        near = offered_to(place, shots, len(captions), self.dense.window)
        return [n + 1 for n in near if captions[n + 1]]

    def _slots(self, shot: Shot, captions: Mapping[int, str]) -> dict[str, Slot]:
        return {
            "frames": self.dense.frames.show(self.resources, self.item.video, shot.span),
            "captions": "\n".join(f"{number}. {text}" for number, text in captions.items()),
            "aspects": [
                {
                    "name": Trusted(aspect.value),
                    "definition": self.resources.prompts.definition(
                        aspect, hinted=self.dense.hints
                    ),
                }
                for aspect in OF_A_CLIP
            ],
        }


@register("metric", "dense", version=2, summary="every clip judged alone, added up by the worst")
def dense(
    *,
    frames: int = 4,
    long_side: int = 512,
    window: int = 6,
    most_failed: float = 0.1,
    hints: bool = False,
) -> Dense:
    """``frames`` of each clip are shown, with captions up to ``window`` places away.

    Where more than ``most_failed`` of the clips got no answer, the video has no score. ``hints``
    tells the model what harm looks like: for a certificate that shows what such words are worth.
    """
    if frames < 1 or long_side < 16 or window < 0:
        raise BadOption("invalid option of dense: must be frames ≥ 1, long_side ≥ 16, window ≥ 0")
    if not 0 <= most_failed < 1:
        raise BadOption("invalid option of dense: must be 0 ≤ most_failed < 1")
    return Dense(Frames(frames, long_side=long_side), window, most_failed, hints)
