"""``screentest doctor``: the machine, its packages, everything registered, and how to get more."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any

import typer
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from screentest import __version__
from screentest._util.machine import processors
from screentest._util.optional import install_line, installed
from screentest.cli.console import out, print_json
from screentest.cli.options import JsonOption, ModelOption, ModelsOption
from screentest.cli.tables import print_checks, print_facts, print_heading, print_indented, show
from screentest.core import BadOption, NoValue, Registry, registry
from screentest.core.registry import HOMES, Entry
from screentest.core.table import Table
from screentest.models import Models, read_models
from screentest.models.choice import describe, packages_of
from screentest.present.certificates import listed

NOT_READY = "not ready"
OPENCV = "opencv-contrib-python-headless"
_WORDS: Any = tomllib.loads(Path(__file__).with_name("doctor.toml").read_text("utf-8"))
OPTIONAL: dict[str, list[str]] = _WORDS["optional"]
"""Packages that some commands need: their purpose, and the extra that brings them."""
_MODULES = {OPENCV: "cv2", "pillow": "PIL"}
_FIRST_CHOICE = {"chat": "openai:NAME"}
_CODECS = ("h264", "hevc", "vp9", "av1", "mpeg4", "libx264")
_COUNTED = {"metric": "metrics", "judge": "judges", "suite": "suites", "degradation": "harms"}
_MOST_ADVICE, _MOST_NAMES = 3, 2


@dataclass(frozen=True, slots=True)
class Fault:
    """Something broken that should work, and the command that fixes it."""

    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class PackageStatus:
    """One distribution: its version where it is installed, what is wrong, how to fix it."""

    name: str
    version: str = ""
    purpose: str = ""
    problem: str = ""
    fix: str = ""
    extra: str = ""
    """The extra of screentest that brings it."""

    @property
    def ok(self) -> bool:
        """Installed and working."""
        return bool(self.version) and not self.problem


@dataclass(frozen=True, slots=True)
class Registered:
    """One detector, metric, judge, degradation, backend or importer."""

    kind: str
    name: str
    summary: str
    works: bool
    problem: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of an installation."""

    screentest: str
    machine: dict[str, Any]
    """Interpreter, system and resources. Sizes in bytes; None: the system does not say."""
    required: list[PackageStatus]
    optional: list[PackageStatus]
    registered: list[Registered]
    ffmpeg: dict[str, str]
    codecs: dict[str, bool]
    faults: list[Fault] = field(default_factory=list)


