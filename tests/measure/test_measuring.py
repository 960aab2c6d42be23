"""One decode serves all metrics, and none can harm another."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from av.video.frame import VideoFrame

from screentest.analysis.runs import read_results
from screentest.core import (
    BaseConsumer,
    Consumer,
    Frame,
    FrameRequest,
    Image,
    Item,
    Metric,
    MetricInfo,
    NoValue,
    Outcome,
    Outcomes,
    OutputInfo,
    Reason,
    Resources,
    Score,
    Size,
)
from screentest.core.outcome import BORDERS
from screentest.core.registry import Registry, registry
from screentest.measure.items import measure
from screentest.measure.tasks import score_items
from screentest.metrics import CORE
from screentest.run.engine import InlineEngine
from screentest.run.session import Settings, Tools
from screentest.run.store import RunStore
from screentest.sample import sample_videos
from screentest.testing.films import gliding, write_film
from screentest.video.probe import probe
from screentest.video.samples import KeptFrames, sample_frames
from screentest.video.scan import scan
from screentest.video.shots import find_shots
from screentest.video.source import VideoSource

SAMPLE = sample_videos()[2].item


class Counter(BaseConsumer):
    """Counts frames."""

    wants = FrameRequest(size=Size(long_side=32))

    def __init__(self) -> None:
        self.count = 0

    def take(self, frame: Frame) -> None:
        self.count += 1


@dataclass
class Work:
    """A metric at work whose every step can be made to fail."""

    item: Item
    resources: Resources
    fault: str
    counter: Counter = field(default_factory=Counter)

    @property
    def consumers(self) -> Sequence[Consumer]:
        return [self.counter]

    def finish(self) -> Outcomes:
        if self.fault == "finish":
            raise ValueError("a slip in the metric")
        if self.fault == "reason":
            raise NoValue(Reason.NOT_APPLICABLE, "nothing to see")
        if self.fault == "undeclared":
            return {"other": Outcome.of(Score(1.0))}
        if self.fault == "number":
            return {"frames": 1.0}  # type: ignore[dict-item]
        if self.fault == "list":
            return [Outcome.of(Score(1.0))]  # type: ignore[return-value]
        if self.fault == "object":
            return {"frames": Outcome.of({"value": 1.0})}  # type: ignore[dict-item]
        if self.fault == "partial":
            return {"frames": Outcome.of(Score(float(self.counter.count)))}
        shots = len(self.resources.shots(self.item.video))
        return {
            "frames": Outcome.of(Score(float(self.counter.count))),
            "shots": Outcome.of(Score(float(shots))),
        }


class Frames:
    """Counts frames and shots."""

    def __init__(self, fault: str = "", needs: tuple[str, ...] = ()) -> None:
        self.fault = fault
        outputs = {name: OutputInfo("how many", high=1e9) for name in ("frames", "shots")}
        self.info = MetricInfo(outputs, shots=True, needs=needs)

    def start(self, item: Item, resources: Resources) -> Work:
        if self.fault == "start":
            raise RuntimeError("cannot begin")
        return Work(item, resources, self.fault)


def measured(metrics: dict[str, Metric], video: Path = SAMPLE.video) -> dict[str, Outcomes]:
    return measure(Item("one", video), metrics, Tools(Settings()))


def test_values_are_those_of_probe_and_detector() -> None:
    found = measured({"a": Frames(), "b": Frames()})
    assert found["a"]["frames"].unwrap().value == probe(SAMPLE.video).frames
    assert found["a"]["shots"].unwrap().value == len(find_shots(SAMPLE.video))
    assert found["b"] == found["a"]


def test_all_share_one_decode(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*args: object, **options: object) -> object:
        calls.append(args)
        return scan(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("screentest.measure.items.scan", counted)
    monkeypatch.setattr("screentest.video.shots.scan", counted)
    measured({"a": Frames(), "b": Frames(), "c": Frames()})
    assert len(calls) == 1


def bars(picture: Image) -> Image:
    boxed = picture.copy()
    boxed[:12] = boxed[-12:] = 0
    return boxed


def film_of(name: str, folder: Path) -> Item:
    if name == "several shots":
        return SAMPLE
    pictures = gliding(24, 1)
    boxed = [bars(picture) for picture in pictures]
    film = write_film(folder / "film.mkv", boxed if name == "borders" else pictures)
    return Item("film", film, prompt="a red bird and a blue car")


@pytest.mark.parametrize("name", ["no borders", "borders", "several shots"])
def test_a_whole_run_decodes_each_frame_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Count the frames that leave the decoder, with every metric of ``core`` at work."""
    item = film_of(name, tmp_path)
    frames = probe(item.video).frames
    opened: list[Path] = []
    decoded: list[VideoFrame] = []

    class Counting(VideoSource):
        def __init__(self, *args: Any) -> None:
            opened.append(args[0])
            super().__init__(*args)

        def _decode(self, packet: Any) -> list[VideoFrame]:
            frames = super()._decode(packet)
            decoded.extend(frames)
            return frames

    for module in ("probe", "memory", "survey"):
        loaded = importlib.import_module(f"screentest.video.{module}")
        monkeypatch.setattr(loaded, "VideoSource", Counting)
    with RunStore(tmp_path / "run", command="score") as store:
        score_items(store, [item], CORE, engine=InlineEngine())
        results = {value.name: value.outcome for value in read_results(store).values}
    assert results["named_colours"].ok  # it samples frames inside the borders
    assert (BORDERS in results["contrast"].unwrap().details) == (name == "borders")
    assert len(decoded) == frames + 1  # the probe looks at the first picture
    assert len(opened) == 2


