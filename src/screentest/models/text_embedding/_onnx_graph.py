"""Writing an ONNX graph: the few messages of its format that a small network needs.

The format is protobuf, whose encoding is a page long; the package that would write it for us
is larger than all of screentest. Weights are not copied into the graph: they are declared as
external, and the runtime is given the arrays.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Value: TypeAlias = "int | float | str | bytes"
    Constant: TypeAlias = NDArray[np.float32] | NDArray[np.int64]

OPSET = 17
_IR_VERSION = 8
# Numbers of the fields, from the format's definition.
_FLOAT, _INT64 = 1, 7
_KINDS: dict[type[np.generic], int] = {np.float32: _FLOAT, np.int64: _INT64}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7
_EXTERNAL = 1


class Graph:
    """Nodes in the order they run. Each ``add`` names its result, for others to use."""

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self._nodes: list[bytes] = []
        self._arrays = [_declared(name, array.shape) for name, array in weights.items()]

    def add(self, operator: str, *inputs: str, **attributes: int | float | list[int]) -> str:
        """One node; its result's name."""
        result = f"{operator}_{len(self._nodes)}"
        fields: list[tuple[int, Value]] = [(1, name) for name in inputs]
        fields += [(2, result), (4, operator)]
        fields += [(5, _attribute(name, value)) for name, value in attributes.items()]
        self._nodes.append(_message(fields))
        return result

    def constant(self, value: Constant) -> str:
        """A value that stands in the graph; its name."""
        name = f"constant_{len(self._arrays)}"
        kind = _FLOAT if value.dtype == np.float32 else _INT64
        fields: list[tuple[int, Value]] = [(1, size) for size in value.shape]
        fields += [(2, kind), (8, name), (9, value.tobytes())]
        self._arrays.append(_message(fields))
        return name

    def model(self, inputs: Mapping[str, tuple[type[np.generic], int]], result: str) -> bytes:
        """The whole model; ``inputs`` gives the type and the number of axes of each."""
        fields: list[tuple[int, Value]] = [(1, node) for node in self._nodes]
        fields.append((2, "screentest"))
        fields += [(5, array) for array in self._arrays]
        fields += [(11, _typed(name, _KINDS[kind], axes)) for name, (kind, axes) in inputs.items()]
        fields.append((12, _typed(result, _FLOAT, 2)))
        operators = _message([(1, ""), (2, OPSET)])
        return _message([(1, _IR_VERSION), (7, _message(fields)), (8, operators)])


def _declared(name: str, shape: Iterable[int]) -> bytes:
    """An array that the runtime will be given."""
    fields: list[tuple[int, Value]] = [(1, size) for size in shape]
    location = _message([(1, "location"), (2, "given")])
    return _message([*fields, (2, _FLOAT), (8, name), (13, location), (14, _EXTERNAL)])


def _attribute(name: str, value: int | float | list[int]) -> bytes:
    if isinstance(value, list):
        return _message([(1, name), *((8, one) for one in value), (20, _ATTRIBUTE_INTS)])
    if isinstance(value, float):
        return _message([(1, name), (2, value), (20, _ATTRIBUTE_FLOAT)])
    return _message([(1, name), (3, value), (20, _ATTRIBUTE_INT)])


def _typed(name: str, kind: int, axes: int) -> bytes:
    """A name with its type; the length of an axis is left open."""
    shape = _message([(1, _message([(2, f"{name}_{axis}")])) for axis in range(axes)])
    return _message([(1, name), (2, _message([(1, _message([(1, kind), (2, shape)]))]))])


def _message(fields: Iterable[tuple[int, Value]]) -> bytes:
    """Fields as protobuf writes them: number and kind, then the value.

    >>> _message([(1, 150), (2, "hi")]).hex()
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
