"""A real browser, the checker of accessibility, and pages opened from disk."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

PATIENCE = 60_000
"""Milliseconds; a busy machine is not a failure."""
AXE = "axe-core@4.14.0"


@dataclass(frozen=True)
class Seen:
    """A page in the browser, and what went wrong there or was asked of the network."""

    page: Page
    troubles: list[str]


Open = Callable[..., Seen]


@pytest.fixture(scope="module")
def opened(browser: Browser) -> Iterator[Open]:
    """Open a file from disk, with no network."""
    with ExitStack() as stack:

        def open_file(path: Path, **options: Any) -> Seen:
            context = browser.new_context(offline=True, **options)
            stack.callback(context.close)
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            troubles: list[str] = []
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
            page.on(
                "console",
                lambda line: troubles.append(line.text) if line.type != "log" else None,
            )
            page.on(
                "request",
                lambda sent: (
                    None if sent.url.startswith(("file:", "data:")) else troubles.append(sent.url)
                ),
            )
            page.goto(path.absolute().as_uri())
            return Seen(page, troubles)

        yield open_file


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from npm."""
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, from which axe-core comes")
    try:
        subprocess.run([npm, "pack", AXE], cwd=folder, check=True, capture_output=True, timeout=120)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip(f"npm cannot get {AXE} here")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        member = packed.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def until(page: Page, condition: str) -> None:
    """Wait for it. Playwright's own way evaluates text in the page, which our policy forbids."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {condition}")
