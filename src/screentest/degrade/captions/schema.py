"""The answer that a chat model gives about a caption: an object, every field required."""

from __future__ import annotations

from pydantic import BaseModel, Field

from screentest.degrade.captions.facts import Action, CaptionFacts, Coloured, Placed

_LONGEST = 200


class _AgentAction(BaseModel):
    agent: str = Field(min_length=1, max_length=_LONGEST)
    action: str = Field(min_length=1, max_length=_LONGEST)


class _ColourObject(BaseModel):
    color: str = Field(min_length=1, max_length=_LONGEST)
    object: str = Field(min_length=1, max_length=_LONGEST)


class _LocationObject(BaseModel):
    location: str = Field(min_length=1, max_length=_LONGEST)
    object: str = Field(min_length=1, max_length=_LONGEST)


class CaptionAnswer(BaseModel):
    """The seven lists, named as in the paper."""

    subject: list[str]
    background: list[str]
    dynamic_degree: list[_AgentAction]
    human_action: list[_AgentAction]
    color: list[_ColourObject]
    spatial_relationship: list[_LocationObject]
    scene: list[str]

    def facts(self) -> CaptionFacts:
        """The same as facts: blank names left out, each entry once."""
        return CaptionFacts(
            subject=_names(self.subject),
            background=_names(self.background),
            dynamic_degree=tuple(
                dict.fromkeys(Action(each.agent, each.action) for each in self.dynamic_degree)
            ),
            human_action=tuple(
                dict.fromkeys(Action(each.agent, each.action) for each in self.human_action)
            ),
            color=tuple(dict.fromkeys(Coloured(each.color, each.object) for each in self.color)),
            spatial_relationship=tuple(
                dict.fromkeys(
                    Placed(each.location, each.object) for each in self.spatial_relationship
                )
            ),
            scene=_names(self.scene),
        )


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
