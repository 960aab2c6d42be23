"""``screentest.score_frames``: clips in memory, as a training loop has them."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import psutil
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import screentest
from screentest.api import clips
from screentest.api.clips import file_name
from screentest.core import BadOption, Outcome, Score, StorageError
from screentest.present.results import Scores
from screentest.run.reader import RunReader
from screentest.video.memory import MemoryVideo, held, memory_video
from tests.messages import names

RATE = Fraction(12)


def moving(seed: int = 0, frames: int = 24) -> NDArray[np.uint8]:
    """Soft patterns that pass by, then others: two shots."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (2, 9, 40, 3), dtype=np.uint8)
    wide = coarse.repeat(8, axis=1).repeat(8, axis=2)
    half = frames // 2
    return np.stack([wide[n // half, :, 3 * n : 3 * n + 96] for n in range(frames)])


CLIP = moving()


def write(path: Path, codec: str, pixels: str, options: dict[str, str]) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=RATE, options=options)
        stream.width, stream.height, stream.pix_fmt = 96, 72, pixels
        stream.codec_context.time_base = 1 / RATE
        for number, picture in enumerate(CLIP):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, 1 / RATE
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def outcomes(scores: Scores) -> dict[str, Outcome[Score]]:
    assert len(scores) == 1
    return {one.name: one.outcome for one in scores.results.values}


LOSSLESS = {
    "ffv1": ("film.nut", "ffv1", "bgr0", {}),
    "png": ("film.mov", "png", "rgb24", {}),
    "h264": ("film.mp4", "libx264rgb", "rgb24", {"qp": "0", "preset": "ultrafast"}),
}


def test_values_are_those_of_the_same_frames_in_lossless_files(tmp_path: Path) -> None:
    """All of core, curves and details included, whatever the codec tags its colours as."""
    files = [write(tmp_path / name, *rest) for name, *rest in LOSSLESS.values()]
    run = screentest.score(files, out=tmp_path / "run", prompt="a red pattern")
    memory = outcomes(screentest.score_frames(CLIP, fps=12, prompt="a red pattern"))
    assert sum(one.ok for one in memory.values()) > 30
    for item in run.results.items:
        found = {name: one.outcome for name, one in run.results.of_item(item).items()}
        assert found == memory


def test_a_small_clip_changes_no_number_of_the_next() -> None:
    """OpenCV's search for flow takes other scales for small pictures, and then keeps them."""
    alone = screentest.score_frames(CLIP, fps=12, metrics="motion").means
    small = screentest.score_frames(CLIP[:, :24, :24], fps=12, metrics="motion").means
    assert screentest.score_frames(CLIP, fps=12, metrics="motion").means == alone
    assert screentest.score_frames(CLIP[:, :24, :24], fps=12, metrics="motion").means == small


def test_one_clip_has_values_reasons_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = screentest.score_frames(CLIP, fps=12, metrics=["flicker", "shot_count"])
    assert found.run is None
    assert set(found[0].numbers) == {"flicker"}
    assert found[0].reasons["shot_count"].reason.value == "not_applicable"
    assert found.means == found[0].numbers
    assert names(found.layout, "24 frames", "96×72", "THWC uint8", "0 to 255", "12 fps")
    assert not list(tmp_path.iterdir())
    with pytest.raises(BadOption, match="have no run"):
        screentest.report(found)


def test_a_clip_of_one_shot_has_worst_moments() -> None:
    """There is no curve over shots; still the noise of one moment is found."""
    one_shot = np.stack([CLIP[0, :, :]] * 24)
    rng = np.random.default_rng(1)
    shaky = one_shot + rng.integers(0, 8, one_shot.shape, dtype=np.uint8) // 4
    shaky[15:18] = np.clip(shaky[15:18].astype(int) + rng.integers(-60, 60, (3, 72, 96, 3)), 0, 255)
    found = screentest.score_frames(shaky, fps=12, metrics=["noise:rate=12", "flicker"])
    assert len(found[0].values[0].outcome.unwrap().curve) == 1
    assert any(1.25 <= moment <= 1.5 and "noise" in words for moment, words in found[0].worst)


def test_a_batch_with_prompts_and_ids() -> None:
    batch = np.stack([CLIP, moving(1)])
    found = screentest.score_frames(
        batch, fps="12", prompt=["one", "two"], ids=["a", "b"], metrics="flicker", step=5
    )
    assert [one.item.id for one in found] == ["a", "b"]
    assert found["b"].item.text == "two"
    assert found["b"].item.groups == {"step": "5"}
    (row, _) = found.wide_records()
    assert row == {
        "item": "a",
        "prompt": "one",
        "group.step": "5",
        "flicker": found[0].numbers["flicker"],
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fps": 0}, "invalid `fps` 0"),
        ({"fps": float("nan")}, "invalid `fps` nan"),
        ({"fps": 24, "prompt": ["a", "b"]}, "`prompt`: 2 for 1"),
        ({"fps": 24, "workers": 2}, "`workers`"),
        ({"fps": 24, "metrics": "flickr"}, "metric 'flickr'"),
        ({"fps": 24, "data": "x.json"}, "^score_frames .*'data'"),
        ({"fps": 24, "promt": "a cat"}, "^score_frames .*'promt'\n.*'prompt'"),
        ({"fps": 24, "metric": "noise"}, "'metric'\n.*'metrics'"),
        ({"fps": 24, "prompts": ["a cat"]}, "`prompts` <class 'list'>: .*folder"),
        ({"fps": 24, "prompts": "a cat"}, "`prompts` 'a cat': .*folder"),
        ({"fps": 24, "hooks": "wanda"}, "hook 'wanda'"),
    ],
)
def test_what_cannot_be_scored(options: dict[str, object], message: str) -> None:
    with pytest.raises(screentest.core.UserError, match=message):
        screentest.score_frames(CLIP, **{"metrics": "flicker", **options})  # type: ignore[arg-type]


WRONG: dict[str, list[Any]] = {
    "fps": [None, "", "fast", 0, -1, float("nan"), 1e-300, 10**400, [8], np.array([8, 8]), "1/0"],
    "value_range": [(0,), 5, "ab", "01", (None, 1), (0, 1, 2), (1, 0), (0, 10**400), {}, b"ab"],
    "layout": [None, 5, b"THWC", "XYZ", ["THWC"]],
    "ids": [
        "",
        5,
        None,
        [""],
        [5],
        "\ud800",
        ["a", "b"],
        b"a",
        np.array(3),
        {"a", "b"},
    ],
    "prompt": [5, None, "half \ud83d", [None], ["a", "b"], b"a"],
    "step": [1.5, True, "5", float("nan"), [1], np.float64(2), 2 + 1j],
    "metrics": [None, 5, "", [""], [5], object(), "contrst"],
    "suite": [None, 5, ["core"]],
    "detector": [None, 5, "defualt", "\ud800"],
    "out": [5, b"run", "\x00", "\ud800"],
    "models": [5, [5], b"light", object()],
    "workers": ["2", 0, 1.5, float("nan")],
    "engine": ["quick", 5, object()],
    "retry": ["sometimes", 5, np.array([1, 2])],
    "max_cost": ["much", [1], np.array([1, 2])],
    "prompts": [5, "x" * 300],
    "hooks": [5, object(), [None]],
    "progress": [5, "yes"],
}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        pytest.param(option, value, id=f"{option}-{number}")
        for option, values in WRONG.items()
        for number, value in enumerate(values)
    ],
)
def test_what_is_wrong_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, value: object
) -> None:
    """An error of ours, which says which option it is, in memory and with a run."""
    monkeypatch.chdir(tmp_path)
    for out in (None, "run"):
        options: dict[str, Any] = {"fps": 12, "metrics": "contrast", "out": out, option: value}
        if option in ("workers", "engine", "retry") and out is None:
            continue
        with pytest.raises(screentest.core.ScreentestError):
            screentest.score_frames(CLIP[:2], **options)
    assert not list(tmp_path.rglob("frames"))


