"""``screentest demo`` and ``sample``: the whole job on the packaged films, and copies of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import typer

import screentest
from screentest._util.atomic import write_whole
from screentest._util.progress import watched
from screentest._util.text import plural
from screentest.analysis.evidence import Evidence, evidence_of
from screentest.cli.console import err
from screentest.cli.console import out as console
from screentest.cli.options import JsonOption, WorkersOption
from screentest.cli.tables import print_facts, print_indented, show
from screentest.core import Stopped, registry
from screentest.core.registry import PLUGIN_FILES
from screentest.present.certificates import headline
from screentest.present.results import Certificates, Scores
from screentest.present.tables import sees_words
from screentest.present.text import labels, phrase
from screentest.sample import sample_videos
from screentest.sample.copies import (
    CHECKPOINTS,
    METRIC,
    MODELS,
    OWN_METRIC,
    PROMPTS,
    copy_checkpoints,
    copy_films,
)
from screentest.stats import Claim

SHOTS = 12
"""Prompts of the models."""
OPERATORS = ("technical_quality", "oversharpened", "sensor_noise", "desaturated")
PLACEBOS = ("reencode", "trim")
LEADING = 3
"""Metrics in which a model leads, whose evidence is shown."""
SHIPPED = "sharpness"
"""The metric of the package that sees what the demo's own is after."""
_SHOWN = ("better", "worse", "discounted", "undecided", "not covered")


def demo(
    out: Path = Path("demo"), workers: WorkersOption = None, as_json: JsonOption = False
) -> None:
    """Try screentest on the sample it brings."""
    try:
        scores, made, page = _run(out, workers)
    except Stopped as stop:
        raise typer.Exit(stop.exit_code) from None
    evidence = evidence_of(scores.results)
    (certificate,) = made.certificates
    if as_json:
        known = {name: one.document() for name, one in evidence.items()}
        facts = {"report": str(page), "evidence": known, "headline": headline(certificate)}
        show(scores.tables("model")[-1], as_json=True, **facts)
        return
    _print_models(scores, evidence)
    console().print()
    print_indented(headline(certificate), indent=0, style="bold")
    shipped = evidence.get(SHIPPED, Evidence(SHIPPED))
    films = max(part.finding.films for part in certificate.aspects)
    print_facts(
        [
            ("yours", phrase("seen" if certificate.claims.sees else "few_films", films=films)),
            (SHIPPED, phrase("shipped_sees", films=shipped.films, sees=sees_words(shipped))),
        ]
    )
    console().print()
    print_facts(
        [
            ("open", str(page)),
            ("your videos", "screentest score videos/"),
            ("your metric", "screentest certify my_metric --plugin my.py --on videos/"),
            ("any metric", f"screentest evidence {SHIPPED}"),
        ]
    )
    err().print()


def _print_models(scores: Scores, evidence: dict[str, Evidence]) -> None:
    """Print the answer, and what the metrics that it rests on are known to see."""
    screen = scores.screen()
    print_indented(screen.headline, indent=0, style="bold")
    shown = zip(screen.lines, screen.labelled, strict=True)
    print_facts(line for (name, _), line in shown if name in _SHOWN)
    comparison = scores.comparison()
    rows = comparison.rows if comparison is not None else ()
    leading = [row for row in rows if any(pair.earned for pair in row.pairs)]
    leading.sort(key=lambda row: -len(row.evidence.having(Claim.SEES)) if row.evidence else 0)
    label_of = labels(scores.results)
    print_facts(
        (f"{label_of[row.name]} sees", sees_words(evidence.get(row.name)))
        for row in leading[:LEADING]
    )


def _run(out: Path, workers: int | None) -> tuple[Scores, Certificates, Path]:
    metric = out / f"{METRIC}.py"
    out.mkdir(parents=True, exist_ok=True)
    write_whole(metric, OWN_METRIC)
    registry.load_file(metric)
    os.environ[PLUGIN_FILES] = str(metric.absolute())  # workers inherit it from the first on
    _say(f"1/3  Scoring three models on {SHOTS} prompts: one soft, one flickering, one intact")
    models = out / "models"
    if not (models / PROMPTS).exists():  # written last
        shutil.rmtree(models, ignore_errors=True)
        copy_checkpoints(models, SHOTS, MODELS)
    scores = screentest.score(models, out=out / "scores", workers=workers)
    _say(f"2/3  Testing a metric of your own on pairs of four films: {metric}")
    with watched() as progress:
        built = screentest.build(
            [video.item for video in sample_videos()],
            out=out / "testbed",
            operators=OPERATORS,
            placebos=PLACEBOS,
            clips=2,
            min_clips=1,
            long_side=256,
            fps=8,
            workers=workers,
            progress=progress,
        )
    made = screentest.certify(METRIC, built, out=out / "certificates", workers=workers)
    _say("3/3  Writing the report")
    page = out / "report.html"
    screentest.report(scores, made, out=page, title="screentest demo")
    return scores, made, page


def _say(words: str) -> None:
    err().print(words, style="bold")


def copy(folder: Path) -> None:
    """Copy the packaged films, with a manifest of their prompts and timed scripts."""
    manifest = copy_films(folder)
    print_indented(f"The films are in {folder}; their manifest is {manifest}.", indent=0)


def checkpoints(folder: Path, prompts: int = 20) -> None:
    """Write short clips of two checkpoints, to compare them."""
    texts = copy_checkpoints(folder, prompts)
    words = f"{plural(len(texts), 'prompt')}, {' and '.join(CHECKPOINTS)}, in {folder}."
    print_indented(words, indent=0)
