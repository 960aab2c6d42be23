"""One decorator, and a thing is known by name."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import subprocess
import sys
import types
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import BadOption, Registry, UnknownName
from screentest.core import registry as everything
from screentest.core.registry import HOMES
from screentest.core.signature import parse
from screentest.models.roles import role_names


@pytest.fixture
def registry() -> Registry:
    registry = Registry({})

    @registry.register("metric", "sharpness", version=3, summary="edges")
    def sharpness(
        *, window: int = 5, weights: tuple[float, ...] = (1.0,), name: str = "a"
    ) -> object:
        return ("sharpness", window, weights, name)

    @registry.register("metric", "needs_one")
    def needs_one(*, model: str) -> object:
        return model

    return registry


def test_arguments_are_recorded_with_defaults(registry: Registry) -> None:
    built = registry.build("metric", "sharpness:window=7")
    assert built.thing == ("sharpness", 7, (1.0,), "a")
    assert dict(built.spec.options) == {"window": 7, "weights": (1.0,), "name": "a"}
    assert str(built.spec.signature) == "sharpness|v:3|name:a|weights:[1.0]|window:7"


def test_a_class_is_a_factory_and_its_options_have_types(registry: Registry) -> None:
    @registry.register("metric", "grain")
    class Grain:
        def __init__(self, *, least: float = 1.0) -> None:
            self.least = least

    built = registry.build("metric", "grain:least=2")
    assert isinstance(built.thing, Grain)
    assert str(built.spec) == "grain:least=2.0"
    with pytest.raises(BadOption, match="least"):
        registry.build("metric", "grain:least=much")


def test_a_spec_rebuilds_the_same(registry: Registry) -> None:
    built = registry.build("metric", 'sharpness:weights=[1,2.5],name="x, y=z"')
    again = registry.build("metric", str(built.spec))
    assert again == built


@pytest.mark.parametrize("text", ["7", "true", "null", "a b", " padded ", "x,y", '"q"', "", "é"])
def test_text_that_looks_like_something_else_comes_back_as_text(
    registry: Registry, text: str
) -> None:
    built = registry.build("metric", "sharpness", name=text)
    assert registry.build("metric", str(built.spec)).spec == built.spec


def test_what_the_text_says_is_what_importing_everything_registers() -> None:
    found: dict[tuple[str, str], str] = {}
    expected: dict[tuple[str, str], str] = {}
    for kind in [*(HOMES.keys() - {"*"}), *role_names()]:
        found |= {(kind, name): module for name, module in everything._index(kind).items()}
        for entry in everything.entries(kind):
            # Registered with their role, in homes that are one module and always imported whole.
            in_a_loop = entry.factory.__module__ == "screentest.models.roles"
            if not in_a_loop and entry.origin == "builtin":
                expected[kind, entry.name] = entry.factory.__module__
    assert found == expected


@pytest.mark.parametrize(
    ("kind", "name", "most"), [("metric", "contrast", 4), ("suite", "core", 1), ("metric", "no", 0)]
)
def test_one_name_imports_one_module(kind: str, name: str, most: int) -> None:
    code = (
        "import sys; from screentest.core import registry;"
        f"registry.has({kind!r}, {name!r});"
        "homes = ('screentest.metrics.', 'screentest.suites.', 'screentest.judges.');"
        "print([name for name in sys.modules if name.startswith(homes)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(ast.literal_eval(done.stdout)) <= most


def test_folders_inside_a_home_are_found_and_a_broken_module_harms_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home_of_metrics"
    (home / "static").mkdir(parents=True)
    (home / "__init__.py").touch()
    (home / "static" / "__init__.py").touch()
    (home / "static" / "one.py").write_text(
        "from home_of_metrics import registry\n"
        "registry.register('metric', 'deep')(lambda: 'found')\n"
    )
    text = "import no_such_module_anywhere\nregister('metric', 'broken')\n"
    (home / "broken.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = Registry({"metric": ("home_of_metrics",)})
    importlib.import_module("home_of_metrics").registry = registry  # type: ignore[attr-defined]
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
            list(registry.entries("metric"))
    assert registry.build("metric", "deep").thing == "found"
    assert registry.entry("metric", "deep").origin == "home_of_metrics.static.one"
    assert registry.names("metric") == ["broken", "deep"]


@pytest.mark.parametrize("change", ["window=6", "weights=[2]", "name=b"])
def test_every_option_changes_the_signature(registry: Registry, change: str) -> None:
    plain = registry.build("metric", "sharpness").spec.signature
    assert registry.build("metric", f"sharpness:{change}").spec.signature != plain


def test_did_you_mean(registry: Registry) -> None:
    with pytest.raises(UnknownName) as caught:
        registry.build("metric", "sharpnes")
    assert "Did you mean 'sharpness'?" in caught.value.advice
    with pytest.raises(BadOption) as wrong_option:
        registry.build("metric", "sharpness:windw=3")
    assert "Did you mean 'window'?" in wrong_option.value.advice


@pytest.mark.parametrize(
    "text", ["sharpness:window=many", "sharpness:window", "sharpness:=3", "needs_one"]
)
def test_wrong_options_are_refused(registry: Registry, text: str) -> None:
    with pytest.raises(BadOption):
        registry.build("metric", text)


@pytest.mark.parametrize("level", ["nan", "inf", "-inf", "NaN", "1e999"])
def test_a_number_that_nothing_can_be_compared_with_is_refused(
    registry: Registry, level: str
) -> None:
    @registry.register("metric", "levelled")
    def levelled(*, level: float = 0.5) -> object:
        return level

    with pytest.raises(BadOption, match="invalid option 'level'"):
        registry.build("metric", f"levelled:level={level}")


@pytest.mark.parametrize("rate", ["-1", "1e300"])
def test_a_value_that_the_factory_refuses_is_an_option_that_cannot_be(
    registry: Registry, rate: str
) -> None:
    @registry.register("metric", "sampled")
    def sampled(*, rate: float = 4.0) -> object:
        if rate < 0:
            raise ValueError("a rate is above zero")
        return Fraction(rate * 1e300)  # OverflowError: there is no ratio that is infinite

    with pytest.raises(BadOption, match=r"invalid metric sampled:rate=.*: "):
        registry.build("metric", f"sampled:rate={rate}")


def test_one_name_one_owner(registry: Registry) -> None:
    def other() -> object:
        return None

    other.__module__ = "somebody.else"
    with pytest.raises(ValueError, match="registered by"):
        registry.register("metric", "sharpness")(other)


def test_plugins_register_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry({})
    good, bad = types.ModuleType("good_plugin"), "no_such_module_anywhere"
    monkeypatch.setitem(sys.modules, "good_plugin", good)
    loaded = []

    def points(*, group: str) -> list[importlib.metadata.EntryPoint]:
        loaded.append(group)
        registry.register("judge", "coin")(lambda: "heads")
        return [
            importlib.metadata.EntryPoint("good", "good_plugin", group),
            importlib.metadata.EntryPoint("bad", bad, group),
        ]

    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    assert loaded == []
    assert registry.build("judge", "coin").thing == "heads"
    assert loaded == ["screentest.plugins"]
    # One broken plugin is told, not fatal.
    assert list(registry.broken_plugins) == ["bad"]


def test_a_plugin_cannot_take_the_name_of_ours_and_says_where_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home_of_judges"
    home.mkdir()
    (home / "__init__.py").touch()
    (home / "coin.py").write_text("register('judge', 'coin')")
    plugin = tmp_path / "judging_plugin.py"
    plugin.write_text(
        "from home_of_judges import registry\n"
        "registry.register('judge', 'die')(lambda: 6)\n"
        "registry.register('judge', 'coin')(lambda: 'tails')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = Registry({"judge": ("home_of_judges",)})
    importlib.import_module("home_of_judges").registry = registry  # type: ignore[attr-defined]
    point = importlib.metadata.EntryPoint("dice", "judging_plugin", "screentest.plugins")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [point])

    assert registry.entry("judge", "die").origin == "dice"
    assert "'coin'" in registry.broken_plugins["dice"]
    assert "home_of_judges.coin" in registry.broken_plugins["dice"]


def test_every_role_has_backends() -> None:
    for role in role_names():
        assert everything.names(role), role


def test_parse_keeps_commas_inside_brackets() -> None:
    assert parse('a:b=[1,2],c={"d": [3]},e=x') == ("a", {"b": [1, 2], "c": {"d": [3]}, "e": "x"})
    assert parse("a") == ("a", {})


def test_folders_are_walked_once_however_often_names_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everything.names("suite")
    walked: list[Path] = []
    rglob = Path.rglob
    monkeypatch.setattr(Path, "rglob", lambda path, *a: walked.append(path) or rglob(path, *a))
    everything.names("suite")
    assert not everything.has("suite", "no_such_suite")
    assert not walked
