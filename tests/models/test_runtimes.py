"""The runtimes: threads as asked, missing packages with the command that installs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from screentest._util.optional import optional
from screentest.core import BadOption, NoValue, Reason
from screentest.models.networks import runtimes
from screentest.models.networks.runtimes import LITERT, ONNX, onnx_session, threads
from tests.models.pulled import pulled


def test_threads_are_as_asked_or_this_processs_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCREENTEST_THREADS", raising=False)
    assert threads(3) == 3
    assert 1 <= threads() <= (os.cpu_count() or 1)
    monkeypatch.setenv("SCREENTEST_THREADS", "5")
    assert threads() == 5
    assert threads(2) == 2


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_a_wrong_number_of_threads_is_said_so(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("SCREENTEST_THREADS", wrong)
    with pytest.raises(BadOption, match="SCREENTEST_THREADS"):
        threads()


def test_no_runtime_is_imported_before_it_is_needed() -> None:
    code = (
        "from screentest.core import registry;"
        "[list(registry.entries(role)) for role in"
        " ('text_embedding', 'image_text', 'image_features', 'detection')];"
        "import sys;"
        f"print([m for m in ({ONNX!r}, {LITERT!r}, 'tokenizers', 'cv2', 'torch')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_loading_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ai_edge_litert")
    model = pulled("efficientdet-lite0")
    capfd.readouterr()
    runtimes.litert_model(model)
    assert capfd.readouterr() == ("", "")


def test_what_others_say_meanwhile_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    with runtimes._without_remarks():
        os.write(2, b"INFO: created a delegate\n")
        os.write(2, b"something is wrong\n")
    assert capfd.readouterr().err == "something is wrong\n"


def test_a_session_has_the_threads_it_was_given() -> None:
    pytest.importorskip(ONNX)
    session = onnx_session(pulled("mobilenet-v3-small"), wanted_threads=1)
    options = session.get_session_options()
    assert options.intra_op_num_threads == 1
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_a_package_that_does_not_load_is_a_missing_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a CUDA build of torchvision beside torch for processors: no ImportError."""
    (tmp_path / "does_not_load.py").write_text("raise RuntimeError('operator nms is missing')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NoValue, match=r"does_not_load.*operator nms") as caught:
        optional("does_not_load")
    assert caught.value.reason is Reason.MISSING_MODEL
