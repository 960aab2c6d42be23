"""Shot count: how many shots a film has, against the clips its script asks for."""

from __future__ import annotations

from screentest.core import (
    Item,
    Level,
    MetricInfo,
    NoValue,
    Outcome,
    Outcomes,
    OutputInfo,
    Point,
    Reason,
    Resources,
    Score,
    register,
)


@register("metric", "shot_count", version=1, summary="number of shots against the script's")
def shot_count() -> ShotCount:
    """Needs nothing but the shots."""
    return ShotCount()


class ShotCount:
    """Counts."""

    info = MetricInfo(
        {
            "shot_count": OutputInfo("the smaller number divided by the larger one"),
            "shots_had": OutputInfo("shots per clip of the script, at most one"),
        },
        Level.VIDEO,
        needs=("script",),
        shots=True,
    )

    def start(self, item: Item, resources: Resources) -> _Counting:
        """Begin on one video."""
        return _Counting(item, resources)


class _Counting:
    consumers = ()

    def __init__(self, item: Item, resources: Resources) -> None:
        self._item, self._resources = item, resources

    def finish(self) -> Outcomes:
        """Both ratios, with the shots as the curve."""
        assert self._item.script is not None
        wanted = len([clip for clip in self._item.script.clips if clip.caption.strip()])
        if not wanted:
            raise NoValue(Reason.NOT_APPLICABLE, "no clip of the script has a caption")
        shots = self._resources.shots(self._item.video)
        curve = tuple(Point(shot.span, 1.0, shot.transition.value) for shot in shots)
        details = {"shots": len(shots), "clips": wanted}
        alike = min(wanted, len(shots)) / max(wanted, len(shots))
        return {
            "shot_count": Outcome.of(Score(alike, curve, details)),
            "shots_had": Outcome.of(Score(min(1.0, len(shots) / wanted), curve, details)),
        }
