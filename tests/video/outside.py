"""What the system's ffmpeg makes of a file: a decoder that is not the one under test."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Outside:
    """Debian's ffmpeg and ffprobe."""

    ffmpeg: str
    ffprobe: str

    def frame_hashes(self, video: Path) -> list[str]:
        """The hash of each decoded frame. Any warning, let alone an error, fails the test."""
        done = self._run(
            *(self.ffmpeg, "-v", "warning", "-xerror", "-i", video),
            *("-fps_mode", "passthrough", "-f", "framemd5", "-"),
        )
        lines = done.stdout.decode().splitlines()
        return [line.split(",")[-1].strip() for line in lines if not line.startswith("#")]

    def packets(self, video: Path) -> list[Packet]:
        """All packets in file order."""
        entries = "stream=time_base:packet=pts,dts,flags,size"
        told = self._probe(video, "-show_packets", "-show_entries", entries)
        base = Fraction(told["streams"][0]["time_base"])
        return [
            Packet(int(one["pts"]) * base, int(one["dts"]) * base, "K" in one["flags"])
            for one in told["packets"]
        ]

    def pictures(self, video: Path, *filters: str, pixels: str = "gray") -> NDArray[np.uint8]:
        """All frames: count × rows × columns (I420 has one and a half times the rows)."""
        filtered = ("-vf", ",".join(filters)) if filters else ()
        raw = self._run(
            *(self.ffmpeg, "-v", "error", "-i", video, *filtered, "-fps_mode", "passthrough"),
            *("-pix_fmt", pixels, "-strict", "-1", "-f", "yuv4mpegpipe", "-"),
        ).stdout
        header, frames = raw.split(b"\n", 1)
        width, height = (int(word[1:]) for word in header.split()[1:3])
        rows = height * 3 // 2 if pixels == "yuv420p" else height
        marked = np.frombuffer(frames, np.uint8).reshape(-1, len(b"FRAME\n") + rows * width)
        return marked[:, len(b"FRAME\n") :].reshape(-1, rows, width)

    def described(self, video: Path) -> dict[str, Any]:
        """What ffprobe says of the container and every stream."""
        return self._probe(video, "-show_streams", "-show_format")

    def header_units(self, video: Path) -> Counter[str]:
        """How often each kind of H.264 unit occurs, the decoder record included."""
        return Counter(words for words in self._traced(video) if words[:1].isalpha())

    def header_values(self, video: Path) -> dict[str, set[str]]:
        """All values that each field of the H.264 headers takes, as numbers in text."""
        values: dict[str, set[str]] = defaultdict(set)
        for words in self._traced(video):
            if words[:1].isdigit() and " = " in words:
                values[words.split()[1]].add(words.rsplit(" = ", 1)[1])
        return values

    def _traced(self, video: Path) -> list[str]:
        done = self._run(
            *(self.ffmpeg, "-v", "trace", "-i", video, "-c", "copy"),
            *("-bsf:v", "trace_headers", "-f", "null", "-"),
            quiet=False,
        )
        lines = done.stderr.decode(errors="replace").splitlines()
        return [line.split("] ", 1)[1] for line in lines if line.startswith("[trace_headers")]

    def _probe(self, video: Path, *options: str) -> dict[str, Any]:
        done = self._run(self.ffprobe, "-v", "error", "-of", "json", *options, video)
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def _run(self, *command: object, quiet: bool = True) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
        said = done.stderr.decode(errors="replace")
        assert done.returncode == 0, said
        assert not quiet or not said, said
        return done


def left_behind(folder: Path) -> list[Path]:
    """What a killed process left. Where files need names, an unfinished one may be there."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        return [one for one in folder.iterdir() if not one.name.startswith(".screentest-")]
    return list(folder.iterdir())


@dataclass(frozen=True)
class Packet:
    shown: Fraction
    decoded: Fraction
    key: bool
