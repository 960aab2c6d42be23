"""Inspect, verify and sample testbeds: their films and pairs, one pair, and how many of what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import typer

from screentest._util.optional import need
from screentest._util.progress import watched
from screentest._util.text import plural
from screentest.cli.console import err, out, shown
from screentest.cli.options import JsonOption, ModelOption, ModelsOption
from screentest.cli.tables import (
    columns,
    print_facts,
    print_heading,
    print_indented,
    print_record,
    show,
)
from screentest.core import timecode
from screentest.core.codec import to_object
from screentest.core.table import Column, Table
from screentest.models import read_models
from screentest.present.charts import charts_of_testbed
from screentest.testbeds.catalogue import operators_table
from screentest.testbeds.page import write_page
from screentest.testbeds.statistics import Statistics, duration_of, statistics_of
from screentest.testbeds.subset import merge_testbeds, sample_testbed
from screentest.testbeds.testbed import (
    Pair,
    SourceFilm,
    Testbed,
    find_pair,
    pair_name,
    read_testbed,
)
from screentest.testbeds.verify import Verification, VerificationFinding, verify_testbed

MOST = 50
"""Findings that are printed one by one; JSON has all."""


# ---- verify


def verify(
    folder: Path,
    models: ModelsOption = "builtin",
    model: ModelOption = None,
    workers: int = 1,
    as_json: JsonOption = False,
) -> None:
    """Check that a testbed is what it says, down to the packets."""
    with watched() as progress:
        result = verify_testbed(
            folder, workers=workers, progress=progress, models=read_models([models, *(model or [])])
        )
    show(
        _findings_table(result.findings, as_json),
        as_json=as_json,
        ok=result.ok,
        files=result.files,
        bytes=result.bytes,
        pairs=len(result.testbed.pairs),
    )
    if not as_json:
        _print_summary(result)
    if result.findings:
        raise typer.Exit(1)


def _findings_table(findings: Sequence[VerificationFinding], as_json: bool) -> Table:
    rows = [(finding.check, finding.where, str(finding.fault)) for finding in findings]
    more = "" if as_json or len(rows) <= MOST else f"{len(rows) - MOST:,} more; --json has all"
    listed = rows[:MOST] if more else rows
    return Table("findings", "Wrong", columns("findings"), listed, more)


def _print_summary(result: Verification) -> None:
    if result.findings:
        out().print()
    count = plural(len(result.findings), "thing is wrong", "things are wrong")
    words = [
        f"{plural(result.files, 'file')} ({result.bytes / 1e6:,.1f} MB)",
        plural(len(result.testbed.pairs), "pair"),
        count if result.findings else "nothing is wrong",
    ]
    print_indented("; ".join(words), indent=0)


# ---- sample, page


def sample(
    folder: Path,
    into: Path,
    count: int,
    per_aspect: bool = False,
    seed: int = 7,
    copy: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Draw a smaller testbed, evenly over aspects."""
    made = sample_testbed(folder, into, count, seed=seed, per_aspect=per_aspect, copy=copy)
    if as_json:
        print_testbed_as_json(made)
    else:
        pairs, films = plural(len(made.pairs), "pair"), plural(len(made.sources), "source")
        print_indented(f"{pairs} of {films}, in {into}", indent=0)


def merge_parts(
    folders: list[Path], into: Path, copy: bool = False, as_json: JsonOption = False
) -> None:
    """Make one testbed of several that were built alike."""
    made = merge_testbeds(folders, into, copy=copy)
    if as_json:
        print_testbed_as_json(made)
        return
    pairs, films = plural(len(made.pairs), "pair"), plural(len(made.sources), "source")
    print_indented(f"{pairs} of {films}, in {into}", indent=0)
    for folder in folders:
        if (folder / "annotate").is_dir():
            print_indented(f"Votes are not merged: {folder / 'annotate'}", indent=0)


