"""The pictures in README.md and docs/report.md: two checkpoints made of the packaged films.

python docs/pictures/report.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1280, 1160


def screentest(*arguments: str, folder: Path) -> None:
    """Run a command as a user would."""
    subprocess.run([sys.executable, "-m", "screentest", *arguments], cwd=folder, check=True)


def make(folder: Path) -> Path:
    """The report of two checkpoints on twelve prompts."""
    screentest("sample", "checkpoints", "checkpoints", "--prompts", "12", folder=folder)
    screentest("score", "checkpoints", "--by", "model", folder=folder)
    screentest("report", "scores", "--title", "Two checkpoints", folder=folder)
    return folder / "report.html"


def take(report: Path) -> None:
    """The first screen, the grid, and a video in its drawer."""
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(report.absolute().as_uri())
        shot = {"type": "jpeg", "quality": 82}
        page.screenshot(path=HERE / "report.jpg", **shot)
        page.evaluate("document.getElementById('side').scrollIntoView()")
        page.screenshot(path=HERE / "report_side.jpg", **shot)
        page.locator("#grid .frame").first.click()
        # Playwright's own waiting evaluates text in the page, which the page's policy forbids.
        while not page.evaluate("document.querySelector('#drawer video').readyState > 1"):
            page.wait_for_timeout(100)
        page.screenshot(path=HERE / "report_drawer.jpg", **shot)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        take(make(Path(made)))
