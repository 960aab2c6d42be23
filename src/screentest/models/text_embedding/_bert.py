"""A BERT encoder from its safetensors file, run by onnxruntime: no torch, no conversion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from screentest.models.runtimes import onnx_session
from screentest.models.text_embedding._onnx_graph import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]

_HEAD_SIZE = 32
_EPSILON = 1e-12


class Bert:
    """Token ids in, one vector per token out."""

    def __init__(self, path: Path, threads: int = 0) -> None:
        # A pooler may lie beside these; sentence models do not use it.
        arrays = {
            name: array
            for name, array in read_safetensors(path).items()
            if name.startswith(("embeddings.", "encoder."))
        }
        self._session = onnx_session(bert_graph(arrays), wanted_threads=threads, arrays=arrays)

    def __call__(self, ids: NDArray[np.int64]) -> Floats:
        """Tokens × width, for the tokens of one text."""
        return self.side_by_side([ids])[0]

    def side_by_side(self, texts: Sequence[NDArray[np.int64]]) -> list[Floats]:
        """The same for several texts in one run, which costs little more than one text does.

        None sees the others; but how numbers are rounded depends on the company, to 1e-6.
        """
        lengths = [len(ids) for ids in texts]
        own = np.repeat(np.arange(len(texts)), lengths)
        apart = np.where(own[:, None] == own, np.float32(0), np.float32(-np.inf))
        inputs = {
            "ids": np.concatenate(texts),
            "places": np.concatenate([np.arange(length) for length in lengths]),
            "apart": apart,
        }
        states: Floats = self._session.run(None, inputs)[0]
        return np.split(states, np.cumsum(lengths)[:-1])


def read_safetensors(path: Path) -> dict[str, Floats]:
    """The float32 arrays of a safetensors file, mapped into memory and not copied."""
    with path.open("rb") as file:
        header_size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(header_size))
    data = np.memmap(path, np.uint8, mode="r", offset=8 + header_size)
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            arrays[name] = data[start:end].view(np.float32).reshape(entry["shape"])
    return arrays


def bert_graph(arrays: Mapping[str, Floats]) -> bytes:
    """The encoder that these weights belong to, as an ONNX model."""
    graph = Graph(arrays)
    words = graph.add("Gather", "embeddings.word_embeddings.weight", "ids")
    places = graph.add("Gather", "embeddings.position_embeddings.weight", "places")
    # Every token is of the first of two kinds: single texts, no pairs.
    first = graph.constant(np.array([0]))
    kind = graph.add("Gather", "embeddings.token_type_embeddings.weight", first)
    state = graph.add("Add", graph.add("Add", words, places), kind)
    state = _normalised(graph, state, "embeddings.LayerNorm")
    count = 1 + max(int(name.split(".")[2]) for name in arrays if name.startswith("encoder."))
    width = arrays["embeddings.word_embeddings.weight"].shape[1]
    for layer in (f"encoder.layer.{number}" for number in range(count)):
        mixed = _attention(graph, state, f"{layer}.attention", width)
        state = _normalised(
            graph, graph.add("Add", state, mixed), f"{layer}.attention.output.LayerNorm"
        )
        wide = _gelu(graph, _linear(graph, state, f"{layer}.intermediate.dense"))
        narrow = _linear(graph, wide, f"{layer}.output.dense")
        state = _normalised(graph, graph.add("Add", state, narrow), f"{layer}.output.LayerNorm")
    return graph.model(
        {"ids": (np.int64, 1), "places": (np.int64, 1), "apart": (np.float32, 2)}, state
    )


def _attention(graph: Graph, state: str, name: str, width: int) -> str:
    """Each token gathers from the others what its query finds in their keys."""
    split = graph.constant(np.array([-1, width // _HEAD_SIZE, _HEAD_SIZE]))
    query, key, value = (
        graph.add("Reshape", _linear(graph, state, f"{name}.self.{part}"), split)
        for part in ("query", "key", "value")
    )
    # From tokens × heads × size to one matrix per head.
    scores = graph.add(
        "MatMul",
        graph.add("Transpose", query, perm=[1, 0, 2]),
        graph.add("Transpose", key, perm=[1, 2, 0]),
    )
    scale = graph.constant(np.array(_HEAD_SIZE**-0.5, np.float32))
    scores = graph.add("Add", graph.add("Mul", scores, scale), "apart")
    shares = graph.add("Softmax", scores, axis=-1)
    mixed = graph.add("MatMul", shares, graph.add("Transpose", value, perm=[1, 0, 2]))
    joined = graph.add(
        "Reshape",
        graph.add("Transpose", mixed, perm=[1, 0, 2]),
        graph.constant(np.array([-1, width])),
    )
    return _linear(graph, joined, f"{name}.output.dense")


def _linear(graph: Graph, state: str, name: str) -> str:
    return graph.add("Gemm", state, f"{name}.weight", f"{name}.bias", transB=1)


def _normalised(graph: Graph, state: str, name: str) -> str:
    weights = (f"{name}.weight", f"{name}.bias")
    return graph.add("LayerNormalization", state, *weights, axis=-1, epsilon=_EPSILON)


def _gelu(graph: Graph, state: str) -> str:
    """x · Φ(x), with the normal distribution by its error function."""
    one, half, root = (
        graph.constant(np.array(value, np.float32)) for value in (1.0, 0.5, 0.5**0.5)
    )
    erf = graph.add("Erf", graph.add("Mul", state, root))
    return graph.add("Mul", graph.add("Mul", state, half), graph.add("Add", erf, one))
