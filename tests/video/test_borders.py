"""Borders are found in every frame or not at all; what is dark for its own sake is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from screentest.core import Borders, Frame, FrameRequest, Image, Item, Layout, Size
from screentest.core.outcome import BORDERS
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.run.session import Settings, Tools
from screentest.testbeds.contract import Film
from screentest.testbeds.operators.shared import inside_borders
from screentest.testing.films import gliding, texture, write_film
from screentest.video.borders import BorderFinder
from screentest.video.edit.normalize import normalize
from screentest.video.edit.pictures import Pixels, Reencode, frame_by_frame
from screentest.video.scan import scan

HEIGHT, WIDTH = 96, 160
METRICS = ("contrast", "sharpness", "motion", "repeated_shots")


def boxed(picture: Image, top: int = 0, left: int = 0, level: int = 0) -> Image:
    """The picture between bars: letterbox, pillarbox or both."""
    whole = np.full((HEIGHT, WIDTH, 3), level, np.uint8)
    small = picture[: HEIGHT - 2 * top, : WIDTH - 2 * left]
    whole[top : HEIGHT - top, left : WIDTH - left] = small
    return whole


def still(seed: int = 1) -> list[Image]:
    return [texture(seed, HEIGHT, WIDTH)] * 4


def shots() -> list[Image]:
    return [texture(seed, HEIGHT, WIDTH) for seed in range(8)]


def found(pictures: Iterable[Image]) -> Borders | None:
    finder = BorderFinder()
    for number, picture in enumerate(pictures):
        luma = picture.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
        finder.see(Fraction(number), luma.round().astype(np.uint8))
    return finder.borders


@pytest.mark.parametrize("film", [still, shots], ids=["one shot", "many"])
@pytest.mark.parametrize(
    ("top", "left", "level"), [(12, 0, 0), (0, 40, 0), (16, 20, 0), (12, 0, 255), (0, 20, 60)]
)
def test_bars_are_found(film: Callable[[], list[Image]], top: int, left: int, level: int) -> None:
    made = found(boxed(one, top, left, level) for one in film())
    assert made == Borders(left, top, left, top, WIDTH, HEIGHT)


def test_bars_with_the_noise_of_an_encoder_are_found() -> None:
    rng = np.random.default_rng(1)
    noisy = [
        np.clip(boxed(one, 12) + rng.integers(-4, 5, (HEIGHT, WIDTH, 1)), 0, 255).astype(np.uint8)
        for one in shots()
    ]
    assert found(noisy) == Borders(0, 12, 0, 12, WIDTH, HEIGHT)


def test_a_bar_with_a_logo_is_found_where_the_picture_changes_all_over() -> None:
    logo = texture(99, 16, WIDTH)

    def marked(picture: Image) -> Image:
        return np.concatenate([picture[:-16], logo])

    assert found(map(marked, shots())) == Borders(0, 0, 0, 16, WIDTH, HEIGHT)
    assert found(map(marked, still())) is None  # in one shot it may be part of the scene


def test_a_film_that_fades_in_has_its_borders() -> None:
    fading = [
        (boxed(one, 12) * share).astype(np.uint8)
        for one, share in zip(shots(), SHARES, strict=True)
    ]
    assert found(fading) == Borders(0, 12, 0, 12, WIDTH, HEIGHT)


SHARES = (0, 0.1, 0.4, 1, 1, 1, 1, 0)


def night() -> list[Image]:
    """A skyline under a black sky."""
    pictures = shots()
    heights = np.random.default_rng(0).integers(10, 80, WIDTH // 8).repeat(8)
    for picture in pictures:
        picture[np.arange(HEIGHT)[:, None] < HEIGHT - heights[None]] = 3
    return pictures


def vignette() -> list[Image]:
    down, across = np.ogrid[-1 : 1 : HEIGHT * 1j, -1 : 1 : WIDTH * 1j]
    light = np.clip(1.2 - np.hypot(down, across), 0, 1)[..., None]
    return [(picture * light).astype(np.uint8) for picture in shots()]


def titles() -> list[Image]:
    """White words on black."""
    pictures = []
    for seed in range(4):
        picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        words = np.random.default_rng(seed).integers(0, 2, 24).repeat(4).astype(bool)
        picture[40:56, 30:126][:, words] = 250
        pictures.append(picture)
    return pictures


def dark_room() -> list[Image]:
    """One lamp in the dark, in a shot that does not change."""
    picture = np.full((HEIGHT, WIDTH, 3), 4, np.uint8)
    picture[30:60, 60:90] = 230
    return [picture] * 4


def horizon() -> list[Image]:
    """A plain sky over a plain meadow, as it is drawn."""
    picture = np.full((HEIGHT, WIDTH, 3), (120, 180, 250), np.uint8)
    picture[50:] = (40, 160, 40)
    return [picture] * 4


def coming_and_going() -> list[Image]:
    return [boxed(one, 12 * (n % 2)) for n, one in enumerate(shots())]


def one_bar() -> list[Image]:
    """A black table in the foreground of a shot that does not change."""
    picture = texture(1, HEIGHT, WIDTH)
    picture[70:] = 2
    return [picture] * 4


def black() -> list[Image]:
    return [np.zeros((HEIGHT, WIDTH, 3), np.uint8)] * 3


@pytest.mark.parametrize(
    "film",
    [night, vignette, titles, dark_room, horizon, coming_and_going, one_bar, black, still, shots],
)
def test_what_is_not_a_border(film: Callable[[], list[Image]]) -> None:
    assert found(film()) is None


# Metrics and harms inside of them.


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same film whole, between bars, and between bars after a black frame."""
    folder = tmp_path_factory.mktemp("films")
    plain = gliding(16, 2, 3, 64, 96)
    bars = [np.pad(one, ((0, 0), (48, 48), (0, 0))) for one in plain]
    faded = [np.zeros_like(bars[0]), *bars[1:]]
    made = {"whole": plain, "bars": bars, "faded": faded}
    return {name: write_film(folder / f"{name}.mkv", some) for name, some in made.items()}


