"""``screentest build`` and ``build-prompts``: testbeds from captioned films and from prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import typer

import screentest
from screentest._util.progress import watched
from screentest._util.text import lines, plural
from screentest.cli.console import err, shown
from screentest.cli.errors import until_stopped
from screentest.cli.options import ENGINE, MODELS, RETRY, WORKERS, JsonOption, numbers, shares
from screentest.cli.tables import MOST_LINES, print_heading, print_indented, print_models, show
from screentest.core import BadOption, Reason
from screentest.present.results import BuiltTestbed


def _categories(text: str | None) -> tuple[str, ...]:
    """Read names from a file with one on each line, or from a list with commas."""
    if text is None:
        return ()
    path = Path(text)
    if path.is_file():
        try:
            names = lines(path.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            raise BadOption(f"{path} is not a list of categories", advice="One a line.") from None
    else:
        names = text.split(",")
    categories = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    if len(categories) < 2:
        raise BadOption(
            "a choice needs two categories or more",
            advice="Give a file with one on each line, or names with commas.",
        )
    return categories


@shares(
    MODELS,
    WORKERS,
    ENGINE,
    RETRY,
    job=screentest.build,
    clips=numbers(int, "5 or 1,3,5"),
    severities=numbers(float, "1 or 0.25,0.5,1"),
    categories=_categories,
)
def build(films: Path, out: Path, as_json: JsonOption = False, **options: Any) -> None:
    """Build pairs of original and degraded videos from captioned films."""
    options["operators"] = options["operators"] or "paper"
    job = partial(screentest.build, films, out=out, **options)
    _run(job, as_json=as_json)


@shares(job=screentest.build_prompts)
def build_prompts(videos: Path, out: Path, as_json: JsonOption = False, **options: Any) -> None:
    """Build pairs of one video under its own and a false prompt."""
    _run(partial(screentest.build_prompts, videos, out=out, **options), as_json=as_json)


def _run(job: Callable[..., BuiltTestbed], *, as_json: bool) -> None:
    """Build and print the counts; exits with 1 where there is no pair."""
    run_build(job, _print_json if as_json else _print)


def run_build(
    job: Callable[..., BuiltTestbed], report: Callable[[BuiltTestbed], None]
) -> BuiltTestbed:
    """Build, and give the testbed to what prints it; exits with 1 where there is no pair."""
    with watched() as progress:
        made, exit_code = until_stopped(partial(job, progress=progress))
    report(made)
    if exit_code or not made.testbed.pairs or made.changed:
        raise typer.Exit(exit_code or 1)
    return made


def _print_json(made: BuiltTestbed) -> None:
    testbed = made.testbed
    show(
        made.skips,
        as_json=True,
        testbed=str(made.folder),
        sources=len(testbed.sources),
        pairs=len(testbed.pairs),
        pending=testbed.pending,
        made=made.made,
        reused=made.reused,
        remarks=list(made.remarks),
    )


_SAME = 20
"""A reason that more sources than this share is counted instead."""


def _print(made: BuiltTestbed) -> None:
    """Print a table of pairs, and the reasons for what was skipped."""
    show(made.counts)
    print_built(made)


def print_built(made: BuiltTestbed, *, brief: bool = False) -> None:
    """Print the reasons for what was skipped, each once, and the number of pairs.

    ``brief`` leaves out those of sources that have some pair.
    """
    testbed = made.testbed
    served = {pair.source for pair in testbed.pairs} if brief else set()
    skips = [skip for skip in testbed.skips if skip.source not in served]
    reasons: dict[tuple[str, str], list[str]] = {}
    shared = Counter(skip.failure.detail for skip in skips)
    for skip in skips:
        many = shared[skip.failure.detail]
        source = skip.source if many <= _SAME else plural(many, "time")
        place = (source, str(skip.failure.detail or skip.failure.reason).splitlines()[-1])
        reasons.setdefault(place, []).append(skip.name)
    if reasons:
        print_heading("Skipped")
    for (source, detail), names in reasons.items():
        which = ", ".join(dict.fromkeys(names)) if len(set(names)) < 4 else f"{len(names)} pairs"
        print_indented(f"{source}: {which}: {detail}")
    failures = [skip.failure for skip in skips]
    missing = [failure for failure in failures if failure.reason is Reason.MISSING_MODEL]
    for advice in dict.fromkeys(failure.advice for failure in missing):
        print_indented(advice)
    words = f"{plural(len(testbed.pairs), 'pair')} of {plural(len(testbed.sources), 'film')}"
    if testbed.pending:
        words += f"; {testbed.pending:,} still to be made: start the same command again"
    print_indented(f"{words}, in {made.folder}", indent=0)
    if len(skips) < len(testbed.skips):
        others = len(testbed.skips) - len(skips)
        why = f"the reasons are in {made.folder / 'testbed.json'}"
        print_indented(f"{plural(others, 'pair')} could not be made; {why}", indent=0)
    print_models(testbed.recipe.get("models", ""))
    if testbed.pairs:
        print_indented(f"Look at them side by side: {made.page}", indent=0)
    for remark in made.remarks[:MOST_LINES]:
        err().print(shown(remark), soft_wrap=True)
    if len(made.remarks) > MOST_LINES:
        err().print(f"and {len(made.remarks) - MOST_LINES:,} more (--json lists all)")
