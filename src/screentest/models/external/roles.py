"""Each role, filled by a worker: what it is asked, and what becomes of its answers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from screentest.core import Image, NoValue, Reason
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
from screentest.models.roles import Detection, role_entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.models.roles import FlowField, Mask, Vectors


Box: TypeAlias = tuple[float, float, float, float]


class External:
    """What all roles share: a worker, and who it says it is."""

    role = ""

    def __init__(self, worker: ExternalWorker) -> None:
        self._worker = worker

    @property
    def identity(self) -> Mapping[str, str]:
        return self._worker.hello.signed

    def close(self) -> None:
        """End the worker; it would be started again when asked."""
        self._worker.close()

    def _ask(self, method: str, **arguments: Any) -> Any:
        return self._worker.ask(self.role, method, arguments)

    def _property(self, name: str) -> Any:
        properties = self._worker.hello.properties
        if name not in properties:
            raise NoValue(
                Reason.UNPARSABLE,
                f"the worker's greeting lacks the property {name!r}",
                advice=f'Add it: "properties": {{"{name}": …}}.',
            )
        return properties[name]


class ExternalTextEmbedding(External):
    """The role ``text_embedding``, answered by a worker process."""

    role = "text_embedding"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit_rows(self._ask("embed", texts=list(texts)), len(texts)) if texts else no_rows()


class ExternalImageText(External):
    """The role ``image_text``, answered by a worker process."""

    role = "image_text"

    @property
    def max_tokens(self) -> int:
        return whole_number(self._property("max_tokens"))

    def count_tokens(self, text: str) -> int:
        return whole_number(self._ask("count_tokens", text=text))

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        if not images:
            return no_rows()
        return unit_rows(self._ask("embed_images", images=_checked(images)), len(images))

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        if not texts:
            return no_rows()
        found = self._ask("embed_texts", texts=list(texts), truncate=truncate)
        return unit_rows(found, len(texts))


class ExternalImageFeatures(External):
    """The role ``image_features``, answered by a worker process."""

    role = "image_features"

    def features(self, images: Sequence[Image]) -> Vectors:
        if not images:
            return no_rows()
        return unit_rows(self._ask("features", images=_checked(images)), len(images))


class _ExternalPairs(External):
    def _ask_pairs(self, method: str, pairs: Sequence[tuple[Image, Image]]) -> list[Any]:
        for first, second in pairs:
            check_pair(first, second)
        return several(self._ask(method, pairs=list(pairs)), len(pairs)) if pairs else []


class ExternalFlow(_ExternalPairs):
    """The role ``flow``, answered by a worker process."""

    role = "flow"

    def flow(self, pairs: Sequence[tuple[Image, Image]], *, gain: float = 1.0) -> list[FlowField]:
        """Per pair height × width × 2: where each pixel of the first went, in pixels (x, y)."""
        shown = [(brightened(one, gain), brightened(two, gain)) for one, two in pairs]
        found = self._ask_pairs("flow", shown)
        return [
            plane(field, (*pair[0].shape[:2], 2)) for field, pair in zip(found, pairs, strict=True)
        ]


class ExternalInterpolation(_ExternalPairs):
    """The role ``interpolation``, answered by a worker process."""

    role = "interpolation"

    def midpoint(self, pairs: Sequence[tuple[Image, Image]]) -> list[Image]:
        found = self._ask_pairs("midpoint", pairs)
        return [picture(one, pair[0]) for one, pair in zip(found, pairs, strict=True)]


class ExternalAesthetic(External):
    """The role ``aesthetic``, answered by a worker process."""

    role = "aesthetic"

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and highest value it gives in practice."""
        low, high = (number(end) for end in several(self._property("scale"), 2))
        return low, high

    def score(self, images: Sequence[Image]) -> NDArray[np.float32]:
        if not images:
            return np.zeros(0, np.float32)
        found = several(self._ask("score", images=_checked(images)), len(images))
        return plane(np.array([number(one) for one in found]), (len(images),))


class ExternalTechnical(External):
    """The role ``technical``, answered by a worker process."""

    role = "technical"

    @property
    def native_rate(self) -> bool:
        """Whether it wants every frame of a piece; not unless its greeting says so."""
        return self._worker.hello.properties.get("native_rate") is True

    def score(self, frames: Sequence[Image]) -> float:
        """One number for the frames of one piece, in order."""
        if not frames:
            raise ValueError("no frames to score")
        return number(self._ask("score", frames=_checked(frames)), low=0.0, high=1.0)


