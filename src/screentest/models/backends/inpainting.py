"""Backends of the role ``inpainting``: Telea's method, MI-GAN, and Stable Diffusion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from screentest._util.optional import optional
from screentest.core import Image, NoValue, Reason, register
from screentest.models import weights
from screentest.models.networks.pretrained import (
    DIFFUSERS,
    NEUTRAL,
    ModelDevice,
    Origin,
    check_cached,
    load_pipeline,
)
from screentest.models.networks.runtimes import ONNX, batches, onnx_session, versions
from screentest.models.pictures import (
    OpenCvBackend,
    check_mask,
    check_picture,
    limit_long_side,
    opencv_identity,
    to_pillow,
)
from screentest.models.roles import Mask


@register("inpainting", "telea", summary="Telea's fast marching by OpenCV; needs no weights")
class Telea(OpenCvBackend):
    """Filling holes without any weights: Telea's fast marching, from the rim inwards.

    The classical stand-in beneath the networks. It continues colours, not textures: large holes
    become smooth patches. ``radius`` is how far around each pixel it looks, in pixels.

    The prompt is not looked at.
    """

    def __init__(self, *, radius: float = 5.0) -> None:
        self._radius = radius

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        hole = hole_of(mask, image)
        if not hole.any():
            return image.copy()
        return filled_into(image, hole, continued(image, hole, self._radius))


def hole_of(mask: Mask, image: Image) -> NDArray[np.bool_]:
    """Return the pixels to make new: those masked by a half and more.

    Raises NoValue where nothing of the picture would stay.
    """
    hole = check_mask(mask, image) >= 0.5
    if hole.all():
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "the mask covers the whole picture, so that there is nothing to continue",
            advice="Mask a part of the picture.",
        )
    return np.asarray(hole)


def continued(image: Image, hole: NDArray[np.bool_], radius: float) -> Image:
    """Return the picture with the hole filled by Telea's method."""
    import cv2

    filled = cv2.inpaint(image, hole.astype(np.uint8), radius, cv2.INPAINT_TELEA)
    return np.asarray(filled, np.uint8)


def filled_into(image: Image, hole: NDArray[np.bool_], filling: Image) -> Image:
    """Return the picture, bit by bit, with only the hole taken from ``filling``."""
    return np.where(hole[..., None], filling, image)


WEIGHTS = "migan"
RADIUS = 5.0
_KEPT = 255


@register(
    "inpainting",
    "migan",
    summary="MI-GAN: continues textures, knows no prompt",
    packages=(ONNX,),
    weights=(WEIGHTS,),
    neutral=("threads",),
)
class MiGan:
    """Filling holes by MI-GAN, a small network run by onnxruntime.

    The hole is filled by Telea's method first: the network looks at what lies under the mask near
    its rim, and leaves a dark rim where that is black. What it returns outside the hole is not
    used: there the picture stays as it was, bit by bit.

    The prompt is not looked at.
    """

    def __init__(self, threads: int = 0) -> None:
        self._session = onnx_session(weights.path(WEIGHTS), wanted_threads=threads)
        # OpenCV fills first.
        self.identity = {"weights": weights.digest(WEIGHTS), **versions(ONNX), **opencv_identity()}

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        hole = hole_of(mask, image)
        if not hole.any():
            return image.copy()
        start = continued(image, hole, RADIUS)
        kept = np.where(hole, 0, _KEPT).astype(np.uint8)
        (output,) = self._session.run(
            None,
            {
                "image": np.ascontiguousarray(start.transpose(2, 0, 1)[None]),
                "mask": kept[None, None],
            },
        )
        return filled_into(image, hole, np.asarray(output[0].transpose(1, 2, 0), np.uint8))


@register(
    "inpainting",
    "stable_diffusion",
    summary="Stable Diffusion inpainting by diffusers",
    neutral=NEUTRAL,
    packages=DIFFUSERS,
    lacking=check_cached,
)
class StableDiffusionInpainting:
    """Filling a hole by Stable Diffusion inpainting.

    Steps, guidance and size are those of SLVMEval; ``batch`` pictures are painted in one call.
    """

    def __init__(
        self,
        *,
        model: str = "stable-diffusion-v1-5/stable-diffusion-inpainting",
        revision: str = "",
        steps: int = 50,
        guidance: float = 7.5,
        long_side: int = 512,
        seed: int = 0,
        batch: int = 8,
        device: str = "auto",
    ) -> None:
        self._torch = optional("torch")
        self._steps, self._guidance = steps, guidance
        self._long_side, self._seed, self._batch = long_side, seed, batch
        self._pipeline, self.identity = load_pipeline(
            "StableDiffusionInpaintPipeline", Origin(model, revision), ModelDevice.choose(device)
        )

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        return self.inpaint_all([image], [mask], prompt)[0]

    def inpaint_all(
        self, images: Sequence[Image], masks: Sequence[Mask], prompt: str = ""
    ) -> list[Image]:
        """Pictures of one size, several in one call; each as if it were alone."""
        holes = [
            check_mask(mask, check_picture(image)) > 0.5
            for image, mask in zip(images, masks, strict=True)
        ]
        results = [image.copy() for image in images]
        wanted = [place for place, hole in enumerate(holes) if hole.any()]
        for batch in batches(wanted, self._batch):
            painted = self._paint([images[n] for n in batch], [holes[n] for n in batch], prompt)
            for place, full in zip(batch, painted, strict=True):
                results[place] = filled_into(images[place], holes[place], full)
        return results

    def _paint(
        self, images: Sequence[Image], holes: Sequence[NDArray[np.bool_]], prompt: str
    ) -> list[Image]:
        import cv2

        small = limit_long_side(images[0], self._long_side)
        # The pipeline works on a grid of eight pixels.
        height, width = (max(8, side // 8 * 8) for side in small.shape[:2])
        painted = self._pipeline(
            prompt=[prompt] * len(images),
            image=[
                to_pillow(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA))
                for image in images
            ],
            mask_image=[
                to_pillow(cv2.resize(hole.astype(np.uint8) * 255, (width, height)))
                for hole in holes
            ],
            height=height,
            width=width,
            num_inference_steps=self._steps,
            guidance_scale=self._guidance,
            # One for each, so that no picture depends on those beside it.
            generator=[self._torch.Generator("cpu").manual_seed(self._seed) for _ in images],
            output_type="np",
        ).images
        pixels = np.rint(np.clip(painted, 0, 1) * 255).astype(np.uint8)
        sizes = [image.shape[1::-1] for image in images]
        return [
            np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_CUBIC), np.uint8)
            for image, size in zip(pixels, sizes, strict=True)
        ]
