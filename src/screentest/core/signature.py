"""Signature: everything a number depends on, as one string. Specs and value names as text.

Signatures are sacrebleu's idea. Runs store the whole; people see a short form that differs
wherever the whole does.

>>> signature = Signature.of("flicker", version=1, frames="all", decoder="av18")
>>> print(signature)
flicker|v:1|decoder:av18|frames:all
>>> short_signature(str(signature))
'flicker|v1|#19b459'

A spec is ``metric:option=value,…``. A value is named ``metric.output:option=value,…``, or like the
spec where the output has the metric's own name. Everything that names a value (scores,
certificates, comparisons, reports, exports) uses ``value_name`` and ``split_value_name``. A judge
may have its chat model in its name, ``judge@model:option=value,…``.

>>> value_name("contrast:rate=1", "exposure"), value_name("flicker:rate=2", "flicker")
('contrast.exposure:rate=1', 'flicker:rate=2')
>>> split_value_name("contrast.exposure:rate=1"), split_value_name("flicker:rate=2")
(('contrast:rate=1', 'exposure'), ('flicker:rate=2', 'flicker'))
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

from screentest.core.errors import BadOption

_ESCAPES = str.maketrans({"%": "%25", "|": "%7C", ":": "%3A", "\n": "%0A", "\r": "%0D"})


@dataclass(frozen=True, slots=True)
class Signature:
    """A name and sorted parts. Equal signatures and equal inputs give equal numbers."""

    name: str
    parts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, *, version: int | str, **parts: object) -> Signature:
        """Return a signature from keywords; parts that are None are left out."""
        given = tuple(
            sorted((key, str(value)) for key, value in parts.items() if value is not None)
        )
        return cls(name, (("v", str(version)), *given))

    def with_parts(self, parts: Mapping[str, object]) -> Signature:
        """Return this signature with more parts, or other values for those it has."""
        merged = dict(self.parts) | {k: str(v) for k, v in parts.items() if v is not None}
        version = merged.pop("v", None)
        head = (("v", version),) if version is not None else ()
        return Signature(self.name, (*head, *sorted(merged.items())))

    def __str__(self) -> str:
        fields = [f"{_quote(key)}:{_quote(value)}" for key, value in self.parts]
        return "|".join([_quote(self.name), *fields])

    @property
    def digest(self) -> str:
        """Sixteen hex digits, for keys and file names."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:16]


@cache
def short_signature(text: str) -> str:
    """Name, version and six digits of the digest of a signature; empty where it is empty."""
    if not text:
        return ""
    parts = read_signature(text)
    version = [f"v{parts['v']}"] if "v" in parts else []
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return "|".join([_quote(parts[""]), *version, f"#{digest}"])


@cache
def read_signature(text: str) -> Mapping[str, str]:
    """Return the parts of a signature by key; the name has an empty one.

    >>> dict(read_signature("clipscore|v:1|model.image_text:label_text%7Cv%3A1"))
    {'': 'clipscore', 'v': '1', 'model.image_text': 'label_text|v:1'}
    """
    name, *parts = text.split("|")
    fields = (part.partition(":") for part in parts)
    return {"": unquote(name), **{unquote(key): unquote(value) for key, _, value in fields}}


def backends_in(signature: str) -> dict[str, str]:
    """Return the backend that answered for each model role, in a signature.

    >>> backends_in("clipscore|v:1|model.image_text:label_text%7Cv%3A1")
    {'image_text': 'label_text'}
    """
    return {
        key.removeprefix("model."): value.partition("|")[0]
        for key, value in read_signature(signature).items()
        if key.startswith("model.")
    }


def _quote(text: str) -> str:
    return text.translate(_ESCAPES)


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``name:option=value,…``; values are JSON where they read as JSON, else text.

    >>> parse("content:threshold=30,weights=[1,1,0]")
    ('content', {'threshold': 30, 'weights': [1, 1, 0]})
    """
    name, _, rest = text.partition(":")
    return name.strip(), read_options(split_options(rest), text)


def options_of(signature: str) -> dict[str, Any]:
    """Return the options in the signature of a spec, as ``parse`` reads them.

    >>> options_of("background_consistency|v:1|every:0.5")
    {'every': 0.5}
    """
    parts = read_signature(signature).items()
    return {key: _read(value) for key, value in parts if key not in ("", "v")}


_WITH_MODEL = re.compile(r"(\w+)@(.+?)(:\w+=.*)?", re.DOTALL)


def split_model(text: str) -> tuple[str, str]:
    """Return a judge's spec, and the chat model in its name; empty where there is none.

    >>> split_model("vlm_video@qwen3:8b:frames=16"), split_model("human:votes=a@b.csv")
    (('vlm_video:frames=16', 'qwen3:8b'), ('human:votes=a@b.csv', ''))
    """
    named = _WITH_MODEL.fullmatch(text)
    return (f"{named[1]}{named[3] or ''}", named[2]) if named else (text, "")


def value_name(spec: str, output: str) -> str:
    """Return what an output of the metric of this spec is called."""
    metric, colon, options = spec.partition(":")
    return spec if output == metric else f"{metric}.{output}{colon}{options}"


def split_value_name(name: str) -> tuple[str, str]:
    """Return the spec of the metric and the output that a value is named after."""
    head, colon, options = name.partition(":")
    metric, _, output = head.partition(".")
    return f"{metric}{colon}{options}", output or metric


def read_options(parts: Iterable[str], text: str) -> dict[str, Any]:
    """Return the options in ``parts``, each ``option=value``; ``text`` is what an error quotes."""
    options: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise BadOption(f"{part!r} in {text!r} is not option=value")
        options[key.strip()] = _read(value.strip())
    return options


def split_options(text: str) -> list[str]:
    """Split at commas outside brackets and quotes.

    >>> split_options('a=[1,2],b="x,y"')
    ['a=[1,2]', 'b="x,y"']
    """
    parts, depth, current = [], 0, ""
    quoted = escaped = False
    for letter in text:
        if letter == '"' and not escaped:
            quoted = not quoted
        escaped = quoted and letter == "\\" and not escaped
        if not quoted:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not quoted:
            parts.append(current)
            current = ""
        else:
            current += letter
    return [part for part in [*parts, current] if part.strip()]


def write_options(options: Mapping[str, Any]) -> str:
    """Options as ``option=value,…``.

    >>> write_options({"threshold": 30, "name": "a,b", "mode": "fast"})
    'threshold=30,name="a,b",mode=fast'
    """
    return ",".join(f"{key}={write_value(value)}" for key, value in options.items())


def write_value(value: Any) -> str:
    """One value. Text that would read back as something else (7, true, null) keeps its quotes."""
    if isinstance(value, str) and not any(letter in value for letter in ',="[]{}'):
        return value if _read(value) == value and value.strip() == value else json.dumps(value)
    return json.dumps(value, sort_keys=True, default=str)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def metric_names(texts: Iterable[str]) -> list[str]:
    """Specs as a command line has them: names with commas, or one spec with options.

    >>> metric_names(["sharpness,flicker", "noise:rate=2,size=256"])
    ['sharpness', 'flicker', 'noise:rate=2,size=256']
    """
    names: list[str] = []
    for text in texts:
        names += [text] if ":" in text else [part.strip() for part in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))
