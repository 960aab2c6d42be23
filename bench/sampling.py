"""Centre frames of the shots of a one-hour video, by seeking, against a full decode."""

from __future__ import annotations

import av

from _figures import cpu_of, figure, long_video, publish_lines, ratio
from screentest.core import Size
from screentest.video.probe import probe
from screentest.video.samples import evenly, sample_frames

SHOTS = 60


def main() -> None:
    video = long_video(320, 180, frames=3600 * 10, rate=10)
    span = probe(video).span

    def by_seeking() -> None:
        frames = sample_frames(video, evenly(span, SHOTS), size=Size(long_side=224))
        assert sum(1 for _ in frames) == SHOTS

    def full_decode() -> None:
        with av.open(str(video)) as container:
            container.streams.video[0].thread_type = "AUTO"
            assert sum(1 for _ in container.decode(video=0)) == 36_000

    seeking, decoding = cpu_of(3, by_seeking), cpu_of(2, full_decode)
    figure(f"{SHOTS} centre frames of one hour, by seeking", seeking, "s")
    figure("full decode of one hour", decoding, "s")
    ratio("full decode / centre frames", decoding / seeking, "above 1")
    publish_lines("sampling", "python bench/sampling.py")


if __name__ == "__main__":
    main()
