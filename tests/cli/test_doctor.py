"""The doctor sees what is there, says what is not, and gives the command to get it."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import av
import pytest
from packaging.requirements import Requirement

from screentest.cli import doctor as diagnosis
from screentest.cli.doctor import PackageStatus, diagnose, opencv_clash, survey_registry
from screentest.core import NoValue, Reason, Registry
from screentest.core import registry as real_registry
from screentest.core.registry import PLUGIN_GROUP
from tests.messages import each_names, names
from tests.terminal import Screentest, fits, invoke

NO_WEIGHTS = "the weights are not here"
"""What a check of the test's own says."""


def test_it_says_in_fifteen_lines_what_works() -> None:
    done = invoke("doctor")
    assert done.exit_code == 0
    assert fits(done.stdout)
    assert len(done.stdout.splitlines()) <= 15
    assert "No faults" in done.stdout


def test_it_fits_the_screen_and_ends_well(screentest: Screentest) -> None:
    done = screentest("doctor", "--all")

    assert done.returncode == 0, done.stdout
    assert fits(done.stdout)
    assert done.stderr == ""
    assert "No faults" in done.stdout
    # Suites and placebos are no models, and stand under names of their own.
    assert {"Suites", "Placebos"} <= set(done.stdout.splitlines())


def test_json_holds_the_versions_that_are_installed() -> None:
    told = json.loads(invoke("doctor", "--json").stdout)

    versions = {part["name"]: part["version"] for part in told["required"]}
    assert versions["av"] == metadata.version("av")
    assert versions["opencv-contrib-python-headless"]
    assert told["ffmpeg"]["libavcodec"] == ".".join(map(str, av.library_versions["libavcodec"]))
    assert told["codecs"]["libx264"] is True
    assert told["machine"]["cores_allowed"] >= 1
    assert {entry["name"] for entry in told["registered"] if entry["kind"] == "detector"} >= {
        "adaptive",
        "content",
        "scdet",
    }
    for part in told["optional"]:
        assert bool(part["fix"]) == (not part["version"])
        if part["fix"]:
            assert part["fix"].startswith("pip install")


def test_every_optional_part_of_the_package_is_looked_for() -> None:
    extras = {
        Requirement(requirement).name
        for requirement in metadata.requires("screentest") or []
        if any(
            f'"{extra}"' in requirement.replace("'", '"') for extra in ("models", "ray", "postgres")
        )
    }
    named = set(diagnosis.OPTIONAL)
    # A helper of transformers that nobody asks for by itself.
    assert extras - {"accelerate"} <= named
    assert {"pandas", "polars"} <= named  # what the README's frame() needs


def test_a_missing_or_old_package_is_a_fault_with_its_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = ["no-such-thing>=2", "numpy>=999", "pillow>=1; extra == 'x'", "rich>=5"]
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    missing, old, fine = diagnosis.required_parts()

    assert (missing.problem, missing.fix) == ("not installed", "pip install 'no-such-thing>=2'")
    assert names(old.problem, "999")
    assert old.fix == "pip install 'numpy>=999'"
    assert fine.ok


def test_a_package_that_does_not_import_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cracked.py").write_text("raise OSError('libGL.so.1: cannot open')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(metadata, "version", lambda name: "1.0")
    monkeypatch.setattr(metadata, "requires", lambda name: ["cracked"])
    (part,) = diagnosis.required_parts()
    assert names(part.problem, "OSError: libGL.so.1: cannot open")


def test_a_clash_of_opencv_wheels_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    both = ["opencv-python", "opencv-contrib-python-headless"]
    clash = opencv_clash(both)
    assert clash is not None
    assert opencv_clash() is None
    monkeypatch.setattr(diagnosis, "opencv_clash", lambda: clash)

    result = invoke("doctor")
    assert result.exit_code == 1
    assert "overwrite each other" in result.output
    assert f"pip uninstall -y {' '.join(sorted(both))}" in result.output


def test_what_is_registered_says_whether_it_would_work() -> None:
    registry = Registry({})

    def needs_weights() -> bool:
        raise NoValue(Reason.MISSING_MODEL, NO_WEIGHTS, advice="screentest models pull x")

    def cracked() -> bool:
        raise RuntimeError("oops")

    checks: dict[str, Any] = {
        "plain": {},
        "yes": {"ready": lambda: True},
        "no": {"ready": lambda: False, "get": "pip install it"},
        "weights": {"ready": needs_weights},
        "cracked": {"ready": cracked},
    }
    for name, info in checks.items():
        registry.register("detector", name, **info)(lambda: None)
    found, broken = survey_registry(registry)

    assert broken == {}
    assert {entry.name: (entry.works, entry.problem, entry.fix) for entry in found} == {
        "plain": (True, "", ""),
        "yes": (True, "", ""),
        "no": (False, "not ready", "pip install it"),
        "weights": (False, NO_WEIGHTS, "screentest models pull x"),
        "cracked": (False, "RuntimeError: oops", ""),
    }


def test_what_needs_a_model_that_must_be_chosen_says_so() -> None:
    found, _ = survey_registry(real_registry)
    works = {(entry.kind, entry.name): (entry.works, entry.fix) for entry in found}
    assert works["metric", "sharpness"] == (True, "")
    assert works["metric", "clipscore"] == (True, "")  # a built-in backend fills the role
    for name in (("metric", "etva"), ("metric", "locot2v_herd"), ("judge", "vlm_video")):
        assert works[name] == (False, "--model chat=openai:NAME")


def test_a_metric_that_cannot_be_built_does_not_pass_for_one_that_works() -> None:
    registry = Registry({})

    def cracked() -> None:
        raise RuntimeError("oops")

    def wants(*, votes: str) -> None: ...

    registry.register("metric", "cracked")(cracked)
    registry.register("metric", "wants")(wants)
    found, _ = survey_registry(registry)
    assert {entry.name: (entry.works, entry.problem) for entry in found} == {
        "cracked": (False, "RuntimeError: oops"),
        "wants": (True, ""),
    }


def test_a_broken_plugin_and_a_broken_package_of_ours_are_faults(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Point:
        name = "their-plugin"
        dist = None

        def load(self) -> None:
            raise ImportError("no module named theirs")

    monkeypatch.setattr(metadata, "entry_points", lambda group: [Point()] * (group == PLUGIN_GROUP))
    home = tmp_path / "broken_home"
    home.mkdir()
    (home / "__init__.py").write_text("import nothing_of_this_name")
    monkeypatch.syspath_prepend(str(tmp_path))
    faults = diagnose(Registry({"detector": ("broken_home",)})).faults

    assert each_names(
        [fault.what for fault in faults],
        ("detector: ", "ModuleNotFoundError: ", "'nothing_of_this_name'"),
        ("plugin their-plugin: ", "ImportError: ", " theirs"),
    )


def test_parts_know_when_they_are_well() -> None:
    assert PackageStatus("x", "1.0").ok
    assert not PackageStatus("x", "1.0", problem="cracked").ok
    assert not PackageStatus("x").ok


def test_licences_say_which_numbers_a_company_may_make() -> None:
    """The profile light has open weights only; of a hub's model only its card says."""
    kept = {}
    for profile in ("builtin", "paper"):
        told = json.loads(invoke("doctor", "--licences", "--models", profile, "--json").stdout)
        kept[profile] = {row["metric"]: row for row in told}
    assert kept["builtin"]["clipscore"]["companies"] == "yes"
    assert kept["builtin"]["clipscore"]["licence"] == "no weights"
    assert kept["paper"]["clipscore"]["companies"] == "ask"
    assert "sharpness" not in kept["paper"]
