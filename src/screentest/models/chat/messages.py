"""What a chat model is asked, with the schema and the pictures, and what it answered.

>>> request = ChatRequest((Text("Is the sky blue? Answer yes or no."),), use="example")
>>> request.key == ChatRequest(request.parts, use="other").key
True
>>> request.key == ChatRequest(request.parts, repeat=1).key
False
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest.core import Image
from screentest.core.frames import NATIVE, Frame, Size

if TYPE_CHECKING:
    from pydantic import BaseModel


# Words that only describe; they cost tokens and some servers refuse them.
_DROPPED = ("title", "default")
_TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_BOUNDS: dict[str, str] = _TOLD["bounds"]
_RANGES = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " entries"),
)


SEEN, DECLINED = "pictures_seen", "declined"
"""Fields of every answer: whether its pictures, if any, could be seen, and why it is none."""


@cache
def json_schema(schema: type[BaseModel], *, pictures: bool = False) -> dict[str, Any]:
    """Return the strict JSON schema of a class; raises ValueError where a field has a default.

    Strict means: every field required, nothing beside them, bounds in words only. A field with a
    default could fill in what the model never said, so a class that has one is refused. The
    answer first says whether it is one, and with ``pictures`` whether they could be seen: a model
    that has to choose between two videos would otherwise choose, whatever reached it.
    """
    made: dict[str, Any] = _strict(schema.model_json_schema(), schema.__name__)
    # What a class says of itself is for those who read its code; a field's words are for the model.
    for node in (made, *made.get("$defs", {}).values()):
        node.pop("description", None)
    ours = _TOLD["fields"] if pictures else {DECLINED: _TOLD["fields"][DECLINED]}
    fields = {**ours, **made.get("properties", {})}
    return made | {"properties": fields, "required": list(fields)}


@cache
def instructions(schema: type[BaseModel], *, pictures: bool = False, enforced: bool = True) -> str:
    """Tell a model in words to answer with such an object, and show it where words are all
    that it gets."""
    made = json_schema(schema, pictures=pictures)
    written = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    asked: str = _TOLD["object"]["asked"] + written
    if enforced:
        return asked
    # A small model reads a schema as one entry of its list, and answers with that.
    asked += _TOLD["object"]["outlined"]
    return asked + _outline(made, made.get("$defs", {}))


def _outline(node: dict[str, Any], named: dict[str, Any]) -> str:
    """Outline an object of a strict schema, with … for what is to be filled in."""
    if "$ref" in node:
        return _outline(named[node["$ref"].rpartition("/")[2]], named)
    if "anyOf" in node:
        return _outline(node["anyOf"][0], named)
    if "properties" in node:
        fields = (f'"{name}": {_outline(part, named)}' for name, part in node["properties"].items())
        return "{" + ", ".join(fields) + "}"
    if node.get("type") == "array":
        parts = [_outline(part, named) for part in node.get("prefixItems", ())]
        return "[" + ", ".join(parts or [_outline(node.get("items", {}), named), "…"]) + "]"
    return {"string": '"…"', "null": "null"}.get(node.get("type", ""), "…")


def repair(problem: str, *, text: bool = False, pictures: bool = False) -> str:
    """Tell a model that its answer did not fit; ``text``: it was not to be an object."""
    form = "text" if text else "object"
    message: str = _TOLD["repair"][form].format(problem)
    # Where there are none, a model would add the field, and its answer would not fit again.
    return message + _TOLD["repair"][f"unseen_{form}"] if pictures else message


def _strict(node: Any, where: str) -> Any:
    if isinstance(node, list):
        return [_strict(entry, where) for entry in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}  # servers refuse words beside a reference
    properties = node.get("properties")
    kept = {
        key: _each(value, where) if key in ("properties", "$defs") else _strict(value, where)
        for key, value in node.items()
        if key not in _DROPPED and key not in _BOUNDS
    }
    if bounds := ", ".join(_in_words(node)):
        words = [str(kept["description"]).rstrip()] if kept.get("description") else []
        kept["description"] = " ".join([*words, f"{bounds[0].upper()}{bounds[1:]}."])
    if isinstance(properties, dict):
        missing = sorted(set(properties) - set(node.get("required", ())))
        if missing:
            raise ValueError(
                f"the answer schema {where} gives {', '.join(missing)} a default: a value that "
                "the model did not say. Make every field required (X | None without = None)."
            )
        kept["additionalProperties"] = False
    return kept


def _in_words(node: dict[str, Any]) -> Iterator[str]:
    """Yield the bounds of a value as one would say them."""
    left = {key: node[key] for key in _BOUNDS if key in node}
    for low, high, what in _RANGES:
        if low in left and high in left:
            least, most = left.pop(low), left.pop(high)
            both = f"exactly {most}" if least == most else f"{least} to {most}"
            yield f"{both}{what}"
    for key, bound in left.items():
        filled = key in ("minLength", "minItems") and bound == 1
        yield "not empty" if filled else _BOUNDS[key].format(bound)


def _each(named: dict[str, Any], where: str) -> dict[str, Any]:
    # The keys here are names of fields and classes, not words of JSON schema.
    return {name: _strict(value, f"{where}.{name}") for name, value in named.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Film:
    """A whole video, of which frames are shown; each showing of it is one of its own."""

    path: Path


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text between pictures, or all there is."""

    text: str
    film: Film | None = field(default=None, compare=False, repr=False)
    """Where it is the time of a frame: that frame's."""


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """An encoded picture. Equal bytes are the same picture, wherever they came from."""

    data: bytes
    media_type: str
    width: int
    height: int
    film: Film | None = field(default=None, compare=False)
    """The whole video that it is a frame of, where all of that is shown."""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.data).hexdigest())

    def __repr__(self) -> str:
        size = f"{self.width}×{self.height}, {len(self.data)} bytes"
        return f"Picture({self.media_type} {size}, sha256 {self.digest[:12]})"

    def pixels(self) -> Image:
        """Decode to RGB, so that a local model sees what a remote one is sent."""
        import cv2
        import numpy as np

        decoded = cv2.imdecode(np.frombuffer(self.data, np.uint8), cv2.IMREAD_COLOR_RGB)
        if decoded is None:
            raise ValueError(f"{self!r} is not a picture")
        return decoded.astype(np.uint8, copy=False)


