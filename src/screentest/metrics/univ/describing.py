"""A video described by a chat model: an overview, then every shot, then every shot's script.

The overview is handed to whoever describes a shot, so that people and places keep their names
from shot to shot. A video of one shot needs none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from screentest.core import Failure, Item, NoValue, Outcome, Resources, Shot, Span
from screentest.metrics.univ.asking import CAPTION, ask, request
from screentest.metrics.univ.forms import Scripted
from screentest.metrics.univ.looking import Looking
from screentest.metrics.univ.schema import Description, Overview, ShotDescription, VideoDescription
from screentest.metrics.univ.script import join_shots
from screentest.models.chat.messages import ChatRequest
from screentest.prompts.values import Slot
from screentest.run.records import TRANSIENT

TEMPLATES = ("univ/overview", "univ/describe", "univ/script")
_OVERVIEW_FRAMES = 48
LEAST_DESCRIBED = 0.5
"""The share of the running time that must be described for a description to be one."""


@dataclass(frozen=True, slots=True)
class Described:
    """A description, and the shots that have none."""

    video: VideoDescription
    missing: tuple[tuple[Span, Failure], ...] = ()


@dataclass(frozen=True, slots=True)
class Describer:
    """Describes one item."""

    item: Item
    resources: Resources
    looking: Looking
    name: str

    def describe(self, spans: Sequence[Span]) -> Described:
        """The video cut at ``spans``, in three rounds of questions."""
        overview = self._overview() if len(spans) > 1 else None
        looked = self._all(
            self._shot_request(spans, place, overview) for place in range(len(spans))
        )
        seen = [(span, one) for span, one in zip(spans, looked, strict=True) if one.ok]
        written = self._all(
            self._script_request(one.unwrap(), first=not n) for n, (_, one) in enumerate(seen)
        )
        missing = [
            (span, one.failure)
            for span, one in zip(spans, looked, strict=True)
            if one.failure is not None
        ]
        shots = []
        for (span, one), script in zip(seen, written, strict=True):
            if script.failure is not None:
                missing.append((span, script.failure))
                continue
            text: Scripted = script.unwrap()
            shots.append(described_shot(span, one.unwrap(), text.script))
        _must_be_most_of_it(spans, missing)
        whole = join_shots(shot.script for shot in shots)
        video = VideoDescription(
            id=self.item.id, described_by=self.name, overview=overview, shots=shots, script=whole
        )
        return Described(video, tuple(sorted(missing, key=lambda one: one[0].start)))

    def _overview(self) -> Overview:
        looking = replace(self.looking, most=min(self.looking.most, _OVERVIEW_FRAMES))
        slots: dict[str, Slot] = {"pictures": looking.show(self.item.video, self.resources)}
        asked = request(self.resources, "univ/overview", slots, Overview, "univ.caption.overview")
        (answer,) = ask(self.resources, CAPTION, [asked])
        overview: Overview = answer.unwrap()
        return overview

    def _shot_request(
        self, spans: Sequence[Span], place: int, overview: Overview | None
    ) -> ChatRequest:
        slots: dict[str, Slot] = {
            "overview": "" if overview is None else _told(overview),
            "number": place + 1,
            "count": len(spans),
            "pictures": self.looking.show(self.item.video, self.resources, spans[place]),
        }
        return request(self.resources, "univ/describe", slots, Description, "univ.caption.describe")

    def _script_request(self, shot: Description, *, first: bool) -> ChatRequest:
        notes = shot.model_dump_json(indent=1)
        slots: dict[str, Slot] = {"notes": notes, "opening": first}
        return request(self.resources, "univ/script", slots, Scripted, "univ.caption.script")

    def _all(self, requests: Iterable[ChatRequest]) -> list[Outcome[Any]]:
        answers = ask(self.resources, CAPTION, requests)
        for answer in answers:
            # What the next try could mend is not a missing shot; the ledger has the others.
            if answer.failure is not None and answer.failure.reason in TRANSIENT:
                answer.unwrap()
        return answers


def described_shot(span: Span, shot: Description, script: str) -> ShotDescription:
    """A shot with its exact times."""
    return ShotDescription(
        start=str(span.start), end=str(span.end), description=shot, script=script.strip()
    )


def spans_of(shots: Sequence[Shot], whole: Span) -> list[Span]:
    """The shots' times; all of it where there are none."""
    return [shot.span for shot in shots] or [whole]


def _told(overview: Overview) -> str:
    subjects = "; ".join(overview.subjects)
    return f"Style: {overview.style}\nSubjects: {subjects}\nContent: {overview.content}"


def _must_be_most_of_it(spans: Sequence[Span], missing: Sequence[tuple[Span, Failure]]) -> None:
    total = sum(span.duration for span in spans)
    lost = sum(span.duration for span, _ in missing)
    if missing and (total - lost) < LEAST_DESCRIBED * total:
        failure = missing[0][1]
        told = f"{len(missing)} of {len(spans)} shots were not described: {failure.detail}"
        raise NoValue(failure.reason, told, advice=failure.advice)
