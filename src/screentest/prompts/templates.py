"""Prompt templates: Jinja files, one folder per suite, any of which a user can replace.

``NAME.jinja`` is what the user says and ``NAME.system.jinja``, where there is one, the system
text. A folder given with ``--prompts`` replaces files by their path. Templates run in a
sandbox; a name they were not given is an error, never an empty text.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest.core import BadOption, UnknownName
from screentest.models.chat.messages import Part, Text
from screentest.prompts.slots import neutralise
from screentest.prompts.values import Pictures, Slot, Trusted, Untrusted, prepare, withhold

if TYPE_CHECKING:
    from jinja2 import Environment

HOME = Path(__file__).parent
_SUFFIX = ".jinja"
_SYSTEM = ".system"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt ready to be sent: give both to a ChatRequest."""

    parts: tuple[Part, ...]
    system: str = ""


class Prompts:
    """All templates, those of a user's folder before our own."""

    def __init__(self, folder: Path | None = None, *, home: Path = HOME) -> None:
        self._home = home
        self._folder = folder
        self._folders = [home] if folder is None else [folder, home]
        if folder is not None:
            self._check_folder(folder)
        self._environment = _environment(self._folders)

    def names(self) -> list[str]:
        """The names of all templates, such as ``etva/answer``."""
        found = {name for folder in self._folders for name in _names_in(folder)}
        return sorted(name for name in found if not name.endswith(_SYSTEM))

    def render(self, name: str, slots: Mapping[str, Slot]) -> Rendered:
        """The template with its slots filled."""
        if name not in self.names():
            near = difflib.get_close_matches(name, self.names(), n=3)
            advice = f"Did you mean {' or '.join(near)}?" if near else ""
            raise UnknownName(f"there is no prompt template {name!r}", advice=advice)
        filled = {key: prepare(key, value) for key, value in slots.items()}
        system = ""
        if self._has(f"{name}{_SYSTEM}"):
            ours = {key: withhold(value, key) for key, value in filled.items()}
            system = _Rendering(self._environment).text(f"{name}{_SYSTEM}", ours)
        return Rendered(_Rendering(self._environment).parts(name, filled), system)

    def digest(self, *names: str) -> str:
        """Sixteen hex digits of the templates and all that they include; for signatures."""
        from jinja2 import meta

        for name in names:
            self.source(name)  # an unknown name is an error, not the digest of nothing
        waiting = [f"{name}{part}" for name in names for part in ("", _SYSTEM)]
        seen: dict[str, str] = {}
        while waiting:
            name = waiting.pop()
            if name in seen or not self._has(name):
                continue
            seen[name] = self.source(name)
            tree = self._environment.parse(seen[name])
            for other in meta.find_referenced_templates(tree):
                if other is None:
                    raise BadOption(
                        f"the template {name} includes a file whose name it computes",
                        advice="Write the name out, so that it can be part of the signature.",
                    )
                waiting.append(other.removesuffix(_SUFFIX))
        whole = "\0".join(part for name in sorted(seen) for part in (name, seen[name]))
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def source(self, name: str) -> str:
        """The text of a template as it will be used; UnknownName where there is none."""
        for folder in self._folders:
            path = folder / f"{name}{_SUFFIX}"
            if path.is_file():
                return path.read_text(encoding="utf-8")
        near = difflib.get_close_matches(name, _names_in(self._home), n=3)
        known = ", ".join(near or sorted(_names_in(self._home)))
        raise UnknownName(f"there is no template {name!r}", advice=f"Templates: {known}.")

    def _has(self, name: str) -> bool:
        return any((folder / f"{name}{_SUFFIX}").is_file() for folder in self._folders)

    def _check_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            raise BadOption(f"{folder} is not a folder of prompt templates")
        known = set(_names_in(self._home))
        for name in _names_in(folder):
            # A misspelt file would silently replace nothing. Those with _ are for including.
            base = name.removesuffix(_SYSTEM)
            if base not in known and not name.rsplit("/", 1)[-1].startswith("_"):
                near = difflib.get_close_matches(name, known, n=3)
                raise BadOption(
                    f"{folder / name}{_SUFFIX} replaces no template",
                    advice=f"Did you mean {' or '.join(near)}?" if near else "",
                )


class _Rendering:
    """One template being filled. Pictures leave a mark in the text, which then is cut there."""

    KEY = "(rendering)"  # no template can name this

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._pictures: list[Pictures] = []
        # Nobody who writes a caption can know this mark.
        self._mark = f"\ue000{secrets.token_hex(16)}:"

    def text(self, name: str, slots: Mapping[str, Any]) -> str:
        """The template as text, with marks for pictures."""
        from jinja2 import TemplateError, TemplateSyntaxError

        try:
            template = self._environment.get_template(f"{name}{_SUFFIX}")
            rendered = template.render({**slots, self.KEY: self})
        except TemplateSyntaxError as error:
            where = f"line {error.lineno} of {error.name or name}"
            raise BadOption(f"the prompt template is wrong at {where}: {error.message}") from None
        except (TemplateError, TypeError) as error:
            raise BadOption(f"the prompt template {name} cannot be filled: {error}") from None
        return rendered.strip()

    def parts(self, name: str, slots: Mapping[str, Any]) -> tuple[Part, ...]:
        """The template as text and pictures in order."""
        parts: list[Part] = []
        for number, piece in enumerate(
            re.split(f"{self._mark}(\\d+)\ue001", self.text(name, slots))
        ):
            if number % 2:
                parts.extend(self._pictures[int(piece)].parts)
            elif piece.strip():
                parts.append(Text(piece.strip("\n")))
        return tuple(parts)

    def written(self, value: Any) -> Any:
        """What a value in double braces becomes."""
        if isinstance(value, Pictures):
            self._pictures.append(value)
            return f"{self._mark}{len(self._pictures) - 1}\ue001"
        if isinstance(value, Untrusted):
            return value._fenced()
        if isinstance(value, Trusted | _Made):
            return value.text
        # What filters make of a stranger's text is a plain string, and still a stranger's.
        return neutralise(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class _Made:
    """What one of our own filters made: harmless already."""

    text: str


def _environment(folders: list[Path]) -> Environment:
    from jinja2 import FileSystemLoader, StrictUndefined, pass_context
    from jinja2.runtime import Context
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    @pass_context
    def finalize(context: Context, value: Any) -> Any:
        rendering = context.get(_Rendering.KEY)
        if not isinstance(rendering, _Rendering):
            raise TypeError("a template is imported without its slots: import it `with context`")
        return rendering.written(value)

    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader([str(folder) for folder in folders]),
        autoescape=False,  # these are prompts, not web pages
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["inline"] = lambda value: _Made(_form(value)._inline())
    environment.filters["verbatim"] = lambda value: _Made(str(_form(value)))
    return environment


def _form(value: Any) -> Untrusted:
    return value if isinstance(value, Untrusted) else Untrusted("text", str(value))


def _names_in(folder: Path) -> list[str]:
    return [
        path.relative_to(folder).as_posix().removesuffix(_SUFFIX)
        for path in sorted(folder.rglob(f"*{_SUFFIX}"))
    ]