@pytest.mark.parametrize("fps", [1 / 7, 1e-3, np.float32(12), np.int64(12), "24000/1001", 23.976])
def test_any_rate_can_be_kept(tmp_path: Path, fps: Any) -> None:
    options: dict[str, Any] = {"fps": fps, "metrics": "contrast"}
    kept = screentest.score_frames(CLIP[:3], out=tmp_path, **options)
    assert kept.means == screentest.score_frames(CLIP[:3], **options).means


@pytest.mark.parametrize("name", ["x" * 300, "é" * 80, "..", "a/b", "new\nline"])
def test_any_name_can_be_kept(tmp_path: Path, name: str) -> None:
    for clip in (CLIP[:2], CLIP[2:4]):
        with suppress(BadOption):  # the second: the name is taken
            screentest.score_frames(
                clip, fps=12, metrics="contrast", ids=iter([name]), out=tmp_path
            )
    assert held_by(tmp_path) == [name]
    (file,) = (tmp_path / "frames").iterdir()
    assert screentest.show(tmp_path, name).item.video == file


def test_what_is_not_there_as_it_was_written_is_not_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of the second clip takes the place of that of the first."""
    monkeypatch.setattr(clips, "file_name", lambda name: "same")
    frames = np.stack([CLIP[:2], CLIP[2:4]])
    with pytest.raises(StorageError, match="overwritten"):
        screentest.score_frames(frames, fps=12, metrics="contrast", out=tmp_path / "run")
    assert held_by(tmp_path / "run") == []


@given(st.text(max_size=300), st.text(max_size=300))
@example("a", "A")
def test_two_names_are_two_files(one: str, other: str) -> None:
    assume(max(one + other, default="") < "\ud800" or max(one + other) > "\udfff")
    ours, theirs = file_name(one), file_name(other)
    assert (ours.casefold() == theirs.casefold()) == (one == other)
    assert len(file_name(one)) < 250
    assert "/" not in file_name(one)


def test_frames_in_the_place_of_files() -> None:
    with pytest.raises(BadOption, match="score_frames"):
        screentest.score(CLIP)  # type: ignore[arg-type]
    with pytest.raises(BadOption, match=r"^score .*'fps'") as refused:
        screentest.score("film.mp4", fps=24)  # type: ignore[call-arg]
    assert refused.value.param == "fps"


def test_into_a_run_step_by_step(tmp_path: Path) -> None:
    for step in (1, 2):
        found = screentest.score_frames(
            moving(step), fps=12, step=step, metrics="flicker", out=tmp_path
        )
        alone = screentest.score_frames(moving(step), fps=12, metrics="flicker")
        assert found.means == alone.means  # of this call, as hooks are told
        assert [one.item.id for one in found] == [f"step-{step}"]
        assert screentest.show(found.run or "", f"step-{step}").numbers == alone[0].numbers
    assert held_by(tmp_path) == ["step-1", "step-2"]


def held_by(run: Path) -> list[str]:
    with RunReader(run) as reader:
        return sorted(reader.items())


def test_the_same_step_again(tmp_path: Path) -> None:
    """The same frames are there already; others are refused, or take their place where asked."""

    def score(frames: NDArray[np.uint8], **more: Any) -> Scores:
        options: dict[str, Any] = {"metrics": "contrast", "out": tmp_path, "step": 5, **more}
        return screentest.score_frames(frames[:4], fps=12, **options)

    first = score(moving(1))
    assert score(moving(1)).means == first.means
    with pytest.raises(BadOption, match=r"'step-5'.* frames\n.*step"):
        score(moving(2))
    with pytest.raises(BadOption, match="another prompt"):
        score(moving(1), prompt="a cat")
    assert screentest.show(tmp_path, "step-5").numbers == first.means
    assert not list((tmp_path / "frames").glob(".*"))
    score(moving(3), step=6)
    assert score(moving(2), replace=True).means != first.means
    assert held_by(tmp_path) == ["step-5", "step-6"]


def test_clips_without_a_name_are_added_under_the_next_one(tmp_path: Path) -> None:
    with pytest.raises(screentest.core.UserError, match="no metric 'contrst'"):
        screentest.score_frames(CLIP, fps=12, metrics="contrst", out=tmp_path / "run")
    assert not list(tmp_path.iterdir())
    names = []
    for frames in (CLIP, CLIP, np.stack([CLIP, CLIP]), np.stack([CLIP, CLIP])):
        few = frames[..., :4, :, :, :]
        found = screentest.score_frames(few, fps=12, metrics="contrast", out=tmp_path / "run")
        names.append([one.item.id for one in found])
    assert names == [["clip"], ["clip-1"], ["clip-2", "clip-3"], ["clip-4", "clip-5"]]
    assert held_by(tmp_path / "run") == ["clip", *(f"clip-{number}" for number in range(1, 6))]


RANK = """
import json, sys, time
from pathlib import Path
import numpy as np
import screentest
from screentest.core import BadOption

