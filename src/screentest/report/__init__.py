"""Reports: one offline page, and every table as Markdown, LaTeX, CSV and Parquet."""

from screentest.report.data import Report, read_report
from screentest.report.formats import write_tables
from screentest.report.html import PageOptions, write_html
from screentest.report.tables import Table, tables

__all__ = ["PageOptions", "Report", "Table", "read_report", "tables", "write_html", "write_tables"]
