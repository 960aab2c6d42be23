"""Metrics, one file each, grouped by what they look at."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

_NAMES = tomllib.loads(Path(__file__).with_name("core.toml").read_text(encoding="utf-8"))
CORE: tuple[str, ...] = tuple(_NAMES["core"])
"""The plain measurements of the suite ``core``, which run on the base install alone."""
UNSEEN: Mapping[str, str] = _NAMES["unseen"]
"""Faults that no number of ``CORE`` sees, with the metric here that does; empty where none does.

Found with planted clips: twelve real clips of 2.4 s a model, intact against damaged, of which one
damage at a time was all that differed. In none of these was the intact model shown to be better;
a model of looped clips was even ahead of another, and one with dead pixels was the sharper. What
else is not seen is not known: these are the faults that were tried. A metric or model beyond
``CORE`` may see some of them.
"""
