"""What the check of finished pairs means for a build, and for those who verify it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import (
    Aspect,
    BadOption,
    Reason,
    register,
)
from screentest.core.registry import build, registry
from screentest.models import Detection, Models, read_models
from screentest.run.engine import InlineEngine
from screentest.testbeds import checks
from screentest.testbeds.builder import BuildResult, build_testbed
from screentest.testbeds.captions.facts import CaptionFacts, Coloured
from screentest.testbeds.contract import (
    Chosen,
    DegradationInfo,
    Effect,
    Film,
)
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.shared import AnyClip, changed_clips
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.page import data_of
from screentest.testbeds.sources import Extractor
from screentest.testbeds.testbed import Touched, read_testbed
from screentest.testbeds.verify import VerificationFinding, check_source, source_tasks
from screentest.video.edit.pictures import Pixels, VideoPart
from tests.messages import names
from tests.testbeds.disc import (
    MODELS,
    RATE,
    DiscDetector,
    Image,
    disc,
    item_of,
    picture,
    written,
)
from tests.testbeds.stage import QUICK

pytestmark = pytest.mark.usefixtures("stand_ins")
PICTURES = DegradationInfo(Aspect.AESTHETICS)


def test_a_build_skips_what_fails_and_keeps_the_figures_of_what_passes(
    film: Film, tmp_path: Path
) -> None:
    item = item_of(film)
    facts = CaptionFacts(subject=("ball",), color=(Coloured("red", "ball"),))
    options = BuildOptions(
        degradations=("aesthetics", "color", "object_integrity"),
        clips=(1,),
        encoder=QUICK,
        models=read_models(MODELS),
    )

    def built(name: str, options: BuildOptions) -> Any:
        reader = Extractor("stand_in", lambda caption: facts)
        return build_testbed(
            [item], tmp_path / name, options, extractor=reader, engine=InlineEngine()
        ).testbed

    bed = built("bed", options)
    assert {pair.name for pair in bed.pairs} == {"aesthetics", "color", "object_integrity"}
    by_name = {pair.name: pair.checks for pair in bed.pairs}
    assert by_name["color"]["colour_reached"] > 0.6
    assert by_name["object_integrity"]["still_found"] == 0
    assert "colour reached" in data_of(bed)["pairs"][1]["checked"]
    # In this process, which knows the stand-ins.
    (task,) = source_tasks(tmp_path / "bed", bed, read_models(MODELS))
    assert not check_source(task)
    was = task.pairs[0]
    recipe = next(pair.recipe for pair in bed.pairs if pair.name == "color")
    unlike = replace(was, name="color", recipe=recipe, touched=tuple(map(as_blue, was.touched)))
    found = check_source(replace(task, pairs=(unlike,)))
    assert {one.check for one in found} == {"harm"}
    assert "new_colour" in {one.fault.kind for one in found}

    # A detector that sees the ball whatever was done: nothing it removes is gone.
    stubborn = [one for one in MODELS if not one.startswith("detection")]
    register("detection", "stubborn", version=1, summary="sees it everywhere")(Stubborn)
    try:
        choices = read_models([*stubborn, "detection=stubborn"])
        rejected = built(
            "rejected",
            replace(options, degradations=("object_integrity",), models=choices),
        )
    finally:
        registry._entries.pop(("detection", "stubborn"))
    assert not rejected.pairs
    (skip,) = rejected.skips
    assert skip.failure.reason is Reason.CHECK_FAILED
    assert "is still found in" in skip.failure.detail
    left = [path.name for path in (tmp_path / "rejected" / "videos").rglob("*.mp4")]
    assert left == ["intact.mp4"]

    without = built("without", replace(options, degradations=("color",), models=()))
    assert without.skips[0].failure.reason is Reason.MISSING_MODEL


def as_blue(touched: Touched) -> Touched:
    return replace(touched, details={"object": "ball", "from": "red", "to": "blue"})


class Stubborn(DiscDetector):
    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        return [Detection(phrases[0], 0.9, (40.0, 26.0, 84.0, 70.0))]


@pytest.fixture
def fickle() -> Iterator[None]:
    """An operator that fails where the disc is at the left, and only at full severity."""

    @degradation(aspect="aesthetics", summary="fails in the first clip")
    def fickle(image: Image, severity: float) -> Image:
        left = np.nonzero(disc(image))[1].min() < 34
        return image if severity == 1 and left else image // 2

    yield
    registry._entries.pop(("degradation", "fickle"))


@pytest.fixture
def planted() -> Iterator[None]:
    """An operator that harms less the more it should, and one that does not return a picture."""

    @degradation(aspect="aesthetics", summary="darkest when it should be gentle")
    def falling(image: Image, severity: float) -> Image:
        return np.asarray(image * (0.1 + 0.6 * severity), np.uint8)

    @degradation(aspect="aesthetics", summary="of another size")
    def misshapen(image: Image, severity: float) -> Image:
        return image[:10]

    yield
    registry._entries.pop(("degradation", "falling"))
    registry._entries.pop(("degradation", "misshapen"))


@pytest.mark.usefixtures("planted")
def test_a_ladder_that_falls_is_refused_whole(film: Film, tmp_path: Path) -> None:
    options = BuildOptions(
        degradations=("underexposed", "falling", "misshapen"),
        clips=(1,),
        severities=(0.25, 0.5, 1.0),
        encoder=QUICK,
    )
    bed = build_testbed([item_of(film)], tmp_path, options, engine=InlineEngine()).testbed
    assert [pair.name for pair in bed.pairs] == ["underexposed"] * 3
    distances = [pair.checks["distance"] for pair in bed.pairs]
    assert distances == sorted(distances)
    falling, misshapen = bed.skips[:3], bed.skips[3:]
    for skip in falling:
        assert skip.failure.reason is Reason.HARMS_LESS
    # What its author needs to know, without the lines of ours that it passed through.
    for skip in misshapen:
        assert skip.failure.reason is Reason.CRASHED
        assert names(skip.failure.detail, "(10, 128, 3) uint8", "(96, 128, 3) uint8")
        assert "operator" in skip.failure.advice
    listed = {pair.changed.path for pair in bed.pairs} | {bed.pairs[0].intact}
    assert {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*.mp4")} == listed
    # One rung made again is compared with the others, which stay.
    (tmp_path / bed.pairs[0].changed.path).unlink()
    again = build_testbed([item_of(film)], tmp_path, options, engine=InlineEngine())
    assert again.testbed == bed


@pytest.mark.usefixtures("fickle")
def test_all_rungs_of_a_ladder_have_the_clips_that_pass_at_the_strongest(
    film: Film, tmp_path: Path
) -> None:
    item = item_of(film)
    options = BuildOptions(
        degradations=("fickle",), clips=(2,), severities=(0.5, 1.0), least_clips=1, encoder=QUICK
    )
    bed = build_testbed([item], tmp_path, options, engine=InlineEngine()).testbed
    assert [pair.severity for pair in bed.pairs] == [0.5, 1]
    assert [one.clip for pair in bed.pairs for one in pair.touched] == [1, 1]
    # Made again by itself, a rung is what it was, and nothing is left beside it.
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("videos/**/*.mp4")}
    gone, kept = (tmp_path / pair.changed.path for pair in bed.pairs)
    gone.unlink()
    again = build_testbed([item], tmp_path, options, engine=InlineEngine())
    assert (again.testbed, again.made) == (bed, 1)
    assert files.keys() == set(tmp_path.glob("videos/**/*.mp4"))
    assert kept.stat().st_mtime_ns == files[kept]


def test_what_was_checked_otherwise_is_made_anew(
    film: Film, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = BuildOptions(degradations=("aesthetics",), clips=(1,), encoder=QUICK)

    def made() -> int:
        return build_testbed([item_of(film)], tmp_path, options, engine=InlineEngine()).made

    assert made() == 2
    assert made() == 0
    monkeypatch.setattr(checks, "VERSION", checks.VERSION + 1)
    assert made() == 1
    # A detector that is there now would find the subject of a new background, or not.
    info = build("degradation", "background_consistency").thing.info
    without, found = (checks.check_signature(info, Models(read_models(m))) for m in ((), MODELS))
    assert dict(without.parts)["detection"] == "none"
    assert dict(found.parts)["detection"] == "detection=disc"
    assert not dict(checks.check_signature(PICTURES, Models()).parts).keys() & {"detection"}


@pytest.fixture
def moody() -> Iterator[None]:
    """An operator whose promise depends on an option."""

    @register("degradation", "moody", version=1, summary="promises as much as it is told")
    def moody(*, changed: float = 1.0) -> Any:
        class Moody(AnyClip):
            info = DegradationInfo(Aspect.DYNAMICS_DEGREE, effect=Effect.TIMING, changed=changed)

            def parts(self, context: Any, chosen: Any, severity: float) -> list[VideoPart]:
                def work(one: Chosen) -> Any:
                    return lambda frames: (
                        frame.image // 2 if n < 4 else frame.image for n, frame in enumerate(frames)
                    )

                return changed_clips(context, chosen, work, Pixels.RGB)

        return Moody()

    yield
    registry._entries.pop(("degradation", "moody"))


@pytest.mark.usefixtures("moody")
def test_a_pair_is_verified_by_what_its_options_promise(film: Film, tmp_path: Path) -> None:
    options = BuildOptions(degradations=("moody:changed=0.4",), clips=(1,), encoder=QUICK)
    bed = build_testbed([item_of(film)], tmp_path, options, engine=InlineEngine()).testbed
    (task,) = source_tasks(tmp_path, bed)
    assert not check_source(task)
    (pair,) = bed.pairs
    assert "changed:0.4" in pair.recipe
    (found,) = check_source(replace(task, pairs=(replace(pair, recipe="moody|v:1"),)))
    assert found.fault.kind == "some_invisible"
    assert found.fault.values == {"count": 4, "total": 8}
    (found,) = check_source(replace(task, pairs=(replace(pair, recipe="moody|v:1|loud:1"),)))
    assert found.fault.kind == "unchecked"


BALL = CaptionFacts(subject=("ball",), color=(Coloured("red", "ball"),))


class SlowEditor:
    """Paints the disc blue, except in the first clips, and knows how often it was asked."""

    identity: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.asked: Counter[bytes] = Counter()
        self.fails: set[str] = set()

    def recolour(self, image: Image, mask: object, thing: str, colour: str) -> Image:
        self.asked[image.tobytes()] += 1
        fails = f"{float(image[:8, :8].mean()) / 30:.0f}" in self.fails
        paint = (200, 30, 30) if fails else PAINTS[colour]
        return np.where(disc(image)[..., None], np.array(paint, np.uint8), image)


PAINTS = {"blue": (30, 60, 210), "green": (30, 160, 40), "yellow": (250, 220, 40)} | dict.fromkeys(
    ("black", "grey", "white", "brown", "pink", "orange", "purple"), (125, 45, 160)
)


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowEditor]:
    made = SlowEditor()

    @register("image_edit", "slow", version=1, summary="slow")
    def slow(*, fails: str = "") -> SlowEditor:
        made.fails = set(fails)
        return made

    # Every picture counts as slow to make, and every colour but red is purple or easy to name.
    monkeypatch.setattr("screentest.models.networks.memory.SLOW", -1.0)
    monkeypatch.setattr(
        "screentest.testbeds.operators.things.BASIC_COLOURS", ("red", "blue", "green", "yellow")
    )
    yield made
    registry._entries.pop(("image_edit", "slow"))


@pytest.fixture(scope="module")
def six_clips(tmp_path_factory: pytest.TempPathFactory) -> Film:
    """The disc in six clips, each with its number as the grey of a corner."""
    pictures = [picture(number % 16) for number in range(6 * RATE)]
    for number, image in enumerate(pictures):
        image[:8, :8] = 30 * (number // RATE)
    return written(tmp_path_factory.mktemp("six"), pictures)


def recoloured(film: Film, out: Path, fails: str = "", **changed: Any) -> BuildResult:
    options = BuildOptions(
        degradations=("color:mask=none",),
        clips=(2,),
        encoder=QUICK,
        models=read_models([*MODELS, f"image_edit=slow,fails={fails}"]),
    )
    return build_testbed(
        [item_of(film)],
        out,
        replace(options, **changed),
        extractor=Extractor("stand_in", lambda _: BALL),
        engine=InlineEngine(),
    )


def test_every_clip_is_tried_and_no_frame_is_painted_twice(
    six_clips: Film, tmp_path: Path, editor: SlowEditor
) -> None:
    drawn = [
        touch.clip for touch in recoloured(six_clips, tmp_path / "all").testbed.pairs[0].touched
    ]
    assert max(editor.asked.values()) == 1
    assert len(editor.asked) == 2 * RATE
    # Four of six do not pass, those that are drawn first among them: the other two are the pair.
    others = [number for number in range(6) if number not in drawn]
    fails = "".join(map(str, [*drawn, *others[:2]]))
    editor.asked.clear()
    (pair,) = recoloured(six_clips, tmp_path / "few", fails).testbed.pairs
    assert [touch.clip for touch in pair.touched] == others[2:]
    assert not pair.faults
    assert len(editor.asked) <= 6 * RATE
    assert max(editor.asked.values()) == 1
    # What one build painted, the next finds: here with another rule for pairs that fail.
    editor.asked.clear()
    made = recoloured(six_clips, tmp_path / "few", fails, check="report")
    (pair,) = made.testbed.pairs
    assert [touch.clip for touch in pair.touched] == drawn
    assert "not_recoloured" in {fault.kind for fault in pair.faults}
    assert not editor.asked
    assert [remark.values["count"] for remark in made.remarks] == [1]
    assert not verified(tmp_path / "few")


def verified(folder: Path) -> list[VerificationFinding]:
    (task,) = source_tasks(folder, read_testbed(folder), read_models(MODELS))
    return list(check_source(task))


def test_a_testbed_may_be_built_without_checks(
    six_clips: Film, tmp_path: Path, editor: SlowEditor
) -> None:
    (pair,) = recoloured(six_clips, tmp_path, "012345", check="off").testbed.pairs
    assert (pair.checks, pair.checked_by, pair.faults) == ({}, "", ())
    assert len(pair.touched) == 2
    assert not verified(tmp_path)
    with pytest.raises(BadOption, match="require, report or off"):
        BuildOptions(check="often")
