"""Loading ONNX and LiteRT models: on the CPU, with a stated number of threads, quietly.

Threads change the speed and not the numbers. Where several workers share a machine, each gets
its part: SCREENTEST_THREADS says how many threads one process may use for a model.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from screentest._util.machine import processors
from screentest._util.optional import optional
from screentest.core import BadOption

THREADS = "SCREENTEST_THREADS"
ONNX = "onnxruntime"
LITERT = "ai_edge_litert"
TOKENIZERS = "tokenizers"
_PACKAGES = {ONNX: "onnxruntime", LITERT: "ai-edge-litert", TOKENIZERS: "tokenizers"}

_loading = threading.Lock()


def threads(wanted: int = 0) -> int:
    """Return the number of threads for a model: as asked, as SCREENTEST_THREADS says, or all cores.

    >>> threads(3)
    3
    """
    if wanted > 0:
        return wanted
    given = os.environ.get(THREADS, "")
    if given:
        if not given.isdigit() or int(given) < 1:
            raise BadOption(
                f"{THREADS} is {given!r}", advice="Give a number of threads: 1 or more."
            )
        return int(given)
    return processors()


def versions(*modules: str) -> dict[str, str]:
    """Return the versions of runtimes, for signatures: their kernels round in their own way."""
    return {_PACKAGES[module]: metadata.version(_PACKAGES[module]) for module in modules}


def onnx_session(
    model: Path | bytes,
    *,
    wanted_threads: int = 0,
    arrays: Mapping[str, NDArray[np.float32]] | None = None,
) -> Any:
    """Return an ONNX model, ready to run; ``arrays`` are weights that it declares only."""
    onnxruntime = optional(ONNX)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads(wanted_threads)
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors: its warnings are for those who make models
    # Waiting threads sleep: where workers share cores, spinning would cost more than it gains.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Weights in 8 bits are scaled back before, not by kernels that round what runs through them.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    if arrays:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays.values()]
        options.add_external_initializers(list(arrays), values)
    return onnxruntime.InferenceSession(
        model if isinstance(model, bytes) else str(model),
        options,
        providers=["CPUExecutionProvider"],
    )


def litert_model(model: Path, *, wanted_threads: int = 0) -> Any:
    """Return a LiteRT (.tflite) model, ready to run. One thread at a time may use it."""
    litert = optional(f"{LITERT}.interpreter")
    with _without_remarks():
        interpreter = litert.Interpreter(str(model), num_threads=threads(wanted_threads))
        interpreter.allocate_tensors()
    return interpreter


@contextmanager
def _without_remarks() -> Iterator[None]:
    """Keep LiteRT's remarks, which it writes past Python, from stderr; pass on all else."""
    with _loading, tempfile.TemporaryFile() as kept:
        sys.stderr.flush()
        before = os.dup(2)
        try:
            os.dup2(kept.fileno(), 2)
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)
            kept.seek(0)
            for line in kept:
                if not line.startswith(b"INFO:"):
                    os.write(2, line)


T = TypeVar("T")


def batches(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive pieces of at most ``size``.

    >>> [list(piece) for piece in batches("abcde", 2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    for start in range(0, len(things), size):
        yield things[start : start + size]
