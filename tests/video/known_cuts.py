"""Films whose cuts are known, and how well a list of boundaries fits them.

The lists come with the films, as captions; how each was made stands there (by construction,
or by eye). Two lists are made here: the films of the chef story have shots of a stated length,
and that of the whole of Big Buck Bunny stands below.

Frames are counted from 0; a cut is the first frame of a shot. A gradual transition is given
by its first and last frame. Those that begin or end a film begin no shot and are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from screentest.sample import sample_folder
from screentest.video.detectors import Boundary

Frames = tuple[int, int]


@dataclass(frozen=True)
class KnownFilm:
    """A film, its hard cuts and its gradual transitions, in frames."""

    path: Path
    group: str
    cuts: tuple[int, ...]
    gradual: tuple[Frames, ...] = ()
    unsure: tuple[int, ...] = ()
    """Places where one may or may not see a cut: neither right nor wrong."""

    @property
    def name(self) -> str:
        return f"{self.group}/{self.path.name}"


@dataclass(frozen=True)
class Fit:
    """How a list of boundaries fits a film, or several added up."""

    hits: int = 0
    false: int = 0
    missed: int = 0
    gradual_found: int = 0
    gradual: int = 0

    def __add__(self, other: Fit) -> Fit:
        mine, theirs = vars(self).values(), vars(other).values()
        return Fit(*(one + two for one, two in zip(mine, theirs, strict=True)))

    @property
    def precision(self) -> float:
        found = self.hits + self.false
        return self.hits / found if found else 1.0

    @property
    def recall(self) -> float:
        known = self.hits + self.missed
        return self.hits / known if known else 1.0

    @property
    def f1(self) -> float:
        total = 2 * self.hits + self.false + self.missed
        return 2 * self.hits / total if total else 1.0


def fit(film: KnownFilm, boundaries: Iterable[Boundary], rate: float, tolerance: int = 1) -> Fit:
    """Compare: each cut is found by one boundary at most, within ``tolerance`` frames.

    A boundary in a gradual transition is no false one. That at the first frame says only how
    the film begins.
    """
    open_cuts = list(film.cuts)
    found: set[Frames] = set()
    hits = false = 0
    for boundary in boundaries:
        if boundary.frame == 0:
            continue
        frame = boundary.frame
        first, last = frame, frame
        if boundary.gradual is not None:
            first = round(float(boundary.gradual.start) * rate)
            last = round(float(boundary.gradual.end) * rate)
        near = min(open_cuts, key=lambda cut: abs(cut - frame), default=None)
        inside = {one for one in film.gradual if first <= one[1] + 1 and one[0] - 1 <= last}
        found |= inside
        if near is not None and abs(near - frame) <= tolerance:
            open_cuts.remove(near)
            hits += 1
        elif not inside and all(abs(place - frame) > tolerance for place in film.unsure):
            false += 1
    return Fit(hits, false, len(open_cuts), len(found), len(film.gradual))


def sample_films() -> list[KnownFilm]:
    """Those that ship with the package."""
    folder = sample_folder()
    return [
        _captioned(folder, "sample", json.loads(path.read_text()))
        for path in sorted((folder / "captions").glob("*.json"))
    ]


def all_films(data: Path) -> list[KnownFilm]:
    """Those of the sample and of the data folder."""
    return [*sample_films(), *_films(data / "video")]


def _films(videos: Path) -> Iterator[KnownFilm]:
    for captions in sorted((videos / "captions").glob("*.json")):
        known = json.loads(captions.read_text())
        path = known.get("video", "")
        if path and not path.startswith("tiny/") and _cuts(known) is not None:
            yield _captioned(videos, path.split("/")[0], known)
        if "same_for" in known:
            yield _captioned(videos, "multishot", {**known, "video": known["same_for"]})
    yield _sintel_trailer(videos)
    yield from _chef_story(videos)
    film = videos / "multishot" / "bbb_full_512x288.mp4"
    yield KnownFilm(film, "multishot", BBB_CUTS, BBB_GRADUAL, BBB_UNSURE)
    for path in sorted((videos / "ai_generated").glob("cogvideox_*.mp4")):
        yield KnownFilm(path, "ai_generated", ())
    for folder in ("singleshot", "etva_microgravity"):
        for path in sorted((videos / folder).iterdir()):
            if path.suffix in {".mp4", ".mpg", ".webm"}:
                yield KnownFilm(path, folder, TWO_SHOTS.get(path.name, ()))


def _captioned(folder: Path, group: str, known: dict[str, object]) -> KnownFilm:
    path = folder / str(known["video"])
    shots: Sequence[dict[str, int]] = known["shots"]  # type: ignore[assignment]
    end = shots[-1]["end_frame"]
    gradual = [(first, last) for first, last in known.get("gradual_frames", [])]  # type: ignore[attr-defined]
    inside = tuple((first, last) for first, last in gradual if first > 0 and last < end)
    unsure = (*SPLICES.get(path.name, ()), *(frame for pair in gradual for frame in pair))
    if path.name.startswith("bbb_first30s"):
        unsure += FADE_IN
    return KnownFilm(path, group, tuple(_cuts(known) or ()), inside, unsure)


def _cuts(known: dict[str, object]) -> list[int] | None:
    return known.get("hard_cut_frames", known.get("cut_frames"))  # type: ignore[return-value]


def _sintel_trailer(videos: Path) -> KnownFilm:
    """The whole trailer, letterboxed: its list is that of the sample's excerpt from it."""
    excerpt = json.loads((videos / "captions" / SINTEL_EXCERPT).read_text())
    start, end = SINTEL_EXCERPT_FRAMES
    return KnownFilm(
        videos / "multishot" / "sintel_trailer_1280x720.mp4",
        "multishot",
        tuple(start + cut for cut in excerpt["hard_cut_frames"]),
        tuple((start + first, start + last) for first, last in excerpt["gradual_frames"]),
        # Nobody has listed the titles before and the credits after it.
        (*range(1, start), *range(end, 1253)),
    )


