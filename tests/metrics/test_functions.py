"""Plain functions as metrics: every form, options, ranges, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import screentest
from screentest.core import (
    BadOption,
    FrameRequest,
    Item,
    Layout,
    Outcomes,
    OutputInfo,
    Reason,
    Resources,
    Score,
    build,
    registry,
)
from screentest.core.functions import UnknownForm
from screentest.measure.items import measure
from screentest.metrics.curve import ShotOutput, mean_of
from screentest.run.session import Settings, Tools
from screentest.testing.films import write_film

Picture = Any


@pytest.fixture(autouse=True)
def _only_here() -> Iterator[None]:
    """What a test registers is gone after it."""
    yield
    for key, entry in list(registry._entries.items()):
        if entry.factory.__module__ == __name__:
            del registry._entries[key]


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds at eight frames a second: dark columns, then bright rows. The same picture in
    another light would be no cut."""
    dark, bright = (np.full((48, 64, 3), level, np.uint8) for level in (40, 200))
    dark[:, ::8] += 20
    bright[::8] += 20
    return write_film(tmp_path_factory.mktemp("film") / "film.mkv", [dark] * 8 + [bright] * 8)


def outcomes(spec: str, video: Path, prompt: str = "A dog.") -> Outcomes:
    metrics = {spec: build("metric", spec).thing}
    return measure(Item("film", video, prompt=prompt), metrics, Tools(Settings()))[spec]


def value(spec: str, video: Path) -> Score:
    (outcome,) = outcomes(spec, video).values()
    return outcome.unwrap()


def test_a_function_of_a_picture_is_a_whole_metric(video: Path) -> None:
    @screentest.metric(unit="0 black, 1 white", rate=2, long_side=32)
    def brightness(image: np.ndarray) -> float:
        """How bright it is."""
        return float(image.mean()) / 255

    built = build("metric", "brightness:rate=4")
    assert str(built.spec.signature) == "brightness|v:1|long_side:32|rate:4.0"
    info = built.thing.info.outputs["brightness"]
    assert (info.summary, info.unit, info.low, info.high) == (
        *("How bright it is", "0 black, 1 white"),
        *(-np.inf, np.inf),
    )
    score = value("brightness:rate=4", video)
    assert [round(point.value, 1) for point in score.curve] == [0.2, 0.8]
    assert [float(point.span.start) for point in score.curve] == [0.0, 1.0]
    assert score.value == pytest.approx(min(point.value for point in score.curve))
    assert brightness(np.full((2, 2, 3), 255, np.uint8)) == 1.0  # still the function it was


def test_two_consecutive_frames(video: Path) -> None:
    seen = []

    @screentest.metric(rate=None, higher_is_better=False)
    def jump(before: np.ndarray, after: np.ndarray, *, gain: float = 1.0) -> float:
        seen.append(before is after)
        return gain * abs(float(after.mean()) - float(before.mean())) / 255

    score = value("jump:gain=0.5", video)
    assert len(seen) == 15
    assert not any(seen)
    # The step across the cut is the first of the eight of the second shot.
    assert score.curve[0].value == pytest.approx(0, abs=0.01)
    assert score.curve[1].value == pytest.approx(0.5 * 160 / 255 / 8, rel=0.05)


def test_two_pictures_by_annotation(video: Path) -> None:
    @screentest.metric(low=-1, high=1)
    def rise(one: np.ndarray, two: np.ndarray) -> float:
        return (float(two.mean()) - float(one.mean())) / 255

    assert build("metric", "rise").thing.info.outputs["rise"].low == -1
    assert value("rise", video).curve


def test_a_shots_frames(video: Path) -> None:
    numbers: list[int] = []

    @screentest.metric(frames=3, long_side=16)
    def spread(shot: list[np.ndarray]) -> float:
        numbers.append(len(shot))
        assert max(shot[0].shape) == 16
        return float(np.std([one.mean() for one in shot])) / 255

    assert len(value("spread", video).curve) == 2
    assert numbers == [3, 3]
    assert build("metric", "spread").spec.signature.parts == (
        *(("v", "1"), ("frames", "3")),
        ("long_side", "16"),
    )


