"""Roles: what a model is used for, as protocols. A backend fills a role.

Images are height × width × 3 uint8 arrays in RGB, masks height × width; embeddings are
float32 rows of length one. A backend that cannot answer raises NoValue with its reason.

A role is declared once, with the backend that each profile takes for it. So is one of a plugin:

    @role("depth", builtin="gradient", joined=("depth",))
    class Depth(Backend, Protocol):
        def depth(self, images): ...

    @register("depth", "gradient", summary="…")
    def gradient(): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from screentest.core import Image
from screentest.core.errors import BadOption
from screentest.core.outcome import Outcome
from screentest.core.registry import Entry, register, registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from screentest.models.chat.messages import ChatAnswer, ChatRequest

Vectors: TypeAlias = "NDArray[np.float32]"
Mask: TypeAlias = "NDArray[np.float32]"
FlowField: TypeAlias = "NDArray[np.float32]"
Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""

ROLE = "role"
"""The kind under which roles are registered."""
CHAT = "chat"

P = TypeVar("P", bound=type)


def role(
    name: str,
    *,
    builtin: str = "",
    light: str = "",
    unless: str = "",
    paper: str = "",
    by_hand: tuple[str, str] | None = None,
    joined: Iterable[str] = (),
) -> Callable[[P], P]:
    """Declare a role by the protocol of its backends.

    ``builtin`` is a backend that needs no weights, ``light`` one with small open weights (else
    the same), ``paper`` the one that papers name; each is written as after ``--model ROLE=``.
    ``unless`` is what ``light`` takes where that one's weights are on a hub out of reach.
    ``by_hand`` says what papers take where that is the user's to give, and how it is given.
    ``joined`` names methods that take a sequence and give one thing for each: such calls of
    several callers are answered together.
    """

    def keep(protocol: P) -> P:
        light_or_less = light or builtin
        chosen = {
            "builtin": builtin,
            "light": light_or_less,
            "paper": paper or ("" if by_hand else light_or_less),
        }
        keys = frozenset(joined)
        register(ROLE, name, profiles=chosen, by_hand=by_hand, joined=keys, unless=unless)(protocol)
        if name != CHAT:  # a chat worker is a server: it has an address
            register(
                name,
                "external",
                summary="a worker command of yours, in its own environment, speaking JSON lines",
                # The command stays in the signature: its arguments may change the numbers.
                neutral=("timeout", "start_timeout", "restarts", "device"),
            )(_external(name))
        return protocol

    return keep


def _external(name: str) -> Callable[..., Any]:
    def external(
        *,
        model: str,
        timeout: float = 600.0,
        start_timeout: float = 600.0,
        restarts: int = 3,
        device: str = "auto",
    ) -> Any:
        """``model`` is the command; it is started without a shell, on first use."""
        # Late: this module is imported wherever a role is named.
        from screentest.models.external import External, ExternalWorker, WorkerTerms, split_command

        terms = WorkerTerms(split_command(model), timeout, start_timeout, restarts, device)
        return External(name, ExternalWorker.shared(terms))

    return external


def role_names() -> list[str]:
    """All roles, those of plugins included."""
    return registry.names(ROLE)


def role_entry(name: str) -> Entry:
    """Return the declaration of a role; BadOption where there is no such role."""
    if name not in role_names():
        raise BadOption(f"unknown role {name!r}", advice=f"Roles: {', '.join(role_names())}.")
    return registry.entry(ROLE, name)


def is_stand_in(role: str, backend: str) -> bool:
    """Tell whether a profile takes a backend in place of the one that papers name.

    >>> is_stand_in("image_text", "label_text"), is_stand_in("image_text", "hf")
    (True, False)
    """
    if role not in role_names():  # of a plugin that is not installed here
        return False
    info = role_entry(role).info
    profiles = {name: backend_of(text) for name, text in info["profiles"].items()}
    if backend not in (profiles["builtin"], profiles["light"], info["unless"]):
        return False
    return backend != profiles["paper"] and not registry.entry(role, backend).info.get("of_papers")


def backend_of(text: str) -> str:
    """Return the backend of a choice as it is written: ``hf:MODEL,batch=4`` takes ``hf``."""
    return text.partition(",")[0].partition(":")[0]


class Backend(Protocol):
    """The part that every backend has, whatever its role."""

    @property
    def identity(self) -> Mapping[str, str]:
        """The parts of a signature beyond its options: weights hash, revision, versions."""


@role(CHAT)
class Chat(Backend, Protocol):
    """Answers a request of text and images with text or an object of a schema."""

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        """One outcome per request, in their order; they may be asked at the same time."""


@role("text_embedding", builtin="shared_words", light="minilm", joined=("embed",))
class TextEmbedding(Backend, Protocol):
    """Texts as vectors whose dot product is their similarity."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""


