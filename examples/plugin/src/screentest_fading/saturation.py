"""Saturation: how far red, green and blue are apart."""

import numpy as np

import screentest


@screentest.metric(unit="0 grey, 1 vivid", rate=2, long_side=128)
def saturation(image: np.ndarray) -> float:
    """How colourful a video is."""
    return float(np.mean(image.max(axis=2) - image.min(axis=2))) / 255
