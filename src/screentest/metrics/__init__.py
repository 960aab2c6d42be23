"""Metrics, one file each, grouped by what they look at."""

CORE = (
    "contrast",
    "colourfulness",
    "tint",
    "sharpness",
    "noise",
    "blockiness",
    "naturalness",
    "faults",
    "tones",
    "lens",
    "grain",
    "flicker",
    "frozen",
    "steadiness",
    "motion",
    "coherence",
    "melting",
    "shot_consistency",
    "repeated_shots",
    "continuity",
    "shot_count",
    "named_colours",
    "caption_agreement",
    "prompt_objects",
)
"""The plain measurements of the suite ``core``, which run on the base install alone."""
UNSEEN = {
    "logos": "",
    "dead_pixels": "",
    "mosaics": "",
    "ghosting": "",
    "loops": "loops",
    "reversed_motion": "",
}
"""Faults that no number of ``CORE`` sees, with the metric here that does; empty where none does.

Found with planted clips: twelve real clips of 2.4 s a model, intact against damaged, of which one
damage at a time was all that differed. In none of these was the intact model shown to be better;
a model of looped clips was even ahead of another, and one with dead pixels was the sharper. What
else is not seen is not known: these are the faults that were tried. A metric or model beyond
``CORE`` may see some of them.
"""
