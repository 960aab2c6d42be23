"""A metric is a function: ``@screentest.metric`` makes one of it.

>>> import numpy as np
>>> @metric(unit="0 grey, 1 vivid", rate=2, long_side=128)
... def vividness(image):
...     return float(np.mean(image.max(axis=2) - image.min(axis=2))) / 255
>>> from screentest.core import build
>>> print(build("metric", "vividness:rate=1").spec.signature)
vividness|v:1|long_side:128|rate:1.0

That is all of it: the frames come from the one scan that all metrics share, each shot is a point
of the curve, and the worst part of the curve is the score. The function itself stays what it was.
The names of its positional parameters say what it looks at:

====================  ==============================================================================
``image``             each picture, ``rate`` a second; the value of a shot is their mean
``before, after``     each two consecutive pictures; two across a cut count for the new shot
``shot``              a list of ``frames`` pictures of a shot; called once for each shot
``frames``            a list of ``frames`` pictures of the whole video; called once
``video``             the path of the video; called once
``item``              the Item; called once
====================  ==============================================================================

Each may take ``prompt`` as well (the item's text; without one it is not applicable) and
``resources`` (models, shots and frames: see ``screentest.core.Resources``). Keyword-only
parameters with defaults are options of the metric, and part of its signature. Pictures are RGB
arrays, unless ``request`` asks for others, without the borders (letterbox, pillarbox) of the video.

It returns a number; for several ``outputs`` as many numbers, or a mapping by their names; or None
where there is nothing to measure. Called once for a video, it may also return a Score or Outcome.
A number that is not finite, or out of the declared range, is a failure and never a score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from screentest.core.errors import NoValue
from screentest.core.frames import Consumer, FrameRequest, Image, Size
from screentest.core.functions import (
    Asks,
    Setting,
    decorator,
    form_of,
    is_factory,
    register_function,
    summary_of,
)
from screentest.core.item import Item, Span
from screentest.core.metric import (
    Level,
    Measurement,
    MetricInfo,
    Outcomes,
    OutputInfo,
    Resources,
    Traits,
)
from screentest.core.outcome import Outcome, Reason, Score
from screentest.core.registry import register
from screentest.metrics.curve import (
    SAMPLED,
    FrameRows,
    RowsMeasurement,
    ShotOutput,
    by_shot,
    curve_outcome,
    in_range,
    mean_of,
)
from screentest.video.memory import as_file
from screentest.video.samples import evenly

F = TypeVar("F", bound=Callable[..., Any])

FORMS = (("image",), ("before", "after"), ("shot",), ("frames",), ("video",), ("item",))
BESIDES = ("prompt", "resources")
ANNOTATIONS = {
    "ndarray": "image",
    "NDArray": "image",
    "Image": "image",
    "Path": "video",
    "Item": "item",
}
_USUAL_FRAMES = {"shot": 8, "frames": 16}
"""Pictures that a function of a shot, or of a whole video, is handed where it says nothing."""
LONG_SIDE = 512
_LEVELS = {"image": Level.FRAME, "before": Level.FRAME, "shot": Level.CLIP}
_ABOUT = {"image": "picture", "before": "time", "shot": "time"}


@decorator
def metric(
    *,
    name: str = "",
    version: int = 1,
    summary: str = "",
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    higher_is_better: bool = True,
    descriptive: bool = False,
    label: str = "",
    outputs: Mapping[str, OutputInfo | ShotOutput] | None = None,
    traits: Mapping[str, Traits] | None = None,
    rate: float | None = SAMPLED,
    long_side: int | None = None,
    frames: int | None = None,
    request: FrameRequest | None = None,
    inside: bool | None = None,
    asks: Sequence[Asks] = (),
    roles: Sequence[str] = (),
    needs: Sequence[str] = (),
    shots: bool = False,
    level: Level | None = None,
    nothing: str = "no frame shows anything to measure",
    neutral: Sequence[str] = (),
) -> Callable[[F], F]:
    """Register a metric: a plain function, or a factory of a class.

    Args:
        name: The name of the metric; that of the function where empty.
        version: Raise it whenever the numbers change.
        summary: One line for lists; the first line of the docstring where empty.
        unit: The unit of the number, or what its ends mean.
        low: The least value; 0 where only ``high`` is given. Without either there is no range.
        high: The greatest value.
        higher_is_better: False where less is better.
        descriptive: A number, such as the amount of motion, that is shown and never called better.
        label: Its name in words, in tables and sentences; the name of the metric where empty.
        outputs: Several outputs by name, instead of one.
        traits: Facts for the comparison of models, by output.
        rate: Pictures a second; None passes every frame. An option of the metric, too, as are
            ``long_side`` and ``frames`` (``vividness:rate=1``).
        long_side: The size of the pictures.
        frames: How many pictures of a shot or of the video.
        request: The layout, filter and size that are not options.
        inside: False passes whole frames; else pictures are without the borders of the video.
        asks: The queries that it asks: their roles and templates are part of its signature.
        roles: Further model roles that it asks.
        needs: The fields of an item without which it is not applicable.
        shots: True where it looks at shots.
        level: What one point of its curve is about.
        nothing: The reason that is given where there is nothing to measure.
        neutral: Options of a factory that cannot change the numbers.
    """

    def keep(function: F) -> F:
        called = name or function.__name__
        words = summary_of(function, summary)
        if is_factory(function):
            more = {"neutral": tuple(neutral)} if neutral else {}
            register("metric", called, version=version, summary=words, **more)(function)
            return function
        form, besides = form_of("metric", function, FORMS, BESIDES, ANNOTATIONS)
        single = OutputInfo(
            words,
            (-math.inf if high is None else 0.0) if low is None else low,
            math.inf if high is None else high,
            higher_is_better,
            unit,
            descriptive=descriptive,
            label=label,
        )
        given = outputs or {called: single}
        whole = {
            key: output if isinstance(output, ShotOutput) else ShotOutput(output, mean_of(place))
            for place, (key, output) in enumerate(given.items())
        }
        within = form[0] not in ("video", "item") if inside is None else inside
        info = MetricInfo(
            {key: output.info for key, output in whole.items()},
            level or _LEVELS.get(form[0], Level.VIDEO),
            (*roles, *(query.role for query in asks)),
            (*needs, *(("text",) if "prompt" in besides else ())),
            shots=shots or form[0] in _LEVELS,
            about=_ABOUT.get(form[0], ""),
            traits={**{key: output.traits for key, output in whole.items()}, **(traits or {})},
            inside=within,
            prompts=tuple(query.template for query in asks),
            consecutive=form[0] == "before" and rate is None and (not request or not request.rate),
        )
        # Outputs that are all worked out of the rows of a shot say themselves which columns.
        columns = not all(isinstance(output, ShotOutput) for output in given.values())
        base = replace(request or FrameRequest(), inside=within)

        def make(call: Callable[..., Any], chosen: Mapping[str, Any]) -> FunctionMetric:
            wants = _wanted(base, chosen)
            return FunctionMetric(
                called, form, call, besides, info, whole, columns, wants, chosen, nothing
            )

        # The options that the form has a use for.
        settings: dict[str, Setting] = {}
        side = long_side
        if form[0] in ("image", "before") and rate is not None:
            settings["rate"] = Setting(float, float(rate))
        if form[0] in ("shot", "frames"):
            settings["frames"] = Setting(int, frames or _USUAL_FRAMES[form[0]])
            side = long_side or LONG_SIDE
        if side is not None and form[0] not in ("video", "item"):
            settings["long_side"] = Setting(int, side)
        register_function(
            "metric", function, make, settings, name=called, version=version, summary=words
        )
        return function

    return keep


def _wanted(base: FrameRequest, chosen: Mapping[str, Any]) -> FrameRequest:
    if chosen.get("frames", 1) < 1:
        raise ValueError(f"invalid frames {chosen['frames']}: must be at least 1")
    if "rate" in chosen:
        base = replace(base, rate=Fraction(str(chosen["rate"])))
    if "long_side" in chosen:
        base = replace(base, size=Size(long_side=chosen["long_side"]))
    return base


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """The metric behind a plain function."""

    name: str
    form: tuple[str, ...]
    call: Callable[..., Any]
    """The function with its options."""
    besides: tuple[str, ...]
    info: MetricInfo
    outputs: Mapping[str, ShotOutput]
    columns: bool
    """Whether it returns one number for each output."""
    wants: FrameRequest
    settings: Mapping[str, Any]
    nothing: str

    def start(self, item: Item, resources: Resources) -> Measurement:
        """Begin on one item, with what the function takes besides bound to it."""
        more = {"prompt": item.text, "resources": resources}
        call = partial(self.call, **{key: more[key] for key in self.besides})
        if self.form in _ONCE:
            return _Once(partial(_ONCE[self.form], self, call, item, resources))
        look = _pairwise(call) if self.form == ("before", "after") else call
        rows = FrameRows(self.wants, lambda image: self.row(look(image)))
        return RowsMeasurement(item, resources, (rows,), by_shot(self.outputs, self.nothing))

    def row(self, value: Any) -> list[float] | None:
        """Read what it returned as finite numbers, one for each output; None for nothing."""
        if value is None:
            return None
        names = list(self.outputs)
        if isinstance(value, Mapping):
            if value.keys() != self.outputs.keys():
                raise TypeError(f"it returned {sorted(value)}, and its outputs are {names}")
            value = [value[key] for key in names]
        elif isinstance(value, str) or not hasattr(value, "__len__"):
            value = [value]
        row = [in_range(self.name, number, _ANY) for number in value]
        if self.columns and len(row) != len(names):
            raise TypeError(f"it returned {len(row)} numbers for the outputs {', '.join(names)}")
        return row

    def no_value(self) -> NoValue:
        return NoValue(Reason.NOT_APPLICABLE, self.nothing)


_ANY = OutputInfo("any number", -math.inf, math.inf)


def _pairwise(call: Callable[..., Any]) -> Callable[[Image], Any]:
    """Call with each picture and the one before; not where its size is another."""
    last: list[Image] = []

    def look(image: Image) -> Any:
        before = last[0] if last else None
        last[:] = [image]
        if before is None or before.shape != image.shape:
            return None
        return call(before, image)

    return look


@dataclass(frozen=True, slots=True)
class _Once:
    """Nothing streams: all is done when the scan is over."""

    finish: Callable[[], Outcomes]
    consumers: tuple[Consumer, ...] = ()


def _pictures(metric: FunctionMetric, item: Item, resources: Resources, span: Span) -> list[Image]:
    moments = evenly(span, metric.settings["frames"])
    return [frame.image for frame in resources.frames(item.video, moments, metric.wants)]


def _of_shots(
    metric: FunctionMetric, call: Callable[..., Any], item: Item, resources: Resources
) -> Outcomes:
    shots = resources.shots(item.video)
    measured = []
    for shot in shots:
        row = metric.row(call(_pictures(metric, item, resources, shot.span)))
        if row is not None:
            measured.append((shot.span, row))
    if not measured:
        raise metric.no_value()
    return {
        name: curve_outcome(name, [(span, row[place]) for span, row in measured], info, len(shots))
        for place, (name, info) in enumerate(metric.info.outputs.items())
    }


def _of_frames(
    metric: FunctionMetric, call: Callable[..., Any], item: Item, resources: Resources
) -> Outcomes:
    pictures = _pictures(metric, item, resources, resources.info(item.video).span)
    return _whole(metric, call(pictures), {"frames": len(pictures)})


def _whole(metric: FunctionMetric, value: Any, details: Mapping[str, int]) -> Outcomes:
    """Numbers, scores or outcomes, for one output or by name."""
    if value is None:
        raise metric.no_value()
    names = list(metric.outputs)
    if not isinstance(value, Mapping):
        several = isinstance(value, Sequence) and not isinstance(value, str)
        listed = list(value) if several else [value]
        if len(listed) != len(names):
            raise TypeError(f"it returned {len(listed)} values for {', '.join(names)}")
        value = dict(zip(names, listed, strict=True))
    return {name: _outcome(metric, name, given, details) for name, given in value.items()}


def _outcome(
    metric: FunctionMetric, name: str, value: Any, details: Mapping[str, int]
) -> Outcome[Score]:
    if value is None:
        return Outcome(failure=metric.no_value().failure)
    if isinstance(value, Outcome):
        if value.failure is not None:
            return value
        value = value.unwrap()
    if not isinstance(value, Score):
        value = Score(in_range(name, value, _ANY), (), dict(details))
    try:
        in_range(name, value.value, metric.info.outputs.get(name, _ANY))
    except NoValue as error:
        return Outcome(failure=error.failure)
    return Outcome.of(value)


_ONCE: Mapping[tuple[str, ...], Callable[..., Outcomes]] = {
    ("shot",): _of_shots,
    ("frames",): _of_frames,
    ("video",): lambda own, call, item, _: _whole(own, call(as_file(item.video)), {}),
    ("item",): lambda own, call, item, _: _whole(own, call(item), {}),
}
