"""Sections of the page that suites and plugins bring."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from screentest.analysis.suites import Suite, suites_in
from screentest.core import Entry, Failure, MissingPackage, Table, registry
from screentest.core.outcome import guarded
from screentest.core.table import Chart
from screentest.present.page.data import Report
from screentest.present.sentences import say
from screentest.present.tables import suite_tables

Part: TypeAlias = Table | Chart | str
"""What a section is made of: a table, a chart, or a paragraph of plain text."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that a suite or a plugin brings."""

    name: str
    title: str
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    paragraphs: tuple[str, ...] = ()


def sections(report: Report) -> list[Section]:
    """One for each suite that a run was made with, then those that plugins registered.

    A plugin's section is a function of the report that returns tables, charts and text:

        @register("section", "notes", title="Notes")
        def notes(report): return ["Scored on Tuesday."]
    """
    every = [_suite_section(report, suite) for suite in suites_in(report.results)]
    every += [_plugin_section(report, entry) for entry in registry.entries("section")]
    kept = [section for section in every if section.tables or section.charts or section.paragraphs]
    return [
        replace(section, name=f"section-{place}-{section.name}")
        for place, section in enumerate(kept, 1)
    ]


def _suite_section(report: Report, suite: Suite) -> Section:
    results = report.results
    tables = suite_tables(results, suite, report.by)
    if not tables:
        return Section(suite.name, suite.heading)
    try:
        drawn = tuple(suite.charts(results, report.by)) if suite.charts is not None else ()
    except MissingPackage as error:  # the tables have the same numbers
        left_out = say("left_out", part="charts", why=error.advice)
        return Section(suite.name, suite.heading, tuple(tables), paragraphs=(left_out,))
    return Section(suite.name, suite.heading, tuple(tables), drawn)


def _plugin_section(report: Report, entry: Entry) -> Section:
    title = str(entry.info.get("title", entry.name))
    parts = guarded(lambda: list(entry.factory(report)), "section")
    if isinstance(parts, Failure):  # a fault in a plugin costs its own section, not the report
        return Section(
            entry.name, title, paragraphs=(say("left_out", part="this section", why=parts),)
        )
    return Section(
        entry.name,
        title,
        tuple(part for part in parts if isinstance(part, Table)),
        tuple(part for part in parts if isinstance(part, Chart)),
        tuple(part for part in parts if isinstance(part, str)),
    )
