"""The jobs of screentest, one function each. The commands call these.

>>> import screentest
>>> from screentest.sample import sample_videos
>>> film = sample_videos()[1].item
>>> scores = screentest.score(film, metrics=["contrast", "frozen"], out="scores")
>>> scores.value("frenchgp_1906", "contrast").outcome.unwrap().value.__round__(2)
0.31
>>> bed = screentest.build(film, out="bed", aspects=["aesthetics"], clips=1, long_side=160)
>>> made = screentest.certify("contrast", bed, out="certificates")
>>> made.of("contrast").overall.unwrap().value
1.0
>>> screentest.report(scores, made, out="report.html").page
PosixPath('report.html')

Finished work stays in the run's folder: the same call again resumes. Ctrl-C finishes what is in
flight and raises ``Stopped``, a KeyboardInterrupt with the result so far.

Each job imports what it needs when it is called: scoring loads nothing that builds testbeds. Here
is only what all of them read their parameters with.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from screentest.core.calls import Progress, Silent
from screentest.core.errors import BadOption
from screentest.core.item import File
from screentest.present.results import Certificates, Scores


def progress_of(given: Progress | bool | None) -> Progress:
    """Choose who shows how far the work is."""
    from screentest._util.progress import watched

    if given is False:
        return Silent()
    if given is None or given is True:
        return watched()
    if not callable(getattr(given, "advance", None)):
        raise BadOption.of("progress", given, "a Progress, True or False")
    return given


def path_of(file: File | None) -> Path | None:
    """Make a path of what was given; None stays None."""
    return None if file is None else Path(file)


def names_of(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names as a tuple; a single name may be given as text."""
    names = tuple(texts_of("name", given))
    if not all(names):
        raise BadOption("invalid `name`: it is empty")
    return names


def texts_of(option: str, given: Any) -> list[str]:
    """Read texts that can be written down; a single one may be given alone."""
    try:
        texts = [given] if isinstance(given, str) else list(given)
    except TypeError:
        texts = [given]
    for text in texts:
        if not isinstance(text, str) or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise BadOption(f"invalid `{option}`: {text!r:.60} is not a text")
    return texts


def folders_of(runs: Sequence[File | Scores | Certificates]) -> list[Path]:
    """Find the folders of runs, or of their results."""
    folders = []
    for run in runs:
        folder = run.run if isinstance(run, Scores | Certificates) else Path(run)
        if folder is None:
            raise BadOption(
                "scores of frames in memory have no run",
                advice="Score them with `out`, the folder of a run.",
            )
        folders.append(folder)
    return folders


def at_least(least: float, **options: float) -> None:
    """Raise where an option is below the least that it may be."""
    for name, value in options.items():
        if not value >= least:  # NaN is not
            raise BadOption.of(name, value, f"{least:g} or more")
