"""A PostgreSQL server of our own: in a temporary folder, on a socket there, gone afterwards."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

PLACES = ["/usr/lib/postgresql", "/opt/homebrew/opt/postgresql", "/usr/local/pgsql"]


class Missing(Exception):
    """There is no PostgreSQL here, or nobody who may run it."""


@dataclass(frozen=True)
class Server:
    """A server that runs, and ways to end it at once and to start it again."""

    url: str
    """Of an empty database."""
    kill: Callable[[], None]
    start: Callable[[], None]


@contextmanager
def running() -> Iterator[Server]:
    """A fresh server."""
    programs = _programs()
    user, prefix = _somebody()
    folder = Path(tempfile.mkdtemp(prefix="screentest-pg-"))
    try:
        if prefix:
            shutil.chown(folder, user)
        data = folder / "data"
        _call([*prefix, programs / "initdb", "-D", data, "-U", user, "-A", "trust", "-E", "UTF8"])
        options = f"-c listen_addresses='' -c fsync=off -k {folder}"
        control = [*prefix, programs / "pg_ctl", "-D", data, "-w", "-t", "120"]
        start = [*control, "-l", folder / "log", "-o", options, "start"]
        stop = [*control, "-m", "immediate", "stop"]
        _call(start)
        try:
            yield Server(
                f"postgresql://{user}@/postgres?host={folder}",
                partial(_call, stop),
                partial(_call, start),
            )
        finally:
            with suppress(Missing):  # it may have been killed
                _call(stop)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    for place in PLACES:
        for folder in sorted(Path(place).glob("**/bin"), reverse=True):
            if (folder / "initdb").exists():
                return folder
    raise Missing("PostgreSQL is not installed (Debian: apt-get install postgresql)")


def _somebody() -> tuple[str, list[str]]:
    """Who runs the server: us, or for root, whom it refuses, somebody else."""
    if os.geteuid() != 0:
        return getpass.getuser(), []
    runuser = shutil.which("runuser")
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        runuser = None
    if runuser is None:
        raise Missing("PostgreSQL does not run as root, and there is no user postgres")
    return "postgres", [runuser, "-u", "postgres", "--"]


def _call(command: Sequence[str | Path]) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", timeout=180
    )
    if done.returncode:
        raise Missing(f"{command[-1]}: {done.stderr.strip()[-500:]}")
