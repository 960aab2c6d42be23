"""Metrics, judges and degradations that each break one rule; the checks must say which."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import screentest
from screentest.core import Item, Resources


@screentest.metric(version=2)
def plain_mean(image: np.ndarray) -> float:
    """Nothing is wrong with it."""
    return float(image.mean()) / 255


@screentest.metric(high=0.5)
def out_of_range(image: np.ndarray) -> float:
    return 0.9


@screentest.metric()
def crashing(image: np.ndarray) -> float:
    return float(image[40, 40, 0]) / 255


_met: list[str] = []


@screentest.metric(high=1e6)
def remembering(item: Item) -> float:
    """It depends on what was measured before."""
    _met.append(item.id)
    return float(len(_met))


@screentest.metric(high=1e9)
def of_the_process(item: Item) -> float:
    """It depends on who measures."""
    return float(os.getpid())


@screentest.metric()
def undeclared(item: Item, resources: Resources) -> float:
    resources.role("flow")
    resources.shots(item.video)
    return 0.5


@screentest.judge(frames=2, long_side=32)
def brighter(first: list[Any], second: list[Any]) -> tuple[float, float]:
    """Nothing is wrong with it."""
    return float(np.mean(first[0])), float(np.mean(second[0]))


@screentest.judge(frames=2, long_side=32)
def always_first(first: list[Any], second: list[Any]) -> str:
    return "first"


@screentest.judge(frames=2, long_side=32)
def crashing_judge(first: list[Any], second: list[Any]) -> str:
    return str(first[7])


@screentest.degradation(aspect="aesthetics")
def darker(image: np.ndarray, severity: float, *, left: float = 0.2) -> np.ndarray:
    """Nothing is wrong with it."""
    return (image * (1 - (1 - left) * severity)).astype(np.uint8)


@screentest.degradation(aspect="aesthetics")
def grainy(image: np.ndarray, severity: float, rng: np.random.Generator) -> np.ndarray:
    """Nothing is wrong with it: its noise is that of the frame."""
    noise = rng.normal(0, 40 * severity, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


@screentest.degradation(aspect="aesthetics", pixels="yuv420p")
def harmless(image: np.ndarray, severity: float) -> np.ndarray:
    return image


@screentest.degradation(aspect="aesthetics")
def less_for_more(image: np.ndarray, severity: float) -> np.ndarray:
    """Less for more."""
    return (image * (0.1 + 0.8 * severity)).astype(np.uint8)


@screentest.degradation(aspect="aesthetics")
def of_chance(image: np.ndarray, severity: float) -> np.ndarray:
    return np.random.default_rng().integers(0, 256, image.shape).astype(np.uint8)


@screentest.degradation(aspect="aesthetics")
def smaller(image: np.ndarray, severity: float) -> np.ndarray:
    return image[::2, ::2]


@screentest.placebo(clips=1)
def one_level_up(image: np.ndarray, number: int) -> np.ndarray:
    """Nothing is wrong with it."""
    return np.where(image < 255, image + (number % 2), image).astype(np.uint8)


class FixedFlow:
    """A backend without a fault."""

    @property
    def identity(self) -> dict[str, str]:
        return {"made_of": "nothing"}

    def flow(self, pairs: list[Any], *, gain: float = 1.0) -> list[np.ndarray]:
        return [np.zeros((*one.shape[:2], 2), np.float32) for one, _ in pairs]


@screentest.backend("flow", version=1, summary="no motion at all")
def fixed() -> FixedFlow:
    return FixedFlow()


@screentest.backend("flow")
def restless() -> Any:
    """Another answer each time."""

    class Restless(FixedFlow):
        def flow(self, pairs: list[Any], *, gain: float = 1.0) -> list[np.ndarray]:
            return [np.random.default_rng().normal(size=(4, 4, 2)) for _ in pairs]

    return Restless()
