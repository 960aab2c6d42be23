"""Planted failures are rejected: each is made on purpose, and the check must say what is wrong.

The film is a disc that drifts over a striped ground, in two clips of a second; the stand-in models
know where the disc is by its colour, in any picture they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import Aspect, Clip, Item, NoValue, PairKind, Reason, Script, Span, register
from screentest.core.registry import registry
from screentest.models import Detection, Models, read_models
from screentest.run import InlineEngine
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.captions.facts import CaptionFacts, Coloured
from screentest.testbeds.checks import PairCheck, check_pair
from screentest.testbeds.contract import (
    DegradationInfo,
    Details,
    Effect,
    Film,
    FilmClip,
    Region,
    boundaries,
    film_of,
)
from screentest.testbeds.operators.tracker import ThingShapes, is_shown, must_name_things
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.page import data_of
from screentest.testbeds.sightings import has_colour
from screentest.testbeds.sources import Extractor
from screentest.testbeds.testbed import Pair, Touched, VideoFile
from screentest.testbeds.verify import check_source, source_tasks
from screentest.video import Keep, Reencode, frame_by_frame, normalize, probe, splice
from tests.testbeds.stage import QUICK

Image = NDArray[np.uint8]
WIDTH, HEIGHT, RATE = 128, 96, 8
RED, BLUE = (210, 30, 30), (30, 60, 210)
PICTURES = DegradationInfo(Aspect.AESTHETICS)


def picture(number: int) -> Image:
    """The disc before stripes, which drift too."""
    ground = 90 + 50 * (((np.arange(WIDTH) + number) // 8) % 2)
    image = np.repeat(np.tile(ground, (HEIGHT, 1))[..., None], 3, axis=2).astype(np.uint8)
    cv2.circle(image, centre(number), 22, RED, -1)
    return image


def centre(number: int) -> tuple[int, int]:
    return 40 + 2 * number, 48


def disc(image: Image) -> NDArray[np.bool_]:
    """Where a picture is red."""
    return np.asarray((image[..., 0].astype(int) - image[..., 2] > 90) & (image[..., 0] > 120))


class DiscDetector:
    identity: Mapping[str, str] = {}

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        rows, columns = np.nonzero(disc(image))
        if len(rows) < 100:
            return []
        box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        return [Detection(phrases[0], 0.9, tuple(map(float, box)))]


class DiscSegmentation:
    identity: Mapping[str, str] = {}
    asked = 0

    def segment(self, image: Image, boxes: Sequence[Any]) -> list[NDArray[np.float32]]:
        DiscSegmentation.asked += 1
        return [disc(image).astype(np.float32) for _ in boxes]


class DiscMatting:
    identity: Mapping[str, str] = {}

    def matte(self, images: Sequence[Image]) -> list[NDArray[np.float32]]:
        return [disc(image).astype(np.float32) for image in images]


@pytest.fixture(scope="module", autouse=True)
def stand_ins() -> Iterator[None]:
    """Registered as those of a plugin would be."""
    made = {
        "detection": DiscDetector,
        "segmentation": DiscSegmentation,
        "matting": DiscMatting,
    }
    for role, backend in made.items():
        register(role, "disc", version=1, summary="knows the disc")(backend)
    yield
    for role in made:
        registry._entries.pop((role, "disc"))


MODELS = ["detection=disc", "segmentation=disc", "matting=disc"]


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Film:
    folder = tmp_path_factory.mktemp("checks")
    with av.open(str(folder / "source.mp4"), "w") as out:
        stream = out.add_stream("libx264", rate=RATE, options={"crf": "5", "preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for number in range(2 * RATE):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(picture(number), format="rgb24")))
        out.mux(stream.encode(None))
    script = Script(
        (
            Clip("A red ball rolls.", Span(Fraction(0), Fraction(1))),
            Clip("A red ball rolls on.", Span(Fraction(1), Fraction(2))),
        )
    )
    video = normalize(
        folder / "source.mp4",
        folder / "intact.mp4",
        keyframes_at=boundaries(script),
        settings=QUICK,
    )
    return film_of(video, script, [CaptionFacts()] * 2)


def checked(
    film: Film,
    info: DegradationInfo,
    change: Callable[[int, Image], Image],
    details: Details | None = None,
    *,
    leak: bool = False,
    severity: float = 1.0,
) -> PairCheck:
    """The check of a film whose first clip goes through ``change``; with a leak, both do."""
    folder = film.video.path.parent
    number = iter(range(1000))
    one, two = film.clips
    work = frame_by_frame(lambda image: change(next(number), image))
    parts = [Reencode(one.span, work), Reencode(two.span, work) if leak else Keep(two.span)]
    made = splice(film.video, parts, folder / "changed.mp4")
    touched = Touched(0, one.span, made.places[0], details or {})
    pair = pair_of(film, made.path, (touched,), severity)
    return check_pair(pair, folder, info, Models(read_models(MODELS)))


def pair_of(film: Film, path: Path, touched: tuple[Touched, ...], severity: float = 1.0) -> Pair:
    info = probe(path)
    file = VideoFile(path.name, "", 0, info.frames, info.duration, info.width, info.height)
    return Pair(
        *("film", PairKind.DEGRADATION, "planted", film.video.path.name, file, "planted"),
        severity=severity,
        clips=len(touched),
        touched=touched,
    )


def faults(found: PairCheck) -> str:
    return "; ".join(map(str, found.faults))


def darker(_: int, image: Image) -> Image:
    return image // 2


def repainted(colour: tuple[int, int, int]) -> Callable[[int, Image], Image]:
    def change(_: int, image: Image) -> Image:
        return np.where(disc(image)[..., None], np.array(colour, np.uint8), image)

    return change


def landscape(keep: Callable[[Image], NDArray[np.bool_]]) -> Callable[[int, Image], Image]:
    rng = np.random.default_rng(1)
    behind = cv2.resize(rng.integers(0, 255, (6, 8, 3), np.uint8), (WIDTH, HEIGHT))
    behind[..., 0] //= 3  # nothing red in it

    def change(_: int, image: Image) -> Image:
        return np.where(keep(image)[..., None], image, behind)

    return change


def test_a_real_harm_passes_with_its_figures(film: Film) -> None:
    found = checked(film, PICTURES, darker)
    assert not found.faults
    assert found.figures["changed_frames"] == 1
    assert found.figures["frames"] == RATE
    assert found.figures["change"] > 5


def test_an_edit_that_changes_nothing(film: Film) -> None:
    found = checked(film, PICTURES, lambda _, image: image ^ 1)
    assert faults(found) == "clip 1: in 8 of 8 frames no change can be seen"
    same = checked(film, PICTURES, lambda _, image: image)
    assert "as it was" in faults(same) or "no change can be seen" in faults(same)


def test_a_frame_in_the_middle_left_as_it_was(film: Film) -> None:
    found = checked(film, PICTURES, lambda n, image: image if n == 4 else image // 2)
    assert faults(found) == "clip 1: 1 of 8 frames are as they were"


def test_a_leak_outside_the_clip(film: Film) -> None:
    found = checked(film, PICTURES, darker, leak=True)
    assert "packets outside the touched clips differ" in faults(found)


def test_less_is_asked_of_a_gentle_rung(film: Film) -> None:
    def gentle(_: int, image: Image) -> Image:
        return np.asarray(image + np.uint8(2))

    assert checked(film, PICTURES, gentle).faults
    assert not checked(film, PICTURES, gentle, severity=0.25).faults


REMOVED = DegradationInfo(Aspect.OBJECT_INTEGRITY, region=Region.THING, checks=("thing_gone",))
BALL: Details = {"object": "ball"}


def filled(_: int, image: Image) -> Image:
    hole = cv2.dilate(disc(image).astype(np.uint8), np.ones((7, 7), np.uint8))
    return np.asarray(cv2.inpaint(image, hole, 3, cv2.INPAINT_TELEA), np.uint8)


def test_a_removed_thing_is_gone(film: Film) -> None:
    found = checked(film, REMOVED, filled, BALL)
    assert not found.faults
    assert found.figures["still_found"] == 0
    assert found.figures["inside"] > 0.9


def test_a_thing_that_is_still_there(film: Film) -> None:
    def shaded(_: int, image: Image) -> Image:
        return np.where(disc(image)[..., None], (image * 0.7).astype(np.uint8), image)

    assert "'ball' is still found in 8 of 8 pictures" in faults(
        checked(film, REMOVED, shaded, BALL)
    )


def test_a_mask_on_nothing(film: Film) -> None:
    def beside(_: int, image: Image) -> Image:
        image = image.copy()
        image[4:24, 4:24] = (20, 200, 20)
        return image

    assert "'ball' is as it was" in faults(checked(film, REMOVED, beside, BALL))

    def both(number: int, image: Image) -> Image:
        return beside(number, filled(number, image))

    assert "of what was changed lies beside 'ball'" in faults(checked(film, REMOVED, both, BALL))


def test_a_thing_removed_in_some_of_the_frames(film: Film) -> None:
    def often(number: int, image: Image) -> Image:
        return image if number % 3 == 1 else filled(number, image)

    assert "pictures that show it, 'ball' is as it was" in faults(
        checked(film, REMOVED, often, BALL)
    )


PAINTED = DegradationInfo(Aspect.COLOR, region=Region.THING, checks=("colour_reached",))
TO_BLUE: Details = {"object": "ball", "from": "red", "to": "blue"}


def test_the_new_colour_is_seen(film: Film) -> None:
    found = checked(film, PAINTED, repainted(BLUE), TO_BLUE)
    assert not found.faults
    assert found.figures["colour_reached"] > 0.9


@pytest.mark.parametrize(
    ("colour", "details", "words"),
    [
        ((30, 180, 40), TO_BLUE, "of what was recoloured is blue"),
        (BLUE, {**TO_BLUE, "from": "green"}, "of what was recoloured was green"),
    ],
)
def test_a_wrong_colour(
    film: Film, colour: tuple[int, int, int], details: Details, words: str
) -> None:
    assert words in faults(checked(film, PAINTED, repainted(colour), details))


def test_a_rectangle_instead_of_a_thing(film: Film) -> None:
    def boxed(_: int, image: Image) -> Image:
        ((left, top, right, bottom),) = (one.box for one in DiscDetector().detect(image, ["x"]))
        image = image.copy()
        image[int(top) : int(bottom), int(left) : int(right)] = BLUE
        return image

    assert "a rectangle was recoloured" in faults(checked(film, PAINTED, boxed, TO_BLUE))


BEHIND = DegradationInfo(
    Aspect.BACKGROUND_CONSISTENCY, region=Region.BACKGROUND, checks=("subject_kept",)
)
SUBJECT: Details = {"subjects": "ball"}


def test_a_subject_before_a_new_background(film: Film) -> None:
    found = checked(film, BEHIND, landscape(disc), SUBJECT)
    assert not found.faults
    assert found.figures["subject_found"] == 1
    assert 0.08 < found.figures["foreground"] < 0.2


def test_a_background_that_eats_the_subject(film: Film) -> None:
    def a_corner(image: Image) -> NDArray[np.bool_]:
        kept = np.zeros(image.shape[:2], bool)
        kept[70:, :60] = True
        return kept

    found = faults(checked(film, BEHIND, landscape(a_corner), SUBJECT))
    assert "'ball' is found again in 0 of 8 pictures" in found
    assert "of the foreground was changed too" in found

    def nothing(image: Image) -> NDArray[np.bool_]:
        return np.zeros(image.shape[:2], bool)

    assert "of the picture was kept as the foreground" in faults(
        checked(film, BEHIND, landscape(nothing), SUBJECT)
    )


def test_clips_that_were_moved_or_stay(film: Film) -> None:
    folder = film.video.path.parent
    spans = [clip.span for clip in film.clips]
    made = splice(film.video, [Keep(spans[1]), Keep(spans[0])], folder / "moved.mp4")
    moved = tuple(
        Touched(number, span, made.places[1 - number]) for number, span in enumerate(spans)
    )
    order = DegradationInfo(Aspect.TEMPORAL_FLOW, effect=Effect.ORDER)
    assert not check_pair(pair_of(film, made.path, moved), folder, order).faults
    still = splice(film.video, [Keep(span) for span in spans], folder / "still.mp4")
    stays = tuple(Touched(number, span, span) for number, span in enumerate(spans))
    said = faults(check_pair(pair_of(film, still.path, stays), folder, order))
    assert "clip 1: it is where it was" in said
    assert "clip 2: it is where it was" in said


def test_what_is_gone_or_held_must_be_declared(film: Film) -> None:
    folder = film.video.path.parent
    one, two = (clip.span for clip in film.clips)
    made = splice(film.video, [Keep(one)], folder / "gone.mp4")
    gone = pair_of(film, made.path, (Touched(1, two, None),))
    assert "it is gone" in faults(check_pair(gone, folder, PICTURES))
    assert not check_pair(
        gone, folder, DegradationInfo(Aspect.COMPREHENSIVENESS, effect=Effect.ABSENT)
    ).faults

    held = DegradationInfo(Aspect.DYNAMICS_DEGREE, effect=Effect.TIMING, changed=0.5)
    assert not checked(film, held, lambda n, image: picture(4)).faults
    assert "no change can be seen" in faults(
        checked(film, held, lambda n, image: picture(4) if n in (3, 4) else image)
    )


# ---- following a thing


def test_a_thing_is_followed_between_looks_and_gone_when_it_is_gone() -> None:
    models = Models(read_models(MODELS))
    shapes = ThingShapes(models, "ball")
    DiscSegmentation.asked = 0
    for number in range(10):
        mask = shapes.find(picture(number))
        assert mask is not None
        true = disc(picture(number))
        assert (mask >= 0.5)[true].mean() > 0.8
        assert (mask >= 0.5).sum() < 1.2 * true.sum()
    assert DiscSegmentation.asked < 7
    empty = np.full((HEIGHT, WIDTH, 3), 200, np.uint8)  # another shot
    assert shapes.find(empty) is None
    assert shapes.find(picture(3)) is not None


def test_guesses_do_not_name_things() -> None:
    with pytest.raises(NoValue, match="detection=saliency") as caught:
        must_name_things(Models(), ("detection", "inpainting"))
    assert caught.value.reason is Reason.MISSING_MODEL
    assert "screentest models pull light" in caught.value.advice
    with pytest.raises(NoValue, match="segmentation=grabcut"):
        must_name_things(Models(read_models(["detection=disc"])), ("detection", "segmentation"))
    must_name_things(Models(read_models(MODELS)), ("detection", "segmentation"))
    with pytest.raises(NoValue, match="matting=grabcut"):
        must_name_things(Models(), ("matting",))
    must_name_things(Models(), ("inpainting", "image_edit"))


def test_colours_by_hue_are_those_that_people_name() -> None:
    known = {
        "black": (20, 22, 20),
        "white": (245, 244, 240),
        "grey": (128, 130, 128),
        "red": (200, 25, 30),
        "green": (40, 150, 60),
        "yellow": (250, 220, 40),
        "blue": (40, 90, 200),
        "brown": (120, 75, 40),
        "purple": (125, 45, 160),
        "pink": (250, 140, 180),
        "orange": (250, 140, 20),
    }
    for name, colour in known.items():
        assert has_colour(np.array([colour], np.uint8), name).all(), name
        others = [one for one in ("red", "green", "blue") if one != name]
        assert not any(has_colour(np.array([colour], np.uint8), one).any() for one in others)


class Boxes(DiscDetector):
    """Finds so many boxes, of which the first fills a quarter of the picture."""

    def __init__(self, count: int) -> None:
        self.found = [(0.0, 0.0, 64.0, 48.0), (70.0, 50.0, 90.0, 80.0)][:count]

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        return [Detection(phrases[0], 0.9, box) for box in self.found]


@pytest.mark.parametrize(
    ("thing", "count", "most", "shown"),
    [
        ("red cups", 1, 0.8, False),  # the others would stay red
        ("red cups", 2, 0.8, True),
        ("red cup", 1, 0.8, True),
        ("red cup", 1, 0.2, False),  # too large a hole
        ("red cup", 0, 0.8, False),
    ],
)
def test_all_instances_must_be_found(thing: str, count: int, most: float, shown: bool) -> None:
    class Looked:
        models: Any = SimpleNamespace(role=lambda _: Boxes(count))

        def pictures(self, clip: FilmClip) -> Sequence[Image]:
            return [picture(0)] * 3

    clip = FilmClip(0, "", Span(Fraction(0), Fraction(1)), 8, CaptionFacts())
    assert is_shown(Looked(), clip, thing, most) is shown


# ---- in a build


def test_a_build_skips_what_fails_and_keeps_the_figures_of_what_passes(
    film: Film, tmp_path: Path
) -> None:
    clips = [clip.span for clip in film.clips]
    script = Script(tuple(Clip("A red ball rolls.", span) for span in clips))
    item = Item("film", film.video.path.parent / "source.mp4", script=script)
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
    unlike = replace(was, name="color", touched=tuple(map(as_blue, was.touched)))
    found = check_source(replace(task, pairs=(unlike,)))
    assert {one.check for one in found} == {"harm"}
    assert any("of what was recoloured" in one.what for one in found)

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
    return replace(touched, details=TO_BLUE)


class Stubborn(DiscDetector):
    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        return [Detection(phrases[0], 0.9, (40.0, 26.0, 84.0, 70.0))]
