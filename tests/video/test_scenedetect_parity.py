"""`content` and `adaptive` give the very cuts that PySceneDetect gives.

It cannot be installed beside screentest, since its OpenCV overwrites ours. Where an
environment of its own is found it is run on the sample and on films made here; what it once
gave on other films is in the data folder.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from screentest.core import build
from screentest.video.scan import scan

ROOT = Path(__file__).resolve().parents[2]
PEER = Path(__file__).with_name("scenedetect_peer.py")
LIMIT_S = 300
LONG = ("multishot/bbb_full_512x288.mp4", "multishot/bbb_047-161s_640x360.mp4")


@dataclass(frozen=True)
class Made:
    """A film made with ffmpeg's own picture sources."""

    name: str
    lengths: tuple[int, ...]
    """Of the shots, in frames."""
    size: str = "320x180"
    rate: str = "25"
    effects: str = "null"
    encoder: tuple[str, ...] = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
    suffix: str = ".mp4"


SOURCES = ("testsrc2", "mandelbrot", "smptehdbars", "rgbtestsrc", "testsrc", "yuvtestsrc")
SHORT = (20, 5, 7, 16, 3, 14, 15, 30, 9, 16, 16, 40)
FLASHES = "drawbox=color=white:t=fill:enable='between(n,40,41)+eq(n,47)+between(n,80,83)+eq(n,150)'"
VP8 = (
    "-c:v",
    "libvpx",
    "-pix_fmt",
    "yuv420p",
    "-b:v",
    "1M",
    "-deadline",
    "realtime",
    "-cpu-used",
    "8",
)

MADE = (
    Made("short_shots", SHORT),
    Made("flashes", (60, 70, 90), effects=FLASHES),
    Made("nothing_happens", (50,)),
    Made("ntsc_in_milliseconds", SHORT, rate="30000/1001", suffix=".mkv"),
    Made("odd_height", SHORT, size="300x171", encoder=VP8, suffix=".webm"),
    Made("not_shrunk", SHORT, size="160x120"),
    Made("just_shrunk", SHORT, size="258x144"),
    Made("portrait", SHORT, size="180x320"),
    Made("ten_bit", (30, 30, 30), encoder=("-c:v", "libx264", "-pix_fmt", "yuv420p10le")),
    Made("mpeg2", SHORT, size="352x288", encoder=("-c:v", "mpeg2video", "-b:v", "2M")),
    Made("starts_late", SHORT, effects="setpts=PTS+3/TB", suffix=".mkv"),
)

Options: TypeAlias = tuple[str, str, dict[str, Any]]

OPTIONS: tuple[Options, ...] = (
    ("content", "ContentDetector", {}),
    ("adaptive", "AdaptiveDetector", {}),
    ("content:threshold=12,min_length=5", "ContentDetector", {"threshold": 12, "min_scene_len": 5}),
    ("content:min_length=0", "ContentDetector", {"min_scene_len": 0}),
    ("content:short_shots=suppress", "ContentDetector", {"filter_mode": "SUPPRESS"}),
    (
        "content:weights=[1.0,0.5,1.0,0.2]",
        "ContentDetector",
        {"weights": [1.0, 0.5, 1.0, 0.2]},
    ),
    (
        "adaptive:threshold=2,window=3,min_length=4,min_change=8",
        "AdaptiveDetector",
        {
            "adaptive_threshold": 2,
            "window_width": 3,
            "min_scene_len": 4,
            "min_content_val": 8,
        },
    ),
)
DEFAULTS = OPTIONS[:2]
"""All that is asked where it is the file that is of another kind, not the cuts."""


def options_of(video: Path) -> Sequence[Options]:
    return OPTIONS if video.stem in ("short_shots", "flashes", "not_shrunk") else DEFAULTS


@pytest.fixture(scope="module")
def scenedetect_python() -> str:
    if importlib.util.find_spec("scenedetect") is None:
        pytest.skip("PySceneDetect is not installed: pip install --no-deps scenedetect")
    return sys.executable


@dataclass
class Peer:
    """PySceneDetect's answers, asked for all at once: starting it takes longer than a film."""

    python: str
    answers: dict[tuple[Path, str], list[tuple[int, float]]] = field(default_factory=dict)

    def ask(self, videos: list[Path]) -> None:
        asked = [(video, ours, theirs) for video in videos for ours, *theirs in options_of(video)]
        jobs = [
            {"video": str(video), "detector": name, "options": options}
            for video, _, (name, options) in asked
        ]
        done = subprocess.run(
            [self.python, str(PEER)],
            input=json.dumps(jobs),
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT_S,
        )
        for (video, ours, _), cuts in zip(asked, json.loads(done.stdout)["cuts"], strict=True):
            self.answers[video, ours] = [(frame, seconds) for frame, seconds in cuts]