def page(folder: Path) -> None:
    """Write testbed.html again: every pair side by side."""
    print_indented(str(write_page(folder, read_testbed(folder))), indent=0)


# ---- operators


def list_operators(aspects: str = "all", as_json: JsonOption = False) -> None:
    """List the operators that `build` can harm films with, by aspect."""
    show(operators_table(aspects), as_json=as_json)


def show_testbed(folder: Path, pair: str | None = None, as_json: JsonOption = False) -> None:
    """Show what a testbed holds, or everything about one pair."""
    testbed = read_testbed(folder)
    if pair is not None:
        _show_pair(testbed, find_pair(testbed, pair), as_json)
    elif as_json:
        print_testbed_as_json(testbed)
    else:
        print_facts(_facts(testbed))
        show(*_tables(testbed))
        _print_skips(testbed)


def print_testbed_as_json(testbed: Testbed) -> None:
    """All that the manifest says, with skips as a table of records."""
    show(
        *_tables(testbed),
        Table.of("skips", "Skipped", columns("skips"), testbed.skips),
        as_json=True,
        screentest=testbed.screentest,
        seed=testbed.seed,
        recipe=dict(testbed.recipe),
        pending=testbed.pending,
    )


def _tables(testbed: Testbed) -> tuple[Table, ...]:
    pairs = Counter(pair.source for pair in testbed.pairs)
    skips = Counter(skip.source for skip in testbed.skips)
    of = {
        "duration": duration_of,
        "clips": lambda source: len(source.clips),
        "pairs": lambda source: pairs[source.id],
        "skipped": lambda source: skips[source.id],
    }
    shown = columns("sources", of, duration=_clock)
    sources = Table.of("sources", "Sources", shown, testbed.sources)
    return sources, _aspects_table(statistics_of(testbed)), _pairs_table(testbed.pairs)


def _pairs_table(pairs: Sequence[Pair]) -> Table:
    def touched(pair: Pair) -> list[int]:
        return [touch.clip for touch in pair.touched]

    of = {"pair": pair_name, "aspect": lambda pair: pair.aspect or "", "clips": touched}
    return Table.of("pairs", "Pairs", columns("pairs", of, clips=_clips), pairs)


def _clips(clips: list[int]) -> str:
    return ", ".join(str(clip + 1) for clip in clips) or "the whole film"


def _clock(duration: str) -> str:
    return timecode(Fraction(duration))


def _facts(testbed: Testbed) -> Iterable[tuple[str, str]]:
    yield "pairs", f"{len(testbed.pairs):,} of {plural(len(testbed.sources), 'source')}"
    if testbed.pending:
        yield "unfinished", f"{testbed.pending:,} pairs are still to be made"
    yield "seed", str(testbed.seed)
    yield "screentest", testbed.screentest
    for name, value in testbed.recipe.items():
        if value and name not in ("film", "options"):  # too long to read here
            yield name, value


