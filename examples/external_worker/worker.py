"""A worker for screentest, to copy: it needs Python 3.8+ and numpy, and nothing of screentest.

    screentest ... --model technical=external:"/path/to/its/python worker.py"

Replace the handlers at the top by calls of the code you wrap, and say in GREETING what your
numbers depend on. What lies below ``serve`` can stay as it is.
"""

import hashlib
import json
import os
import sys
import traceback
from pathlib import Path

import numpy as np


def score_technical(frames):
    """How sharp the frames are, from 0 to 1. Stands for your model."""
    steepness = [np.abs(np.diff(frame.mean(axis=2), axis=1)).mean() for frame in frames]
    return float(1 - np.exp(-np.mean(steepness) / 10))


def score_aesthetic(images):
    """One number per picture, on the scale that the greeting states."""
    return [10 * min(1.0, float(image.std()) / 128) for image in images]


def midpoint(pairs):
    """Return the mean of each pair: where arrays are asked for, arrays are given."""
    return [((one.astype(np.uint16) + two + 1) // 2).astype(np.uint8) for one, two in pairs]


HANDLERS = {
    ("technical", "score"): score_technical,
    ("aesthetic", "score"): score_aesthetic,
    ("interpolation", "midpoint"): midpoint,
}


def sha256_of(path):
    """Return the hash of a weights file, for the greeting."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


GREETING = {
    "screentest": 1,
    "name": "example",
    "version": "1",
    "weights": "none",  # with weights: sha256_of("weights.pth")
    "roles": sorted({role for role, _ in HANDLERS}),
    "identity": {"numpy": np.__version__},
    "properties": {"scale": [0, 10]},
}


class NoValue(Exception):
    """Raise it where a request has no value: NoValue("not_applicable", "fewer than 8 frames")."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


def serve(handlers, greeting):
    """Greet, then answer each line of stdin with one line, until stdin ends."""
    # Libraries print to stdout; only messages may. So stdout becomes stderr for everybody else.
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(message):
        messages.write(json.dumps(message, allow_nan=False) + "\n")
        messages.flush()

    say(greeting)
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        try:
            handler = handlers[request["role"], request["method"]]
            result = handler(**load_arrays(request["arguments"]))
            answer["result"] = save_arrays(result, request["folder"])
            say(answer)
        except NoValue as error:
            say({"id": request["id"], "error": {"reason": error.reason, "message": str(error)}})
        except Exception:  # noqa: BLE001 - whatever happens, the request gets its one answer
            told = {"reason": "crashed", "message": traceback.format_exc()[-2000:]}
            say({"id": request["id"], "error": told})


def load_arrays(value):
    """Arguments with their arrays: {"npy": path} becomes the array."""
    if isinstance(value, dict):
        if set(value) == {"npy"}:
            return np.load(value["npy"], allow_pickle=False)
        return {key: load_arrays(item) for key, item in value.items()}
    if isinstance(value, list):
        return [load_arrays(item) for item in value]
    return value


def save_arrays(value, folder):
    """Return a result as JSON takes it: arrays become files in the request's folder."""
    if isinstance(value, np.ndarray):
        path = Path(folder) / f"result-{len(list(Path(folder).iterdir()))}.npy"
        np.save(path, value, allow_pickle=False)
        return {"npy": str(path)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: save_arrays(item, folder) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [save_arrays(item, folder) for item in value]
    return value


if __name__ == "__main__":
    serve(HANDLERS, GREETING)
