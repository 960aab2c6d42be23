"""Backends of the role ``text_embedding``: shared words, sentence models, MiniLM."""

from __future__ import annotations

import hashlib
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest._util.optional import optional
from screentest.core import register
from screentest.models import weights
from screentest.models.backends.bert import Bert
from screentest.models.networks.pretrained import NEUTRAL, TRANSFORMERS, ModelDevice, Origin
from screentest.models.networks.runtimes import ONNX, TOKENIZERS, onnx_session, versions
from screentest.models.pictures import readable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.models.roles import Vectors


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
    version=1,
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
        """Nothing beyond its options."""
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
    version=1,
    summary="any sentence-transformers model, from a folder or hub id",
    neutral=NEUTRAL,
    packages=(*TRANSFORMERS, "sentence_transformers"),
)
class SentenceModel:
    """Texts by any sentence-transformers model; ``model`` is a folder or hub id."""

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
        self.identity: Mapping[str, str] = origin.identity(self._model[0].auto_model, place) | {
            "sentence-transformers": str(library.__version__)
        }

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length one."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        rows = self._model.encode(
            [readable(text) for text in texts],
            batch_size=self._batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(rows, np.float32).reshape(len(texts), -1)


LONGEST = 256
"""Tokens that all-MiniLM-L6-v2 reads, its two marks included; the rest of a text is cut."""
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


def count_tokens(tokenizer: Any, text: str) -> int:
    """Return the number of tokens in a text, with the mark at each end."""
    return _MARKS + sum(len(window) - _MARKS for window in windows(tokenizer, text))


WEIGHTS = "minilm"
WIDTH = 384
_REMEMBERED = 4096
_SIDE_BY_SIDE = 32


@register(
    "text_embedding",
    "minilm",
    version=1,
    summary="all-MiniLM-L6-v2 in full precision, equal to sentence-transformers",
    packages=(ONNX, TOKENIZERS),
    weights=(WEIGHTS,),
    neutral=("threads",),
)
class MiniLM:
    """Texts as vectors by all-MiniLM-L6-v2, in full precision and without torch.

    The same weights as sentence-transformers reads, and the same numbers to about 1e-6: mean of the
    token vectors, scaled to length one. Each text is computed alone, so that its vector does not
    depend on what else is asked for. It reads 256 tokens of a text.
    """

    def __init__(self, threads: int = 0) -> None:
        self._bert = Bert(weights.path(WEIGHTS), threads)
        self._tokenizer = load_tokenizer(weights.path(WEIGHTS, "tokenizer.json"))
        self._remembered = lru_cache(_REMEMBERED)(self._embed)

    @property
    def identity(self) -> Mapping[str, str]:
        return {"weights": weights.digest(WEIGHTS), **versions(ONNX)}

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), WIDTH), np.float32)
        for number, text in enumerate(texts):
            rows[number] = self._remembered(text)
        return rows

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

    def embed_whole(self, text: str) -> Vectors:
        """One row for a text of any length: read in pieces, each weighing as its length."""
        pieces = [self._bert(ids) for ids in windows(self._tokenizer, text)]
        return mean_direction(np.concatenate(pieces))

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in a text; ``embed`` reads 256."""
        return count_tokens(self._tokenizer, text)

    def _embed(self, text: str) -> Vectors:
        return mean_direction(self._bert(token_ids(self._tokenizer, text)))


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
    version=1,
    summary="all-MiniLM-L6-v2 in 8 bits: quick, less exact",
    packages=(ONNX, TOKENIZERS),
    weights=(INT8_WEIGHTS,),
    neutral=("threads",),
)
class MiniLMInt8:
    """Texts as vectors by all-MiniLM-L6-v2 in 8 bits: a quarter of the size, several times faster.

    Its similarities differ from those of the full model by 0.01 on average and by up to 0.05, so
    that it goes by its own name.
    """

    def __init__(self, threads: int = 0) -> None:
        self._session = onnx_session(weights.path(INT8_WEIGHTS), wanted_threads=threads)
        self._tokenizer = load_tokenizer(weights.path(INT8_WEIGHTS, "tokenizer.json"))
        self._remembered = lru_cache(_REMEMBERED)(self._embed)

    @property
    def identity(self) -> Mapping[str, str]:
        return {"weights": weights.digest(INT8_WEIGHTS), **versions(ONNX)}

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), WIDTH), np.float32)
        for number, text in enumerate(texts):
            rows[number] = self._remembered(text)
        return rows

    def _embed(self, text: str) -> Vectors:
        # Alone, not in a batch: the quantisation adapts to all that is in a batch.
        ids = token_ids(self._tokenizer, text)[None]
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        return mean_direction(self._session.run(None, inputs)[0][0])
