"""The state of an installation: the machine, its packages, what is registered, what is broken."""

from __future__ import annotations

import importlib
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from screentest import __version__
from screentest._util.machine import processors
from screentest._util.optional import install_line, installed
from screentest.core import BadOption, NoValue, Registry, registry
from screentest.core.registry import HOMES, Entry
from screentest.models.choice import packages_of

NOT_READY = "not ready"
_FIRST_CHOICE = {"chat": "openai:NAME"}
OPENCV = "opencv-contrib-python-headless"

_MODULES = {OPENCV: "cv2", "pillow": "PIL", "psycopg": "psycopg", "ray": "ray", "yt-dlp": "yt_dlp"}

OPTIONAL = (
    ("openai", "chat models", "chat"),
    ("httpx2", "chat models", "chat"),
    ("onnxruntime", "--models light", "light-models"),
    ("ai-edge-litert", "--models light", "light-models"),
    ("tokenizers", "--models light", "light-models"),
    ("torch", "models from their hubs", "models"),
    ("transformers", "models from their hubs", "models"),
    ("diffusers", "inpainting and image editing", "models"),
    ("sentence-transformers", "text similarity", "models"),
    ("torchvision", "optical flow by RAFT", "models"),
    ("matplotlib", "charts", "charts"),
    ("pyarrow", "Parquet", "parquet"),
    ("fastapi", "the annotation server", "annotate"),
    ("uvicorn", "the annotation server", "annotate"),
    ("python-multipart", "the annotation server", "annotate"),
    ("sqlalchemy", "the annotation server", "annotate"),
    ("psycopg", "annotation on PostgreSQL", "postgres"),
    ("ray", "runs on many machines", "ray"),
    ("fsspec", "videos by their address", "remote"),
    ("aiohttp", "videos by their address", "remote"),
    ("yt-dlp", "videos for a prompt suite", "download"),
    ("pandas", "results as a frame", ""),
    ("polars", "results as a frame", ""),
)
"""Package, what it is for, and the extra that brings it."""


@dataclass(frozen=True, slots=True)
class DoctorFault:
    """Something broken that should work, and the command that fixes it."""

    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of an installation."""

    screentest: str
    machine: Machine
    required: list[PackageStatus]
    optional: list[PackageStatus]
    registered: list[Registered]
    ffmpeg: dict[str, str] = field(default_factory=dict)
    codecs: dict[str, bool] = field(default_factory=dict)
    faults: list[DoctorFault] = field(default_factory=list)


def diagnose(registered: Registry) -> Diagnosis:
    """Look at the machine, the parts, and all that is registered."""
    required = required_parts()
    entries, broken_kinds = survey_registry(registered)
    engine_works = any(part.name == "av" and part.ok for part in required)
    result = Diagnosis(
        __version__,
        survey_machine(),
        required,
        optional_parts(),
        entries,
        ffmpeg_libraries() if engine_works else {},
        codecs() if engine_works else {},
    )
    result.faults.extend(
        DoctorFault(f"{part.name}: {part.problem}", part.fix) for part in required if part.problem
    )
    if clash := opencv_clash():
        result.faults.append(DoctorFault(clash.problem, clash.fix))
    for name, there in result.codecs.items():
        if not there:
            result.faults.append(
                DoctorFault(f"this PyAV lacks {name}", "pip install --force-reinstall av")
            )
    for kind, why in broken_kinds.items():
        result.faults.append(
            DoctorFault(f"{kind}: does not load: {why}", "pip install --force-reinstall screentest")
        )
    for name, why in registered.broken_plugins.items():
        result.faults.append(
            DoctorFault(
                f"plugin {name}: does not load: {why}", f"pip install -U {name}, or uninstall it"
            )
        )
    return result


# ---- the machine


@dataclass(frozen=True, slots=True)
class Machine:
    """Interpreter, system and resources. Sizes in bytes; None: the system does not say."""

    python: str
    executable: str
    system: str
    cores: int
    cores_allowed: int
    """What this process may use: containers and batch systems give less than there is."""
    memory: int | None
    memory_allowed: int | None
    disk_free_here: int
    disk_free_temp: int
    temp: str


def survey_machine() -> Machine:
    """Look at the machine."""
    memory = _memory()
    temp = tempfile.gettempdir()
    return Machine(
        python=f"{platform.python_implementation()} {platform.python_version()}",
        executable=sys.executable,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=os.cpu_count() or 1,
        cores_allowed=processors(),
        memory=memory,
        memory_allowed=min(filter(None, [memory, _memory_limit()]), default=None),
        disk_free_here=shutil.disk_usage(".").free,
        disk_free_temp=shutil.disk_usage(temp).free,
        temp=temp,
    )


def _memory() -> int | None:
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _memory_limit() -> int | None:
    with suppress(OSError, ValueError):
        return int(Path("/sys/fs/cgroup/memory.max").read_text())
    return None


# ---- its packages


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


def required_parts() -> list[PackageStatus]:
    """What every installation needs, from the package's own metadata; each is imported."""
    parts = []
    for requirement in metadata.requires("screentest") or []:
        if "extra ==" in requirement or "extra==" in requirement:
            continue
        name, least = _name_and_least(requirement)
        parts.append(_part(name, least, imported=True))
    return parts


