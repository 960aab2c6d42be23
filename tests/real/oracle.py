"""An oracle in the captioner's place: what a testbed knows of each of its videos, as text.

``text_oracle`` is the text judge of SLVMEval with the testbed's own captions, in the order in which
the video really shows them, where otherwise a model describes frames. It measures what the
comparing model can do with perfect descriptions, and nothing about pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from screentest.core.metric import JudgeInfo, Question, Resources
from screentest.core.outcome import Outcome, attempt
from screentest.core.registry import register
from screentest.core.verdict import Verdict
from screentest.judges.vlm import COMPARE_TEXTS, _aspect, as_verdict
from screentest.models.ask.templates import ASPECTS
from screentest.testbeds.testbed import FILE, Pair, SourceFilm, read_testbed


@dataclass(frozen=True, slots=True)
class OracleText:
    """Compares what two videos of a testbed show, by its own captions."""

    info = JudgeInfo(
        "an oracle's captions of both videos, compared by a model",
        (COMPARE_TEXTS.role,),
        (COMPARE_TEXTS.template, ASPECTS),
    )

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        shown = [described(item.video) for item in (question.first, question.second)]
        slots = {
            **_aspect(question, resources),
            "prompt": question.prompt,
            "first_video": shown[0],
            "second_video": shown[1],
        }
        return attempt(
            lambda: as_verdict(COMPARE_TEXTS.one(resources, slots, repeat=question.repeat))
        )


@lru_cache(64)
def described(video: Path) -> str:
    """The captions of a video's clips as it shows them, each with its second."""
    testbed = next(folder for folder in video.parents if (folder / FILE).exists())
    content = read_testbed(testbed)
    name = video.relative_to(testbed).as_posix()
    sources = {one.id: one for one in content.sources}
    for source in content.sources:
        if any(one.path == name for one in source.intact):
            return _lines(source, None)
    (pair,) = (one for one in content.pairs if one.changed.path == name)
    return _lines(sources[pair.source], pair)


def _lines(source: SourceFilm, pair: Pair | None) -> str:
    touched = {one.clip: one.degraded for one in pair.touched} if pair is not None else {}
    shown = []
    for number, clip in enumerate(source.clips):
        if number in source.lost or touched.get(number, clip.span) is None:
            continue
        span = touched.get(number) or clip.span
        assert span is not None
        shown.append((span.start, clip))
    lines, second = [], 0.0
    for _, clip in sorted(shown, key=lambda one: one[0]):
        lines.append(f"[{second:.1f} s] {clip.caption}")
        second += float(clip.span.duration) if clip.span is not None else 0.0
    return "\n".join(lines)


@register("judge", "text_oracle", version=1, summary="an oracle's captions of both, compared")
def text_oracle() -> OracleText:
    """For videos of testbeds only: the testbed is found by the video's folder."""
    return OracleText()
