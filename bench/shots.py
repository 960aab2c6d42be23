"""Quality and speed of each shot detector on known cuts: docs/evidence/shots.md.

    python bench/shots.py [--data DIR] [--weights transnetv2-ffmpeg.onnx] [--detectors a,b]

Without the data folder (SCREENTEST_DATA, or shared/data beside the checkout) only the packaged
sample is measured. TransNetV2 takes part where its weights are found.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from _figures import Table, publish

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.video.known_cuts import Fit, KnownFilm, all_films, fit, sample_films  # noqa: E402

from screentest.core import NoValue, build  # noqa: E402
from screentest.video.probe import probe  # noqa: E402
from screentest.video.scan import scan  # noqa: E402
from screentest.video.shots import find_shots  # noqa: E402

DETECTORS = ("default", "abrupt", "gradual", "adaptive", "content", "scdet")
# What the same score finds with the threshold that FFmpeg's users write: scene > 0.3.
EXTRA = ("scdet:threshold=11.71875",)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=None)
    options.add_argument("--weights", default="")
    options.add_argument("--detectors", default="")
    given = options.parse_args()
    data = given.data or Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data"))
    films = all_films(data) if data.is_dir() else sample_films()
    names = given.detectors.split(",") if given.detectors else [*DETECTORS, *EXTRA]
    if not given.detectors and (transnet := _transnet(given.weights, films[0])):
        names.append(transnet)
    fits = {film: _measure(film, names) for film in films}
    tables = {
        "overall": _overall(fits, names),
        "films": _per_film(fits, names),
        "speed": _speed(films[-1] if len(films) < 10 else _timed(films), names),
    }
    publish("shots", "python bench/shots.py", tables)


def _transnet(weights: str, film: KnownFilm) -> str | None:
    name = f"transnetv2:weights={weights}" if weights else "transnetv2"
    try:
        find_shots(film.path, name)
    except NoValue as error:
        print(f"transnetv2 is left out: {error.message}. {error.advice}\n")
        return None
    return name


def _measure(film: KnownFilm, names: list[str]) -> dict[str, Fit]:
    detectors = {name: build("detector", name).thing for name in names}
    report = scan(film.path, list(detectors.values()))
    for place, failure in report.failures.items():
        raise SystemExit(f"{names[place]} failed on {film.name}: {failure}")
    rate = float(report.info.rate)
    return {name: fit(film, one.boundaries, rate) for name, one in detectors.items()}


def _per_film(fits: dict[KnownFilm, dict[str, Fit]], names: list[str]) -> Table:
    """F1 of hard cuts (± 1 frame); in films without cuts, false ones."""
    rows: list[list[str | float]] = []
    quiet = 0
    for film, by_name in fits.items():
        if film.cuts:
            rows.append([film.name, len(film.cuts), *(by_name[name].f1 for name in names)])
        elif any(one.false for one in by_name.values()):
            rows.append([film.name, 0, *(f"{by_name[name].false} false" for name in names)])
        else:
            quiet += 1
    rows.append([f"{quiet} more films of a single shot", 0, *["0 false"] * len(names)])
    return Table({"film": "", "cuts": "", **{_short(name): "{:.2f}" for name in names}}, rows)


def _overall(fits: dict[KnownFilm, dict[str, Fit]], names: list[str]) -> Table:
    columns = {"detector": "", **dict.fromkeys(("precision", "recall", "F1"), "{:.3f}")}
    columns |= {"false": "", "missed": "", "gradual found": "{} of {}"}
    rows = []
    for name in names:
        all_ = sum((by_name[name] for by_name in fits.values()), Fit())
        gradual = (all_.gradual_found, all_.gradual)
        shares = (all_.precision, all_.recall, all_.f1)
        rows.append((_short(name), *shares, all_.false, all_.missed, gradual))
    return Table(columns, rows)


def _speed(film: KnownFilm, names: list[str]) -> Table:
    """Processor time of one film, decoding included."""
    frames, bare = probe(film.path).frames, _seconds(film, [])
    spent = {"none: decoding alone": bare} | {_short(one): _seconds(film, [one]) for one in names}
    columns = {"detector": "", "ms per frame": "{:.2f}", "times decoding alone": "{:.2f}"}
    rows = [(name, each / frames * 1000, each / bare) for name, each in spent.items()]
    return Table(columns, rows)


def _seconds(film: KnownFilm, names: list[str]) -> float:
    # Of all threads, and no matter what else the machine does.
    start = time.process_time()
    scan(film.path, [build("detector", name).thing for name in names])
    return time.process_time() - start


def _timed(films: list[KnownFilm]) -> KnownFilm:
    return next(film for film in films if film.path.name == "bbb_047-161s_640x360.mp4")


def _short(name: str) -> str:
    if name.startswith("transnetv2"):
        return "transnetv2"
    return "scene > 0.3" if name in EXTRA else name


if __name__ == "__main__":
    main()
