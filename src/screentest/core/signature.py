"""Signature: everything a number depends on, as one string (sacrebleu's idea).

Runs store the whole; people see a short form that differs wherever the whole does.

>>> signature = Signature.of("flicker", version=1, frames="all", decoder="av18")
>>> print(signature)
flicker|v:1|decoder:av18|frames:all
>>> short_signature(str(signature))
'flicker|v1|#19b459'
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_ESCAPES = str.maketrans({"%": "%25", "|": "%7C", ":": "%3A", "\n": "%0A", "\r": "%0D"})


@dataclass(frozen=True, slots=True)
class Signature:
    """A name and sorted parts. Equal signatures and equal inputs give equal numbers."""

    name: str
    parts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, *, version: int | str, **parts: object) -> Signature:
        """A signature from keywords; parts that are None are left out."""
        given = tuple(
            sorted((key, str(value)) for key, value in parts.items() if value is not None)
        )
        return cls(name, (("v", str(version)), *given))

    def with_parts(self, parts: Mapping[str, object]) -> Signature:
        """This signature with more parts, or other values for those it has."""
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
    name, *parts = text.split("|")
    version = [f"v{part.removeprefix('v:')}" for part in parts if part.startswith("v:")]
    return "|".join([name, *version, f"#{hashlib.sha256(text.encode()).hexdigest()[:6]}"])


def _quote(text: str) -> str:
    return text.translate(_ESCAPES)
