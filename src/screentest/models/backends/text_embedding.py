"""Backends of the role ``text_embedding``: shared words, sentence models, MiniLM."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest._util.optional import optional
from screentest.core import register
from screentest.models import weights
from screentest.models.networks.pretrained import NEUTRAL, TRANSFORMERS, ModelDevice, Origin
from screentest.models.networks.runtimes import ONNX, TOKENIZERS, onnx_session, versions
from screentest.models.pictures import readable
from screentest.models.roles import Vectors

Value: TypeAlias = "int | float | str | bytes"
Constant: TypeAlias = NDArray[np.float32] | NDArray[np.int64]


_WORD = re.compile(r"\w+")
_COMMON_WORDS = (
    "a an the and or but of in on at to by for from with as is are was were be been being it its "
    "this that these those there he she they them his her their while into onto over under then "
    "than so very not no"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_TRIPLE_SHARE = 0.3
"""How much all letter triples of a word weigh together, against the word itself."""
_PLACES = 4
_EMPTY = 0
"""The place of texts without a word, which are near each other and nothing else."""


@register(
    "text_embedding",
    "shared_words",
    summary="hashed words and letter triples: sees shared words, not meaning; needs no weights",
)
class SharedWords:
    """Texts as vectors without any weights: two texts are near where they share words.

    The classical stand-in beneath the sentence models. It knows spelling and not meaning: "dog" is
    near "dogs" and far from "puppy", and "a dog bites a man" equals "a man bites a dog". Words and
    the letter triples in them are hashed into ``width`` places, with a hash that is the same on
    every machine and in every run.
    """

    def __init__(self, *, width: int = 2048) -> None:
        if width < 16:
            raise ValueError(f"invalid width {width}: too few places to keep words apart")
        self._width = width

    @property
    def identity(self) -> Mapping[str, str]:
        return {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self._width), np.float64)
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in _features(text):
                for place, sign in _places(feature):
                    row[1 + place % (self._width - 1)] += sign * weight
            length = float(np.linalg.norm(row))
            if length > 0:
                row /= length
            else:
                row[_EMPTY] = 1.0
        return rows.astype(np.float32)


@lru_cache(maxsize=65_536)
def _places(feature: str) -> tuple[tuple[int, float], ...]:
    """Several places for each feature: that two share all of them is next to impossible."""
    hashed = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=4 * _PLACES).digest()
    numbers = struct.unpack(f"<{_PLACES}I", hashed)
    # One bit is the sign, so that collisions cancel on average.
    return tuple((number >> 1, 1.0 if number & 1 else -1.0) for number in numbers)


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    counts = Counter(word for word in words if word not in _COMMON)
    for word, count in sorted(counts.items()):
        weight = 1 + log(count)
        yield word, weight
        marked = f"<{word}>"
        triples = [marked[at : at + 3] for at in range(len(marked) - 2)]
        for triple in triples:
            yield triple, weight * (_TRIPLE_SHARE / len(triples)) ** 0.5


@register(
    "text_embedding",
    "hf",
    summary="any sentence-transformers model, from a folder or hub id",
    neutral=NEUTRAL,
    packages=(*TRANSFORMERS, "sentence_transformers"),
)
class SentenceModel:
    """Texts by any sentence-transformers model; ``model`` is a folder or hub id.

    A text that is longer than the model reads is read in pieces, each weighing as its length.
    """

    def __init__(
        self,
        *,
        model: str,
        revision: str = "",
        trust_remote_code: bool = False,
        device: str = "auto",
        batch: int = 32,
    ) -> None:
        origin, place = Origin(model, revision, trust_remote_code), ModelDevice.choose(device)
        library = optional("sentence_transformers")
        self._batch = batch
        self._model: Any = origin.load(
            library.SentenceTransformer,
            weights=False,
            device=place.device,
            model_kwargs={"use_safetensors": True, "dtype": place.dtype},
        )
        self._longest: int | None = self._model.max_seq_length
        self.identity: Mapping[str, str] = origin.identity(self._model[0].auto_model, place) | {
            "sentence-transformers": str(library.__version__),
            "long_texts": IN_PIECES,
        }

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 0), np.float32)
        pieces = [list(self._pieces(readable(text))) for text in texts]
        encoded = self._model.encode(
            [piece for listed in pieces for piece, _ in listed],
            batch_size=self._batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        rows = iter(np.asarray(encoded, np.float32))
        return np.stack([_joined([(next(rows), size) for _, size in one]) for one in pieces])

    def _pieces(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield a text, or halves of it that the model reads whole, with their tokens."""
        size = len(self._model.tokenizer(text)["input_ids"])
        if self._longest is None or size <= self._longest or len(text) < 2:
            yield text, size
            return
        middle = len(text) // 2
        middle = text.rfind(" ", 1, middle) if " " in text[1:middle] else middle
        for half in (text[:middle], text[middle:]):
            yield from self._pieces(half)


