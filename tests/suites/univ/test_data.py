"""UniVBench's layout, as it is and as it should not be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.analysis.suites import read_suite
from screentest.core import Item, ManifestError
from screentest.suites.univ.data import read_truth, read_univbench
from tests.terminal import invoke

REFERRED, PLANNED = "A dog by a lake.", "A dog.\nIt runs."
TRUTH = {"global_attribute": {"video_style": "Realistic"}, "temporal_actions": []}


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """One whole case, as the benchmark has it."""
    case = tmp_path / "full_list" / "3"
    write(case / "3.mp4", b"x")
    write(case / "caption.json", {"caption": "A dog.", "json": TRUTH})
    write(case / "number_of_shot.txt", "4\n")
    for language, text in (("en", "Make it red."), ("cn", "变红。")):
        write(case / f"text_editing_{language}.txt", text)
    write(case / "reference_editing_single" / "reference_editing.txt", "Put it there.")
    for number in (1, 2, 10):
        write(case / "reference_editing_single" / f"reference_image_{number}.jpeg", b"x")
    write(tmp_path / "R2V" / "3" / "R2V_planning.json", {"caption": REFERRED})
    write(tmp_path / "R2V" / "3" / "reference_image_1.png", b"x")
    return tmp_path


def test_a_whole_case(bench: Path) -> None:
    read = read_univbench(bench)
    assert not read.problems
    case = read.cases["3"]
    assert (case.caption, case.shots, case.truth) == ("A dog.", 4, TRUTH)
    assert case.edit is not None
    assert case.edit.instruction == "Make it red."
    # The tenth picture is the third: they are in order of their numbers.
    pictures = [path.stem for path in case.edits["single"].references]
    assert pictures == ["reference_image_1", "reference_image_2", "reference_image_10"]
    chinese = read_univbench(bench, language="cn").cases["3"]
    assert chinese.edit is not None
    assert chinese.edit.instruction == "变红。"


def test_items_of_every_task(bench: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    for name in ("3.mp4", "3_multiple.webm", "3.txt"):
        write(made / name, "It is a dog.")
    read = read_univbench(bench)
    found = {
        task: read.items(task, made, model="m")
        for task in ("v2t", "t2v", "r2v", "tv2v", "rv2v", "v2v")
    }
    assert [len(items) for items in found.values()] == [1, 1, 1, 1, 1, 1]
    (text,) = found["v2t"]
    assert (text.prompt, text.video) == ("It is a dog.", bench / "full_list" / "3" / "3.mp4")
    (edited,) = found["rv2v"]
    assert edited.id == "rv2v/m/3_single"
    assert len(edited.references) == 3
    assert edited.source == bench / "full_list" / "3" / "3.mp4"
    (referred,) = found["r2v"]
    assert (referred.text, len(referred.references)) == (REFERRED, 1)
    (again,) = found["v2v"]
    assert again.groups == {"case": "3", "task": "v2v", "model": "m", "shots": "several"}
    assert read.items("t2v", tmp_path / "nowhere") == []


def test_chinese_instructions_in_gbk(bench: Path) -> None:
    """Some were released so; the English one in their place would be another task."""
    file = write(bench / "full_list" / "3" / "text_editing_cn.txt", "变红。".encode("gbk"))
    read = read_univbench(bench, language="cn")
    edit = read.cases["3"].edit
    assert edit is not None
    assert (edit.instruction, read.problems) == ("变红。", ())
    write(file, b"\xff\xff")
    write(bench / "full_list" / "3" / "text_editing.txt", "Make it red.")
    spoilt = read_univbench(bench, language="cn")
    assert spoilt.cases["3"].edit is None
    assert [(problem.id, problem.path) for problem in spoilt.problems] == [("3", file)]


@pytest.mark.parametrize(
    ("planned", "text"),
    [
        ({"shots": [{"shot": 1, "prompt": "A dog."}, {"shot": 2, "prompt": "It runs."}]}, PLANNED),
        ({"title": "x", "shots": {"1": {"script": "A dog."}, "2": ["It runs."]}}, PLANNED),
        ([{"text": "A dog."}, {"text": "It runs."}], PLANNED),
        ({"images": ["reference_image_1.png"], "plan": {"caption": PLANNED}}, PLANNED),
        ({"image": "reference_image_10.png", "words": PLANNED}, PLANNED),
        ({"caption": REFERRED, "shots": [{"prompt": "A dog."}]}, REFERRED),
    ],
)
def test_plans_may_be_nested(bench: Path, planned: object, text: str) -> None:
    write(bench / "R2V" / "3" / "R2V_planning.json", planned)
    read = read_univbench(bench)
    given = read.cases["3"].from_references
    assert given is not None
    assert (given.instruction, read.problems) == (text, ())


def test_each_task_has_a_folder_of_its_own(bench: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    for name in ("3.mp4", "4_single.mp4"):
        write(made / name, b"x")
    read = read_univbench(bench)
    # 3.mp4 is not the single edit where another result says which it is.
    assert read.items("rv2v", made) == []
    assert read.missing("rv2v", made) == ["3_single"]
    write(made / "3_single.mp4", b"x")
    assert [item.video.name for item in read.items("rv2v", made)] == ["3_single.mp4"]
    mixed = {task: [p.path for p in read.mixed(task, made)] for task in ("v2t", "tv2v", "rv2v")}
    assert mixed == {"v2t": [], "tv2v": [made], "rv2v": [made]}
    out = tmp_path / "manifest.jsonl"
    told = invoke(
        *("suite", "univ", "import", bench, made, "--task", "tv2v", "--out", out, "--json")
    )
    assert any("3_single" in row["problem"] for row in json.loads(told.stdout)["problems"])
    suite = read_suite("univ:task=tv2v")
    assert suite.read is not None
    assert any("3_single" in problem for problem in suite.read(bench, made, "m").problems)
    (made / "3.mp4").unlink()
    assert read.mixed("rv2v", made) == []


def test_results_that_are_missing_are_reported(bench: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    write(bench / "full_list" / "4" / "4.mp4", b"x")  # a case that has a video and nothing else
    write(made / "4.mp4", b"x")
    read = read_univbench(bench)
    told = {task: read.missing(task, made) for task in ("v2t", "t2v", "r2v", "tv2v", "rv2v", "v2v")}
    # Case 4 has no caption, no instruction and no pictures: nothing is missing of it there.
    assert told == {
        "v2t": ["3", "4"],
        "t2v": ["3"],
        "r2v": ["3"],
        "tv2v": ["3"],
        "rv2v": ["3_single"],
        "v2v": ["3"],
    }
    out = tmp_path / "manifest.jsonl"
    done = invoke("suite", "univ", "import", bench, made, "--task", "v2v", "--out", out)
    assert done.exit_code == 0, done.output
    assert "1 missing" in done.stdout
    listed = invoke("suite", "univ", "import", bench, made, "--task", "v2v", "--out", out, "--json")
    found = json.loads(listed.stdout)
    assert (found["items"], found["missing"]) == (1, [{"result": "3"}])
    assert any("4" in row["problem"] for row in found["problems"])
    suite = read_suite("univ:task=v2v")
    assert suite.read is not None
    given = suite.read(bench, made, "m")
    assert [item.groups["model"] for item in given.items] == ["m"]
    assert given.missing == ("3",)
    for wrong in (("--task", "t2v"), ("--task", "x2y"), ("--task", "v2v", "--language", "de")):
        assert invoke("suite", "univ", "import", bench, made, *wrong, "--out", out).exit_code == 2


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        b"\xff\xfe",
        "[" * 200_000,
        {"caption": "A dog."},
        {"caption": "A dog.", "json": "{ no"},
        {"caption": "A dog.", "json": 3},
    ],
)
def test_one_bad_case_is_a_problem_of_its_own(bench: Path, content: object) -> None:
    write(bench / "full_list" / "3" / "caption.json", content)
    write(bench / "full_list" / "4" / "4.mp4", b"x")
    write(bench / "full_list" / "4" / "caption.json", {"json": json.dumps(TRUTH), "text": "x"})
    read = read_univbench(bench)
    assert [problem.id for problem in read.problems] == ["3"]
    assert read.cases["3"].truth is None
    # The ground truth may be an object written as text.
    assert read.cases["4"].truth == TRUTH
    assert read_truth(bench).of(Item("x", Path("y.mp4"), groups={"case": "4"})) == TRUTH
    assert read_truth(bench).of(Item("3", Path("y.mp4"))) is None


def test_what_is_missing_is_reported(bench: Path) -> None:
    case = bench / "full_list" / "3"
    (case / "3.mp4").unlink()
    (case / "reference_editing_single" / "reference_editing.txt").unlink()
    (bench / "R2V" / "3" / "reference_image_1.png").unlink()
    told = " ".join(str(problem) for problem in read_univbench(bench).problems)
    for words in ("no video", "has no instruction", "no pictures"):
        assert words in told


def test_folders_that_are_no_benchmark(tmp_path: Path) -> None:
    (tmp_path / "wild").mkdir()
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ManifestError, match="no case"):
            read_univbench(folder)


def test_ground_truth_by_line(tmp_path: Path) -> None:
    path = write(tmp_path / "truth.jsonl", json.dumps({"id": "a", **TRUTH}) + "\n\n")
    assert read_truth(path).of(Item("a", Path("x.mp4"))) is not None
    first = read_truth(path).digest
    write(path, json.dumps({"id": "b", **TRUTH}))
    assert read_truth(path).digest != first
    for line in ("{}", "3", "{", '{"id": ""}'):
        write(path, f"\n{line}\n")
        with pytest.raises(ManifestError, match="line 2"):
            read_truth(path)
