"""How ``screentest testbed`` shows what it found: tables for people, objects for JSON."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from screentest.cli.console import out, plural
from screentest.cli.tables import print_facts, print_heading, print_indented, table
from screentest.core import timecode, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from screentest.testbeds.statistics import Statistics
    from screentest.testbeds.testbed import Pair, SourceFilm, Testbed
    from screentest.testbeds.verify import Finding, Verification

MOST = 50
"""Findings that are told one by one; JSON has all."""


# ---- show


def print_testbed(testbed: Testbed) -> None:
    """What is in it: per source, per aspect."""
    from screentest.testbeds.statistics import duration_of, statistics_of
    from screentest.testbeds.testbed import pair_name

    print_facts(_facts(testbed))
    print_heading("Sources")
    pairs = Counter(pair.source for pair in testbed.pairs)
    skips = Counter(skip.source for skip in testbed.skips)
    rows = [
        (
            source.id,
            timecode(duration_of(source)),
            str(len(source.clips)),
            str(pairs[source.id]),
            _or_dash(skips[source.id]),
        )
        for source in testbed.sources
    ]
    out().print(table(["Source", ">Duration", ">Clips", ">Pairs", ">Skipped"], rows))
    print_heading("Aspects and placebos")
    _print_aspects(statistics_of(testbed))
    print_heading("Pairs")
    for pair in testbed.pairs:
        print_indented(f"{pair_name(pair)}  {_touched(pair)}")
    if testbed.skips:
        print_heading("Skipped")
    told: dict[tuple[str, str], list[str]] = {}
    for skip in testbed.skips:
        told.setdefault((skip.source, str(skip.failure)), []).append(skip.name)
    for (name, failure), names in told.items():
        print_indented(f"{name}: {', '.join(dict.fromkeys(names))}: {failure}")


def _facts(testbed: Testbed) -> Iterable[tuple[str, str]]:
    yield "pairs", f"{len(testbed.pairs):,} of {plural(len(testbed.sources), 'source')}"
    if testbed.pending:
        yield "unfinished", f"{testbed.pending:,} pairs are still to be made"
    yield "seed", str(testbed.seed)
    yield "screentest", testbed.screentest
    for name, value in testbed.recipe.items():
        if value and name not in ("film", "options"):  # more than a person wants to read
            yield name, value


def _touched(pair: Pair) -> str:
    if not pair.touched:
        return "the whole film"
    return "clips " + ", ".join(str(one.clip + 1) for one in pair.touched)


def testbed_as_object(testbed: Testbed) -> dict[str, Any]:
    """The same for JSON."""
    from screentest.testbeds.statistics import duration_of
    from screentest.testbeds.testbed import pair_name

    return {
        "screentest": testbed.screentest,
        "seed": testbed.seed,
        "recipe": dict(testbed.recipe),
        "pending": testbed.pending,
        "sources": [
            {
                "id": source.id,
                "duration": str(duration_of(source)),
                "clips": len(source.clips),
                "groups": dict(source.groups),
                "lost": list(source.lost),
                "faults": list(source.faults),
            }
            for source in testbed.sources
        ],
        "pairs": [
            {
                "pair": pair_name(pair),
                "source": pair.source,
                "kind": pair.kind.value,
                "name": pair.name,
                "severity": pair.severity,
                "clips": [one.clip for one in pair.touched],
            }
            for pair in testbed.pairs
        ],
        "skips": [json.loads(to_json(skip)) for skip in testbed.skips],
    }


def print_pair(testbed: Testbed, pair: Pair) -> None:
    """All that is known of one pair."""
    from screentest.testbeds.testbed import pair_name

    source = _source(testbed, pair)
    file = pair.changed
    facts = [
        ("pair", pair_name(pair)),
        ("source", f"{pair.source} ({source.video})" if source else pair.source),
        (pair.kind.value, pair.name),
    ]
    if pair.severity is not None:
        facts.append(("severity", f"{pair.severity:g}"))
    if pair.clips is not None:
        facts.append(("clips", f"{pair.clips} chosen, {len(pair.touched)} touched"))
    facts += [
        ("recipe", pair.recipe),
        *(("model", f"{role}: {used}") for role, used in pair.models.items()),
        ("intact", pair.intact),
        ("changed", file.path),
        ("", f"{file.width}×{file.height}, {file.frames:,} frames, {timecode(file.duration)}"),
        ("", f"{file.bytes:,} bytes, sha256 {file.sha256[:16]}…"),
    ]
    print_facts(facts)
    if not pair.touched:
        return
    print_heading("Touched clips")
    for one in pair.touched:
        where = "deleted" if one.degraded is None else ""
        if one.degraded is not None and one.degraded != one.intact:
            where = f"now at {one.degraded}"
        details = [f"{name} {value}" for name, value in one.details.items()]
        words = "; ".join([*([where] if where else []), *details])
        print_indented(f"clip {one.clip + 1}  {one.intact}" + (f"  {words}" if words else ""))
        if source is not None and one.clip < len(source.clips):
            print_indented(source.clips[one.clip].caption, indent=4, style="dim")


def pair_as_object(testbed: Testbed, pair: Pair) -> dict[str, Any]:
    """The same for JSON: as in testbed.json, with captions."""
    source = _source(testbed, pair)
    data: dict[str, Any] = json.loads(to_json(pair))
    for one, touched in zip(data.get("touched", []), pair.touched, strict=True):
        if source is not None and touched.clip < len(source.clips):
            one["caption"] = source.clips[touched.clip].caption
    return data


def _source(testbed: Testbed, pair: Pair) -> SourceFilm | None:
    return next((source for source in testbed.sources if source.id == pair.source), None)


# ---- verify


def print_verification(result: Verification) -> None:
    """What was looked at and what was found."""
    _print_findings("Wrong", result.findings)
    _print_findings("Not made again", result.unchecked)
    if result.findings or result.unchecked:
        out().print()
    words = [
        f"{plural(result.files, 'file')} ({result.bytes / 1e6:,.1f} MB)",
        plural(len(result.testbed.pairs), "pair"),
    ]
    if result.rebuilt:
        words.append(f"{len(result.rebuilt):,} made again, bit for bit the same")
    if result.unchecked:
        words.append(f"{len(result.unchecked):,} could not be made again")
    found = plural(len(result.findings), "thing is wrong", "things are wrong")
    words.append(found if result.findings else "nothing is wrong")
    print_indented("; ".join(words), indent=0)


def _print_findings(title: str, findings: tuple[Finding, ...]) -> None:
    if not findings:
        return
    print_heading(title)
    for one in findings[:MOST]:
        print_indented(f"{one.check}: {one.where}: {one.what}")
    if len(findings) > MOST:
        print_indented(f"and {len(findings) - MOST:,} more; --json has all")


def verification_as_object(result: Verification) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "ok": result.ok,
        "files": result.files,
        "bytes": result.bytes,
        "pairs": len(result.testbed.pairs),
        "findings": [_finding(one) for one in result.findings],
        "rebuilt": list(result.rebuilt),
        "unchecked": [_finding(one) for one in result.unchecked],
    }


def _finding(one: Finding) -> dict[str, str]:
    return {"check": one.check, "where": one.where, "what": one.what}


# ---- stats


def print_statistics(statistics: Statistics) -> None:
    """Tables, as the paper has them."""
    pairs, films = plural(statistics.pairs, "pair"), plural(statistics.sources, "source")
    print_indented(f"{pairs} of {films}", indent=0)
    print_heading("Aspects")
    _print_aspects(statistics)
    if statistics.reasons:
        told = ", ".join(f"{reason} {count:,}" for reason, count in statistics.reasons.items())
        print_indented(f"skipped: {told}")
    if statistics.spreads:
        print_heading("Sources")
        rows = [
            (name, *(f"{value:,.0f}" for value in (one.least, one.median, one.mean, one.most)))
            for name, one in statistics.spreads.items()
        ]
        out().print(table(["", ">Least", ">Median", ">Mean", ">Most"], rows))
    if statistics.durations:
        print_heading("Durations")
        rows = [
            (f"{one.start:,}–{one.end:,} s", f"{one.sources:,}", f"{one.pairs:,}")
            for one in statistics.durations
            if one.sources
        ]
        out().print(table([">Seconds", ">Sources", ">Pairs"], rows))
    for group, counts in statistics.groups.items():
        print_heading(group.capitalize())
        rows = [(one.value, f"{one.sources:,}", f"{one.pairs:,}") for one in counts]
        out().print(table(["", ">Sources", ">Pairs"], rows))


def _print_aspects(statistics: Statistics) -> None:
    rows = [
        _counts(
            one.name if one.kind.value == "degradation" else f"placebo {one.name}",
            (one.initial, one.eligible, one.kept),
        )
        for one in statistics.aspects
    ]
    columns = [(one.initial, one.eligible, one.kept) for one in statistics.aspects]
    if len(columns) > 1:
        rows.append(_counts("total", [sum(column) for column in zip(*columns, strict=True)]))
    out().print(table(["Aspect", ">Initial", ">Eligible", ">Kept", ">Kept %"], rows))


def _counts(name: str, counts: Sequence[int]) -> list[str]:
    initial, *_, kept = counts
    share = f"{100 * kept / initial:.1f}" if initial else "–"
    return [name, *(f"{count:,}" for count in counts), share]


def statistics_as_object(statistics: Statistics) -> dict[str, Any]:
    """The same for JSON, empty bins and prompt lengths included."""
    from dataclasses import asdict

    data = asdict(statistics)
    for one, count in zip(data["aspects"], statistics.aspects, strict=True):
        one["kind"] = count.kind.value
        one["retention"] = count.retention
    return data


def _or_dash(count: int) -> str:
    return f"{count:,}" if count else "–"
