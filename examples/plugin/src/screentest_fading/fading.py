"""Fading: takes the colour out of the chosen clips; all others stay as they are."""

import numpy as np

import screentest


@screentest.degradation(aspect="aesthetics")
def fading(image: np.ndarray, severity: float, *, left: float = 0.0) -> np.ndarray:
    """Clips lose their colour; ``left`` is the share that stays at full severity."""
    grey = image.mean(axis=2, keepdims=True)
    kept = 1 - (1 - left) * severity
    return (grey + kept * (image - grey)).round().astype(np.uint8)
