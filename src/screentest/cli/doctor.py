"""``screentest doctor``: what is installed, what would work, and how to get the rest."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby

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


def doctor(
    as_json: JsonOption = False,
) -> None:
    """Show what is installed and how to get the rest.

    Looks at Python, the packages, the FFmpeg inside PyAV, the machine, and at
    everything registered (detectors, metrics, model backends) and whether it
    would work here. Prints the command that gets what is missing.

    Exits with 1 if something is broken. An optional part that is absent is not
    a fault.

    \b
    Examples:
      screentest doctor
      screentest doctor --json | jq .optional
    """
    found = diagnose(registry)
    if as_json:
        print_json(asdict(found))
    else:
        _print_machine(found)
        _print_parts(found)
        _print_registered(found)
        _print_advice(found)
    if found.faults:
        raise typer.Exit(1)


def _print_machine(found: Diagnosis) -> None:
    machine = found.machine
    cores = f"{machine.cores_allowed} of {machine.cores} cores"
    out().print(f"screentest {found.screentest}", style="bold")
    print_facts(
        [
            ("Python", f"{machine.python}  {machine.executable}"),
            ("System", machine.system),
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


def _print_advice(found: Diagnosis) -> None:
    wanted = dict[str, list[str]]()
    missing = [(part.fix, part.name) for part in found.optional]
    missing += [(entry.fix, entry.name) for entry in found.registered]
    for fix, name in missing:
        if fix:
            wanted.setdefault(fix, []).append(name)
    if wanted:
        print_heading("To get what is missing")
        print_facts([(fix, ", ".join(names)) for fix, names in wanted.items()])
    print_heading("Faults" if found.faults else "No faults")
    for fault in found.faults:
        print_indented(f"✗ {fault.what}", style="red")
        print_indented(fault.fix, indent=4)


COMMANDS = {"doctor": doctor}
