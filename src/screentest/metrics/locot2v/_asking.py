"""Showing a video to a chat model and asking about it; every answer has a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from screentest.core import (
    BadOption,
    Filter,
    FrameRequest,
    Item,
    NoValue,
    Outcome,
    Reason,
    Resources,
    Size,
    Span,
)
from screentest.models.chat.messages import ChatRequest, Sampling
from screentest.models.chat.pictures import Encoding, timed
from screentest.models.chat.presets import preset
from screentest.prompts.values import Pictures
from screentest.video import evenly

if TYPE_CHECKING:
    from pydantic import BaseModel

    from screentest.prompts.values import Slot

    M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Glance:
    """How a model is shown a video: so many frames spread evenly, each with its time."""

    frames: int
    long_side: int

    def __post_init__(self) -> None:
        if not 1 <= self.frames <= 512 or not 16 <= self.long_side <= 4096:
            raise BadOption("a model is shown 1 to 512 frames of 16 to 4096 pixels")

    def at(self, item: Item, resources: Resources, span: Span | None = None) -> Pictures:
        """The pictures of a video, or of one part of it."""
        moments = evenly(span or resources.info(item.video).span, self.frames)
        wants = FrameRequest(size=Size(long_side=self.long_side), filter=Filter.AREA)
        return Pictures(timed(resources.frames(item.video, moments, wants), Encoding()))


@dataclass(frozen=True, slots=True)
class Asking:
    """One kind of question: for what, by which template, and in which form it is answered."""

    use: str
    """``describe``, ``extract``, ``watch`` or ``ground``: each may have a model of its own."""
    template: str
    form: type[BaseModel] | None
    sampling: Sampling | None = None

    @property
    def role(self) -> str:
        """The role that answers."""
        return f"chat.{self.use}"

    def request(self, resources: Resources, slots: Mapping[str, Slot], repeat: int = 0) -> Any:
        """The request with its slots filled."""
        use = self.template.replace("/", ".")
        rendered = resources.prompts.render(self.template, slots)
        return ChatRequest(
            rendered.parts,
            rendered.system,
            self.form,
            sampling=self.sampling or preset(use),
            use=use,
            repeat=repeat,
        )

    def ask(
        self, resources: Resources, questions: Sequence[Mapping[str, Slot]], *, repeats: int = 1
    ) -> list[Outcome[Any]]:
        """One outcome per question and repeat, all asked together: an object of the form.

        The repeats of a question follow one another. Without a form it is the text.
        """
        requests = [
            self.request(resources, slots, repeat)
            for slots in questions
            for repeat in range(repeats)
        ]
        answers = resources.role(self.role).ask(requests)
        return [
            answer.map(lambda one: one.text if self.form is None else one.value)
            for answer in answers
        ]

    def one(self, resources: Resources, slots: Mapping[str, Slot]) -> Any:
        """The answer to a single question; raises NoValue where there is none."""
        (outcome,) = self.ask(resources, [slots])
        answer = outcome.unwrap()
        if self.form is None and not str(answer).strip():
            raise NoValue(Reason.UNPARSABLE, "the model's answer is empty")
        return answer