def test_frames_with_the_prompt(video: Path) -> None:
    given: list[tuple[int, str]] = []

    @screentest.metric(frames=4)
    def shown(frames: Sequence[np.ndarray], prompt: str) -> float:
        given.append((len(frames), prompt))
        return 0.5

    assert value("shown", video).details == {"frames": 4}
    assert given == [(4, "A dog.")]
    (lost,) = outcomes("shown", video, prompt="").values()
    assert lost.failure is not None
    assert lost.failure.reason is Reason.NOT_APPLICABLE


def test_the_video_and_the_item(video: Path) -> None:
    @screentest.metric(high=1e9, unit="bytes")
    def size(video: Path) -> float:
        return video.stat().st_size

    @screentest.metric(high=100, shots=True)
    def cuts(item: Item, resources: Resources) -> Score:
        return Score(len(resources.shots(item.video)) - 1.0, (), {"id": item.id})

    assert value("size", video).value == video.stat().st_size
    assert value("cuts", video).details == {"id": "film"}
    assert value("cuts", video).value == 1


def test_several_outputs(video: Path) -> None:
    @screentest.metric(
        outputs={"low": OutputInfo("darkest"), "high": OutputInfo("brightest")},
        request=FrameRequest(layout=Layout.GRAY),
    )
    def range_of(image: np.ndarray) -> dict[str, float]:
        assert image.ndim == 2
        return {"high": image.max() / 255, "low": image.min() / 255}

    @screentest.metric(
        outputs={
            "mean": ShotOutput(OutputInfo("mean"), mean_of(0)),
            "most": ShotOutput(OutputInfo("most"), lambda rows: float(rows.max())),
        }
    )
    def both(image: np.ndarray) -> float:
        return float(image.mean()) / 255

    found = outcomes("range_of", video)
    assert found["low"].unwrap().value < found["high"].unwrap().value
    found = outcomes("both", video)
    assert found["mean"].unwrap().value <= found["most"].unwrap().value


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1.5, -0.1])
def test_a_wrong_number_is_a_failure_and_never_a_score(wrong: float, video: Path) -> None:
    @screentest.metric(low=0, high=1)
    def broken(image: np.ndarray) -> float:
        return wrong

    @screentest.metric(low=0, high=1)
    def also(video: Path) -> float:
        return wrong

    for name in ("broken", "also"):
        (outcome,) = outcomes(name, video).values()
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.CRASHED
        assert f"{wrong:g} of {name}" in outcome.failure.detail


def test_nothing_to_measure(video: Path) -> None:
    @screentest.metric(nothing="no face is shown")
    def faces(image: np.ndarray) -> float | None:
        return None

    (outcome,) = outcomes("faces", video).values()
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.detail) == (
        Reason.NOT_APPLICABLE,
        "no face is shown",
    )


def test_too_many_numbers_are_a_fault_of_the_metric(video: Path) -> None:
    @screentest.metric()
    def two(image: np.ndarray) -> tuple[float, float]:
        return 0.1, 0.2

    (outcome,) = outcomes("two", video).values()
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.CRASHED
    assert re.search(r"\b2 numbers.* two\b", outcome.failure.detail)


def test_unknown_parameters_are_refused_with_the_forms() -> None:
    with pytest.raises(UnknownForm, match=r"mine\(image, sound\)") as raised:

        @screentest.metric()
        def mine(image: np.ndarray, sound: bytes) -> float:
            return 0.0

    for form in ("(before, after, …)", "(shot, …)", "(frames, …)", "(item, …)", "prompt"):
        assert form in str(raised.value)


def test_an_option_needs_a_default() -> None:
    with pytest.raises(UnknownForm, match=r"'strength'.* default"):

        @screentest.metric()
        def mine(image: np.ndarray, *, strength: float) -> float:
            return 0.0


