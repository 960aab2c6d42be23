"""Splicing, checked with Debian's ffmpeg and with OpenCV: which frames changed, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import (
    Frame,
    Size,
    Span,
    Time,
)
from screentest.video.edit.encode import EncoderSettings
from screentest.video.edit.normalize import NormalizedVideo, normalize
from screentest.video.edit.pictures import (
    ClipOrigin,
    Keep,
    Pixels,
    Reencode,
    VideoPart,
    frame_by_frame,
)
from screentest.video.edit.splice import SplicedVideo, splice
from screentest.video.source import VideoSource
from tests.video.clips import BY_NAME, RECIPES, Recipe
from tests.video.outside import Outside

QUICK = EncoderSettings(preset="ultrafast")
FINE = EncoderSettings(preset="ultrafast", crf=1)
Made = Callable[[Recipe], Path]
Image = NDArray[np.uint8]

same = frame_by_frame(lambda image: image)
inverted = frame_by_frame(lambda image: 255 - image)


def check_clean(outside: Outside, result: SplicedVideo) -> list[str]:
    """What must hold of every file that is spliced; returns the hashes of its frames."""
    packets = outside.packets(result.path)
    times = sorted(packet.shown for packet in packets)
    assert times[0] == 0
    assert all(one < two for one, two in pairwise(times))
    assert all(one.decoded < two.decoded for one, two in pairwise(packets))
    assert all(packet.decoded <= packet.shown for packet in packets)
    assert result.places[0].start == 0
    assert all(one.end == two.start for one, two in pairwise(result.places))
    assert result.places[-1].end == result.duration > times[-1]
    assert {place.start for place in result.places} <= {
        packet.shown for packet in packets if packet.key
    }
    hashes = outside.frame_hashes(result.path)
    assert len(hashes) == len(packets) == result.frames
    return hashes


@pytest.fixture(scope="module")
def film_hashes(film: NormalizedVideo, outside: Outside) -> list[str]:
    return outside.frame_hashes(film.path)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_without_a_change_the_bytes_are_those_of_the_normalised_file(
    recipe: Recipe, made: Made, tmp_path: Path
) -> None:
    source = made(recipe)
    with VideoSource(source) as opened:
        start, _ = next(opened.frames())
    cuts = [start + Fraction(n, 7) for n in range(1, 20, 4)]
    video = normalize(source, tmp_path / "normal.mp4", keyframes_at=cuts, settings=QUICK)
    expected = video.path.read_bytes()
    recipes: dict[str, list[VideoPart]] = {
        "copied": [Keep(clip) for clip in video.clips],
        "copied in one": [Keep(Span(Fraction(0), video.duration))],
        "encoded": [Reencode(clip, same, Pixels.I420) for clip in video.clips],
        "encoded in one": [Reencode(Span(Fraction(0), video.duration), same, Pixels.I420)],
        "in turn": [
            Keep(clip) if number % 2 else Reencode(clip, same, Pixels.I420)
            for number, clip in enumerate(video.clips)
        ],
    }
    for name, parts in recipes.items():
        splice(video, parts, tmp_path / name)
        assert (tmp_path / name).read_bytes() == expected, name


def test_five_touched_clips_and_not_one_frame_more(
    film: NormalizedVideo, film_hashes: list[str], outside: Outside, tmp_path: Path
) -> None:
    touched = {3, 4, 11, 20, 30}
    parts: list[VideoPart] = [
        Reencode(clip, inverted) if number in touched else Keep(clip)
        for number, clip in enumerate(film.clips)
    ]
    result = splice(film, parts, tmp_path / "out.mp4")
    hashes = check_clean(outside, result)
    assert result.frames == film.frames == 372
    assert result.duration == film.duration == Fraction(31, 2)
    changed = {
        n for n, (one, two) in enumerate(zip(hashes, film_hashes, strict=True)) if one != two
    }
    # 24 frames a second, clips of half a second.
    assert changed == {12 * number + n for number in touched for n in range(12)}


def test_dropped_and_reordered_clips(
    film: NormalizedVideo, film_hashes: list[str], outside: Outside, tmp_path: Path
) -> None:
    order = [int(n) for n in np.random.default_rng(3).permutation(31)[:25]]
    result = splice(film, [Keep(film.clips[n]) for n in order], tmp_path / "out.mp4")
    expected = [one for n in order for one in film_hashes[12 * n : 12 * n + 12]]
    assert check_clean(outside, result) == expected


def test_a_cut_at_a_keyframe_that_nobody_asked_for(
    made: Made, outside: Outside, tmp_path: Path
) -> None:
    settings = EncoderSettings(preset="veryfast", gop=8)
    video = normalize(made(BY_NAME["plain"]), tmp_path / "normal.mp4", settings=settings)
    hashes = outside.frame_hashes(video.path)
    keys = [packet.shown for packet in outside.packets(video.path) if packet.key]
    assert len(keys) >= 6  # 48 frames, and at most 8 from one keyframe to the next
    for cut in keys[1:]:
        result = splice(video, [Keep(Span(cut, video.duration))], tmp_path / "out.mp4")
        assert check_clean(outside, result) == hashes[int(cut * 24) :]


def test_the_same_clip_twice(
    film: NormalizedVideo, film_hashes: list[str], outside: Outside, tmp_path: Path
) -> None:
    result = splice(film, [Keep(film.clips[5])] * 2, tmp_path / "out.mp4")
    assert check_clean(outside, result) == film_hashes[60:72] * 2


def test_shuffled_touched_and_kept_clips_of_a_film_with_uneven_times(
    made: Made, outside: Outside, tmp_path: Path
) -> None:
    source = made(BY_NAME["variable_rate"])
    cuts = [Fraction(n, 8) for n in range(16)]
    video = normalize(source, tmp_path / "normal.mp4", keyframes_at=cuts, settings=QUICK)
    before = video.frame_times()
    order = [int(n) for n in np.random.default_rng(5).permutation(len(video.clips))]
    parts: list[VideoPart] = [
        Reencode(video.clips[n], inverted) if n % 3 == 0 else Keep(video.clips[n]) for n in order
    ]
    result = splice(video, parts, tmp_path / "out.mp4")
    check_clean(outside, result)
    expected = [
        place.start + moment - video.clips[n].start
        for n, place in zip(order, result.places, strict=True)
        for moment in before
        if moment in video.clips[n]
    ]
    assert sorted(packet.shown for packet in outside.packets(result.path)) == expected


def test_clips_of_one_frame(made: Made, outside: Outside, tmp_path: Path) -> None:
    source = made(BY_NAME["b_frames"])
    cuts = [Fraction(n, 24) for n in range(48)]
    video = normalize(source, tmp_path / "normal.mp4", keyframes_at=cuts, settings=QUICK)
    assert len(video.clips) == 48
    hashes = outside.frame_hashes(video.path)
    parts: list[VideoPart] = [
        Reencode(clip, inverted) if n % 5 == 0 else Keep(clip) for n, clip in enumerate(video.clips)
    ][::-1]
    found = check_clean(outside, splice(video, parts, tmp_path / "out.mp4"))[::-1]
    assert [n for n in range(48) if found[n] != hashes[n]] == list(range(0, 48, 5))


@pytest.mark.parametrize("pixels", list(Pixels))
def test_a_frame_function_gets_the_source_and_its_result_is_shown(
    pixels: Pixels, made: Made, outside: Outside, tmp_path: Path
) -> None:
    source = made(BY_NAME["plain"])
    video = normalize(source, tmp_path / "n.mp4", keyframes_at=[Fraction(1)], settings=FINE)
    original = outside.pictures(source)
    seen: list[tuple[Time, int]] = []

    def darker_half(frames: Iterator[Frame]) -> Iterator[Image]:
        for frame in frames:
            seen.append((frame.time, frame.index))
            changed = frame.image.copy()
            luma_rows = video.format.height if pixels is Pixels.I420 else len(changed)
            # Halfway to black, which is 16 in video luma and 0 in RGB.
            black = 16 if pixels is Pixels.I420 else 0
            changed[:luma_rows] = (changed[:luma_rows] - black * 1.0) / 2 + black
            yield changed

    first, second = video.clips
    result = splice(video, [Keep(first), Reencode(second, darker_half, pixels)], tmp_path / "o.mp4")
    assert seen == [(Fraction(n, 24), n) for n in range(24, 48)]
    shown = outside.pictures(result.path).astype(float)
    assert np.abs(shown[:24] - original[:24]).mean() < 0.6
    # ffmpeg's gray is full range, so half as bright is half the number.
    assert np.abs(shown[24:] - original[24:] / 2).mean() < 1.2


def test_the_touched_part_comes_from_the_source_and_not_from_the_normalised_file(
    made: Made, outside: Outside, tmp_path: Path
) -> None:
    # So coarse an encoding that pictures which went through it once are plainly worse.
    coarse = EncoderSettings(preset="ultrafast", crf=45)
    source = made(BY_NAME["plain"])
    video = normalize(source, tmp_path / "n.mp4", keyframes_at=[Fraction(1)], settings=coarse)
    seen: list[Image] = []

    def look(frames: Iterator[Frame]) -> Iterator[Image]:
        for frame in frames:
            seen.append(frame.image[:96].copy())
            yield frame.image

    splice(video, [Reencode(video.clips[1], look, Pixels.I420)], tmp_path / "o.mp4")
    original = outside.pictures(source, pixels="yuv420p")[24:, :96]
    assert np.array_equal(np.array(seen), original)


def test_more_and_fewer_frames_where_that_is_declared(
    film: NormalizedVideo, outside: Outside, tmp_path: Path
) -> None:
    def first_only(frames: Iterator[Frame]) -> Iterable[Image]:
        return [next(frames).image] * 3

    durations = (Fraction(1, 10), Fraction(1, 3), Fraction(7))
    parts: list[VideoPart] = [
        Keep(film.clips[0]),
        Reencode(film.clips[1], first_only, durations=durations),
        Keep(film.clips[2]),
    ]
    result = splice(film, parts, tmp_path / "out.mp4")
    check_clean(outside, result)
    assert result.frames == 12 + 3 + 12
    scale = film.format.timescale
    times = sorted(packet.shown for packet in outside.packets(result.path))
    expected = [
        Fraction(round((Fraction(1, 2) + t) * scale), scale)
        for t in (Fraction(0), Fraction(1, 10), Fraction(1, 10) + Fraction(1, 3))
    ]
    assert times[12:15] == expected
    assert result.places[1].duration == Fraction(round(sum(durations) * scale), scale)


def test_pictures_of_another_file(
    film: NormalizedVideo, outside: Outside, sample: Path, tmp_path: Path
) -> None:
    other = sample / "sintel_trailer_30s_640x272.mp4"
    span = Span(Fraction(10), Fraction(21, 2))
    parts: list[VideoPart] = [
        Keep(film.clips[0]),
        Reencode(film.clips[1], same, Pixels.I420, origin=ClipOrigin(other, span)),
    ]
    result = splice(film, parts, tmp_path / "out.mp4")
    check_clean(outside, result)
    shown = outside.pictures(result.path)[12:].astype(int)
    expected = outside.pictures(other, "trim=10:10.5", "scale=320:180:flags=bicubic")
    assert np.abs(shown - expected).mean() < 3


def test_one_header_serves_touched_and_untouched_parts(
    film: NormalizedVideo, outside: Outside, tmp_path: Path
) -> None:
    parts: list[VideoPart] = [
        Reencode(clip, inverted) if number % 7 == 3 else Keep(clip)
        for number, clip in enumerate(film.clips)
    ]
    result = splice(film, parts, tmp_path / "out.mp4")
    units = outside.header_units(result.path)
    # In the decoder record once each, and nowhere else.
    assert units["Sequence Parameter Set"] == 1
    assert units["Picture Parameter Set"] == 1
    # x264 writes its version and every option into the first packet of each clip.
    with av.open(str(result.path)) as container:
        notes = [
            data[data.index(b"x264 - core") :].split(b"\0")[0]
            for data in map(bytes, container.demux(video=0))
            if b"x264 - core" in data
        ]
    assert len(notes) == len(film.clips)
    assert set(notes) == {film.encoder.encode()}


def test_opencv_plays_it(film: NormalizedVideo, tmp_path: Path) -> None:
    parts: list[VideoPart] = [Reencode(film.clips[2], inverted), *map(Keep, film.clips[::-1])]
    result = splice(film, parts, tmp_path / "out.mp4")
    capture = cv2.VideoCapture(str(result.path))
    shown = 0
    while capture.read()[0]:
        shown += 1
    capture.release()
    assert shown == result.frames


def test_same_bytes_again(film: NormalizedVideo, tmp_path: Path) -> None:
    parts: list[VideoPart] = [Keep(film.clips[9]), Reencode(film.clips[2], inverted)]
    for name in ("one", "two"):
        splice(film, parts, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("astray", [0, 3 * 12288, 10**9])
def test_a_source_that_seeks_to_the_wrong_place(
    astray: int, film: NormalizedVideo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = film.clips[-2]
    splice(film, [Keep(clip)], tmp_path / "kept")
    honest = VideoSource.seek
    monkeypatch.setattr(
        VideoSource, "seek", lambda self, pts: honest(self, astray if pts > 0 else pts)
    )
    splice(film, [Reencode(clip, same, Pixels.I420)], tmp_path / "encoded")
    splice(film, [Keep(clip)], tmp_path / "kept again")
    assert (tmp_path / "encoded").read_bytes() == (tmp_path / "kept").read_bytes()
    assert (tmp_path / "kept again").read_bytes() == (tmp_path / "kept").read_bytes()


def test_a_real_file_that_breaks_on_seeking(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "video" / "singleshot" / "imageio_cockatoo.mp4"
    cuts = [Fraction(n) for n in range(14)]
    video = normalize(
        source, tmp_path / "n.mp4", keyframes_at=cuts, size=Size(long_side=160), settings=QUICK
    )
    splice(video, [Reencode(video.clips[n], same, Pixels.I420) for n in (12, 5)], tmp_path / "e")
    splice(video, [Keep(video.clips[n]) for n in (12, 5)], tmp_path / "k")
    assert (tmp_path / "e").read_bytes() == (tmp_path / "k").read_bytes()