rank, folder = int(sys.argv[1]), Path(sys.argv[2])
rng = np.random.default_rng(rank)
# The lower the rank, the less contrast: no two ranks share a number.
spread = 15 * (rank + 1)
clips = [rng.integers(128 - spread, 128 + spread, (3, 32, 32, 3), dtype=np.uint8) for _ in range(3)]

def score(clip, **more):
    return screentest.score_frames(clip, fps=8, metrics="contrast", progress=False, **more)

alone = [score(clip).means["contrast"] for clip in clips]
(folder / f"ready-{rank}").touch()
for _ in range(6000):
    if len(list(folder.glob("ready-*"))) == 8:
        break
    time.sleep(0.01)
answers = {}
for mode in ("plain", "ids", "steps", "same_step"):
    answers[mode] = {}
    for number, clip in enumerate(clips):
        more = {
            "plain": {},
            "ids": {"ids": f"{rank}/{number}"},
            "steps": {"step": 10 * rank + number},
            "same_step": {"step": number},
        }[mode]
        try:
            scores = score(clip, out=folder / mode, **more)
        except BadOption as error:
            answers[mode][f"refused {number}"] = error.message
        else:
            (one,) = scores
            answers[mode][one.item.id] = [one.numbers["contrast"], alone[number]]
(folder / f"{rank}.json").write_text(json.dumps(answers))
"""


def test_eight_processes_add_to_one_run(tmp_path: Path) -> None:
    """As the ranks of a training do: each is told the numbers of its own clips, and all are kept.

    What is right is what the same process was told of the same clip without a run.
    """
    command = [sys.executable, "-c", RANK]
    ranks = [
        subprocess.Popen([*command, str(rank), str(tmp_path)], stderr=subprocess.PIPE, text=True)
        for rank in range(8)
    ]
    errors = [rank.communicate(timeout=300)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * 8, errors
    answers = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(8)]
    for mode, kept in (("plain", 24), ("ids", 24), ("steps", 24), ("same_step", 3)):
        told = [pair for one in answers for pair in one[mode].items() if "refused" not in pair[0]]
        assert len(dict(told)) == len(told) == kept, mode  # no id is told twice
        run = tmp_path / mode
        assert held_by(run) == sorted(name for name, _ in told)
        assert len(list((run / "frames").iterdir())) == kept
        for name, (value, alone) in told:
            assert value == screentest.show(run, name).numbers["contrast"] == alone, (mode, name)
    # What lies there is what was scored.
    files = {screentest.show(run, name).item.video: value for name, (value, _) in told}
    again = screentest.score(list(files), metrics="contrast", out=tmp_path / "again")
    assert {one.item.video: one.numbers["contrast"] for one in again} == files
    refused = [text for one in answers for name, text in one["same_step"].items() if name[0] == "r"]
    assert len(refused) == 21
    assert all("already, with other frames" in text for text in refused)


def test_a_training_script_is_not_run_again(tmp_path: Path) -> None:
    """It has no guard, and registers a hook and a metric of its own."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "training\n1 ['of_the_script']\n"
    assert "Warning" not in done.stderr