def _joined(rows: Sequence[tuple[Vectors, int]]) -> Vectors:
    """Return the row of a text from those of its pieces; of one piece, that one."""
    if len(rows) == 1:
        return rows[0][0]
    mean = np.average([row for row, _ in rows], axis=0, weights=[size for _, size in rows])
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


IN_PIECES = "in_pieces"
"""What the identity of a backend says that cuts no text."""
LONGEST = 256
"""Tokens that all-MiniLM-L6-v2 reads at once, its two marks included."""
_MARKS = 2


def load_tokenizer(path: Path) -> Any:
    """Return a tokenizer from its JSON file, without padding."""
    tokenizer = optional(TOKENIZERS).Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


def token_ids(tokenizer: Any, text: str) -> NDArray[np.int64]:
    """Return the token ids of one text, cut where it is too long."""
    return windows(tokenizer, text)[0]


def windows(tokenizer: Any, text: str) -> list[NDArray[np.int64]]:
    """Return the token ids of a whole text, in as many pieces as it needs."""
    encoding = tokenizer.encode(readable(text))
    return [np.asarray(piece.ids, np.int64) for piece in (encoding, *encoding.overflowing)]


WEIGHTS = "minilm"
WIDTH = 384
_REMEMBERED = 4096
_SIDE_BY_SIDE = 32


class _OneByOne(ABC):
    """A form of all-MiniLM-L6-v2 that reads each text alone and remembers its vector."""

    def __init__(self, name: str) -> None:
        self._tokenizer = load_tokenizer(weights.path(name, "tokenizer.json"))
        self._remembered = lru_cache(_REMEMBERED)(self._embed)
        self.identity = {"weights": weights.digest(name), "long_texts": IN_PIECES, **versions(ONNX)}

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [self._remembered(text) for text in texts]
        return np.array(rows, np.float32).reshape(-1, WIDTH)

    @abstractmethod
    def _embed(self, text: str) -> Vectors: ...


@register(
    "text_embedding",
    "minilm",
    summary="all-MiniLM-L6-v2 in full precision, equal to sentence-transformers",
    packages=(ONNX, TOKENIZERS),
    weights=(WEIGHTS,),
    neutral=("threads",),
)
class MiniLM(_OneByOne):
    """Texts as vectors by all-MiniLM-L6-v2, in full precision and without torch.

    The same weights as sentence-transformers reads, and the same numbers to about 1e-6: mean of the
    token vectors, scaled to length one. Each text is computed alone, so that its vector does not
    depend on what else is asked for. A text of more than 256 tokens, where sentence-transformers
    cuts it, is read in pieces, each weighing as its length.
    """

    def __init__(self, threads: int = 0) -> None:
        super().__init__(WEIGHTS)
        self._bert = Bert(weights.path(WEIGHTS), threads)

    def embed_list(self, texts: Sequence[str]) -> Vectors:
        """One row per text for a long list of short texts that is always the same.

        Much quicker than ``embed``, and equal to it but for rounding (1e-6), which depends on
        the list as a whole.
        """
        ids = [token_ids(self._tokenizer, text) for text in texts]
        rows = np.empty((len(texts), WIDTH), np.float32)
        for start in range(0, len(ids), _SIDE_BY_SIDE):
            encoded = self._bert.side_by_side(ids[start : start + _SIDE_BY_SIDE])
            for number, states in enumerate(encoded, start):
                rows[number] = mean_direction(states)
        return rows

    def embed_cut(self, text: str) -> Vectors:
        """One row for the beginning of a text, as far as it is read at once."""
        return mean_direction(self._bert(token_ids(self._tokenizer, text)))

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in a text, with the mark at each end."""
        return _MARKS + sum(len(window) - _MARKS for window in windows(self._tokenizer, text))

    def _embed(self, text: str) -> Vectors:
        pieces = [self._bert(ids) for ids in windows(self._tokenizer, text)]
        return mean_direction(np.concatenate(pieces))


def mean_direction(vectors: Vectors) -> Vectors:
    """Return the mean of rows, scaled to length one.

    >>> mean_direction(np.array([[1, 2], [5, 6]], np.float32)).round(2).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    mean = vectors.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


