"""A worker that fills every role, plainly; with the argument ``wrong`` it gives what it must not.

It is the example that users copy, with other handlers.
"""

import runpy
import sys
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "external_worker" / "worker.py"


def rows(count):
    return np.arange(1, 4 * count + 1, dtype=np.float32).reshape(count, 4)


def masked(image, value):
    return np.full(image.shape[:2], value, np.float64)


GOOD = {
    ("text_embedding", "embed"): lambda texts: rows(len(texts)),
    ("image_text", "embed_images"): lambda images: rows(len(images)),
    ("image_text", "embed_texts"): lambda texts, truncate: rows(len(texts)) * (1 + truncate),
    ("image_text", "count_tokens"): lambda text: len(text.split()),
    ("image_features", "features"): lambda images: rows(len(images)),
    ("flow", "flow"): lambda pairs: [np.ones((*one.shape[:2], 2)) for one, _ in pairs],
    ("interpolation", "midpoint"): lambda pairs: [one for one, _ in pairs],
    ("aesthetic", "score"): lambda images: [float(image.mean()) for image in images],
    ("technical", "score"): lambda frames: 0.25,
    ("videoscore", "score"): lambda frames, prompt: {
        "visual_quality": 1 + len(frames),
        "temporal_consistency": len(prompt),
        "dynamic_degree": 2.5,
        "text_alignment": 2,
        "factual_consistency": 3,
    },
    ("matting", "matte"): lambda images: [masked(image, 0.5) for image in images],
    ("detection", "detect"): lambda image, phrases: [
        {"label": phrase, "score": n / 10, "box": [n, 0, n + 5, 7]}
        for n, phrase in enumerate(phrases)
    ],
    ("labels", "probabilities"): lambda image: [0.75, 0.25],
    ("faces", "identities"): lambda images: [rows(n) for n, _ in enumerate(images)],
    ("segmentation", "segment"): lambda image, boxes: [
        masked(image, n / 10) for n, _ in enumerate(boxes)
    ],
    ("inpainting", "inpaint"): lambda image, mask, prompt: 255 - image,
    ("image_edit", "recolour"): lambda image, mask, thing, colour: (
        image if mask is None else 255 - image
    ),
}
WRONG = {
    ("text_embedding", "embed"): lambda texts: rows(len(texts) + 1),
    ("image_text", "embed_images"): lambda images: np.zeros((len(images), 4)),
    ("image_text", "embed_texts"): lambda texts, truncate: rows(len(texts)) * np.nan,
    ("image_text", "count_tokens"): lambda text: -1,
    ("image_features", "features"): lambda images: rows(len(images)).ravel(),
    ("flow", "flow"): lambda pairs: [np.ones(one.shape) for one, _ in pairs],
    ("interpolation", "midpoint"): lambda pairs: [one.astype(float) for one, _ in pairs],
    ("aesthetic", "score"): lambda images: [1.0] * (len(images) - 1),
    ("technical", "score"): lambda frames: 25,
    ("videoscore", "score"): lambda frames, prompt: {"visual_quality": 1},
    ("matting", "matte"): lambda images: [masked(image, 1.5) for image in images],
    ("detection", "detect"): lambda image, phrases: [
        {"label": "something else", "score": 1, "box": [0, 0, 1, 1]}
    ],
    ("labels", "probabilities"): lambda image: [0.75],
    ("faces", "identities"): lambda images: [rows(1)],
    ("segmentation", "segment"): lambda image, boxes: masked(image, 0),
    ("inpainting", "inpaint"): lambda image, mask, prompt: image[:-1],
    ("image_edit", "recolour"): lambda image, mask, thing, colour: "done",
}

if __name__ == "__main__":
    example = runpy.run_path(str(EXAMPLE))
    properties = {"scale": [0, 255], "max_frames": 16, "max_tokens": 77}
    properties["names"] = ["cat", "dog"]
    if "wrong" in sys.argv:
        properties = {"scale": [0, 1, 2], "max_frames": "16", "names": ["cat", "dog"]}
    greeting = {
        "screentest": 1,
        "name": "every",
        "version": "1",
        "weights": "none",
        "roles": sorted({role for role, _ in GOOD}),
        "properties": properties,
    }
    example["serve"](WRONG if "wrong" in sys.argv else GOOD, greeting)
