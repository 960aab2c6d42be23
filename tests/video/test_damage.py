"""A damaged film is decoded the same way every time: same bytes, same pictures, same faults.

Decoder threads race over damage. By frames, 8 decodes of one bit-flipped film gave up to 8
results; by slices, FFV1 and MPEG-2 still did, and H.264 hid its faults. FFV1 without checksums
never shows one.
"""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import av
import pytest

from screentest.core import BaseConsumer, Frame, FrameRequest, Item, Layout
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.run.records import encode
from screentest.run.session import Settings, Tools
from screentest.video.scan import scan
from tests.video.hostile import pictures

CODECS: dict[str, tuple[str, str, dict[str, str]]] = {
    "ffv1": ("mkv", "yuv420p", {"level": "3", "slices": "16", "slicecrc": "0", "g": "6"}),
    "libx264": ("mp4", "yuv420p", {"preset": "veryfast", "g": "12"}),
    "prores_ks": ("mov", "yuv422p10le", {"profile": "0"}),
    "mpeg2video": ("mpg", "yuv420p", {"g": "6"}),
}
DECODES = 8


class Digest(BaseConsumer):
    """A hash of every picture and its time."""

    wants = FrameRequest(layout=Layout.RGB)

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def take(self, frame: Frame) -> None:
        self.hash.update(f"{frame.time} {frame.index}".encode())
        self.hash.update(frame.image.tobytes())


def film(path: Path, codec: str, side: int = 128, frames: int = 12) -> bytes:
    _, pixels, options = CODECS[codec]
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream(codec, rate=25, options=options)
        stream.width = stream.height = side
        stream.pix_fmt = pixels
        for frame in pictures(frames, side):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path.read_bytes()


def flipped(data: bytes, seed: int, count: int) -> bytes:
    """With a few bits flipped between the head and the tail, where the pictures are."""
    draw, changed = random.Random(seed), bytearray(data)
    for _ in range(count):
        changed[draw.randrange(len(data) // 20, len(data) * 9 // 10)] ^= 1 << draw.randrange(8)
    return bytes(changed)


def decoded(path: Path) -> tuple[object, ...]:
    digest = Digest()
    report = scan(path, [digest])
    return digest.hash.hexdigest(), report.decoded, report.faults, report.fault_count


@pytest.mark.parametrize("codec", CODECS)
def test_flipped_bits_give_one_result(codec: str, tmp_path: Path) -> None:
    path = tmp_path / f"film.{CODECS[codec][0]}"
    data = film(path, codec)
    whole = decoded(path)
    seen = set()
    for seed, count in enumerate((4, 40)):
        path.write_bytes(flipped(data, seed, count))
        results = {decoded(path) for _ in range(DECODES)}
        assert len(results) == 1
        seen |= results
    assert seen - {whole}, "no flip did any damage"


@pytest.mark.parametrize("allowed", [False, True])
def test_scores_and_reasons_of_a_damaged_film(allowed: bool, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(flipped(film(path, "libx264"), 2, 40))
    tools = Tools(Settings(allow_damaged=allowed))
    texts = set()
    for _ in range(DECODES):
        metrics = {name: resolve(name).metric for name in ("contrast", "blockiness", "motion")}
        found = measure(Item("film", path), metrics, tools)
        texts.add("\n".join(encode(outcomes).text for outcomes in found.values()))
    (text,) = texts
    assert ("undecodable" in text) is not allowed
    assert ('"score":' in text) is allowed
