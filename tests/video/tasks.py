"""What test workers are made to do. Apart from the tests, since a worker imports it all."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import cv2
import numpy as np

from screentest.core import BadOption, Fault, Reason, VideoError
from screentest.video.limits import Limits
from screentest.video.probe import probe
from screentest.video.scan import scan
from screentest.video.source import cut_short


def process_number() -> int:
    return os.getpid()


def working_folder() -> str:
    return str(Path.cwd())


def double(number: int) -> int:
    return number * 2


def double_or_die(number: int) -> int:
    if number % 3 == 0:
        os.kill(os.getpid(), signal.SIGSEGV)
    return number * 2


def nothing() -> None:
    """A task without a result."""


def no_number() -> float:
    return float("nan")


def unsendable() -> object:
    return sys.modules


def refuse() -> NoReturn:
    raise VideoError(Reason.UNDECODABLE, "no picture", advice="Try another.")


def ask_the_user() -> NoReturn:
    raise BadOption("no such size", advice="Give one that is.")


def stumble() -> NoReturn:
    raise KeyError("a bug")


def leave() -> NoReturn:
    sys.exit(7)


def die_of(number: int) -> NoReturn:
    signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    os.kill(os.getpid(), number)
    raise AssertionError("unreachable")


def end_with(code: int) -> NoReturn:
    os._exit(code)


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def sleep_with_the_lock(seconds: int) -> int:
    """As a decoder that hangs without giving Python's lock back."""
    return int(ctypes.PyDLL(None).sleep(seconds))


def start_a_child_and(note: Path, then: str) -> NoReturn:
    """Start a process of our own, note both numbers, and come to a bad end."""
    child = subprocess.Popen(["sleep", "1000"])
    note.write_text(f"{os.getpid()} {child.pid}")
    if then == "hang":
        time.sleep(1000)
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError("unreachable")


def write_noise() -> int:
    os.write(1, b"noise on the terminal\n")
    return os.write(2, b"noise on the terminal\n")


def fill_memory(mebibytes: int) -> int:
    return len(bytearray(mebibytes << 20))


def fill_memory_by_numpy(mebibytes: int) -> int:
    return int(np.ones(mebibytes << 20, dtype=np.uint8).size)


def fill_memory_by_opencv(side: int) -> int:
    return cv2.resize(np.zeros((8, 8), np.uint8), (side, side)).size


def core_dump_limit() -> tuple[int, int]:
    import resource

    return resource.getrlimit(resource.RLIMIT_CORE)


def frames_found(path: Path, limits: Limits) -> int:
    return probe(path, limits).frames


def scan_to_end(path: Path, limits: Limits) -> tuple[int, int, tuple[Fault, ...]]:
    """Frames decoded, frames expected, and all that was found wrong."""
    report = scan(path, [], limits=limits)
    short = cut_short(path)
    return report.decoded, report.info.frames, (*report.faults, *((short,) if short else ()))
