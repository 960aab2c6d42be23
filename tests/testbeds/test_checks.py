"""Planted failures are rejected: each is made on purpose, and the check must say what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import (
    Aspect,
    BadOption,
    Frame,
    NoValue,
    PairKind,
    Reason,
    Size,
    Span,
    register,
    to_json,
)
from screentest.core.registry import build, registry
from screentest.models import Detection, Models, read_models
from screentest.sample import sample_videos
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.checks import PairCheck, check_pair
from screentest.testbeds.contract import (
    DegradationInfo,
    Details,
    Effect,
    Film,
    FilmClip,
    Look,
    Reach,
    Region,
    Rng,
    Unfit,
)
from screentest.testbeds.faults import Fault
from screentest.testbeds.operators.tracker import Follower, ThingShapes, is_shown, must_name_things
from screentest.testbeds.sightings import (
    ClipSample,
    check_region,
    colour_reached,
    has_colour,
    subject_kept,
)
from screentest.testbeds.testbed import Pair, Touched, VideoFile
from screentest.testbeds.timeline import must_move, retimed
from screentest.testbeds.visibility import aligned
from screentest.video.edit.pictures import Keep, Pixels, Reencode, frame_by_frame
from screentest.video.edit.splice import splice
from screentest.video.probe import probe
from screentest.video.samples import sample_frames
from tests.messages import names
from tests.testbeds.disc import (
    BLUE,
    HEIGHT,
    MODELS,
    RATE,
    RED,
    WIDTH,
    DiscDetector,
    DiscSegmentation,
    Image,
    disc,
    picture,
    written,
)

pytestmark = pytest.mark.usefixtures("stand_ins")
PICTURES = DegradationInfo(Aspect.AESTHETICS)


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


def faults(found: PairCheck) -> list[str]:
    return [fault.kind for fault in found.faults]


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
    assert found.faults == (
        Fault("some_invisible", {"count": 8, "total": 8}, clip=0, unchanged=True),
    )
    assert names(found.faults[0], "clip 1: ", "8 of 8 frames")
    assert found.reason is Reason.NO_CHANGE
    same = checked(film, PICTURES, lambda _, image: image)
    assert {"touch_unchanged", "some_invisible"} & set(faults(same))


def inverted(image: Image) -> Image:
    return 255 - image


# Eight frames a second, as the film has them; each leaves some frames of the clip as they were.
SEEN_BY_ANYONE: Mapping[str, Callable[[int, Image], Image]] = {
    "flickers at half the frame rate": lambda n, image: image if n % 2 else inverted(image),
    "pops in and out": lambda n, image: np.where(
        (np.arange(WIDTH) < 40)[:, None] & (n % 8 < 3), 250, image
    ).astype(np.uint8),
    "rolls askew": lambda n, image: np.stack(
        [np.roll(row, (n % 4) * y // 8, axis=0) for y, row in enumerate(image)]
    ),
    "pulses at one side": lambda n, image: np.where(
        (np.arange(WIDTH) < 64)[:, None], image * (0.6 + 0.4 * np.cos(np.pi * n / 2)), image
    ).astype(np.uint8),
    "misses one frame": lambda n, image: image if n == 4 else image // 2,
}


@pytest.mark.parametrize("name", SEEN_BY_ANYONE)
def test_a_change_may_come_and_go(film: Film, name: str) -> None:
    assert not checked(film, PICTURES, SEEN_BY_ANYONE[name]).faults


def test_a_change_that_is_out_of_sight_for_long_or_hardly_there(tmp_path: Path) -> None:
    info = replace(PICTURES)
    film = written(tmp_path, [picture(number) for number in range(2 * RATE)])
    few = checked(film, info, lambda n, image: image // 2 if n == 4 else image)
    assert few.faults == (Fault("some_invisible", {"count": 7, "total": 8}, clip=0),)
    # One clip of both seconds, of which the second is as it was but for its end.
    whole = Film(film.video, (replace(film.clips[0], span=Span(Fraction(0), Fraction(2))),))
    number = iter(range(100))
    work = frame_by_frame(lambda image: image if 4 < next(number) < 15 else image // 2)
    parts = [Reencode(clip.span, work) for clip in film.clips]
    made = splice(film.video, parts, tmp_path / "long.mp4")
    touched = Touched(0, whole.clips[0].span, Span(made.places[0].start, made.places[1].end), {})
    found = check_pair(pair_of(film, made.path, (touched,)), tmp_path, info)
    assert found.faults == (Fault("some_unchanged", {"count": 10, "total": 16}, clip=0),)


def test_a_leak_outside_the_clip(film: Film) -> None:
    found = checked(film, PICTURES, darker, leak=True)
    assert "packets" in faults(found)


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

    fault = checked(film, REMOVED, shaded, BALL).faults[-1]
    assert fault.kind == "still_found"
    assert fault.values == {"thing": "ball", "count": 8, "total": 8}


def test_a_mask_on_nothing(film: Film) -> None:
    def beside(_: int, image: Image) -> Image:
        image = image.copy()
        image[4:24, 4:24] = (20, 200, 20)
        return image

    assert "thing_unchanged" in faults(checked(film, REMOVED, beside, BALL))

    def both(number: int, image: Image) -> Image:
        return beside(number, filled(number, image))

    assert "beside_thing" in faults(checked(film, REMOVED, both, BALL))


def test_a_thing_removed_in_some_of_the_frames(film: Film) -> None:
    def often(number: int, image: Image) -> Image:
        return image if number % 3 == 1 else filled(number, image)

    assert "thing_unchanged" in faults(checked(film, REMOVED, often, BALL))


PAINTED = DegradationInfo(Aspect.COLOR, region=Region.THING, checks=("colour_reached",))
TO_BLUE: Details = {"object": "ball", "from": "red", "to": "blue"}


def test_the_new_colour_is_seen(film: Film) -> None:
    found = checked(film, PAINTED, repainted(BLUE), TO_BLUE)
    assert not found.faults
    assert found.figures["colour_reached"] > 0.9


@pytest.mark.parametrize(
    ("colour", "details", "kind", "named"),
    [
        ((30, 180, 40), TO_BLUE, "new_colour", "blue"),
        (BLUE, {**TO_BLUE, "from": "green"}, "old_colour", "green"),
    ],
)
def test_a_wrong_colour(
    film: Film, colour: tuple[int, int, int], details: Details, kind: str, named: str
) -> None:
    found = checked(film, PAINTED, repainted(colour), details)
    assert (kind, named) in [(fault.kind, fault.values.get("colour")) for fault in found.faults]


@pytest.fixture(scope="module")
def jar() -> tuple[Image, NDArray[np.bool_]]:
    """A red disc on a real picture."""
    video = sample_videos()[2].item.video
    (frame,) = sample_frames(video, [Fraction(1)], size=Size(long_side=512))
    rows, columns = np.indices(frame.image.shape[:2])
    where = (rows - 150) ** 2 + (columns - 260) ** 2 < 50**2
    shade = 0.5 + frame.image.mean(axis=2, keepdims=True) / 510
    return np.where(where[..., None], np.array(RED) * shade, frame.image).astype(np.uint8), where


def moved(image: Image, across: float, zoom: float) -> Image:
    height, width = image.shape[:2]
    way = cv2.getRotationMatrix2D((width / 2, height / 2), 0, zoom)
    way[0, 2] += across
    return cv2.warpAffine(image, way, (width, height), None, cv2.INTER_CUBIC, cv2.BORDER_REPLICATE)


@pytest.mark.parametrize(
    ("across", "zoom", "gain", "passes"),
    [
        (1, 1, 1, True),
        (0, 1.01, 1, True),
        (0, 1, 1.08, True),
        (40, 1, 1, False),
        (0, 1, 1.4, False),
    ],
)
def test_a_recoloured_frame_may_have_moved_a_little(
    jar: tuple[Image, NDArray[np.bool_]], across: float, zoom: float, gain: float, passes: bool
) -> None:
    before, where = jar
    shade = 0.5 + before.mean(axis=2, keepdims=True) / 510
    ideal = np.where(where[..., None], np.array(BLUE) * shade, before).astype(np.uint8)
    after = np.clip(moved(ideal, across, zoom) * gain, 0, 255).astype(np.uint8)
    rows, columns = np.nonzero(where)
    box = tuple(map(float, (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)))

    class Jar(DiscDetector):
        def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
            return [Detection(phrases[0], 0.9, box)]

    models: Any = SimpleNamespace(
        role=lambda _: Jar(), choice=lambda _: SimpleNamespace(backend="disc")
    )

    def inside(before: Image) -> list[str | None]:
        sample = ClipSample([(before, after)], TO_BLUE, 1.0, models)
        region = check_region(sample, PAINTED.region)
        assert region is not None
        return [found.fault and found.fault.kind for found in (region, colour_reached(sample))]

    assert (inside(aligned(before, after)) == [None, None]) is passes
    assert "beside_thing" in inside(before)


def test_a_picture_that_did_not_move_stays_where_it_is(jar: Any) -> None:
    assert np.abs(aligned(jar[0], jar[0]).astype(int) - jar[0]).max() <= 2
    plain = np.full((96, 128, 3), 130, np.uint8)
    assert (aligned(plain, plain) == plain).all()


def test_a_rectangle_instead_of_a_thing(film: Film) -> None:
    def boxed(_: int, image: Image) -> Image:
        ((left, top, right, bottom),) = (one.box for one in DiscDetector().detect(image, ["x"]))
        image = image.copy()
        image[int(top) : int(bottom), int(left) : int(right)] = BLUE
        return image

    assert "rectangle" in faults(checked(film, PAINTED, boxed, TO_BLUE))


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

    found = checked(film, BEHIND, landscape(a_corner), SUBJECT)
    values = {fault.kind: fault.values for fault in found.faults}
    assert values["subject_lost"] == {"thing": "ball", "count": 0, "total": 8}
    assert values["rest_changed"]["part"] == "foreground"

    def nothing(image: Image) -> NDArray[np.bool_]:
        return np.zeros(image.shape[:2], bool)

    found = checked(film, BEHIND, landscape(nothing), SUBJECT)
    assert "foreground_size" in faults(found)


def test_a_family_of_backgrounds_keeps_its_subject_too(film: Film) -> None:
    info = build("degradation", "background_drifting").thing.info
    found = checked(film, info, landscape(disc), SUBJECT)
    assert not found.faults
    assert found.figures["background_changed"] > 0.5
    lost = checked(film, info, landscape(lambda image: image[..., 0] < 0), SUBJECT)
    values = {fault.kind: fault.values for fault in lost.faults}
    assert values["subject_lost"] == {"thing": "ball", "count": 0, "total": 8}

    def a_strip(_: int, image: Image) -> Image:
        changed = image.copy()
        changed[:12] = 255 - changed[:12]
        return changed

    assert "same_background" in faults(checked(film, info, a_strip, SUBJECT))


@pytest.mark.parametrize("name", ["background_consistency", "background_tiled"])
def test_what_stands_in_front_is_kept_by_whatever_name(film: Film, name: str) -> None:
    info = build("degradation", name).thing.info
    unnamed: Details = {"subjects": ""}
    kept = checked(film, info, landscape(disc), unnamed)
    assert kept.figures["front_kept"] == 1

    def half_the_time(number: int, image: Image) -> Image:
        return landscape(lambda one: disc(one) & (number % 8 < 5))(number, image)

    found = checked(film, info, half_the_time, unnamed)
    values = {fault.kind: fault.values for fault in found.faults}
    assert values["front_lost"] == {"count": 3, "total": 8}


def test_black_bars_are_no_foreground(tmp_path: Path) -> None:
    """Of a film between bars, 0.4 of the picture was kept: one disc and two bars, in pieces."""
    bars = ((0, 0), (40, 40), (0, 0))
    film = written(tmp_path, [np.pad(picture(number), bars) for number in range(2 * RATE)])
    assert film.video.borders is not None
    (tmp_path / "intact.json").write_text(to_json(film.video))

    def inside(number: int, image: Image) -> Image:
        behind = landscape(disc)(number, image[:, 40:-40])
        return np.pad(behind, bars)

    found = checked(film, BEHIND, inside, SUBJECT)
    assert not found.faults
    assert found.figures["foreground"] < 0.2
    assert found.figures["foreground_whole"] == 1
    assert found.figures["spoilt"] == 0


def test_a_box_that_the_detector_is_not_sure_of_does_not_say_what_stands_in_front() -> None:
    class Unsure(DiscDetector):
        def everything(self, image: Image) -> list[Detection]:
            return [Detection("bench", 0.3, (0.0, 0.0, 128.0, 20.0))]

    models: Any = SimpleNamespace(
        role=lambda _: Unsure(), choice=lambda _: SimpleNamespace(backend="disc")
    )
    sample = [(picture(n), landscape(disc)(n, picture(n))) for n in range(4)]
    found = subject_kept(ClipSample(sample, SUBJECT, 1.0, models))
    assert found.fault is None
    assert "front_kept" not in found.figures
    assert found.figures["foreground_steady"] > 0.9


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
    found = check_pair(pair_of(film, still.path, stays), folder, order)
    same = [fault.clip for fault in found.faults if fault.kind == "same_place"]
    assert same == [0, 1]


def arranged(
    film: Film, name: str, *parts: Keep | Reencode, places: Mapping[int, tuple[int, int]]
) -> Pair:
    """The film in these parts; ``places`` says from which to which of them each clip goes."""
    made = splice(film.video, list(parts), film.video.path.parent / f"{name}.mp4")
    touched = tuple(
        Touched(
            number,
            film.clips[number].span,
            Span(made.places[first].start, made.places[last].end),
        )
        for number, (first, last) in sorted(places.items())
    )
    return replace(pair_of(film, made.path, touched), clips=2)


def test_a_clip_shown_again_must_be_seen_beside_another(film: Film) -> None:
    folder = film.video.path.parent
    one, two = (clip.span for clip in film.clips)
    info = build("degradation", "clip_repeated").thing.info
    again = arranged(film, "again", Keep(one), Keep(two), Keep(one, two), places={1: (1, 2)})
    assert not check_pair(again, folder, info).faults
    itself = arranged(film, "itself", Keep(one), Keep(two), Keep(two, two), places={1: (1, 2)})
    found = check_pair(replace(itself, touched=itself.touched[:1]), folder, info)
    # The last picture of the clip is where it was, and so is the first.
    assert "repeat_alike" in faults(found)


def test_clips_that_fade_in_are_told_apart_by_what_follows(tmp_path: Path) -> None:
    black = np.zeros_like(picture(0))
    clip = [black, *(picture(number) for number in range(1, RATE))]
    film = written(tmp_path, [*clip, *(255 - image if image.any() else image for image in clip)])
    spans = [clip.span for clip in film.clips]
    swapped = arranged(
        film, "swapped", Keep(spans[1]), Keep(spans[0]), places={0: (1, 1), 1: (0, 0)}
    )
    assert not check_pair(
        swapped, tmp_path, build("degradation", "temporal_flow").thing.info
    ).faults


def test_as_many_clips_must_be_touched_as_the_operator_says(film: Film) -> None:
    folder = film.video.path.parent
    spans = [clip.span for clip in film.clips]
    swapped = arranged(
        film, "swapped", Keep(spans[1]), Keep(spans[0]), places={0: (1, 1), 1: (0, 0)}
    )
    few = Fault.of("few_touched", count=1, chosen=2)
    for name in ("two_swapped", "reversed_order", "clip_moved", "temporal_flow"):
        info = build("degradation", name).thing.info
        assert not check_pair(swapped, folder, info).faults
        less = replace(swapped, touched=swapped.touched[:1])
        assert few in check_pair(less, folder, info).faults
    assert few in check_pair(replace(again_darker(film), clips=2), folder, PICTURES).faults


def again_darker(film: Film) -> Pair:
    one, two = (clip.span for clip in film.clips)
    parts = Reencode(one, frame_by_frame(lambda image: image // 2)), Keep(two)
    return arranged(film, "darker", *parts, places={0: (0, 0)})


def backwards(film: Film, name: str, *, turned: bool, moved: bool) -> PairCheck:
    """Both clips in each other's places or where they were, run backwards or not."""
    order = [1, 0] if moved else [0, 1]
    parts = []
    for number in order:
        clip = film.clips[number]
        shown = list(range(clip.frames))
        parts.append(Reencode(clip.span, retimed(shown[::-1] if turned else shown), Pixels.I420))
    pair = arranged(film, name, *parts, places={n: (order.index(n),) * 2 for n in (0, 1)})
    info = build("degradation", "played_backwards").thing.info
    return check_pair(pair, film.video.path.parent, info)


