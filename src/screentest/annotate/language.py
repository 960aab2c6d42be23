"""Languages: what workers read, from a file; a text that a file leaves out stays English.

>>> read_language("en").text("choice.left")
'Left is better'
>>> read_language("ja").text("page.progress", done=3, left=9)
'3 件完了、残り 9 件'
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any

from screentest.core import BadOption, UserError

_PACKAGE = "screentest.annotate"


@dataclass(frozen=True, slots=True)
class Language:
    """All texts of the app in one language."""

    code: str
    name: str
    texts: Mapping[str, str]

    def text(self, key: str, **values: object) -> str:
        """One text, with its values put in."""
        return self.texts[key].format(**values) if values else self.texts[key]

    def under(self, prefix: str) -> dict[str, str]:
        """The texts of one table, for a script."""
        return {key: text for key, text in self.texts.items() if key.startswith(f"{prefix}.")}


def shipped() -> list[str]:
    """The languages that come with screentest."""
    folder = files(_PACKAGE) / "languages"
    names = [file.name.removesuffix(".toml") for file in folder.iterdir()]
    return sorted(name for name in names if not name.startswith("_"))


def read_language(given: str) -> Language:
    """A shipped language by its code, or one in a file of yours."""
    english = _flat(_shipped("en"))
    if given in shipped():
        own = _shipped(given)
    elif given.endswith(".toml"):
        own = _read(Path(given))
    else:
        raise BadOption(
            f"there is no language {given!r}",
            advice=f"Give one of {', '.join(shipped())}, or a .toml file.",
        )
    texts = _flat(own)
    strange = sorted(texts.keys() - english.keys())
    if strange:
        raise UserError(
            f"{given} has texts that the app does not know: {', '.join(strange)}",
            advice="Copy the names from the English file.",
        )
    for key, text in texts.items():
        wrong = _values(text) - _values(english[key])
        if wrong:
            raise UserError(f"{given}, {key}: there is no value {{{wrong.pop()}}}")
    return Language(texts.get("code", given), texts.get("name", given), {**english, **texts})


def _shipped(code: str) -> Mapping[str, Any]:
    return tomllib.loads((files(_PACKAGE) / "languages" / f"{code}.toml").read_text("utf-8"))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = str(value).strip()
    return found


def _values(text: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        raise UserError(f"braces that do not match in {text!r}") from None
