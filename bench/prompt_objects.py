"""Does `prompt_objects` read the prompt? What certify says of it, in one process and one decode.

    screentest build clips.jsonl --kind prompts --out bed
    python bench/prompt_objects.py bed

The same as `screentest certify prompt_objects --testbed bed --models light`, which measures each
video once for each prompt. Here its frames are decoded once, and the networks see them once.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from screentest.core import Frame, FrameRequest, Item, NoValue, Score
from screentest.core.item import Time
from screentest.metrics.alignment.objects import prompt_objects
from screentest.run.session import Tools, read_settings
from screentest.stats.claims import claims


class Kept(Tools):
    """Tools that decode a frame once."""

    def __init__(self, models: str) -> None:
        super().__init__(read_settings(models))
        self._kept: dict[tuple[Path, tuple[Time, ...]], list[Frame]] = {}
        self._networks = {name: _Remembering(self.models.role(name)) for name in ROLES}

    def role(self, name: str) -> Any:
        return self._networks[name]

    def frames(
        self, video: Path, moments: Sequence[Time], request: FrameRequest, cut: Any = None
    ) -> Iterator[Frame]:
        key = video, tuple(moments)
        if key not in self._kept:
            self._kept[key] = list(super().frames(video, moments, request, cut))
        return iter(self._kept[key])


ROLES = ("detection", "labels")


class _Remembering:
    """A network that is asked about each picture once."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self._known: dict[int, Any] = {}
        if hasattr(network, "everything"):
            network.everything = self._once(network.everything)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._network, name)
        return self._once(found) if name == "probabilities" else found

    def _once(self, call: Any) -> Any:
        def ask(image: Any) -> Any:
            if id(image) not in self._known:
                self._known[id(image)] = call(image)
            return self._known[id(image)]

        return ask


def main(folder: Path, models: str) -> None:
    bed = json.loads((folder / "testbed.json").read_text(encoding="utf-8"))
    tools = Kept(models)

    @cache
    def value(video: str, prompt: str) -> float | None:
        try:
            outcomes = prompt_objects(Item("one", folder / video, prompt), tools)
        except NoValue:
            return None
        score: Score | None = outcomes["prompt_objects"].value
        return None if score is None else score.value

    points: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    lost = 0
    for pair in bed["pairs"]:
        true, false = (" ".join(pair["prompts"][which]) for which in ("true", "false"))
        values = value(pair["intact"], true), value(pair["intact"], false)
        if values[0] is None or values[1] is None:
            lost += 1
            continue
        points[pair["name"]][true].append((np.sign(values[0] - values[1]) + 1) / 2)
    names = [name for name in points if not name.endswith("_elsewhere")]
    own = {name: _means(points[name]) for name in names}
    controls = {name: _means(points[f"{name}_elsewhere"]) for name in names}
    every: dict[str, list[float]] = defaultdict(list)
    for name in names:
        for prompt, right in own[name].items():
            every[prompt].append(right)
    print(f"{lost} of {len(bed['pairs'])} pairs have no score")
    print("| change | right | control | prompts | claim |\n|---|---|---|---|---|")
    found = claims(list(own.values()), list(controls.values()), unit="prompt")
    for name, finding in zip(names, found, strict=True):
        both = " | ".join(_percent(one[name]) for one in (own, controls))
        print(f"| {name} | {both} | {len(own[name])} | {finding.words} |")
    print(f"| all | {_percent(_means(every))} | | {len(every)} | |")


def _means(points: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {prompt: float(np.mean(values)) for prompt, values in points.items()}


def _percent(points: Mapping[str, float]) -> str:
    return f"{100 * np.mean(list(points.values())):.0f}%" if points else "–"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bed", type=Path)
    parser.add_argument("--models", default="light")
    given = parser.parse_args()
    main(given.bed, given.models)
