"""What a run is about reads back as it was kept, and the latest start has the last word."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from screentest.core import (
    Clip,
    Item,
    Level,
    MetricInfo,
    OutputInfo,
    RunDamaged,
    Script,
    SideEffect,
    Span,
    Traits,
    UserError,
    VideoInfo,
)
from screentest.run.notes import EvaluatorNote
from screentest.run.reader import RunReader
from screentest.run.store import RunStore
from tests.run.work import item

RICH = Item(
    "film-7",
    Path("/films/a b/café ☕.mp4"),
    prompt='a "quoted"\nprompt\x00',
    script=Script((Clip("one", Span(Fraction(0), Fraction(1001, 24000))),)),
    references=(Path("/films/face.png"),),
    source=Path("/films/before.mp4"),
    instruction="make it blue",
    groups={"model": "m-1", "theme": "sea"},
)
PROBE = VideoInfo(
    container="mov",
    codec="h264",
    width=640,
    height=360,
    pixel_format="yuv420p",
    bit_depth=8,
    rotation=0,
    sample_aspect=Fraction(1),
    start=Fraction(0),
    duration=Fraction(1001, 100),
    frames=240,
    rate=Fraction(24000, 1001),
    constant_rate=True,
    keyframes=4,
    metadata={"title": "sea"},
)
SHARE = OutputInfo(
    "part of frames",
    unit="%",
    high=100.0,
)
TRAITS = Traits((SideEffect("frozen", True, 0.5, "grain"),), visible=0.1, counts_shots=True)
METRIC = EvaluatorNote.of_metric(
    "flicker",
    "flicker|v:1",
    MetricInfo(
        {
            "flicker": OutputInfo("change", low=-math.inf, high=math.inf, higher_is_better=False),
            "share": SHARE,
        },
        Level.FRAME,
        roles=("flow",),
        needs=("prompt",),
        traits={"share": TRAITS},
    ),
    options={"window": 3},
)
JUDGE = EvaluatorNote("vlm", "judge", "vlm|v:2", {"roles": ["chat"], "nested": [{"x": None}]})


def test_items_and_probes_read_back(store: RunStore) -> None:
    store.keep_items([RICH, item(1)], {RICH.id: PROBE})
    assert store.items() == {RICH.id: RICH, "film-1": item(1)}
    assert store.probes() == {RICH.id: PROBE}


def test_paths_lead_somewhere_from_any_folder(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store.keep_items([Item("film-1", Path("film.mp4"), references=(Path("face.png"),))])
    kept = store.items()["film-1"]
    assert kept.video == tmp_path / "film.mp4"
    assert kept.references == (tmp_path / "face.png",)


def test_a_name_that_is_not_text_is_escaped(store: RunStore) -> None:
    """Such a file can be measured; the run must not fail for the sake of its name."""
    store.keep_items([Item("film-1", Path("/films/caf\udce9.mp4"))])
    assert store.items()["film-1"].video == Path("/films/caf\\udce9.mp4")


@pytest.mark.parametrize(
    "given",
    [
        Item("caf\udce9", Path("a.mp4")),
        Item("one", Path("a.mp4"), prompt="caf\udce9"),
        Item("one", Path("a.mp4"), groups={"model": "caf\udce9"}),
        Item("one", Path("a.mp4"), script=Script((Clip("caf\udce9"),))),
    ],
    ids=["id", "prompt", "group", "caption"],
)
def test_a_text_that_is_not_utf8_is_the_users_to_fix(store: RunStore, given: Item) -> None:
    with pytest.raises(UserError, match="UTF-8"):
        store.keep_items([given])


def test_evaluators_read_back(store: RunStore) -> None:
    store.keep_evaluators([METRIC, JUDGE])
    assert store.evaluators() == [METRIC, JUDGE]
    kept, _ = store.evaluators()
    assert kept.outputs["flicker"] == OutputInfo("change", -math.inf, math.inf, False)
    assert kept.outputs["share"] == SHARE
    assert kept.traits["share"] == replace(TRAITS, group="prompt")
    assert kept.traits["flicker"] == Traits(group="prompt")
    assert kept.about["options"] == {"window": 3}
    assert JUDGE.outputs == {}


def test_an_evaluator_is_a_metric_or_a_judge() -> None:
    with pytest.raises(ValueError, match="not a 'backend'"):
        EvaluatorNote("x", "backend", "x|v:1")


def test_notes(store: RunStore) -> None:
    certificate: dict[str, Any] = {"accuracy": {"blur": 0.75}, "aspects": ["blur"], "none": None}
    store.keep_note("certificate", {"draft": True})
    store.keep_note("certificate", certificate)
    store.keep_note("remark", "fine")
    assert store.notes() == {"certificate": certificate, "remark": "fine"}
    assert store.note("certificate") == certificate
    assert store.note("absent") is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, {"x": object()}, b"bytes"])
def test_only_plain_json_is_kept(store: RunStore, bad: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        store.keep_note("bad", bad)
    with pytest.raises((TypeError, ValueError)):
        store.keep_evaluators([EvaluatorNote("x", "metric", "x|v:1", {"bad": bad})])
    assert store.notes() == {}
    assert store.evaluators() == []


def test_the_latest_start_has_the_last_word(tmp_path: Path) -> None:
    with RunStore(tmp_path, command="test") as store:
        store.keep_items([item(1, prompt="before"), item(2)], {"film-1": PROBE})
        store.keep_evaluators([METRIC, EvaluatorNote("vlm", "judge", "vlm|v:1")])
    with RunStore(tmp_path, command="test"):
        pass  # a start that keeps nothing takes nothing away
    with RunReader(tmp_path) as run:
        assert set(run.items()) == {"film-1", "film-2"}
    with RunStore(tmp_path, command="test") as store:
        store.keep_items([item(1, prompt="after")])
        store.keep_items([item(3)])
        store.keep_evaluators([METRIC, JUDGE])
    with RunReader(tmp_path) as run:
        assert run.items() == {"film-1": item(1, prompt="after"), "film-3": item(3)}
        assert run.probes() == {}  # of a video that may have changed
        assert run.evaluators() == [METRIC, JUDGE]


def test_no_secret_is_kept(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-12345678")
    store.keep_items([item(1, prompt="my key is sk-12345678")])
    store.keep_note("remark", {"said": "sk-12345678"})
    store.keep_evaluators([EvaluatorNote("vlm", "judge", "v", {"said": "sk-12345678"})])
    assert store.items()["film-1"].prompt == "my key is [secret]"
    assert store.note("remark") == {"said": "[secret]"}
    assert store.evaluators()[0].about == {"said": "[secret]"}


@pytest.mark.parametrize(
    ("table", "column", "read"),
    [
        ("items", "body", RunReader.items),
        ("evaluators", "about", RunReader.evaluators),
        ("notes", "body", RunReader.notes),
    ],
)
def test_a_changed_row_is_noticed(tmp_path: Path, table: str, column: str, read: Any) -> None:
    with RunStore(tmp_path, command="test") as store:
        store.keep_items([item(1)])
        store.keep_evaluators([METRIC])
        store.keep_note("remark", "fine")
    connection = sqlite3.connect(tmp_path / "run.db")
    connection.execute(f"UPDATE {table} SET {column} = '{{}}'")
    connection.commit()
    connection.close()
    with RunReader(tmp_path) as run, pytest.raises(RunDamaged, match=table):
        read(run)
