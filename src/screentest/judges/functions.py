"""A judge is a function: ``@screentest.judge`` makes one of it.

>>> @judge(summary="the brighter video wins", frames=4, long_side=64, margin=0.5)
... def brighter(first, second):
...     return sum(one.mean() for one in first), sum(one.mean() for one in second)

``first`` and ``second`` are lists of ``frames`` RGB pictures, evenly spread over each video. The
function may also take ``prompt`` (the text both were made from), ``aspect`` (what is compared) and
``resources`` (models and more: see ``screentest.core.Resources``). Keyword-only parameters with
defaults are options of the judge, and part of its signature.

It returns who wins, as "first", "second" or "tie"; or two numbers of which the higher wins, and
differences up to ``margin`` are a tie; or a Verdict with its reasons; or None where it cannot
tell. A metric is a judge already (``screentest certify saturation``): this is for what needs both
videos at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from screentest.core.frames import FrameRequest, Image, Size
from screentest.core.functions import (
    Asks,
    Setting,
    decorator,
    form_of,
    is_factory,
    register_function,
    summary_of,
)
from screentest.core.item import Item
from screentest.core.metric import JudgeInfo, Question, Resources
from screentest.core.outcome import Outcome, Reason
from screentest.core.registry import register
from screentest.core.verdict import Choice, Verdict, prefer_higher
from screentest.video.samples import evenly

F = TypeVar("F", bound=Callable[..., Any])

FORMS = (("first", "second"),)
BESIDES = ("prompt", "aspect", "resources")


@decorator
def judge(
    *,
    name: str = "",
    version: int = 1,
    summary: str = "",
    frames: int = 16,
    long_side: int = 512,
    margin: float = 0.0,
    asks: Sequence[Asks] = (),
    roles: Sequence[str] = (),
) -> Callable[[F], F]:
    """Register a judge: a plain function, or a factory of a class.

    Args:
        name: The name of the judge; that of the function where empty.
        version: Raise it whenever the verdicts change.
        summary: One line for lists; the first line of the docstring where empty.
        frames: How many pictures of each video. An option of the judge, too, as are ``long_side``
            and ``margin``.
        long_side: The size of the pictures.
        margin: Two numbers that are no further apart are a tie.
        asks: The queries that it asks: their roles and templates are part of its signature.
        roles: Further model roles that it asks.
    """

    def keep(function: F) -> F:
        called = name or function.__name__
        words = summary_of(function, summary)
        if is_factory(function):
            register("judge", called, version=version, summary=words)(function)
            return function
        _, besides = form_of("judge", function, FORMS, BESIDES, {})
        info = JudgeInfo(
            words,
            (*roles, *(query.role for query in asks)),
            tuple(query.template for query in asks),
            reads_text="prompt" in besides,
            sees_frames=True,
        )

        def make(call: Callable[..., Any], chosen: Mapping[str, Any]) -> FunctionJudge:
            if chosen["frames"] < 1:
                raise ValueError(f"invalid frames {chosen['frames']}: must be at least 1")
            wants = FrameRequest(size=Size(long_side=chosen["long_side"]))
            return FunctionJudge(info, call, besides, chosen["frames"], wants, chosen["margin"])

        settings = {
            "frames": Setting(int, frames),
            "long_side": Setting(int, long_side),
            "margin": Setting(float, margin),
        }
        register_function(
            "judge", function, make, settings, name=called, version=version, summary=words
        )
        return function

    return keep


@dataclass(frozen=True, slots=True)
class FunctionJudge:
    """The judge behind a plain function."""

    info: JudgeInfo
    call: Callable[..., Any]
    besides: tuple[str, ...]
    frames: int
    wants: FrameRequest
    margin: float

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        more = {"prompt": question.prompt, "aspect": question.aspect, "resources": resources}
        first, second = (
            self._pictures(item, resources) for item in (question.first, question.second)
        )
        return self._verdict(self.call(first, second, **{key: more[key] for key in self.besides}))

    def _pictures(self, item: Item, resources: Resources) -> list[Image]:
        moments = evenly(resources.info(item.video).span, self.frames)
        return [frame.image for frame in resources.frames(item.video, moments, self.wants)]

    def _verdict(self, answer: Any) -> Outcome[Verdict]:
        if answer is None:
            return Outcome.failed(Reason.NOT_APPLICABLE, "the judge cannot tell")
        if isinstance(answer, Outcome):
            return answer
        if isinstance(answer, Verdict):
            return Outcome.of(answer)
        if isinstance(answer, str):
            return Outcome.of(Verdict(Choice(answer)))
        if isinstance(answer, Sequence) and len(answer) == 2:
            first, second = map(float, answer)
            return Outcome.of(prefer_higher(first, second, margin=self.margin))
        raise TypeError(
            f"it returned {type(answer).__name__}, not 'first', 'second' or 'tie', two numbers,"
            " a Verdict or None"
        )
