"""``screentest demo``: the whole job on the packaged sample, offline."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from screentest.cli.options import JsonOption, WorkersOption

if TYPE_CHECKING:
    from screentest.certificates.certificate import Certificate
    from screentest.scores.results import Results
    from screentest.testbeds.testbed import Testbed

JUDGES = ("core", "sharpness", "contrast", "frozen", "flicker")
"""What is put to the test: the judge of the base install, and four of its metrics alone."""
ETVA = "etva_builtin"
LOCOT2V = (
    "locot2v_temporal_flickering",
    "locot2v_semantic_consistency",
    "locot2v_aesthetic_quality",
)
"""Parts of the suites that run on what the base install brings."""
PLACEBOS = ("reencode", "container", "trim")


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where everything goes.")] = Path("demo"),
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Try screentest on the sample it brings.

    Harms clips of short films in ten aspects, tests how often judges notice, scores
    the films, and writes a report. Nothing is downloaded. Start it again to go on.

    \b
    Examples:
      screentest demo
      screentest demo --out /tmp/demo --workers 2
    """
    from screentest.certificates.cases import read_cases
    from screentest.certificates.plan import Plan, certify
    from screentest.cli.console import err, print_json
    from screentest.cli.progress import watched
    from screentest.reports.data import read_report
    from screentest.reports.html import PageOptions, write_html
    from screentest.run import LocalEngine, RunStore
    from screentest.sample import sample_videos
    from screentest.scores.results import read_results
    from screentest.scores.suite import read_suite
    from screentest.scores.tasks import score_items
    from screentest.testbeds.builder import build_testbed
    from screentest.testbeds.options import BuildOptions

    engine = LocalEngine(workers=workers)
    items = [video.item for video in sample_videos()]
    options = BuildOptions(
        placebos=PLACEBOS, clips=(2,), least_clips=1, long_side=256, rate=Fraction(8)
    )
    _say("1/4  Harming clips of four films in ten aspects")
    with watched() as progress:
        built = build_testbed(items, out / "testbed", options, engine=engine, progress=progress)
    if built.exit_code:
        raise typer.Exit(built.exit_code)
    _say("2/4  Asking judges which video of each pair is intact")
    plan = Plan(tuple(read_cases([out / "testbed"])), JUDGES)
    with RunStore(out / "certificates", command="certify") as store:
        done = certify(store, plan, engine=engine, progress=watched())
    if done.exit_code:
        raise typer.Exit(done.exit_code)
    _say("3/4  Scoring the films")
    metrics = [*read_suite("core").metrics, ETVA, *LOCOT2V]
    with RunStore(out / "scores", command="score") as store:
        scored = score_items(store, items, metrics, engine=engine, progress=watched())
        results = read_results(store)
    if scored.exit_code:
        raise typer.Exit(scored.exit_code)
    _say("4/4  Writing the report")
    page = out / "report.html"
    report = read_report([out / "scores", out / "certificates"])
    write_html(report, page, PageOptions("screentest demo"), progress=watched())
    if as_json:
        print_json(_object(built.testbed, done.certificates, results, page))
    else:
        _print(built.testbed, done.certificates, results, page)
        err().print()


def _say(words: str) -> None:
    from screentest.cli.console import err

    err().print(words, style="bold")


def _print(
    testbed: Testbed, certificates: tuple[Certificate, ...], results: Results, page: Path
) -> None:
    from screentest.cli.console import out
    from screentest.cli.tables import print_heading, print_indented, table

    print_heading("How often each judge prefers the intact video, % (chance 50)")
    judges = [certificate.judge for certificate in certificates]
    rows = []
    for aspect in dict.fromkeys(one.aspect for cert in certificates for one in cert.aspects):
        cells = [_cell(certificate, aspect) for certificate in certificates]
        pairs = sum(pair.aspect is aspect for pair in testbed.pairs)
        rows.append((aspect.value.replace("_", " "), f"{pairs}", *cells))
    rows.append(("all", "", *(_overall(certificate) for certificate in certificates)))
    out().print(table(["Aspect", ">Pairs", *(f">{name}" for name in judges)], rows))
    if any("–" in row for row in rows):
        print_indented("–: no answer from that judge; the report says why.", indent=0)
    print_heading("What the films got")
    lines = []
    for total in results.totals():
        if total.summary is not None and "." not in total.name:
            better = "↑" if total.info.higher_is_better else "↓"
            mean = f"{total.summary.value:.3f} {better}"
            lines.append((total.name, mean, f"{total.scored}/{total.total}"))
    out().print(table(["Metric", ">Mean", ">Scored"], lines))
    skipped = len(testbed.skips)
    print_indented(
        f"{len(testbed.pairs)} pairs were built; {skipped} could not be, each with its reason in "
        f"{page.parent / 'testbed' / 'testbed.json'}. Few pairs make wide intervals: see the "
        "report.",
        indent=0,
    )
    out().print()
    print_indented(f"Open {page}", indent=0, style="bold")
    for line in (
        "",
        "On your own videos:",
        "  screentest score videos/ --out scores/",
        "  screentest report scores/",
    ):
        out().print(line, style="dim")


def _cell(certificate: Certificate, aspect: object) -> str:
    for one in certificate.aspects:
        if one.aspect is aspect:
            found = one.accuracy.value
            return f"{100 * found.value:.0f}" if found is not None else "–"
    return ""


def _overall(certificate: Certificate) -> str:
    found = certificate.overall.value
    return f"{100 * found.value:.0f}" if found is not None else "–"


def _object(
    testbed: Testbed, certificates: tuple[Certificate, ...], results: Results, page: Path
) -> dict[str, object]:
    return {
        "report": str(page),
        "pairs": len(testbed.pairs),
        "skipped": len(testbed.skips),
        "certificates": {
            one.judge: one.overall.value.value if one.overall.value is not None else None
            for one in certificates
        },
        "scores": {
            total.name: total.summary.value if total.summary is not None else None
            for total in results.totals()
        },
    }


COMMANDS = {"demo": demo}
