"""What ``screentest build`` did, in words or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from screentest.testbeds.builder import BuildResult
    from screentest.testbeds.testbed import Testbed


def as_object(done: BuildResult, out: Path, remarks: Sequence[str]) -> dict[str, Any]:
    """The same as JSON."""
    testbed = done.testbed
    return {
        "testbed": str(out),
        "sources": len(testbed.sources),
        "pairs": len(testbed.pairs),
        "pending": testbed.pending,
        "made": done.made,
        "reused": done.reused,
        "remarks": list(remarks),
        "skips": [
            {
                "source": skip.source,
                "name": skip.name,
                "reason": skip.failure.reason.value,
                "detail": skip.failure.detail,
            }
            for skip in testbed.skips
        ],
    }


def print_building(done: BuildResult, out: Path) -> None:
    """A table of pairs, and what was skipped and why."""
    from screentest.cli.console import out as console
    from screentest.cli.console import plural
    from screentest.cli.tables import print_indented, table
    from screentest.testbeds.page import PAGE

    testbed = done.testbed
    pairs = Counter(pair.name for pair in testbed.pairs)
    skips = Counter(skip.name for skip in testbed.skips)
    rows = [
        (name, f"{pairs[name]:,}", f"{skips[name]:,}" if skips[name] else "–")
        for name in _order(testbed)
    ]
    console().print(table(["Aspect or placebo", ">Pairs", ">Skipped"], rows))
    _print_reasons(testbed)
    words = f"{plural(len(testbed.pairs), 'pair')} of {plural(len(testbed.sources), 'source')}"
    if testbed.pending:
        words += f"; {testbed.pending:,} still to be made: start the same command again"
    print_indented(f"{words}, in {out}", indent=0)
    if testbed.pairs:
        print_indented(f"Look at them side by side: {out / PAGE}", indent=0)


def _order(testbed: Testbed) -> Iterable[str]:
    made = [pair.name for pair in testbed.pairs]
    return dict.fromkeys([*made, *(skip.name for skip in testbed.skips)])


def _print_reasons(testbed: Testbed) -> None:
    """What was skipped and why; the same words only once."""
    from screentest.cli.tables import print_heading, print_indented

    told: dict[tuple[str, str], list[str]] = {}
    for skip in testbed.skips:
        told.setdefault((skip.source, skip.failure.detail.splitlines()[-1]), []).append(skip.name)
    if told:
        print_heading("Skipped")
    for (source, detail), names in told.items():
        which = ", ".join(dict.fromkeys(names)) if len(set(names)) < 4 else f"{len(names)} pairs"
        print_indented(f"{source}: {which}: {detail}")