@role(
    "image_text",
    builtin="colour_words",
    light="clip_b32",
    unless="label_text",
    paper="hf:openai/clip-vit-base-patch32",
    joined=("embed_images", "embed_texts"),
)
class ImageText(Backend, Protocol):
    """Images and texts as vectors in one space."""

    @property
    def max_tokens(self) -> int:
        """The longest text the model reads; longer ones are cut."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in a text."""

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        """One row per image."""

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text; ``truncate=False`` reads beyond ``max_tokens`` where it can."""


@role(
    "image_features",
    builtin="colour_gradient",
    light="mobilenet",
    paper="hf:google/siglip2-so400m-patch14-384",
    joined=("features",),
)
class ImageFeatures(Backend, Protocol):
    """Images as vectors that are near where the pictures look alike."""

    def features(self, images: Sequence[Image]) -> Vectors:
        """One row per image."""


@role("flow", builtin="dis", paper="raft:things", joined=("flow",))
class Flow(Backend, Protocol):
    """Optical flow between two pictures of one size."""

    def flow(self, pairs: Sequence[tuple[Image, Image]], *, gain: float = 1.0) -> list[FlowField]:
        """Per pair height × width × 2: where each pixel of the first went, in pixels (x, y).

        Pixels are multiplied by ``gain`` first, for protocols that show a network other
        brightness. A backend that looks at whole grey levels rounds.
        """


@role(
    "interpolation",
    builtin="flow_midpoint",
    by_hand=("AMT-S", "external:COMMAND"),
    joined=("midpoint",),
)
class Interpolation(Backend, Protocol):
    """The picture half-way between two."""

    def midpoint(self, pairs: Sequence[tuple[Image, Image]]) -> list[Image]:
        """One picture per pair."""


@role(
    "aesthetic",
    builtin="image_statistics",
    by_hand=("Aesthetic Predictor V2.5", "siglip,head=FILE"),
    joined=("score",),
)
class Aesthetic(Backend, Protocol):
    """The beauty of a picture."""

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and highest value it gives in practice."""

    def score(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """One number per image."""


@role("technical", builtin="scene_statistics", by_hand=("DOVER++", "external:COMMAND"))
class Technical(Backend, Protocol):
    """The technical quality of a short piece of video: 0 worst, 1 best.

    A backend that samples among all frames itself, as DOVER++ does, says so by an attribute
    ``native_rate`` that is true, and is handed every frame of a piece.
    """

    def score(self, frames: Sequence[Image]) -> float:
        """One number for the frames of one piece, in order."""


QUALITIES = (
    *("visual_quality", "temporal_consistency", "dynamic_degree"),
    *("text_alignment", "factual_consistency"),
)
"""Of a video, in the order of VideoScore's heads."""


@role("videoscore", paper="hf:TIGER-Lab/VideoScore")
class VideoScoring(Backend, Protocol):
    """VideoScore's five regression heads."""

    @property
    def max_frames(self) -> int:
        """The number of frames this version was trained on."""

    def score(self, frames: Sequence[Image], prompt: str) -> Mapping[str, float]:
        """One number for each of ``QUALITIES``, about 1 to 4."""


@role(
    "matting",
    builtin="grabcut",
    light="u2net",
    by_hand=("U²-Net as rembg has it", "u2net:u2net.onnx"),
    joined=("matte",),
)
class Matting(Backend, Protocol):
    """The foreground of a picture."""

    def matte(self, images: Sequence[Image]) -> list[Mask]:
        """Per image height × width in 0–1: 1 is foreground."""


@dataclass(frozen=True, slots=True)
class Detection:
    """Something found in a picture."""

    label: str
    score: float
    box: Box


@role("detection", builtin="saliency", light="efficientdet,text=minilm", paper="grounding_dino")
class Detector(Backend, Protocol):
    """Finds the things that phrases name."""

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        """Return detections, best first; the label is the phrase it answers."""


@role("labels", light="mobilenet_v1", paper="mobilenet_v1")
class Labels(Backend, Protocol):
    """Labels that fit a picture as a whole."""

    @property
    def names(self) -> Sequence[str]:
        """The names of its labels."""

    def probabilities(self, image: Image) -> NDArray[np.float32]:
        """One number for each name; they add up to one at most."""


@role("faces", light="sface", paper="sface", joined=("identities",))
class Faces(Backend, Protocol):
    """Tells faces of one person from those of another."""

    def identities(self, images: Sequence[Image]) -> list[Vectors]:
        """Return for each image a row of length one per face, that of the largest first."""


@role("segmentation", builtin="grabcut", light="sam2_tiny", paper="sam2")
class Segmentation(Backend, Protocol):
    """The exact shape of what is in a box."""

    def segment(self, image: Image, boxes: Sequence[Box]) -> list[Mask]:
        """One mask per box."""


@role("inpainting", builtin="telea", light="migan", paper="stable_diffusion")
class Inpainting(Backend, Protocol):
    """Fills a hole in a picture with what could be behind it."""

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        """Return the picture with the masked part made new; the rest is untouched."""


@role("image_edit", builtin="masked_hue", light="masked_hue,matting=u2net", paper="qwen")
class ImageEdit(Backend, Protocol):
    """Changes the colour of one thing in a picture."""

    def recolour(self, image: Image, mask: Mask | None, thing: str, colour: str) -> Image:
        """Return the picture with ``thing`` (where ``mask`` says, if given) in ``colour``."""
