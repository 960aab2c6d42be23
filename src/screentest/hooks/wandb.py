"""Weights & Biases: values, videos and worst moments, beside those of the training.

The run that is active is used, or one is begun. Values have a step of their own
(``screentest/step``), so that logging them never clashes with the steps of the training.
"""

from __future__ import annotations

import io
import os
from typing import Any

from screentest._util.optional import optional
from screentest.hooks.contract import PREFIX, Alarm, BaseHook, Logged, hook, warn

_STEP = f"{PREFIX}/step"
_PATIENCE_S = 20


@hook(name="wandb", summary="Weights & Biases")
class WandB(BaseHook):
    """``mode`` is W&B's own: online, offline or disabled; ``videos`` counts clips with a film."""

    def __init__(
        self,
        *,
        project: str = "",
        name: str = "",
        mode: str = "",
        folder: str = "",
        videos: int = 4,
    ) -> None:
        self._wandb = optional("wandb")
        self._videos = videos
        self._ours = self._wandb.run is None
        begin = {"project": project or None, "name": name or None, "dir": folder or None}
        self._run: Any = self._wandb.run or self._begun(begin, mode)
        self._run.define_metric(_STEP)
        self._run.define_metric(f"{PREFIX}/*", step_metric=_STEP)

    def _begun(self, options: dict[str, Any], mode: str) -> Any:
        """Begin a run; it is kept on this machine where the server cannot be reached."""
        # A server that is away is found out within seconds, not after a minute and a half.
        seconds = float(os.environ.get("WANDB_INIT_TIMEOUT", _PATIENCE_S))
        patient = self._wandb.Settings(init_timeout=seconds)
        try:
            return self._wandb.init(**options, mode=mode or None, settings=patient)
        except self._wandb.errors.CommError as error:
            run = self._wandb.init(**options, mode="offline")
            why = " ".join(str(error).split())[:200]
            warn(
                f"W&B cannot be reached ({why}): the run is kept in {run.settings.sync_dir};"
                " `wandb sync` with that folder uploads it"
            )
            return run

    def log(self, logged: Logged) -> None:
        values: dict[str, Any] = {f"{PREFIX}/{name}": mean for name, mean in logged.means.items()}
        if logged.step is not None:
            values[_STEP] = logged.step
        films, pictures = [], []
        for clip in logged.clips[: self._videos]:
            film = io.BytesIO(clip.video())
            films.append(self._wandb.Video(film, caption=clip.caption, format="mp4"))
            pictures += [
                self._wandb.Image(moment.image, caption=moment.caption(clip.id))
                for moment in clip.worst()
            ]
        if films:
            values[f"{PREFIX}/videos"] = films
        if pictures:
            values[f"{PREFIX}/worst"] = pictures
        self._run.log(values)

    def alarm(self, alarm: Alarm) -> None:
        self._run.log({f"{PREFIX}/alarm/{alarm.kind}": 1, _STEP: alarm.seen})
        self._run.alert(title=f"{alarm.kind} since step {alarm.step}", text=alarm.message)

    def close(self) -> None:
        if self._ours:
            self._run.finish()
