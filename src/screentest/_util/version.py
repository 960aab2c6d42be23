"""The version of the package, for whoever is below its root."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("screentest")
except PackageNotFoundError:  # running from a source tree that is not installed
    VERSION = "0+unknown"
