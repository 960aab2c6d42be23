"""The page of a report: one file that opens from disk with no network.

It runs nothing but its own script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screentest._util.atomic import atomic_output
from screentest._util.version import VERSION
from screentest.core import Progress
from screentest.core.table import Chart, cell_text
from screentest.reports.cards import card
from screentest.reports.data import Report
from screentest.reports.drilldown import drilldown
from screentest.reports.sections import charts, sections, system_rows, total_rows
from screentest.reports.tables import tables

ASSETS = Path(__file__).parent / "assets"


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What the page holds besides numbers."""

    title: str = "screentest report"
    thumbnails: int = 200
    """For how many videos the worst moments are shown in pictures; the lowest first."""
    embed: bool = False
    """Put the videos themselves into the page; it grows by their size."""


def write_html(
    report: Report,
    out: Path,
    options: PageOptions | None = None,
    *,
    progress: Progress | None = None,
) -> None:
    """Write the page, whole or not at all."""
    options = options or PageOptions()
    style = (ASSETS / "report.css").read_text(encoding="utf-8")
    script = (ASSETS / "report.js").read_text(encoding="utf-8")
    data = json.dumps(
        drilldown(
            report,
            out.absolute().parent,
            pictures=options.thumbnails,
            embed=options.embed,
            progress=progress,
        ),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    every = tables(report)
    page = (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=options.title,
            version=VERSION,
            policy=_policy(style, script),
            style=style,
            script=script,
            # Nothing in the data can end the element it is in.
            data=data.replace("<", "\\u003c").replace("\u2028", "\\u2028"),
            report=report,
            totals=total_rows(report),
            lines=system_rows(report),
            systems=report.systems,
            charts=[_picture(chart) for chart in charts(report)],
            cards=[card(one) for one in report.certificates],
            sections=[(one, [_picture(chart) for chart in one.charts]) for one in sections(report)],
            tables=[table for table in every if table.name in ("signatures", "runs")],
            shown=cell_text,
        )
    )
    with atomic_output(out) as file:
        file.write(page.encode("utf-8", "backslashreplace"))


def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined)


def _policy(style: str, script: str) -> str:
    """Only this style and this script; pictures and videos from the page and its folder."""

    def of(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    return (
        f"default-src 'none'; script-src {of(script)}; style-src {of(style)}; "
        "img-src data:; media-src 'self' file: data:; base-uri 'none'; form-action 'none'"
    )


def _picture(chart: Chart) -> dict[str, str]:
    def address(svg: str) -> str:
        return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()

    return {
        "title": chart.title,
        "light": address(chart.light),
        "dark": address(chart.dark),
        "words": chart.words,
    }