def _print_skips(testbed: Testbed) -> None:
    """One line for each source and reason: many pairs share one."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for skip in testbed.skips:
        reasons.setdefault((skip.source, str(skip.failure)), []).append(skip.name)
    if reasons:
        print_heading("Skipped")
    for (source, failure), names in reasons.items():
        print_indented(f"{source}: {', '.join(dict.fromkeys(names))}: {failure}")


def _show_pair(testbed: Testbed, pair: Pair, as_json: bool) -> None:
    source = next((source for source in testbed.sources if source.id == pair.source), None)
    table = _pair_table(pair, source)
    if as_json:
        show(table, as_json=True)
        return
    print_record(table)
    if not pair.touched:
        return
    print_heading("Touched clips")
    for touch in pair.touched:
        where = "deleted" if touch.degraded is None else ""
        if touch.degraded is not None and touch.degraded != touch.intact:
            where = f"now at {touch.degraded}"
        details = [f"{name} {value}" for name, value in touch.details.items()]
        words = "; ".join([*([where] if where else []), *details])
        print_indented(f"clip {touch.clip + 1}  {touch.intact}" + (f"  {words}" if words else ""))
        if source is not None and touch.clip < len(source.clips):
            print_indented(source.clips[touch.clip].caption, indent=4, style="dim")


def _pair_table(pair: Pair, source: SourceFilm | None) -> Table:
    """Return the pair as testbed.json has it, with the captions of the touched clips."""
    data: dict[str, Any] = to_object(pair)
    for entry, touched in zip(data.get("touched", []), pair.touched, strict=True):
        if source is not None and touched.clip < len(source.clips):
            entry["caption"] = source.clips[touched.clip].caption
    shown = columns(
        "pair",
        severity="{:g}".format,
        touched=lambda touched: str(len(touched)),
        prompts=_prompts,
        models=_models,
        changed=lambda _: _file(pair),
    )
    data = {"pair": pair_name(pair), "video": source.video if source else None, **data}
    named = [column for column in shown if column.name in data]
    others = map(Column, sorted(set(data) - {column.name for column in named}))
    return Table.of("pair", "Pair", [*named, *others], [data])


def _prompts(prompts: dict[str, Any]) -> str:
    return "; ".join(f"{which}: {' '.join(prompts[which])}" for which in ("true", "false"))


def _models(models: dict[str, str]) -> str:
    return ", ".join(f"{role}: {used}" for role, used in models.items())


def _file(pair: Pair) -> str:
    file = pair.changed
    return (
        f"{file.path}, {file.width}×{file.height}, {file.frames:,} frames, "
        f"{timecode(file.duration)}, {file.bytes:,} bytes, sha256 {file.sha256[:16]}…"
    )


def stats(folder: Path, plots: Path | None = None, as_json: JsonOption = False) -> None:
    """Count pairs per aspect, durations, categories and prompt lengths."""
    if plots is not None:
        need("matplotlib")
    statistics = statistics_of(read_testbed(folder))
    tables = (
        _aspects_table(statistics),
        _spreads_table(statistics),
        _durations_table(statistics, as_json),
        _groups_table(statistics),
    )
    show(
        *tables,
        as_json=as_json,
        sources=statistics.sources,
        pairs=statistics.pairs,
        pending=statistics.pending,
        reasons=dict(statistics.reasons),
        words=list(statistics.words),
    )
    if plots is not None:
        written = charts_of_testbed(statistics, plots)
        err().print(f"{plural(len(written), 'file')} in {shown(str(plots))}", soft_wrap=True)


def _aspects_table(statistics: Statistics) -> Table:
    shown = columns("aspects", aspect=lambda aspect: aspect or "placebo")
    initial = sum(aspect.initial for aspect in statistics.aspects)
    kept = sum(aspect.kept for aspect in statistics.aspects)
    note = f"total: {kept:,} of {plural(initial, 'pair')} kept"
    if statistics.reasons:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in statistics.reasons.items())
        note += f"; skipped: {reasons}"
    return Table.of("aspects", "Aspects and placebos", shown, statistics.aspects, note)


def _spreads_table(statistics: Statistics) -> Table:
    return Table(
        "spreads",
        "Sources",
        (
            Column("name", "Per source"),
            *(
                Column(name, name.capitalize(), show="{:,.0f}".format)
                for name in ("least", "median", "mean", "most")
            ),
            Column("total", detail=True),
        ),
        [(name, *asdict(spread).values()) for name, spread in statistics.spreads.items()],
    )


def _durations_table(statistics: Statistics, as_json: bool) -> Table:
    shown_bins = [each for each in statistics.durations if each.sources or as_json]
    return Table.of("durations", "Durations", columns("durations"), shown_bins)


def _groups_table(statistics: Statistics) -> Table:
    rows = [
        (group, count.value, count.sources, count.pairs)
        for group, counts in statistics.groups.items()
        for count in counts
    ]
    return Table("groups", "Groups", columns("groups"), rows)
