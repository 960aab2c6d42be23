"""Mood: a chat model looks at frames and rates how well their mood fits the prompt."""

from pydantic import BaseModel, Field

import screentest


class Mood(BaseModel):
    """The form of the answer: every field is required."""

    reason: str
    points: int = Field(ge=1, le=5)


MOOD = screentest.Query("screentest_fading/mood", Mood, role="chat.mood")
FRAMES = screentest.Frames(count=8, long_side=512)


@screentest.metric(asks=[MOOD], needs=["text"], unit="0 opposite, 1 fits")
def mood(item: screentest.Item, resources: screentest.Resources) -> screentest.Score:
    """How well the mood of a video fits its prompt."""
    frames = FRAMES.show(resources, item.video)
    answer = MOOD.one(resources, {"frames": frames, "prompt": item.text})
    return screentest.Score((answer.points - 1) / 4, details={"reason": answer.reason})
