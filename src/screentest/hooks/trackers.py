"""Trackers of experiments: values, videos and worst moments, beside those of the training.

The run that is active is used, or one is begun. Each tracker is imported when it is opened.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from screentest._util.optional import optional
from screentest.hooks.contract import PREFIX, Alarm, BaseHook, Logged, hook, warn

_NOT_ALLOWED = re.compile(r"[^\w\-. /]")
"""What MLflow refuses in the name of a metric."""
_STEP = f"{PREFIX}/step"
_PATIENCE_S = 20


class _Tracker(BaseHook):
    _ours = False
    """Whether the run was begun here: then it ends here."""
    _run: Any

    def alarm(self, alarm: Alarm) -> None:
        self._tell(alarm, 1.0, alarm.message)

    def withdraw(self, alarm: Alarm) -> None:
        self._tell(alarm, 0.0, f"withdrawn: {alarm.message}")

    def _tell(self, alarm: Alarm, value: float, words: str) -> None: ...

    def close(self) -> None:
        if self._ours:
            self._run.finish()


@hook(name="mlflow", summary="MLflow")
class MLflow(_Tracker):
    """``uri`` is where MLflow tracks, if not where it does anyway."""

    def __init__(
        self, *, uri: str = "", experiment: str = "", name: str = "", videos: int = 4
    ) -> None:
        # A server that is away is found out within seconds, not after minutes of trying.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        mlflow = optional("mlflow")
        if uri:
            mlflow.set_tracking_uri(uri)
        active = mlflow.active_run()
        self._ours = active is None
        if active is None:
            if experiment:
                mlflow.set_experiment(experiment)
            active = mlflow.start_run(run_name=name or None)
        self._mlflow: Any = mlflow
        self._client: Any = mlflow.MlflowClient()
        self._run = active.info.run_id
        self._videos = videos
        self._steps = 0

    def log(self, logged: Logged) -> None:
        step = self._steps if logged.step is None else logged.step
        self._steps = step + 1
        for name, value in logged.means.items():
            key = f"{PREFIX}/{_NOT_ALLOWED.sub('_', name)}"
            self._client.log_metric(self._run, key, value, step=step)
        with tempfile.TemporaryDirectory(prefix="screentest-mlflow-") as folder:
            for clip in logged.clips[: self._videos]:
                stem = _NOT_ALLOWED.sub("_", clip.id).replace("/", "_")
                Path(folder, f"{stem}.mp4").write_bytes(clip.video())
                for number, moment in enumerate(clip.worst(), start=1):
                    Path(folder, f"{stem} worst {number}.png").write_bytes(_png(moment.image))
            self._client.log_artifacts(self._run, folder, f"{PREFIX}/step {step}")

    def _tell(self, alarm: Alarm, value: float, words: str) -> None:
        self._client.log_metric(self._run, f"{PREFIX}/alarm/{alarm.kind}", value, step=alarm.seen)
        self._client.set_tag(self._run, f"{PREFIX}.alarm.{alarm.kind}", words)

    def close(self) -> None:
        if self._ours:
            self._mlflow.end_run()


@hook(name="tensorboard", summary="event files for TensorBoard")
class TensorBoard(_Tracker):
    """Writes into ``folder``; ``videos`` says of how many clips of a step the film is shown.

    With TensorBoard's own writer, so that neither torch nor TensorFlow is needed.
    """

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

    def _tell(self, alarm: Alarm, value: float, words: str) -> None:
        text = self._summaries.Summary.Value(tag=f"{PREFIX}/alarm/{alarm.kind}")
        text.metadata.plugin_data.plugin_name = "text"
        text.tensor.dtype = 7  # a string
        text.tensor.string_val.append(words.encode())
        self._write([text], alarm.seen)

    def close(self) -> None:
        self._writer.close()

    def _picture(self, tag: str, data: bytes) -> Any:
        picture = self._summaries.Summary.Image(encoded_image_string=data)
        return self._summaries.Summary.Value(tag=tag, image=picture)

    def _write(self, values: list[Any], step: int) -> None:
        summary = self._summaries.Summary(value=values)
        event = self._events.Event(wall_time=time.time(), step=step, summary=summary)
        self._writer.add_event(event)
        self._writer.flush()


@hook(name="trackio", summary="Trackio")
class Trackio(_Tracker):
    """The run that is active is used, or one is begun in ``project``."""

    def __init__(self, *, project: str = "screentest", name: str = "", videos: int = 4) -> None:
        self._trackio = optional("trackio")
        active = optional("trackio.context_vars").current_run.get()
        self._ours = active is None
        self._run = active or self._trackio.init(
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

    def _tell(self, alarm: Alarm, value: float, words: str) -> None:
        self._run.log({f"{PREFIX}/alarm/{alarm.kind}": value}, step=alarm.seen)
        self._run.alert(title=f"{alarm.kind} since step {alarm.step}", text=words)


@hook(name="wandb", summary="Weights & Biases")
class WandB(_Tracker):
    """``mode`` is W&B's own: online, offline or disabled; ``videos`` counts clips with a film.

    Values have a step of their own (``screentest/step``), so that logging them never clashes with
    the steps of the training.
    """

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
        self._run = self._wandb.run or self._begun(begin, mode)
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

    def _tell(self, alarm: Alarm, value: float, words: str) -> None:
        self._run.log({f"{PREFIX}/alarm/{alarm.kind}": value, _STEP: alarm.seen})
        self._run.alert(title=f"{alarm.kind} since step {alarm.step}", text=words)


def _png(image: Any) -> bytes:
    from PIL import Image as Pictures

    held = io.BytesIO()
    Pictures.fromarray(image).save(held, "PNG")
    return held.getvalue()
