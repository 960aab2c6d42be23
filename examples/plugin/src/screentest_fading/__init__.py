"""Two metrics, a judge and a degradation. Importing this registers all four."""

from screentest_fading import fading, mood, more_vivid, saturation

__all__ = ["fading", "mood", "more_vivid", "saturation"]
