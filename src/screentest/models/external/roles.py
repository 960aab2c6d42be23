"""Each role, filled by a worker: what it is asked, and the checks of its answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest.core import NoValue, Reason
from screentest.models.external.client import ExternalWorker
from screentest.models.external.protocol import (
    detection,
    mask_over,
    no_rows,
    number,
    picture,
    plane,
    several,
    unfit,
    unit_rows,
    whole_number,
)
from screentest.models.pictures import brightened, check_mask, check_pair, check_picture
from screentest.models.remote import acts, facts
from screentest.models.roles import QUALITIES, Detection, FlowField, Mask, Vectors, role_entry

Arguments = Mapping[str, Any]


class External:
    """A role, answered by a worker process: what its protocol names is asked for."""

    def __init__(self, role: str, worker: ExternalWorker) -> None:
        self._role = role
        self._worker = worker

    @property
    def identity(self) -> Mapping[str, str]:
        return self._worker.hello.signed

    @property
    def native_rate(self) -> bool:
        """Tell whether it wants every frame of a piece; not unless its greeting says so."""
        return self._worker.hello.properties.get("native_rate") is True

    def close(self) -> None:
        """End the worker; it would be started again when asked."""
        self._worker.close()

    def __getattr__(self, name: str) -> Any:
        if name in facts(self._role):
            return self._property(name)
        if name not in acts(self._role):
            raise AttributeError(name)
        call = inspect.signature(getattr(role_entry(self._role).factory, name))
        checks = _METHODS.get((self._role, name))

        def ask(*positional: Any, **named: Any) -> Any:
            bound = call.bind(self, *positional, **named)
            if checks is not None:
                bound.apply_defaults()
            arguments = dict(list(bound.arguments.items())[1:])
            if checks is None:  # of a plugin's role: as it is
                return self._worker.ask(self._role, name, arguments)
            if checks.many and not len(arguments[checks.many]):
                return checks.nothing()
            arguments = _prepared(arguments)
            answer = self._worker.ask(self._role, name, arguments)
            return checks.read(answer, arguments, self)

        return ask

    def _property(self, name: str) -> Any:
        properties = self._worker.hello.properties
        if name not in properties:
            raise NoValue(
                Reason.UNPARSABLE,
                f"the worker's greeting lacks the property {name!r}",
                advice=f'Add it: "properties": {{"{name}": …}}.',
            )
        read = _PROPERTIES.get((self._role, name))
        return properties[name] if read is None else read(properties[name])


def _prepared(arguments: Arguments) -> dict[str, Any]:
    """Return the arguments as the worker gets them, each checked by its name."""
    ready: dict[str, Any] = {}
    gain = arguments.get("gain", 1.0)
    for name, value in arguments.items():
        if name == "gain":
            continue  # applied here: a worker sees pictures
        if name in ("images", "frames"):
            value = [check_picture(image) for image in value]
        elif name == "image":
            value = check_picture(value)
        elif name == "mask" and value is not None:
            value = check_mask(value, arguments["image"])
        elif name == "pairs":
            value = [tuple(brightened(image, gain) for image in pair) for pair in value]
            for pair in value:
                check_pair(*pair)
        elif name == "boxes":
            value = [list(box) for box in value]
        elif name in ("texts", "phrases"):
            value = list(value)
        ready[name] = value
    return ready


# ---- what a role promises of its answers


def _rows(name: str) -> Callable[[Any, Arguments, External], Vectors]:
    return lambda answer, arguments, _: unit_rows(answer, len(arguments[name]))


def _fields(answer: Any, arguments: Arguments, _: External) -> list[FlowField]:
    pairs = arguments["pairs"]
    shapes = [(*first.shape[:2], 2) for first, _ in pairs]
    return [plane(*each) for each in zip(several(answer, len(pairs)), shapes, strict=True)]


def _midpoints(answer: Any, arguments: Arguments, _: External) -> list[Any]:
    pairs = arguments["pairs"]
    images = several(answer, len(pairs))
    return [picture(image, first) for image, (first, _) in zip(images, pairs, strict=True)]


def _scores(answer: Any, arguments: Arguments, _: External) -> NDArray[np.float32]:
    count = len(arguments["images"])
    return plane(np.array([number(score) for score in several(answer, count)]), (count,))


def _dimensions(answer: Any, _: Arguments, __: External) -> dict[str, float]:
    if not isinstance(answer, dict) or set(answer) != set(QUALITIES):
        raise unfit(answer, f"an object with {', '.join(QUALITIES)}")
    return {name: number(answer[name]) for name in QUALITIES}


def _mattes(answer: Any, arguments: Arguments, _: External) -> list[Mask]:
    images = arguments["images"]
    return [mask_over(*each) for each in zip(several(answer, len(images)), images, strict=True)]


def _masks(answer: Any, arguments: Arguments, _: External) -> list[Mask]:
    masks = several(answer, len(arguments["boxes"]))
    return [mask_over(mask, arguments["image"]) for mask in masks]


def _detections(answer: Any, arguments: Arguments, _: External) -> list[Detection]:
    if not isinstance(answer, list):
        raise unfit(answer, "a list of detections")
    detections = [detection(each, arguments["phrases"]) for each in answer]
    return sorted(detections, key=lambda each: -each.score)


def _inpainted(answer: Any, arguments: Arguments, _: External) -> Any:
    # Outside the mask the picture is untouched, whatever the worker says.
    image = arguments["image"]
    return np.where((arguments["mask"] >= 0.5)[..., None], picture(answer, image), image)


def _probabilities(answer: Any, _: Arguments, external: External) -> NDArray[np.float32]:
    names = several(answer, len(external.names))
    return np.array([number(share) for share in names], np.float32)


def _identities(answer: Any, arguments: Arguments, external: External) -> list[Vectors]:
    pictures = several(answer, len(arguments["images"]))
    return [_rows("faces")(rows, {"faces": rows}, external) for rows in pictures]


def _no_frames() -> Any:
    raise ValueError("no frames to score")


@dataclass(frozen=True, slots=True)
class _Method:
    read: Callable[[Any, Arguments, External], Any]
    """Check an answer and turn it into what the role promises."""
    many: str = ""
    """The argument that may be empty: then nobody is asked."""
    nothing: Callable[[], Any] = list


_METHODS: Mapping[tuple[str, str], _Method] = {
    ("text_embedding", "embed"): _Method(_rows("texts"), "texts", no_rows),
    ("image_text", "count_tokens"): _Method(lambda answer, *_: whole_number(answer)),
    ("image_text", "embed_images"): _Method(_rows("images"), "images", no_rows),
    ("image_text", "embed_texts"): _Method(_rows("texts"), "texts", no_rows),
    ("image_features", "features"): _Method(_rows("images"), "images", no_rows),
    ("flow", "flow"): _Method(_fields, "pairs"),
    ("interpolation", "midpoint"): _Method(_midpoints, "pairs"),
    ("aesthetic", "score"): _Method(_scores, "images", lambda: np.zeros(0, np.float32)),
    ("technical", "score"): _Method(
        lambda answer, *_: number(answer, low=0.0, high=1.0), "frames", _no_frames
    ),
    ("videoscore", "score"): _Method(_dimensions),
    ("matting", "matte"): _Method(_mattes, "images"),
    ("detection", "detect"): _Method(_detections),
    ("segmentation", "segment"): _Method(_masks, "boxes"),
    ("inpainting", "inpaint"): _Method(_inpainted),
    ("image_edit", "recolour"): _Method(
        lambda answer, arguments, _: picture(answer, arguments["image"])
    ),
    ("labels", "probabilities"): _Method(_probabilities),
    ("faces", "identities"): _Method(_identities, "images"),
}
_PROPERTIES: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("image_text", "max_tokens"): whole_number,
    ("videoscore", "max_frames"): whole_number,
    ("aesthetic", "scale"): lambda ends: tuple(number(end) for end in several(ends, 2)),
    ("labels", "names"): lambda names: [str(name) for name in names],
}
