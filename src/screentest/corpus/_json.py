"""Strict JSON with complaints a person can act on."""

from __future__ import annotations

import json
from typing import Any


class Complaint(Exception):
    """What is wrong with a row or field, and what to do about it."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def about(self, name: str) -> Complaint:
        """The same, saying where."""
        return Complaint(f"{name}: {self.message}", self.advice)


def quoted(text: str) -> str:
    """Text of a stranger in quotes, on one line, without anything a terminal would act on."""
    return repr(text) if text.isprintable() else ascii(text)


def one_line(text: str, longest: int = 60) -> str:
    """The same, cut short: enough to recognise it."""
    shown = quoted(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 2]}…{shown[-1]}"


def load_json(text: str) -> Any:
    """Read strict JSON: no NaN, no key twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise Complaint(f"{one_line(key)} is given twice")
            found[key] = value
        return found

    def no_constant(name: str) -> Any:
        raise Complaint(f"{name} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        where = f"at character {error.pos + 1}"
        if error.lineno > 1:
            where = f"at line {error.lineno}, character {error.colno}"
        raise Complaint(f"wrong JSON {where}: {error.msg}") from None
    except RecursionError:
        raise Complaint("wrong JSON: nested too deep") from None
    except ValueError as error:  # a number of thousands of digits
        raise Complaint(f"wrong JSON: {error}") from None
