"""Another container: the same packets in a Matroska file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from screentest.base.atomic import atomic_output
from screentest.core import register
from screentest.degrade.contract import Film, Workshop

if TYPE_CHECKING:
    from av.container import OutputContainer


@register("placebo", "container", version=1, summary="the same packets in a Matroska file")
def container() -> OtherContainer:
    """Nothing is encoded. Matroska counts time in milliseconds."""
    return OtherContainer()


class OtherContainer:
    """The placebo."""

    suffix = ".mkv"

    def eligible(self, film: Film) -> bool:
        """Any film can be packed anew."""
        return True

    def write(self, shop: Workshop, out: Path) -> None:
        """Copy the packets."""
        import av

        with atomic_output(out) as file, av.open(str(shop.film.video.path)) as source:
            target: OutputContainer = av.open(
                file, "w", format="matroska", container_options={"fflags": "+bitexact"}
            )
            with target:
                stream = target.add_stream_from_template(source.streams.video[0])
                for packet in source.demux(video=0):
                    if packet.dts is not None:
                        packet.stream = stream
                        target.mux(packet)
                        file.check()
