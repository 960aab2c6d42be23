"""Backends of the role ``image_text``: colour words, CLIP and its kind, labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest._util.optional import optional
from screentest.core import Image, NoValue, Reason, register
from screentest.models import weights
from screentest.models.backends.detection import EfficientDet
from screentest.models.backends.image_features import OnnxTower, clip_cut, clip_tower
from screentest.models.backends.labels import COCO_STUFF, LABELS, ImageNetLabels
from screentest.models.backends.text_embedding import LONGEST, WIDTH, MiniLM
from screentest.models.backends.text_embedding import WEIGHTS as TEXT
from screentest.models.networks.pretrained import NEUTRAL, TRANSFORMERS, PictureNetwork, unit_rows
from screentest.models.networks.runtimes import (
    LITERT,
    ONNX,
    TOKENIZERS,
    batches,
    onnx_session,
    versions,
)
from screentest.models.pictures import (
    BASIC_COLOURS,
    COLOURS,
    OpenCvBackend,
    basic_colour,
    check_picture,
    name_pixels,
    readable,
)
from screentest.models.roles import Vectors

_IMPLIED = COLOURS["implied"].items()
_COLOUR_OF = {word: colour for colour, words in _IMPLIED for word in words.split()}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SIDE = 64
_WIDTH = len(BASIC_COLOURS) + 1
_SILENT = len(BASIC_COLOURS)
"""The direction of texts that say nothing of colour, in which no picture lies."""


@register(
    "image_text",
    "colour_words",
    summary="colours in the picture against colours in the text; needs no weights",
)
class ColourWords(OpenCvBackend):
    """Agreement of pictures and texts by colour alone: the stand-in that needs no weights.

    A picture becomes the shares of the eleven basic colours in it, a text the colours it names or
    implies ("grass" is green, "night" is black). A text without any such word has no direction in
    common with any picture: its similarity is 0, which metrics take for no value. Sees nothing but
    colour; under its own name, never as CLIPScore (see docs/evidence/backends.md for figures).
    """

    @property
    def max_tokens(self) -> int:
        """It reads texts of any length."""
        return 1_000_000

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text))

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text, always the whole of it."""
        rows = np.zeros((len(texts), _WIDTH), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for colour in _colours(text):
                row[BASIC_COLOURS.index(colour)] += 1
            if not row.any():
                row[_SILENT] = 1
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        import cv2

        usual = np.array([COLOURS["usual"][name] for name in BASIC_COLOURS])
        rows = np.zeros((len(images), _WIDTH), np.float32)
        for row, image in zip(rows, images, strict=True):
            small = cv2.resize(check_picture(image), (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
            names = name_pixels(np.asarray(small, np.uint8))
            shares = np.bincount(names.ravel(), minlength=len(BASIC_COLOURS)) / names.size
            # Roots, so that a small red thing counts. No count out of 4096 pixels is exactly
            # the usual 0.01 of purple, so that this is never all zero.
            unusual = np.sqrt(shares) - np.sqrt(usual)
            row[:_SILENT] = unusual / np.linalg.norm(unusual)
        return rows


def _colours(text: str) -> list[str]:
    """Return the basic colours that a text names or implies, as often as it does.

    >>> _colours("A red-haired woman walks through snow, a red scarf on her")
    ['red', 'white', 'red']
    """
    colours = []
    for word in _WORD.findall(text.casefold()):
        for part in [word] if word in _COLOUR_OF else word.split("-"):
            colour = _COLOUR_OF.get(part) or basic_colour(part)
            if colour is not None:
                colours.append(colour)
    return colours


IGNORED_MAXIMUM = 31_000
"""Tokens read at most when a model's maximum is ignored, as in SLVMEval's IGNMAX."""


@register(
    "image_text",
    "hf",
    summary="CLIP, SigLIP, SigLIP 2 or a model with code of its own, from a folder or hub id",
    neutral=NEUTRAL,
    packages=TRANSFORMERS,
)
class DualEncoder(PictureNetwork):
    """Images and texts by CLIP, SigLIP, SigLIP 2, and models with their own code.

    Of these, Jina CLIP v2 needs ``trust_remote_code=true``.
    """

    @property
    def max_tokens(self) -> int:
        return min(self._positions or IGNORED_MAXIMUM, int(self._tokenizer.model_max_length))

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in a text, special ones included."""
        return len(self._tokenizer(readable(text), truncation=False, verbose=False)["input_ids"])

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        features = self._model.get_image_features
        return unit_rows(self._stream.rows(images, lambda inputs: _pooled(features(**inputs))))

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text, of length one; ``truncate=False`` reads beyond the maximum."""
        limit = self.max_tokens if truncate else self._ignoring_maximum(texts)
        # SigLIP was trained on texts padded to its full length and errs on others.
        pad_fully = "siglip" in str(self._model.config.model_type)
        rows = []
        for piece in batches(texts, self._stream.batch):
            inputs = self._tokenizer(
                [readable(text) for text in piece],
                padding="max_length" if pad_fully else True,
                truncation=True,
                max_length=limit,
                return_tensors="pt",
            ).to(self._place.device)
            with self._torch.inference_mode():
                rows.append(_pooled(self._model.get_text_features(**inputs)))
        return unit_rows(rows)

    def _ignoring_maximum(self, texts: Sequence[str]) -> int:
        longest = max((self.count_tokens(text) for text in texts), default=0)
        if self._positions is not None and longest > self._positions:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"this model has {self._positions} learned positions and cannot read {longest}",
                advice="Truncate the text, or choose a model with relative positions.",
            )
        return min(longest, IGNORED_MAXIMUM)

    @property
    def _tokenizer(self) -> Any:
        return self._processor.tokenizer

    @cached_property
    def _positions(self) -> int | None:
        """Positions for which the text tower has a vector; None where any number goes."""
        for name, weight in self._model.named_parameters():
            if "text" in name and name.endswith("position_embedding.weight"):
                return int(weight.shape[0])
        return None


def _pooled(features: Any) -> Any:
    """Return the vectors, from a model that returns them bare or in an output object."""
    pooled = getattr(features, "pooler_output", None)
    return features if pooled is None else pooled


CLIP = "clip-b32"
_VISION, _TEXT, _TOKENIZER = "vision_model.onnx", "text_model.onnx", "tokenizer.json"


@register(
    "image_text",
    "onnx",
    summary="a CLIP without torch: a folder with its two towers in ONNX and its tokenizer",
    packages=(ONNX, TOKENIZERS),
    neutral=("model", "threads"),
)
class OnnxPair:
    """Images and texts by two ONNX towers, as hubs hold CLIP for programs without torch.

    ``model`` is a folder with ``onnx/vision_model.onnx``, ``onnx/text_model.onnx`` and
    ``tokenizer.json``. Pictures are prepared as CLIP's own transform does. ``longest`` is how many
    tokens the text tower reads.
    """

    def __init__(self, *, model: str, longest: int = 77, threads: int = 0) -> None:
        folder = Path(model).expanduser()
        towers = folder / "onnx" if (folder / "onnx").is_dir() else folder
        files = [towers / _VISION, towers / _TEXT, folder / _TOKENIZER]
        for file in files:
            if not file.is_file():
                raise NoValue(
                    Reason.MISSING_MODEL,
                    f"{model} has no {file.name}",
                    advice="Give the folder of a CLIP in ONNX, or take image_text=clip_b32.",
                )
        digest = "+".join(weights.sha256_of(file)[:12] for file in files)
        self._images = OnnxTower(files[0], "image_embeds", clip_cut, digest, threads)
        self._texts = onnx_session(files[1], wanted_threads=threads)
        self._tokenizer = optional(TOKENIZERS).Tokenizer.from_file(str(files[2]))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.max_tokens = longest
        self.identity = self._images.identity

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in a text, special ones included."""
        return len(self._tokenizer.encode(readable(text)).ids)

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        return self._images.features(images)

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text, each cut to what the text tower has positions for."""
        rows = [self._embed(text, truncate) for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), -1)

    def _embed(self, text: str, truncate: bool) -> Vectors:
        encoding = self._tokenizer.encode(readable(text))
        if not truncate and len(encoding.ids) > self.max_tokens:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"this model has {self.max_tokens} positions and cannot read {len(encoding.ids)}",
                advice="Truncate the text, or choose a model with relative positions.",
            )
        # Its last token marks the end, by which CLIP reads a text.
        kept = [*encoding.ids[: min(len(encoding.ids), self.max_tokens) - 1], encoding.ids[-1]]
        ids = np.array([kept], np.int64)
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        given = {one.name: known[one.name] for one in self._texts.get_inputs()}
        (vector,) = self._texts.run(["text_embeds"], given)[0]
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


