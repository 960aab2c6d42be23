"""Logs two steps with all four hooks, with the trackers' real packages, and reads back what they
wrote: JSON on stdout. The argument is an empty folder.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np

import screentest
from screentest.hooks.contract import Alarm, close_hooks, open_hooks

FOLDER = Path(sys.argv[1])
os.chdir(FOLDER)
os.environ |= {
    "WANDB_MODE": "offline",
    "WANDB_SILENT": "true",
    "WANDB_DIR": str(FOLDER),
    "TRACKIO_DIR": str(FOLDER / "trackio"),
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "HF_HUB_OFFLINE": "1",
}
ALARM = "screentest/alarm/frozen"
HOOKS = [
    "tensorboard:folder=boards",
    "wandb:project=clips",
    "mlflow:uri=mlruns,experiment=clips",
    "trackio:project=clips,name=one",
]


def frames_of(film: Path) -> int:
    with av.open(str(film)) as container:
        return sum(1 for _ in container.decode(video=0))


def of_tensorboard() -> dict[str, Any]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator("boards", size_guidance={"images": 0, "scalars": 0, "tensors": 0})
    events.Reload()
    tags = events.Tags()
    first = events.Images("screentest/videos/0")[0].encoded_image_string
    alarms = events.Tensors("screentest/alarm/frozen")
    texts = [one.tensor_proto.string_val[0].decode() for one in alarms]
    return {
        "values": [[one.step, one.value] for one in events.Scalars("screentest/flicker")],
        "videos": [one.step for one in events.Images("screentest/videos/0")],
        "film": first[:3].decode(),
        "worst": sum(tag.startswith("screentest/worst/") for tag in tags["images"]),
        "alarm": texts[0],
        "raised": [int(text == texts[0]) for text in texts],
    }


def transaction_log(data: bytes) -> Iterator[bytes]:
    """The records of W&B's log: LevelDB's format, blocks of 32 KiB after seven bytes of its own.

    A record is a checksum (4 bytes), a length (2) and whether it is whole, or the first, a middle
    or the last part of one.
    """
    place, held = 7, b""
    while place + 7 <= len(data):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        length, part = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        if part == 0:
            return
        held += data[place + 7 : place + 7 + length]
        place += 7 + length
        if part in (1, 4):
            yield held
            held = b""


def has(row: dict[str, Any], key: str) -> bool:
    """Whether a row has something of that name; what is not a number is written in parts."""
    return any(one == key or one.startswith(f"{key}/") for one in row)


def of_wandb() -> dict[str, Any]:
    from wandb.proto import wandb_internal_pb2

    (file,) = FOLDER.glob("wandb/offline-run-*/*.wandb")
    rows, alerts = [], []
    for data in transaction_log(file.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            items = record.history.item
            rows.append({one.key or "/".join(one.nested_key): one.value_json for one in items})
        elif record.WhichOneof("record_type") == "alert":
            alerts.append(record.alert.text)
    logged = [{key: json.loads(text) for key, text in row.items()} for row in rows]
    steps = [row for row in logged if "screentest/flicker" in row]
    films = sorted((file.parent / "files" / "media" / "videos").rglob("*.mp4"))
    return {
        "values": [[row["screentest/step"], row["screentest/flicker"]] for row in steps],
        "videos": [row["screentest/step"] for row in steps if has(row, "screentest/videos")],
        "film": frames_of(films[0]),
        "worst": sum(has(row, "screentest/worst") for row in steps),
        "alarm": alerts[0],
        "raised": [row[ALARM] for row in logged if ALARM in row],
    }


def of_mlflow() -> dict[str, Any]:
    import mlflow

    client = mlflow.MlflowClient("mlruns")
    experiment = client.get_experiment_by_name("clips")
    (run,) = client.search_runs([experiment.experiment_id])
    history = client.get_metric_history(run.info.run_id, "screentest/flicker")
    held = Path(client.download_artifacts(run.info.run_id, "screentest", str(FOLDER)))
    films = sorted(held.rglob("*.mp4"))
    return {
        "values": [[one.step, one.value] for one in history],
        "videos": sorted({int(film.parent.name.split()[-1]) for film in films}),
        "film": frames_of(films[0]),
        "worst": len(list(held.rglob("*worst*.png"))),
        "alarm": run.data.tags["screentest.alarm.frozen"].removeprefix("withdrawn: "),
        "raised": [one.value for one in client.get_metric_history(run.info.run_id, ALARM)],
    }


def of_trackio() -> dict[str, Any]:
    import sqlite3

    from trackio.sqlite_storage import SQLiteStorage

    logs = SQLiteStorage.get_logs("clips", "one")
    rows = [row for row in logs if "screentest/flicker" in row]
    films = sorted((FOLDER / "trackio" / "media").rglob("*.mp4"))
    database = sqlite3.connect(FOLDER / "trackio" / "clips.db")
    (text,) = database.execute("SELECT text FROM alerts").fetchone()
    database.close()
    return {
        "values": [[row["step"], row["screentest/flicker"]] for row in rows],
        "videos": [row["step"] for row in rows if "screentest/videos/0" in row],
        "film": frames_of(films[0]),
        "worst": sum(key.startswith("screentest/worst/") for row in rows for key in row),
        "alarm": text,
        "raised": [row[ALARM] for row in logs if ALARM in row],
    }


def main() -> None:
    rng = np.random.default_rng(0)
    clip = rng.integers(0, 256, (24, 32, 48, 3), dtype=np.uint8).repeat(2, axis=1).repeat(2, axis=2)
    clip[:16] = clip[0]  # it stands still, and then flickers: that is its worst moment
    expected = []
    for step in (10, 20):
        found = screentest.score_frames(
            np.stack([clip, clip[::-1] // step]),
            fps=24,
            prompt=["a", "b"],
            metrics=["flicker", "noise:rate=24"],
            hooks=HOOKS,
            step=step,
        )
        expected.append([step, found.means["flicker"]])
    alarm = Alarm("frozen", "frozen", 20, 20, ["a", "b"], 2)
    open_hooks(HOOKS).alarm(alarm)
    open_hooks(HOOKS).alarm(alarm, withdrawn=True)
    close_hooks()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, while we read
        read = {
            "tensorboard": of_tensorboard,
            "wandb": of_wandb,
            "mlflow": of_mlflow,
            "trackio": of_trackio,
        }
        held: dict[str, Any] = {"expected": expected}
        for name, reader in read.items():
            try:
                held[name] = reader()
            except Exception as error:  # noqa: BLE001 - one tracker must not hide the others
                held[name] = {"error": repr(error)}
    sys.__stdout__.write("\n" + json.dumps(held) + "\n")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