SCRIPT = """
import numpy as np
import screentest

@screentest.hook(name="lines")
class Lines(screentest.BaseHook):
    "Prints a line."

    def log(self, logged):
        print(logged.step, list(logged.means))

@screentest.metric
def of_the_script(frames: list[np.ndarray]) -> float:
    return 1.0

print("training")
clip = np.random.default_rng(0).random((4, 32, 32, 3))
screentest.score_frames(clip, fps=8, step=1, metrics="of_the_script", out="run", hooks="lines")
"""


def test_a_metric_of_a_path_gets_a_file() -> None:
    @screentest.metric(name="bytes_of_file", high=1e9)
    def bytes_of_file(video: Path) -> float:
        return float(video.stat().st_size)

    found = screentest.score_frames(CLIP, fps=12, metrics="bytes_of_file")
    assert found[0].numbers["bytes_of_file"] > 1000


def test_what_is_held_is_let_go() -> None:
    with held(MemoryVideo(CLIP, RATE)) as path:
        assert memory_video(path) is not None
        copy = memory_video(path).file()  # type: ignore[union-attr]
        assert copy.is_file()
    assert memory_video(path) is None
    assert not copy.exists()


def test_two_hundred_clips_keep_memory_flat() -> None:
    """The first clips load what there is to load; after that nothing is kept of any."""
    process = psutil.Process()
    small = CLIP[:8]

    def score(count: int) -> int:
        for number in range(count):
            screentest.score_frames(
                np.roll(small, number, axis=2), fps=8, metrics=["flicker", "sharpness"]
            )
        gc.collect()
        return process.memory_info().rss

    begin = score(40)
    # 160 clips of 8×72×96×3 are 27 MB: were they kept, it would show.
    assert score(160) - begin < 10_000_000


def test_short_reprs_and_notebooks() -> None:
    found = screentest.score_frames(np.stack([CLIP] * 12), fps=12, metrics=["flicker", "tones"])
    for shown in (repr(found), repr(found[0])):
        assert len(shown.splitlines()) <= 10
        assert max(map(len, shown.splitlines())) <= 80
    assert "Scores of 12 videos" in repr(found)
    page = screentest.score_frames(CLIP, fps=12, metrics="flicker", prompt="<b>")[0]._repr_html_()
    assert "<table>" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
