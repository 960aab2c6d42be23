"""The encoder's graph against the formulas, on small random weights: needs no download."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from screentest.models.backends.text_embedding import (
    Bert,
    bert_graph,
    message,
    read_safetensors,
)

WIDTH, INNER, WORDS, PLACES, LAYERS = 64, 96, 50, 40, 2


def random_weights() -> dict[str, np.ndarray]:
    """Weights of a small BERT, under the names that transformers gives them."""
    random = np.random.default_rng(3)
    arrays: dict[str, np.ndarray] = {}

    def pair(name: str, *shape: int) -> None:
        arrays[f"{name}.weight"] = random.normal(0, 0.3, shape).astype(np.float32)
        arrays[f"{name}.bias"] = random.normal(0, 0.3, shape[0]).astype(np.float32)

    for name, count in (("word", WORDS), ("position", PLACES), ("token_type", 2)):
        arrays[f"embeddings.{name}_embeddings.weight"] = random.normal(0, 1, (count, WIDTH)).astype(
            np.float32
        )
    pair("embeddings.LayerNorm", WIDTH)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            pair(f"{layer}.attention.{part}", WIDTH, WIDTH)
        pair(f"{layer}.attention.output.LayerNorm", WIDTH)
        pair(f"{layer}.intermediate.dense", INNER, WIDTH)
        pair(f"{layer}.output.dense", WIDTH, INNER)
        pair(f"{layer}.output.LayerNorm", WIDTH)
    pair("pooler.dense", WIDTH, WIDTH)  # there, and not used
    return arrays


def write_safetensors(path: Path, arrays: dict[str, np.ndarray]) -> Path:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at, body = 0, b""
    for name, array in arrays.items():
        data = array.tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [at, at + len(data)],
        }
        at, body = at + len(data), body + data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path


def by_the_formulas(arrays: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """BERT as the paper has it, in double precision and with nothing clever."""
    weight = {name: array.astype(np.float64) for name, array in arrays.items()}

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weight[f"{name}.weight"].T + weight[f"{name}.bias"]

    def normal(x: np.ndarray, name: str) -> np.ndarray:
        spread = np.sqrt(x.var(axis=1, keepdims=True) + 1e-12)
        scaled = (x - x.mean(axis=1, keepdims=True)) / spread
        return scaled * weight[f"{name}.weight"] + weight[f"{name}.bias"]

    gelu = np.vectorize(lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))))
    embeddings = "embeddings.{}_embeddings.weight"
    x = weight[embeddings.format("word")][ids] + weight[embeddings.format("token_type")][0]
    x = normal(x + weight[embeddings.format("position")][: len(ids)], "embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            linear(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value")
        )
        mixed = np.zeros_like(x)
        for head in range(WIDTH // 32):
            own = slice(32 * head, 32 * head + 32)
            scores = np.exp(query[:, own] @ key[:, own].T / math.sqrt(32))
            mixed[:, own] = scores / scores.sum(axis=1, keepdims=True) @ value[:, own]
        attended = linear(mixed, f"{layer}.attention.output.dense")
        x = normal(x + attended, f"{layer}.attention.output.LayerNorm")
        inner = gelu(linear(x, f"{layer}.intermediate.dense"))
        x = normal(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x


@pytest.mark.parametrize("ids", [[7], [1, 2, 3, 4, 5], list(range(40))])
def test_the_graph_computes_the_formulas(tmp_path: Path, ids: list[int]) -> None:
    pytest.importorskip("onnxruntime")
    arrays = random_weights()
    bert = Bert(write_safetensors(tmp_path / "model.safetensors", arrays))

    found = bert(np.array(ids))

    assert found.shape == (len(ids), WIDTH)
    assert found == pytest.approx(by_the_formulas(arrays, ids), abs=2e-5)


def test_texts_side_by_side_do_not_see_each_other(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    bert = Bert(write_safetensors(tmp_path / "model.safetensors", random_weights()))
    texts = [np.array(ids) for ids in ([7], [1, 2, 3, 4, 5], [9, 9], list(range(40)))]

    for found, ids in zip(bert.side_by_side(texts), texts, strict=True):
        assert found == pytest.approx(bert(ids), abs=1e-5)


def test_arrays_are_read_as_they_were_written(tmp_path: Path) -> None:
    arrays = random_weights()
    again = read_safetensors(write_safetensors(tmp_path / "x", arrays))

    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        assert np.array_equal(again[name], array)


def test_the_graph_holds_no_weights() -> None:
    assert len(bert_graph(random_weights())) < 20_000


def test_protobuf_as_its_documentation_writes_it() -> None:
    # From the encoding guide: field 1 = 150 is 08 96 01; field 2 = "testing" is 12 07 …
    assert message([(1, 150)]).hex() == "089601"
    assert message([(2, "testing")]).hex() == "120774657374696e67"
    # int32 -2 takes ten bytes.
    assert message([(1, -2)]).hex() == "08feffffffffffffffff01"
