"""Trackio: values, videos and worst moments in its local database, or wherever it logs to."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from screentest._util.optional import optional
from screentest.hooks.contract import PREFIX, Alarm, BaseHook, Logged, hook


@hook(name="trackio", summary="Trackio")
class Trackio(BaseHook):
    """The run that is active is used, or one is begun in ``project``."""

    def __init__(self, *, project: str = "screentest", name: str = "", videos: int = 4) -> None:
        self._trackio = optional("trackio")
        active = optional("trackio.context_vars").current_run.get()
        self._ours = active is None
        self._run: Any = active or self._trackio.init(
            project, name=name or None, embed=False, auto_log_gpu=False, auto_log_cpu=False
        )
        self._videos = videos

    def log(self, logged: Logged) -> None:
        values: dict[str, Any] = {f"{PREFIX}/{name}": mean for name, mean in logged.means.items()}
        with tempfile.TemporaryDirectory(prefix="screentest-trackio-") as folder:
            for number, clip in enumerate(logged.clips[: self._videos]):
                film = Path(folder, f"{number}.mp4")
                film.write_bytes(clip.video())
                shown = self._trackio.Video(film, caption=clip.caption)
                values[f"{PREFIX}/videos/{number}"] = shown
                for place, moment in enumerate(clip.worst()):
                    picture = self._trackio.Image(moment.image, caption=moment.caption(clip.id))
                    values[f"{PREFIX}/worst/{number}_{place}"] = picture
            self._run.log(values, step=logged.step)  # which copies the files

    def alarm(self, alarm: Alarm) -> None:
        self._run.log({f"{PREFIX}/alarm/{alarm.kind}": 1}, step=alarm.seen)
        self._run.alert(title=f"{alarm.kind} since step {alarm.step}", text=alarm.message)

    def close(self) -> None:
        if self._ours:
            self._run.finish()
