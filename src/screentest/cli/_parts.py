"""The parts screentest is made of: which are installed, which are not, and how to get them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata

OPENCV = "opencv-contrib-python-headless"

_MODULES = {OPENCV: "cv2", "pillow": "PIL", "psycopg": "psycopg", "ray": "ray", "yt-dlp": "yt_dlp"}

OPTIONAL = (
    ("torch", "local models", "pip install 'screentest[models]'"),
    ("transformers", "local vision and language models", "pip install 'screentest[models]'"),
    ("diffusers", "inpainting and image editing", "pip install 'screentest[models]'"),
    ("sentence-transformers", "text similarity", "pip install 'screentest[models]'"),
    ("torchvision", "optical flow by RAFT", "pip install 'screentest[models]'"),
    ("ray", "runs on many machines", "pip install 'screentest[ray]'"),
    ("fsspec", "videos by their address", "pip install 'screentest[remote]'"),
    ("psycopg", "annotation on PostgreSQL", "pip install 'screentest[postgres]'"),
    ("yt-dlp", "videos for a prompt suite", "pip install 'screentest[download]'"),
    ("pandas", "results as a frame", "pip install pandas"),
    ("polars", "the same, another library", "pip install polars"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """One distribution: its version where it is installed, what is wrong, how to mend it."""

    name: str
    version: str = ""
    purpose: str = ""
    problem: str = ""
    fix: str = ""

    @property
    def ok(self) -> bool:
        """Installed and working."""
        return bool(self.version) and not self.problem


def required_parts() -> list[Part]:
    """What every installation needs, from the package's own metadata; each is imported."""
    parts = []
    for requirement in metadata.requires("screentest") or []:
        if "extra ==" in requirement or "extra==" in requirement:
            continue
        name, least = _name_and_least(requirement)
        parts.append(_examined(name, least, imported=True))
    return parts


def optional_parts() -> list[Part]:
    """What some commands need. Only looked up: importing torch would take seconds."""
    found = []
    for name, purpose, fix in OPTIONAL:
        part = _examined(name, "", imported=False)
        found.append(Part(name, part.version, purpose, part.problem, "" if part.ok else fix))
    return found


def _examined(name: str, least: str, *, imported: bool) -> Part:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Part(name, problem="not installed", fix=f"pip install '{name}{least}'")
    if least and _numbers(version) < _numbers(least):
        return Part(
            name,
            version,
            problem=f"{least.lstrip('>=')} or newer is needed",
            fix=f"pip install '{name}{least}'",
        )
    if imported:
        try:
            importlib.import_module(_MODULES.get(name, name.replace("-", "_")))
        except Exception as error:  # noqa: BLE001 - a broken wheel may raise anything
            return Part(
                name,
                version,
                problem=f"does not import: {type(error).__name__}: {error}",
                fix=f"pip install --force-reinstall '{name}{least}'",
            )
    return Part(name, version)


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


def opencv_clash(installed: Iterable[str] | None = None) -> Part | None:
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
    return Part(
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
