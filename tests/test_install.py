"""The base install is small; a job that needs more says what to install before it begins."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import screentest
from screentest._util.optional import EXTRAS, install_line, need, optional
from screentest.cli.doctor import OPTIONAL
from screentest.core import MissingPackage, NoValue, Reason, UserError
from screentest.sample import sample_videos
from tests.present.runs import two_systems
from tests.terminal import invoke

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
MOST_DIRECT = 12  # 21 before
MOST_PACKAGES = 30  # 64 before; 27 when this was written
FOR_DEVELOPERS = {"all", "docs", "test"}


def closure(requirements: list[str]) -> set[str]:
    """Name all packages that these bring, by the metadata of what is installed here."""
    found: set[str] = set()
    wanted = [(Requirement(text), "") for text in requirements]
    while wanted:
        requirement, extra = wanted.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        marker = requirement.marker
        if (marker is not None and not marker.evaluate({"extra": extra})) or name in found:
            continue
        found.add(name)
        for text in metadata.requires(name) or ():
            wanted += [(Requirement(text), one) for one in ("", *requirement.extras)]
    return found


def test_the_base_install_is_small() -> None:
    assert len(PROJECT["dependencies"]) <= MOST_DIRECT
    brought = closure(PROJECT["dependencies"])
    assert len(brought) <= MOST_PACKAGES
    # What takes hundreds of megabytes, or a job of its own.
    assert brought.isdisjoint({"torch", "pyarrow", "onnxruntime", "matplotlib", "fastapi"})


def packages_of(extra: str) -> set[str]:
    named = map(Requirement, PROJECT["optional-dependencies"][extra])
    return {one.name for one in named if one.name != "screentest"}


def test_every_extra_has_its_modules_and_is_looked_for() -> None:
    declared = PROJECT["optional-dependencies"].keys() - FOR_DEVELOPERS
    assert EXTRAS.keys() == declared
    listed = {(package, extra) for package, (_, extra) in OPTIONAL.items() if extra}
    for package, extra in listed:
        assert package in packages_of(extra)
        assert package.replace("-", "_") in EXTRAS[extra]
    trackers = {"mlflow", "tensorboard", "trackio", "wandb"}
    assert {extra for _, extra in listed} == declared - trackers


def test_all_is_everything_but_torch_ray_and_trackers() -> None:
    (whole,) = map(Requirement, PROJECT["optional-dependencies"]["all"])
    left_out = {"models", "ray", "mlflow", "tensorboard", "trackio", "wandb"}
    assert whole.extras == EXTRAS.keys() - left_out


def test_a_missing_package_is_one_error_with_its_command() -> None:
    for ask in (need, optional):
        with pytest.raises(MissingPackage) as caught:
            ask("no_such_package_anywhere")
        error = caught.value
        assert isinstance(error, NoValue)
        assert isinstance(error, UserError)
        assert (error.reason, error.exit_code) == (Reason.MISSING_MODEL, 2)
        assert error.advice.endswith("pip install no_such_package_anywhere")


def test_a_package_that_does_not_fit_another_is_a_reason_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As transformers does beside a torchvision of another torch: its classes raise when named."""
    (tmp_path / "unfitting.py").write_text(
        "def __getattr__(name):\n"
        "    try:\n"
        "        raise RuntimeError('operator torchvision::nms does not exist')\n"
        "    except RuntimeError as error:\n"
        "        raise ModuleNotFoundError(f'Could not import {name}') from error\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingPackage) as caught:
        optional("unfitting", "Sam2Model")
    assert caught.value.reason is Reason.MISSING_MODEL
    assert "torchvision::nms" in caught.value.message
    assert "pip install" not in caught.value.advice  # it is installed


FILM = str(sample_videos()[1].item.video)


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("pyarrow", ["export", "run", "--to", "parquet"]),
        ("pyarrow", ["export", "run", "--to", "parquet", "--partition", "name", "--out", "parts"]),
        ("pyarrow", ["report", "run", "--tables", "tables", "--formats", "csv,parquet"]),
        ("matplotlib", ["certify", "sharpness", "--testbed", "bed", "--chart", "chart.svg"]),
        ("matplotlib", ["testbed", "stats", "bed", "--plots", "charts"]),
        ("matplotlib", ["suite", "locot2v", "analyse", "run", "--charts", "charts"]),
        ("matplotlib", ["suite", "etva", "benchmark", "questions.jsonl", "--plot", "a.svg"]),
        ("matplotlib", ["suite", "univ", "table", "run", "--chart", "radar.svg"]),
        ("openai", ["score", FILM, "--metrics", "etva", "--model", "chat=openai:m"]),
        ("tokenizers", ["score", FILM, "--metrics", "clipscore", "--models", "light"]),
        ("onnxruntime", ["score", FILM, "--metrics", "subject_consistency", "--models", "light"]),
        ("ai_edge_litert", ["score", FILM, "--metrics", "prompt_objects", "--models", "light"]),
        ("torch", ["score", FILM, "--metrics", "clipscore", "--model", "image_text=hf:m"]),
    ],
)
def test_a_command_says_what_to_install_before_it_begins(
    module: str,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    two_systems(tmp_path / "run", count=2)
    monkeypatch.setitem(sys.modules, module, None)
    done = invoke(*arguments)
    assert done.exit_code == 2, done.output
    assert install_line([module]) in done.stderr
    assert not {"tables", "parts", "charts", "report.html"} & {p.name for p in tmp_path.iterdir()}
    assert not list(tmp_path.glob("run/records.*"))


def test_a_command_whose_module_needs_an_extra_says_which(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from screentest.cli import main\n"
        f"sys.argv = ['screentest', 'annotate', 'serve', {str(tmp_path)!r}]\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'screentest[annotate]'" in done.stderr


def test_from_python_it_is_the_same_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_systems(tmp_path / "run", count=2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackage):
        screentest.export(run, tmp_path / "records.parquet", kind="parquet")
    with pytest.raises(MissingPackage):
        screentest.report(run, out=tmp_path / "a.html", tables=tmp_path, formats=["parquet"])
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
