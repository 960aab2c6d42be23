"""Faults of generated video and of lenses, planted in the frames of a clip.

FIRST are those that the metrics were made on. SECOND are other ideas of the same faults; those of
melting, dirt and missing frames were in sight when constants were chosen. THIRD were written after
all constants stood, and measured once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

Frame: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Rng: TypeAlias = np.random.Generator
Fault: TypeAlias = Callable[[Sequence[Frame], float, Rng], list[Frame]]


def grid(frame: Frame) -> tuple[Floats, Floats]:
    down, across = np.mgrid[: frame.shape[0], : frame.shape[1]].astype(np.float32)
    return across, down


def smooth(rng: Rng, frame: Frame, width: float) -> Floats:
    """Two planes of smooth noise of deviation 1."""
    noise = rng.normal(0, 1, (*frame.shape[:2], 2)).astype(np.float32)
    soft = cv2.GaussianBlur(noise, (0, 0), width, borderType=cv2.BORDER_REFLECT)
    return np.asarray(soft / soft.std(), np.float32)


def region(rng: Rng, frame: Frame, count: int, size: float, soft: float) -> Floats:
    """Soft ellipses somewhere in the picture: 1 inside."""
    height, width = frame.shape[:2]
    across, down = grid(frame)
    mask = np.zeros((height, width), np.float32)
    for _ in range(count):
        x, y = rng.uniform(0.2, 0.8) * width, rng.uniform(0.2, 0.8) * height
        half = size * width * rng.uniform(0.7, 1.2), size * height * rng.uniform(0.9, 1.6)
        inside = ((across - x) / half[0]) ** 2 + ((down - y) / half[1]) ** 2 < 1
        mask = np.maximum(mask, inside.astype(np.float32))
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), soft * width), np.float32)


def blend(one: NDArray[np.generic], other: NDArray[np.generic], share: Floats) -> Frame:
    mixed = one * (1 - share[..., None]) + other * share[..., None] + 0.5
    return np.clip(mixed, 0, 255).astype(np.uint8)


def bent(frame: NDArray[np.generic], across: Floats, down: Floats) -> NDArray[np.generic]:
    x, y = grid(frame)  # type: ignore[arg-type]
    places = x + across.astype(np.float32), y + down.astype(np.float32)
    return cv2.remap(frame, *places, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)


def affine(frame: Frame, zoom: float, x: float, y: float, angle: float = 0.0) -> Frame:
    height, width = frame.shape[:2]
    way = cv2.getRotationMatrix2D((width / 2, height / 2), angle, zoom)
    way[:, 2] += x, y
    return cv2.warpAffine(
        frame, way, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT
    )


def melt(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Regions soften and sag, more and more and back."""
    width = frames[0].shape[1]
    mask, noise = region(rng, frames[0], 2, 0.22, 0.04), smooth(rng, frames[0], width / 25)
    phase, result = rng.uniform(0, 2), []
    for number, frame in enumerate(frames):
        share = 0.5 - 0.5 * np.cos(2 * np.pi * number / rate / 1.6 + phase)
        reach = share * width * mask
        soft = bent(frame, noise[..., 0] * 0.012 * reach, (noise[..., 1] * 0.012 - 0.02) * reach)
        soft = cv2.GaussianBlur(soft, (0, 0), 0.2 + 2.2 * share * width / 320)
        result.append(blend(frame, soft, mask * min(1.0, 1.4 * share)))
    return result


