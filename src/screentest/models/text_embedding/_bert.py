"""A BERT encoder as plain array mathematics: enough for small sentence models, without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]

_HEAD_SIZE = 32
_EPSILON = np.float32(1e-12)
_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


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


@dataclass(frozen=True, slots=True)
class _Layer:
    """Matrices lie as inputs × outputs, so that the products of short texts are quick."""

    attention: tuple[Floats, Floats]
    """Query, key and value side by side: one product instead of three."""
    attention_out: tuple[Floats, Floats]
    attention_norm: tuple[Floats, Floats]
    wide: tuple[Floats, Floats]
    narrow: tuple[Floats, Floats]
    norm: tuple[Floats, Floats]


class Bert:
    """Token ids in, one vector per token out."""

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        self._words = arrays["embeddings.word_embeddings.weight"]
        self._places = (
            arrays["embeddings.position_embeddings.weight"]
            + arrays["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _pair(arrays, "embeddings.LayerNorm")
        count = 1 + max(int(name.split(".")[2]) for name in arrays if "encoder.layer." in name)
        self._layers = [_layer(arrays, f"encoder.layer.{number}") for number in range(count)]

    def __call__(self, ids: NDArray[np.int64]) -> Floats:
        """Tokens × width, for the tokens of one text."""
        state = _normalise(self._words[ids] + self._places[: len(ids)], self._norm)
        for layer in self._layers:
            state = _normalise(state + _attend(state, layer), layer.attention_norm)
            inner = _gelu(_product(state, layer.wide))
            state = _normalise(state + _product(inner, layer.narrow), layer.norm)
        return state


def _layer(arrays: Mapping[str, Floats], prefix: str) -> _Layer:
    parts = [
        _linear(arrays, f"{prefix}.attention.self.{part}") for part in ("query", "key", "value")
    ]
    return _Layer(
        (
            np.concatenate([matrix for matrix, _ in parts], axis=1),
            np.concatenate([bias for _, bias in parts]),
        ),
        _linear(arrays, f"{prefix}.attention.output.dense"),
        _pair(arrays, f"{prefix}.attention.output.LayerNorm"),
        _linear(arrays, f"{prefix}.intermediate.dense"),
        _linear(arrays, f"{prefix}.output.dense"),
        _pair(arrays, f"{prefix}.output.LayerNorm"),
    )


def _linear(arrays: Mapping[str, Floats], name: str) -> tuple[Floats, Floats]:
    matrix, bias = _pair(arrays, name)
    return np.ascontiguousarray(matrix.T), bias


def _pair(arrays: Mapping[str, Floats], name: str) -> tuple[Floats, Floats]:
    return arrays[f"{name}.weight"], arrays[f"{name}.bias"]


def _product(state: Floats, weights: tuple[Floats, Floats]) -> Floats:
    matrix, bias = weights
    result: Floats = state @ matrix
    result += bias
    return result


def _attend(state: Floats, layer: _Layer) -> Floats:
    tokens, width = state.shape
    heads = width // _HEAD_SIZE
    # tokens × (3 · heads · size) → 3 × heads × tokens × size
    parts = _product(state, layer.attention).reshape(tokens, 3, heads, _HEAD_SIZE)
    query, key, value = parts.transpose(1, 2, 0, 3)
    scores: Floats = query @ key.transpose(0, 2, 1)
    scores *= np.float32(_HEAD_SIZE**-0.5)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed: Floats = (scores @ value).transpose(1, 0, 2).reshape(tokens, width)
    return _product(mixed, layer.attention_out)


def _normalise(state: Floats, weights: tuple[Floats, Floats]) -> Floats:
    scale, shift = weights
    centred: Floats = state - state.mean(axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    centred /= np.sqrt(variance + _EPSILON)
    centred *= scale
    centred += shift
    return centred


def _gelu(x: Floats) -> Floats:
    """x · Φ(x), with the normal distribution by a rational approximation.

    Its error is below 1.5e-7 (Abramowitz and Stegun 7.1.26), about that of float32 itself;
    numpy has no error function of its own.
    """
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    poly = np.full_like(t, _ERF[0])
    for factor in _ERF[1:]:
        poly *= t
        poly += np.float32(factor)
    # 1 - erf(z), which is twice the tail beyond |x|
    tails = poly * t * np.exp(-z * z)
    result: Floats = x * np.where(x >= 0, 1 - tails / 2, tails / 2)
    return result
