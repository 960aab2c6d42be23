"""Shot count: how many shots a film has, against the clips its script asks for."""

from __future__ import annotations

from collections.abc import Mapping

from screentest.core import Item, NoValue, OutputInfo, Point, Reason, Resources, Score
from screentest.metrics.functions import metric


@metric(
    summary="number of shots against the script's",
    outputs={
        "shot_count": OutputInfo("the smaller number divided by the larger one"),
        "shots_had": OutputInfo("shots per clip of the script, at most one"),
    },
    needs=("script",),
    shots=True,
)
def shot_count(item: Item, resources: Resources) -> Mapping[str, Score]:
    """Both ratios, with the shots as the curve."""
    assert item.script is not None
    wanted = len([clip for clip in item.script.clips if clip.caption.strip()])
    if not wanted:
        raise NoValue(Reason.NOT_APPLICABLE, "no clip of the script has a caption")
    shots = resources.shots(item.video)
    curve = tuple(Point(shot.span, 1.0, shot.transition.value) for shot in shots)
    details = {"shots": len(shots), "clips": wanted}
    alike = min(wanted, len(shots)) / max(wanted, len(shots))
    return {
        "shot_count": Score(alike, curve, details),
        "shots_had": Score(min(1.0, len(shots) / wanted), curve, details),
    }
