"""Certificates of univ's metrics on a testbed, whole and shot by shot.

The model behind the server looks at the pictures it is sent: it finds fault with a film that is
not as bright as the intact one.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.judges.plan import Plan, certify
from screentest.judges.cases import Case
from screentest.run.engine import InlineEngine
from screentest.run.session import Session, Settings, close_tools
from screentest.run.store import RunStore
from screentest.sample import sample_videos
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.options import BuildOptions
from screentest.testing.chat_answers import Asked
from tests.suites.etva.test_certificate import brightness
from tests.suites.univ.scripted import answering, chat, finding, inspection, marks
from tests.testbeds.stage import QUICK

OPTIONS = "fps=1,short_side=64"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """One film whose tones are inverted in three of its five clips, and a placebo."""
    folder = tmp_path_factory.mktemp("univ") / "testbed"
    options = BuildOptions(
        degradations=("aesthetics",),
        placebos=("container",),
        clips=(3,),
        severities=(1.0,),
        long_side=96,
        rate=Fraction(4),
        encoder=QUICK,
    )
    source = next(one.item for one in sample_videos() if one.item.id.startswith("real_5shots"))
    build_testbed([source], folder, options, engine=InlineEngine())
    return read_cases([folder])


class Judge:
    """Remembers what each piece of the intact film looked like, by its text and times."""

    def __init__(self, *, sees: bool) -> None:
        self.sees = sees
        self.intact: dict[str, list[float]] = {}

    def learn(self, asked: Asked) -> dict[str, Any]:
        self.intact[self.place(asked)] = brightness(asked)
        return inspection()

    def place(self, asked: Asked) -> str:
        return "\n".join(asked.texts)

    def inspect(self, asked: Asked) -> dict[str, Any]:
        known = self.intact.get(self.place(asked))
        found = brightness(asked)
        same = known is not None and max(np.abs(np.subtract(found, known))) <= 5
        return inspection() if same or not self.sees else inspection(finding(kind="tones"))

    @staticmethod
    def score(asked: Asked) -> dict[str, Any]:
        return marks(3 if "tones" in "\n".join(asked.texts) else 9)


def certificate(cases: list[Case], folder: Path, metric: str, *, sees: bool) -> Certificate:
    from screentest.core import build
    from screentest.measure.items import measure
    from screentest.run.session import Tools

    judge = Judge(sees=sees)
    name, _, options = metric.partition(":")
    spec = f"{name.partition('.')[0]}:{options}"
    with answering(inspect=judge.learn, score=judge.score) as server:
        intact = cases[0].first
        tools = Tools(Settings(models=(chat(server),)))
        measure(intact, {spec: build("metric", spec).thing}, tools)
        tools.models.close()
    with answering(inspect=judge.inspect, score=judge.score) as server:
        with RunStore(folder, command="certify") as store:
            plan = Plan(tuple(cases), (metric,))
            settings = Settings(models=(chat(server),))
            done = certify(Session(store, settings, InlineEngine()), plan)
        close_tools()
    (found,) = done.certificates
    return found


@pytest.mark.parametrize("level", ["video", "shots"])
def test_a_judge_that_sees_is_told_from_one_that_is_blind(
    level: str, cases: list[Case], tmp_path: Path
) -> None:
    metric = f"univ_t2v.average:level={level},{OPTIONS}"
    seeing = certificate(cases, tmp_path / "seeing", metric, sees=True)
    overall = seeing.overall.unwrap()
    assert overall.points == overall.judgements == overall.total > 0
    # The same film in another container has the same score.
    assert all(one.tie_share == 1.0 for one in seeing.placebos)
    assert seeing.cost.calls > 0
    if level == "video":
        blind = certificate(cases, tmp_path / "blind", metric, sees=False)
        assert blind.overall.unwrap().ties == blind.overall.unwrap().judgements > 0
