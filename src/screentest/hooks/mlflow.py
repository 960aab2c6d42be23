"""MLflow: metrics, and videos and worst moments as artifacts, in the active run or one begun."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from screentest._util.optional import optional
from screentest.hooks.contract import PREFIX, Alarm, BaseHook, Logged, hook

_NOT_ALLOWED = re.compile(r"[^\w\-. /]")
"""What MLflow refuses in the name of a metric."""


@hook(name="mlflow", summary="MLflow")
class MLflow(BaseHook):
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
        self._run: str = active.info.run_id
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
                    _save(moment.image, Path(folder, f"{stem} worst {number}.png"))
            self._client.log_artifacts(self._run, folder, f"{PREFIX}/step {step}")

    def alarm(self, alarm: Alarm) -> None:
        self._client.log_metric(self._run, f"{PREFIX}/alarm/{alarm.kind}", 1.0, step=alarm.seen)
        self._client.set_tag(self._run, f"{PREFIX}.alarm.{alarm.kind}", alarm.message)

    def close(self) -> None:
        if self._ours:
            self._mlflow.end_run()


def _save(image: Any, path: Path) -> None:
    from PIL import Image as Pictures

    Pictures.fromarray(image).save(path)
