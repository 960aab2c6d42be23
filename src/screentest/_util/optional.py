"""Packages of the extras: imported late, and missed with the command to get them.

>>> optional("math").sqrt(4.0)
2.0
>>> install_line(["matplotlib"])
"pip install 'screentest[charts]'"
"""

from __future__ import annotations

import importlib
import importlib.util
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from screentest.core.errors import MissingPackage
from screentest.core.outcome import Reason

EXTRAS: Final[Mapping[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("extras.toml").read_text(encoding="utf-8")
)
"""The top-level modules that each extra of screentest brings."""


def optional(module: str, name: str = "") -> Any:
    """Import a module of an extra, or ``name`` from it; MissingPackage with what to do about it.

    The result is untyped on purpose: these packages may be absent where types are checked.
    """
    try:
        result = importlib.import_module(module)
        return getattr(result, name) if name else result
    except (ImportError, AttributeError, OSError, RuntimeError) as error:
        raise unusable(module, error) from error


def unusable(module: str, error: Exception) -> MissingPackage:
    """Return why a package of an extra does not load: it is missing, or does not fit another."""
    top = module.partition(".")[0]
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    if isinstance(cause, ImportError) or not installed(top):
        return MissingPackage(
            Reason.MISSING_MODEL,
            f"cannot import the package {module!r}: {cause}",
            advice=f"Install it: {install_line([module])}",
        )
    # A CUDA build of torchvision beside torch for processors raises, and no ImportError.
    return MissingPackage(
        Reason.MISSING_MODEL,
        f"the package {top!r} is installed and does not load: {cause}",
        advice="Install builds that belong together: torch and torchvision both for "
        "processors, or both for one CUDA.",
    )


def need(*modules: str) -> None:
    """Raise MissingPackage, before any work, where one of these is not installed."""
    missing = [module for module in modules if not installed(module)]
    if missing:
        raise MissingPackage(
            Reason.MISSING_MODEL,
            f"not installed: {', '.join(missing)}",
            advice=f"Install it: {install_line(missing)}",
        )


def install_line(modules: Iterable[str]) -> str:
    """Give the command that installs modules: by their extra where they have one.

    >>> install_line(["onnxruntime", "openai", "s3fs"])
    "pip install 'screentest[chat,light-models]' s3fs"
    """
    tops = dict.fromkeys(module.partition(".")[0] for module in modules)
    extras = {extra for extra, names in EXTRAS.items() if not tops.keys().isdisjoint(names)}
    others = [top for top in tops if not any(top in names for names in EXTRAS.values())]
    ours = [f"'screentest[{','.join(sorted(extras))}]'"] if extras else []
    return " ".join(["pip install", *ours, *others])


def installed(module: str) -> bool:
    """Say if a top-level module could be imported, without importing it."""
    return importlib.util.find_spec(module) is not None
