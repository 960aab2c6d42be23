"""What the stages ask, and in which form it is answered."""

from __future__ import annotations

from pydantic import BaseModel, Field

from screentest.metrics.locot2v._asking import Asking
from screentest.metrics.locot2v._expecting import Expectations

_LONGEST = 20_000


class Written(BaseModel):
    """A text."""

    text: str = Field(min_length=1, max_length=_LONGEST)


class Faults(BaseModel):
    """What is wrong with a draft; nothing where it can stay as it is."""

    faults: list[str] = Field(max_length=20)


class EventPrompts(BaseModel):
    """One prompt per event, in order."""

    prompts: list[str] = Field(max_length=100)


class Graded(BaseModel):
    """A grade with its explanation."""

    explanation: str
    score: int = Field(ge=1, le=10)


class Complexity(BaseModel):
    """The three complexities."""

    semantic: Graded
    structural: Graded
    control: Graded


class SourceFlags(BaseModel):
    """What would make a video a bad source."""

    burnt_in_text: bool
    overlay: bool
    low_quality: bool
    off_theme: bool
    why: str


CHECK = Asking("watch", "locot2v/source_check", SourceFlags)
DRAFT = Asking("watch", "locot2v/draft", Written)
CRITIQUE = Asking("watch", "locot2v/critique", Faults)
REVISE = Asking("watch", "locot2v/revise", Written)
WATCH = Asking("watch", "locot2v/herd_watch", Expectations)
MERGE = Asking("extract", "locot2v/merge", Written)
EVENT_PROMPTS = Asking("extract", "locot2v/event_prompts", EventPrompts)
COMPLEXITY = Asking("extract", "locot2v/complexity", Complexity)
ALL = (CHECK, DRAFT, CRITIQUE, REVISE, WATCH, MERGE, EVENT_PROMPTS, COMPLEXITY)