def test_a_passage_played_backwards(film: Film) -> None:
    found = backwards(film, "backwards", turned=True, moved=True)
    assert not found.faults
    assert found.figures["turned_round"] > 2
    forwards = backwards(film, "forwards", turned=False, moved=True)
    assert faults(forwards).count("not_reversed") == 2
    assert not backwards(film, "in_place", turned=True, moved=False).faults


def test_a_still_clip_backwards_where_it_was_is_no_harm(tmp_path: Path) -> None:
    still = written(tmp_path, [picture(0)] * 2 * RATE)
    found = backwards(still, "backwards", turned=True, moved=True)
    assert "place_alike" in faults(found)
    assert found.reason is Reason.NO_CHANGE
    found = backwards(still, "in_place", turned=True, moved=False)
    assert "reverse_alike" in faults(found)


def test_what_is_left_of_a_clip_that_breaks_off_is_as_it_was(film: Film) -> None:
    folder, (clip, rest) = film.video.path.parent, film.clips
    info = build("degradation", "cut_short").thing.info
    times = [*film.video.frame_times(), film.video.duration]
    few = tuple(after - at for at, after in pairwise(times[:3]))

    def short(name: str, change: Callable[[Image], Image]) -> PairCheck:
        def run(frames: Iterator[Any]) -> Iterator[Image]:
            return (change(frame.image) for frame in islice(frames, 2))

        parts = Reencode(clip.span, run, Pixels.I420, few), Keep(rest.span)
        pair = arranged(film, name, *parts, places={0: (0, 0)})
        return check_pair(replace(pair, clips=1), folder, info)

    assert not short("short", lambda image: image).faults
    assert "rest_differs" in faults(short("dark", lambda image: image // 2))


def test_what_hardly_moves_cannot_be_slowed_or_held(tmp_path: Path) -> None:
    def spot(number: int) -> Image:
        image = picture(0)
        image[4:9, 4 + 4 * number : 12 + 4 * number] = 255  # a bird far away
        return image

    film = written(tmp_path, [spot(number) for number in range(2 * RATE)])
    held = DegradationInfo(Aspect.DYNAMICS_DEGREE, effect=Effect.TIMING, changed=0.5)
    found = checked(film, held, lambda number, image: spot(4))
    # Each picture differs a little, and nobody would call it held.
    assert found.faults == (Fault("stands_still", clip=0, unchanged=True),)
    assert found.figures["changed_frames"] > 0.5
    assert found.figures["motion"] < 0.01
    with pytest.raises(Unfit, match="stand still, or nearly"):
        must_move(Look(film, Models()), film.clips[0])


@pytest.mark.parametrize("effect", [Effect.TIMING, Effect.PICTURES])
@pytest.mark.parametrize(("by", "kind"), [(1, "early"), (-1, "late")])
def test_a_clip_that_is_a_frame_early_or_late_is_not_harmed(
    film: Film, effect: Effect, by: int, kind: str
) -> None:
    moved = DegradationInfo(Aspect.DYNAMICS_DEGREE, effect=effect, changed=0.5)
    found = checked(film, moved, lambda number, image: picture(number + by))
    assert found.faults == (Fault(kind, {"frames": 1}, clip=0, unchanged=True),)
    assert found.reason is Reason.NO_CHANGE
    # Frames out of place by different amounts are another matter.
    shaken = checked(film, moved, lambda number, image: picture(number + (-2, 2)[number % 2]))
    assert not shaken.faults


def test_motion_is_seen_in_clips_of_few_frames(tmp_path: Path) -> None:
    film = written(tmp_path, [picture(number) for number in range(2 * RATE)])
    # Four frames: the moments of three steps share some of them.
    few = replace(film.clips[0], span=Span(Fraction(0), Fraction(4, RATE)), frames=4)
    assert len(Look(film, Models()).steps(few)) == 3


AROUND = replace(REMOVED, region=Region.AROUND, checks=(), reach=Reach(across=0.5))


def spotted(across: int) -> Callable[[int, Image], Image]:
    """A green bar so many pixels to the right of the disc."""

    def change(_: int, image: Image) -> Image:
        rows, columns = np.nonzero(disc(image))
        image, left = image.copy(), int(columns.max()) + across
        image[rows.min() : rows.max(), left : left + 8] = (20, 200, 20)
        return image

    return change


def test_what_goes_beyond_the_reach_of_an_operator(film: Film) -> None:
    found = checked(film, AROUND, spotted(8), BALL)
    assert not found.faults
    assert found.figures["inside"] > 0.9
    far = spotted(-90)  # at the other side of the disc, beyond half its width
    assert "beside_thing" in faults(checked(film, AROUND, far, BALL))
    aside = replace(AROUND, reach=Reach(aside=0.5))
    assert not checked(film, aside, far, BALL).faults
    anywhere = replace(AROUND, reach=None)
    assert not checked(film, anywhere, far, BALL).faults


@pytest.mark.parametrize(
    "name", ["object_duplicated", "object_melted", "object_oversized", "object_cut"]
)
def test_operators_stay_within_their_reach(film: Film, name: str) -> None:
    thing = build("degradation", name).thing
    rng = Rng.of(7)

    def change(_: int, image: Image) -> Image:
        frames = thing.frames(lambda image: disc(image).astype(np.float32), rng, 1.0)
        return next(iter(frames(iter([Frame(Fraction(0), 0, image)]))))

    found = checked(film, thing.info, change, BALL)
    assert not found.faults
    assert found.figures["inside"] > 0.9


def test_both_of_two_things_must_be_changed(film: Film) -> None:
    info = DegradationInfo(Aspect.COLOR, region=Region.THING)
    both: Details = {"object": "ball", "other": "stripes"}

    class Two(DiscDetector):
        def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
            if phrases == ["ball"]:
                return super().detect(image, phrases)
            return [Detection(phrases[0], 0.9, (0.0, 0.0, 128.0, 20.0))]

    register("detection", "two", version=1, summary="knows two things")(Two)
    try:
        sample = [(picture(n), repainted(BLUE)(n, picture(n))) for n in range(3)]
        models = Models(read_models(["detection=two"]))
        found = check_region(ClipSample(sample, both, 1.0, models), info.region)
        assert found is not None
        assert found.fault is not None
        assert found.fault.kind == "thing_unchanged"
        assert found.fault.values["thing"] == "'ball' or 'stripes'"
        sample = [(old, np.concatenate([255 - new[:20], new[20:]])) for old, new in sample]
        found = check_region(ClipSample(sample, both, 1.0, models), info.region)
        assert found is not None
        assert not found.fault
    finally:
        registry._entries.pop(("detection", "two"))


def test_an_unknown_check_is_refused(film: Film) -> None:
    with pytest.raises(BadOption, match=r"check 'seen': .*thing_gone, "):
        checked(film, replace(PICTURES, checks=("seen",)), darker)


def test_what_is_gone_or_held_must_be_declared(film: Film) -> None:
    folder = film.video.path.parent
    one, two = (clip.span for clip in film.clips)
    made = splice(film.video, [Keep(one)], folder / "gone.mp4")
    gone = pair_of(film, made.path, (Touched(1, two, None),))
    assert "gone" in faults(check_pair(gone, folder, PICTURES))
    assert not check_pair(
        gone, folder, DegradationInfo(Aspect.COMPREHENSIVENESS, effect=Effect.ABSENT)
    ).faults

    held = DegradationInfo(Aspect.DYNAMICS_DEGREE, effect=Effect.TIMING, changed=0.5)
    assert not checked(film, held, lambda n, image: picture(4)).faults
    assert "some_invisible" in faults(
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
    gone = picture(4)
    gone[disc(gone)] = 115  # the same shot, without it
    assert shapes.find(gone) is None


def test_a_thing_that_is_lost_is_followed_for_a_sixth_of_a_second() -> None:
    models = Models(read_models(MODELS))
    lost = picture(4)
    lost[disc(lost)] = (130, 90, 90)  # the same picture, in which the detector sees no disc
    for rate, frames in ((24.0, 4), (12.0, 2), (1.0, 0)):
        follower = Follower(models, "ball", rate)
        assert follower.boxes(picture(4))
        assert [bool(follower.boxes(lost)) for _ in range(6)] == [n < frames for n in range(6)]
    # Between pictures a second apart nothing is followed: each is looked at.
    shapes = ThingShapes(models, "ball", rate=1.0)
    DiscSegmentation.asked = 0
    assert [shapes.find(picture(number)) is not None for number in range(3)] == [True] * 3
    assert DiscSegmentation.asked == 3


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