class ExternalVideoScore(External):
    """The role ``videoscore``, answered by a worker process."""

    role = "videoscore"
    dimensions = (
        *("visual_quality", "temporal_consistency", "dynamic_degree"),
        *("text_alignment", "factual_consistency"),
    )

    @property
    def max_frames(self) -> int:
        """How many frames this version was trained on."""
        return whole_number(self._property("max_frames"))

    def score(self, frames: Sequence[Image], prompt: str) -> Mapping[str, float]:
        """The five dimensions by name."""
        found = self._ask("score", frames=_checked(frames), prompt=prompt)
        if not isinstance(found, dict) or set(found) != set(self.dimensions):
            raise unfit(found, f"an object with {', '.join(self.dimensions)}")
        return {name: number(found[name]) for name in self.dimensions}


class ExternalMatting(External):
    """The role ``matting``, answered by a worker process."""

    role = "matting"

    def matte(self, images: Sequence[Image]) -> list[Mask]:
        """Per image height × width in 0–1: 1 is foreground."""
        if not images:
            return []
        found = several(self._ask("matte", images=_checked(images)), len(images))
        return [mask_over(one, image) for one, image in zip(found, images, strict=True)]


class ExternalDetection(External):
    """The role ``detection``, answered by a worker process."""

    role = "detection"

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        """What was found, best first; the label is the phrase it answers."""
        found = self._ask("detect", image=check_picture(image), phrases=list(phrases))
        if not isinstance(found, list):
            raise unfit(found, "a list of detections")
        detections = [detection(one, phrases) for one in found]
        return sorted(detections, key=lambda one: -one.score)


class ExternalSegmentation(External):
    """The role ``segmentation``, answered by a worker process."""

    role = "segmentation"

    def segment(self, image: Image, boxes: Sequence[Box]) -> list[Mask]:
        if not boxes:
            return []
        found = self._ask("segment", image=check_picture(image), boxes=[list(box) for box in boxes])
        return [mask_over(one, image) for one in several(found, len(boxes))]


class ExternalInpainting(External):
    """The role ``inpainting``, answered by a worker process."""

    role = "inpainting"

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        """The picture with the masked part made new; the rest is untouched, whatever it says."""
        soft = check_mask(mask, image)
        found = picture(self._ask("inpaint", image=image, mask=soft, prompt=prompt), image)
        return np.where((soft >= 0.5)[..., None], found, image)


class ExternalImageEdit(External):
    """The role ``image_edit``, answered by a worker process."""

    role = "image_edit"

    def recolour(self, image: Image, mask: Mask | None, thing: str, colour: str) -> Image:
        """The picture with ``thing`` in ``colour``."""
        soft = None if mask is None else check_mask(mask, image)
        found = self._ask(
            "recolour", image=check_picture(image), mask=soft, thing=thing, colour=colour
        )
        return picture(found, image)


def _checked(images: Sequence[Image]) -> list[Image]:
    return [check_picture(image) for image in images]


class ExternalLabels(External):
    """The role ``labels``, answered by a worker process."""

    role = "labels"

    @property
    def names(self) -> list[str]:
        return [str(one) for one in self._property("names")]

    def probabilities(self, image: Image) -> NDArray[np.float32]:
        found = self._ask("probabilities", image=check_picture(image))
        return np.array([number(one) for one in several(found, len(self.names))], np.float32)


class ExternalAny(External):
    """Fills a role of a plugin: what its protocol names is asked for as it is."""

    def __init__(self, role: str, worker: ExternalWorker) -> None:
        super().__init__(worker)
        self.role = role

    def __getattr__(self, name: str) -> Any:
        if name in facts(self.role):
            return self._property(name)
        if name not in acts(self.role):
            raise AttributeError(name)
        call = inspect.signature(getattr(role_entry(self.role).factory, name))

        def ask(*arguments: Any, **named: Any) -> Any:
            given = call.bind(self, *arguments, **named).arguments
            return self._ask(name, **dict(list(given.items())[1:]))

        return ask


_KINDS: dict[str, type[External]] = {
    kind.role: kind
    for kind in (
        *(ExternalTextEmbedding, ExternalImageText, ExternalImageFeatures, ExternalFlow),
        *(ExternalInterpolation, ExternalAesthetic, ExternalTechnical, ExternalVideoScore),
        *(ExternalMatting, ExternalDetection, ExternalSegmentation, ExternalInpainting),
        *(ExternalImageEdit, ExternalLabels),
    )
}
"""Whose answers are checked for what the role promises."""


def filled_by(role: str, worker: ExternalWorker) -> External:
    """The backend of a role that a worker fills."""
    kind = _KINDS.get(role)
    return ExternalAny(role, worker) if kind is None else kind(worker)
