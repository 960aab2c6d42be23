"""The jobs from Python, as a newcomer's script calls them: no guard, five lines."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import screentest
from screentest import api
from screentest.analysis.results import Results, Value
from screentest.core import Item, Outcome, OutputInfo, Reason, Score, UnknownName, UserError
from screentest.present.results import Scores, data_frame
from tests.messages import names

ROOT = Path(__file__).parent.parent


def test_the_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(api).failed == 0
    assert (tmp_path / "report.html").is_file()


def run_script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


UNGUARDED = """
print("the script runs")
import screentest
from screentest.sample import sample_videos
scores = screentest.score(sample_videos()[1].item, metrics=["shot_count"], workers=2)
print(scores.frame().score.tolist())
print(screentest.report(scores, pictures=1))
"""


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    done = run_script(tmp_path, UNGUARDED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the script runs") == 1
    assert (tmp_path / "report.html").is_file()


OWN_METRIC = """
import screentest
from screentest.core import MetricInfo, Outcome, OutputInfo, Score, register
from screentest.sample import sample_videos

class Answer:
    info = MetricInfo({"answer": OutputInfo("always the same", 0, 100)})
    consumers = ()
    def start(self, item, resources): return self
    def finish(self): return {"answer": Outcome.of(Score(42.0))}

@register("metric", "answer")
def answer() -> Answer: return Answer()

BODY
"""
CALL = 'print(screentest.score(sample_videos()[1].item, metrics=["answer"]))'


def test_a_metric_of_the_script_itself_reaches_the_workers(tmp_path: Path) -> None:
    guarded = f'if __name__ == "__main__":\n    {CALL}'
    done = run_script(tmp_path, OWN_METRIC.replace("BODY", guarded))
    assert done.returncode == 0, done.stderr
    assert "answer" in done.stdout
    assert " 42.0\n" in done.stdout


def test_a_script_with_its_own_metric_and_no_guard_is_reported(tmp_path: Path) -> None:
    done = run_script(tmp_path, OWN_METRIC.replace("BODY", CALL))
    assert done.returncode == 1
    assert names(done.stderr, "ScreentestError: worker processes", "__main__")
    # Each worker fails at once: nothing multiplies.
    assert done.stderr.count("freeze_support") <= 20


def test_the_surface_of_the_package() -> None:
    for name in ("build", "certify", "compare", "report", "score"):
        assert getattr(screentest, name).__module__.startswith("screentest.api.")
    assert set(screentest.__all__) <= set(dir(screentest))
    assert {name for names in screentest._HOMES.values() for name in names} < {*screentest.__all__}
    for name in screentest.__all__:
        thing = getattr(screentest, name)
        assert name == "__version__" or thing.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        screentest.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_plugins_need_nothing_but_the_root() -> None:
    """No page for plugin authors, and no example, names a deeper module than screentest.testing."""
    pages = [ROOT / "docs" / "plugins.md", ROOT / "docs" / "ask_a_model.md"]
    pages += [
        *ROOT.glob("examples/plugin/**/*.py"),
        *ROOT.glob("tests/examples/every_kind/**/*.py"),
    ]
    modules = {path.name for path in (ROOT / "src" / "screentest").iterdir() if path.is_dir()}
    for page in pages:
        named = set(re.findall(r"\bscreentest\.(\w+)", page.read_text(encoding="utf-8")))
        assert named & modules <= {"testing"}, page


@pytest.fixture
def scores() -> Scores:
    """One value, one missing."""
    items = {name: Item(name, Path(f"{name}.mp4"), groups={"model": "ours"}) for name in "ab"}
    values = (
        Value("a", "calm", "calm", Outcome.of(Score(1.0)), "calm|v:1"),
        Value("b", "calm", "calm", Outcome.failed(Reason.UNDECODABLE, "no picture"), "calm|v:1"),
    )
    return Scores(Path("run"), Results(items, values, {"calm": OutputInfo("how calm")}))


@pytest.mark.parametrize("library", ["", "pandas", "polars"])
def test_a_frame_has_a_row_per_value_and_no_nan(scores: Scores, library: str) -> None:
    pytest.importorskip(library or "pandas")
    frame = scores.frame(library)
    assert list(frame.columns) == [
        *("item", "metric", "score", "reason", "detail", "signature", "group.model")
    ]
    missing = frame["score"].is_null() if library == "polars" else frame["score"].isna()
    assert list(missing) == [False, True]
    assert frame["score"].sum() == 1.0
    assert str(frame["score"].dtype) == "Float64"
    assert list(frame["reason"])[1] == "undecodable"


def test_without_any_library_there_are_rows(
    scores: Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(UserError, match="pandas nor polars"):
        scores.frame()
    assert [row["score"] for row in scores.records()] == [1.0, None]
    with pytest.raises(UserError, match="invalid library 'excel'"):
        data_frame([], "excel")


def test_scores_by_name(scores: Scores) -> None:
    assert str(scores) == repr(scores)
    assert "calm ↑  1.00" in str(scores)
    with pytest.raises(IndexError, match=r"item 9: .* 2\b"):
        scores[9]
    assert scores.value("b", "calm").outcome.failure is not None
    with pytest.raises(UnknownName, match="no 'busy' of 'a'"):
        scores.value("a", "busy")
