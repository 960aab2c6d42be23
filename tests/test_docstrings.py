"""The examples in docstrings hold. They run apart: some of them register things."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import doctest, importlib, pkgutil, sys
from importlib.util import find_spec
from pathlib import Path
import screentest

ELSEWHERE = {"screentest.api"}  # it writes files: tests/test_api.py runs it in a folder of its own
OPTIONAL = {"ray", "torch"}
failed = tried = 0
for module in pkgutil.walk_packages(screentest.__path__, "screentest."):
    if module.name in ELSEWHERE or module.name.endswith("__main__"):
        continue
    if ">>>" not in Path(find_spec(module.name).origin).read_text(encoding="utf-8"):
        continue
    try:
        found = importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        continue
    result = doctest.testmod(found)
    failed, tried = failed + result.failed, tried + result.attempted
print(tried, "examples,", failed, "failed")
sys.exit(bool(failed) or tried < 200)
"""


def test_examples_hold() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
