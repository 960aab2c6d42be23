"""What the pages tell people to type works as they say."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.core
from typer.main import get_command
from typer.testing import CliRunner, Result

from screentest.cli import app
from screentest.core.registry import registry
from screentest.core.signature import parse
from tests.docs.examples import PAGES, ROOT, TUTORIALS, Example, examples, help_examples
from tests.docs.stage import set_up

GROUP = get_command(app)
Parse = Callable[[Example], None]


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stage")
    set_up(folder)
    return folder


def invoke(arguments: list[str]) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})


def of_page(page: Path) -> list[Example]:
    return [one for one in examples(page) if not one.not_run]


@pytest.mark.parametrize("page", [page for page in PAGES if of_page(page)], ids=lambda p: p.name)
def test_examples_of_a_page(
    page: Path, stage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, in one folder: later ones rest on earlier ones."""
    # The manifest names the films where they first were; the copies are for whoever writes.
    shutil.copytree(stage, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    for example in of_page(page):
        done = invoke(example.arguments)
        assert done.exit_code == example.ends_with, f"{example}\n{done.output}"


def test_the_lines_of_python(stage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(stage, tmp_path / "work", ignore=shutil.ignore_patterns("scores", "testbed"))
    monkeypatch.chdir(tmp_path / "work")
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    exec(compile("".join(blocks), "python.md", "exec"), {})
    assert (tmp_path / "work" / "report.html").is_file()


@pytest.fixture
def parsed_only(monkeypatch: pytest.MonkeyPatch) -> Parse:
    """Commands are parsed, options and all, and nothing is done."""
    monkeypatch.setattr(typer.core.TyperCommand, "invoke", lambda command, context: None)

    def parse(example: Example) -> None:
        try:
            GROUP.main(example.arguments, str(example), standalone_mode=False)
        except typer.BadParameter as error:
            # Options are read before files are looked for, and these do not have to be there.
            if "does not exist." not in error.format_message():
                raise

    return parse


def test_what_is_not_run_has_options_that_exist(
    parsed_only: Parse,
) -> None:
    found = [one for page in PAGES for one in examples(page) if one.not_run]
    found += [one for page in TUTORIALS for one in examples(page)]
    for example in found:
        parsed_only(example)
    assert len(found) > 5


def commands(group: Any = GROUP, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every command with its help, those of groups too."""
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command.help or ""


COMMANDS = dict(commands())


@pytest.mark.parametrize(("name", "doc"), COMMANDS.items(), ids=list(COMMANDS))
def test_examples_in_the_help_have_options_that_exist(
    name: str, doc: str, parsed_only: Parse
) -> None:
    shown = help_examples(doc)
    assert any(text.startswith(f"screentest {name}") for text in shown), "no example of it"
    for text in shown:
        parsed_only(Example(ROOT, 0, text))


def test_metrics_that_pages_name_with_options_take_these() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    specs = {spec for text in texts for spec in re.findall(r"--metrics ([a-z_]+:[^\s`,]+)", text)}
    assert specs
    for spec in specs:
        name, options = parse(spec)
        registry.entry("metric", name).spec(options)


def test_every_command_has_a_page() -> None:
    index = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\[`screentest ([\w-]+)`\]\(\w+\.md", index))
    assert listed == set(GROUP.list_commands(typer.Context(GROUP)))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "page",
    [
        *PAGES,
        *TUTORIALS,
        ROOT / "docs" / "reference" / "api.md",
        ROOT / "CONTRIBUTING.md",
        *sorted(ROOT.glob("design/*.md")),
        *ROOT.glob("examples/*/*.md"),
    ],
    ids=lambda page: page.name,
)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        # The page of all commands is made when the site is.
        own = "://" not in target and not target.endswith("reference/commands.md")
        if own and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