@register(
    "image_text",
    "clip_b32",
    summary="CLIP ViT-B/32 without torch, from its hub",
    packages=(ONNX, TOKENIZERS),
    weights=(CLIP,),
    neutral=("threads",),
    of_papers=True,
)
def clip_b32(*, threads: int = 0) -> OnnxPair:
    """OpenAI's CLIP ViT-B/32 as Xenova converted it for ONNX."""
    return OnnxPair(model=str(weights.path(CLIP).parent), threads=threads)


THINGS, WORDS = "efficientdet-lite0", "clip-b16-words"
_LOGIT_SCALE = 100
"""By which CLIP was taught to multiply cosines."""


@register(
    "image_text",
    "label_text",
    summary="names of the labels that fit a picture, compared with the text; a stand-in for CLIP",
    packages=(LITERT, TOKENIZERS),
    weights=(TEXT, LABELS, THINGS),
    neutral=("threads",),
    heuristic=True,
)
class LabelText:
    """Agreement of pictures and texts by way of labels: a stand-in for CLIP, under its own name.

    A picture becomes the labels that fit it: ImageNet's by their probability, the things found in
    it by their score. Their names are texts, and the mean of the names' vectors, each weighed, is
    the picture's vector; a caption's is that of the caption. It knows about 1,080 nouns and neither
    attributes nor actions; on drawn and painted films it is hardly better than chance (see
    docs/evidence/backends.md for figures). Never to be printed as CLIPScore.

    ``things`` is how much a thing found with certainty weighs, against 1 for all of ImageNet's
    labels together; ``score`` the least that counts as found. ``tags`` is how much 171 words weigh
    by CLIP ViT-B/16, whose image tower takes a third of a second for a picture.
    """

    def __init__(
        self, *, things: float = 0.5, score: float = 0.3, tags: float = 0.0, threads: int = 0
    ) -> None:
        self._text = MiniLM(threads=threads)
        self._labels = ImageNetLabels(threads=threads)
        self._detector = EfficientDet(score=score, threads=threads)
        self._things = things
        vectors = self._text.embed_list(self._labels.labels)
        # What all names of labels have in common says nothing of a picture.
        self._middle = vectors[1:].mean(axis=0)
        self._label_vectors = (vectors - self._middle)[1:]
        names = self._detector.classes
        self._thing_vectors = dict(
            zip(names, self._text.embed_list(names) - self._middle, strict=True)
        )
        models = {"text": TEXT, "labels": LABELS, "detector": THINGS}
        self.identity = {part: weights.digest(name) for part, name in models.items()}
        self.identity |= versions(LITERT)
        self._tags = tags
        if tags:
            words = np.load(weights.path(WORDS), allow_pickle=False).astype(np.float32)
            self._words = words / np.linalg.norm(words, axis=1, keepdims=True)
            self._word_vectors = self._text.embed_list(COCO_STUFF) - self._middle
            self._tower = clip_tower(clip_cut, threads)
            self.identity |= {"tags": weights.digest(WORDS), **self._tower.identity}

    @property
    def max_tokens(self) -> int:
        return LONGEST

    def count_tokens(self, text: str) -> int:
        return self._text.count_tokens(text)

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text; with ``truncate=False`` all of it is read, in pieces."""
        if not truncate:
            return self._text.embed(texts)
        cut = [self._text.embed_cut(text) for text in texts]
        return np.array(cut, np.float32).reshape(-1, WIDTH)

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        rows = np.empty((len(images), WIDTH), np.float32)
        for row, image in zip(rows, images, strict=True):
            probabilities = self._labels.probabilities(image)
            mixed = (probabilities / probabilities.sum()) @ self._label_vectors
            for name, score in self._found(image).items():
                mixed = mixed + np.float32(self._things * score) * self._thing_vectors[name]
            if self._tags:
                mixed = mixed + np.float32(self._tags) * (self.tags(image) @ self._word_vectors)
            row[:] = mixed / np.linalg.norm(mixed)
        return rows

    def tags(self, image: Image) -> NDArray[np.float32]:
        """Return the share of each of ``COCO_STUFF``, by CLIP's softmax."""
        cosines = self._words @ self._tower.features([image])[0]
        shares = np.exp(_LOGIT_SCALE * (cosines - cosines.max()))
        return np.asarray(shares / shares.sum(), np.float32)

    def _found(self, image: Image) -> dict[str, float]:
        """Each kind of thing once, by its best score: ten people are no more than one."""
        best: dict[str, float] = {}
        for detection in self._detector.everything(image):
            best.setdefault(detection.label, detection.score)
        return best
