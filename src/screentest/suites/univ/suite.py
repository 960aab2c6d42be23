"""The suite as ``screentest score --suite univ --task t2v`` takes it."""

from __future__ import annotations

import json
from typing import Literal

from screentest.core import BadOption, register
from screentest.core.options import value_name
from screentest.scores.suite import Dimension, Suite
from screentest.suites.univ.pieces import Level, UnivTask
from screentest.suites.univ.vocabulary import Dimension as Scored

GROUPS = ("model", "task", "shots")
TaskName = Literal["v2t", "t2v", "r2v", "tv2v", "rv2v", "v2v"]


@register(
    "suite", "univ", version=1, summary="UniVBench: six tasks, eight dimensions, by a chat model"
)
def univ(*, task: TaskName = "t2v", level: Level = "video", truth: str = "") -> Suite:
    """``task`` is v2t, t2v, r2v, tv2v, rv2v or v2v; ``level`` is video, shots or both.

    ``truth`` is the ground truth of v2t: a benchmark folder, or a file of `suite univ caption`.
    """
    chosen = UnivTask(task)
    if chosen is UnivTask.V2T:
        if not truth:
            raise BadOption(
                "the task v2t needs its ground truth",
                advice="Write --suite univ:truth=FOLDER --task v2t.",
            )
        spec = f"{chosen.metric}:truth={json.dumps(truth)}"
    else:
        if truth:
            raise BadOption(f"the task {task} has no use for truth: it looks at the video")
        spec = chosen.metric if level == "video" else f"{chosen.metric}:level={level}"
    parts = tuple(Dimension(one.value, values=(value_name(spec, one.value),)) for one in Scored)
    return Suite("univ", (spec,), (Dimension("average", parts=parts),), GROUPS)
