"""Reports: one offline page, and every table as Markdown, LaTeX, CSV and Parquet."""

from screentest.report.data import Report, read_report
from screentest.report.html import write_html
from screentest.report.tables import Table, tables, write_tables

__all__ = ["Report", "Table", "read_report", "tables", "write_html", "write_tables"]
