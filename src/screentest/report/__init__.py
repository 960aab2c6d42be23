"""Reports: one offline page, and every table as Markdown, LaTeX, CSV and Parquet.

Called, it writes one: see :func:`screentest.api.report`.
"""

from screentest.base.jobs import is_also_a_job as _is_also_a_job
from screentest.report.data import Report, read_report
from screentest.report.formats import write_tables
from screentest.report.html import PageOptions, write_html
from screentest.report.tables import Table, tables

__all__ = ["PageOptions", "Report", "Table", "read_report", "tables", "write_html", "write_tables"]

_is_also_a_job(__name__)