def values(path: Path) -> dict[str, float]:
    made = {name: resolve(name).metric for name in METRICS}
    outcomes = measure(Item("film", path), made, Tools(Settings()))
    return {
        name: one.unwrap().value for scores in outcomes.values() for name, one in scores.items()
    }


def test_metrics_look_inside(films: dict[str, Path]) -> None:
    whole, bars = values(films["whole"]), values(films["bars"])
    assert bars == pytest.approx(whole, abs=0.02)
    assert bars["exposure"] > 0.9


def test_a_film_whose_first_frame_is_black_is_scanned_again(films: dict[str, Path]) -> None:
    report = scan(films["faded"], (), borders=True)
    assert report.borders == Borders(48, 0, 48, 0, 192, 64)
    assert not report.inside
    assert scan(films["bars"], (), borders=True).inside
    assert values(films["faded"])["fastest"] == pytest.approx(
        values(films["bars"])["fastest"], rel=0.2
    )


def test_a_score_says_inside_which_borders_it_was_measured(films: dict[str, Path]) -> None:
    tools = Tools(Settings())
    made = {name: resolve(name).metric for name in ("contrast", "shot_count")}
    for name, sides in (("bars", [48, 0, 48, 0, 192, 64]), ("whole", None)):
        outcomes = measure(Item("film", films[name]), made, tools)
        assert outcomes["contrast"]["exposure"].unwrap().details.get(BORDERS) == sides


def test_sampled_frames_are_without_borders(films: dict[str, Path]) -> None:
    tools = Tools(Settings())
    for request, shape in (
        (FrameRequest(inside=True), (64, 96, 3)),
        (FrameRequest(size=Size(long_side=48), inside=True), (32, 46, 3)),  # a line less each
        (FrameRequest(size=Size(exact=(20, 10)), layout=Layout.GRAY, inside=True), (10, 20)),
        (FrameRequest(), (64, 192, 3)),
    ):
        (frame,) = tools.frames(films["bars"], [Fraction(1)], request)
        assert frame.image.shape == shape


@pytest.mark.parametrize("pixels", [Pixels.RGB, Pixels.I420])
def test_harms_leave_the_borders_alone(
    films: dict[str, Path], tmp_path: Path, pixels: Pixels
) -> None:
    video = normalize(films["bars"], tmp_path / "normal.mp4")
    assert video.borders == Borders(48, 0, 48, 0, 192, 64)
    lighter = Reencode(video.clips[0], frame_by_frame(lambda image: 255 - image), pixels)
    (part,) = inside_borders(Film(video, ()), [lighter])
    assert isinstance(part, Reencode)
    shape = (64, 192, 3) if pixels is Pixels.RGB else (96, 192)
    image = np.full(shape, 16, np.uint8)
    (changed,) = part.change(iter([Frame(Fraction(0), 0, image)]))
    assert (changed[:64, :48] == 16).all()
    assert (changed[:64, 144:] == 16).all()
    assert (changed[:64, 48:144] == 239).all()
    assert (changed == 239).sum() == (64 * 96 * 3 if pixels is Pixels.RGB else 96 * 96)


# Real films.

BORDERED = (
    *("vgot_showcase_", "vgotstudy_chef_VGoT", "cogvideox-5b", "sintel_trailer_1280x720"),
    "moviepy_chaplin",
)


def test_exposure_of_a_pillarboxed_film(shared_data: Path) -> None:
    """With its bars, which are black, it would be 0.54: the worst of four films of one story."""
    path = shared_data / "video" / "ai_generated" / "vgotstudy_chef_VGoT.mp4"
    tools, metric = Tools(Settings()), {"contrast": resolve("contrast").metric}
    score = measure(Item("film", path), metric, tools)["contrast"]["exposure"].unwrap()
    assert score.details[BORDERS] == [224, 0, 224, 0, 1024, 576]
    assert score.value == pytest.approx(0.963, abs=0.005)


@pytest.mark.slow
def test_real_films_have_borders_where_they_have_them(shared_data: Path) -> None:
    suffixes = (".mp4", ".ogv", ".mpg", ".webm")
    videos = [one for one in sorted((shared_data / "video").glob("*/*")) if one.suffix in suffixes]
    assert len(videos) > 40
    wrong = []
    for path in videos:
        borders = scan(path, (), borders=True).borders
        if (borders is not None) != path.stem.startswith(BORDERED):
            wrong.append((path.name, borders))
    assert not wrong
