"""Recolouring by Qwen-Image-Edit (the 2509 release and later), told in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import register
from screentest.models.optional import optional
from screentest.models.pictures import check_mask, check_picture, to_pillow
from screentest.models.pretrained import EXTRA, NEUTRAL, Origin, Place, ready

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Mask

INSTRUCTION = "Make the {thing} {colour} and leave everything else exactly as it is."


@register(
    "image_edit",
    "qwen",
    version=1,
    summary="Qwen-Image-Edit-2509 by diffusers",
    neutral=NEUTRAL,
    ready=ready,
)
def qwen(
    *,
    model: str = "Qwen/Qwen-Image-Edit-2509",
    revision: str = "",
    steps: int = 40,
    guidance: float = 4.0,
    pixels: int = 1024 * 1024,
    instruction: str = INSTRUCTION,
    seed: int = 0,
    device: str = "auto",
) -> QwenImageEdit:
    """``instruction`` is what the model is told, with {thing} and {colour} in it.

    ``pixels`` is how many it paints; the result is brought back to the picture's own size.
    """
    origin, place = Origin(model, revision), Place.choose(device)
    return QwenImageEdit(origin, place, steps, guidance, pixels, instruction, seed)


class QwenImageEdit:
    """Fills the role image_edit."""

    def __init__(
        self,
        origin: Origin,
        place: Place,
        steps: int,
        guidance: float,
        pixels: int,
        instruction: str,
        seed: int,
    ) -> None:
        self._torch = optional("torch", EXTRA)
        diffusers = optional("diffusers", EXTRA)
        self._steps, self._guidance, self._pixels = steps, guidance, pixels
        self._instruction, self._seed = instruction, seed
        self._pipeline: Any = origin.load(
            diffusers.QwenImageEditPlusPipeline.from_pretrained, dtype=place.dtype
        ).to(place.device)
        self._pipeline.set_progress_bar_config(disable=True)
        self.identity: Mapping[str, str] = origin.identity(self._pipeline, place) | {
            "diffusers": str(diffusers.__version__)
        }

    def recolour(self, image: Image, mask: Mask | None, thing: str, colour: str) -> Image:
        """The picture with ``thing`` in ``colour``; outside a given mask nothing changes."""
        import cv2

        width, height = self._painted_size(*image.shape[1::-1])
        result = self._pipeline(
            image=[to_pillow(check_picture(image))],
            # Not str.format: a caption may hold braces of its own.
            prompt=self._instruction.replace("{colour}", colour).replace("{thing}", thing),
            negative_prompt=" ",
            width=width,
            height=height,
            num_inference_steps=self._steps,
            true_cfg_scale=self._guidance,
            generator=self._torch.Generator("cpu").manual_seed(self._seed),
            output_type="np",
        ).images[0]
        pixels = np.rint(np.clip(result, 0, 1) * 255).astype(np.uint8)
        full = cv2.resize(pixels, image.shape[1::-1], interpolation=cv2.INTER_CUBIC)
        if mask is None:
            return np.asarray(full, np.uint8)
        inside = check_mask(mask, image)[..., None] > 0.5
        return np.where(inside, full, image).astype(np.uint8)

    def _painted_size(self, width: int, height: int) -> tuple[int, int]:
        """The picture's shape at about the wanted number of pixels, on the model's grid of 32."""
        scale = math.sqrt(self._pixels / (width * height))
        return max(32, round(width * scale / 32) * 32), max(32, round(height * scale / 32) * 32)
