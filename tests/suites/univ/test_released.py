"""Result files as UniV-Eval writes them (its evaluation_global.py and V2T_evaluation.py).

It stores the points as a text in JSON: the answer of the judge as it came. The template of V2T is
figure F20 of the paper, with the two relations outside their group as it is printed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from screentest.core import BadOption, ManifestError, Reason
from screentest.suites.univ.data import read_univbench
from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.released import read_released
from screentest.suites.univ.tables import dimension_table, task_radars, task_standings
from tests.terminal import invoke

NAMES = ("Subject", "Background", "Action", "Camera", "Color", "Lighting", "Video Style")
NAMES += ("Relative position",)


def answer(*points: float) -> str:
    scores = dict(zip(NAMES, points, strict=False))
    return json.dumps({"scores": scores, "overall_comment": "Good light."})


@pytest.fixture
def kling(tmp_path: Path) -> Path:
    folder = tmp_path / "kling"
    folder.mkdir()
    whole = f"```json\n{answer(10, 9, 8, 7, 6, 5, 4, 3)}\n```"
    (folder / "1_format_eval.json").write_text(json.dumps(whole))
    (folder / "1_eval.json").write_text(json.dumps({"is_approved": False, "feedback": []}))
    (folder / "2_format_eval.json").write_text(json.dumps(answer(10, 10, 10, 10)))
    (folder / "3_eval_raw.txt").write_text("I could not decide.")
    return folder


def test_points_of_a_model(kling: Path) -> None:
    found = read_released(kling, UnivTask.T2V)
    assert {item.groups["case"] for item in found.items.values()} == {"1", "2", "3"}
    assert found.numbers("univ_t2v.average") == {"t2v/kling/1": 6.5}
    assert found.numbers("univ_t2v.camera") == {"t2v/kling/1": 7, "t2v/kling/2": 10}
    assert found.numbers("univ_t2v.colour") == {"t2v/kling/1": 6}
    lost = [value.outcome.failure for value in found.of("univ_t2v.subject")]
    assert [failure and failure.reason for failure in lost] == [None, None, Reason.UNPARSABLE]


def leaf(item: str, score: object) -> dict[str, object]:
    return {"item": item, "is_present": "True", "score": score, "reasoning": "It says so."}


V2T: dict[str, Any] = {
    "global_attribute": {
        "video_style": [leaf("realistic", "1")],
        "atmosphere": [leaf("None", "0")],
        "background": [leaf("a lake", "1"), leaf("a hill", 0.5)],
        "color": {"overall_color_tone": [leaf("warm", "0.5")], "contrast": [leaf("low", "0")]},
        "relative_position": {"in_frame_layout": [leaf("left", "1")]},
        "inter_subject_relation": [leaf("side by side", "0")],
    },
    "temporal_actions": [{"actions": [leaf("runs", "1")]}, {"actions": [leaf("waves", "maybe")]}],
}


def test_a_checklist_with_scores(tmp_path: Path) -> None:
    (tmp_path / "7_v2t_eval.json").write_text(json.dumps(V2T))
    found = read_released(tmp_path, None)
    (name,) = found.items
    numbers = {value.output: value.number for value in found.values}
    # By hand: hue .5 and contrast 0; layout (1 + 0) / 2; "waves" has no score that can be read.
    wanted = {"style": 1, "background": 0.75, "colour": 0.25, "position": 0.5, "action": 1}
    assert {key: numbers[key] for key in wanted} == wanted
    assert numbers["average"] == pytest.approx(sum(wanted.values()) / 5)
    assert numbers["coverage"] == 8 / 9
    assert numbers["camera"] is numbers["quoted"] is numbers["atmosphere"] is None
    assert found.items[name].groups["task"] == "v2t"


def test_tables_of_several_models(kling: Path, tmp_path: Path) -> None:
    wan = tmp_path / "HunyuanVideo-1.5"
    wan.mkdir()
    (wan / "1_format_eval.json").write_text(json.dumps(answer(*[5] * 8)))
    done = invoke("suite", "univ", "table", kling, wan, "--task", "t2v", "--json")
    rows = {row["model"]: row for row in json.loads(done.stdout)}
    assert (rows["HunyuanVideo-1.5"]["average"], rows["HunyuanVideo-1.5"]["scored"]) == (50, 1)
    assert (rows["kling"]["scored"], rows["kling"]["total"]) == (1, 3)
    shown = invoke("suite", "univ", "table", kling, wan, "--task", "t2v")
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert all(word in shown.stdout for word in (wan.name, "back", "pos", "avg", "50.0", " 1/3"))
    both = [read_released(folder, UnivTask.T2V) for folder in (kling, wan)]
    (panel,) = task_radars([one for each in both for one in task_standings(each)]).axes
    assert len(panel.get_lines()) == 2
    assert dimension_table(task_standings(both[1])).records()[0]["position"] == 50


def test_a_task_that_is_not_known_is_asked_for(kling: Path, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="task"):
        read_released(kling, None)
    with pytest.raises(BadOption, match="task"):
        read_released(kling, UnivTask.V2T)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ManifestError, match="no run"):
        read_released(tmp_path / "empty", UnivTask.T2V)


# ---- what UniV-Eval was run on: its README's input/, input_v2t_eval/ and the captioner's output


def test_cases_as_univ_eval_was_given_them(tmp_path: Path) -> None:
    whole, spoken = tmp_path / "case_001", tmp_path / "case_002"
    for case, names in ((whole, ("source.mp4", "ref_01.jpg", "ref_02.png")), (spoken, ())):
        case.mkdir()
        for name in (*names, "final_video_t2i_i2v_0.mp4"):
            (case / name).write_bytes(b"x")
        (case / "reference_method.txt").write_text("Make it snow.")
    bench = read_univbench(tmp_path)
    (edited,) = bench.items("rv2v", tmp_path, model="wan")
    assert (edited.id, edited.instruction) == ("rv2v/wan/case_001_single", "Make it snow.")
    assert edited.source == whole / "source.mp4"
    assert edited.video.name == "final_video_t2i_i2v_0.mp4"
    assert [path.name for path in edited.references] == ["ref_01.jpg", "ref_02.png"]
    (filmed,) = bench.items("r2v", tmp_path)
    assert (filmed.prompt, len(filmed.references)) == ("Make it snow.", 2)
    texts = {item.id: item.prompt for item in bench.items("t2v", tmp_path)}
    assert texts["t2v/case_002"] == "Make it snow."
    assert [item.id for item in bench.items("tv2v", tmp_path)] == []


def test_captions_as_univ_eval_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "gt.json").write_text(json.dumps({"global_attribute": {}}))
    (tmp_path / "a" / "generated_script.txt").write_text("A dog runs.")
    (item,) = read_univbench(tmp_path).items("v2t", tmp_path)
    assert item.prompt == "A dog runs."
    (tmp_path / "a" / "generated_script.txt").unlink()
    row = {"video_filename": "a.mp4", "video_path": "input/a.mp4", "generated_script": "A cat."}
    (tmp_path / "v2t_baseline_results.jsonl").write_text(json.dumps(row) + "\n")
    (item,) = read_univbench(tmp_path).items("v2t", tmp_path)
    assert item.prompt == "A cat."
