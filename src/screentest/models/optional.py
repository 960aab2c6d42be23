"""Packages that only some backends need: imported late, and missed with the command to get them.

>>> optional("math", "models").sqrt(4.0)
2.0
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from screentest.core import NoValue, Reason


def optional(module: str, extra: str) -> Any:
    """Return the module; NoValue with the command that installs it where it is missing.

    ``extra`` is the extra of screentest that brings it. The result is untyped on purpose:
    these packages may be absent where types are checked.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"cannot import the package {module!r}: {error}",
            advice=f"Install it: pip install 'screentest[{extra}]'",
        ) from error
    except (AttributeError, OSError, RuntimeError) as error:
        # A CUDA build of torchvision beside torch for processors raises, and no ImportError.
        raise NoValue(
            Reason.MISSING_MODEL,
            f"the package {module.partition('.')[0]!r} is installed and does not load: {error}",
            advice="Install builds that belong together: torch and torchvision both for "
            "processors, or both for one CUDA.",
        ) from error


def installed(module: str) -> bool:
    """Tell whether a top-level module could be imported, without importing it."""
    return importlib.util.find_spec(module) is not None
