"""``screentest demo`` and ``sample``: the whole job on the packaged films, and copies of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import typer

import screentest
from screentest._util.progress import watched
from screentest._util.text import plural
from screentest.cli.console import err
from screentest.cli.console import out as console
from screentest.cli.options import JsonOption, WorkersOption
from screentest.cli.tables import print_heading, print_indented, print_screen, show
from screentest.core import BUILTIN_ASPECTS, Aspect, Stopped, build, registry
from screentest.core.table import Cell, Column, Table
from screentest.present.certificates import headline_of_all
from screentest.present.results import BuiltTestbed, Certificates, Scores
from screentest.sample import sample_videos
from screentest.sample.copies import CHECKPOINTS, PROMPTS, copy_checkpoints, copy_films

JUDGES = ("baseline", "sharpness", "contrast", "frozen", "flicker")
"""What is put to the test: the judge of the base install, and four of its metrics alone."""
SHOTS = 12
"""Prompts of the checkpoints."""
PLACEBOS = ("reencode", "container", "trim")
NEED_MODELS = (Aspect.BACKGROUND_CONSISTENCY, Aspect.OBJECT_INTEGRITY, Aspect.COLOR)
"""To find and cut out what a caption names takes models, and nothing is downloaded here."""
SERVED = tuple(aspect.value for aspect in BUILTIN_ASPECTS if aspect not in NEED_MODELS)


def demo(
    out: Path = Path("demo"), workers: WorkersOption = None, as_json: JsonOption = False
) -> None:
    """Try screentest on the sample it brings."""
    try:
        built, made, scores, page = _run(out, workers)
    except Stopped as stop:
        raise typer.Exit(stop.exit_code) from None
    judges = _judges_table(built, made)
    if as_json:
        show(
            judges,
            scores.tables("model")[-1],
            as_json=True,
            report=str(page),
            pairs=len(built.testbed.pairs),
            skipped=len(built.testbed.skips),
        )
        return
    print_heading(judges.title)
    show(judges)
    print_indented(headline_of_all(made.certificates), indent=0)
    console().print()
    print_screen(scores.screen())
    console().print()
    print_indented(f"Open {page}", indent=0, style="bold")
    print_indented("On your own videos: screentest score videos/", indent=0, style="dim")
    err().print()


def _run(out: Path, workers: int | None) -> tuple[BuiltTestbed, Certificates, Scores, Path]:
    films = [video.item for video in sample_videos()]
    _say("1/4  Degrading clips of four films in seven aspects")
    with watched() as progress:
        built = screentest.build(
            films,
            out=out / "testbed",
            aspects=",".join(SERVED),
            placebos=PLACEBOS,
            clips=2,
            min_clips=1,
            long_side=256,
            fps=8,
            workers=workers,
            progress=progress,
        )
    _say("2/4  Asking judges which video of each pair is the original")
    made = screentest.certify(JUDGES, built, out=out / "certificates", workers=workers)
    _say("3/4  Scoring two checkpoints on the same prompts: one is blurred and flickers")
    checkpoints = out / "checkpoints"
    if not (checkpoints / PROMPTS).exists():  # written last
        shutil.rmtree(checkpoints, ignore_errors=True)
        copy_checkpoints(checkpoints, SHOTS)
    # The core suite, and what other suites have that runs on what the base install brings.
    more = [name for entry in registry.entries("suite") for name in entry.info.get("demo", ())]
    scores = screentest.score(
        checkpoints,
        metrics=[*build("suite", "core").thing.metrics, *more],
        out=out / "scores",
        workers=workers,
    )
    _say("4/4  Writing the report")
    page = out / "report.html"
    suites = [entry.name for entry in registry.entries("suite") if entry.info.get("demo")]
    screentest.report(scores, made, out=page, suites=suites, title="screentest demo")
    return built, made, scores, page


def _say(words: str) -> None:
    err().print(words, style="bold")


def _judges_table(built: BuiltTestbed, made: Certificates) -> Table:
    shares = {(row["judge"], row["aspect"]): row["right"] for row in made.records()}
    aspects = list(dict.fromkeys(row["aspect"] for row in made.records()))
    pairs = [pair.aspect.value for pair in built.testbed.pairs if pair.aspect is not None]
    judges = {certificate.judge: certificate.title for certificate in made.certificates}
    rows: list[tuple[Cell, ...]] = [
        (
            aspect,
            pairs.count(str(aspect)) or len(pairs),
            *(shares.get((judge, aspect)) for judge in judges),
        )
        for aspect in aspects
    ]
    columns = (
        Column("aspect", "Aspect", show=lambda name: name.replace("_", " ")),
        Column("pairs", "Pairs"),
        *(
            Column(judge, title, show=lambda share: f"{100 * share:.0f}", align="right")
            for judge, title in judges.items()
        ),
    )
    why = [
        f"{row['judge']}, {str(row['aspect']).replace('_', ' ')}: {row['detail'] or row['reason']}"
        for row in made.records()
        if row["right"] is None
    ]
    note = f"– no answer ({'; '.join(why)})" if why else ""
    title = "How often each judge prefers the original, % (chance 50)"
    return Table("certificates", title, columns, rows, note)


def copy(folder: Path) -> None:
    """Copy the packaged films, with a manifest of their prompts and timed scripts."""
    manifest = copy_films(folder)
    print_indented(f"The films are in {folder}; their manifest is {manifest}.", indent=0)


def checkpoints(folder: Path, prompts: int = 20) -> None:
    """Write short clips of two checkpoints, to compare them."""
    texts = copy_checkpoints(folder, prompts)
    words = f"{plural(len(texts), 'prompt')}, {' and '.join(CHECKPOINTS)}, in {folder}."
    print_indented(words, indent=0)
