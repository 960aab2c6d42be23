"""Measure films once, in a process of its own, and print what came out to the last bit."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from screentest.core import Clip, Item, Script
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.run.records import encode
from screentest.run.session import Tools, settings_of
from tests.metrics.placed import arrays_at

CAPTIONS = ("A red car drives through a street.", "A bird sits on a green branch.")


def outcomes(
    specs: Sequence[str], films: Sequence[str], models: Sequence[str], place: int
) -> dict[str, str]:
    """What is recorded of each metric on each film, with all arrays at this place."""
    found: dict[str, str] = {}
    tools = Tools(settings_of({"models": models}))
    with arrays_at(place):
        for name in films:
            script = Script(tuple(Clip(caption) for caption in CAPTIONS))
            film = Item(Path(name).stem, Path(name), prompt=" ".join(CAPTIONS), script=script)
            metrics = {spec: resolve(spec).metric for spec in specs}
            for spec, measured in measure(film, metrics, tools).items():
                found[f"{spec} on {film.id}"] = encode(measured).text
    tools.models.close()
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(outcomes(**json.loads(sys.argv[1]))))
