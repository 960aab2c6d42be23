"""What every package may use: whole files, text to show, the machine, worker processes."""

from importlib.metadata import PackageNotFoundError, version

from screentest._util.atomic import OutputFile, atomic_output, storage_error, write_whole
from screentest._util.text import escaped, one_line, printable, shown_path

try:
    VERSION = version("screentest")
except PackageNotFoundError:  # running from a source tree that is not installed
    VERSION = "0+unknown"