@pytest.fixture(scope="module")
def films(ffmpeg: str, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("made")
    return [*sorted(sample.glob("*.mp4")), *(_make(ffmpeg, made, folder) for made in MADE)]


@pytest.fixture(scope="module")
def peer(scenedetect_python: str, films: list[Path]) -> Peer:
    one = Peer(scenedetect_python)
    one.ask(films[2:])
    return one


@pytest.mark.parametrize("place", range(2, 4 + len(MADE)))
def test_the_same_cuts(peer: Peer, films: list[Path], place: int) -> None:
    """The same frames, at the same times since the film began."""
    video = films[place]
    detectors = {ours: build("detector", ours).thing for ours, *_ in options_of(video)}
    report = scan(video, list(detectors.values()))
    for ours, detector in detectors.items():
        expected = peer.answers[video, ours]
        found = detector.boundaries
        assert [one.frame for one in found] == [frame for frame, _ in expected], ours
        for one, (_, seconds) in zip(found, expected, strict=True):
            # OpenCV gives milliseconds.
            assert float(one.time - report.info.start) == pytest.approx(seconds, abs=0.001)


def test_something_is_found_in_the_films_made_here(peer: Peer, films: list[Path]) -> None:
    """Lists that are all empty would be equal as well."""
    for video in films[4:]:
        found = {ours: peer.answers[video, ours] for ours, *_ in options_of(video)}
        assert any(found.values()) == (video.stem != "nothing_happens"), video.stem


def test_a_film_that_lies_on_its_side(ffmpeg: str, scenedetect_python: str, tmp_path: Path) -> None:
    """As telephones record: turned upright by both readers."""
    lying = _make(ffmpeg, Made("lying", SHORT), tmp_path)
    video = tmp_path / "turned.mp4"
    command = [ffmpeg, "-v", "error", "-i", str(lying), "-c", "copy", "-metadata:s:v", "rotate=90"]
    subprocess.run([*command, str(video)], check=True)
    peer = Peer(scenedetect_python)
    peer.ask([video])
    ours = _ours(video, {"content": [], "adaptive": []})
    for name, cuts in ours.items():
        assert cuts == [frame for frame, _ in peer.answers[video, name]]


def test_a_variable_rate(ffmpeg: str, scenedetect_python: str, tmp_path: Path) -> None:
    """Its frame numbers are times at the mean rate, so times are compared."""
    made = Made("variable", SHORT, effects="select='not(mod(n,3))+gt(n,90)'")
    video = _make(ffmpeg, made, tmp_path, "-fps_mode", "vfr")
    peer = Peer(scenedetect_python)
    peer.ask([video])
    detectors = {ours: build("detector", ours).thing for ours in ("content", "adaptive")}
    scan(video, list(detectors.values()))
    for ours, detector in detectors.items():
        expected = [seconds for _, seconds in peer.answers[video, ours]]
        assert [float(one.time) for one in detector.boundaries] == pytest.approx(
            expected, abs=0.001
        )


def _recorded(data: Path) -> dict[str, dict[str, list[int]]]:
    path = data / "reference" / "pyscenedetect_cuts.json"
    cuts: dict[str, dict[str, list[int]]] = json.loads(path.read_text())["cuts"]
    return cuts


@pytest.mark.slow
def test_the_cuts_recorded_earlier(shared_data: Path) -> None:
    """PySceneDetect 0.7.2 with its defaults, frame by frame, on every film but the longest."""
    for name, expected in _recorded(shared_data).items():
        if name not in LONG:
            assert _ours(shared_data / "video" / name, expected) == expected, name


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_the_cuts_recorded_for_long_films(shared_data: Path, name: str) -> None:
    expected = _recorded(shared_data)[name]
    assert _ours(shared_data / "video" / name, expected) == expected


def _ours(video: Path, names: dict[str, list[int]]) -> dict[str, list[int]]:
    detectors = {name: build("detector", name).thing for name in names}
    scan(video, list(detectors.values()))
    return {name: [one.frame for one in detectors[name].boundaries] for name in names}


def _make(ffmpeg: str, made: Made, folder: Path, *arguments: str) -> Path:
    out = folder / f"{made.name}{made.suffix}"
    inputs: list[str] = []
    for number, length in enumerate(made.lengths):
        source = SOURCES[number % len(SOURCES)]
        inputs += ["-f", "lavfi", "-t", str(length / _number(made.rate))]
        inputs += ["-i", f"{source}=size={made.size}:rate={made.rate}"]
    # Scaled, since some sources round odd sizes.
    alike = f"scale={made.size.replace('x', ':')},setsar=1,format=yuv444p"
    shots = "".join(
        f"[{number}:v]trim=end_frame={length},{alike}[s{number}];"
        for number, length in enumerate(made.lengths)
    )
    joined = "".join(f"[s{number}]" for number in range(len(made.lengths)))
    graph = f"{shots}{joined}concat=n={len(made.lengths)},fps={made.rate},{made.effects}[out]"
    command = [ffmpeg, "-v", "error", "-y", *inputs, "-filter_complex", graph, "-map", "[out]"]
    subprocess.run([*command, *made.encoder, *arguments, str(out)], check=True)
    return out


def _number(rate: str) -> float:
    top, _, bottom = rate.partition("/")
    return int(top) / int(bottom or 1)
