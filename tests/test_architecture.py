"""The house rules that a reader cannot check by reading one file."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "screentest"

# Imports go down this list, never up; packages of one line may use each other.
LAYERS = [
    {"cli"},
    {"api", "results"},
    {"suites"},
    {"reports", "annotate"},
    {"certificates"},
    {"testbeds"},
    {"judges"},
    {"score"},
    {"metrics"},
    {"manifests", "sample"},
    {"testing"},
    {"english", "models", "run", "stats", "video"},
    {"_util"},
    {"core"},
]
RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}


def imports() -> Iterator[tuple[Path, str]]:
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield path, node.module
            elif isinstance(node, ast.Import):
                yield from ((path, alias.name) for alias in node.names)


def package_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def test_imports_go_down() -> None:
    wrong = []
    for path, module in imports():
        parts = module.split(".")
        if parts[0] != "screentest" or len(parts) < 2 or path.parent == SRC:
            continue
        if RANK[package_of(path)] > RANK[parts[1]]:
            wrong.append(f"{path.relative_to(SRC)} imports {module}")
    assert not wrong


def test_every_package_has_its_place() -> None:
    packages = {path.name for path in SRC.iterdir() if path.is_dir() and path.name[0] not in "._"}
    assert packages <= RANK.keys()


def test_import_is_light() -> None:
    heavy = ["torch", "numpy", "av", "cv2", "pydantic", "pyarrow", "typer", "rich", "openai"]
    code = f"import screentest, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_core_has_no_heavy_imports() -> None:
    allowed = {"screentest", "__future__", *sys.stdlib_module_names}
    late = {"numpy", "pydantic"}  # for types, or inside functions
    for path, module in imports():
        if package_of(path) == "core":
            assert module.split(".")[0] in allowed | late, path
    code = (
        "import screentest.core, sys;"
        "print([m for m in ('numpy','pydantic','av','cv2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", ["core", "video", "models", "run"])
def test_what_is_visible_is_what_is_listed(package: str) -> None:
    module = importlib.import_module(f"screentest.{package}")
    visible = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert visible == set(module.__all__)


def test_no_shell() -> None:
    for path in SRC.rglob("*.py"):
        assert "shell=True" not in path.read_text(encoding="utf-8"), path
