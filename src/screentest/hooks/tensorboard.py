"""TensorBoard: scalars, videos as GIFs, pictures of worst moments, in event files.

Written with TensorBoard's own writer, so that neither torch nor TensorFlow is needed.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from screentest._util.optional import optional
from screentest.hooks.contract import PREFIX, Alarm, BaseHook, Logged, hook


@hook(name="tensorboard", summary="event files for TensorBoard")
class TensorBoard(BaseHook):
    """Writes into ``folder``; ``videos`` says of how many clips of a step the film is shown."""

    def __init__(self, *, folder: str = "runs/screentest", videos: int = 4) -> None:
        writers = optional("tensorboard.summary.writer.event_file_writer")
        self._events = optional("tensorboard.compat.proto.event_pb2")
        self._summaries = optional("tensorboard.compat.proto.summary_pb2")
        self._writer: Any = writers.EventFileWriter(str(Path(folder)))
        self._videos = videos
        self._steps = 0

    def log(self, logged: Logged) -> None:
        step = self._steps if logged.step is None else logged.step
        self._steps = step + 1
        values = [
            self._summaries.Summary.Value(tag=f"{PREFIX}/{name}", simple_value=value)
            for name, value in logged.means.items()
        ]
        for number, clip in enumerate(logged.clips[: self._videos]):
            values.append(self._picture(f"{PREFIX}/videos/{number}", clip.gif()))
            for place, moment in enumerate(clip.worst()):
                values.append(self._picture(f"{PREFIX}/worst/{number}_{place}", _png(moment.image)))
        self._write(values, step)

    def alarm(self, alarm: Alarm) -> None:
        text = self._summaries.Summary.Value(tag=f"{PREFIX}/alarm/{alarm.kind}")
        text.metadata.plugin_data.plugin_name = "text"
        text.tensor.dtype = 7  # a string
        text.tensor.string_val.append(alarm.message.encode())
        self._write([text], alarm.seen)

    def close(self) -> None:
        self._writer.close()

    def _picture(self, tag: str, data: bytes) -> Any:
        picture = self._summaries.Summary.Image(encoded_image_string=data)
        return self._summaries.Summary.Value(tag=tag, image=picture)

    def _write(self, values: list[Any], step: int) -> None:
        import time

        summary = self._summaries.Summary(value=values)
        event = self._events.Event(wall_time=time.time(), step=step, summary=summary)
        self._writer.add_event(event)
        self._writer.flush()


def _png(image: Any) -> bytes:
    from PIL import Image as Pictures

    held = io.BytesIO()
    Pictures.fromarray(image).save(held, "PNG")
    return held.getvalue()