@pytest.mark.parametrize("spec", ["mine:rate=0", "mine:rate=fast", "mine:long_side=0", "mine:x=1"])
def test_invalid_options_are_the_users(spec: str) -> None:
    @screentest.metric(long_side=8)
    def mine(image: np.ndarray) -> float:
        return 0.0

    with pytest.raises(BadOption):
        build("metric", spec)


def test_decorators_without_parentheses(video: Path) -> None:
    @screentest.metric
    def lightness(image: np.ndarray) -> float:
        return float(image.mean()) / 255

    @screentest.judge
    def lighter(first: list[Picture], second: list[Picture]) -> tuple[float, float]:
        return float(np.mean(first)), float(np.mean(second))

    @screentest.placebo
    def untouched(image: np.ndarray) -> np.ndarray:
        return image

    @screentest.suite
    def light_alone() -> screentest.Suite:
        return screentest.Suite("light_alone", ("lightness",))

    @screentest.hook
    class silent_hook(screentest.BaseHook):
        """Does nothing."""

    assert value("lightness", video).value == pytest.approx(0.17, abs=0.01)
    names = {"judge": "lighter", "placebo": "untouched", "suite": "light_alone"}
    for kind, name in {**names, "hook": "silent_hook"}.items():
        assert registry.has(kind, name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": ["a", "b"]}, r"outputs \['a', 'b'\]: .*Mapping"),
        ({"outputs": {"a": "words"}}, "invalid outputs"),
        ({"roles": "chat"}, r"roles 'chat': .*Sequence"),
        ({"rate": "fast"}, r"rate 'fast': .*float"),
        ({"frames": True}, r"frames True: .*int"),
        ({"request": {"rate": 2}}, "must be FrameRequest"),
        ({"unti": "dB"}, "unexpected keyword argument 'unti'"),
    ],
)
def test_wrong_arguments_of_a_decorator(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        screentest.metric(**options)


def test_what_a_decorator_lacks() -> None:
    with pytest.raises(TypeError, match=r"@metric\(name='grain'\)"):
        screentest.metric("grain")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"@backend .* role"):
        screentest.backend(object)  # type: ignore[arg-type]

    def darker(image: np.ndarray, severity: float) -> np.ndarray:
        return image

    with pytest.raises(TypeError, match=r"@degradation of darker .*aspect"):
        screentest.degradation(darker)


def test_a_factory_is_registered_as_it_is() -> None:
    @screentest.metric(name="mine", version=3, summary="a class of mine", neutral=("batch",))
    def factory(*, batch: int = 8, level: float = 1.0) -> object:
        return object()

    assert str(build("metric", "mine").spec.signature) == "mine|v:3|level:1.0"


def test_the_page_on_plugins(video: Path) -> None:
    """What it shows works as it stands there."""
    text = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
    code = "".join(re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S))
    exec(compile(code, "plugins.md", "exec"), {"__name__": __name__})
    assert value("saturation:rate=4", video).value == 0  # the film is grey
    assert f'"""{build("judge", "more_vivid").thing.info.summary}' in text
    assert build("degradation", "fading:left=0.5").thing.info.aspect == "aesthetics"


@pytest.mark.parametrize(
    ("declared", "scored"),
    [({}, True), ({"high": 255.0}, True), ({"high": 4.0}, False), ({"low": 200.0}, False)],
)
def test_an_undeclared_range_is_no_range(
    video: Path, declared: dict[str, float], scored: bool
) -> None:
    """The mean level of its pictures is above 4 and below 200."""
    name = f"level_{len(declared)}_{int(sum(declared.values()))}"

    @screentest.metric(name=name, rate=2, long_side=64, **declared)
    def level(image: np.ndarray) -> float:
        """Return the mean level."""
        return float(image.mean())

    (outcome,) = outcomes(name, video).values()
    assert outcome.ok is scored
