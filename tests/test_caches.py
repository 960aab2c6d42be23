"""Tests have caches of their own: what their user has downloaded changes no test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from screentest.models import weights
from tests.conftest import CACHES
from tests.terminal import CLEAN, Screentest


def test_all_caches_are_the_tests_own() -> None:
    assert weights.cache_folder().is_relative_to(CACHES)
    for name in ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "U2NET_HOME"):
        assert Path(os.environ[name]).is_relative_to(CACHES), name
    assert not CACHES.is_relative_to(Path.home() / ".cache")


def test_those_of_processes_too(process: Screentest, tmp_path: Path) -> None:
    """A home with weights in it: whoever looked there would find them."""
    home = tmp_path / "home"
    user = home / ".cache" / "screentest" / "weights" / "transnetv2"
    user.mkdir(parents=True)
    with (user / weights.entry("transnetv2").file.name).open("wb") as file:
        file.truncate(weights.entry("transnetv2").file.bytes)
    told = json.loads(process("models", "--json", HOME=str(home)).stdout)
    assert Path(told["cache"]).is_relative_to(CACHES)
    assert not next(one for one in told["weights"] if one["name"] == "transnetv2")["here"]


@pytest.mark.parametrize(
    "look",
    [
        "from screentest.models.weights import cache_folder; print(cache_folder())",
        "from huggingface_hub.constants import HF_HUB_CACHE; print(HF_HUB_CACHE)",
        "import torch; print(torch.hub.get_dir())",
    ],
)
def test_libraries_look_there(look: str) -> None:
    module = look.split()[1].partition(".")[0].rstrip(";")
    pytest.importorskip(module)
    code = [sys.executable, "-c", look]
    found = subprocess.run(code, env=CLEAN, capture_output=True, text=True, check=True)
    assert Path(found.stdout.strip()).is_relative_to(CACHES)
