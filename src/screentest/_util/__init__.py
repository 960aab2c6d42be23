"""What every package may use: whole files, text to show, the machine, worker processes."""

from screentest._util.atomic import OutputFile, atomic_output, storage_error, write_whole
from screentest._util.text import escaped, one_line, printable, shown_path

__all__ = [
    "OutputFile",
    "atomic_output",
    "escaped",
    "one_line",
    "printable",
    "shown_path",
    "storage_error",
    "write_whole",
]
