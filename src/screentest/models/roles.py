"""Roles: what a model is used for, as protocols. A backend fills a role.

Images are height × width × 3 uint8 arrays in RGB, masks height × width; embeddings are
float32 rows of length one. A backend that cannot answer raises NoValue with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from screentest.core.outcome import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from screentest.core.frames import Image
    from screentest.models.chat.messages import ChatAnswer, ChatRequest

    Vectors: TypeAlias = NDArray[np.float32]
    Mask: TypeAlias = NDArray[np.float32]
    FlowField: TypeAlias = NDArray[np.float32]


class Role(StrEnum):
    """Every role a metric, judge or degradation can ask for."""

    CHAT = "chat"
    TEXT_EMBEDDING = "text_embedding"
    IMAGE_TEXT = "image_text"
    IMAGE_FEATURES = "image_features"
    FLOW = "flow"
    INTERPOLATION = "interpolation"
    AESTHETIC = "aesthetic"
    TECHNICAL = "technical"
    VIDEOSCORE = "videoscore"
    MATTING = "matting"
    DETECTION = "detection"
    SEGMENTATION = "segmentation"
    INPAINTING = "inpainting"
    IMAGE_EDIT = "image_edit"


class Backend(Protocol):
    """What every backend says of itself, whatever its role."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What its numbers depend on beyond its options: weights hash, revision, versions."""


class Chat(Backend, Protocol):
    """Answers a request of text and images with text or an object of a schema."""

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        """One outcome per request, in their order; they may be asked at the same time."""


class TextEmbedding(Backend, Protocol):
    """Texts as vectors whose dot product is their similarity."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""


class ImageText(Backend, Protocol):
    """Images and texts as vectors in one space."""

    @property
    def max_tokens(self) -> int:
        """The longest text the model reads; longer ones are cut."""

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has."""

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        """One row per image."""

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text; ``truncate=False`` reads beyond ``max_tokens`` where it can."""


class ImageFeatures(Backend, Protocol):
    """Images as vectors that are near where the pictures look alike."""

    def features(self, images: Sequence[Image]) -> Vectors:
        """One row per image."""


class Flow(Backend, Protocol):
    """Optical flow between two pictures of one size."""

    def flow(self, pairs: Sequence[tuple[Image, Image]], *, gain: float = 1.0) -> list[FlowField]:
        """Per pair height × width × 2: where each pixel of the first went, in pixels (x, y).

        Pixels are multiplied by ``gain`` first, for protocols that show a network other
        brightness. A backend that looks at whole grey levels rounds.
        """


class Interpolation(Backend, Protocol):
    """The picture half-way between two."""

    def midpoint(self, pairs: Sequence[tuple[Image, Image]]) -> list[Image]:
        """One picture per pair."""


class Aesthetic(Backend, Protocol):
    """How beautiful a picture is."""

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and highest value it gives in practice."""

    def score(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """One number per image."""


class Technical(Backend, Protocol):
    """How well a short piece of video was made, technically: 0 worst, 1 best."""

    def score(self, frames: Sequence[Image]) -> float:
        """One number for the frames of one piece, in order."""


class VideoScore(Backend, Protocol):
    """VideoScore's five regression heads."""

    @property
    def max_frames(self) -> int:
        """How many frames this version was trained on."""

    def score(self, frames: Sequence[Image], prompt: str) -> Mapping[str, float]:
        """By name: visual_quality, temporal_consistency, dynamic_degree, text_alignment,
        factual_consistency; each about 1 to 4.
        """


class Matting(Backend, Protocol):
    """What stands in front."""

    def matte(self, images: Sequence[Image]) -> list[Mask]:
        """Per image height × width in 0–1: 1 is foreground."""


@dataclass(frozen=True, slots=True)
class Detection:
    """Something found in a picture."""

    label: str
    score: float
    box: tuple[float, float, float, float]
    """Left, top, right, bottom, in pixels."""


class Detector(Backend, Protocol):
    """Finds the things that phrases name."""

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        """What was found, best first; the label is the phrase it answers."""


class Segmentation(Backend, Protocol):
    """The exact shape of what lies in a box."""

    def segment(
        self, image: Image, boxes: Sequence[tuple[float, float, float, float]]
    ) -> list[Mask]:
        """One mask per box."""


class Inpainting(Backend, Protocol):
    """Fills a hole in a picture with what could be behind it."""

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        """The picture with the masked part made new; the rest is untouched."""


class ImageEdit(Backend, Protocol):
    """Changes the colour of one thing in a picture."""

    def recolour(self, image: Image, mask: Mask | None, thing: str, colour: str) -> Image:
        """The picture with ``thing`` (where ``mask`` says, if given) in ``colour``."""
