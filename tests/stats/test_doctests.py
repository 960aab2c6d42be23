"""The examples in the docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import screentest.stats

MODULES = [module.name for module in pkgutil.iter_modules(screentest.stats.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(f"screentest.stats.{name}")
    assert doctest.testmod(module).failed == 0
