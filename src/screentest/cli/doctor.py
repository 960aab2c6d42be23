"""``screentest doctor``: what is installed, what would work, and how to get the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer

from screentest.cli.console import out, print_json
from screentest.cli.diagnosis import NOT_READY, Diagnosis, diagnose
from screentest.cli.options import JsonOption
from screentest.cli.tables import print_checks, print_facts, print_heading, print_indented
from screentest.core import registry

_HEADINGS = {
    "detector": "Shot detectors",
    "metric": "Metrics",
    "judge": "Judges",
    "suite": "Suites",
    "degradation": "Degradations",
    "placebo": "Placebos",
    "importer": "Importers",
}


_COUNTED = {"metric": "metrics", "judge": "judges", "suite": "suites", "degradation": "harms"}
_MOST_ADVICE = 3


def doctor(
    every: Annotated[bool, typer.Option("--all", help="List everything, by name.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what is installed and how to get the rest.

    Looks at Python, the packages, the FFmpeg inside PyAV, the machine, and at
    everything registered (detectors, metrics, model backends) and whether it
    would work here. Prints the command that gets what is missing.

    In a few lines; with --all everything is listed by name.

    Exits with 1 if something is broken. An optional part that is absent is not
    a fault.

    \b
    Examples:
      screentest doctor
      screentest doctor --all
      screentest doctor --json | jq .optional
    """
    found = diagnose(registry)
    if as_json:
        print_json(asdict(found))
    else:
        _print_machine(found, () if every else _counts(found))
        if every:
            _print_parts(found)
            _print_registered(found)
            _print_advice(found)
        else:
            _print_first_advice(found)
        _print_faults(found, "" if every else " (--all lists everything by name)")
    if found.faults:
        raise typer.Exit(1)


def _print_machine(found: Diagnosis, more: Sequence[tuple[str, str]]) -> None:
    machine = found.machine
    cores = f"{machine.cores_allowed} of {machine.cores} cores"
    out().print(f"screentest {found.screentest}", style="bold")
    print_facts(
        [
            ("Python", f"{machine.python}  {machine.executable}"),
            *(() if more else (("System", machine.system),)),
            ("Machine", f"{cores}, {_gib(machine.memory_allowed)} of memory"),
            (
                "Disk",
                f"{_gib(machine.disk_free_here)} free here, "
                f"{_gib(machine.disk_free_temp)} in {machine.temp}",
            ),
            (
                "FFmpeg",
                f"{found.ffmpeg.get('ffmpeg', 'none')} inside PyAV, with "
                + ", ".join(name for name, there in found.codecs.items() if there),
            ),
            *more,
        ]
    )


def _gib(size: int | None) -> str:
    return f"{size / 2**30:.1f} GiB" if size is not None else "an unknown amount"


def _print_parts(found: Diagnosis) -> None:
    print_heading("Packages")
    print_checks((part.ok, part.name, part.version, part.problem) for part in found.required)
    print_heading("Optional")
    print_checks(
        (part.ok or None, part.name, part.version or "–", part.purpose) for part in found.optional
    )


def _print_registered(found: Diagnosis) -> None:
    for kind, entries in groupby(found.registered, key=lambda entry: entry.kind):
        print_heading(_HEADINGS.get(kind) or f"Models for {kind.replace('_', ' ')}")
        print_checks(
            (entry.works or None, entry.name, "", _remark(entry.summary, entry.problem))
            for entry in entries
        )


def _remark(summary: str, problem: str) -> str:
    """What it is; and what is wrong, unless the command that gets it says so already."""
    return summary if problem in ("", NOT_READY) else f"{summary}: {problem}"


def _counts(found: Diagnosis) -> list[tuple[str, str]]:
    """How much of it works."""
    fine = sum(part.ok for part in found.required)
    works = [
        f"{sum(one.works for one in own)} of {len(own)} {words}"
        for kind, words in _COUNTED.items()
        if (own := [one for one in found.registered if one.kind == kind])
    ]
    return [
        ("Packages", f"{fine} of {len(found.required)} that are needed"),
        ("Works", ", ".join(works)),
    ]


def _print_first_advice(found: Diagnosis) -> None:
    """The commands that get most of what is missing."""
    wanted = _wanted(found)
    if wanted:
        print_heading("For more")
    listed = sorted(wanted.items(), key=lambda one: -len(one[1]))
    width = max(20, out().width - max((len(fix) for fix, _ in listed), default=0) - 6)
    print_facts([(fix, _some(names, width)) for fix, names in listed[:_MOST_ADVICE]])


def _some(names: list[str], width: int) -> str:
    """As many names as fit on a line.

    >>> _some(["torch", "diffusers", "ray"], 20)
    'torch and 2 more'
    """
    for count in range(len(names), 0, -1):
        rest = len(names) - count
        text = ", ".join(names[:count]) + (f" and {rest} more" if rest else "")
        if len(text) <= width:
            return text
    return f"{len(names)} of them"


def _wanted(found: Diagnosis) -> dict[str, list[str]]:
    """What each command would get."""
    wanted = dict[str, list[str]]()
    missing = [(part.fix, part.name) for part in found.optional]
    missing += [(entry.fix, entry.name) for entry in found.registered]
    for fix, name in missing:
        if fix:
            wanted.setdefault(fix, []).append(name)
    return wanted


def _print_advice(found: Diagnosis) -> None:
    wanted = _wanted(found)
    if wanted:
        print_heading("To get what is missing")
        print_facts([(fix, ", ".join(names)) for fix, names in wanted.items()])


def _print_faults(found: Diagnosis, more: str) -> None:
    print_heading(f"{'Faults' if found.faults else 'No faults'}{more}")
    for fault in found.faults:
        print_indented(f"✗ {fault.what}", style="red")
        print_indented(fault.fix, indent=4)
