"""The page of a report: one file that opens from disk with no network.

It runs nothing but its own script.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from screentest._util import VERSION
from screentest._util.atomic import atomic_output
from screentest._util.webpage import data_address, embedded_json, policy, tokens
from screentest.analysis.models.grid import Grid, GridRow, excuse, prompt_grid, uncompared
from screentest.analysis.models.moments import direction, over_time, scales_of
from screentest.core import Progress
from screentest.core.table import Chart, Table
from screentest.present.page.certified import certified, verdicts
from screentest.present.page.data import Report
from screentest.present.page.drilldown import Page, videos
from screentest.present.page.tables import sections, tables
from screentest.present.page.view import page_view
from screentest.present.screens import artefact_words, why_words
from screentest.present.text import words

ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = ("base", "player", "curves", "against", "grid", "drawer", "certificates")


def write_html(
    report: Report,
    out: Path,
    *,
    title: str = "screentest report",
    pictures: int = 200,
    embed: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write the page, whole or not at all.

    There are ``pictures`` for so many videos, in the order of the page; ``embed`` puts the videos
    themselves into it.
    """
    report = replace(report, results=over_time(report.results))
    style = tokens() + (ASSETS / "report.css").read_text(encoding="utf-8")
    script = "".join((ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)
    folder = out.absolute().parent
    results = report.results
    sides = prompt_grid(results, report.comparison)
    shown = dict.fromkeys(item for row in sides.rows for item in row.items)
    order = [*shown, *(item for item in results.items if item not in shown)]
    data = page_data(report, sides, order, Page(folder, pictures, embed), progress)
    page = (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=title,
            version=VERSION,
            policy=policy(script, style, pictures=True, embedded=embed),
            style=style,
            script=script,
            data=embedded_json(data),
            pictured=any(item["poster"] or item["video"] for item in data["items"]),
            report=report,
            view=page_view(report, order),
            certified=certified(report.certificates),
            sections=[
                (part, [_picture(chart) for chart in part.charts]) for part in sections(report)
            ],
            folds=_folds(tables(report)),
        )
    )
    with atomic_output(out) as file:
        file.write(page.encode("utf-8", "backslashreplace"))


def page_data(
    report: Report, sides: Grid, order: list[str], page: Page, progress: Progress | None = None
) -> dict[str, Any]:
    """Return what the script of the page is given: plain JSON."""
    results = report.results
    measures = {name: number for number, name in enumerate(results.names)}
    scales = scales_of(results)
    items = videos(report, order, page, scales, progress)
    place = {item: number for number, item in enumerate(order)}
    row_of = {item: number for number, row in enumerate(sides.rows) for item in row.items}
    label = {item: text for row in sides.rows for item, text in tile_labels(report, row).items()}
    for video in items:
        weak = sides.weak.get(video["id"])
        video["row"] = row_of.get(video["id"])
        video["label"] = label.get(video["id"], "")
        video["worst"] = weak and {
            "m": measures[weak.name],
            "value": weak.value,
            "others": [weak.low, weak.high],
        }
    compared = {row.name: row for row in report.comparison.rows} if report.comparison else {}
    apart = uncompared(results, report.comparison)
    words, short = report.labels, results.short_names
    return {
        "rivals": len(report.systems) > 1,
        "models": report.systems,
        "measures": [
            {
                "title": words[name],
                "name": short[name],
                "summary": info.summary,
                "unit": info.unit,
                "up": direction(results, name),
                "margin": compared[name].least if name in compared else 0,
                "apart": why_words(apart[name]) if name in apart else "",
                "owed": {
                    number: artefact_words(why, {})
                    for number, model in enumerate(report.systems)
                    if name in compared and (why := excuse(compared[name], model))
                },
                "band": scales.bands.get(name),
                "had": any(value.outcome.ok for value in results.of(name)),
            }
            for name, info in results.outputs.items()
        ],
        "items": items,
        "rows": [
            {
                "n": number,
                "prompt": row.prompt,
                "text": _searched(report, row),
                "items": [[place[item] for item in cell] for cell in row.cells],
                "gap": round(row.gap, 4),
                "gaps": {measures[name]: round(gap, 4) for name, gap in row.gaps.items()},
            }
            for number, row in enumerate(sides.rows, 1)
        ],
        **verdicts(report, page.folder),
    }


def _searched(report: Report, row: GridRow) -> str:
    groups = [text for item in row.items for text in report.results.items[item].groups.values()]
    return " ".join([row.prompt, *row.items, *groups]).lower()


def tile_labels(report: Report, row: GridRow) -> dict[str, str]:
    """Return the groups in which videos of one model on one prompt differ, such as a seed."""
    labels = {}
    for cell in row.cells if len(row.items) > 1 else ():
        groups = {item: report.results.items[item].groups for item in cell}
        names = dict.fromkeys(name for named in groups.values() for name in named)
        differing = [
            name for name in names if len({named.get(name) for named in groups.values()}) > 1
        ]
        for item, named in groups.items() if len(cell) > 1 else ():
            parts = [f"{name} {named[name]}" for name in differing if name in named]
            labels[item] = ", ".join(parts) or item
    return labels


def _folds(every: list[Table]) -> list[tuple[str, list[Table]]]:
    """Return all tables but those of suites, which have sections, and of single values."""
    parts = words("folds").items()
    folds = [(title, [table for table in every if table.name in names]) for title, names in parts]
    certificates = [table for table in every if table.name.startswith("certificate_")]
    folds.insert(1, ("Certificates in numbers", certificates))
    return [(title, behind) for title, behind in folds if behind]


def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined)
    made.filters["breakable"] = _breakable
    return made


def _breakable(name: str) -> Any:
    """Return a name that may go on in the next line after a dot or an underscore."""
    from markupsafe import Markup, escape

    text = str(escape(name)).replace("_", "_<wbr>").replace(".", ".<wbr>")
    return Markup(text)


def _picture(chart: Chart) -> dict[str, str]:
    return {
        "title": chart.title,
        "light": data_address("image/svg+xml", chart.light.encode()),
        "dark": data_address("image/svg+xml", chart.dark.encode()),
        "words": chart.words,
    }