def test_frames_that_a_scan_keeps_are_those_that_are_sampled() -> None:
    kept, too_small = KeptFrames(), KeptFrames(most=1_000_000)
    for keeper in (kept, too_small):
        scan(SAMPLE.video, [], kept=keeper)
    assert len(kept.frames) == probe(SAMPLE.video).frames
    assert not too_small.frames
    moments = [shot.span.centre for shot in find_shots(SAMPLE.video)]
    for fresh, again in zip(
        sample_frames(SAMPLE.video, moments),
        sample_frames(SAMPLE.video, moments, kept=kept.frames),
        strict=True,
    ):
        assert (fresh.time, fresh.index) == (again.time, again.index)
        assert (fresh.image == again.image).all()


def test_metrics_are_built_once_for_all_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metrics are built to sign them and once in the worker, however many items there are."""
    built: list[tuple[str, str]] = []
    build = Registry.build

    def counting(self: Registry, kind: str, text: str, **options: Any) -> Any:
        built.append((kind, text))
        return build(self, kind, text, **options)

    monkeypatch.setattr(Registry, "build", counting)
    monkeypatch.setattr("screentest.measure.evaluators.build", registry.build)
    metrics = ["contrast:rate=1", "flicker", "shot_count"]
    items = [Item(f"film {number}", SAMPLE.video) for number in range(4)]
    with RunStore(tmp_path / "run", command="score") as store:
        score_items(store, items, metrics, engine=InlineEngine())
    assert sorted(text for kind, text in built if kind == "metric") == sorted(2 * metrics)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("start", Reason.CRASHED),
        ("finish", Reason.CRASHED),
        ("undeclared", Reason.CRASHED),
        ("number", Reason.CRASHED),
        ("list", Reason.CRASHED),
        ("object", Reason.CRASHED),
        ("reason", Reason.NOT_APPLICABLE),
    ],
)
def test_a_fault_of_one_metric_is_its_own(fault: str, reason: Reason) -> None:
    found = measured({"good": Frames(), "bad": Frames(fault)})
    assert found["good"]["frames"].ok
    assert found["bad"].keys() == {"frames", "shots"}
    for outcome in found["bad"].values():
        assert outcome.failure is not None
        assert outcome.failure.reason is reason


def test_a_value_that_was_promised_and_not_given_is_a_failure() -> None:
    found = measured({"a": Frames("partial")})
    assert found["a"]["frames"].ok
    assert found["a"]["shots"].failure is not None


@pytest.mark.parametrize("need", ["text", "prompt", "script", "references", "source"])
def test_what_an_item_lacks_makes_a_metric_not_applicable(need: str) -> None:
    found = measured({"a": Frames(needs=(need,))})
    failure = found["a"]["frames"].failure
    assert failure is not None
    assert failure.reason is Reason.NOT_APPLICABLE
    assert f"no {'prompt' if need == 'text' else need}" in failure.detail
    assert "in a manifest" in failure.advice


def test_a_bad_file_fails_every_metric_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "none.mp4").write_bytes(b"")
    found = measured({"a": Frames(), "b": Frames()}, tmp_path / "none.mp4")
    for outcomes in found.values():
        for outcome in outcomes.values():
            assert outcome.failure is not None
            assert outcome.failure.reason is Reason.EMPTY_FILE


def test_half_a_film_has_no_score_unless_allowed(tmp_path: Path) -> None:
    import subprocess

    whole = tmp_path / "whole.mkv"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", SAMPLE.video, "-c", "copy", "-an", whole], check=True
    )
    damaged = tmp_path / "damaged.mkv"
    data = bytearray(whole.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4000] = bytes(4000)
    damaged.write_bytes(data)

    refused = measured({"a": Frames()}, damaged)["a"]["frames"]
    assert refused.failure is not None
    assert refused.failure.reason is Reason.UNDECODABLE
    assert "--allow-damaged" in refused.failure.advice
    tools = Tools(Settings(allow_damaged=True))
    assert measure(Item("one", damaged), {"a": Frames()}, tools)["a"]["frames"].ok


class Glance:
    """Looks at one frame and lets none pass by, as metrics that ask a model do."""

    info = MetricInfo({"seen": OutputInfo("how many", high=1e9)})
    consumers = ()

    def start(self, item: Item, resources: Resources) -> Glance:
        self.item, self.resources = item, resources
        return self

    def finish(self) -> Outcomes:
        moments = [self.resources.info(self.item.video).start]
        frames = list(self.resources.frames(self.item.video, moments, FrameRequest()))
        return {"seen": Outcome.of(Score(float(len(frames))))}


def test_half_a_film_has_no_score_by_a_glance_either(tmp_path: Path) -> None:
    data = SAMPLE.video.read_bytes()
    half = tmp_path / "half.mp4"
    half.write_bytes(data[: len(data) // 2])
    refused = measured({"a": Glance()}, half)["a"]["seen"]
    assert refused.failure is not None
    assert refused.failure.reason is Reason.UNDECODABLE
    assert "the file ends" in refused.failure.detail
    tools = Tools(Settings(allow_damaged=True))
    assert measure(Item("one", half), {"a": Glance()}, tools)["a"]["seen"].ok
    assert measured({"a": Glance()})["a"]["seen"].unwrap().value == 1


def test_a_model_that_is_missing_fails_those_who_ask_for_it(tmp_path: Path) -> None:
    """The role videoscore has no built-in backend: other metrics must not suffer for that."""

    item = Item("one", SAMPLE.video, "a bird")
    with RunStore(tmp_path / "run", command="score") as store:
        score_items(store, [item], ["videoscore", "frozen"], engine=InlineEngine())
        found = {value.name: value.outcome for value in read_results(store).values}
    assert found["frozen"].ok
    lost = found["videoscore.visual_quality"].failure
    assert lost is not None
    assert lost.reason is Reason.MISSING_MODEL


@pytest.mark.parametrize("large", [1 << 30, 1])
def test_a_file_that_claims_any_size_holds_nobody_up(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """15 TB of nothing; with ``large`` = 1 the good film is one that is hashed ahead."""
    from screentest.run import inputs

    monkeypatch.setattr(inputs, "LARGE", large)
    sparse = tmp_path / "sparse.mp4"
    sparse.touch()
    os.truncate(sparse, 15 << 40)
    items = [Item("sparse", sparse), Item("good", SAMPLE.video)]
    with RunStore(tmp_path / "run", command="score") as store:
        done = score_items(store, items, ["frozen"], engine=InlineEngine())
        found = {value.item: value.outcome for value in read_results(store).values}
    assert (done.total, done.made, done.pending) == (2, 2, 0)
    assert done.failures == {Reason.TOO_LARGE: 1}
    assert found["good"].ok
    assert found["sparse"].failure is not None
    assert "16,492.7 GB" in found["sparse"].failure.detail
