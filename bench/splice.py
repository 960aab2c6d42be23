"""A changed copy by splicing five of sixty clips, against encoding the whole film again.

By processor time over all threads.
"""

from __future__ import annotations

import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from _figures import figure, long_video, publish_lines, ratio
from screentest.video.edit.normalize import normalize
from screentest.video.edit.pictures import Keep, Reencode, VideoPart, frame_by_frame
from screentest.video.edit.splice import splice

CLIPS = 60
FRAMES_PER_CLIP = 36
RATE = 24
TOUCHED = (4, 17, 18, 33, 51)


def low_contrast(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A plain degradation, cheap beside the encoder."""
    return image // 2 + 64


def main() -> None:
    source = long_video(1280, 720, frames=CLIPS * FRAMES_PER_CLIP, rate=RATE)
    cuts = [Fraction(n * FRAMES_PER_CLIP, RATE) for n in range(CLIPS)]
    with tempfile.TemporaryDirectory() as folder:
        # Normalising is what encoding the whole film costs: decode, fit and encode all of it.
        start = time.process_time()
        film = normalize(source, Path(folder) / "film.mp4", keyframes_at=cuts)
        whole = time.process_time() - start
        parts: list[VideoPart] = [
            Reencode(clip, frame_by_frame(low_contrast)) if number in TOUCHED else Keep(clip)
            for number, clip in enumerate(film.clips)
        ]
        spliced = []
        for attempt in range(2):
            start = time.process_time()
            result = splice(film, parts, Path(folder) / f"changed_{attempt}.mp4")
            spliced.append(time.process_time() - start)
        assert result.frames == film.frames
        start = time.process_time()
        splice(film, [Keep(clip) for clip in film.clips], Path(folder) / "copied.mp4")
        copied = time.process_time() - start
    figure(f"whole film encoded, 1280×720, {film.frames} frames", whole, "s")
    figure(f"{len(TOUCHED)} of {CLIPS} clips spliced, the quicker of two", min(spliced), "s")
    figure("nothing touched, packets copied", copied, "s")
    ratio("whole film / splice", whole / min(spliced), f"≥ 8; {CLIPS / len(TOUCHED):.0f} is all")
    publish_lines("splice", "python bench/splice.py")


if __name__ == "__main__":
    main()