INT8_WEIGHTS = "minilm-int8"


@register(
    "text_embedding",
    "minilm_int8",
    summary="all-MiniLM-L6-v2 in 8 bits: quick, less exact",
    packages=(ONNX, TOKENIZERS),
    weights=(INT8_WEIGHTS,),
    neutral=("threads",),
)
class MiniLMInt8(_OneByOne):
    """Texts as vectors by all-MiniLM-L6-v2 in 8 bits: a quarter of the size, several times faster.

    Its similarities differ from those of the full model by 0.01 on average and by up to 0.05, so
    that it goes by its own name.
    """

    def __init__(self, threads: int = 0) -> None:
        super().__init__(INT8_WEIGHTS)
        self._session = onnx_session(weights.path(INT8_WEIGHTS), wanted_threads=threads)

    def _embed(self, text: str) -> Vectors:
        return mean_direction(np.concatenate([*map(self._states, windows(self._tokenizer, text))]))

    def _states(self, ids: NDArray[np.int64]) -> Vectors:
        # Alone, not in a batch: the quantisation adapts to all that is in a batch.
        inputs = {
            "input_ids": ids[None],
            "attention_mask": np.ones_like(ids[None]),
            "token_type_ids": np.zeros_like(ids[None]),
        }
        states: Vectors = self._session.run(None, inputs)[0][0]
        return states


# A BERT encoder from its safetensors file, run by onnxruntime: no torch, no conversion.

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

    def __init__(self, arrays: Mapping[str, Vectors]) -> None:
        self._nodes: list[bytes] = []
        self._arrays = [_declared(name, array.shape) for name, array in arrays.items()]

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


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the fields of a message, as far as ONNX graphs and their nodes have them.

    >>> list(fields(message([(1, 150), (2, "hi")])))
    [(1, 150), (2, b'hi')]
    """
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, at = _read_varint(data, at)
        if key & 7 == 0:
            yield key >> 3, number
        else:
            yield key >> 3, data[at : at + number]
            at += number


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] > 0x7F:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


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

    def __call__(self, ids: NDArray[np.int64]) -> Vectors:
        """Tokens × width, for the tokens of one text."""
        return self.side_by_side([ids])[0]

    def side_by_side(self, texts: Sequence[NDArray[np.int64]]) -> list[Vectors]:
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
        states: Vectors = self._session.run(None, inputs)[0]
        return np.split(states, np.cumsum(lengths)[:-1])


def read_safetensors(path: Path) -> dict[str, Vectors]:
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


def bert_graph(arrays: Mapping[str, Vectors]) -> bytes:
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
    scale = (f"{name}.weight", f"{name}.bias")
    return graph.add("LayerNormalization", state, *scale, axis=-1, epsilon=_EPSILON)


def _gelu(graph: Graph, state: str) -> str:
    """x · Φ(x), with the normal distribution by its error function."""
    unit, half, root = (
        graph.constant(np.array(value, np.float32)) for value in (1.0, 0.5, 0.5**0.5)
    )
    erf = graph.add("Erf", graph.add("Mul", state, root))
    return graph.add("Mul", graph.add("Mul", state, half), graph.add("Add", erf, unit))
