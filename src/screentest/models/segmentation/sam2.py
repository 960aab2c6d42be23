"""The shape of what lies in a box, by SAM 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import register
from screentest.models.optional import optional
from screentest.models.pictures import check_picture
from screentest.models.pretrained import EXTRA, NEUTRAL, Origin, Place, ready

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Mask


@register(
    "segmentation",
    "sam2",
    version=1,
    summary="SAM 2, prompted by boxes",
    neutral=NEUTRAL,
    ready=ready,
)
def sam2(
    *, model: str = "facebook/sam2-hiera-large", revision: str = "", device: str = "auto"
) -> Sam2:
    """``model`` is a folder or hub id."""
    return Sam2(Origin(model, revision), Place.choose(device))


class Sam2:
    """Fills the role segmentation."""

    def __init__(self, origin: Origin, place: Place) -> None:
        self._torch = optional("torch", EXTRA)
        transformers = optional("transformers", EXTRA)
        self._place = place
        self._model: Any = origin.load(transformers.Sam2Model.from_pretrained, dtype=place.dtype)
        self._model.to(place.device).eval()
        self._processor: Any = origin.load(
            transformers.Sam2Processor.from_pretrained, weights=False
        )
        self.identity: Mapping[str, str] = origin.identity(self._model, place)

    def segment(
        self, image: Image, boxes: Sequence[tuple[float, float, float, float]]
    ) -> list[Mask]:
        """One mask per box, 0 or 1."""
        check_picture(image)
        if not boxes:
            return []
        inputs = self._processor(
            images=image, input_boxes=[[list(box) for box in boxes]], return_tensors="pt"
        ).to(self._place.device)
        sizes = inputs.pop("original_sizes")
        inputs["pixel_values"] = inputs["pixel_values"].to(self._place.dtype)
        with self._torch.inference_mode():
            outputs = self._model(**inputs, multimask_output=False)
        masks = self._processor.post_process_masks(outputs.pred_masks.float().cpu(), sizes.cpu())[0]
        return [np.asarray(mask[0].numpy(), np.float32) for mask in masks]
