"""Reading runs: compared, as a page, of one video, as a file of records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from screentest.analysis.models.comparison import compare_scores, must_compare
from screentest.analysis.results import Margin, Pool, Results
from screentest.analysis.runs import read_results
from screentest.api import at_least, folders_of, names_of, path_of, progress_of
from screentest.core.calls import Progress
from screentest.core.errors import BadOption, UnknownName, UserError
from screentest.core.item import File
from screentest.core.signature import metric_names
from screentest.present.results import WORST, Certificates, Comparison, ItemScores, Page, Scores
from screentest.run.reader import Coverage, RunReader

if TYPE_CHECKING:
    from screentest.analysis.judges.certificate import PlaceboResult

CONTAINER_ONLY_PLACEBOS = frozenset({"container", "trim", "severity_zero", "painted_instruction"})
"""Placebos that may leave every pixel as it is, or that are not about encoding."""


def compare(
    *runs: File | Scores | Certificates,
    judges: str | Sequence[str] = (),
    by: str = "",
    pool: Pool = "worst",
    margins: File | None = None,
    lower: str | Sequence[str] = (),
) -> Comparison:
    """Compare models of runs of score, or judges of runs of certify, on what all of them have.

    Args:
        *runs: Runs of one kind, or what ``score`` and ``certify`` returned; or files with scores of
            another tool. Of one run of score its models are compared; of several, the runs
            themselves.
        judges: Of runs of certify: the judges, where a run has several.
        by: Of runs of score: the group to compare, model or model=A,B.
        pool: Take each video by its worst tenth (``worst``), or by its mean (``mean``).
        margins: A run of certify: the changes that its placebos made are the smallest that count.
        lower: Of files with scores: the metrics of which less is better.

    Returns:
        The comparison, with its tables.
    """
    folders = folders_of(runs)
    names = metric_names(names_of(judges))
    scores = _scores_in(folders, names_of(lower))
    if scores is not None:
        if names or margins is not None:
            raise BadOption("`judges` and `margins` are for runs, not for files with scores")
        return Comparison(models=must_compare(scores, by, pool))
    if _kind(folders) == "score":
        if names:
            raise BadOption("`judges` is for runs of certify", advice="Give `by=GROUP=A,B`.")
        if margins is not None and pool != "worst":
            raise BadOption(
                "`margins` needs `pool=worst`: certificates rate videos by their worst tenth"
            )
        learnt = None if margins is None else _margins_in(Path(margins))
        return Comparison(models=compare_scores(folders, by, pool, learnt))
    if margins is not None:
        raise BadOption("`margins` is for runs of score")
    from screentest.analysis.judges.compare import compare_runs

    if by:
        raise BadOption("`by` is for runs of score", advice="Name judges: `judges=A,B`.")
    return Comparison(compare_runs(folders, names))


def _scores_in(folders: Sequence[Path], lower: Sequence[str]) -> Results | None:
    """Read files with scores of another tool; None where runs were given."""
    from screentest.analysis.score_files import is_score_file, read_score_files

    files = [path for path in folders if is_score_file(path)]
    if not files:
        if lower:
            raise BadOption("`lower` is for files with scores: runs know which way is better")
        return None
    if len(files) < len(folders):
        raise BadOption("runs and files with scores cannot be mixed", advice="Give one kind.")
    return read_score_files(files, lower)


def _margins_in(folder: Path) -> Callable[[Sequence[str]], Mapping[str, Margin]]:
    """Read the margins of values from the certificates of a run, given the names of all.

    A certificate counts where a placebo changed pixels: another container for the same pixels
    tells nothing of encoding noise.
    """
    from screentest.analysis.judges.certificate import certificates_of, read_certificates

    with RunReader(folder) as run:
        certificates = read_certificates(run)
    if not certificates:
        raise BadOption(f"{folder} has no certificates", advice="Give a run of certify.")
    usable = [made for made in certificates if any(map(_changes_pixels, made.placebos))]
    if not usable:
        raise BadOption(
            f"no placebo in {folder} changes pixels: its margins say nothing",
            advice="Build the testbed with the placebo reencode or noise.",
        )

    def margins(names: Sequence[str]) -> dict[str, Margin]:
        by_name: dict[str, Margin] = {}
        for name in names:
            learnt = [
                aspect.margin
                for certificate in certificates_of(name, usable, names)
                for aspect in certificate.aspects
                if aspect.margin is not None and aspect.margin.films
            ]
            if learnt:
                most = max(learnt, key=lambda margin: margin.value)
                by_name[name] = Margin(most.value, most.films, str(folder))
        return by_name

    return margins


def _changes_pixels(placebo: PlaceboResult) -> bool:
    """Tell placebos that encode anew from those that copy packets, or encode a few frames."""
    return bool(placebo.pairs) and placebo.name.partition(":")[0] not in CONTAINER_ONLY_PLACEBOS


def _kind(folders: Sequence[Path]) -> str:
    """Find the command that made all runs: score or certify."""
    commands = set()
    for folder in folders:
        with RunReader(folder) as run:
            commands |= {start.command for start in run.starts()[:1]}
    if commands not in ({"certify"}, {"score"}):
        raise BadOption(
            f"runs of {', '.join(sorted(commands)) or 'nothing'} cannot be compared",
            advice="Give runs of score, or runs of certify.",
        )
    return commands.pop()


def report(
    *runs: File | Scores | Certificates,
    out: File = "report.html",
    tables: File | None = None,
    formats: Sequence[str] = ("md", "tex", "csv"),
    by: str = "",
    suites: Sequence[str] = (),
    pool: Pool = "worst",
    votes: File | None = None,
    title: str = "screentest report",
    pictures: int = 200,
    embed: bool = False,
    lower: str | Sequence[str] = (),
    progress: Progress | bool | None = None,
) -> Page:
    """Write one page about one or several runs.

    Args:
        *runs: Runs, or what ``score`` and ``certify`` returned; or files with scores of another
            tool.
        out: The page.
        tables: Write every table there, too.
        formats: Formats of the tables: md, tex, csv, parquet.
        by: The group to compare: model, or model=A,B.
        suites: Add up by this suite, too; there may be several.
        pool: Take each video by its worst tenth (``worst``), or by its mean (``mean``).
        votes: People's votes on the models, of ``annotate export``.
        title: The page's title.
        pictures: For how many videos there are pictures.
        embed: Put the videos into the page; it may grow large.
        lower: Of files with scores: the metrics of which less is better.
        progress: Who shows how far it is; False: nobody.

    Returns:
        The files that were written.
    """
    from screentest.present.files import must_be_formats, write_tables
    from screentest.present.page.data import read_report
    from screentest.present.page.html import write_html
    from screentest.watch.alarms import read_state

    at_least(0, pictures=pictures)
    if tables is not None:
        must_be_formats(formats)
    given = folders_of(runs)
    scores = _scores_in(given, names_of(lower))
    folders = given if scores is None else []
    read = read_report(
        folders, by=by, suites=suites, pool=pool, votes=path_of(votes), scores=scores
    )
    # Alarms of a watch come first; the page cannot read them, since it does not import `watch`.
    raised = [alarm for folder in folders for alarm in read_state(folder).raised.values()]
    read = replace(read, alarms=tuple(alarm.message for alarm in raised))
    page = Path(out)
    shown = progress_of(progress)
    write_html(read, page, title=title, pictures=pictures, embed=embed, progress=shown)
    written = write_tables(read, Path(tables), formats) if tables is not None else ()
    return Page(page, tuple(written))


def show(run: File | Scores, item: str = "", *, worst: int = WORST) -> ItemScores:
    """Give the scores of one video of a run.

    Args:
        run: A run of score, or what ``score`` returned.
        item: The video's id, or a part of it that no other has.
        worst: How many of the worst moments to give.

    Returns:
        Its values, curves, worst moments, and reasons for missing values.
    """
    if isinstance(run, Scores):
        results = run.results
    else:
        with RunReader(Path(run)) as reader:
            results = read_results(reader).pooled("worst")
            judged = any(start.command == "certify" for start in reader.starts()[:1])
        if judged or not results.items:
            raise UserError(
                f"{run} has no scores of videos", advice="Give a run of score, not of certify."
            )
    chosen = _item_named(item, list(results.items))
    return ItemScores(results, results.items[chosen], worst)


def _item_named(text: str, ids: Sequence[str]) -> str:
    """Find the item of that id, or the only one whose id begins so, or has this in it."""
    if text in ids:
        return text
    begin = [name for name in ids if name.startswith(text)]
    within = [name for name in ids if text.casefold() in name.casefold()]
    if not begin and len(within) == 1:
        return within[0]
    if len(begin) == 1:
        return begin[0]
    near = begin or within or get_close_matches(text, ids, n=5, cutoff=0.5) or ids
    more = f" and {len(near) - 5:,} more" if len(near) > 5 else ""
    what = f"{len(begin):,} items begin with {text!r}" if begin else f"there is no item {text!r}"
    if within and not begin:
        what = f"{len(within):,} items have {text!r} in their ids"
    if not text:
        what = "which item?"
    raise UnknownName(what, advice=f"Items: {', '.join(near[:5])}{more}.")


def export(
    run: File, target: File | BinaryIO, *, kind: str = "csv", partition: str = ""
) -> Coverage:
    """Write the records of a run to a file.

    Args:
        run: The folder of a run.
        target: A file, a folder where ``partition`` is given, or a stream.
        kind: ``csv``, ``json`` or ``parquet``.
        partition: The column by which Parquet is written in parts.

    Returns:
        How many of the values are there.
    """
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