Part: TypeAlias = Text | Picture


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings for drawing tokens. None leaves a setting to the server."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    max_tokens: int = 4096
    """Always set: an answer without a limit has a cost without a limit."""
    min_tokens: int | None = None
    seed: int | None = None
    """Repeat r is asked with seed + r, so that repeats differ and each can be had again."""
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is at least 1, not {self.max_tokens}")

    @property
    def given(self) -> dict[str, Any]:
        """The settings that are set, by name."""
        settings = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in settings if value not in (None, ())}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question: a system text, then text and pictures in order."""

    parts: tuple[Part, ...]
    system: str = ""
    schema: type[BaseModel] | None = None
    """The answer is to be an object of this class; every field must be required."""
    sampling: Sampling = field(default_factory=Sampling)
    use: str = ""
    """What it is for, such as ``slvm.judge``; stands in the ledger."""
    repeat: int = 0
    """Which of several equal questions it is. Answers are never shared between repeats."""
    max_repairs: int = 1
    """How often an answer that does not fit the schema, or fails the check, is sent back."""
    check: Callable[[Any], object] | None = field(default=None, compare=False)
    """Whether an answer of the right form makes sense: called with the object, or the text where
    there is no schema. Raises ValueError, which says what is wrong, or NoValue."""

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("a request needs at least one part")
        if self.max_repairs < 0 or self.repeat < 0:
            raise ValueError("invalid max_repairs or repeat: must be at least 0")
        if self.schema is not None:
            json_schema(self.schema)  # refuses a schema with defaults now, not after paying

    @property
    def pictures(self) -> list[Picture]:
        return [part for part in self.parts if isinstance(part, Picture)]

    @property
    def form(self) -> dict[str, Any] | None:
        """The JSON schema that the answer must fit; None where it is text."""
        if self.schema is None:
            return None
        return json_schema(self.schema, pictures=bool(self.pictures))

    def instructions(self, *, enforced: bool) -> str:
        """Tell the model to answer with such an object; empty where it answers with text."""
        if self.schema is None:
            return ""
        return instructions(self.schema, pictures=bool(self.pictures), enforced=enforced)

    @property
    def key(self) -> str:
        """sha256 of all that can change the answer, the model itself apart."""
        content = {
            "system": self.system,
            "parts": [
                ["text", part.text] if isinstance(part, Text) else ["picture", part.digest]
                for part in self.parts
            ],
            "schema": self.form,
            "sampling": self.sampling.given,
            "repeat": self.repeat,
        }
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate cannot be sent either; here it must only not break the key.
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
        )


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A reply as the model sent it: nothing parsed yet."""

    text: str
    finish: str = "stop"
    refusal: str = ""
    model: str = ""
    """The name under which the server says it answered."""
    fingerprint: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """An answer that holds by the stated rules, and what it took to get it."""

    text: str
    value: BaseModel | None = None
    """The object, where the request has a schema."""
    model: str = ""
    fingerprint: str = ""
    drifted: bool = False
    """The server answered under another name than was asked for."""
    usage: Usage = field(default_factory=Usage)
    """Of all attempts together."""
    cost: float | None = None
    """Of all attempts together, in the currency of the price list; None without a price."""
    attempts: int = 1
    repairs: int = 0


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


@dataclass(frozen=True, slots=True)
class Encoding:
    """The form of an encoded frame: its size, and its JPEG quality or lossless PNG."""

    size: Size = NATIVE
    quality: int | None = 85
    """JPEG quality from 1 to 100; None encodes PNG, without loss."""

    def __post_init__(self) -> None:
        if self.quality is not None and not 1 <= self.quality <= 100:
            raise ValueError(f"JPEG quality is 1 to 100, not {self.quality}")


def encode(image: Image, encoding: Encoding) -> Picture:
    """Return the picture of one RGB image."""
    import cv2

    height, width = image.shape[:2]
    wanted = encoding.size.of(width, height)
    if wanted != (width, height):
        image = cv2.resize(image, wanted, interpolation=cv2.INTER_AREA).astype("uint8", copy=False)
    swapped = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    if encoding.quality is None:
        kind, suffix, settings = "image/png", ".png", [cv2.IMWRITE_PNG_COMPRESSION, 3]
    else:
        kind, suffix = "image/jpeg", ".jpg"
        settings = [cv2.IMWRITE_JPEG_QUALITY, encoding.quality]
    done, data = cv2.imencode(suffix, swapped, settings)
    if not done:
        raise ValueError(f"cannot encode an image of {width}×{height} as {kind}")
    return Picture(data.tobytes(), kind, *wanted)


def timed(frames: Iterable[Frame], encoding: Encoding, *, film: Film | None = None) -> list[Part]:
    """Each frame as its time in words and its picture.

    With ``film``, they are frames of all of it, and a server that takes videos may be sent that.
    """
    parts: list[Part] = []
    for frame in frames:
        picture = encode(frame.image, encoding)
        parts.append(Text(f"[{float(frame.time):.2f} second]", film))
        parts.append(picture if film is None else replace(picture, film=film))
    return parts