def melt_smoothed(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Texture in regions is smoothed away between its edges, and comes back."""
    mask, period, result = region(rng, frames[0], 3, 0.17, 0.02), rng.uniform(0.9, 1.4), []
    for number, frame in enumerate(frames):
        soft = frame
        for _ in range(3):
            soft = np.asarray(cv2.bilateralFilter(soft, 7, 45, 5), np.uint8)
        result.append(blend(frame, soft, mask * abs(np.sin(np.pi * number / rate / period))))
    return result


def melt_dragged(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """What regions show is dragged along by a flow of its own."""
    width = frames[0].shape[1]
    mask, speed = region(rng, frames[0], 2, 0.2, 0.03), width / 320 * 24 / rate
    noise = smooth(rng, frames[0], width / 14) * 0.25 * speed
    keeps, held, result = 0.93 ** (24 / rate), frames[0].astype(np.float32), [frames[0]]
    for frame in frames[1:]:
        held = bent(held, noise[..., 0], noise[..., 1] - 0.15 * speed).astype(np.float32)
        held = held * keeps + frame * (1 - keeps)
        result.append(blend(frame, held, mask))
    return result


def dirt(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Nine soft spots on the lens, dark and light."""
    height, width = frames[0].shape[:2]
    across, down = grid(frames[0])
    share, level = np.zeros((2, height, width), np.float32)
    for _ in range(9):
        radius = width * rng.uniform(0.012, 0.035)
        x, y = rng.uniform(0.05, 0.95) * width, rng.uniform(0.05, 0.95) * height
        away = np.hypot(across - x, (down - y) * rng.uniform(0.7, 1.3))
        spot = np.clip((radius - away) / (0.35 * radius) + 0.5, 0, 1) * rng.uniform(0.35, 0.65)
        level = np.where(spot > share, rng.choice([40.0, 60.0, 200.0]), level)
        share = np.maximum(share, spot).astype(np.float32)
    return [blend(frame, np.repeat(level[..., None], 3, 2), share) for frame in frames]


def dirt_hairs(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Six hairs and five smears that take some of the light."""
    height, width = frames[0].shape[:2]
    light = np.ones((height, width), np.float32)
    for _ in range(6):
        place, way, points = rng.uniform(0, 1, 2) * (width, height), rng.normal(0, 1, 2), []
        for _ in range(14):
            points.append(place.copy())
            way = way / np.linalg.norm(way) + rng.normal(0, 0.35, 2)
            place = place + way * width * 0.012
        line, thick = np.round(points).astype(np.int32), width * rng.uniform(0.004, 0.01)
        shade = rng.uniform(0.3, 0.6)
        cv2.polylines(light, [line], False, shade, max(1, round(thick)), cv2.LINE_AA)
    for _ in range(5):
        smear = np.zeros((height, width), np.float32)
        middle = int(rng.uniform(0, width)), int(rng.uniform(0, height))
        axes = int(width * rng.uniform(0.02, 0.05)), int(width * rng.uniform(0.01, 0.02))
        cv2.ellipse(smear, middle, axes, rng.uniform(0, 180), 0, 360, 1.0, -1, cv2.LINE_AA)
        light *= 1 - cv2.GaussianBlur(smear, (0, 0), width * 0.004) * rng.uniform(0.3, 0.5)
    light = np.asarray(cv2.GaussianBlur(light, (0, 0), 0.6), np.float32)
    return [np.clip(frame * light[..., None], 0, 255).astype(np.uint8) for frame in frames]


def dropped(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """15% of the frames are missing, here and there."""
    count = len(frames)
    gone = set((rng.permutation(count - 4) + 2)[: max(1, round(0.15 * count))].tolist())
    return [frame for number, frame in enumerate(frames) if number not in gone]


def jumps(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """A quarter of the time is missing, in three pieces."""
    count = len(frames)
    long, starts = max(1, round(count / 12)), [round(count * share) for share in (0.2, 0.45, 0.7)]
    gone = {start + step for start in starts for step in range(long)}
    return [frame for number, frame in enumerate(frames) if number not in gone]


def dropped_fourth(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Every fourth frame is left out: 1.5 s of frames for 2 s."""
    return [frame for number, frame in enumerate(frames) if number % 4 != 2]


def dropped_bursts(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """One to three frames in a row are missing, four times."""
    gone: set[int] = set()
    for start in rng.choice(np.arange(3, len(frames) - 5), 4, replace=False):
        gone |= set(range(start, start + int(rng.integers(1, 3)) + (rate > 16)))
    return [frame for number, frame in enumerate(frames) if number not in gone]


def jitter(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """The picture jumps from frame to frame."""
    width = frames[0].shape[1]
    return [affine(frame, 1.04, *rng.normal(0, 0.006 * width, 2)) for frame in frames]


def jitter_rolling(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """A hand that trembles and turns."""
    width = frames[0].shape[1]
    path = rng.normal(0, 1, (len(frames) + 8, 3)).astype(np.float32)
    path = cv2.GaussianBlur(path, (1, 5), 0, sigmaY=0.6)[4:-4]
    path = path / path.std(axis=0) * (0.007 * width, 0.007 * width, 0.35)
    return [affine(frame, 1.05, *way) for frame, way in zip(frames, path.tolist(), strict=True)]


def wobble(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Waves run through all of the picture."""
    height, width = frames[0].shape[:2]
    across, down = grid(frames[0])
    return [
        np.asarray(
            bent(
                frame,
                0.008 * width * np.sin(down / height * 9 + number / rate * 14),
                0.008 * width * np.sin(across / width * 11 + number / rate * 17),
            ),
            np.uint8,
        )
        for number, frame in enumerate(frames)
    ]


def wobble_breathing(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Geometry breathes in parts of the picture, at random."""
    width = frames[0].shape[1]
    mask, every = region(rng, frames[0], 2, 0.3, 0.06), max(2, round(rate / 6))
    count = len(frames) // every + 3
    ways = [smooth(rng, frames[0], width / 16) * 0.009 * width for _ in range(count)]
    result = []
    for number, frame in enumerate(frames):
        place, share = number // every, number % every / every
        way = (1 - share) * ways[place] + share * ways[place + 1]
        result.append(np.asarray(bent(frame, way[..., 0] * mask, way[..., 1] * mask), np.uint8))
    return result


def popping(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Rectangles from elsewhere for a fifth of a second."""
    height, width = frames[0].shape[:2]
    tall, wide, long = round(height * 0.3), round(width * 0.22), max(2, round(0.2 * rate))
    result = [frame.copy() for frame in frames]
    for start in range(2, len(frames) - long, max(long + 2, round(0.45 * rate))):
        y, y2 = rng.integers(0, height - tall, 2)
        x, x2 = rng.integers(0, width - wide, 2)
        for number in range(start, start + long):
            part = frames[number][y2 : y2 + tall, x2 : x2 + wide]
            result[number][y : y + tall, x : x + wide] = part
    return result


def popping_soft(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Soft pieces of other frames flash up."""
    height, width = frames[0].shape[:2]
    across, down = grid(frames[0])
    long, result = max(1, round(0.12 * rate)), [frame.copy() for frame in frames]
    for start in range(1, len(frames) - long, max(long + 2, round(0.35 * rate))):
        x, y = rng.uniform(0.15, 0.85) * width, rng.uniform(0.15, 0.85) * height
        away = ((across - x) / (0.12 * width)) ** 2 + ((down - y) / (0.18 * height)) ** 2
        mask = np.clip(1.6 - away, 0, 1).astype(np.float32)
        other = frames[int(rng.integers(0, len(frames)))]
        piece = np.roll(other, (height // 3, width // 4), (0, 1))
        for number in range(start, start + long):
            result[number] = blend(result[number], piece, mask)
    return result


def patches(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Five rectangles show what belongs elsewhere, all the time."""
    height, width = frames[0].shape[:2]
    result = [frame.copy() for frame in frames]
    for _ in range(5):
        tall, wide = round(height * rng.uniform(0.15, 0.28)), round(width * rng.uniform(0.12, 0.22))
        y, y2 = rng.integers(0, height - tall, 2)
        x, x2 = rng.integers(0, width - wide, 2)
        for frame, source in zip(result, frames, strict=True):
            frame[y : y + tall, x : x + wide] = source[y2 : y2 + tall, x2 : x2 + wide]
    return result


def patches_strips(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Six strips stand beside where they belong."""
    height, width = frames[0].shape[:2]
    result = [frame.copy() for frame in frames]
    for _ in range(6):
        tall, wide = round(height * rng.uniform(0.04, 0.09)), round(width * rng.uniform(0.3, 0.5))
        y, x = rng.integers(0, height - tall), rng.integers(0, width // 2)
        aside = round(width * rng.uniform(0.05, 0.1))
        for frame, source in zip(result, frames, strict=True):
            beside = np.roll(source, aside, 1)[y : y + tall, x : x + wide]
            frame[y : y + tall, x : x + wide] = beside
    return result


def vignette(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Light falls off as behind a wide lens."""
    height, width = frames[0].shape[:2]
    across, down = grid(frames[0])
    radius = np.hypot(across - width / 2, down - height / 2) / np.hypot(width / 2, height / 2)
    light = 1 / (1 + (1.1 * radius) ** 2 * 0.9) ** 2
    return [(frame * light[..., None]).astype(np.uint8) for frame in frames]


def vignette_square(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Dark edges and corners, along the sides of the picture."""
    height, width = frames[0].shape[:2]
    across, down = grid(frames[0])
    dark = np.abs(2 * across / width - 1) ** 3 + np.abs(2 * down / height - 1) ** 3
    light = np.clip(1 - 0.55 * dark, 0, 1)
    return [(frame * light[..., None]).astype(np.uint8) for frame in frames]


def fringes(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Red is larger and blue smaller than green."""
    result = []
    for frame in frames:
        planes = [frame[..., number].copy() for number in range(3)]
        planes[0], planes[2] = affine(planes[0], 1.012, 0, 0), affine(planes[2], 0.988, 0, 0)
        result.append(np.stack(planes, axis=2))
    return result


def fringes_aside(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Red and blue are shifted to the sides."""
    aside, result = max(1, round(0.005 * frames[0].shape[1])), []
    for frame in frames:
        shifted = (np.roll(frame[..., n], (1 - n) * aside, 1) for n in range(3))
        result.append(np.stack(list(shifted), axis=2))
    return result


def ghosts(frames: Sequence[Frame], aside: tuple[int, int], share: float) -> list[Frame]:
    height, width = frames[0].shape[:2]
    way, edge = np.array([[1, 0, aside[0]], [0, 1, aside[1]]], np.float32), cv2.BORDER_REPLICATE
    return [
        np.asarray(
            cv2.addWeighted(
                frame,
                1 - share,
                cv2.warpAffine(frame, way, (width, height), borderMode=edge),
                share,
                0,
            ),
            np.uint8,
        )
        for frame in frames
    ]


def doubles(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """All is there twice, the second time to the right."""
    aside = max(3, round(0.018 * frames[0].shape[1]))
    return ghosts(frames, (aside, aside // 3), 0.38)


def doubles_faint(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """A fainter ghost, farther off, to the upper left."""
    aside = max(3, round(0.025 * frames[0].shape[1]))
    return ghosts(frames, (-aside, -aside), 0.3)


def melt_diffused(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Regions flow together by anisotropic diffusion (Perona and Malik), and form again."""
    mask, result = region(rng, frames[0], 2, 0.25, 0.02), []
    for number, frame in enumerate(frames):
        share, picture = abs(np.sin(np.pi * number / rate / 1.2)), frame.astype(np.float32)
        for _ in range(round(25 * share)):
            flow = np.zeros_like(picture)
            for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
                step = np.roll(picture, shift, axis) - picture
                flow += step * np.exp(-((np.abs(step).mean(axis=2, keepdims=True) / 18) ** 2))
            picture = picture + 0.2 * flow
        result.append(blend(frame, picture, mask))
    return result


def melt_coarse(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Regions lose their resolution now and then, for a third of a second."""
    height, width = frames[0].shape[:2]
    mask, long = region(rng, frames[0], 3, 0.15, 0.015), max(2, round(rate / 3))
    result = []
    for number, frame in enumerate(frames):
        small = cv2.resize(frame, (width // 5, height // 5), interpolation=cv2.INTER_AREA)
        coarse = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
        share = mask if number // long % 2 else np.zeros_like(mask)
        result.append(blend(frame, coarse, share))
    return result


def dirt_drops(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Drops of water on the lens: small discs that show a larger part, upside down."""
    height, width = frames[0].shape[:2]
    across, down = grid(frames[0])
    x, y, mask = across.copy(), down.copy(), np.zeros((height, width), np.float32)
    for _ in range(8):
        radius = width * rng.uniform(0.015, 0.035)
        middle = rng.uniform(0.1, 0.9) * width, rng.uniform(0.1, 0.9) * height
        away = np.hypot(across - middle[0], down - middle[1])
        inside = away < radius
        x = np.where(inside, middle[0] - 2.5 * (across - middle[0]), x).astype(np.float32)
        y = np.where(inside, middle[1] - 2.5 * (down - middle[1]), y).astype(np.float32)
        mask = np.maximum(mask, np.clip((radius - away) / 2, 0, 1)).astype(np.float32)
    edge = cv2.BORDER_REFLECT
    drops = [cv2.remap(frame, x, y, cv2.INTER_LINEAR, borderMode=edge) for frame in frames]
    return [blend(one, two, mask * 0.85) for one, two in zip(frames, drops, strict=True)]


def dropped_clock(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Frames at the times of a clock that stumbles: steps of one, two or three frames."""
    result, place = [], 0
    while place < len(frames):
        result.append(frames[place])
        place += int(rng.choice([1, 2, 3], p=[0.75, 0.18, 0.07]))
    return result


def jitter_slipping(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """The film slips in its gate: up and down only, now and then."""
    height = frames[0].shape[0]
    slips = [float(rng.normal(0, 0.012 * height)) * (rng.random() < 0.4) for _ in frames]
    return [affine(frame, 1.05, 0.0, slip) for frame, slip in zip(frames, slips, strict=True)]


def wobble_jelly(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """A rolling shutter that shakes: lines lean to and fro, each in its time."""
    height, width = frames[0].shape[:2]
    _, down = grid(frames[0])
    still = np.zeros_like(down)
    return [
        np.asarray(
            bent(
                frame,
                np.sin(2 * np.pi * (7 * number / rate + 1.2 * down / height)) * 0.01 * width,
                still,
            ),
            np.uint8,
        )
        for number, frame in enumerate(frames)
    ]


def doubles_late(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """The picture of an eighth of a second before shines through."""
    late = max(1, round(rate / 8))
    return [
        np.asarray(cv2.addWeighted(frame, 0.65, frames[max(0, number - late)], 0.35, 0), np.uint8)
        for number, frame in enumerate(frames)
    ]


def patches_round(frames: Sequence[Frame], rate: float, rng: Rng) -> list[Frame]:
    """Four round pieces with soft edges show what belongs elsewhere."""
    height, width = frames[0].shape[:2]
    result = [frame.copy() for frame in frames]
    for _ in range(4):
        mask = region(rng, frames[0], 1, 0.09, 0.004)
        aside = (
            int(rng.integers(height // 4, height // 2)),
            int(rng.integers(width // 5, width // 2)),
        )
        result = [
            blend(one, np.roll(frame, aside, (0, 1)), mask)
            for one, frame in zip(result, frames, strict=True)
        ]
    return result


FIRST: Mapping[str, Fault] = {
    "melting regions": melt,
    "dirt: spots": dirt,
    "15% of the frames missing": dropped,
    "three jumps": jumps,
    "jitter": jitter,
    "wobble": wobble,
    "popping": popping,
    "displaced patches": patches,
    "vignette": vignette,
    "colour fringes": fringes,
    "double outlines": doubles,
}
SECOND: Mapping[str, Fault] = {
    "melting: texture smoothed away": melt_smoothed,
    "melting: regions dragged along": melt_dragged,
    "dirt: hairs and smears": dirt_hairs,
    "every fourth frame missing": dropped_fourth,
    "bursts of frames missing": dropped_bursts,
    "jitter with rotation": jitter_rolling,
    "breathing regions": wobble_breathing,
    "soft flashes": popping_soft,
    "torn strips": patches_strips,
    "vignette along the sides": vignette_square,
    "fringes to the side": fringes_aside,
    "faint ghost": doubles_faint,
}
THIRD: Mapping[str, Fault] = {
    "melting: anisotropic diffusion": melt_diffused,
    "melting: resolution lost": melt_coarse,
    "dirt: drops of water": dirt_drops,
    "a clock that stumbles": dropped_clock,
    "film that slips": jitter_slipping,
    "rolling shutter": wobble_jelly,
    "late ghost": doubles_late,
    "round pieces from elsewhere": patches_round,
}
ALL: Mapping[str, Fault] = {**FIRST, **SECOND, **THIRD}
SEEN_BY: Mapping[str, tuple[str, ...]] = {
    "melt": ("melting",),
    "dirt": ("coherence.dirt",),
    "dropped": ("coherence.skipped",),
    "jumps": ("coherence.skipped",),
    "jitter": ("coherence.jitter",),
    "wobble": ("coherence.warping", "melting"),
    "popping": ("coherence.popping",),
    "patches": ("lens.seams",),
    "vignette": ("lens.vignette",),
    "fringes": ("lens.fringes",),
    "doubles": ("lens.doubled",),
}
"""By the first word of the function, the values in which the fault must show."""
