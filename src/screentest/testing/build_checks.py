"""The contracts of degradations and placebos, checked on testbeds that are built of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from screentest.api.testbeds import build as build_bed
from screentest.core.frames import Image
from screentest.core.item import Clip, Item, Script, Span
from screentest.core.outcome import Reason
from screentest.present.results import BuiltTestbed
from screentest.run.engine import InlineEngine
from screentest.testbeds.catalogue import OperatorSet
from screentest.testing.checks import FAULTS, collected, must_name
from screentest.video.probe import probe
from screentest.video.samples import sample_frames
from screentest.video.scan import scan


def check_degradation(*specs: str, models: Sequence[str] = (), items: Sequence[Item] = ()) -> None:
    """Check degradations on a small captioned film, at half and at full severity.

    Every changed copy decodes to as many frames as it says, and the frames of clips that were
    not chosen stay as they are. Full severity changes something, and no less than half of it.
    Built twice, once by two workers, it is the same to the byte. Where no clip can be harmed
    there is a typed reason.
    """
    for names in _rounds(specs):
        _check_build("degradation", names, models, items)


def check_placebo(*specs: str, models: Sequence[str] = (), items: Sequence[Item] = ()) -> None:
    """Check placebos: every copy decodes, and building again gives the same bytes."""
    for names in _rounds(specs):
        _check_build("placebo", names, models, items)


def _rounds(specs: Sequence[str]) -> list[list[str]]:
    """Group specs so that a testbed has each name once."""
    must_name(specs)
    rounds: list[dict[str, str]] = []
    for spec in specs:
        name = spec.partition(":")[0]
        free = next((names for names in rounds if name not in names), None)
        if free is None:
            rounds.append(free := {})
        free[name] = spec
    return [list(names.values()) for names in rounds]


def _check_build(
    kind: str, specs: Sequence[str], models: Sequence[str], items: Sequence[Item]
) -> None:
    with collected() as problems, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        films = [captioned_film(folder), *items]

        def made(how: str, **engine: Any) -> BuiltTestbed:
            wanted: dict[str, Any] = {"operators": specs} if kind == "degradation" else {}
            if kind == "placebo":
                wanted = {"operators": ["aesthetics"], "placebos": specs}
            return build_bed(
                films,
                out=folder / how,
                clips=2,
                min_clips=1,
                severities=(0.5, 1.0),
                long_side=None,
                models=models,
                **wanted,
                **engine,
            )

        once, again = made("inline", engine=InlineEngine()), made("workers", workers=2)
        hashes = [
            {(p.source, p.name, p.severity): p.changed.sha256 for p in bed.testbed.pairs}
            for bed in (once, again)
        ]
        if hashes[0] != hashes[1]:
            named = sorted({key[1] for key in hashes[0] if hashes[0][key] != hashes[1].get(key)})
            problems.append(f"{', '.join(named)}: built again, the files differ")
        names = [spec.partition(":")[0] for spec in specs]
        for skip in once.testbed.skips:
            if skip.failure.reason in FAULTS:
                problems.append(f"{skip.name}: {skip.failure}")
            elif (
                skip.operator_set is OperatorSet.PLUGIN and skip.failure.reason is Reason.NO_CHANGE
            ):
                problems.append(f"{skip.name}: full severity changes nothing ({skip.failure})")
            elif skip.failure.reason is Reason.HARMS_LESS:
                problems.append(f"{skip.name}: {skip.failure.detail}")
        handled = {pair.name for pair in once.testbed.pairs}
        handled |= {skip.name for skip in once.testbed.skips}
        for operator in names:
            if operator not in handled:
                problems.append(f"{operator}: there is neither pair nor reason")
            problems += _pair_problems(once, operator)


def _pair_problems(bed: BuiltTestbed, name: str) -> Iterator[str]:
    harms: dict[str, list[tuple[float, float]]] = {}
    for pair in (pair for pair in bed.testbed.pairs if pair.name == name):
        report = scan(bed.folder / pair.changed.path, [])
        if report.decoded != pair.changed.frames or not report.complete:
            yield f"{name}: {report.decoded} frames decode, {pair.changed.frames} are recorded"
            continue
        if pair.severity is None:
            continue
        intact, changed = (
            pictures_of(bed.folder / path) for path in (pair.intact, pair.changed.path)
        )
        again = any(
            clip.degraded and clip.degraded.duration > clip.intact.duration for clip in pair.touched
        )
        if len(intact) < len(changed) and not again:
            yield f"{name}: {len(changed)} frames of {len(intact)}"
        elif len(intact) == len(changed):
            apart = [
                np.abs(before - after)
                for before, after in zip(_floats(intact), _floats(changed), strict=True)
            ]
            harms.setdefault(pair.source, []).append((pair.severity, float(np.mean(apart))))
    for rungs in harms.values():
        listed = [harm for _, harm in sorted(rungs)]
        if listed[-1] == 0:
            yield f"{name}: full severity changes nothing"
        if any(after < 0.95 * before for before, after in pairwise(listed)):
            yield f"{name}: more severity harms less ({', '.join(map('{:.2f}'.format, listed))})"


def _floats(pictures: Sequence[Any]) -> Iterator[Any]:
    return (picture.astype(np.float32) for picture in pictures)


# Small films for tests: written without loss, so that what was drawn is what is measured.


RATE = 8
CAPTIONS = (
    "A red car stands to the left of a white house.",
    "A black dog runs over a green meadow.",
    "A woman in a blue dress walks along the beach.",
    "Two brown horses drink from a river in front of a forest.",
)


def write_film(path: Path, pictures: Iterable[Image], rate: int = RATE) -> Path:
    """Write RGB pictures of one size as they are, ``rate`` a second, to a Matroska file."""
    import av

    listed = list(pictures)
    height, width = listed[0].shape[:2]
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream("ffv1", rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "bgr0"
        for number, picture in enumerate(listed):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def texture(seed: int, height: int = 96, width: int = 128) -> Image:
    """Draw a picture with detail everywhere, in three distinct colour planes."""
    import cv2

    noise = np.random.default_rng(seed).uniform(0, 255, (height, width, 3)).astype(np.float32)
    soft = cv2.GaussianBlur(noise, (0, 0), 2.5)
    low, high = soft.min(), soft.max()
    return np.asarray((soft - low) * (255 / (high - low)), np.uint8)


def gliding(count: int, speed: int, seed: int = 1, height: int = 96, width: int = 128) -> list[Any]:
    """Glide over a large picture by ``speed`` pixels per frame."""
    wide = texture(seed, height, width + count * max(speed, 1))
    return [wide[:, n * speed : n * speed + width].copy() for n in range(count)]


def hard_films(folder: Path) -> list[Item]:
    """Films that metrics meet and nobody planned for, each with all that an item can have."""
    pictures: Mapping[str, list[Any]] = {
        "black": [np.zeros((48, 64, 3), np.uint8)] * 8,
        "white": [np.full((48, 64, 3), 255, np.uint8)] * 4,
        "tiny": [texture(n, 8, 8) for n in range(6)],
        "one_frame": [texture(1, 48, 64)],
        "two_frames": [texture(n, 48, 64) for n in range(2)],
        "noise_upright": [
            np.random.default_rng(n).integers(0, 256, (64, 36, 3)).astype(np.uint8)
            for n in range(8)
        ],
        "two_shots": [*gliding(8, 2, 3, 48, 64), *gliding(8, 1, 4, 48, 64)],
    }
    return [item_of(folder, name, listed) for name, listed in pictures.items()]


def item_of(folder: Path, name: str, pictures: list[Any], rate: int = RATE) -> Item:
    """Write a film with prompt, script, reference picture, source and instruction."""
    import cv2

    video = write_film(folder / f"{name}.mkv", pictures, rate)
    reference = folder / f"{name}.png"
    cv2.imwrite(str(reference), pictures[0][..., ::-1])
    half = max(1, len(pictures) // 2)
    source = write_film(folder / f"{name}.source.mkv", pictures[:half], rate)
    return Item(
        name,
        video,
        prompt=" ".join(CAPTIONS[:2]),
        script=Script(tuple(Clip(caption) for caption in CAPTIONS[:2])),
        references=(reference,),
        source=source,
        instruction="Make the car blue.",
    )


def captioned_film(folder: Path, name: str = "film", clips: int = 4, seconds: int = 1) -> Item:
    """Write a film of several shots with a timed script, to build a testbed from."""
    count = RATE * seconds
    pictures = [
        picture
        for clip in range(clips)
        for picture in gliding(count, 1 + clip % 2, 10 + clip, 72, 96)
    ]
    script = Script(
        tuple(
            Clip(
                CAPTIONS[clip % len(CAPTIONS)],
                Span(Fraction(clip * seconds), Fraction((clip + 1) * seconds)),
            )
            for clip in range(clips)
        )
    )
    return Item(name, write_film(folder / f"{name}.mkv", pictures), script=script)


def pictures_of(video: Path) -> list[Any]:
    """All frames of a film."""
    info = probe(video)
    moments = [info.start + Fraction(2 * n + 1, 2) / info.rate for n in range(info.frames)]
    return [frame.image.copy() for frame in sample_frames(video, moments)]
