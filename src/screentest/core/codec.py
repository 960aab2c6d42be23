"""The vocabulary as JSON and back: strict, exact, the same bytes every time.

Times are written as ratios ("1001/24000"), so nothing is rounded on the way.
pydantic does the work and is imported on first use, since `import screentest` must be quick.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from screentest.core.errors import UserError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
_SHOWN = 5
"""Problems that are named: a list of others may have thousands."""


class DecodeError(UserError):
    """JSON that does not describe what it should."""


def _new_adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(_new_adapter)


def to_json(value: object, kind: Any = None, *, strict: bool = False) -> str:
    """Write ``value`` as one line of JSON. Give ``kind`` where the type has parameters.

    With ``strict``, a part of another type than declared raises ValueError: what is written can
    be read.
    """
    text: bytes = _adapter(kind or type(value)).dump_json(
        value, exclude_defaults=True, warnings="error" if strict else "warn"
    )
    return text.decode()


def to_object(value: object) -> Any:
    """Turn ``value`` into lists, dicts, text and numbers, as its JSON would be read."""
    return _adapter(type(value)).dump_python(value, mode="json", exclude_defaults=True)


def from_json(kind: type[T], text: str | bytes) -> T:
    """Read ``kind`` from JSON; says which field is wrong where one is."""
    from pydantic import ValidationError

    try:
        value: T = _adapter(kind).validate_json(text)
    except ValidationError as error:
        raise DecodeError(_explain(kind, error)) from None
    return value


def from_object(kind: type[T], data: object) -> T:
    """Read ``kind`` from what a JSON or TOML reader gave."""
    from pydantic import ValidationError

    try:
        value: T = _adapter(kind).validate_python(data)
    except ValidationError as error:
        raise DecodeError(_explain(kind, error)) from None
    return value


def _explain(kind: Any, error: Any) -> str:
    name = getattr(kind, "__name__", str(kind))
    problems = []
    result = error.errors(include_url=False, include_input=False)
    for problem in result[:_SHOWN]:
        place = ".".join(str(step) for step in problem["loc"]) or "the whole"
        problems.append(f"{place}: {problem['msg']}")
    more = f"; {len(result) - _SHOWN:,} more" if len(result) > _SHOWN else ""
    return f"not a valid {name}: " + "; ".join(problems) + more


def parse_json(text: str | bytes, *, finite: bool = False) -> Any:
    """Return what JSON of others says; raises ValueError for all that cannot be read.

    With ``finite``, NaN and infinities cannot: they are not JSON, and cannot be written again.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant if finite else None)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
