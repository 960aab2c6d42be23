"""The forms in which a judge answers. Every field is required, and answers must not contradict
themselves: one that does is sent back once, and then counts as no answer."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from screentest.metrics.univ.dimensions import Dimension

MOST = 10


class Part(StrEnum):
    """The six parts of the checklist."""

    CONTENT = "content_fidelity"
    STYLE = "style_consistency"
    MOTION = "motion_coherence"
    TECHNICAL = "technical_quality"
    ARTISTIC = "artistic_expression"
    RIGHTS = "ip_and_privacy"


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Finding(_Form):
    """One fault."""

    part: Part
    dimension: Dimension | None
    """None where it touches none of the eight, such as a logo."""
    start: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    end: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    kind: str
    description: str
    fix: str
    severity: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Finding:
        if self.end < self.start:
            raise ValueError("a finding ends before it starts")
        return self


class Remarks(_Form):
    """A word on each part of the checklist, so that none is skipped."""

    content_fidelity: str
    style_consistency: str
    motion_coherence: str
    technical_quality: str
    artistic_expression: str
    ip_and_privacy: str


class Inspection(_Form):
    """What a look at the video found."""

    remarks: Remarks
    findings: list[Finding]
    approved: bool

    @model_validator(mode="after")
    def _approved_is_without_findings(self) -> Inspection:
        if self.approved == bool(self.findings):
            raise ValueError("approved means that there are no findings, and only that")
        return self


class Mark(_Form):
    """Points with a reason; the reason comes first."""

    reason: str
    score: Annotated[int, Field(ge=0, le=MOST, strict=True)]


class Marks(_Form):
    """All eight dimensions."""

    subject: Mark
    background: Mark
    action: Mark
    camera: Mark
    colour: Mark
    lighting: Mark
    style: Mark
    position: Mark
    comment: str


class Scripted(_Form):
    """The script of one shot."""

    script: Annotated[str, Field(min_length=1)]


class Match(_Form):
    """Whether one item of a checklist is in a caption."""

    reason: str
    present: bool
    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _score_follows(self) -> Match:
        if self.score not in (0.0, 0.5, 1.0):
            raise ValueError("score is 0, 0.5 or 1")
        if self.present != (self.score > 0):
            raise ValueError("what is absent has score 0, what is present 0.5 or 1")
        return self


def item_name(number: int) -> str:
    """What an item is called in the form: ``item_1`` and so on."""
    return f"item_{number}"


@cache
def match_form(count: int) -> type[BaseModel]:
    """A form with one Match for each of ``count`` items, so that none can be left out."""
    fields: dict[str, Any] = {item_name(number): (Match, ...) for number in range(1, count + 1)}
    return create_model(f"Matches{count}", __config__=ConfigDict(extra="forbid"), **fields)
