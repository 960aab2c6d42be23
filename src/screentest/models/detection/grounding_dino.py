"""Things that phrases name, found by Grounding DINO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from screentest.core import register
from screentest.models.optional import optional
from screentest.models.pictures import check_picture, limit_long_side
from screentest.models.pretrained import EXTRA, NEUTRAL, Origin, Place, ready
from screentest.models.roles import Detection
from screentest.models.texts import readable

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register(
    "detection",
    "grounding_dino",
    version=1,
    summary="Grounding DINO: anything a phrase names",
    neutral=NEUTRAL,
    ready=ready,
)
def grounding_dino(
    *,
    model: str = "IDEA-Research/grounding-dino-base",
    revision: str = "",
    box_threshold: float = 0.4,
    text_threshold: float = 0.3,
    long_side: int = 512,
    device: str = "auto",
) -> GroundingDino:
    """Thresholds and size as in SLVMEval."""
    origin, place = Origin(model, revision), Place.choose(device)
    return GroundingDino(origin, place, box_threshold, text_threshold, long_side)


class GroundingDino:
    """Fills the role detection."""

    def __init__(
        self,
        origin: Origin,
        place: Place,
        box_threshold: float,
        text_threshold: float,
        long_side: int,
    ) -> None:
        self._torch = optional("torch", EXTRA)
        transformers = optional("transformers", EXTRA)
        self._place = place
        self._box_threshold, self._text_threshold = box_threshold, text_threshold
        self._long_side = long_side
        # Its attention overflows in half precision.
        single = Place(place.device, self._torch.float32)
        self._model: Any = origin.load(
            transformers.AutoModelForZeroShotObjectDetection.from_pretrained, dtype=single.dtype
        )
        self._model.to(place.device).eval()
        self._processor: Any = origin.load(
            transformers.AutoProcessor.from_pretrained, weights=False
        )
        self.identity: Mapping[str, str] = origin.identity(self._model, single)

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        """What was found, best first; each phrase is looked for on its own."""
        check_picture(image)
        small = limit_long_side(image, self._long_side)
        scale_x, scale_y = image.shape[1] / small.shape[1], image.shape[0] / small.shape[0]
        found: list[Detection] = []
        # One phrase at a time: asked together, boxes come back under mixed names.
        for phrase in dict.fromkeys(phrases):
            for score, (left, top, right, bottom) in self._boxes(small, phrase):
                box = (left * scale_x, top * scale_y, right * scale_x, bottom * scale_y)
                found.append(Detection(phrase, score, _inside(box, image)))
        return sorted(found, key=lambda one: -one.score)

    def _boxes(self, image: Image, phrase: str) -> list[tuple[float, list[float]]]:
        # The model was trained on lower-case phrases that end in a full stop.
        text = readable(phrase).lower().strip().rstrip(".") + "."
        inputs = self._processor(
            images=image, text=text, return_tensors="pt", input_data_format="channels_last"
        ).to(self._place.device)
        with self._torch.inference_mode():
            outputs = self._model(**inputs)
        result = self._processor.post_process_grounded_object_detection(
            outputs,
            inputs["input_ids"],
            threshold=self._box_threshold,
            text_threshold=self._text_threshold,
            target_sizes=[image.shape[:2]],
        )[0]
        return list(zip(result["scores"].tolist(), result["boxes"].tolist(), strict=True))


def _inside(
    box: tuple[float, float, float, float], image: Image
) -> tuple[float, float, float, float]:
    height, width = image.shape[:2]
    left, top, right, bottom = box
    return (max(0.0, left), max(0.0, top), min(float(width), right), min(float(height), bottom))
