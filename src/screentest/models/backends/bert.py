"""A BERT encoder from its safetensors file, run by onnxruntime: no torch, no conversion."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from screentest.models.networks.runtimes import onnx_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Value: TypeAlias = "int | float | str | bytes"
    Constant: TypeAlias = NDArray[np.float32] | NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float32]

OPSET = 17
_IR_VERSION = 8
# Numbers of the fields, from the format's definition.
_FLOAT, _INT64 = 1, 7
_KINDS: dict[type[np.generic], int] = {np.float32: _FLOAT, np.int64: _INT64}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7
_EXTERNAL = 1


class Graph:
    """Writing an ONNX graph: the few messages of its format that a small network needs.

    The format is protobuf, whose encoding is a page long. Why not onnx.helper: the base install
    would grow by onnx, protobuf and ml_dtypes, for one graph. Weights are not copied into the
    graph: they are declared as external, and the runtime is given the arrays.

    Nodes are in the order they run. Each ``add`` names its result, for others to use.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self._nodes: list[bytes] = []
        self._arrays = [_declared(name, array.shape) for name, array in weights.items()]

    def add(self, operator: str, *inputs: str, **attributes: int | float | list[int]) -> str:
        """One node; its result's name."""
        result = f"{operator}_{len(self._nodes)}"
        fields: list[tuple[int, Value]] = [(1, name) for name in inputs]
        fields += [(2, result), (4, operator)]
        fields += [(5, _attribute(name, value)) for name, value in attributes.items()]
        self._nodes.append(message(fields))
        return result

    def constant(self, value: Constant) -> str:
        """Put a value into the graph and return its name."""
        name = f"constant_{len(self._arrays)}"
        kind = _FLOAT if value.dtype == np.float32 else _INT64
        fields: list[tuple[int, Value]] = [(1, size) for size in value.shape]
        fields += [(2, kind), (8, name), (9, value.tobytes())]
        self._arrays.append(message(fields))
        return name

    def model(self, inputs: Mapping[str, tuple[type[np.generic], int]], result: str) -> bytes:
        """Return the whole model; ``inputs`` gives the type and the number of axes of each."""
        fields: list[tuple[int, Value]] = [(1, node) for node in self._nodes]
        fields.append((2, "screentest"))
        fields += [(5, array) for array in self._arrays]
        fields += [(11, _typed(name, _KINDS[kind], axes)) for name, (kind, axes) in inputs.items()]
        fields.append((12, _typed(result, _FLOAT, 2)))
        operators = message([(1, ""), (2, OPSET)])
        return message([(1, _IR_VERSION), (7, message(fields)), (8, operators)])


def _declared(name: str, shape: Iterable[int]) -> bytes:
    """Return an array that the runtime will be given."""
    fields: list[tuple[int, Value]] = [(1, size) for size in shape]
    location = message([(1, "location"), (2, "given")])
    return message([*fields, (2, _FLOAT), (8, name), (13, location), (14, _EXTERNAL)])


def _attribute(name: str, value: int | float | list[int]) -> bytes:
    if isinstance(value, list):
        return message([(1, name), *((8, entry) for entry in value), (20, _ATTRIBUTE_INTS)])
    if isinstance(value, float):
        return message([(1, name), (2, value), (20, _ATTRIBUTE_FLOAT)])
    return message([(1, name), (3, value), (20, _ATTRIBUTE_INT)])


def _typed(name: str, kind: int, axes: int) -> bytes:
    """Return a name with its type; the length of an axis is left open."""
    shape = message([(1, message([(2, f"{name}_{axis}")])) for axis in range(axes)])
    return message([(1, name), (2, message([(1, message([(1, kind), (2, shape)]))]))])


def message(fields: Iterable[tuple[int, Value]]) -> bytes:
    """Fields as protobuf writes them: number and kind, then the value.

    >>> message([(1, 150), (2, "hi")]).hex()
    '08960112026869'
    """
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are written as their two's complement
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


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
        """Encode several texts in one run, which costs little more than one text does.

        None sees the others; but how numbers are rounded depends on the company, to 1e-6.
        """
        lengths = [len(ids) for ids in texts]
        owner = np.repeat(np.arange(len(texts)), lengths)
        apart = np.where(owner[:, None] == owner, np.float32(0), np.float32(-np.inf))
        inputs = {
            "ids": np.concatenate(texts),
            "places": np.concatenate([np.arange(length) for length in lengths]),
            "apart": apart,
        }
        states: Floats = self._session.run(None, inputs)[0]
        return np.split(states, np.cumsum(lengths)[:-1])


def read_safetensors(path: Path) -> dict[str, Floats]:
    """Return the float32 arrays of a safetensors file, mapped into memory and not copied."""
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
    """Return the encoder that these weights belong to, as an ONNX model."""
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
    unit, half, root = (
        graph.constant(np.array(value, np.float32)) for value in (1.0, 0.5, 0.5**0.5)
    )
    erf = graph.add("Erf", graph.add("Mul", state, root))
    return graph.add("Mul", graph.add("Mul", state, half), graph.add("Add", erf, unit))
