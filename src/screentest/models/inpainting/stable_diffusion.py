"""Filling a hole by Stable Diffusion inpainting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import register
from screentest.models.optional import optional
from screentest.models.pictures import check_mask, check_picture, limit_long_side, to_pillow
from screentest.models.pretrained import EXTRA, NEUTRAL, Origin, Place, ready

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Mask


@register(
    "inpainting",
    "stable_diffusion",
    version=1,
    summary="Stable Diffusion inpainting by diffusers",
    neutral=NEUTRAL,
    ready=ready,
)
def stable_diffusion(
    *,
    model: str = "stable-diffusion-v1-5/stable-diffusion-inpainting",
    revision: str = "",
    steps: int = 50,
    guidance: float = 7.5,
    long_side: int = 512,
    seed: int = 0,
    device: str = "auto",
) -> StableDiffusionInpainting:
    """Steps, guidance and size as in SLVMEval."""
    origin, place = Origin(model, revision), Place.choose(device)
    return StableDiffusionInpainting(origin, place, steps, guidance, long_side, seed)


class StableDiffusionInpainting:
    """Fills the role inpainting."""

    def __init__(
        self, origin: Origin, place: Place, steps: int, guidance: float, long_side: int, seed: int
    ) -> None:
        self._torch = optional("torch", EXTRA)
        diffusers = optional("diffusers", EXTRA)
        self._place = place
        self._steps, self._guidance = steps, guidance
        self._long_side, self._seed = long_side, seed
        self._pipeline: Any = origin.load(
            diffusers.StableDiffusionInpaintPipeline.from_pretrained, dtype=place.dtype
        ).to(place.device)
        self._pipeline.set_progress_bar_config(disable=True)
        self.identity: Mapping[str, str] = origin.identity(self._pipeline, place) | {
            "diffusers": str(diffusers.__version__)
        }

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        """The picture with the masked part made new; the rest is untouched."""
        import cv2

        hole = check_mask(mask, check_picture(image)) > 0.5
        if not hole.any():
            return image.copy()
        small = limit_long_side(image, self._long_side)
        # The pipeline works on a grid of eight pixels.
        height, width = (max(8, side // 8 * 8) for side in small.shape[:2])
        picture = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
        small_hole = cv2.resize(hole.astype(np.uint8) * 255, (width, height))
        generator = self._torch.Generator("cpu").manual_seed(self._seed)
        result = self._pipeline(
            prompt=prompt,
            image=to_pillow(picture),
            mask_image=to_pillow(small_hole),
            height=height,
            width=width,
            num_inference_steps=self._steps,
            guidance_scale=self._guidance,
            generator=generator,
            output_type="np",
        ).images[0]
        pixels = np.rint(np.clip(result, 0, 1) * 255).astype(np.uint8)
        full = cv2.resize(pixels, image.shape[1::-1], interpolation=cv2.INTER_CUBIC)
        return np.where(hole[..., None], full, image).astype(np.uint8)
