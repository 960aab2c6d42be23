"""The answers on the page of ``compare`` are what it prints."""

from __future__ import annotations

from pathlib import Path

import av
import pytest

from tests.docs.examples import ROOT, must_be_printed, shown
from tests.terminal import invoke

PROMPTS = 4


def test_three_models_on_four_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tutorial's checkpoints, and the better one standing still from the middle on."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert invoke("sample", "checkpoints", "models", "--prompts", str(PROMPTS)).exit_code == 0
    (tmp_path / "models" / "frozen").mkdir()
    for clip in sorted((tmp_path / "models" / "step-2000").glob("*.mp4")):
        _freeze(clip, tmp_path / "models" / "frozen" / clip.name)
    assert invoke("score", "models", "--by", "model", "--out", "scores").exit_code == 0
    done = invoke("compare", "scores")
    must_be_printed(shown(ROOT / "docs" / "compare.md"), done.stdout)


def _freeze(source: Path, target: Path) -> None:
    with av.open(str(source)) as given, av.open(str(target), "w") as made:
        frames = list(given.decode(video=0))
        rate = given.streams.video[0].average_rate
        options = {"crf": "16", "x264-params": "mbtree=0"}
        stream = made.add_stream("libx264", rate=rate, options=options)
        stream.width, stream.height, stream.pix_fmt = frames[0].width, frames[0].height, "yuv420p"
        for place in range(len(frames)):
            frame = frames[min(place, len(frames) // 2)]
            frame.pts, frame.time_base = place, 1 / rate
            made.mux(stream.encode(frame))
        made.mux(stream.encode())
