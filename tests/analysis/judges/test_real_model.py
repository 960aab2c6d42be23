"""Judges on a real model in this process: all ten aspects, a hundred pairs, killed, resumed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from screentest.core import BUILTIN_ASPECTS
from screentest.models import ModelChoice
from screentest.run.reader import RunReader
from screentest.run.records import Record
from screentest.run.session import Settings
from tests.analysis.judges.speaking import speaking_model
from tests.analysis.judges.stage import certified, few_of
from tests.models.torchvision_here import make_importable
from tests.run.canonical import canonical

pytestmark = [pytest.mark.models, pytest.mark.usefixtures("clean_tools")]

ROOT = Path(__file__).parents[2]
PATIENCE = 600
"""Seconds; far more than it takes anywhere."""
DESCRIPTION = (
    '{"pictures_seen":true,"observations":',
    '[{"seconds":1.0,"seen":"a hare"}],"overall":"calm"}',
)


@pytest.fixture(scope="module")
def coin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Says first or second of two texts."""
    return _coin(tmp_path_factory, '{"reason":"a coin","better":')


@pytest.fixture(scope="module")
def seeing_coin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Says first or second of two videos, and that it saw them."""
    return _coin(tmp_path_factory, '{"pictures_seen":true,"reason":"a coin","better":')


def _coin(tmp_path_factory: pytest.TempPathFactory, said: str) -> Path:
    pytest.importorskip("torch")
    make_importable()
    folder = tmp_path_factory.mktemp("coin") / "model"
    return speaking_model(folder, said, '"first"}', '"second"}')


@pytest.fixture(scope="module")
def captioner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Says the same of every video."""
    pytest.importorskip("torch")
    make_importable()
    folder = tmp_path_factory.mktemp("captioner") / "model"
    return speaking_model(folder, *DESCRIPTION)


def records(run: Path) -> dict[object, Record]:
    with RunReader(run) as reader:
        return {record.key: record for record in reader.records()}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Every process that is started can import torchvision, workers too."""
    folder = tmp_path / "site"
    folder.mkdir()
    text = "from tests.models.torchvision_here import make_importable\nmake_importable()\n"
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    places = [str(folder), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


def killed_when(records_made: int, out: Path, line: list[str], environment: dict[str, str]) -> bool:
    """Start it, kill all of it when so much is written; whether it was still at work."""
    child = subprocess.Popen(
        line,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    )
    deadline = time.monotonic() + PATIENCE
    try:
        while child.poll() is None and time.monotonic() < deadline:
            if (out / "run.db").exists() and len(records(out)) >= records_made:
                break
            time.sleep(0.05)
        return child.poll() is None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait(PATIENCE)


@pytest.mark.slow
def test_a_hundred_pairs_killed_and_resumed(
    hundred: Path, seeing_coin: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    judge, out = "vlm_video:frames=1,long_side=48", tmp_path / "run"
    line = [
        *(sys.executable, "-m", "screentest", "certify", judge),
        *("--testbed", str(hundred), "--out", str(out), "--json"),
        *("--model", f"chat=hf:{seeing_coin}", "--device", "cpu", "--workers", "1"),
    ]
    assert killed_when(40, out, line, environment)
    before = records(out)
    assert 40 <= len(before) < 200
    assert not any(record.reasons for record in before.values())
    done = subprocess.run(line, check=False, capture_output=True, timeout=PATIENCE, env=environment)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    after = records(out)
    assert len(after) == 200  # a hundred pairs in both orders, none of them lost
    for key, record in before.items():
        assert after[key] == record  # nor judged anew: it would have taken another time
    (certificate,) = json.loads(done.stdout)
    assert [one["aspect"] for one in certificate["aspects"]] == [
        one.value for one in BUILTIN_ASPECTS
    ]
    overall = certificate["overall"]["value"]
    assert (overall["judgements"], overall["total"]) == (40, 40)
    # A coin is at chance, and its two sides fall apart in the two orders.
    assert overall["interval"]["low"] < 0.5 < overall["interval"]["high"]
    assert 0 < certificate["order"]["value"]["consistent_share"] < 1

    # The same questions again, without a kill and in this process: the same answers.
    plan = few_of(hundred, judge.replace(":", f"@{seeing_coin.name}:", 1), most=4)
    certified(
        tmp_path / "whole", plan, Settings((ModelChoice.parse(f"chat=hf:{seeing_coin}"),), "cpu")
    )
    again = records(tmp_path / "whole")
    asked = {(key.item, key.aspect, key.order) for key in again}  # type: ignore[attr-defined]
    same = [
        record
        for record in after.values()
        if (record.key.item, record.key.aspect, record.key.order) in asked
    ]
    assert list(canonical(same)) == list(canonical(again.values()))


def test_captioner_and_comparer_are_two_real_models(
    testbed: Path, coin: Path, captioner: Path, tmp_path: Path
) -> None:
    choices = (f"chat.caption=hf:{captioner}", f"chat.judge=hf:{coin}")
    settings = Settings(tuple(ModelChoice.parse(one) for one in choices), "cpu")
    plan = few_of(testbed, "vlm_text:frames=1,long_side=48", most=2)
    (certificate,) = certified(tmp_path / "run", plan, settings).certificates
    assert certificate.overall.unwrap().coverage == 1.0
    # The other way round nobody answers what was asked, and that is no verdict.
    swapped = Settings(
        (
            ModelChoice.parse(f"chat.caption=hf:{coin}"),
            ModelChoice.parse(f"chat.judge=hf:{captioner}"),
        ),
        "cpu",
    )
    (lost,) = certified(tmp_path / "lost", plan, swapped).certificates
    assert lost.overall.failure is not None
