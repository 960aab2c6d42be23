"""A pydantic class as the strict JSON schema that servers take.

Strict means: every field required, nothing beside them. A field with a default could fill in
what the model never said, so a class that has one is refused.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

# Words that only describe; they cost tokens and some servers refuse them.
_DROPPED = ("title", "default")


@cache
def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The strict JSON schema of a class; raises ValueError where a field has a default."""
    made: dict[str, Any] = _strict(schema.model_json_schema(), schema.__name__)
    return made


@cache
def instructions(schema: type[BaseModel]) -> str:
    """What tells a model in words to answer with such an object."""
    written = json.dumps(json_schema(schema), ensure_ascii=False, separators=(",", ":"))
    return (
        "Answer with exactly one JSON object and nothing else: no explanation before or after "
        f"it, no second object. It must fit this JSON schema:\n{written}"
    )


def repair(problem: str) -> str:
    """What is said to a model whose answer did not fit."""
    return (
        f"That answer cannot be read: {problem}. Look at the material again and answer anew "
        "with exactly one JSON object that fits the schema, and nothing else."
    )


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
        if key not in _DROPPED
    }
    if isinstance(properties, dict):
        missing = sorted(set(properties) - set(node.get("required", ())))
        if missing:
            raise ValueError(
                f"the answer schema {where} gives {', '.join(missing)} a default: a value that "
                "the model did not say. Make every field required (X | None without = None)."
            )
        kept["additionalProperties"] = False
    return kept


def _each(named: dict[str, Any], where: str) -> dict[str, Any]:
    # The keys here are names of fields and classes, not words of JSON schema.
    return {name: _strict(value, f"{where}.{name}") for name, value in named.items()}
