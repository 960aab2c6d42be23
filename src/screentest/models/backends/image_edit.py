"""Backends of the role ``image_edit``: a new hue within a mask, and Qwen-Image-Edit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from screentest._util.optional import optional
from screentest.core import Image, NoValue, Reason, build, register
from screentest.models.networks.pretrained import (
    DIFFUSERS,
    NEUTRAL,
    ModelDevice,
    Origin,
    check_cached,
    load_pipeline,
)
from screentest.models.pictures import (
    BASIC_COLOURS,
    Plane,
    basic_colour,
    check_mask,
    check_picture,
    focal_colour,
    from_oklab,
    name_colour,
    name_pixels,
    opencv_identity,
    to_bytes,
    to_oklab,
    to_pillow,
)
from screentest.models.roles import Mask

WithoutMask = Literal["refuse", "salient"]

DARKEST_MEAN = 0.35
"""Shading is taken relative to at least this lightness: in black things it is mostly noise."""
DEEPEST, BRIGHTEST = 0.35, 1.6
"""How far shading may stretch a colour."""
FLATTER, ROUNDS = 0.75, 16
"""Shading that hides the colour is made weaker by this factor, this often at most."""
LOOKED_AT = 20_000
"""About as many pixels are looked at to see whether most have the colour."""


@register(
    "image_edit",
    "masked_hue",
    summary="another hue, chroma and lightness under the mask, same shading; needs no weights",
    neutral=("matting",),  # where it has a say, it is in the identity
)
class MaskedHue:
    """Recolouring without any weights: the masked part gets another colour and keeps its shading.

    It knows the eleven basic colours.

    Light that falls on a surface multiplies its colour, and in OKLab such a factor stretches the
    whole colour vector. So each pixel becomes the new colour stretched by how much lighter or
    darker it was than the mean of the masked part.

    It cannot find things. Without a mask it refuses, or, with ``without_mask=salient``, takes what
    the backend ``matting`` says is in front, whatever the thing is called.
    """

    def __init__(self, *, without_mask: WithoutMask = "refuse", matting: str = "grabcut") -> None:
        self._without_mask = without_mask
        self._matting = matting

    @property
    def identity(self) -> Mapping[str, str]:
        """The backend that finds the foreground without a mask; nothing else can vary."""
        if self._without_mask == "refuse":
            return {}
        return {"matting": self._matting, **opencv_identity()}

    def recolour(self, image: Image, mask: Mask | None, thing: str, colour: str) -> Image:
        """Return the picture with the masked part in ``colour``; the rest is untouched."""
        name = basic_colour(colour)
        if name is None:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"{colour!r} is none of the eleven basic colours",
                advice=f"Name one of {', '.join(sorted(BASIC_COLOURS))}.",
            )
        soft = check_mask(self._mask(image, mask, thing), check_picture(image))
        inside = soft >= 0.5
        if not inside.any():
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"the mask of {thing!r} is empty",
                advice="Give a mask with something in it.",
            )
        touched = soft > 0
        result = image.copy()
        result[touched] = shaded(image[touched], soft[touched], name)
        return result

    def _mask(self, image: Image, mask: Mask | None, thing: str) -> Mask:
        if mask is not None:
            return mask
        if self._without_mask == "refuse":
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"recolouring {thing!r} needs a mask, and none was given",
                advice="Find it first (roles detection and segmentation), or use "
                "--model image_edit=masked_hue,without_mask=salient.",
            )
        matting = build("matting", self._matting).thing
        matte: Mask = matting.matte([image])[0]
        return matte


def shaded(pixels: Image, share: Plane, name: str) -> Image:
    """Pixels (rows of RGB) in the basic colour ``name``, with their own shading.

    ``share`` says how much of each pixel belongs to the thing. Both the mean and most of the
    thing's pixels have that name afterwards: where light and shade are so strong that they
    would not (an orange thing in deep shade is brown), they are made weaker step by step.

    >>> red = np.array([[180, 40, 40], [200, 50, 50], [90, 20, 20]], np.uint8)
    >>> blue = shaded(red, np.ones(3), "blue")
    >>> name_colour(blue.mean(axis=0)), bool(blue[2].sum() < blue[0].sum())
    ('blue', True)
    """
    inside = share >= 0.5
    lightness = to_oklab(pixels)[:, 0]
    mean = float(lightness[inside].mean())
    relief = np.clip((lightness - mean) / max(mean, DARKEST_MEAN), DEEPEST - 1, BRIGHTEST - 1)
    result = pixels
    for _ in range(ROUNDS):
        painted = from_oklab((1 + relief[:, None]) * focal_colour(name))
        result = to_bytes(painted * share[:, None] + pixels * (1 - share[:, None]))
        if _has_name(result[inside], name):
            break
        relief = relief * FLATTER
    return result


def _has_name(pixels: Image, name: str) -> bool:
    if name_colour(pixels.mean(axis=0)) != name:
        return False
    sample = pixels[:: -(-len(pixels) // LOOKED_AT)]
    return bool(np.mean(name_pixels(sample) == BASIC_COLOURS.index(name)) > 0.5)


# The form of SLVMEval, appendix E.2.
INSTRUCTION = "Change the color of the {thing} to {colour}."


@register(
    "image_edit",
    "qwen",
    summary="Qwen-Image-Edit-2509 by diffusers",
    neutral=NEUTRAL,
    packages=DIFFUSERS,
    lacking=check_cached,
)
class QwenImageEdit:
    """Recolouring by Qwen-Image-Edit (the 2509 release and later), by an instruction in words.

    ``instruction`` is what the model is asked to do, with {thing} and {colour} in it. ``pixels``
    is how many it paints; the result is brought back to the picture's own size.
    """

    def __init__(
        self,
        *,
        model: str = "Qwen/Qwen-Image-Edit-2509",
        revision: str = "",
        steps: int = 40,
        guidance: float = 4.0,
        pixels: int = 1024 * 1024,
        instruction: str = INSTRUCTION,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self._torch = optional("torch")
        self._steps, self._guidance, self._pixels = steps, guidance, pixels
        self._instruction, self._seed = instruction, seed
        origin, place = Origin(model, revision), ModelDevice.choose(device)
        self._pipeline, self.identity = load_pipeline("QwenImageEditPlusPipeline", origin, place)

    def recolour(self, image: Image, mask: Mask | None, thing: str, colour: str) -> Image:
        """Return the picture with ``thing`` in ``colour``; outside a given mask nothing changes."""
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
        """Return the picture's shape at about the wanted size, on the model's grid of 32."""
        scale = math.sqrt(self._pixels / (width * height))
        return max(32, round(width * scale / 32) * 32), max(32, round(height * scale / 32) * 32)
