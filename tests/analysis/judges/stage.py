"""Testbeds made of tiny films, and the answers that a chat server gives about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.plan import Certification, Plan, certify
from screentest.core import Item, Size
from screentest.judges.cases import strongest
from screentest.models import Detection, ModelChoice
from screentest.run.engine import InlineEngine, LocalEngine
from screentest.run.session import Session, Settings
from screentest.run.store import RunStore
from screentest.sample import sample_videos
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.checks import PairCheck
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.sources import Extractor
from screentest.testing.chat_answers import Answer
from screentest.testing.chat_server import FakeChatServer
from screentest.video.edit.normalize import normalize
from tests.testbeds.stage import ALL, QUICK, PlainBackends

TEN = (
    "aesthetics",
    "technical_quality:base=96,low=32",
    "appearance_style:style=cartoon",
    "background_consistency",
    "object_integrity",
    "color",
    "dynamics_degree",
    "comprehensiveness",
    "spatial_relationship",
    "temporal_flow",
)
Image = NDArray[np.uint8]


def films(folder: Path, count: int) -> list[Item]:
    """Films of the sample that have captions, made small first: all else is quick then."""
    items = []
    for video in sample_videos():
        item = video.item
        if item.script is not None and len(item.script.clips) > 3 and len(items) < count:
            small = folder / f"{item.id}.mp4"
            normalize(item.video, small, size=Size(long_side=96), rate=Fraction(4), settings=QUICK)
            items.append(replace(item, video=small))
    return items


def build_small(folder: Path, items: Sequence[Item], **options: Any) -> Path:
    """A testbed of all that is asked for; captions are read as if they mentioned everything."""
    base: dict[str, Any] = {"clips": (2,), "long_side": 96, "encoder": QUICK}
    extractor = Extractor("stand_in", lambda caption: ALL if caption else CaptionFacts())
    tools = SimpleNamespace(models=PlainBackends(**_MIDDLE))
    # Stand-ins see the same in every picture: what they make could not pass the check.
    with (
        patch("screentest.testbeds.pairs.open_tools", lambda *_: tools),
        patch("screentest.testbeds.pairs.must_name_things", lambda *_: None),
        patch("screentest.testbeds.pairs.check_pair", lambda *_: PairCheck({})),
        patch("screentest.testbeds.operators.things.coloured", lambda _: lambda *_: True),
    ):
        build_testbed(
            items,
            folder,
            BuildOptions(**base | options),
            extractor=extractor,
            engine=InlineEngine(),
        )
    return folder


class _Middle:
    """Sees a thing in the middle of every picture, whatever its size."""

    identity: Mapping[str, str] = {}

    def matte(self, images: Sequence[Image]) -> list[NDArray[np.float32]]:
        return [self._mask(image) for image in images]

    def segment(self, image: Image, boxes: Sequence[Any]) -> list[NDArray[np.float32]]:
        return [self._mask(image) for _ in boxes]

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        height, width = image.shape[:2]
        return [Detection(phrases[0], 0.9, (width / 4, height / 4, width / 2, height * 3 / 4))]

    def _mask(self, image: Image) -> NDArray[np.float32]:
        height, width = image.shape[:2]
        mask = np.zeros((height, width), np.float32)
        mask[height // 4 : height * 3 // 4, width // 4 : width // 2] = 1
        return mask


_MIDDLE = {"matting": _Middle(), "detection": _Middle(), "segmentation": _Middle()}


def answer(better: str) -> Answer:
    """What a judge says of two videos."""
    return Answer(json.dumps({"reason": "as the test says", "better": better}))


def settings(server: FakeChatServer, use: str = "chat", model: str = "test") -> Settings:
    """Everything is asked of this server."""
    choice = f"{use}=openai:{model},base_url={server.url},max_attempts=1"
    return Settings(models=(ModelChoice.parse(choice),))


def certified(
    folder: Path, plan: Plan, given: Settings | None = None, workers: int = 0
) -> Certification:
    """Certify in this process, or in workers."""
    engine = LocalEngine(workers) if workers else InlineEngine()
    with RunStore(folder, command="certify") as store:
        return certify(Session(store, given or Settings(), engine), plan)


def plan_of(testbed: Path, *judges: str, **options: Any) -> Plan:
    """All cases of a testbed, placebos only where asked for."""
    cases = read_cases([testbed], placebos=bool(options.pop("placebos", False)))
    return Plan(tuple(cases), judges, **options)


def few_of(testbed: Path, *judges: str, most: int | None = None) -> Plan:
    """The strongest harm alone, of some pairs: where more would show no more."""
    cases = strongest(read_cases([testbed], placebos=False))
    return Plan(tuple(cases[:most]), judges)
