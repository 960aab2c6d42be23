"""Made-up answers that fit whatever schema was sent: different requests, different answers."""

from __future__ import annotations

import json
import random
from typing import Any

from screentest.models.testing.acts import Answer
from screentest.models.testing.asked import Asked

_DEEPEST = 12


def plausible(asked: Asked) -> Answer:
    """An answer that fits: an object where a schema was sent, else yes or no."""
    dice = random.Random(asked.digest)
    if asked.schema is None:
        return Answer(dice.choice(("Yes.", "No.")))
    return Answer(json.dumps(_value(asked.schema, asked.schema.get("$defs", {}), dice, 0)))


def _value(schema: dict[str, Any], defs: dict[str, Any], dice: random.Random, depth: int) -> Any:
    if "$ref" in schema:
        schema = defs[schema["$ref"].rsplit("/", 1)[-1]]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return dice.choice(schema["enum"])
    if "anyOf" in schema:
        options = schema["anyOf"] if depth < _DEEPEST else schema["anyOf"][-1:]
        return _value(dice.choice(options), defs, dice, depth + 1)
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: _value(field, defs, dice, depth + 1) for name, field in fields.items()}
    if kind == "array":
        fewest = schema.get("minItems", 0)
        most = schema.get("maxItems", max(fewest, 0 if depth > _DEEPEST else 2))
        items = schema.get("items", {"type": "string"})
        count = dice.randint(fewest, max(fewest, min(most, fewest + 3)))
        return [_value(items, defs, dice, depth + 1) for _ in range(count)]
    if kind in ("integer", "number"):
        return _number(schema, kind == "integer", dice)
    if kind == "boolean":
        return dice.random() < 0.5
    return None if kind == "null" else dice.choice(("as described", "something else", "unclear"))


def _number(schema: dict[str, Any], whole: bool, dice: random.Random) -> int | float:
    low, high = schema.get("minimum", 0), schema.get("maximum")
    high = low + 10 if high is None else high
    return dice.randint(int(low), int(high)) if whole else round(dice.uniform(low, high), 3)
