"""screentest scores generated video against its prompt, and puts the scorers to the test."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("screentest")
except PackageNotFoundError:  # running from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
