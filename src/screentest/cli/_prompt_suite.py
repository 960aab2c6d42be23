"""A prompt suite on the command line: whose videos it has, and what becomes of its options."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from screentest.cli.options import items_of

if TYPE_CHECKING:
    from screentest.core import Item
    from screentest.suites.locot2v.data import PromptSuite

MOST_LINES = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be scored, by which suite, and with whose templates."""

    items: list[Item]
    suite: str
    templates: Path | None
    missing: list[str] = field(default_factory=list)
    """Prompts of the suite without a video: they are listed, and never zeros."""
    problems: list[str] = field(default_factory=list)


def asked(
    inputs: Sequence[Path],
    prompt: str,
    suite: str,
    prompts: Path | None,
    videos: Path | None,
    model_name: str,
) -> Asked:
    """``prompts`` is a prompt suite where it is a file, and templates where it is a folder."""
    from screentest.core import BadOption

    records = prompts if prompts is not None and prompts.is_file() else None
    if model_name and videos is None:
        raise BadOption("--model-name says who made --videos", advice="Give --videos DIR, too.")
    if not inputs and videos is None:
        raise BadOption("there is nothing to score", advice="Give a manifest, or videos.")
    items = items_of(inputs, prompt) if inputs else []
    if records is None:
        if videos is not None:
            raise BadOption(
                "--videos belong to a prompt suite", advice="Give its file: --prompts suite.json"
            )
        return Asked(items, suite, prompts)
    suite = with_option(suite, "records", str(records))
    if videos is None:
        return Asked(items, suite, None)
    read, found, missing = videos_of(records, videos, model_name)
    problems = [str(problem) for problem in read.problems]
    return Asked([*items, *found], suite, None, missing, problems)


def videos_of(
    records: Path, videos: Path, model_name: str, categories: dict[str, str] | None = None
) -> tuple[PromptSuite, list[Item], list[str]]:
    """A suite, the items whose videos lie in a folder, and the prompts without one."""
    from screentest.core import BadOption
    from screentest.suites.locot2v.data import items_of_suite, read_prompt_suite

    suite = read_prompt_suite(records, categories=categories or {})
    found, missing = items_of_suite(suite, videos, model_name)
    if not found:
        raise BadOption(
            f"{videos} holds none of the {len(suite.records):,} videos of {records}",
            advice="Name each video by its prompt's id, such as food_3.mp4.",
        )
    return suite, found, missing


def with_option(spec: str, name: str, value: str) -> str:
    """A suite with one more option.

    >>> with_option("locot2v", "compat", "upstream")
    'locot2v:compat=upstream'
    >>> with_option("locot2v:upper_bound=7", "records", "a,b.json")
    'locot2v:upper_bound=7,records="a,b.json"'
    """
    plain = not any(letter in value for letter in ',="[]{}')
    written = value if plain else json.dumps(value)
    return f"{spec}{',' if ':' in spec else ':'}{name}={written}"


def print_missing(missing: Sequence[str], problems: Sequence[str]) -> None:
    """What is not there, and what could not be read."""
    from screentest.cli.tables import print_heading, print_indented

    for title, lines in (("Missing", missing), ("Problems", problems)):
        if lines:
            print_heading(f"{title}: {len(lines):,}")
        for line in lines[:MOST_LINES]:
            print_indented(line)
        if len(lines) > MOST_LINES:
            print_indented(f"and {len(lines) - MOST_LINES:,} more (--json lists all)")