def doctor(
    every: bool = False,
    licences: bool = False,
    profile: ModelsOption = "light",
    model: ModelOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is installed and how to get the rest."""
    if licences:
        models = Models(read_models([profile, *(model or [])]))
        show(_licences_table(models), as_json=as_json)
        return
    state = diagnose(registry)
    if as_json:
        print_json(asdict(state))
    else:
        _print_machine(state, () if every else _counts(state))
        if every:
            _print_parts(state)
        _print_advice(state, every)
        more = "" if every else " (--all lists everything by name)"
        print_heading(f"{'Faults' if state.faults else 'No faults'}{more}")
        for fault in state.faults:
            print_indented(f"✗ {fault.what}", style="red")
            print_indented(fault.fix, indent=4)
    if state.faults:
        raise typer.Exit(1)


_FREE = frozenset({"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT, Apache-2.0"})
"""Licences of weights that companies may use as well."""


def _licences_table(models: Models) -> Table:
    """Each metric with its models: under which licences, and whether companies may use them."""
    rows: list[tuple[str, str, str, str]] = []
    for entry in registry.entries("metric"):
        with suppress(NoValue, BadOption):
            roles = registry.build("metric", entry.name).thing.info.roles
            chosen = [models.choice(*role.split(".")) for role in roles]
            known = [describe(registry.entry(one.role, one.backend)) for one in chosen]
            licences = dict.fromkeys(text for _, texts, _ in known for text in texts)
            unknown = not all(kind for kind, _, _ in known)
            texts = ", ".join([*licences, *(["see its card"] if unknown else [])])
            may = "ask" if unknown or licences.keys() - _FREE else "yes"
            backends = ", ".join(dict.fromkeys(one.backend for one in chosen))
            if chosen:
                rows.append((entry.name, backends, texts or "no weights", may))
    headings = ("metric", "models", "licence", "companies")
    note = "Metrics that are not listed use no model, or one that this profile lacks."
    return Table("licences", "Licences of the weights", headings, rows, note)


def diagnose(registered: Registry) -> Diagnosis:
    """Look at the machine, the packages, and all that is registered."""
    required = required_parts()
    entries, broken_kinds = survey_registry(registered)
    ffmpeg, codecs = _ffmpeg() if any(p.name == "av" and p.ok for p in required) else ({}, {})
    faults = [Fault(f"{part.name}: {part.problem}", part.fix) for part in required if part.problem]
    clash = opencv_clash()
    faults += [clash] if clash else []
    faults += [
        Fault(f"this PyAV lacks {name}", "pip install --force-reinstall av")
        for name, there in codecs.items()
        if not there
    ]
    faults += [
        Fault(f"{kind}: does not load: {why}", "pip install --force-reinstall screentest")
        for kind, why in broken_kinds.items()
    ]
    faults += [
        Fault(f"plugin {name}: does not load: {why}", f"pip install -U {name}, or uninstall it")
        for name, why in registered.broken_plugins.items()
    ]
    optional = []
    for name, (purpose, extra) in OPTIONAL.items():
        part = _part(name, SpecifierSet(), imported=False)  # importing torch would take seconds
        wanted = f"'screentest[{extra}]'" if extra else name
        fix = "" if part.ok else f"pip install {wanted}"
        optional.append(replace(part, purpose=purpose, fix=fix, extra=extra))
    machine = survey_machine()
    return Diagnosis(__version__, machine, required, optional, entries, ffmpeg, codecs, faults)


def survey_machine() -> dict[str, Any]:
    """Look at the machine; containers and batch systems allow less than there is."""
    memory = limit = None
    with suppress(AttributeError, ValueError, OSError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
    temp = tempfile.gettempdir()
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "executable": sys.executable,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "cores_allowed": processors(),
        "memory": memory,
        "memory_allowed": min(filter(None, [memory, limit]), default=None),
        "disk_free_here": shutil.disk_usage(".").free,
        "disk_free_temp": shutil.disk_usage(temp).free,
        "temp": temp,
    }


def required_parts() -> list[PackageStatus]:
    """Import what every installation needs, by the package's own metadata."""
    wanted = map(Requirement, metadata.requires("screentest") or [])
    needed = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [_part(one.name, one.specifier, imported=True) for one in needed]


def _part(name: str, range_: SpecifierSet, *, imported: bool) -> PackageStatus:
    install = f"pip install '{name}{range_}'"
    try:
        part = PackageStatus(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        return PackageStatus(name, problem="not installed", fix=install)
    if not range_.contains(part.version, prereleases=True):
        return replace(part, problem=f"{range_} is needed", fix=install)
    if imported:
        try:
            importlib.import_module(_MODULES.get(name, name.replace("-", "_")))
        except Exception as error:  # noqa: BLE001 - a broken wheel may raise anything
            return replace(
                part,
                problem=f"does not import: {type(error).__name__}: {error}",
                fix=f"pip install --force-reinstall '{name}{range_}'",
            )
    return part


def opencv_clash(installed: Iterable[str] | None = None) -> Fault | None:
    """More than one OpenCV wheel: each overwrites the files of the others.

    >>> opencv_clash(["opencv-python", "numpy"]) is None
    True
    >>> print(opencv_clash(["opencv-python", "opencv-contrib-python-headless"]).what)
    opencv-contrib-python-headless and opencv-python overwrite each other
    """
    if installed is None:
        installed = [package.metadata["Name"] or "" for package in metadata.distributions()]
    wheels = sorted({name.lower() for name in installed if name.lower().startswith("opencv-")})
    if len(wheels) < 2:
        return None
    return Fault(
        f"{' and '.join(wheels)} overwrite each other",
        f"pip uninstall -y {' '.join(wheels)} && pip install {OPENCV}",
    )


def _ffmpeg() -> tuple[dict[str, str], dict[str, bool]]:
    """Return the versions of FFmpeg's libraries inside PyAV, and the codecs screentest relies
    on."""
    import av

    versions = {name: ".".join(map(str, numbers)) for name, numbers in av.library_versions.items()}
    codecs = {name: name in av.codecs_available for name in _CODECS}
    return {"ffmpeg": str(av.ffmpeg_version_info), **versions}, codecs


def survey_registry(registry: Registry) -> tuple[list[Registered], dict[str, str]]:
    """Return all entries of all kinds, and the kinds whose modules fail to import."""
    entries: list[Registered] = []
    broken: dict[str, str] = {}
    for kind in HOMES:
        try:
            entries += [_examined(entry) for entry in registry.entries(kind)]
        except Exception as error:  # noqa: BLE001 - a missing library must not stop the doctor
            broken[kind] = f"{type(error).__name__}: {error}"
    return entries, broken


def _examined(entry: Entry) -> Registered:
    """Ask an entry whether it could load here: by ``ready`` in its registration, if it has that.

    ``ready`` answers yes or no, or raises NoValue with what is missing and how to get it.
    """
    summary = str(entry.info.get("summary") or (entry.factory.__doc__ or "").strip())
    problem, fix = "", str(entry.info.get("get", ""))
    ready = entry.info.get("ready")
    absent = [name for name in packages_of(entry) if not installed(name)]
    try:
        if absent:
            problem, fix = NOT_READY, install_line(absent)
        elif ready is not None:
            problem = "" if ready() else NOT_READY
        elif entry.kind in ("metric", "judge") and (role := _to_be_chosen(entry)):
            problem = NOT_READY
            fix = f"--model {role}={_FIRST_CHOICE.get(role, 'BACKEND:MODEL')}"
    except NoValue as error:
        problem, fix = error.message, error.advice or fix
    except Exception as error:  # noqa: BLE001 - a plugin's own code
        if ready is not None or not isinstance(error, BadOption | TypeError):
            problem = f"{type(error).__name__}: {error}"  # else it asks for options first
    return Registered(
        entry.kind,
        entry.name,
        summary.partition("\n")[0],
        not problem,
        problem,
        fix if problem else "",
    )


def _to_be_chosen(entry: Entry) -> str:
    """Return the role that this metric or judge needs and no built-in backend fills; empty for
    none."""
    built = entry.factory(**dict(entry.spec({}).options))
    for name in built.info.roles:
        role = str(name).partition(".")[0]
        declared = registry.has("role", role) and registry.entry("role", role).info["profiles"]
        if not (declared and declared["builtin"]):
            return role
    return ""


def _print_machine(state: Diagnosis, more: Sequence[tuple[str, str]]) -> None:
    machine = state.machine
    here, there = _gib(machine["disk_free_here"]), _gib(machine["disk_free_temp"])
    codecs = ", ".join(name for name, works in state.codecs.items() if works)
    cores = f"{machine['cores_allowed']} of {machine['cores']} cores"
    out().print(f"screentest {state.screentest}", style="bold")
    print_facts(
        [
            ("Python", f"{machine['python']}  {machine['executable']}"),
            *(() if more else (("System", machine["system"]),)),
            ("Machine", f"{cores}, {_gib(machine['memory_allowed'])} of memory"),
            ("Disk", f"{here} free here, {there} in {machine['temp']}"),
            ("FFmpeg", f"{state.ffmpeg.get('ffmpeg', 'none')} inside PyAV, with {codecs}"),
            *more,
        ]
    )


def _gib(size: int | None) -> str:
    return f"{size / 2**30:.1f} GiB" if size is not None else "an unknown amount"


def _counts(state: Diagnosis) -> list[tuple[str, str]]:
    ready = sum(part.ok for part in state.required)
    works = [
        f"{sum(entry.works for entry in entries)} of {len(entries)} {words}"
        for kind, words in _COUNTED.items()
        if (entries := [entry for entry in state.registered if entry.kind == kind])
    ]
    return [
        ("Packages", f"{ready} of {len(state.required)} that are needed"),
        ("Works", ", ".join(works)),
    ]


def _print_parts(state: Diagnosis) -> None:
    print_heading("Packages")
    print_checks((part.ok, part.name, part.version, part.problem) for part in state.required)
    print_heading("Optional")
    print_checks(
        (part.ok or None, part.name, part.version or "–", part.purpose) for part in state.optional
    )
    for kind, entries in groupby(state.registered, key=lambda entry: entry.kind):
        print_heading(_WORDS["headings"].get(kind) or f"Models for {kind.replace('_', ' ')}")
        print_checks(
            (
                entry.works or None,
                entry.name,
                "",
                # What is not ready has its command below.
                entry.summary
                if entry.problem in ("", NOT_READY)
                else f"{entry.summary}: {entry.problem}",
            )
            for entry in entries
        )


def _print_advice(state: Diagnosis, every: bool) -> None:
    """Print every extra that is missing, then the commands that get the rest, or most of it."""
    extras = dict[str, list[str]]()
    for part in state.optional:
        if part.fix and part.extra and part.purpose not in extras.setdefault(part.fix, []):
            extras[part.fix].append(part.purpose)
    rest = dict[str, list[str]]()
    parts: tuple[PackageStatus | Registered, ...] = (*state.optional, *state.registered)
    for entry in parts:
        if entry.fix and entry.fix not in extras:
            rest.setdefault(entry.fix, []).append(entry.name)
    if extras or rest:
        print_heading("To get what is missing" if every else "For more")
    if every:
        print_facts([(fix, ", ".join(names)) for fix, names in (extras | rest).items()])
        return
    room = max(1, _MOST_ADVICE - len(extras))
    most = sorted(rest.items(), key=lambda advice: -len(advice[1]))[:room]
    print_facts([(fix, listed(names, _MOST_NAMES)) for fix, names in [*extras.items(), *most]])
