"""Hooks of mkdocs: the page of all commands, and links that lead out of the docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import typer
from mkdocs.structure.files import File, Files
from typer.main import get_command

COMMANDS = "reference/commands.md"
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the page of all commands."""
    files.append(File.generated(config, COMMANDS, content=commands_page()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """A link to a file of the repository that is not in the docs becomes its name."""
    docs = Path(config["docs_dir"])

    def leads(match: re.Match[str]) -> str:
        target = (docs / PurePosixPath(page.file.src_uri).parent / match[2]).resolve()
        if target.is_relative_to(docs):
            return match[0]
        return f"{match[1]} (`{target.relative_to(docs.parent)}` in the repository)"

    return _LINK.sub(leads, markdown)


def commands_page() -> str:
    """Every command with its help, as ``--help`` prints it."""
    from screentest.cli import app

    parts = [
        "# Every command",
        "What `screentest COMMAND --help` prints, of all commands."
        " [The command line](../cli.md) has them by subject.",
    ]
    for name, text in _helps(get_command(app)):
        parts += [f"## {name}", f"```text\n{text.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _helps(group: Any, path: tuple[str, ...] = ("screentest",)) -> Iterator[tuple[str, str]]:
    context = typer.Context(group, info_name=" ".join(path))
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        whole = (*path, name)
        if hasattr(command, "list_commands"):
            yield from _helps(command, whole)
        else:
            # Not a child of the group's context: its name would be said twice.
            own = typer.Context(command, info_name=" ".join(whole), max_content_width=100)
            yield " ".join(whole), command.get_help(own)
