"""A PostgreSQL server of our own: in a temporary folder, on a socket there, gone afterwards."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACES = ["/usr/lib/postgresql", "/opt/homebrew/opt/postgresql", "/usr/local/pgsql"]


class Missing(Exception):
    """There is no PostgreSQL here, or nobody who may run it."""


@contextmanager
def running() -> Iterator[str]:
    """A fresh server; gives the URL of an empty database."""
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
        _call([*control, "-l", folder / "log", "-o", options, "start"])
        try:
            yield f"postgresql://{user}@/postgres?host={folder}"
        finally:
            _call([*control, "-m", "immediate", "stop"])
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


def _call(command: list[str | Path]) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", timeout=180
    )
    if done.returncode:
        raise Missing(f"{command[-1]}: {done.stderr.strip()[-500:]}")
