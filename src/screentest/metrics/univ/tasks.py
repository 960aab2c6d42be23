"""The five tasks that end in a video, and what each is judged by."""

from __future__ import annotations

from enum import StrEnum


class Task(StrEnum):
    """What a model was asked to do; V2T ends in text and is judged otherwise."""

    V2T = "v2t"
    T2V = "t2v"
    R2V = "r2v"
    TV2V = "tv2v"
    RV2V = "rv2v"
    V2V = "v2v"

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields an item of the task must have."""
        return _NEEDS[self]

    @property
    def metric(self) -> str:
        """The metric that scores it."""
        return f"univ_{self.value}"

    @property
    def template(self) -> str:
        """What the judge is told."""
        return f"univ/{self.value}"

    def use(self, step: str) -> str:
        """What a call is for, as the ledger has it."""
        return f"univ.{self.value}.{step}"


_NEEDS = {
    Task.V2T: ("text",),
    Task.T2V: ("text",),
    Task.R2V: ("references", "text"),
    Task.TV2V: ("source", "instruction"),
    Task.RV2V: ("source", "references", "instruction"),
    Task.V2V: ("source",),
}
TITLES = {
    Task.V2T: "video to text",
    Task.T2V: "text to video",
    Task.R2V: "reference pictures to video",
    Task.TV2V: "editing a video by text",
    Task.RV2V: "editing a video by text and reference pictures",
    Task.V2V: "reconstructing a video",
}
