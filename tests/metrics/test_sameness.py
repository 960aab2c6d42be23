"""The same film has the same numbers, to the last bit, in any process.

``cv2.magnitude`` rounds by the address of its result: `motion` had two values, by chance. Here
arrays are put at every place that there is (see ``placed.py``), in processes with other hash
seeds, environments of other sizes and other numbers of threads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import av
import numpy as np
import pytest

from screentest.core import registry
from screentest.measure.evaluators import resolve
from screentest.metrics.temporal.motion import lengths
from screentest.models.roles import CHAT
from screentest.testing import FakeChatServer
from tests.metrics.placed import PLACES, arrays_at
from tests.metrics.repeat import outcomes

ROOT = Path(__file__).parents[2]
NEEDS_A_FILE = {"univ_v2t"}
ROUNDS = 20


@pytest.fixture(scope="module")
def chat() -> Iterator[list[str]]:
    with FakeChatServer() as server:
        yield [f"chat=openai:fake,base_url={server.url},max_attempts=1"]


def all_metrics() -> list[str]:
    ours = [one.name for one in registry.entries("metric") if one.origin == "builtin"]
    return [name for name in ours if name not in NEEDS_A_FILE]


def excerpt(film: Path, out: Path, seconds: float) -> Path:
    """The beginning of a film, its packets copied."""
    with av.open(str(film)) as source, av.open(str(out), "w") as target:
        stream = source.streams.video[0]
        copy = target.add_stream_from_template(stream)
        for packet in source.demux(stream):
            if packet.dts is None or packet.dts * (stream.time_base or 1) >= seconds:
                break
            packet.stream = copy
            target.mux(packet)
    return out


def differing(found: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
    """What came out in more than one way, by metric and film."""
    texts: dict[str, set[str]] = defaultdict(set)
    for one in found:
        for name, text in one.items():
            texts[name].add(text)
    assert texts
    return {name: every for name, every in texts.items() if len(every) > 1}


def fresh(
    specs: Sequence[str], films: Sequence[Path], models: Sequence[str], rounds: int
) -> Iterator[dict[str, str]]:
    """What comes out in so many processes, each under other circumstances."""
    for seed in range(rounds):
        asked = {
            "specs": specs,
            "films": list(map(str, films)),
            "models": models,
            "place": PLACES[seed % len(PLACES)],
        }
        circumstances = {"PYTHONHASHSEED": str(seed), "PADDING": "x" * (seed * 37 % 512)}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"):
            circumstances[name] = str(1 + seed % 3)
        done = subprocess.run(
            [sys.executable, "-m", "tests.metrics.repeat", json.dumps(asked)],
            cwd=ROOT,
            env=os.environ | circumstances,
            stdout=subprocess.PIPE,
            check=True,
        )
        found: dict[str, str] = json.loads(done.stdout)
        assert len(found) == len(specs) * len(films)
        yield found


def test_lengths_of_vectors_wherever_they_are() -> None:
    field = (3 * np.random.default_rng(1).standard_normal((45, 61, 2))).astype(np.float32)
    found = set()
    for place in PLACES:
        with arrays_at(place):
            found.add(lengths(field.copy()).tobytes())
    assert len(found) == 1  # by cv2.magnitude: 2


def test_every_metric_wherever_its_arrays_are(sample: Path, tmp_path: Path) -> None:
    """Without those that ask a model; those are in the slow tier."""
    film = excerpt(next(sample.glob("frenchgp*")), tmp_path / "film.mp4", 0.5)
    specs = [
        name
        for name in all_metrics()
        if not any(role.startswith(CHAT) for role in resolve(name).info.roles)
    ]
    assert len(specs) > 20
    assert not differing(outcomes(specs, [str(film)], [], place) for place in PLACES[:2])


def test_motion_in_fresh_processes(sample: Path, tmp_path: Path) -> None:
    film = excerpt(next(sample.glob("frenchgp*")), tmp_path / "film.mp4", 0.5)
    assert not differing(fresh(["motion", "flicker", "contrast"], [film], [], rounds=2))


@pytest.mark.slow
def test_every_metric_on_every_sample(sample: Path, tmp_path: Path, chat: list[str]) -> None:
    for film in sorted(sample.glob("*.mp4")):
        # Two seconds of the small ones: of 640×360 each costs 13 s of a processor and round.
        short = excerpt(film, tmp_path / film.name, 1 if "640x" in film.name else 2)
        assert not differing(fresh(all_metrics(), [short], chat, ROUNDS))


@pytest.mark.slow
def test_plain_metrics_on_whole_samples(sample: Path) -> None:
    plain = [name for name in all_metrics() if not resolve(name).info.roles and "_" not in name]
    films = sorted(sample.glob("*.mp4"))
    assert not differing(fresh(plain, films, [], ROUNDS))
