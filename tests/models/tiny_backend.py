"""A backend of the `models` extra on a tiny model of the real class, for the suites of roles."""

from __future__ import annotations

from typing import Any

import pytest

from screentest.core import registry

MARKS = (
    pytest.mark.models,
    # Other people's libraries warn about their own next versions.
    pytest.mark.filterwarnings("default"),
)


def tiny_backend(
    role: str, name: str, maker: str, folders: pytest.TempPathFactory, **options: Any
) -> Any:
    """``maker`` is the function of ``tiny`` that makes and saves the model."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.models import tiny
    from tests.models.torchvision_here import make_importable

    make_importable()
    folder = folders.mktemp(maker) / "model"
    getattr(tiny, maker)(folder)
    return registry.build(role, name, model=str(folder), **options).thing