def optional_parts() -> list[PackageStatus]:
    """What some commands need. Only looked up: importing torch would take seconds."""
    found = []
    for name, purpose, extra in OPTIONAL:
        part = _part(name, "", imported=False)
        fix = f"pip install 'screentest[{extra}]'" if extra else f"pip install {name}"
        found.append(
            PackageStatus(name, part.version, purpose, part.problem, "" if part.ok else fix, extra)
        )
    return found


def _part(name: str, least: str, *, imported: bool) -> PackageStatus:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return PackageStatus(name, problem="not installed", fix=f"pip install '{name}{least}'")
    if least and _numbers(version) < _numbers(least):
        return PackageStatus(
            name,
            version,
            problem=f"{least.lstrip('>=')} or newer is needed",
            fix=f"pip install '{name}{least}'",
        )
    if imported:
        try:
            importlib.import_module(_MODULES.get(name, name.replace("-", "_")))
        except Exception as error:  # noqa: BLE001 - a broken wheel may raise anything
            return PackageStatus(
                name,
                version,
                problem=f"does not import: {type(error).__name__}: {error}",
                fix=f"pip install --force-reinstall '{name}{least}'",
            )
    return PackageStatus(name, version)


def _name_and_least(requirement: str) -> tuple[str, str]:
    """Name and lower bound.

    >>> _name_and_least("numpy<3,>=2.0; python_version > '3'")
    ('numpy', '>=2.0')
    """
    plain = requirement.partition(";")[0]
    name = re.match(r"[A-Za-z0-9._-]+", plain)
    least = re.search(r">=\s*[0-9][0-9.]*", plain)
    return name[0] if name else plain, least[0].replace(" ", "") if least else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"[0-9]+", version))


def opencv_clash(installed: Iterable[str] | None = None) -> PackageStatus | None:
    """More than one OpenCV wheel: each overwrites the files of the others.

    >>> opencv_clash(["opencv-python", "numpy"]) is None
    True
    >>> print(opencv_clash(["opencv-python", "opencv-contrib-python-headless"]).problem)
    opencv-contrib-python-headless and opencv-python overwrite each other
    """
    if installed is None:
        installed = [found.metadata["Name"] or "" for found in metadata.distributions()]
    wheels = sorted({name.lower() for name in installed if name.lower().startswith("opencv-")})
    if len(wheels) < 2:
        return None
    return PackageStatus(
        "opencv",
        problem=f"{' and '.join(wheels)} overwrite each other",
        fix=f"pip uninstall -y {' '.join(wheels)} && pip install {OPENCV}",
    )


def ffmpeg_libraries() -> dict[str, str]:
    """The versions of FFmpeg and its libraries that travel inside PyAV."""
    import av

    libraries = {
        name: ".".join(str(number) for number in version)
        for name, version in av.library_versions.items()
    }
    return {"ffmpeg": str(av.ffmpeg_version_info), **libraries}


def codecs() -> dict[str, bool]:
    """The decoders and encoders screentest relies on, and whether this PyAV has them."""
    import av

    wanted = ("h264", "hevc", "vp9", "av1", "mpeg4", "libx264")
    return {name: name in av.codecs_available for name in wanted}


# ---- what is registered


@dataclass(frozen=True, slots=True)
class Registered:
    """One detector, metric, judge, degradation, backend or importer."""

    kind: str
    name: str
    summary: str
    works: bool
    problem: str = ""
    fix: str = ""


def survey_registry(registry: Registry) -> tuple[list[Registered], dict[str, str]]:
    """All entries of all kinds, and the kinds whose modules fail to import."""
    found: list[Registered] = []
    broken: dict[str, str] = {}
    for kind in HOMES:
        try:
            entries = list(registry.entries(kind))
        except Exception as error:  # noqa: BLE001 - a missing library must not stop the doctor
            broken[kind] = f"{type(error).__name__}: {error}"
            continue
        found += [_examined(entry) for entry in entries]
    return found, broken


def _examined(entry: Entry) -> Registered:
    """``ready`` in an entry's registration says whether it could load here; without it, it can.

    ``ready`` answers yes or no, or raises NoValue with what is missing and how to get it.
    """
    summary = str(entry.info.get("summary", "")) or _first_line(entry.factory.__doc__)
    problem, fix = "", str(entry.info.get("get", ""))
    ready = entry.info.get("ready")
    absent = [name for name in packages_of(entry) if not installed(name)]
    if absent:
        problem, fix = NOT_READY, install_line(absent)
    elif ready is not None:
        try:
            problem = "" if ready() else NOT_READY
        except NoValue as error:
            problem, fix = error.message, error.advice or fix
        except Exception as error:  # noqa: BLE001 - a plugin's own check
            problem = f"{type(error).__name__}: {error}"
    elif entry.kind in ("metric", "judge"):
        try:
            if role := _to_be_chosen(entry):
                problem = NOT_READY
                fix = f"--model {role}={_FIRST_CHOICE.get(role, 'BACKEND:MODEL')}"
        except (BadOption, TypeError):
            pass  # it asks for options first
        except Exception as error:  # noqa: BLE001 - a plugin's own code
            problem = f"{type(error).__name__}: {error}"
    return Registered(entry.kind, entry.name, summary, not problem, problem, fix if problem else "")


def _to_be_chosen(entry: Entry) -> str:
    """The role that this metric or judge needs and no built-in backend fills; empty for none."""
    built = entry.factory(**dict(entry.spec({}).options))
    for name in built.info.roles:
        role = str(name).partition(".")[0]
        declared = registry.has("role", role) and registry.entry("role", role).info["profiles"]
        if not (declared and declared["builtin"]):
            return role
    return ""


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]
