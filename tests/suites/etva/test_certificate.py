"""ETVA certified on a testbed through the scripted server, with gating on and off.

The model behind the server looks at the pictures it is sent, and says yes to everything about a
film as bright as the intact one and no to everything about one that is not.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.judges.plan import Plan, certify
from screentest.judges.cases import Case
from screentest.models import ModelChoice
from screentest.run.engine import InlineEngine
from screentest.run.session import Session, Settings, close_tools
from screentest.run.store import RunStore
from screentest.sample import sample_videos
from screentest.suites.etva.answers import shown
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.options import BuildOptions
from screentest.testing.chat_answers import Asked
from screentest.testing.chat_server import FakeChatServer
from screentest.video.probe import probe
from screentest.video.samples import sample_frames
from tests.suites.etva.scripted import always_yes, stage_of, well_behaved
from tests.testbeds.stage import QUICK


@pytest.fixture(autouse=True)
def clean_tools() -> Iterator[None]:
    close_tools()
    yield
    close_tools()


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """One film whose tones are inverted in two of its clips, and a placebo."""
    folder = tmp_path_factory.mktemp("etva") / "testbed"
    options = BuildOptions(
        degradations=("aesthetics",),
        placebos=("container",),
        clips=(2,),
        severities=(1.0,),
        long_side=96,
        rate=Fraction(4),
        encoder=QUICK,
    )
    source = next(one.item for one in sample_videos() if one.item.id.startswith("real_5shots"))
    build_testbed([source], folder, options, engine=InlineEngine())
    return read_cases([folder])


def brightness(asked: Asked) -> list[float]:
    """The mean of each picture in a request."""
    means = []
    for part in asked.parts:
        if part["type"] == "image_url":
            data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            with Image.open(io.BytesIO(data)) as picture:
                means.append(float(np.asarray(picture.convert("L"), float).mean()))
    return means


def intact_brightness(cases: list[Case]) -> list[float]:
    """What the intact film's pictures have, read by ourselves."""
    film = cases[0].first.video
    info = probe(film)
    frames = sample_frames(film, shown(most=8).moments(info, info.span))
    return [
        float(np.asarray(Image.fromarray(one.image).convert("L"), float).mean()) for one in frames
    ]


def run(
    cases: list[Case], folder: Path, judge: str, intact: list[float] | None
) -> tuple[Certificate, int]:
    def looking(question: str, asked: Asked) -> str:
        if intact is not None and max(np.abs(np.subtract(brightness(asked), intact))) > 5:
            return "Conclusion: [NO] Some of it is far too bright or too dark."
        return always_yes(question, asked)

    with FakeChatServer(well_behaved(looking)) as server:
        chosen = ModelChoice.parse(f"chat=openai:judge,base_url={server.url}")
        with RunStore(folder, command="certify") as store:
            plan = Plan(tuple(cases), (judge,))
            done = certify(Session(store, Settings(models=(chosen,)), InlineEngine()), plan)
        close_tools()
        asked = sum(stage_of(one) == "answer" for one in server.asked)
    (certificate,) = done.certificates
    return certificate, asked


def test_certified_with_gating_on_and_off(cases: list[Case], tmp_path: Path) -> None:
    base = "etva.score:writer=rules,knowledge=false,max_frames=8,clips=false"
    # A model that says yes to all cannot tell the two apart: every pair is a tie.
    blind, _ = run(cases, tmp_path / "blind", base, None)
    assert blind.overall.unwrap().ties == blind.overall.unwrap().judgements > 0
    intact = intact_brightness(cases)
    off, asked_off = run(cases, tmp_path / "off", base, intact)
    on, asked_on = run(cases, tmp_path / "on", f"{base},gating=true", intact)
    for certificate in (off, on):
        overall = certificate.overall.unwrap()
        assert overall.points == overall.judgements == overall.total > 0
        # The same film in another container has the same score.
        assert all(one.tie_share == 1.0 for one in certificate.placebos)
        assert certificate.cost.calls > 0
    # What is not there is not asked about: gating costs fewer calls.
    assert 0 < asked_on < asked_off
