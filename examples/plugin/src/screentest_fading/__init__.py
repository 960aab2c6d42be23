"""A metric, a judge and a degradation. Importing this registers all three."""

from screentest_fading import fading, more_vivid, saturation

__all__ = ["fading", "more_vivid", "saturation"]
