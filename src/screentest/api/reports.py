"""What runs say: compared, on a page, of one video, as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from screentest.analysis.results import Pool, read_results
from screentest.api.options import folders_of, progress_of
from screentest.core.calls import Progress
from screentest.core.errors import BadOption, UnknownName, UserError
from screentest.measure.evaluators import metric_names
from screentest.present.results import WORST, Certificates, Comparison, ItemScores, Page, Scores
from screentest.run import RunReader
from screentest.run.session import File

if TYPE_CHECKING:
    from screentest.analysis.judges.certificate import PlaceboResult
    from screentest.analysis.models.margins import Margin
    from screentest.run import Coverage

PACKED_OTHERWISE = frozenset({"container", "trim", "severity_zero", "painted_instruction"})
"""Placebos that may leave every pixel as it is, or that are no matter of saving."""


def compare(
    *runs: File | Scores | Certificates,
    judges: str | Sequence[str] = (),
    by: str = "",
    pool: Pool = "worst",
    margins: File | None = None,
) -> Comparison:
    """Compare models of runs of score, or judges of runs of certify, on what all of them have.

    Of one run of score, its models or whatever group ``by`` names (``GROUP`` or ``GROUP=A,B…``); of
    several, the runs themselves, or with ``by`` the groups in all of them. ``pool`` takes each
    video by its worst tenth, or by its mean. ``margins`` is a run of certify: what its placebos did
    to a metric is then the smallest difference that counts, where it is more than what is known of
    the metric. Of one run of certify, or two, ``judges`` are those to compare, where a run has
    several.
    """
    folders = folders_of(runs)
    names = metric_names([judges] if isinstance(judges, str) else judges)
    if _kind(folders) == "score":
        from screentest.analysis.models.comparison import compare_scores

        if names:
            raise BadOption("--judges is for runs of `certify`", advice="Say --by GROUP=A,B.")
        if margins is not None and pool != "worst":
            raise BadOption("certificates rate videos by their worst tenth", advice="--pool worst.")
        own = None if margins is None else _margins_in(Path(margins))
        return Comparison(models=compare_scores(folders, by, pool, own))
    if margins is not None:
        raise BadOption("--margins is for runs of `score`")
    from screentest.analysis.judges.compare import compare_runs

    if by:
        raise BadOption("--by is for runs of `score`", advice="Say which judges: --judges A,B.")
    return Comparison(compare_runs(folders, names))


def _margins_in(folder: Path) -> Callable[[Sequence[str]], Mapping[str, Margin]]:
    """What the certificates of a run say of the margins of values, given the names of all.

    A certificate counts where a placebo changed the pixels: what packs the same ones otherwise
    says nothing of what saving them otherwise makes.
    """
    from screentest.analysis.judges.plan import read_certificates
    from screentest.analysis.models.margins import Margin
    from screentest.present.page.trust import certificates_of

    with RunReader(folder) as run:
        certificates = read_certificates(run)
    if not certificates:
        raise BadOption(f"{folder} has no certificates", advice="Give a run of `certify`.")
    usable = [one for one in certificates if any(map(_changes_pixels, one.placebos))]
    if not usable:
        raise BadOption(
            f"no placebo in {folder} changes pixels: its margins say nothing",
            advice="Build the testbed with the placebo reencode or noise.",
        )

    def margins(names: Sequence[str]) -> dict[str, Margin]:
        found: dict[str, Margin] = {}
        for name in names:
            learnt = [
                one.margin
                for certificate in certificates_of(name, usable, names)
                for one in certificate.aspects
                if one.margin is not None and one.margin.films
            ]
            if learnt:
                most = max(learnt, key=lambda one: one.value)
                found[name] = Margin(most.value, most.films, str(folder))
        return found

    return margins


def _changes_pixels(placebo: PlaceboResult) -> bool:
    """The builtin ones that do not pack the same packets, or encode a few frames at most."""
    return bool(placebo.pairs) and placebo.name.partition(":")[0] not in PACKED_OTHERWISE


def _kind(folders: Sequence[Path]) -> str:
    """Of which command all runs are: score or certify."""
    commands = set()
    for folder in folders:
        with RunReader(folder) as run:
            commands |= {start.command for start in run.starts()[:1]}
    if commands not in ({"certify"}, {"score"}):
        raise BadOption(
            f"runs of {', '.join(sorted(commands)) or 'nothing'} cannot be compared",
            advice="Give runs of `score`, or of `certify`, two of a kind.",
        )
    return commands.pop()


def report(
    *runs: File | Scores | Certificates,
    out: File = "report.html",
    tables: File | None = None,
    formats: Sequence[str] = ("md", "tex", "csv", "parquet"),
    by: str = "",
    suites: Sequence[str] = (),
    pool: Pool = "worst",
    votes: File | None = None,
    title: str = "screentest report",
    pictures: int = 200,
    embed: bool = False,
    progress: Progress | bool | None = None,
) -> Page:
    """Write one page of one or several runs, and where ``tables`` is given every table.

    ``by`` is the group that is compared, or ``GROUP=A,B…``; ``suites`` are added up besides those
    that the runs were made with. ``pool`` takes each video by its worst tenth, or by its mean.
    ``votes`` is a file of people's votes on the models, to stand beside the metrics.
    ``pictures`` says for how many videos there are pictures; ``embed`` puts the videos into the
    page.
    """
    from screentest.present.files import write_tables
    from screentest.present.page.data import read_report
    from screentest.present.page.html import PageOptions, write_html
    from screentest.watch.loop import alarms_of

    said = Path(votes) if votes is not None else None
    read = read_report(folders_of(runs), by=by, suites=suites, pool=pool, votes=said)
    # What a watch called out belongs first; what it watched is known here, and not to the page.
    called = [one.message for folder in folders_of(runs) for one in alarms_of(folder)]
    read = replace(read, alarms=tuple(called))
    page = Path(out)
    write_html(read, page, PageOptions(title, pictures, embed), progress=progress_of(progress))
    written = write_tables(read, Path(tables), formats) if tables is not None else ()
    return Page(page, tuple(written))


def show(run: File | Scores, item: str = "", *, worst: int = WORST) -> ItemScores:
    """What one video of a run got: ``item`` is its id, or a part of it that no other has.

    ``worst`` is how many of the worst moments are wanted.
    """
    if isinstance(run, Scores):
        results = run.results
    else:
        with RunReader(Path(run)) as reader:
            # What only describes has no worst part: it is by its mean.
            results = read_results(reader).pooled("worst")
    if not results.items or not results.outputs:
        raise UserError(
            f"{'this' if isinstance(run, Scores) else run} holds no scores of videos",
            advice="A run of `screentest score` does. `screentest report RUN` is for all runs.",
        )
    chosen = _item_named(item, list(results.items))
    return ItemScores(results, results.items[chosen], worst)


def _item_named(text: str, known: Sequence[str]) -> str:
    """The item of that id, or the only one whose id begins so, or has this in it."""
    if text in known:
        return text
    found = [name for name in known if name.startswith(text)]
    within = [name for name in known if text.casefold() in name.casefold()]
    if not found and len(within) == 1:
        return within[0]
    if len(found) == 1:
        return found[0]
    near = found or within or get_close_matches(text, known, n=5, cutoff=0.5) or known
    more = f" and {len(near) - 5:,} more" if len(near) > 5 else ""
    what = f"{len(found):,} items begin with {text!r}" if found else f"there is no item {text!r}"
    if within and not found:
        what = f"{len(within):,} items have {text!r} in their ids"
    if not text:
        what = "which item?"
    raise UnknownName(what, advice=f"Items: {', '.join(near[:5])}{more}.")


def export(
    run: File, target: File | BinaryIO, *, kind: str = "csv", partition: str = ""
) -> Coverage:
    """Write the records of a run as csv, json or parquet; ``partition`` makes a folder of parts."""
    from screentest.run.export import export as write
    from screentest.run.export import export_partitioned

    with RunReader(Path(run)) as reader:
        if not isinstance(target, str | PathLike):
            write(reader, kind, target)
        elif partition:
            export_partitioned(reader, partition, Path(target))
        else:
            write(reader, kind, Path(target))
        return reader.coverage()
