"""One question to the judge, and the frames it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from screentest.core import Resources
from screentest.models.ask import Frames, Placing, Query
from screentest.models.chat.messages import ChatRequest, Sampling

if TYPE_CHECKING:
    from pydantic import BaseModel

    from screentest.models.ask.templates import Slot

JUDGE = "chat.judge"
CAPTION = "chat.caption"
SAMPLING = Sampling(temperature=0.0001, max_tokens=32768)
"""UniV-Eval's: as good as greedy, with room for long lists of faults."""
AT_ONCE = 16
"""Questions that are asked together: the pictures of a long film's shots are many."""


def request(
    resources: Resources,
    template: str,
    slots: Mapping[str, Slot],
    form: type[BaseModel] | None,
    use: str,
    repeat: int = 0,
) -> ChatRequest:
    """Return a request with its slots filled, sampled as the paper's judge."""
    query = Query(template, form, use=use, sampling=SAMPLING)
    return query.request(resources.prompts, slots, repeat=repeat)


_RATES = ((10, Fraction(4)), (15, Fraction(2)), (90, Fraction(1)), (300, Fraction(1, 2)))
_SIDES = ((10, 480), (180, 360))
MOST = 320
"""No more frames than this, spread evenly. Ours: the released code has no such limit, and it
bites only beyond ten minutes."""


def shown(fps: Fraction = Fraction(4), short_side: int = 480, most: int = MOST) -> Frames:
    """Return which frames a model is shown, and how large: fewer and smaller the longer the video
    is.

    The published rates: four a second at a short side of 480, two from 15 s on, one from 90 s on,
    one every two seconds from 300 s on; a short side of 360 from 180 s on. Frames are taken at
    whole steps of the source's own frames, and never enlarged.
    """
    return Frames(
        rate=fps,
        placing=Placing.STEPS,
        most=most,
        short_side=short_side,
        slower=_RATES,
        smaller=_SIDES,
    )