def _chef_story(videos: Path) -> Iterator[KnownFilm]:
    """One story of 30 shots by four generators, shots of 4 or about 12 frames."""
    captions = videos / "captions" / "vgotstudy_chef.json"
    lengths = json.loads(captions.read_text())["frames_per_shot"]
    listed = re.search(r"cuts at ([\d,]+)", lengths["CogVideo"])
    assert listed is not None
    cuts = {
        "CogVideo": tuple(int(frame) for frame in listed.group(1).split(",")),
        "VGoT": tuple(range(4, 120, 4)),
        # "One 5": the fifteenth, as both films show.
        "VideoCrafter1": (*range(4, 57, 4), *range(61, 118, 4)),
        "VideoCrafter2": (*range(4, 57, 4), *range(61, 118, 4)),
    }
    for name, frames in cuts.items():
        yield KnownFilm(
            videos / "ai_generated" / f"vgotstudy_chef_{name}.mp4", "ai_generated", frames
        )


SINTEL_EXCERPT = "tiny_sintel_trailer_30s_640x272.json"
SINTEL_EXCERPT_FRAMES = (286, 1014)

# Said in the captions' words: two shots each.
TWO_SHOTS = {"kivy_cityCC0.mpg": (116,), "renpy_oa4_launch.webm": (74,)}
# One place, but the film was stopped or torn and goes on at another time.
SPLICES = {"frenchgp_1906_214x160.mp4": (39, 81)}

# The whole of Big Buck Bunny (512 × 288, 25 frames per second). 121 cuts on which content,
# adaptive, default and TransNetV2 agree, and what was decided by eye where they do not.
# fmt: off
BBB_CUTS = (
    297, 394, 576, 1193, 1402, 1517, 1595, 1735, 1782, 1836, 1889, 1999, 2244, 2285, 2494, 2598,
    2817, 2949, 3022, 3086, 3172, 3659, 3727, 3900, 4021, 4057, 4082, 4155, 4200, 4239, 4403,
    4444, 4512, 4649, 4733, 4804, 4867, 4893, 4923, 4996, 5104, 5148, 5186, 5222, 5291, 5345,
    5512, 5528, 5595, 5656, 5748, 5811, 6051, 6087, 6269, 6300, 6342, 6383, 6425, 6467, 6487,
    6529, 6571, 6612, 6654, 6758, 6899, 6948, 6993, 7034, 7118, 7305, 7389, 7428, 7630, 7708,
    7812, 7860, 7930, 7980, 8054, 8093, 8358, 8422, 8494, 9318, 9384, 9458, 9529, 9770, 9812,
    9862, 9903, 9974, 9983, 9993, 10124, 10203, 10260, 10303, 10403, 10433, 10501, 10518, 10547,
    10608, 10660, 10687, 10732, 10770, 10843, 10889, 10904, 11015, 11055, 11080, 11294, 11457,
    11783, 11822, 12004, 12042, 12096, 12157, 12217, 14523,
)
# fmt: on
# Two dissolves, two fades through black, an iris into black with the credits fading in, and
# the end of the credits.
BBB_GRADUAL = (
    (783, 836),
    (7462, 7526),
    (11513, 11565),
    (11647, 11658),
    (12244, 12300),
    (14494, 14501),
)
# The film begins with a fade and ends with one stray frame.
FADE_IN = tuple(range(1, 51))
BBB_UNSURE = (*FADE_IN, 14910)
